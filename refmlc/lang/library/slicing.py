"""Parts of tensors along axes, and tensors with a part replaced.

| operator                | the element at an index                                             |
|-------------------------|---------------------------------------------------------------------|
| `strided_slice`         | of `begin + i * stride` along each of the axes                      |
| `dynamic_strided_slice` | the same, begins and strides being elements                         |
| `slice_scatter`         | of the source where the index lies on the slice, else of the tensor |
| `reverse_sequence`      | of `length - 1 - i` in the first `length` places of each row        |

A begin or an end below 0 counts from the end of the axis; what lies outside counts as the nearest end of the axis.
"""

from dataclasses import dataclass

from refmlc.diag import fail
from refmlc.diag.catalogue import BAD_ARGUMENTS, TYPE_MISMATCH
from refmlc.lang import te
from refmlc.lang.arith.extents import polynomial
from refmlc.lang.library.definition import Counts, Numbers, Operator, computed
from refmlc.lang.library.shapes import axis_of, known, must_agree, require_rank, same, shown
from refmlc.lang.te import Tensor, Value

INT64_MAX = (1 << 63) - 1


@dataclass(frozen=True)
class Part:
    """`count` places of an axis, from `begin` on, `stride` apart."""

    begin: Value
    stride: int
    count: Value

    def __call__(self, index: Value) -> Value:
        """The place on the axis of place `index` of the part."""
        return self.begin + index * self.stride


def _int64(value: Value) -> Value:
    if not value.expr.dtype.is_integer:
        raise fail(TYPE_MISMATCH, f"a slice takes integers; {shown(value)} is {value.dtype}")
    return te.cast(value, "int64")


def whole(value: Value, what: str) -> int:
    """A number that has to be known. Fails: RM105."""
    number = known(value)
    if number is None:
        raise fail(BAD_ARGUMENTS, f"{what} must be known; this is {shown(value)}")
    return number


def _distance(a: Value, b: Value) -> Value:
    """A - b; a constant where it follows."""
    number = (polynomial(a.expr, {}) - polynomial(b.expr, {})).only
    return a - b if number is None else te.const(number, "int64")


def _limited(index: Value, extent: Value, stride: int) -> Value:
    """An index with those below 0 counted from the end, and brought to the axis; going down its ends are one lower."""
    low, high = (te.const(0, "int64"), extent) if stride > 0 else (te.const(-1, "int64"), extent - 1)
    number, size = known(index), known(extent)
    if number is not None and size is not None:
        at = number + size if number < 0 else number
        return te.const(max(min(at, known(high) or 0), known(low) or 0), "int64")
    if same(index, high) or number == INT64_MAX:
        return high
    if number == 0 and stride > 0:
        return low
    if number is None:
        counted = te.select(index < 0, index + extent, index)
    else:
        counted = extent + number if number < 0 else index
    return te.maximum(te.minimum(counted, high), low)


