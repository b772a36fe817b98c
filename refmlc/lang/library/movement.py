"""Elements in other places: axes exchanged, added and removed; tensors joined, cut, repeated. No element changes.

| operator                                     | the element at an index comes from                              |
|----------------------------------------------|-----------------------------------------------------------------|
| `permute_dims`                               | the index with its axes in their old order                      |
| `expand_dims`, `squeeze`                     | the same, extents of 1 aside                                    |
| `flatten`, `nn.batch_flatten`                | the same place in row-major order                               |
| `broadcast_to`                               | 0 along extents of 1                                            |
| `concat`, `stack`, `split`                   | one of the tensors; a part of the tensor                        |
| `tile`, `repeat`, `flip`                     | `i % n`, `i // times`, `n - 1 - i`                              |
| `meshgrid`                                   | the vector of its axis                                          |
"""

from collections.abc import Sequence
from itertools import pairwise

from refmlc.diag import fail
from refmlc.diag.catalogue import BAD_ARGUMENTS, SHAPE_MISMATCH, TYPE_MISMATCH
from refmlc.lang import te
from refmlc.lang.library.definition import Operator, Shape, Tensors, computed
from refmlc.lang.library.shapes import (
    RANK,
    UNSURE,
    axes_of,
    axis_of,
    broadcast_indices,
    broadcast_shape,
    known,
    must_agree,
    shown,
)
from refmlc.lang.te import Tensor, Value

ONE = te.const(1, "int64")


def permute_dims(x: Tensor, *, axes: Sequence[int] | None = None) -> Tensor:
    """The tensor with its axes in another order: axis `axes[i]` becomes axis i; None turns the order around."""
    order = tuple(reversed(range(x.ndim))) if axes is None else tuple(axis_of(each_axis, x.ndim) for each_axis in axes)
    if sorted(order) != list(range(x.ndim)):
        raise fail(BAD_ARGUMENTS, f"`permute_dims` takes each of {x.ndim} axes once; given are {list(order)}")

    def element(*i: Value) -> Value:
        return x(*(i[order.index(axis)] for axis in range(x.ndim)))

    return computed([x.shape[axis] for axis in order], element, "T_transpose")


def expand_dims(x: Tensor, *, axis: int | Sequence[int]) -> Tensor:
    """The tensor with extents of 1 at the given places of the result."""
    new_axes = (axis,) if isinstance(axis, int) else tuple(axis)
    new = axes_of(new_axes, x.ndim + len(new_axes))
    rest = iter(x.shape)
    shape = [ONE if place in new else next(rest) for place in range(x.ndim + len(new))]
    return computed(shape, lambda *i: x(*(index for place, index in enumerate(i) if place not in new)), "expand_dims")


def squeeze(x: Tensor, *, axis: int | Sequence[int] | None = None) -> Tensor:
    """The tensor without some extents of 1, or without all. Fails: RM202 where an extent is not 1."""
    if axis is None and any(known(extent) is None for extent in x.shape):
        return computed([RANK], lambda i: x(*(i * UNSURE for _ in x.shape)), "T_squeeze")
    dropped = axes_of(axis, x.ndim) if axis is not None else tuple(a for a in range(x.ndim) if known(x.shape[a]) == 1)
    for dimension in dropped:
        if known(x.shape[dimension]) not in (1, None):
            raise fail(
                SHAPE_MISMATCH,
                f"`squeeze` removes dimensions of extent 1; dimension {dimension} is {shown(x.shape[dimension])}",
            )

    def element(*i: Value) -> Value:
        rest = iter(i)
        return x(*(te.const(0, "int64") if place in dropped else next(rest) for place in range(x.ndim)))

    return computed([n for place, n in enumerate(x.shape) if place not in dropped], element, "T_squeeze")


def _flattened(x: Tensor, first: int) -> Tensor:
    """The axes from `first` on as one."""
    inner = x.shape[first:]
    count: Value = ONE
    for extent in inner:
        count = count * extent

    def element(*i: Value) -> Value:
        place, coordinates = i[first], []
        for extent in reversed(inner):
            coordinates.append(place % extent)
            place = place // extent
        return x(*i[:first], *reversed(coordinates))

    return computed([*x.shape[:first], count], element, "T_reshape")


