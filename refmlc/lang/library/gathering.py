"""Elements looked up by indices that are elements of other tensors, and what is near to it.

| operator          | the element                                                                  |
|-------------------|------------------------------------------------------------------------------|
| `take`            | at the index along one axis                                                  |
| `gather_elements` | the same place, its index along one axis replaced                            |
| `gather_nd`       | at a vector of indices, one for each of the first axes                       |
| `index_tensor`    | at the indices of several tensors, one for each of the first axes, broadcast |
| `one_hot`         | one number at the place that the index says, another elsewhere               |
| `bucketize`       | how many boundaries are below the number                                     |
| `collapse_sum_to` | the sum of what broadcasting would take from it                              |
| `size`            | how many elements there are                                                  |

An index outside of its axis is a load out of bounds (RM304), one below 0 too: it does not count from the end.
"""

from collections.abc import Sequence

from refmlc.diag import fail
from refmlc.diag.catalogue import BAD_ARGUMENTS, SHAPE_MISMATCH, TYPE_MISMATCH
from refmlc.lang import te
from refmlc.lang.library.definition import Operator, Shape, Tensors, computed
from refmlc.lang.library.reduction import over
from refmlc.lang.library.shapes import UNSURE, axis_of, broadcast_indices, broadcast_shape, known, must_agree, same
from refmlc.lang.te import Tensor, Value

MODES = ("fast", "nan", "wrap", "clip")


def require_indices(tensor: Tensor | Value, name: str) -> None:
    """Fails: RM201 where the elements are no integers."""
    dtype = tensor.buffer.dtype if isinstance(tensor, Tensor) else tensor.expr.dtype
    if not dtype.is_integer:
        raise fail(TYPE_MISMATCH, f"the indices of `{name}` are integers; these are {dtype}")


def take(x: Tensor, indices: Tensor | Value, *, axis: int | None = None, mode: str = "fast") -> Tensor:
    """The elements of `x` at `indices` along an axis; a vector needs no axis.

    `mode` says what an index outside of the axis means: "fast" that it is undefined (a load out of bounds), "clip" the
    nearest end, "wrap" the rest by the extent, "nan" NaN. Shapes: those of `indices` in place of the axis. Fails:
    RM105, RM201.
    """
    if axis is None and x.ndim != 1:
        raise fail(BAD_ARGUMENTS, f"`take` without an axis takes a vector; the tensor has {x.ndim} dimensions")
    require_indices(indices, "take")
    if mode not in MODES:
        raise fail(BAD_ARGUMENTS, f"the mode of `take` is one of {', '.join(MODES)}; this is {mode!r}")
    if mode == "nan" and not x.buffer.dtype.is_float:
        raise fail(TYPE_MISMATCH, f'`take` with mode "nan" takes floats; the argument is {x.dtype}')
    along = axis_of(0 if axis is None else axis, x.ndim)
    extent = x.shape[along]
    inner = indices.shape if isinstance(indices, Tensor) else ()

    def element(*i: Value) -> Value:
        before, own, after = i[:along], i[along : along + len(inner)], i[along + len(inner) :]
        at = indices(*own) if isinstance(indices, Tensor) else indices
        if mode == "clip":
            at = te.minimum(te.maximum(te.cast(at, "int64"), 0), extent - 1)
        elif mode == "wrap":
            at = te.cast(at, "int64") % extent
        value = x(*before, at, *after)
        if mode == "nan":
            wide = te.cast(at, "int64")
            return te.if_then_else(te.all(wide >= 0, wide < extent), value, te.const(float("nan"), x.dtype))
        return value

    return computed([*x.shape[:along], *inner, *x.shape[along + 1 :]], element, "T_take")


