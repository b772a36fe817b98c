"""The functions that `R.nonzero` and `R.unique` are legalized to (LIB-970, LIB-971), with the arguments of TVM 0.27."""

import numpy as np

from refmlc.diag import fail
from refmlc.diag.catalogue import UNSUPPORTED_CONSTRUCT
from refmlc.run.memory.tensor import Tensor


def unique(data: Tensor, ordered: object, *flags_and_axis: object) -> Tensor | tuple[Tensor, ...]:
    """Each value once; then, by three flags, the first place of each value, the value of each element, all counts.

    The axis may follow the flags. Fails: RM504 for slices with NaN, which NumPy never takes as equal, unlike elements.
    """
    flags, axis = flags_and_axis[:3], flags_and_axis[3] if len(flags_and_axis) > 3 else None
    if axis is not None and not isinstance(axis, int):
        raise fail(UNSUPPORTED_CONSTRUCT, "`relax.run.unique` is called with an axis that is no integer")
    if axis is not None and data.dtype.is_float and np.isnan(data.array.astype("float64")).any():
        raise fail(UNSUPPORTED_CONSTRUCT, "`relax.run.unique` along an axis is called with NaN")
    values = data.array.astype("float64") if data.dtype.is_float else data.array
    _, first, which, times = np.unique(values, return_index=True, return_inverse=True, return_counts=True, axis=axis)
    places = np.arange(first.size) if ordered else np.argsort(first)
    several = (first[places], np.argsort(places)[which.reshape(-1)], times[places])
    extras = [Tensor.from_numpy(array) for array, flag in zip(several, flags, strict=True) if flag]
    source, along = (data.array.reshape(-1), 0) if axis is None else (data.array, axis)
    once = Tensor.from_numpy(np.take(source, first[places], along), data.dtype)
    return (once, *extras) if extras else once


def nonzero(data: Tensor) -> Tensor:
    """The places of elements that are not zero, an axis in each row."""
    return Tensor.from_numpy(np.stack(np.atleast_1d(data.array).nonzero()))
