"""`tvm.tirx`: `tvm.tir` as 0.27 calls it."""

from refmlc.tvm import tir


def __getattr__(name: str) -> object:
    """A name of `tvm.tir`."""
    value: object = getattr(tir, name)
    return value
