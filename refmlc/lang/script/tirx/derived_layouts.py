"""Layouts that a text makes from others, or by name, computed while it is read (`refmlc.lang.layouts`).

| text                                                      | layout                                               |
|-----------------------------------------------------------|------------------------------------------------------|
| `L.canonicalize()`, `L.storage()`                         | the canonical form; the part that lies in memory     |
| `L.tile(O, (2, 4), (8, 8))`, `L.tile_to((16, 16), (8, 8))` | tiles of L                                           |
| `L.direct_sum(A, (2, 2), (8, 8))`                         | A and L at once                                      |
| `L.slice((8, 8), [(0, 4), (2, 4)])`                       | a part of L; `None` where there is none              |
| `L.pack(2)`, `L.unpack(2)`, `L.broadcast(4)`              | larger and smaller elements; a dimension of stride 0 |
| `L.to_psum()`, `T.TileLayout.trainium("PF", (128, 512))`  | Trainium's memories                                  |
| `wg_local_layout`, `tcgen05_atom_layout`, `tmem_datapath_layout`, `mma_shared_layout`, … | those of `hardware`   |

Only layouts of constants: any other is refused by name (RM504), as is what TVM has no layout for (RM105).
"""

from collections.abc import Callable, Sequence
from dataclasses import replace

from refmlc.diag import Span, fail
from refmlc.diag.catalogue import BAD_ARGUMENTS, UNSUPPORTED_CONSTRUCT
from refmlc.lang.ir import tir
from refmlc.lang.ir.tirx import ComposeLayout, TileLayout
from refmlc.lang.layouts import algebra, hardware
from refmlc.lang.layouts.forms import AxisStep, Placed, Swizzled, Tiling, defect, form_of, node_of
from refmlc.lang.script.reader.arguments import REQUIRED, CallSite
from refmlc.lang.script.reader.evaluate import Evaluator
from refmlc.lang.script.reader.table import CallHandler, Family
from refmlc.lang.script.reader.tir_operands import dtype_of, int_of, str_of, tuple_of
from refmlc.lang.script.reader.values import Meta, Method
from refmlc.lang.script.tirx.layouts import axis_named, packed, stored, unpacked

TRAINIUM = ("trn.sbuf", "trn.psum")
"""The scopes whose buffers may say their layout by a letter for each dimension."""
TMA = "tvm.tirx.cuda.tile_primitive.tma_utils"
MODES = {"SWIZZLE_NONE": 0, "SWIZZLE_32B_ATOM": 1, "SWIZZLE_64B_ATOM": 2, "SWIZZLE_128B_ATOM": 3}
"""The modes of a swizzle by name: TVM's numbers of them."""


def form(value: Meta, site: CallSite, key: str) -> Placed:
    """The layout of constants that an argument is. Fails: RM105, RM504."""
    if not isinstance(value, TileLayout | ComposeLayout):
        raise site.wrong(key, value, "a layout")
    result = form_of(value)
    if result is None:
        message = f"`{site.spelled}` of a layout that is not constant is not supported"
        raise fail(UNSUPPORTED_CONSTRUCT, message, site.span)
    reason = defect(result)
    if reason:
        raise fail(BAD_ARGUMENTS, reason, site.span)
    return result


def _tiling(value: Meta, site: CallSite, key: str) -> Tiling:
    result = form(value, site, key)
    if not isinstance(result, Tiling):
        raise site.wrong(key, value, "a tile layout")
    return result


def _numbers(value: Meta, span: Span) -> tuple[int, ...]:
    return tuple(int_of(item, span) for item in tuple_of(value))


def _made(result: Placed | None, site: CallSite) -> Meta:
    if result is None:
        raise site.misfit("gives no layout: the extents do not fit together")
    return node_of(result)


# ----------------------------------------------------------------------------------------------------- methods


def _canonicalize(receiver: Meta, site: CallSite) -> Meta:
    site.only_positional(0, 0)
    return node_of(algebra.canonical(form(receiver, site, "self")))


def _storage(receiver: Meta, site: CallSite) -> Meta:
    site.only_positional(0, 0)
    if isinstance(receiver, ComposeLayout):
        return replace(receiver, tile_layout=stored(receiver))
    return stored(receiver) if isinstance(receiver, TileLayout) else form(receiver, site, "self")


def _tile(receiver: Meta, site: CallSite) -> Meta:
    values = site.take(outer=REQUIRED, outer_shape=REQUIRED, inner_shape=REQUIRED)
    outer = _tiling(values["outer"], site, "outer")
    shapes = [_numbers(values[key], site.span) for key in ("outer_shape", "inner_shape")]
    return _made(algebra.tiled(form(receiver, site, "self"), outer, *shapes), site)