def gather_elements(data: Tensor, indices: Tensor, *, axis: int = 0) -> Tensor:
    """At each place of `indices` the element of `data` at that place, its index along the axis being what is there.

    Shapes: as many dimensions, none but the axis longer than that of `data`. Fails: RM105, RM201, RM202.
    """
    along = axis_of(axis, data.ndim)
    require_indices(indices, "gather_elements")
    if indices.ndim != data.ndim:
        raise fail(SHAPE_MISMATCH, f"`gather_elements` of {data.ndim} dimensions gets indices of {indices.ndim}")
    for place, (have, most) in enumerate(zip(indices.shape, data.shape, strict=True)):
        size, limit = known(have), known(most)
        if place != along and size is not None and limit is not None and size > limit:
            raise fail(SHAPE_MISMATCH, f"dimension {place} of the indices is {size}, that of the data {limit}")
    return computed(indices.shape, lambda *i: data(*i[:along], indices(*i), *i[along + 1 :]), "T_gather")


def gather_nd(data: Tensor, indices: Tensor, *, batch_dims: int = 0) -> Tensor:
    """For each vector along the last axis of `indices`, the part of `data` at these indices of its first axes.

    The first `batch_dims` axes are common to both. Shapes: those of `indices` without the last, then what is left of
    `data`. Fails: RM105, RM201, RM202.
    """
    require_indices(indices, "gather_nd")
    count = known(indices.shape[-1]) if indices.ndim else None
    if count is None or not 0 <= batch_dims < indices.ndim or batch_dims + count > data.ndim:
        raise fail(
            BAD_ARGUMENTS,
            "the last dimension of the indices of `gather_nd` must be known: it is the number of indexed axes",
        )
    for place in range(batch_dims):
        must_agree(indices.shape[place], data.shape[place], f"batch dimension {place} of `gather_nd`")
    rest = data.shape[batch_dims + count :]
    outer = indices.shape[:-1]

    def element(*i: Value) -> Value:
        own = i[: len(outer)]
        at = [indices(*own, te.const(place, "int64")) for place in range(count)]
        return data(*i[:batch_dims], *at, *i[len(outer) :])

    return computed([*outer, *rest], element, "T_gather_nd")


def index_tensor(data: Tensor, indices: Tensors) -> Tensor:
    """The parts of `data` at the indices of several tensors, one for each of its first axes.

    Shapes: that to which the index tensors are broadcast, then what is left of `data`. Fails: RM105, RM201, RM202.
    """
    if not indices or len(indices) > data.ndim:
        raise fail(BAD_ARGUMENTS, f"`index_tensor` takes 1 to {data.ndim} tensors of indices, not {len(indices)}")
    for tensor in indices:
        require_indices(tensor, "index_tensor")
    outer = broadcast_shape(*(tensor.shape for tensor in indices))

    def element(*i: Value) -> Value:
        own = i[: len(outer)]
        return data(*(tensor(*broadcast_indices(tensor.shape, own, outer)) for tensor in indices), *i[len(outer) :])

    return computed([*outer, *data.shape[len(indices) :]], element, "advanced_index")


def one_hot(indices: Tensor, on_value: Value, off_value: Value, *, depth: int, axis: int = -1) -> Tensor:
    """A new axis of `depth` places: `on_value` at the place that the index says, `off_value` elsewhere.

    An index outside is at no place. Dtypes: that of the values. Fails: RM105, RM201.
    """
    require_indices(indices, "one_hot")
    if on_value.dtype != off_value.dtype:
        raise fail(TYPE_MISMATCH, f"the values of `one_hot` have one dtype, not {on_value.dtype}, {off_value.dtype}")
    if depth < 1:
        raise fail(BAD_ARGUMENTS, f"the depth of `one_hot` is above 0; this is {depth}")
    along = axis_of(axis, indices.ndim + 1)

    def element(*i: Value) -> Value:
        at = te.cast(indices(*i[:along], *i[along + 1 :]), "int64")
        return te.select(at == i[along], on_value, off_value)

    shape = [*indices.shape[:along], te.const(depth, "int64"), *indices.shape[along:]]
    return computed(shape, element, "T_one_hot")


