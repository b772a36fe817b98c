"""Elements at indices: slices, gathered, written."""

from collections.abc import Callable, Sequence

import numpy as np

from refmlc.oracle.exact.definitions.arrays import Array, form_of, numbers
from refmlc.oracle.exact.definitions.definition import (
    INTEGER,
    NUMPY,
    ONNX,
    PYTORCH,
    SAME,
    SUM,
    ExactDefinition,
    NoDefinition,
)
from refmlc.oracle.exact.definitions.numbers import UNKNOWN, ExactNumber, Format, greatest, least, product, total


def _slices(x: Array, axes: Sequence[int], begin: Array, end: Array, strides: Array) -> Array:
    """Python's slices along some axes (ONNX Slice)."""
    places = [slice(None)] * x.ndim
    for axis, first, last, step in zip(axes, begin, end, strides, strict=True):
        below = int(step) < 0 and int(last) < -x.shape[axis]
        places[axis % x.ndim] = slice(int(first), None if below else int(last), int(step))
    return x[tuple(places)]


def strided_slice(
    x: Array,
    axes: Sequence[int],
    begin: Sequence[int],
    end: Sequence[int],
    strides: Sequence[int] | None = None,
    *,
    assume_inbound: bool = False,
) -> Array:
    """Places from begin on before end."""
    del assume_inbound
    steps = [1] * len(axes) if strides is None else strides
    return _slices(x, axes, np.asarray(begin), np.asarray(end), np.asarray(steps))


def dynamic_strided_slice(x: Array, begin: Array, end: Array, strides: Array) -> Array:
    """The same along all axes."""
    return _slices(x, range(x.ndim), begin, end, strides)


def slice_scatter(x: Array, source: Array, start: int, end: int, step: int, *, axis: int = 0) -> Array:
    """Places of an axis replaced."""
    places = [slice(None)] * x.ndim
    places[axis % x.ndim] = slice(start, end, step)
    result = x.copy()
    result[tuple(places)] = source
    return result


def reverse_sequence(x: Array, lengths: Array, *, seq_axis: int = 1, batch_axis: int = 0) -> Array:
    """The first places of each sequence in the opposite order."""
    result = x.copy()
    for batch, length in enumerate(lengths):
        part, source = (
            np.moveaxis(np.take(array, batch, batch_axis), _after(seq_axis, batch_axis, x.ndim), 0) for array in (x, x)
        )
        count = min(int(length), len(part))
        if count < 1:
            raise NoDefinition("a sequence of no places")
        turned = np.concatenate([source[:count][::-1], source[count:]])
        places: list[int | slice] = [slice(None)] * x.ndim
        places[batch_axis % x.ndim] = batch
        result[tuple(places)] = np.moveaxis(turned, 0, _after(seq_axis, batch_axis, x.ndim))
    return result


def _after(axis: int, removed: int, rank: int) -> int:
    """The number of an axis after another one is removed."""
    return axis % rank - (axis % rank > removed % rank)


def take(x: Array, indices: Array | int, *, axis: int | None = None, mode: str = "fast") -> Array:
    """Elements at indices along an axis; `wrap` modulo the extent, `clip` at the ends, else inside of it."""
    along = 0 if axis is None else axis
    where = np.asarray(indices).astype(np.int64)
    return np.take(x, where, along, mode=mode if mode in ("wrap", "clip") else "raise")  # type: ignore[call-overload]


def gather_elements(x: Array, indices: Array, *, axis: int = 0) -> Array:
    """At each place the element whose index along the axis is there."""
    where = indices.astype(np.int64)
    places: list[Array] = list(np.indices(indices.shape))
    places[axis % x.ndim] = where
    return x[tuple(places)]


def gather_nd(x: Array, indices: Array, *, batch_dims: int = 0) -> Array:
    """Parts at vectors along the last axis of the indices."""
    outer = indices.shape[:-1]
    shape = (*outer, *x.shape[batch_dims + indices.shape[-1] :])
    result = np.empty(shape, x.dtype)
    for at in np.ndindex(*outer):
        result[at] = x[(*at[:batch_dims], *(int(index) for index in indices[at]))]
    return result


def index_tensor(x: Array, indices: Sequence[Array]) -> Array:
    """Parts at indices of the first axes, which are broadcast."""
    return x[tuple(index.astype(np.int64) for index in indices)]


def one_hot(indices: Array, on_value: Array, off_value: Array, *, depth: int, axis: int = -1) -> Array:
    """`on_value` where the new axis has the index, else `off_value`."""
    places = np.arange(depth)
    hot = indices[..., None].astype(np.int64) == places
    return np.moveaxis(np.where(hot, on_value, off_value), -1, axis)


def bucketize(x: Array, boundaries: Array, *, out_int32: bool = False, right: bool = False) -> Array:
    """How many boundaries, which ascend, are below; `right`: or equal. NaN is above all numbers (PyTorch)."""
    values = boundaries.astype(np.float64) if form_of(boundaries) is not None else boundaries
    if form_of(boundaries) is not None and (np.isnan(values).any() or (np.diff(values) < 0).any()):
        raise NoDefinition("boundaries that do not ascend")
    if form_of(boundaries) is None and (np.diff(values.astype(object)) < 0).any():
        raise NoDefinition("boundaries that do not ascend")
    wide = x.astype(np.float64) if form_of(x) is not None else x
    places = np.searchsorted(values, wide, side="right" if right else "left")
    return places.astype(np.int32 if out_int32 else np.int64)


