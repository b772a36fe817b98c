"""`tvm.topi`: the operators as functions of tensor expressions, with TVM's names, in `nn`, `image`, `vision` too."""

from refmlc.tvm.topi import image, nn, vision
from refmlc.tvm.topi.names import Function, found, names

__all__ = ["image", "nn", "vision"]


def __getattr__(name: str) -> Function:
    """The function of an operator."""
    if name.startswith("__"):
        raise AttributeError(name)
    return found(name)


def __dir__() -> list[str]:
    """The functions."""
    return sorted(name for name in names() if "." not in name)
