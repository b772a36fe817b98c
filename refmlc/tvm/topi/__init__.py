"""`tvm.topi`: the operators as functions of tensor expressions; those of networks are in `nn`."""

from refmlc.tvm.topi import nn
from refmlc.tvm.topi.names import Function, found, names

__all__ = ["nn"]


def __getattr__(name: str) -> Function:
    """The function of an operator."""
    if name.startswith("__"):
        raise AttributeError(name)
    return found(name)


def __dir__() -> list[str]:
    """The functions."""
    return sorted(name for name, _ in names() if "." not in name)