def size(x: Array) -> Array:
    """How many elements there are."""
    return np.asarray(x.size, np.int64)


COMBINED: dict[str, Callable[[list[ExactNumber], Format | None], ExactNumber]] = {
    "add": total,
    "mul": product,
    "max": lambda terms, _form: greatest(terms),
    "min": lambda terms, _form: least(terms),
    "mean": lambda terms, _form: terms[0] if len(terms) == 1 else UNKNOWN,
}


def _written(data: Array, places: Sequence[tuple[int, ...]], values: Sequence[object], reduction: str) -> Array:
    """`data` with values at places; of several that replace one element none is defined."""
    if reduction == "update":
        result: Array = data.copy()
        if len(set(places)) < len(places):
            raise NoDefinition("several updates of one element")
        for place, value in zip(places, values, strict=True):
            result[place] = value
        return result
    items, form = numbers(data), form_of(data)
    terms: dict[tuple[int, ...], list[ExactNumber]] = {}
    for place, value in zip(places, values, strict=True):
        terms.setdefault(place, [items[place]]).append(value)  # type: ignore[arg-type]
    for place, several in terms.items():
        items[place] = COMBINED[reduction](several, form)
    return items


def _inside(index: int, extent: int) -> int:
    return index + extent if index < 0 else index


def scatter_elements(data: Array, indices: Array, updates: Array, *, axis: int = 0, reduction: str = "update") -> Array:
    """Each update at its own place, the index along the axis being that of `indices`."""
    along = axis % data.ndim
    ats = list(np.ndindex(*indices.shape))
    places = [(*at[:along], _inside(int(indices[at]), data.shape[along]), *at[along + 1 :]) for at in ats]
    source = updates if reduction == "update" else numbers(updates)
    return _written(data, places, [source[at] for at in ats], reduction)


def scatter_nd(data: Array, indices: Array, updates: Array, *, reduction: str = "update") -> Array:
    """Parts of the updates at vectors along the last axis of the indices."""
    count, outer = indices.shape[-1], indices.ndim - 1
    ats = list(np.ndindex(*updates.shape))
    places = [
        (*(_inside(int(i), n) for i, n in zip(indices[at[:outer]], data.shape, strict=False)), *at[outer:])
        for at in ats
    ]
    del count
    source = updates if reduction == "update" else numbers(updates)
    return _written(data, places, [source[at] for at in ats], reduction)


def index_put(data: Array, indices: Sequence[Array], values: Array, *, accumulate: bool = False) -> Array:
    """The values at indices for each axis, which are broadcast; or added there."""
    where = np.broadcast_arrays(*indices)
    shape = where[0].shape
    source = np.broadcast_to(numbers(values) if accumulate else values, shape)
    ats = list(np.ndindex(*shape))
    places = [tuple(_inside(int(i[at]), n) for i, n in zip(where, data.shape, strict=True)) for at in ats]
    return _written(data, places, [source[at] for at in ats], "add" if accumulate else "update")


def take_backward(gradient: Array, x: Array, indices: Array, *, axis: int | None = None, mode: str = "") -> Array:
    """At each place the sum of the gradients of what was taken from it."""
    along, form = 0 if axis is None else axis % x.ndim, form_of(x)
    if mode not in ("", "fast"):
        raise NoDefinition("indices outside of the axis")
    slopes = np.moveaxis(numbers(gradient), along, 0)
    result = np.empty((x.shape[along], *slopes.shape[1:]), object)
    for place in np.ndindex(*result.shape):
        result[place] = total([slopes[(k, *place[1:])] for k, i in enumerate(indices) if int(i) == place[0]], form)
    return np.moveaxis(result, 0, along)


INDEXING = (
    ExactDefinition("strided_slice", strided_slice, f"{ONNX} Slice, {NUMPY} basic slicing", SAME),
    ExactDefinition("dynamic_strided_slice", dynamic_strided_slice, f"{ONNX} Slice, {NUMPY} basic slicing", SAME),
    ExactDefinition("slice_scatter", slice_scatter, f"{PYTORCH} torch.slice_scatter", SAME),
    ExactDefinition("reverse_sequence", reverse_sequence, f"{ONNX} ReverseSequence", SAME),
    ExactDefinition("take", take, f"{NUMPY} numpy.take", SAME),
    ExactDefinition("gather_elements", gather_elements, f"{ONNX} GatherElements", SAME),
    ExactDefinition("gather_nd", gather_nd, f"{ONNX} GatherND", SAME),
    ExactDefinition("index_tensor", index_tensor, f"{NUMPY} advanced indexing", SAME),
    ExactDefinition("one_hot", one_hot, f"{ONNX} OneHot", SAME),
    ExactDefinition("bucketize", bucketize, f"{PYTORCH} torch.bucketize", INTEGER),
    ExactDefinition("size", size, f"{NUMPY} numpy.size", INTEGER),
    ExactDefinition("scatter_elements", scatter_elements, f"{ONNX} ScatterElements", SUM),
    ExactDefinition("scatter_nd", scatter_nd, f"{ONNX} ScatterND", SUM),
    ExactDefinition("index_put", index_put, f"{PYTORCH} torch.Tensor.index_put", SUM),
    ExactDefinition("grad.take_backward", take_backward, f"{PYTORCH} gradient of torch.index_select", SUM),
)