def _tile_to(receiver: Meta, site: CallSite) -> Meta:
    values = site.take(to_shape=REQUIRED, current_shape=REQUIRED)
    whole, shape = (_numbers(values[key], site.span) for key in ("to_shape", "current_shape"))
    return _made(hardware.repeated(form(receiver, site, "self"), shape, whole), site)


def _direct_sum(receiver: Meta, site: CallSite) -> Meta:
    values = site.take(left=REQUIRED, left_shape=REQUIRED, right_shape=REQUIRED)
    left, right = _tiling(values["left"], site, "left"), _tiling(receiver, site, "self")
    shapes = [_numbers(values[key], site.span) for key in ("left_shape", "right_shape")]
    return _made(algebra.direct_sum(left, right, *shapes), site)


def _slice(receiver: Meta, site: CallSite) -> Meta:
    values = site.take(shape=REQUIRED, region=REQUIRED)
    shape = _numbers(values["shape"], site.span)
    region = [_numbers(part, site.span) for part in tuple_of(values["region"])]
    if len(region) != len(shape) or any(len(part) != 2 for part in region):
        raise site.misfit("takes a begin and an end for each dimension of the shape")
    pairs = [(part[0], part[1]) for part in region]
    result = algebra.sliced(form(receiver, site, "self"), shape, pairs)
    return None if result is None else node_of(result)


def _resized(change: Callable[[TileLayout | ComposeLayout, int], Meta]) -> "Callable[[Meta, CallSite], Meta]":
    def method(receiver: Meta, site: CallSite) -> Meta:
        count = int_of(site.take(num=REQUIRED)["num"], site.span)
        if count < 1 or not isinstance(receiver, TileLayout | ComposeLayout):
            raise site.misfit("takes a positive number of elements")
        result = change(receiver, count)
        if result is None:
            raise site.misfit(f"gives no layout of {count} elements each")
        return result

    return method


def _broadcast(receiver: Meta, site: CallSite) -> Meta:
    values = site.take(num=REQUIRED, position=-1, axis="m")
    count, position = (int_of(values[key], site.span) for key in ("num", "position"))
    axis = axis_named(values["axis"]) or str_of(values["axis"], site.span, "an axis")
    layout = form(receiver, site, "self")
    tiling = layout.tiling if isinstance(layout, Swizzled) else layout
    place = position if position >= 0 else len(tiling.shard) + 1 + position
    if count < 1 or not 0 <= place <= len(tiling.shard):
        raise site.misfit(f"has no place {position} in a layout of {len(tiling.shard)} iters")
    shard = (*tiling.shard[:place], AxisStep(count, 0, axis), *tiling.shard[place:])
    wider = replace(tiling, shard=shard)
    return node_of(replace(layout, tiling=wider) if isinstance(layout, Swizzled) else wider)


def _to_psum(receiver: Meta, site: CallSite) -> Meta:
    site.only_positional(0, 0)
    tiling = _tiling(receiver, site, "self")
    if tiling.replica or tiling.offset:
        raise fail(UNSUPPORTED_CONSTRUCT, "`to_psum` of a layout with replica or offset is not supported", site.span)
    return _made(hardware.banked(tiling), site)


METHODS: dict[str, Callable[[Meta, CallSite], Meta]] = {
    "canonicalize": _canonicalize,
    "storage": _storage,
    "tile": _tile,
    "tile_to": _tile_to,
    "direct_sum": _direct_sum,
    "slice": _slice,
    "pack": _resized(packed),
    "unpack": _resized(unpacked),
    "broadcast": _broadcast,
    "to_psum": _to_psum,
}


def _attribute(ev: Evaluator, value: Meta, name: str, span: Span) -> Meta:
    if name in METHODS:
        return Method(value, name)
    match value, name:
        case TileLayout(), "shard" | "replica" | "offset":
            return getattr(value, name)
        case ComposeLayout(), "per_element" | "swizzle_len" | "atom_len" | "tile_layout" | "swizzle_inner":
            return getattr(value, name)
    raise ev.refuse(f"a layout has no attribute `{name}` that refmlc knows", span)


def _method(_ev: Evaluator, callee: Meta, site: CallSite) -> Meta:
    if not isinstance(callee, Method):
        raise site.misfit("cannot be called")
    return METHODS[callee.name](callee.receiver, site)


# ------------------------------------------------------------------------------------------------- by their names


def _bits(value: Meta, span: Span) -> int:
    return dtype_of(value, span).bits


def _mode(value: Meta, site: CallSite) -> int:
    return int_of(value, site.span, "a mode of a swizzle")


