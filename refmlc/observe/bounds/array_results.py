"""Certified results that are arrays: elements are made into values when somebody looks at one."""

from collections.abc import Sequence
from typing import overload

import numpy as np

from refmlc.observe.bounds.balls import Balls
from refmlc.observe.bounds.cell_arrays import CellArrays
from refmlc.observe.bounds.choice import Value


class ArrayElements(Sequence[Value | None]):
    """The elements `numbers` of a storage."""

    def __init__(self, arrays: CellArrays, numbers: np.ndarray) -> None:
        self._arrays = arrays
        self._numbers = numbers

    def __len__(self) -> int:
        return int(self._numbers.size)

    @overload
    def __getitem__(self, number: int) -> Value | None: ...

    @overload
    def __getitem__(self, number: slice) -> "Sequence[Value | None]": ...

    def __getitem__(self, number: int | slice) -> "Value | Sequence[Value | None] | None":
        if isinstance(number, slice):
            return ArrayElements(self._arrays, self._numbers[number])
        return self._arrays.value(int(self._numbers[number]))

    @property
    def unwritten(self) -> frozenset[int]:
        """The elements without a value."""
        return frozenset(np.flatnonzero(~self._arrays.known[self._numbers]).tolist())

    @property
    def centres(self) -> np.ndarray:
        """The centres in binary64; NaN where no number is certain to be one."""
        values = self._arrays.values
        if isinstance(values, Balls):
            mid = values.mid[self._numbers]
            return np.where(np.isfinite(mid), mid, np.nan)
        return np.where(values.certain[self._numbers], values.values[self._numbers].astype(np.float64), np.nan)

    @property
    def bounds(self) -> np.ndarray:
        """How far a finite member is from the centre at most."""
        values, known = self._arrays.values, self._arrays.known[self._numbers]
        if isinstance(values, Balls):
            return np.where(known, values.rad[self._numbers], np.inf)
        return np.where(known & values.certain[self._numbers], 0.0, np.inf)
