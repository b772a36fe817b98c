"""Buffers that follow from others: the same storage in another shape, dtype or layout.

| text                              | the other buffer                                                             |
|-----------------------------------|------------------------------------------------------------------------------|
| `A.view(4, -1)`                   | in another shape; the layout is that of `A`                                  |
| `A.view(4, 8, layout=…)`          | in another shape and layout                                                  |
| `A.view("uint16")`                | of another dtype; the last dimension, the offset and the layout follow        |
| `A.local()`, `A.local(2, 4)`      | what one thread has of `A`, row-major; without a shape in one dimension,     |
|                                   | and of a single element the name stands for that                             |
| `A.permute(1, 0)`                 | with its dimensions in another order                                         |

Decision: a shape alone keeps a row-major layout row-major; in TVM 0.27 the layout has the extents of the former shape,
which means the same.
"""

from collections.abc import Sequence
from dataclasses import replace
from math import prod

from refmlc.diag import Span, fail
from refmlc.diag.catalogue import UNSUPPORTED_CONSTRUCT
from refmlc.lang.dtypes import DType
from refmlc.lang.ir import tir
from refmlc.lang.ir.kinds import Layout
from refmlc.lang.ir.tirx import ComposeLayout, TileLayout
from refmlc.lang.ops import promote
from refmlc.lang.script.reader.arguments import CallSite
from refmlc.lang.script.reader.tir_operands import dtype_of, expr_of, int_of, tuple_of
from refmlc.lang.script.reader.tir_values import BufferSpec, DeclSpec
from refmlc.lang.script.reader.values import Meta
from refmlc.lang.script.tirx.layouts import (
    layout_argument,
    layout_of,
    packed,
    permuted,
    size_of,
    span_of,
    stored,
    unpacked,
)

AnyLayout = Layout | TileLayout | ComposeLayout


def view(buffer: tir.Buffer, site: CallSite, *, s_tir: bool) -> DeclSpec:
    """`A.view(4, 8)`, `A.view("int32")`, `A.view(n, dtype="int32")`, `A.view(4, 8, layout=…)`."""
    site.only_keywords("dtype", "layout")
    dtype, shape = site.kwargs.get("dtype"), site.args
    if len(shape) == 1 and dtype is None and isinstance(shape[0], (str, DType)):
        dtype, shape = shape[0], ()
    if len(shape) == 1 and isinstance(shape[0], (list, tuple)):
        shape = tuple_of(shape[0])
    if site.args and not shape and dtype is None:
        raise site.misfit("takes extents, of which there is none")
    sizes = _with_inferred(buffer, shape, site) or buffer.shape
    element = buffer.dtype if dtype is None else dtype_of(dtype, site.span)
    if not element.bits:
        raise site.wrong("dtype", dtype, "the dtype of elements")
    if dtype is not None and not shape and buffer.shape:
        sizes = (*buffer.shape[:-1], _rescaled(buffer, element.bits * element.lanes, site))
    if "layout" in site.kwargs and site.kwargs["layout"] is not None:
        layout = layout_argument(site.kwargs["layout"], sizes, site.span, s_tir=s_tir)
    elif element == buffer.dtype or s_tir:
        layout = buffer.layout
    else:
        recast = recast_layout(buffer, element, site.span)
        if recast is None and buffer.layout is not Layout.NONE:
            message = f"the layout of `{buffer.name}` is not one of {element}: its view is not supported"
            raise fail(UNSUPPORTED_CONSTRUCT, message, site.span)
        layout = layout_argument(recast, sizes, site.span, s_tir=s_tir)
    return _declared(buffer, sizes, layout, site, element)


def local(buffer: tir.Buffer, site: CallSite, *, s_tir: bool) -> DeclSpec:
    """`A.local()`, `A.local(2, 4)`, `A.local(4, layout=…)`."""
    site.only_keywords("layout")
    given = site.kwargs.get("layout")
    layout: AnyLayout = Layout.DEFAULT
    shape = tuple(_extents(site.args, site))
    own = stored(_laid_out(buffer, site, s_tir=s_tir))
    extent = span_of(own) if given is None else size_of(own)
    sizes = [size.value for size in shape if isinstance(size, tir.IntImm)]
    if shape and given is None and len(sizes) == len(shape) and extent not in (None, prod(sizes)):
        raise site.misfit(f"takes a shape of {extent} elements, what a thread has of `{buffer.name}`")
    if not shape:
        if extent is None:
            raise fail(
                UNSUPPORTED_CONSTRUCT, f"the part of `{buffer.name}` that a thread has is not constant", site.span
            )
        shape = (promote.literal(extent, site.span),)
    if given is not None:
        layout = layout_argument(given, shape, site.span, s_tir=False)
    scalar = given is None and len(shape) == 1 and isinstance(shape[0], tir.IntImm) and shape[0].value == 1
    return replace(_declared(buffer, shape, layout, site), scalar=scalar)


def permute(buffer: tir.Buffer, site: CallSite, *, s_tir: bool) -> DeclSpec:
    """`A.permute(1, 0)`."""
    order = [int_of(item, site.span) for item in site.only_positional()]
    if sorted(order) != list(range(len(buffer.shape))):
        raise site.misfit(f"takes each of the {len(buffer.shape)} dimensions once")
    layout = _laid_out(buffer, site, s_tir=s_tir)
    tile = layout.tile_layout if isinstance(layout, ComposeLayout) else layout
    result = permuted(tile, buffer.shape, order)
    if result is None:
        message = f"the layout of `{buffer.name}` is not one of its dimensions: its permutation is not supported"
        raise fail(UNSUPPORTED_CONSTRUCT, message, site.span)
    whole: Meta = result
    if isinstance(layout, ComposeLayout):
        lengths = (layout.per_element, layout.swizzle_len, layout.atom_len)
        whole = ComposeLayout(*lengths, result, layout.swizzle_inner)
    shape = tuple(buffer.shape[axis] for axis in order)
    return _declared(buffer, shape, layout_argument(whole, shape, site.span, s_tir=False), site)


