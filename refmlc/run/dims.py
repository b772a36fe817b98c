"""Symbolic dimensions at the border: what arguments say about them, and what expressions over them come to."""

from refmlc.lang.ir import tir
from refmlc.lang.ops.evaluate import known
from refmlc.lang.ops.short_text import short_text

Dims = dict[tir.Var, int]


def text(shape: tuple[tir.Expr, ...], dims: Dims) -> str:
    """A declared shape for messages, with what its variables are known to be: `(1, m = 784)`."""
    parts = [_part(extent, dims) for extent in shape]
    return f"({', '.join(parts)}{',' if len(parts) == 1 else ''})"


def _part(extent: tir.Expr, dims: Dims) -> str:
    value = known(extent, dims)
    name = short_text(extent)
    return name if value is None or isinstance(extent, tir.IntImm) else f"{name} = {value}"


def bind_dims(shape: tuple[tir.Expr, ...] | None, sizes: tuple[int, ...], dims: Dims) -> None:
    """Let the variables among the extents of `shape` be what `sizes` says, where they are not known yet."""
    for extent, size in zip(shape or (), sizes, strict=False):
        if isinstance(extent, tir.Var):
            dims.setdefault(extent, size)