def _mma_atom(_ev: Evaluator, site: CallSite) -> Meta:
    values = site.take(dtype=REQUIRED, swizzle_mode=REQUIRED)
    return _made(hardware.mma_atom(_bits(values["dtype"], site.span), _mode(values["swizzle_mode"], site)), site)


def _mma_atom_shape(_ev: Evaluator, site: CallSite) -> Meta:
    values = site.take(dtype=REQUIRED, swizzle_mode=REQUIRED, shape=None)
    rank = 2 if values["shape"] is None else len(_numbers(values["shape"], site.span))
    shape = hardware.mma_atom_shape(_bits(values["dtype"], site.span), _mode(values["swizzle_mode"], site), rank)
    if shape is None:
        raise site.misfit("has no atom of this mode")
    return list(shape)


def _mma_shared(_ev: Evaluator, site: CallSite) -> Meta:
    values = site.take(dtype=REQUIRED, swizzle_mode=REQUIRED, shape=REQUIRED)
    shape = _numbers(values["shape"], site.span)
    mode = _mode(values["swizzle_mode"], site)
    return _made(hardware.mma_shared(_bits(values["dtype"], site.span), mode, shape), site)


def _swizzle_mode(_ev: Evaluator, site: CallSite) -> Meta:
    mode = int_of(site.take(value=REQUIRED)["value"], site.span)
    if mode not in MODES.values():
        raise site.misfit(f"has no mode {mode}")
    return mode


def _wg_local(_ev: Evaluator, site: CallSite) -> Meta:
    values = site.take(cols=REQUIRED, rows=128)
    columns, rows = (int_of(values[key], site.span) for key in ("cols", "rows"))
    return node_of(hardware.rows_of_threads(columns, rows))


def _datapath(_ev: Evaluator, site: CallSite) -> Meta:
    values = site.take(datapath=REQUIRED, rows=REQUIRED, cols=REQUIRED, sub_slab=0)
    rows, columns, half = (int_of(values[key], site.span) for key in ("rows", "cols", "sub_slab"))
    return _made(hardware.datapath(str_of(values["datapath"], site.span), rows, columns, half), site)


def _fragment(_ev: Evaluator, site: CallSite) -> Meta:
    values = site.take(instr_shape=REQUIRED, tensor_shape=REQUIRED, dtype=REQUIRED)
    shape = _numbers(values["tensor_shape"], site.span)
    instruction = str_of(values["instr_shape"], site.span)
    return _made(hardware.fragment(instruction, shape, _bits(values["dtype"], site.span)), site)


def _trainium(_ev: Evaluator, site: CallSite) -> Meta:
    values = site.take(annotation=REQUIRED, shape=REQUIRED, is_psum=False)
    if not isinstance(values["is_psum"], bool):
        raise site.wrong("is_psum", values["is_psum"], "`True` or `False`")
    shape = _numbers(values["shape"], site.span)
    text = str_of(values["annotation"], site.span)
    return _made(hardware.trainium(text, shape, accumulator=values["is_psum"]), site)


def by_dimensions(text: str, shape: Sequence[tir.Expr], scope: str, span: Span) -> TileLayout | ComposeLayout:
    """`layout="PF"` of a buffer in a memory of Trainium: a letter for each dimension. Fails: RM105, RM504."""
    sizes = [extent.value for extent in shape if isinstance(extent, tir.IntImm)]
    if len(sizes) != len(shape):
        raise fail(UNSUPPORTED_CONSTRUCT, f"the layout {text[:20]!r} of a shape that is not constant", span)
    result = hardware.trainium(text, sizes, accumulator=scope == "trn.psum")
    if result is None:
        message = f"the layout {text[:20]!r} is not one of the shape {tuple(sizes)}"
        raise fail(BAD_ARGUMENTS, message, span)
    return node_of(result)


CALLS: dict[str, CallHandler] = {
    f"{TMA}.mma_atom_layout": _mma_atom,
    f"{TMA}.mma_atom_shape": _mma_atom_shape,
    f"{TMA}.mma_shared_layout": _mma_shared,
    f"{TMA}.SwizzleMode": _swizzle_mode,
    "T.wg_local_layout": _wg_local,
    "T.tmem_datapath_layout": _datapath,
    "T.tcgen05_atom_layout": _fragment,
    "T.TileLayout.trainium": _trainium,
}
NAMES: dict[str, Meta] = {f"{TMA}.SwizzleMode.{name}": mode for name, mode in MODES.items()}
FAMILIES = (Family((TileLayout, ComposeLayout), attribute=_attribute, method=_method),)
