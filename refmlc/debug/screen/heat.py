"""A tensor as a map of characters, one per element: the last two axes, with the other axes at index 0.

| character    | element                                                 |
|--------------|---------------------------------------------------------|
| ` .:-=+*#%@` | from the least to the greatest finite element           |
| `N` `I`      | NaN, infinity                                           |
| `?`          | not initialised                                         |
| `…`          | more elements than fit                                  |
"""

from dataclasses import dataclass
from math import isinf, isnan

from refmlc.debug.tensors import element
from refmlc.run.memory.tensor import Tensor

RAMP = " .:-=+*#%@"
NAN, INF, UNSET, MORE = "N", "I", "?", "…"


@dataclass(frozen=True, slots=True)
class HeatMap:
    """Rows of characters, and the numbers at the ends of the ramp."""

    rows: tuple[str, ...]
    least: float | None
    greatest: float | None


def heat_map(tensor: Tensor, height: int, width: int) -> HeatMap:
    """As much of the tensor as fits."""
    shape = (1,) * max(0, 2 - tensor.ndim) + tensor.shape
    rows, columns = shape[-2], shape[-1]
    before = (0,) * (len(shape) - 2)
    shown_rows, shown_columns = min(rows, height), min(columns, width)
    if 0 in tensor.shape or height < 1 or width < 1:
        return HeatMap((), None, None)
    values = [
        [
            _number(element(tensor, (*before, row, column)[len(shape) - tensor.ndim :]))
            for column in range(shown_columns)
        ]
        for row in range(shown_rows)
    ]
    finite = [value for line in values for value in line if value is not None and not isnan(value) and not isinf(value)]
    least, greatest = (min(finite), max(finite)) if finite else (None, None)
    lines = ["".join(_character(value, least, greatest) for value in line) for line in values]
    if columns > shown_columns:
        lines = [line[:-1] + MORE for line in lines]
    if rows > shown_rows:
        lines[-1] = MORE * shown_columns
    return HeatMap(tuple(lines), least, greatest)


def _number(value: object) -> float | None:
    first = value[0] if isinstance(value, tuple) else value
    return float(first) if isinstance(first, bool | int | float) else None


def _character(value: float | None, least: float | None, greatest: float | None) -> str:
    if value is None:
        return UNSET
    if isnan(value):
        return NAN
    if isinf(value) or least is None or greatest is None:
        return INF
    if greatest == least:
        return RAMP[len(RAMP) // 2]
    part = value / greatest - least / greatest if abs(greatest) > 1 else value - least
    span = 1 - least / greatest if abs(greatest) > 1 else greatest - least
    return RAMP[min(len(RAMP) - 1, max(0, int(part / span * len(RAMP))))]
