"""Tensors with other elements in some places: slices, masks, places that other tensors say."""

import math
from collections.abc import Mapping, Sequence

import numpy as np

from refmlc.diag import fail
from refmlc.diag.catalogue import UNSUPPORTED_OP
from refmlc.frontends.arrays import constant
from refmlc.frontends.aten.arithmetic import brought, converted
from refmlc.frontends.aten.attention import Indexed, from_front
from refmlc.frontends.aten.movement import bounds
from refmlc.frontends.aten.nans import has_nan
from refmlc.frontends.aten.sorting import with_axis, without_axis
from refmlc.frontends.emitter import Emitter, Operand
from refmlc.frontends.rule import Rule
from refmlc.lang.ir import relax

Tensor = relax.Expr


def like(e: Emitter, x: Tensor, value: Operand) -> Tensor:
    """The value in the shape and the dtype of the tensor."""
    dtype = e.dtype(x)
    result = converted(e, value, dtype) if isinstance(value, relax.Expr) else e.scalar(value, dtype)
    return e.call("broadcast_to", result, e.sizes(e.shape(x)))


def copy(e: Emitter, x: Tensor, src: Operand) -> Tensor:
    """The other tensor in the shape and the dtype of the first."""
    return like(e, x, src)


def slice_scatter(
    e: Emitter, x: Tensor, src: Tensor, dim: int = 0, start: Operand = None, end: Operand = None, step: int = 1
) -> Tensor:
    """The tensor with a slice replaced."""
    begin, stop = bounds(e, x, dim, start, end)
    part = e.call("strided_slice", x, [dim % e.rank(x)], [begin], [stop], [step])
    return e.call("slice_scatter", x, like(e, part, src), begin, stop, step, axis=dim % e.rank(x))


def index_put(
    e: Emitter, x: Tensor, indices: Sequence[Tensor | None], values: Operand, accumulate: Operand = False
) -> Tensor:
    """The values at the places that tensors of indices say, or added there; or one value where a mask holds."""
    arguments = [index for index in indices if index is not None]
    if len(arguments) == 1 and e.dtype(arguments[0]) == "bool":
        return _masked_put(e, x, indices, values, accumulate=bool(accumulate))
    places = Indexed.of(e, x, indices)
    shifted = places.moved(e, x)
    value = places.values_first(e, e.call("broadcast_to", brought(e, values, e.dtype(x)), e.sizes(places.result(e))))
    put = e.call("index_put", shifted, places.every(e), value, accumulate=bool(accumulate))
    return places.back(e, put)


def _masked_put(
    e: Emitter, x: Tensor, indices: Sequence[Tensor | None], values: Operand, *, accumulate: bool
) -> Tensor:
    before = next(at for at, index in enumerate(indices) if index is not None)
    mask = indices[before]
    value = brought(e, values, e.dtype(x))
    if before or mask is None or any(extent != 1 for extent in e.shape(value)):
        raise fail(UNSUPPORTED_OP, "several values at a mask are not supported: which is where depends on data")
    wide = e.reshape(mask, [*e.shape(mask), *(1,) * (e.rank(x) - e.rank(mask))])
    item = e.reshape(value, [])
    return e.call("where", wide, e.call("add", x, item) if accumulate else item, x)


def index_fill(e: Emitter, x: Tensor, dim: int, indices: Tensor, value: Operand) -> Tensor:
    """One value at the places along an axis."""
    line, added = with_axis(e, x)
    axis, places = int(dim) % e.rank(line), with_axis(e, indices)[0]
    values = [None] * axis + [places]
    return without_axis(e, index_put(e, line, values, brought(e, value, e.dtype(x))), added=added)


COMBINED = {None: "update", "add": "add", "sum": "add", "multiply": "mul", "prod": "mul", "amax": "max", "amin": "min"}


def scatter(
    e: Emitter, x: Tensor, dim: int, indices: Tensor, src: Operand, *, reduce: Operand = None, start: bool = True
) -> Tensor:
    """Each value at its own place, the index along an axis replaced; combined with what is there where asked for.

    `start`: whether what is there counts where several are combined.
    """
    if reduce not in COMBINED:
        raise fail(UNSUPPORTED_OP, f"`scatter` with the reduction `{reduce}` is not supported")
    (line, added), (at, _) = with_axis(e, x), with_axis(e, indices)
    if 0 in e.shape(at):
        return x
    axis = int(dim) % e.rank(line)
    if isinstance(src, relax.Expr) and e.rank(src) == e.rank(indices):
        values = with_axis(e, src)[0]
        if e.shape(values) != e.shape(at):
            axes = list(range(e.rank(at)))
            values = e.call("strided_slice", values, axes, [0 for _ in axes], list(e.shape(at)), [1 for _ in axes])
    else:
        values = brought(e, src, e.dtype(x))
    values = e.call("broadcast_to", e.astype(values, e.dtype(x)), e.sizes(e.shape(at)))
    name = COMBINED[reduce]
    if not start:
        line = e.call("scatter_elements", line, at, _neutral(e, values, name), axis=axis, reduction="update")
    result = e.call("scatter_elements", line, at, values, axis=axis, reduction=name)
    if name in ("max", "min") and has_nan(e, x):
        visited = e.astype(e.call("isnan", line), "int32")
        holes = e.astype(e.call("isnan", values), "int32")
        visited = e.call("scatter_elements", visited, at, holes, axis=axis, reduction="max")
        result = e.call("where", e.astype(visited, "bool"), e.scalar(math.nan, e.dtype(x)), result)
    return without_axis(e, result, added=added)


