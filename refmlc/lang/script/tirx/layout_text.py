"""Layouts as text, as TVM 0.27 prints them: `T.TileLayout(T.S[(8, 4):(4 @ Axis.laneid, 1)] + 5 @ Axis.warpid)`."""

from collections.abc import Callable, Sequence

from refmlc.lang.ir import tir
from refmlc.lang.ir.tirx import ComposeLayout, Iter, TileLayout
from refmlc.lang.script.printer.literals import string_text

Write = Callable[[tir.Expr], str]


def layout_text(layout: TileLayout | ComposeLayout, write: Write) -> str:
    """A layout; `write` writes expressions."""
    if isinstance(layout, ComposeLayout):
        lengths = f"{layout.per_element}, {layout.swizzle_len}, {layout.atom_len}"
        outer = "" if layout.swizzle_inner else ", swizzle_inner=False"
        return f"T.ComposeLayout({lengths}, {layout_text(layout.tile_layout, write)}{outer})"
    if not layout.shard and not layout.replica:
        entries = ", ".join(f"{string_text(axis)}: {write(value)}" for axis, value in sorted(layout.offset.items()))
        return f"T.TileLayout.from_iters({f'offset={{{entries}}}' if entries else ''})"
    terms = [
        f"T.{name}[{_iters(iters, write)}]" for name, iters in (("S", layout.shard), ("R", layout.replica)) if iters
    ]
    offset = [_on_axis(value, axis, write) for axis, value in sorted(layout.offset.items())]
    if len(offset) > 1 or (offset and not isinstance(next(iter(layout.offset.values())), tir.IntImm | tir.Var)):
        offset = [f"({' + '.join(offset)})"]
    return f"T.TileLayout({' + '.join([*terms, *offset])})"


def _iters(iters: Sequence[Iter], write: Write) -> str:
    extents = [write(item.extent) for item in iters]
    strides = [_on_axis(item.stride, item.axis, write) for item in iters]
    if len(iters) == 1:
        return f"{extents[0]}:{strides[0]}"
    return f"({', '.join(extents)}):({', '.join(strides)})"


def _on_axis(value: tir.Expr, axis: str, write: Write) -> str:
    if axis == "m":
        return write(value)
    text = write(value)
    return f"{text if isinstance(value, tir.IntImm | tir.Var) else f'({text})'} @ Axis.{axis}"
