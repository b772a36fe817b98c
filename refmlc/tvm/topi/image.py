"""`tvm.topi.image`: functions for images."""

from refmlc.tvm.topi.names import Function, found, names


def __getattr__(name: str) -> Function:
    """The function of an operator."""
    if name.startswith("__"):
        raise AttributeError(name)
    return found(f"image.{name}")


def __dir__() -> list[str]:
    """The functions."""
    return sorted(name.removeprefix("image.") for name in names() if name.startswith("image."))