def _neutral(e: Emitter, values: Tensor, name: str) -> Tensor:
    """What changes nothing in a reduction, in the shape of the values."""
    dtype = e.dtype(values)
    number: float | int = {"add": 0, "mul": 1}.get(name, 0)
    if name in ("max", "min"):
        lowest = name == "max"
        if has_nan(e, values):
            number = -math.inf if lowest else math.inf
        elif dtype == "bool":
            number = 0 if lowest else 1
        else:
            info = np.iinfo(dtype)
            number = int(info.min if lowest else info.max)
    return e.call("full", e.sizes(e.shape(values)), e.scalar(number, dtype), dtype=dtype)


def scatter_reduce(
    e: Emitter, x: Tensor, dim: int, indices: Tensor, src: Tensor, reduce: str, *, include_self: Operand = True
) -> Tensor:
    """Values combined at their places: sum, mean, prod, amax, amin; not with what is there where not asked for."""
    if reduce == "mean":
        ones = like(e, src, 1)
        count = scatter(e, like(e, x, 1), dim, indices, ones, reduce="sum", start=bool(include_self))
        total = scatter(e, x, dim, indices, src, reduce="sum", start=bool(include_self))
        return e.call("divide" if has_nan(e, x) else "floor_divide", total, count)
    if reduce not in ("sum", "prod", "amax", "amin"):
        raise fail(UNSUPPORTED_OP, f"`scatter_reduce` with the reduction `{reduce}` is not supported")
    return scatter(e, x, dim, indices, src, reduce=reduce, start=bool(include_self))


def along(name: str) -> Rule:
    """Rows put, or added, at places along an axis."""

    def rule(e: Emitter, x: Tensor, dim: int, indices: Tensor, source: Tensor, *, alpha: Operand = 1) -> Tensor:
        (line, added), at = with_axis(e, x), with_axis(e, indices)[0]
        axis = int(dim) % e.rank(line)
        value = e.reshape(source, [*e.shape(line)[:axis], e.shape(at)[0], *e.shape(line)[axis + 1 :]])
        if alpha != 1:
            value = e.call("multiply", value, brought(e, alpha, e.dtype(x)))
        result = index_put(e, line, [None] * axis + [at], value, name == "add")
        return without_axis(e, result, added=added)

    return rule


def diagonal(e: Emitter, x: Tensor, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Tensor:
    """The elements whose two indices differ by the offset, as the last axis."""
    rank, shape = e.rank(x), e.shape(x)
    first, second = int(dim1) % rank, int(dim2) % rank
    rows, columns = shape[first], shape[second]
    if not isinstance(rows, int) or not isinstance(columns, int):
        raise fail(UNSUPPORTED_OP, "the diagonal of symbolic extents is not supported")
    count = max(0, min(rows, columns - offset) if offset >= 0 else min(rows + offset, columns))
    others = [axis for axis in range(rank) if axis not in (first, second)]
    flat = e.reshape(
        e.call("permute_dims", x, axes=(*others, first, second)), [*(shape[axis] for axis in others), rows * columns]
    )
    start = offset if offset >= 0 else -offset * columns
    places = start + np.arange(count, dtype=np.int64) * (columns + 1)
    return e.call("take", flat, constant(places), axis=len(others))


def from_end(e: Emitter, x: Tensor, indices: Tensor) -> Tensor:
    """The elements of a tensor in row-major order at indices."""
    flat = e.reshape(x, [-1])
    return e.call("take", flat, from_front(e, indices, e.shape(flat)[0]), axis=0)


WRITING: Mapping[str, Rule] = {
    "copy": copy,
    "fill": like,
    "slice_scatter": slice_scatter,
    "index_put": index_put,
    "_unsafe_index_put": index_put,
    "index_fill": index_fill,
    "index_add": along("add"),
    "index_copy": along("update"),
    "scatter": scatter,
    "scatter_add": lambda e, x, dim, indices, src: scatter(e, x, dim, indices, src, reduce="add"),
    "scatter_reduce": scatter_reduce,
    "diagonal": diagonal,
    "take": from_end,
}