def flatten(x: Tensor) -> Tensor:
    """The elements in row-major order."""
    return _flattened(x, 0)


def batch_flatten(data: Tensor) -> Tensor:
    """The elements of each part of the first axis in row-major order."""
    if not data.ndim:
        raise fail(BAD_ARGUMENTS, "`nn.batch_flatten` takes a tensor of at least one dimension")
    return _flattened(data, 1)


def broadcast_to(x: Tensor, shape: Shape) -> Tensor:
    """The tensor repeated along extents of 1, and along new ones before. Fails: RM202."""
    if len(shape) < x.ndim:
        raise fail(SHAPE_MISMATCH, f"a tensor of {x.ndim} dimensions is not broadcast to {len(shape)}")
    common = broadcast_shape(x.shape, shape)
    for have, want in zip(common, shape, strict=True):
        must_agree(have, want, "an extent of the operand, and of the broadcast")
    return computed(shape, lambda *i: x(*broadcast_indices(x.shape, i, shape)), "T_broadcast_to")


def _alike(tensors: Tensors, name: str) -> int:
    """The rank that all tensors have. Fails: RM105, RM201."""
    if not tensors:
        raise fail(BAD_ARGUMENTS, f"`{name}` takes at least one tensor")
    first = tensors[0]
    for other in tensors[1:]:
        if other.ndim != first.ndim or other.dtype != first.dtype:
            raise fail(TYPE_MISMATCH, f"`{name}` takes tensors of one dtype and one number of dimensions")
    return first.ndim


def concat(tensors: Tensors, *, axis: int | None = 0) -> Tensor:
    """The tensors one after the other along an axis; None: their elements in row-major order. Fails: RM201, RM202."""
    rank = _alike(tensors, "concat")
    if axis is None:
        return concat([flatten(tensor) for tensor in tensors], axis=0)
    along = axis_of(axis, rank)
    shape = list(tensors[0].shape)
    for other in tensors[1:]:
        for place in range(rank):
            if place == along:
                shape[place] = shape[place] + other.shape[place]
            else:
                shape[place] = must_agree(
                    shape[place], other.shape[place], f"dimension {place} of the operands of `concat`"
                )

    def element(*i: Value) -> Value:
        starts = [te.const(0, "int64")]
        for tensor in tensors[:-1]:
            starts.append(starts[-1] + tensor.shape[along])
        value: Value | None = None
        for tensor, start in zip(tensors, starts, strict=True):
            at = tensor(*i[:along], i[along] - start, *i[along + 1 :])
            value = at if value is None else te.if_then_else(start <= i[along], at, value)
        return te.const(0) if value is None else value

    return computed(shape, element, "T_concat")


def stack(tensors: Tensors, *, axis: int = 0) -> Tensor:
    """The tensors along a new axis. Fails: RM201, RM202."""
    rank = _alike(tensors, "stack")
    along = axis_of(axis, rank + 1)
    return concat([expand_dims(tensor, axis=along) for tensor in tensors], axis=along)


def split(x: Tensor, *, indices_or_sections: int | Sequence[int], axis: int = 0) -> tuple[Tensor, ...]:
    """The tensor cut along an axis: before each of the indices, or into that many parts, the last being smaller.

    Fails: RM105 (an index below 0).
    """
    along = axis_of(axis, x.ndim)
    bounds = _bounds(x.shape[along], indices_or_sections)
    parts = []
    for start, end in pairwise(bounds):
        shape = [*x.shape[:along], _length(start, end), *x.shape[along + 1 :]]
        parts.append(
            computed(shape, lambda *i, start=start: x(*i[:along], i[along] + start, *i[along + 1 :]), "T_split")
        )
    return tuple(parts)


def _bounds(extent: Value, cuts: int | Sequence[int]) -> list[Value]:
    """Where the parts of an axis begin, and where the last one ends: none is past the end of the axis."""
    first = te.const(0, "int64")
    if not isinstance(cuts, int):
        if any(cut < 0 for cut in cuts):
            raise fail(BAD_ARGUMENTS, f"`split` takes indices that are not below 0; given are {list(cuts)}")
        return [first, *(_least(te.const(cut, "int64"), extent) for cut in cuts), extent]
    if cuts == 1:
        return [first, extent]
    size = (extent + (cuts - 1)) // cuts
    # the first part is never longer than the axis, so that its end needs no minimum
    return [first, size, *(_least(size * part, extent) for part in range(2, cuts)), extent]


