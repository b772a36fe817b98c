"""Layouts as a text has them, and those that follow from others.

| text                                  | meaning                                                                 |
|---------------------------------------|-------------------------------------------------------------------------|
| `Axis.laneid`                         | an axis, of any name                                                    |
| `4 @ Axis.laneid`                     | a stride, or a part of an offset, on an axis; a plain one is on `m`      |
| `T.S[(8, 4):(4 @ Axis.laneid, 1)]`    | the shard: extents and strides; without strides row-major                |
| `T.R[2:1]`                            | the replica                                                             |
| `S[…] + R[…] + 5 @ Axis.warpid + 3`   | a specification, its terms in any order                                 |
| `T.TileLayout(…)`, `.from_iters(…)`   | the layout of a specification, of iters                                 |
| `T.ComposeLayout(3, 3, 3, layout)`    | a swizzle of it                                                         |

A layout that is row-major on memory, an extent for each dimension, is what a buffer has by default.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import prod

from refmlc.diag import Span, fail
from refmlc.diag.catalogue import BAD_ARGUMENTS, UNSUPPORTED_CONSTRUCT
from refmlc.lang.dtypes import INT32
from refmlc.lang.ir import tir
from refmlc.lang.ir.equal import structural_equal
from refmlc.lang.ir.kinds import Layout
from refmlc.lang.ir.node import Node
from refmlc.lang.ir.tirx import AXES, ComposeLayout, Iter, TileLayout
from refmlc.lang.ops import promote
from refmlc.lang.script.reader.arguments import REQUIRED, CallSite
from refmlc.lang.script.reader.evaluate import Evaluator
from refmlc.lang.script.reader.operators import host_binary
from refmlc.lang.script.reader.table import CallHandler, Family, SubscriptHandler
from refmlc.lang.script.reader.tir_operands import expr_of, int_of, mismatch, str_of, tuple_of
from refmlc.lang.script.reader.values import Construct, Meta, Slice

MEMORY = "m"


@dataclass(frozen=True, slots=True)
class OnAxis:
    """`value @ Axis.name`."""

    value: tir.Expr
    axis: str


@dataclass(frozen=True, slots=True)
class Spec:
    """Terms of a layout: `S[…]`, `R[…]`, an offset by axis, or a sum of them."""

    shard: tuple[Iter, ...] = ()
    replica: tuple[Iter, ...] = ()
    offset: Mapping[str, tir.Expr] = field(default_factory=dict)


def axis_named(value: Meta) -> str:
    """The axis that a construct names; empty where it names none."""
    if isinstance(value, Construct):
        owner, _, name = value.path.rpartition(".")
        if owner == "Axis" or (owner == "T" and name in AXES):
            return name
    return ""


def _at_axis(ev: Evaluator, symbol: str, a: Meta, b: Meta, span: Span) -> Meta:
    """`4 @ Axis.laneid`; any other operator means what it means without."""
    axis = axis_named(b)
    if symbol == "@" and axis:
        return OnAxis(expr_of(a, span), axis)
    other = ev.table.family(b if isinstance(a, Construct) else a)
    if other is not None and other.binary is not None and Construct not in other.types:
        return other.binary(ev, symbol, a, b, span)
    return host_binary(symbol, a, b, span)


def _sum(_ev: Evaluator, symbol: str, a: Meta, b: Meta, span: Span) -> Meta:
    """The sum of two terms of a layout."""
    if symbol != "+":
        raise fail(BAD_ARGUMENTS, f"`{symbol}` has no meaning on layouts", span)
    left, right = spec_of(a, span), spec_of(b, span)
    if (left.shard and right.shard) or (left.replica and right.replica):
        raise fail(BAD_ARGUMENTS, "a layout has one shard and one replica", span)
    offset = dict(left.offset)
    for axis, value in right.offset.items():
        offset[axis] = promote.apply_binary("add", offset[axis], value, span) if axis in offset else value
    return Spec(left.shard or right.shard, left.replica or right.replica, offset)


def spec_of(value: Meta, span: Span) -> Spec:
    """A term of a layout as a sum of one."""
    match value:
        case Spec():
            return value
        case OnAxis(number, axis):
            return Spec(offset={axis: number})
    return Spec(offset={MEMORY: expr_of(value, span)})


def _iters(_ev: Evaluator, construct: Construct, index: Meta, span: Span) -> Meta:
    """`T.S[…]`, `T.R[…]`."""
    if isinstance(index, Slice):
        extents, strides = _sizes(index.start, span), tuple_of(index.stop)
        if len(extents) != len(strides) or index.step is not None:
            message = f"`{construct.spelled}[…]` has {len(extents)} extents and {len(strides)} strides"
            raise fail(BAD_ARGUMENTS, message, span)
        iters = tuple(_iter(extent, stride, span) for extent, stride in zip(extents, strides, strict=True))
    else:
        iters = row_major(_sizes(index, span))
    return Spec(shard=iters) if construct.path == "T.S" else Spec(replica=iters)


def _sizes(value: Meta, span: Span) -> tuple[tir.Expr, ...]:
    return tuple(expr_of(item, span) for item in tuple_of(value))


def _iter(extent: tir.Expr, stride: Meta, span: Span) -> Iter:
    match stride:
        case OnAxis(value, axis):
            return Iter(extent, value, axis, span=span)
        case str():
            return Iter(extent, tir.IntImm(INT32, 1), stride, span=span)
    axis = axis_named(stride)
    return (
        Iter(extent, tir.IntImm(INT32, 1), axis, span=span) if axis else Iter(extent, expr_of(stride, span), span=span)
    )


def _tile_layout(_ev: Evaluator, site: CallSite) -> Meta:
    spec = site.take(spec=REQUIRED)["spec"]
    if not isinstance(spec, (Spec, OnAxis)):
        raise site.wrong("spec", spec, "a sum of `T.S[…]`, `T.R[…]` and offsets")
    spec = spec_of(spec, site.span)
    return TileLayout(spec.shard, spec.replica, spec.offset, span=site.span)


def _from_iters(_ev: Evaluator, site: CallSite) -> Meta:
    values = site.take(shard=(), replica=(), offset=None)
    offset = values["offset"] or {}
    if not isinstance(offset, dict):
        raise site.wrong("offset", offset, "a dictionary")
    iters: dict[str, tuple[Iter, ...]] = {}
    for key in ("shard", "replica"):
        items = tuple_of(values[key])
        for item in items:
            if not isinstance(item, Iter):
                raise site.wrong(key, item, "iters")
        iters[key] = tuple(item for item in items if isinstance(item, Iter))
    terms = {str_of(key, site.span): expr_of(value, site.span) for key, value in offset.items()}
    return TileLayout(iters["shard"], iters["replica"], terms, span=site.span)


def _iter_call(_ev: Evaluator, site: CallSite) -> Meta:
    values = site.take(extent=REQUIRED, stride=REQUIRED, axis=REQUIRED)
    axis = axis_named(values["axis"]) or str_of(values["axis"], site.span, "an axis")
    return Iter(expr_of(values["extent"], site.span), expr_of(values["stride"], site.span), axis, span=site.span)


def _compose(_ev: Evaluator, site: CallSite) -> Meta:
    values = site.take(
        per_element=REQUIRED, swizzle_len=REQUIRED, atom_len=REQUIRED, tile_layout=REQUIRED, swizzle_inner=True
    )
    tile, inner = values["tile_layout"], values["swizzle_inner"]
    if not isinstance(tile, TileLayout):
        raise site.wrong("tile_layout", tile, "a tile layout")
    if not isinstance(inner, bool):
        raise site.wrong("swizzle_inner", inner, "`True` or `False`")
    element, swizzle, atom = (int_of(values[key], site.span) for key in ("per_element", "swizzle_len", "atom_len"))
    return ComposeLayout(element, swizzle, atom, tile, inner, span=site.span)


# ------------------------------------------------------------------------------------------ layouts of buffers


def layout_argument(
    value: Meta, shape: tuple[tir.Expr, ...], span: Span, *, s_tir: bool
) -> Layout | TileLayout | ComposeLayout:
    """`layout=` of a buffer of this shape. Fails: RM105."""
    match value:
        case "default":
            return Layout.DEFAULT
        case None:
            return Layout.DEFAULT if s_tir else Layout.NONE
        case TileLayout() if is_row_major(value, shape):
            return Layout.ROW_MAJOR if s_tir else Layout.DEFAULT
        case TileLayout() | ComposeLayout():
            return value
    raise mismatch(value, "a layout", span)


def row_major(shape: Sequence[tir.Expr]) -> tuple[Iter, ...]:
    """The iters of a row-major shape."""
    iters: list[Iter] = []
    stride: tir.Expr = tir.IntImm(shape[0].dtype if shape else INT32, 1)
    for number, extent in enumerate(reversed(shape)):
        iters.insert(0, Iter(extent, stride))
        if number < len(shape) - 1:
            stride = _times(stride, extent)
    return tuple(iters)


def is_row_major(layout: TileLayout, shape: Sequence[tir.Expr]) -> bool:
    """Whether a layout is what a buffer of this shape has by default."""
    plain = not layout.replica and not layout.offset and len(layout.shard) == len(shape)
    return plain and structural_equal(layout.shard, row_major(shape))


def layout_of(buffer: tir.Buffer, span: Span | None) -> TileLayout | ComposeLayout:
    """The layout of a buffer of TIRx, written out. Fails: RM504 where it has none."""
    match buffer.layout:
        case TileLayout() | ComposeLayout():
            return buffer.layout
        case Layout.NONE:
            raise fail(UNSUPPORTED_CONSTRUCT, f"`{buffer.name}` has no layout to derive another from", span)
    return TileLayout(row_major(buffer.shape))


def packed(layout: TileLayout | ComposeLayout, count: int) -> TileLayout | ComposeLayout | None:
    """The layout of elements `count` times as large; None where TVM has none."""
    if isinstance(layout, ComposeLayout):
        tile, power = packed(layout.tile_layout, count), count.bit_length() - 1
        if count != 1 << power or layout.per_element < power or not isinstance(tile, TileLayout):
            return None
        return replace(layout, per_element=layout.per_element - power, tile_layout=tile)
    if not layout.shard:
        return None
    *outer, last = layout.shard
    extent, stride = number(last.extent), number(last.stride)
    strides = [number(item.stride) for item in outer]
    if stride != 1 or extent is None or extent % count or last.axis not in MEMORY_AXES or None in strides:
        return None
    shard = [replace(item, stride=_like(item.stride, (number(item.stride) or 0) // count)) for item in outer]
    return replace(layout, shard=(*shard, replace(last, extent=_like(last.extent, extent // count))))


def unpacked(layout: TileLayout | ComposeLayout, count: int) -> TileLayout | ComposeLayout | None:
    """The layout of the parts of each element, `count` of them; None where TVM has none."""
    if isinstance(layout, ComposeLayout):
        tile, power = unpacked(layout.tile_layout, count), count.bit_length() - 1
        if count != 1 << power or not isinstance(tile, TileLayout):
            return None
        return replace(layout, per_element=layout.per_element + power, tile_layout=tile)
    times = tir.IntImm(INT32, count)
    shard = [replace(item, stride=_times(item.stride, times)) for item in layout.shard]
    return replace(layout, shard=(*shard, Iter(times, tir.IntImm(INT32, 1))))


def permuted(layout: TileLayout, shape: Sequence[tir.Expr], order: Sequence[int]) -> TileLayout | None:
    """The layout of the dimensions in another order; None where the iters are not those of the dimensions."""
    groups: list[list[Iter]] = []
    rest = list(layout.shard)
    for extent in shape:
        size, count = 1, number(extent)
        groups.append([])
        while rest and count is not None and size < count:
            groups[-1].append(rest[0])
            size *= number(rest.pop(0).extent) or 0
        if size != count:
            return None
    return None if rest else replace(layout, shard=tuple(item for axis in order for item in groups[axis]))


def stored(layout: TileLayout | ComposeLayout) -> TileLayout:
    """The part of a layout that lies in memory: what one thread has of it."""
    tile = layout.tile_layout if isinstance(layout, ComposeLayout) else layout
    shard, replica = (
        tuple(item for item in items if item.axis not in THREAD_AXES) for items in (tile.shard, tile.replica)
    )
    return TileLayout(shard, replica, {axis: value for axis, value in tile.offset.items() if axis not in THREAD_AXES})


def span_of(layout: TileLayout) -> int | None:
    """How far the places of a layout reach, added up over its axes, offsets included; None where it is not constant."""
    iters = (*layout.shard, *layout.replica)
    extents, strides = [number(item.extent) for item in iters], [number(item.stride) for item in iters]
    offsets = [number(value) for value in layout.offset.values()]
    known = [value for value in (*extents, *strides, *offsets) if value is not None]
    if len(known) != 2 * len(iters) + len(offsets):
        return None
    steps = known[len(iters) : 2 * len(iters)]
    reach = sum((extent - 1) * step for extent, step in zip(known[: len(iters)], steps, strict=True))
    return 1 + reach + sum(known[2 * len(iters) :])


def size_of(layout: TileLayout) -> int | None:
    """How many elements the shard has; None where it is not constant."""
    extents = [number(item.extent) for item in layout.shard]
    return None if None in extents else prod(extent or 0 for extent in extents)


def number(value: tir.Expr) -> int | None:
    """The number that an expression is, if it is one."""
    return value.value if isinstance(value, tir.IntImm) else None


def _like(value: tir.Expr, constant: int) -> tir.IntImm:
    return tir.IntImm(value.dtype, constant)


def _times(a: tir.Expr, b: tir.Expr) -> tir.Expr:
    """A product as TVM makes it: a constant of constants, no factor 1."""
    x, y = number(a), number(b)
    if x is not None and y is not None:
        return tir.IntImm(b.dtype if b.dtype.bits > a.dtype.bits else a.dtype, x * y)
    if x == 1:
        return b
    return a if y == 1 else promote.apply_binary("mul", a, b, None)


MEMORY_AXES = ("m", "P", "F", "Bank", "TCol", "TLane")
THREAD_AXES = tuple(axis for axis in AXES if axis not in MEMORY_AXES)

CALLS: dict[str, CallHandler] = {
    "T.TileLayout": _tile_layout,
    "T.TileLayout.from_iters": _from_iters,
    "T.Iter": _iter_call,
    "T.ComposeLayout": _compose,
}
SUBSCRIPTS: dict[str, SubscriptHandler] = {"T.S": _iters, "T.R": _iters}
FAMILIES = (Family((Construct,), binary=_at_axis), Family((Spec, OnAxis), binary=_sum))


def _nodes_of(value: Meta) -> tuple[Node, ...]:
    match value:
        case Node():
            return (value,)
        case OnAxis(number, _):
            return (number,)
        case Spec(shard, replica, offset):
            return (*shard, *replica, *offset.values())
    return ()


CONSTANTS = dict.fromkeys((Spec, OnAxis, Iter, TileLayout, ComposeLayout), _nodes_of)
"""What names outside functions may stand for."""
