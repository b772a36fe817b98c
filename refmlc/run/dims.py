"""Symbolic dimensions of arguments: their values from shapes, and the values of expressions over them."""

from refmlc.lang.ir import tir
from refmlc.lang.ops.evaluate import known
from refmlc.lang.ops.short_text import short_text

Dims = dict[tir.Var, int]


def text(shape: tuple[tir.Expr, ...], dims: Dims) -> str:
    """A declared shape for messages, with the known values of its variables: `(1, m = 784)`."""
    parts = [_part(extent, dims) for extent in shape]
    return f"({', '.join(parts)}{',' if len(parts) == 1 else ''})"


def _part(extent: tir.Expr, dims: Dims) -> str:
    value = known(extent, dims)
    name = short_text(extent)
    return name if value is None or isinstance(extent, tir.IntImm) else f"{name} = {value}"


def bind_dims(shape: tuple[tir.Expr, ...] | None, sizes: tuple[int, ...], dims: Dims) -> None:
    """Bind the variables among the extents of `shape` to their `sizes`, unless they are bound already."""
    for extent, size in zip(shape or (), sizes, strict=False):
        if isinstance(extent, tir.Var):
            dims.setdefault(extent, size)
