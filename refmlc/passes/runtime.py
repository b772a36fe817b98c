"""What lowered modules call of TVM's runtime, for which refmlc has no use otherwise.

| function                   | does                                                                               |
|----------------------------|------------------------------------------------------------------------------------|
| `__tvm_set_device`         | nothing: memory is one here                                                        |
| `tvm.contrib.sort.sort`    | elements in order along an axis; equal ones keep theirs                              |
| `tvm.contrib.sort.argsort` | their places                                                                       |
| `tvm.contrib.sort.topk`    | the first k of both, or of one of them                                              |
| `relax.run.unique`         | what `R.unique` is legalized to: what LIB-971 says                                  |
| `relax.run.nonzero`        | what `R.nonzero` is legalized to: what LIB-970 says                                 |

Decision: NaN are in no order there, which leaves the result to the algorithm: unsupported. A function that the user has
registered under one of these names is the user's.
"""

from collections.abc import Callable, Mapping

import numpy as np

from refmlc.diag import fail
from refmlc.diag.catalogue import UNSUPPORTED_CONSTRUCT
from refmlc.runtime.registry import DEFAULT, FunctionRegistry
from refmlc.runtime.tensor import Tensor


def runtime() -> FunctionRegistry:
    """A registry with these and all that is registered."""
    registry = FunctionRegistry()
    for name in DEFAULT:
        registry.add(DEFAULT.get_func(name))
    for name, function in FUNCTIONS.items():
        if name not in registry:
            registry.register(name, function)
    return registry


def refuse_nan(data: Tensor) -> None:
    """Fails: RM504 for NaN."""
    if data.dtype.is_float and np.isnan(data.array.astype("float64")).any():
        raise fail(UNSUPPORTED_CONSTRUCT, "NaN are in no order where TVM's runtime sorts")


def order(data: Tensor, axis: int, *, ascending: bool) -> np.ndarray:
    """The places of the elements in order. Fails: RM504 for NaN."""
    refuse_nan(data)
    values = data.array
    if ascending:
        return np.argsort(values, axis=axis, kind="stable")
    backwards = np.flip(np.argsort(np.flip(values, axis), axis=axis, kind="stable"), axis)
    places: np.ndarray = values.shape[axis] - 1 - backwards
    return places


def set_device(*_device: object) -> int:
    """All of them are this one."""
    return 0


def sort(data: Tensor, out: Tensor, axis: int, ascending: object) -> None:
    """Elements in order."""
    places = order(data, axis, ascending=bool(ascending))
    out.array[...] = np.take_along_axis(data.array, places, axis)


def argsort(data: Tensor, out: Tensor, axis: int, ascending: object) -> None:
    """Their places."""
    out.array[...] = order(data, axis, ascending=bool(ascending))


def topk(data: Tensor, *rest: object) -> None:
    """Outputs, then k, the axis, which outputs there are, and the order."""
    *outputs, count, axis, which, ascending = rest
    if not isinstance(count, int) or not isinstance(axis, int):
        raise fail(UNSUPPORTED_CONSTRUCT, "`tvm.contrib.sort.topk` is called with a k or an axis that are no integers")
    places = order(data, axis, ascending=bool(ascending))
    chosen = np.take(places, range(count if count > 0 else places.shape[axis]), axis)
    results = {"values": np.take_along_axis(data.array, chosen, axis), "indices": chosen}
    for name, output in zip(("values", "indices") if which == "both" else (str(which),), outputs, strict=True):
        if isinstance(output, Tensor):
            output.array[...] = results[name]


def unique(data: Tensor, ordered: object, *wanted: object) -> Tensor | tuple[Tensor, ...]:
    """Each element once, then what is wanted: first places, which one each is, how often. The axis may stand last."""
    flags, axis = wanted[:3], wanted[3] if len(wanted) > 3 else None
    if axis is not None and not isinstance(axis, int):
        raise fail(UNSUPPORTED_CONSTRUCT, "`relax.run.unique` is called with an axis that is no integer")
    refuse_nan(data)
    found, first, which, times = np.unique(
        data.array, return_index=True, return_inverse=True, return_counts=True, axis=axis
    )
    places = np.arange(first.size) if ordered else np.argsort(first)
    several = (first[places], np.argsort(places)[which.reshape(-1)], times[places])
    extras = [Tensor.from_numpy(one) for one, flag in zip(several, flags, strict=True) if flag]
    once = Tensor.from_numpy(np.take(found, places, 0 if axis is None else axis))
    return (once, *extras) if extras else once


def nonzero(data: Tensor) -> Tensor:
    """The places that hold no zero, an axis in each row."""
    return Tensor.from_numpy(np.stack(np.atleast_1d(data.array).nonzero()))


FUNCTIONS: Mapping[str, Callable[..., object]] = {
    "__tvm_set_device": set_device,
    "relax.run.nonzero": nonzero,
    "relax.run.unique": unique,
    "tvm.contrib.sort.sort": sort,
    "tvm.contrib.sort.argsort": argsort,
    "tvm.contrib.sort.topk": topk,
}
