"""Why an element has its value: the backward slice of a run, as a tree of values and roundings.

>>> slice_ = why(module, "main", [a, b, c], "C", (3, 7))
>>> print(text(outline(slice_)))

| file                                     | holds                                                               |
|------------------------------------------|---------------------------------------------------------------------|
| `values`                                 | the slice as plain data                                             |
| `outline`, `data`                        | the slice as lines, as JSON                                         |
| `why`, `query`                           | runs until every store is known; which element is queried           |
| `recorder`, `records`, `memory`, `sites` | the record of a run                                                 |
| `trees`, `exactness`, `chains`           | from a recorded store to values, roundings and reductions           |
"""

from refmlc.observe.why.data import as_data
from refmlc.observe.why.outline import Line, outline, text
from refmlc.observe.why.values import Cell, Kind, Origin, Rounding, Slice, Source, Value, Write
from refmlc.observe.why.why import LIMITS, SliceLimits, why

__all__ = [
    "LIMITS",
    "Cell",
    "Kind",
    "Line",
    "Origin",
    "Rounding",
    "Slice",
    "SliceLimits",
    "Source",
    "Value",
    "Write",
    "as_data",
    "outline",
    "text",
    "why",
]