def bucketize(input_tensor: Tensor, boundaries: Tensor, *, out_int32: bool = False, right: bool = False) -> Tensor:
    """How many of the boundaries, which ascend, are below the element; `right`: below or equal. NaN: 0.

    Dtypes: int64, or int32. Fails: RM105 where the boundaries are no vector, RM201.
    """
    if boundaries.ndim != 1:
        raise fail(BAD_ARGUMENTS, f"the boundaries of `bucketize` are a vector; they have {boundaries.ndim} dimensions")
    if boundaries.dtype != input_tensor.dtype:
        dtypes = f"{input_tensor.dtype} and {boundaries.dtype}"
        raise fail(TYPE_MISMATCH, f"`bucketize` takes tensors of one dtype; these are {dtypes}")
    (k,), there = over(boundaries, (0,))
    dtype = "int32" if out_int32 else "int64"

    def element(*i: Value) -> object:
        value = input_tensor(*i)
        below = boundaries(k) <= value if right else boundaries(k) < value
        return te.sum(te.cast(below, dtype), axis=[k], where=there)

    return computed(input_tensor.shape, element, "bucketize")


def collapse_sum_to(data: Tensor, shape: Shape) -> Tensor:
    """The sum over the axes that broadcasting from `shape` would add or repeat.

    Order: as `sum` over these axes. Fails: RM202 where `shape` is not broadcast to that of `data`.
    """
    new = data.ndim - len(shape)
    if new < 0:
        raise fail(SHAPE_MISMATCH, f"a tensor of {data.ndim} dimensions is not the broadcast of one of {len(shape)}")
    axes, unsure = list(range(new)), False
    for place, want in enumerate(shape):
        if known(want) == 1 and known(data.shape[new + place]) != 1:
            axes.append(new + place)
        elif known(want) != 1:
            must_agree(data.shape[new + place], want, f"dimension {place} of the sum, and of the summand")
            unsure |= not same(data.shape[new + place], want)
    if unsure:  # the run decides whether the axis is one of those that are added
        return computed(shape, lambda *_: data(*(UNSURE for _ in data.shape)), "collapse_sum")
    if not axes:
        return computed(shape, data, "collapse_sum")
    inner, there = over(data, axes)

    def element(*i: Value) -> object:
        at: list[Value] = [*inner[:new], *i]
        for axis, var in zip(axes[new:], inner[new:], strict=True):
            at[axis] = var
        return te.sum(data(*at), axis=inner, where=there)

    return computed(shape, element, "collapse_sum")


def collapse_sum_like(data: Tensor, collapse_target: Tensor) -> Tensor:
    """`collapse_sum_to` of the shape of another tensor."""
    return collapse_sum_to(data, collapse_target.shape)


def size(x: Tensor) -> Tensor:
    """How many elements the tensor has, in a tensor of int64 without dimensions."""
    return computed((), lambda: product(x.shape), "size")


def product(extents: Sequence[Value]) -> Value:
    """How many places a shape has."""
    count = te.const(1, "int64")
    for extent in extents:
        count = count * extent
    return count


GATHERING = (
    Operator("take", take, "LIB-920", ("take",), domains={"indices": "index"}),
    Operator("gather_elements", gather_elements, "LIB-921", ("gather",), domains={"indices": "index"}),
    Operator("gather_nd", gather_nd, "LIB-922", ("gather_nd",), domains={"indices": "index"}),
    Operator("index_tensor", index_tensor, "LIB-923", ("index_tensor", "adv_index"), domains={"indices": "index"}),
    Operator("one_hot", one_hot, "LIB-924", ("one_hot",)),
    Operator("bucketize", bucketize, "LIB-925", domains={"boundaries": "ascending"}),
    Operator("collapse_sum_to", collapse_sum_to, "LIB-926", ("collapse_sum",)),
    Operator("collapse_sum_like", collapse_sum_like, "LIB-926"),
    Operator("size", size, "LIB-927"),
)