def _least(a: Value, b: Value) -> Value:
    """The smaller one; a number where both are."""
    first, second = known(a), known(b)
    return te.minimum(a, b) if first is None or second is None else te.const(min(first, second), "int64")


def _length(start: Value, end: Value) -> Value:
    """How many places are between the two."""
    first, last = known(start), known(end)
    if first == 0:
        return te.cast(end, "int64")
    if first is None or last is None:
        return te.cast(te.maximum(end - start, te.const(0, "int64")), "int64")
    return te.const(max(0, last - first), "int64")


def tile(data: Tensor, *, repeats: int | Sequence[int]) -> Tensor:
    """The tensor repeated as a whole along each axis; missing numbers, or axes, in front count as 1."""
    times = (repeats,) if isinstance(repeats, int) else tuple(repeats)
    rank = max(len(times), data.ndim)
    times = (*(1,) * (rank - len(times)), *times)
    extents = (*(ONE,) * (rank - data.ndim), *data.shape)
    shape = [extent * time for extent, time in zip(extents, times, strict=True)]

    def element(*i: Value) -> Value:
        own = i[rank - data.ndim :]
        return data(*(at % extent for at, extent in zip(own, data.shape, strict=True)))

    return computed(shape, element, "T_tile")


def repeat(data: Tensor, *, repeats: int, axis: int | None = None) -> Tensor:
    """Each element repeated along an axis; None: in row-major order."""
    if axis is None:
        return repeat(flatten(data), repeats=repeats, axis=0)
    along = axis_of(axis, data.ndim)
    shape = [extent * repeats if place == along else extent for place, extent in enumerate(data.shape)]
    return computed(shape, lambda *i: data(*i[:along], i[along] // repeats, *i[along + 1 :]), "T_repeat")


def flip(data: Tensor, *, axis: int) -> Tensor:
    """The elements in the opposite order along an axis."""
    along = axis_of(axis, data.ndim)
    last = data.shape[along] - 1
    return computed(data.shape, lambda *i: data(*i[:along], last - i[along], *i[along + 1 :]), "T_reverse")


def meshgrid(tensors: Tensors, *, indexing: str = "ij") -> tuple[Tensor, ...]:
    """Each of several vectors along its own axis of their common shape; "xy" exchanges the first two axes."""
    _alike(tensors, "meshgrid")
    if any(tensor.ndim > 1 for tensor in tensors) or indexing not in ("ij", "xy"):
        raise fail(BAD_ARGUMENTS, '`meshgrid` takes vectors, and the indexing "ij" or "xy"')
    order = list(range(len(tensors)))
    if indexing == "xy" and len(order) > 1:
        order[:2] = [1, 0]
    shape = [tensors[place].shape[0] if tensors[place].ndim else ONE for place in order]
    return tuple(_along(tensor, shape, order.index(place)) for place, tensor in enumerate(tensors))


def _along(vector: Tensor, shape: Sequence[Value], axis: int) -> Tensor:
    """A vector along an axis of a shape, the same along the others."""
    return computed(shape, lambda *i: vector(*((i[axis],) if vector.ndim else ())), "T_meshgrid")


MOVEMENT = (
    Operator("permute_dims", permute_dims, "LIB-901", ("transpose",)),
    Operator("expand_dims", expand_dims, "LIB-902"),
    Operator("squeeze", squeeze, "LIB-902", ("squeeze",)),
    Operator("flatten", flatten, "LIB-903"),
    Operator("nn.batch_flatten", batch_flatten, "LIB-903", ("nn.flatten",)),
    Operator("broadcast_to", broadcast_to, "LIB-904", ("broadcast_to",)),
    Operator("concat", concat, "LIB-905", ("concatenate",)),
    Operator("stack", stack, "LIB-905", ("stack",)),
    Operator("split", split, "LIB-906", ("split",)),
    Operator("tile", tile, "LIB-907", ("tile",)),
    Operator("repeat", repeat, "LIB-907", ("repeat",)),
    Operator("flip", flip, "LIB-908", ("flip",)),
    Operator("meshgrid", meshgrid, "LIB-909", ("meshgrid",)),
)
