"""Buffers that follow from others as text: `A.view("uint32")`, `A.local()`, `A.view(4, 8, layout=…)`."""

from math import prod

from refmlc.lang.ir import tir
from refmlc.lang.ir.equal import structural_equal
from refmlc.lang.ir.kinds import Layout
from refmlc.lang.ir.tirx import ComposeLayout, TileLayout
from refmlc.lang.script.printer.expressions import buffer_name, expr_text
from refmlc.lang.script.printer.literals import dtype_text
from refmlc.lang.script.printer.page import Page
from refmlc.lang.script.tirx.layout_text import layout_text
from refmlc.lang.script.tirx.layouts import THREAD_AXES, is_row_major, number, span_of, stored
from refmlc.lang.script.tirx.views import recast_layout


def derived_text(page: Page, buffer: tir.Buffer, parent: tir.Buffer) -> str:
    """`buffer` as what follows from `parent`, in a function of TIRx; empty where no such form gives it."""
    same = (
        buffer.scope == parent.scope and buffer.align == parent.align and buffer.offset_factor == parent.offset_factor
    )
    bare = not (buffer.strides or parent.strides or buffer.axis_separators or buffer.allocated_addr)
    if not same or not bare or not buffer.shape or buffer.elem_offset is not parent.elem_offset:
        return ""
    name = buffer_name(page, parent)
    owner = f"{name}.source" if id(parent) in page.cells else name
    if buffer.dtype != parent.dtype:
        return f"{owner}.view({dtype_text(buffer.dtype)})" if _is_recast(buffer, parent) else ""
    if _is_local(buffer, parent):
        return f"{owner}.local({_local_shape(page, buffer, parent)})"
    if isinstance(buffer.layout, TileLayout | ComposeLayout) and buffer.layout is not parent.layout:
        shape = "".join(f"{expr_text(page, extent)}, " for extent in buffer.shape)
        return f"{owner}.view({shape}layout={layout_text(buffer.layout, lambda node: expr_text(page, node))})"
    return ""


def _is_recast(buffer: tir.Buffer, parent: tir.Buffer) -> bool:
    """Whether `parent.view(dtype)` gives the shape and the layout of `buffer`."""
    own, bits = parent.dtype.bits * parent.dtype.lanes, buffer.dtype.bits * buffer.dtype.lanes
    if parent.elem_offset is not None or len(buffer.shape) != len(parent.shape) or not own or not bits:
        return False
    if max(own, bits) % min(own, bits) or not structural_equal(
        buffer.shape[:-1], parent.shape[:-1], map_free_vars=False
    ):
        return False
    last, whole = number(buffer.shape[-1]), number(parent.shape[-1])
    if last is None or whole is None or last * bits != whole * own:
        return False
    layout = recast_layout(parent, buffer.dtype, None)
    if layout is None:
        return False
    if isinstance(layout, TileLayout) and is_row_major(layout, buffer.shape):
        return buffer.layout is Layout.DEFAULT
    return isinstance(buffer.layout, TileLayout | ComposeLayout) and structural_equal(buffer.layout, layout)


def _is_local(buffer: tir.Buffer, parent: tir.Buffer) -> bool:
    """Whether `buffer` is what a thread has of `parent`, row-major."""
    layout = parent.layout
    if buffer.layout is not Layout.DEFAULT or not isinstance(layout, TileLayout):
        return False
    sizes = [number(extent) for extent in buffer.shape]
    threads = any(item.axis in THREAD_AXES for item in (*layout.shard, *layout.replica))
    return threads and None not in sizes and prod(size or 0 for size in sizes) == span_of(stored(layout))


def _local_shape(page: Page, buffer: tir.Buffer, parent: tir.Buffer) -> str:
    if len(buffer.shape) == 1 and isinstance(parent.layout, TileLayout):
        return ""
    return ", ".join(expr_text(page, extent) for extent in buffer.shape)
