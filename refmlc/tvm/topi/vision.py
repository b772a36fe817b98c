"""`tvm.topi.vision`: functions for boxes."""

from refmlc.tvm.topi.names import Function, found, names


def __getattr__(name: str) -> Function:
    """The function of an operator."""
    if name.startswith("__"):
        raise AttributeError(name)
    return found(f"vision.{name}")


def __dir__() -> list[str]:
    """The functions."""
    return sorted(name.removeprefix("vision.") for name in names() if name.startswith("vision."))
