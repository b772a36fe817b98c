"""The memory of a certified run as arrays: the values of a whole storage, for programs on arrays.

| dtype                               | values                                                          |
|-------------------------------------|-----------------------------------------------------------------|
| float16, bfloat16, float32, float64 | `Balls`                                                         |
| bool, integers of 8 … 64 bits, but uint64 | `Wholes`: numbers, of which those that are not certain are any  |

Other dtypes are not executed on arrays (`NotPlain`).
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from refmlc.lang.dtypes import DType
from refmlc.observe.bounds.ball_functions import NotPlain
from refmlc.observe.bounds.balls import Balls
from refmlc.observe.bounds.choice import UNKNOWN, Choice, Value
from refmlc.observe.bounds.enclosure import ANYTHING, Enclosure, point
from refmlc.observe.bounds.upward import add_up, magnitude

FLOATS = frozenset(("float16", "bfloat16", "float32", "float64"))
WHOLES = frozenset(("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32"))


@dataclass(frozen=True, slots=True)
class Wholes:
    """Integers or bools. Shapes: alike. Dtypes: `values` int64 or bool, `certain` bool."""

    values: np.ndarray
    certain: np.ndarray

    @property
    def plain(self) -> bool:
        """Whether every number is certain."""
        return bool(self.certain.all())


@dataclass(slots=True)
class CellArrays:
    """The elements of a storage. `known`: those that have a value. Shapes: (elements,)."""

    values: Balls | Wholes
    known: np.ndarray

    def value(self, number: int) -> Value | None:
        """One element, as programs on numbers have it."""
        if not self.known[number]:
            return None
        if isinstance(self.values, Wholes):
            whole = self.values.values[number].item()
            return whole if self.values.certain[number] else UNKNOWN
        mid, rad = self.values.mid[number].item(), self.values.rad[number].item()
        if rad == np.inf:
            return ANYTHING
        return point(mid)._replace(radius=rad)


def supported(dtype: DType) -> bool:
    """Whether arrays hold elements of this dtype."""
    if dtype.is_vector:
        return False
    return dtype.element in FLOATS if dtype.is_float else dtype.element in WHOLES


def require_supported(dtype: DType) -> None:
    """Fails: `NotPlain`."""
    if not supported(dtype):
        raise NotPlain(f"elements of {dtype}")


def empty_cells(dtype: DType, count: int) -> CellArrays:
    """Elements without values. Fails: `NotPlain`."""
    require_supported(dtype)
    known = np.zeros(count, bool)
    if dtype.is_float:
        return CellArrays(Balls(np.zeros(count), np.zeros(count)), known)
    return CellArrays(Wholes(np.zeros(count, bool if dtype.kind == "bool" else np.int64), np.ones(count, bool)), known)


def cells_of_array(dtype: DType, array: np.ndarray, known: np.ndarray) -> CellArrays:
    """The elements of an array. Shapes: (elements,). Fails: `NotPlain`."""
    cells = empty_cells(dtype, array.size)
    if isinstance(cells.values, Balls):
        with np.errstate(invalid="ignore"):  # a NaN that signals
            mid = np.array(array, np.float64)
        return CellArrays(Balls(mid, np.zeros(mid.shape)), np.array(known, bool))
    values = cells.values
    return CellArrays(Wholes(np.asarray(array).astype(values.values.dtype), values.certain), np.array(known, bool))


def cells_of_values(dtype: DType, elements: Sequence[Value | None]) -> CellArrays:
    """The elements that programs on numbers left. Fails: `NotPlain`."""
    cells = empty_cells(dtype, len(elements))
    for number, element in enumerate(elements):
        if element is None:
            continue
        cells.known[number] = True
        if isinstance(cells.values, Wholes):
            certain = not isinstance(element, Choice)
            cells.values.certain[number] = certain
            cells.values.values[number] = element if certain else 0
        else:
            assert isinstance(element, Enclosure)  # noqa: S101 - the dtype says so
            cells.values.mid[number], cells.values.rad[number] = _ball(element)
    return cells


def _ball(element: Enclosure) -> tuple[float, float]:
    if not element.finite and len(element.special_members()) == 1:
        return element.special_members()[0], 0.0
    if element.specials or np.inf in (element.radius, element.size):
        return 0.0, np.inf
    mid = float(element.centre)
    return mid, add_up(element.radius, magnitude(element.centre - point(mid).centre))
