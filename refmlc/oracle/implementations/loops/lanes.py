"""Vectors as lists of lanes: loads and stores of many elements."""

from collections.abc import Callable, Sequence

import numpy as np

from refmlc.lang.dtypes import DType
from refmlc.oracle.implementations.loops.operators import loaded
from refmlc.oracle.implementations.loops.rounding import wrapped

Load = Callable[..., list[object]]


def gatherer(kind: DType, zero: object) -> Load:
    """What loads the elements at the last indices `at`, `kind` being the buffer's; lanes that are off are `zero`."""
    read, wide = loaded(kind), kind.is_vector

    def gather(
        array: np.ndarray, before: tuple[int, ...], at: Sequence[int], on: Sequence[bool] | None = None
    ) -> list[object]:
        lanes: list[object] = []
        for number, place in enumerate(at):
            if on is not None and not on[number]:
                lanes += [zero] * kind.lanes
            elif wide:
                lanes += map(read, array[(*before, place)])
            else:
                lanes.append(read(array[(*before, place)]))
        return lanes

    return gather


def whole_loader(kind: DType) -> Callable[[np.ndarray], list[object]]:
    """What makes an element with lanes a list."""
    read = loaded(kind)
    return lambda element: [read(lane) for lane in element]


def scatter(
    array: np.ndarray, before: tuple[int, ...], at: Sequence[int], values: Sequence[object], on: Sequence[bool] | None
) -> None:
    """Store `values` at the last indices `at`, from lane 0 on, where `on` says so."""
    lanes = len(values) // len(at)
    for number, place in enumerate(at):
        if on is None or on[number]:
            part = values[number * lanes : (number + 1) * lanes]
            array[(*before, place)] = part[0] if lanes == 1 and array.ndim == len(before) + 1 else part


def chosen(condition: Sequence[object] | bool, yes: Sequence[object], no: Sequence[object]) -> list[object]:
    """Lane by lane the one or the other."""
    on = [condition] * len(yes) if isinstance(condition, bool) else condition
    return [a if where else b for where, a, b in zip(on, yes, no, strict=True)]


def ramp(kind: DType) -> Callable[[int, int], list[int]]:
    """What makes the lanes base, base + stride and so on; wrapped where additions of the dtype wrap."""
    if kind.bits < 32:
        scalar = kind.scalar
        return lambda base, stride: [wrapped(base + stride * lane, scalar) for lane in range(kind.lanes)]
    return lambda base, stride: [base + stride * lane for lane in range(kind.lanes)]


def active(base: int, limit: int, lanes: int) -> list[bool]:
    """Whether base + lane is below the limit."""
    return [base + lane < limit for lane in range(lanes)]


def picked(vectors: Sequence[object], places: Sequence[int]) -> object:
    """The lanes of all `vectors` that `places` name; one place gives a scalar."""
    everything = [lane for vector in vectors for lane in (vector if isinstance(vector, list) else [vector])]
    lanes_picked = [everything[place] for place in places]
    return lanes_picked if len(lanes_picked) > 1 else lanes_picked[0]


def repeated(value: object, lanes: int) -> list[object]:
    """The same value, or lanes, again and again."""
    return (value if isinstance(value, list) else [value]) * lanes
