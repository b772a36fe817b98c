"""`tvm.contrib.sort`: orders along an axis (LIB-950 to LIB-952), with the arguments of TVM 0.27.

| function      | arguments                                                             |
|---------------|-----------------------------------------------------------------------|
| `sort`        | data, output, axis, whether the order ascends                         |
| `argsort`     | data, output, axis, whether the order ascends                         |
| `argsort_nms` | data, how many elements of each row count, output, axis, ascending    |
| `topk`        | data, outputs, k, axis, which outputs there are, ascending            |

Equal elements keep their order in both directions, -0 and 0 are equal, an axis may be negative. Places are in the
dtype of the output.

Decision: TVM's comparison does not order NaN, so the result depends on the algorithm (measured: [2, NaN, 1, 0] stays
unsorted): unsupported. So are a k beyond the extent, after which TVM leaves elements as they were, and
numbers and places of `argsort_nms` in another dtype than int32, which TVM writes whatever the output's is.
"""

from math import prod

import numpy as np

from refmlc.diag import fail
from refmlc.diag.catalogue import BAD_INPUT, OUT_OF_BOUNDS, UNSUPPORTED_CONSTRUCT
from refmlc.lang.dtypes import INT32
from refmlc.run.memory.tensor import Tensor

WIDE = np.dtype("float64")


def keys(data: Tensor) -> np.ndarray:
    """The elements, as numbers that NumPy orders. Fails: RM503 (no numbers), RM504 (NaN)."""
    values = data.array
    if not data.dtype.is_float:
        return values
    wide = values if values.dtype == WIDE else values.astype(WIDE)
    if np.isnan(wide).any():
        raise fail(UNSUPPORTED_CONSTRUCT, "NaN are in no order where TVM's runtime sorts")
    return wide


def order(data: Tensor, axis: int, *, ascending: bool) -> np.ndarray:
    """The places of the elements in order. Fails: RM111 (no such axis), RM504 (NaN)."""
    axis, values = _axis(data, axis), keys(data)
    if ascending:
        return np.argsort(values, axis=axis, kind="stable")
    backwards = np.flip(np.argsort(np.flip(values, axis), axis=axis, kind="stable"), axis)
    places: np.ndarray = values.shape[axis] - 1 - backwards
    return places


def _axis(data: Tensor, axis: object) -> int:
    """The axis, from 0 on. Fails: RM111."""
    if not isinstance(axis, int) or not -data.ndim <= axis < data.ndim:
        raise fail(BAD_INPUT, f"a tensor of {data.ndim} axes has no axis {axis} to sort along")
    return axis % data.ndim


def _fill(output: Tensor, values: np.ndarray) -> None:
    """Put `values` into `output`. Fails: RM111 where it has another shape."""
    if output.shape != values.shape:
        raise fail(BAD_INPUT, f"the sorted values have shape {values.shape}, the output {output.shape}")
    output.array[...] = values


def sort(data: Tensor, output: Tensor, axis: int = -1, ascending: object = True) -> None:
    """The elements in order, into `output`."""
    places = order(data, axis, ascending=bool(ascending))
    _fill(output, np.take_along_axis(data.array, places, _axis(data, axis)))


def argsort(data: Tensor, output: Tensor, axis: int = -1, ascending: object = True) -> None:
    """The places of the elements in order."""
    _fill(output, order(data, axis, ascending=bool(ascending)))


def argsort_nms(data: Tensor, counts: Tensor, output: Tensor, axis: int = -1, ascending: object = True) -> None:
    """The places in order of the first elements of each row, then those of the others.

    `counts` has the number for each row, in row-major order of the other axes. Fails: RM304 where it is too large.
    """
    if (counts.dtype, output.dtype) != (INT32, INT32):
        raise fail(UNSUPPORTED_CONSTRUCT, f"`argsort_nms` is called with {counts.dtype} and {output.dtype}, not int32")
    axis = _axis(data, axis)
    rows = np.moveaxis(keys(data), axis, -1)
    number = np.asarray(counts.array).reshape(-1)
    if number.size != prod(rows.shape[:-1]):
        raise fail(BAD_INPUT, f"{prod(rows.shape[:-1])} rows are sorted, {number.size} numbers of elements are given")
    beyond = [count for count in number.tolist() if not 0 <= count <= rows.shape[-1]]
    if beyond:
        raise fail(OUT_OF_BOUNDS, f"{beyond[0]} elements are to be sorted of a row of {rows.shape[-1]}")
    places = np.empty(rows.shape, np.int64)
    for index, count in zip(np.ndindex(rows.shape[:-1]), number.tolist(), strict=True):
        row, first = places[index], rows[index][:count]
        row[:count] = np.argsort(first, kind="stable") if ascending else _descending(first)
        row[count:] = np.arange(count, row.size)
    _fill(output, np.moveaxis(places, -1, axis))


def _descending(row: np.ndarray) -> np.ndarray:
    """The places in descending order, equal elements in theirs."""
    return row.size - 1 - np.flip(np.argsort(np.flip(row), kind="stable"))


def topk(data: Tensor, *arguments: object) -> None:
    """The first k elements in order, their places, or both; all where k is below 1."""
    *outputs, count, axis, which, ascending = arguments
    if not isinstance(count, int) or not isinstance(axis, int):
        raise fail(UNSUPPORTED_CONSTRUCT, "`tvm.contrib.sort.topk` is called with a k or an axis that are no integers")
    axis = _axis(data, axis)
    if count > data.shape[axis]:
        raise fail(UNSUPPORTED_CONSTRUCT, f"the first {count} elements of {data.shape[axis]} are requested")
    places = order(data, axis, ascending=bool(ascending))
    chosen = np.take(places, range(count if count > 0 else places.shape[axis]), axis)
    results = {"values": np.take_along_axis(data.array, chosen, axis), "indices": chosen}
    for name, output in zip(("values", "indices") if which == "both" else (str(which),), outputs, strict=True):
        if isinstance(output, Tensor):
            _fill(output, results[name])
