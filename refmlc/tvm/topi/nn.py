"""`tvm.topi.nn`: functions for networks."""

from refmlc.tvm.topi.names import Function, found, names


def __getattr__(name: str) -> Function:
    """The function of an operator."""
    if name.startswith("__"):
        raise AttributeError(name)
    return found(f"nn.{name}")


def __dir__() -> list[str]:
    """The functions."""
    return sorted(name.removeprefix("nn.") for name in names() if name.startswith("nn."))