def _laid_out(buffer: tir.Buffer, site: CallSite, *, s_tir: bool) -> TileLayout | ComposeLayout:
    """The layout of a buffer; one of a schedulable function has none by default. Fails: RM504."""
    bare = s_tir and buffer.layout is Layout.DEFAULT
    return layout_of(replace(buffer, layout=Layout.NONE) if bare else buffer, site.span)


def _declared(
    buffer: tir.Buffer, shape: tuple[tir.Expr, ...], layout: AnyLayout, site: CallSite, dtype: DType | None = None
) -> DeclSpec:
    """The declaration of the other buffer on the storage of `buffer`; tensor memory is named by its address."""
    element = dtype or buffer.dtype
    offset = buffer.elem_offset if element == buffer.dtype else _rescaled_offset(buffer, element, site)
    in_tensor_memory = bool(buffer.allocated_addr)
    spec = BufferSpec(
        shape,
        element,
        buffer.strides if element == buffer.dtype and len(buffer.strides) == len(shape) else (),
        None if in_tensor_memory else offset,
        buffer.scope,
        buffer.align,
        1 if in_tensor_memory else buffer.offset_factor,
        (),
        layout,
        allocated_addr=buffer.allocated_addr,
        span=site.span,
    )
    return DeclSpec(spec, None if in_tensor_memory else tir.BufferData(buffer, span=site.span))


def recast_layout(buffer: tir.Buffer, element: DType, span: Span | None) -> TileLayout | ComposeLayout | None:
    """The layout for elements of another size; None where TVM has none."""
    own, bits = buffer.dtype.bits * buffer.dtype.lanes, element.bits * element.lanes
    if buffer.layout is Layout.NONE or not own or not bits:
        return None
    layout = layout_of(buffer, span)
    return packed(layout, bits // own) if bits > own else unpacked(layout, own // bits)


def _rescaled_offset(buffer: tir.Buffer, element: DType, site: CallSite) -> tir.Expr | None:
    """The offset counted in elements of another size."""
    own, bits = buffer.dtype.bits * buffer.dtype.lanes, element.bits * element.lanes
    if buffer.elem_offset is None or own == bits:
        return buffer.elem_offset
    op, ratio = ("floordiv", bits // own) if bits > own else ("mul", own // bits)
    return _folded(op, buffer.elem_offset, tir.IntImm(buffer.elem_offset.dtype, ratio), site)


def _with_inferred(buffer: tir.Buffer, shape: Sequence[Meta], site: CallSite) -> tuple[tir.Expr, ...]:
    """The extents of a view; one of -1 is what is left of the number of elements, as in TVM. Fails: RM105."""
    sizes = _extents(shape, site)
    unknown = [at for at, size in enumerate(sizes) if isinstance(size, tir.IntImm) and size.value < 0]
    if unknown:
        known = _product([size for at, size in enumerate(sizes) if at not in unknown], site)
        zero = isinstance(known, tir.IntImm) and not known.value
        if len(unknown) > 1 or shape[unknown[0]] != -1 or zero:
            raise site.misfit("takes extents; one may be -1 where the others are not 0")
        sizes[unknown[0]] = _folded("floordiv", _product(buffer.shape, site), known, site)
    return tuple(sizes)


def _extents(values: Sequence[Meta], site: CallSite) -> list[tir.Expr]:
    sizes = [expr_of(item, site.span) for item in values]
    for size, value in zip(sizes, values, strict=True):
        if not size.dtype.is_integer or size.dtype.is_vector:
            raise site.wrong("shape", value, "integers")
    return sizes


def _product(sizes: Sequence[tir.Expr], site: CallSite) -> tir.Expr:
    whole: tir.Expr = promote.literal(1, site.span)
    for place, size in enumerate(sizes):
        whole = _folded("mul", whole, size, site) if place else size
    return whole


def _folded(op: str, a: tir.Expr, b: tir.Expr, site: CallSite) -> tir.Expr:
    """The product or quotient of extents, a constant where both are."""
    if isinstance(a, tir.IntImm) and isinstance(b, tir.IntImm):
        return promote.constant(a.value * b.value if op == "mul" else a.value // b.value, b.dtype, site.span)
    return promote.apply_binary(op, a, b, site.span)


def _rescaled(buffer: tir.Buffer, bits: int, site: CallSite) -> tir.Expr:
    """The last extent counted in elements of `bits` bits. Fails: RM105 where one is no multiple of the other."""
    own, last = buffer.dtype.bits * buffer.dtype.lanes, buffer.shape[-1]
    if own == bits:
        return last
    if own and own % bits == 0:
        return _folded("mul", last, tir.IntImm(last.dtype, own // bits), site)
    if own and bits % own == 0:
        return _folded("floordiv", last, tir.IntImm(last.dtype, bits // own), site)
    raise site.misfit(f"takes a dtype whose {bits} bits are a multiple or a part of the {own} of `{buffer.name}`")