def part(extent: Value, begin: Value, end: Value, stride: int, *, inbound: bool) -> Part:
    """The places from `begin` on before `end`. `inbound`: both are places of the axis as they stand.

    Fails: RM105 for a stride of 0.
    """
    if not stride:
        raise fail(BAD_ARGUMENTS, "a stride of a slice is not 0")
    begin, end = _int64(begin), _int64(end)
    if not inbound:
        begin, end = _limited(begin, extent, stride), _limited(end, extent, stride)
    room = _distance(end, begin) if stride > 0 else _distance(begin, end)
    size = known(room)
    if size is not None:
        return Part(begin, stride, te.const(max(0, -(-size // abs(stride))), "int64"))
    count = room if abs(stride) == 1 else te.ceildiv(room, abs(stride))
    sure = same(begin, te.const(0, "int64")) and same(end, extent)
    return Part(begin, stride, count if sure or inbound else te.maximum(count, 0))


def strided_slice(
    x: Tensor,
    axes: Numbers,
    begin: Numbers,
    end: Numbers,
    strides: Numbers | None = None,
    *,
    assume_inbound: bool = False,
) -> Tensor:
    """The places from `begin` on before `end`, `strides` apart, along each of `axes`; all along the others.

    Shapes: an axis that is cut has max(0, ceil((end - begin) / stride)) places. `assume_inbound`: begin and end are
    taken as they stand, and a place outside is read out of bounds. Fails: RM105, RM201.
    """
    vectors = [begin, end, *([] if strides is None else [strides])]
    if any(len(vector) != len(axes) for vector in vectors):
        raise fail(BAD_ARGUMENTS, "`strided_slice` takes one begin, one end and one stride for each axis")
    cut = [axis_of(whole(axis, "an axis of `strided_slice`"), x.ndim) for axis in axes]
    if len(set(cut)) != len(cut):
        raise fail(BAD_ARGUMENTS, f"{cut} has an axis twice")
    parts: dict[int, Part] = {}
    for place, axis in enumerate(cut):
        step = 1 if strides is None else whole(strides[place], "a stride of `strided_slice`")
        parts[axis] = part(x.shape[axis], begin[place], end[place], step, inbound=assume_inbound)
    shape = [parts[axis].count if axis in parts else extent for axis, extent in enumerate(x.shape)]

    def element(*i: Value) -> Value:
        return x(*(parts[axis](at) if axis in parts else at for axis, at in enumerate(i)))

    return computed(shape, element, "T_strided_slice_with_axes")


def _dynamic(x: Tensor, begin: Tensor, end: Tensor, strides: Tensor) -> None:
    """Fails: RM105, RM201, RM202 where the vectors are not those of a slice along all axes."""
    for vector in (begin, end, strides):
        require_rank(vector, 1, "dynamic_strided_slice")
        if vector.dtype != "int64":
            raise fail(TYPE_MISMATCH, f"the vectors of `dynamic_strided_slice` are int64, not {vector.dtype}")
        must_agree(
            vector.shape[0], te.const(x.ndim, "int64"), "a vector of `dynamic_strided_slice`, and the dimensions"
        )


def _from_end(index: Value, extent: Value, stride: Value) -> Value:
    """An index as `strided_slice` takes it, the stride being known when it runs."""
    down = stride < 0
    low, high = te.select(down, te.const(-1, "int64"), te.const(0, "int64")), te.select(down, extent - 1, extent)
    return te.maximum(te.minimum(te.select(index < 0, index + extent, index), high), low)


def dynamic_strided_slice(x: Tensor, begin: Tensor, end: Tensor, strides: Tensor, *, counts: Counts) -> Tensor:
    """`strided_slice` along all axes, whose vectors of begins, ends and strides are tensors.

    Shapes: they follow from the elements of the vectors. Fails: RM105, RM201, RM202; RM307 for a stride of 0.
    """
    _dynamic(x, begin, end, strides)

    def element(*i: Value) -> Value:
        steps = [at * strides(axis) for axis, at in enumerate(i)]
        first = [_from_end(begin(axis), extent, strides(axis)) for axis, extent in enumerate(x.shape)]
        return x(*(start + step for start, step in zip(first, steps, strict=True)))

    return computed(counts, element, "T_dynamic_strided_slice")


def sliced_counts(x: Tensor, begin: Tensor, end: Tensor, strides: Tensor) -> Tensor:
    """How many places of each axis `dynamic_strided_slice` takes."""
    _dynamic(x, begin, end, strides)

    def count(k: Value) -> Value:
        size = te.const(0, "int64")
        for axis, extent in enumerate(x.shape):
            step = strides(axis)
            first, last = _from_end(begin(axis), extent, step), _from_end(end(axis), extent, step)
            room = last - first + te.select(step < 0, step + 1, step - 1)
            size = te.if_then_else(k == axis, te.maximum(room // step, 0), size)
        return size

    return computed((x.ndim,), count, "counts")


def slice_scatter(input_tensor: Tensor, src: Tensor, start: Value, end: Value, step: Value, *, axis: int = 0) -> Tensor:
    """`input_tensor` with the places from `start` on before `end`, `step` apart along an axis, replaced by `src`.

    Shapes: `src` has the slice's number of places along the axis, and agrees elsewhere. Fails: RM105 for a step that
    is not known or not above 0, RM201, RM202.
    """
    along = axis_of(axis, input_tensor.ndim)
    stride = whole(step, "the step of `slice_scatter`")
    if stride < 1:
        raise fail(BAD_ARGUMENTS, f"the step of `slice_scatter` is above 0; this is {stride}")
    if src.dtype != input_tensor.dtype or src.ndim != input_tensor.ndim:
        raise fail(TYPE_MISMATCH, "`slice_scatter` takes tensors of one dtype and one number of dimensions")
    cut = part(input_tensor.shape[along], start, end, stride, inbound=False)
    for place, (have, want) in enumerate(zip(src.shape, input_tensor.shape, strict=True)):
        must_agree(have, cut.count if place == along else want, f"dimension {place} of the source of `slice_scatter`")

    def element(*i: Value) -> Value:
        off = i[along] - cut.begin
        inside = te.all(cut.begin <= i[along], off < cut.count * stride, off % stride == te.const(0, "int64"))
        return te.if_then_else(inside, src(*i[:along], off // stride, *i[along + 1 :]), input_tensor(*i))

    return computed(input_tensor.shape, element, "slice_scatter")


def reverse_sequence(data: Tensor, seq_lengths: Tensor, *, seq_axis: int = 1, batch_axis: int = 0) -> Tensor:
    """The first `seq_lengths[b]` places along `seq_axis` in the opposite order, for each place b of `batch_axis`.

    A length above the extent counts as the extent; below 2 nothing moves. Fails: RM105, RM201, RM202.
    """
    along, batch = axis_of(seq_axis, data.ndim, "seq_axis"), axis_of(batch_axis, data.ndim, "batch_axis")
    if seq_lengths.ndim != 1 or along == batch:
        raise fail(BAD_ARGUMENTS, "`reverse_sequence` takes a vector of lengths, and two different axes")
    if seq_lengths.dtype not in ("int32", "int64"):
        raise fail(TYPE_MISMATCH, f"the lengths of `reverse_sequence` are int32 or int64, not {seq_lengths.dtype}")
    must_agree(seq_lengths.shape[0], data.shape[batch], "the number of lengths of `reverse_sequence`")

    def element(*i: Value) -> Value:
        length = te.minimum(te.cast(seq_lengths(i[batch]), "int64"), data.shape[along])
        at = te.if_then_else(i[along] < length, length - 1 - i[along], i[along])
        return data(*i[:along], at, *i[along + 1 :])

    return computed(data.shape, element, "T_reverse_sequence")


SLICING = (
    Operator("strided_slice", strided_slice, "LIB-910", ("strided_slice",)),
    Operator("dynamic_strided_slice", dynamic_strided_slice, "LIB-911", counted=sliced_counts),
    Operator("slice_scatter", slice_scatter, "LIB-912", ("slice_scatter",)),
    Operator("reverse_sequence", reverse_sequence, "LIB-913", ("reverse_sequence",)),
)
