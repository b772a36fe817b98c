"""Every dtype as one row, and `DType`: a row with a number of lanes.

A scalar value of a dtype is, everywhere in refmlc, one Python object:

| kind          | value                                                           |
|---------------|-----------------------------------------------------------------|
| `int`, `uint` | `int` in the range of the dtype                                 |
| `bool`        | `bool`                                                          |
| `float`       | `float` that the dtype can hold exactly (all NaN are one class) |
| `handle`      | a pointer object of the runtime, or None for null               |
| `void`        | `None`                                                          |

A value with lanes is a `tuple` of that many scalars.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from refmlc.lang.dtypes.formats import FLOAT_FORMATS, FloatFormat

Kind = Literal["int", "uint", "bool", "float", "handle", "void"]


@dataclass(frozen=True, slots=True)
class DType:
    """A dtype: the row's name and kind, bits of one lane, lanes. `scalable` lanes are a multiple of vscale."""

    element: str
    kind: Kind
    bits: int
    lanes: int = 1
    scalable: bool = False

    def __str__(self) -> str:
        """TVM's spelling: `float32`, `int8x4`, `float32xvscalex4`."""
        if self.scalable:
            return f"{self.element}xvscalex{self.lanes}"
        return self.element if self.lanes == 1 else f"{self.element}x{self.lanes}"

    @property
    def scalar(self) -> "DType":
        """The dtype of one lane."""
        return self if self.lanes == 1 else SCALARS[self.element]

    def with_lanes(self, lanes: int, *, scalable: bool = False) -> "DType":
        """The same element with another number of lanes."""
        if lanes == 1 and not scalable:
            return SCALARS[self.element]
        return DType(self.element, self.kind, self.bits, lanes, scalable)

    @property
    def is_vector(self) -> bool:
        """Whether a value is a tuple of lanes."""
        return self.lanes != 1 or self.scalable

    @property
    def is_integer(self) -> bool:
        """Signed or unsigned integer; `bool` is not one."""
        return self.kind in ("int", "uint")

    @property
    def is_float(self) -> bool:
        """Any binary floating-point format."""
        return self.kind == "float"

    @property
    def format(self) -> FloatFormat:
        """The floating-point format; KeyError for other kinds."""
        return FLOAT_FORMATS[self.element]

    @property
    def kind_code(self) -> int:
        """DLPack's number of this kind of elements, which TVM shares; the bits and lanes stand beside it there."""
        return self.format.kind_code if self.is_float else KIND_CODES[self.kind]

    @property
    def minimum(self) -> int:
        """Least value of an integer dtype."""
        return -(1 << (self.bits - 1)) if self.kind == "int" else 0

    @property
    def maximum(self) -> int:
        """Greatest value of an integer dtype."""
        return (1 << (self.bits - 1)) - 1 if self.kind == "int" else (1 << self.bits) - 1


KIND_CODES: Mapping[Kind, int] = {"int": 0, "uint": 1, "handle": 3, "void": 3, "bool": 6}
INT_BITS = (1, 2, 4, 8, 16, 32, 64)

SCALARS: dict[str, DType] = {
    row.element: row
    for row in (
        *(DType(f"int{bits}", "int", bits) for bits in INT_BITS),
        *(DType(f"uint{bits}", "uint", bits) for bits in INT_BITS),
        DType("bool", "bool", 8),
        *(DType(row.name, "float", row.bits) for row in FLOAT_FORMATS.values()),
        DType("handle", "handle", 64),
        DType("void", "void", 0),
    )
}

_SPELLING = re.compile(r"^(?P<element>[a-z][a-z0-9_]*?)(?:x(?P<scalable>vscalex)?(?P<lanes>[0-9]{1,5}))?$")


@lru_cache(maxsize=4096)
def dtype(name: str) -> DType:
    """The dtype that TVM spells `name`. Fails with KeyError when there is none."""
    if name in SCALARS:
        return SCALARS[name]
    match = _SPELLING.match(name)
    if match is None or match["lanes"] is None or match["element"] not in SCALARS:
        raise KeyError(name)
    row = SCALARS[match["element"]]
    lanes = int(match["lanes"])
    if lanes < 1:
        raise KeyError(name)
    if match["scalable"]:
        return row.with_lanes(lanes, scalable=True)
    return row if lanes == 1 else row.with_lanes(lanes)


BOOL = SCALARS["bool"]
INT8 = SCALARS["int8"]
INT32 = SCALARS["int32"]
INT64 = SCALARS["int64"]
UINT8 = SCALARS["uint8"]
UINT32 = SCALARS["uint32"]
UINT64 = SCALARS["uint64"]
FLOAT16 = SCALARS["float16"]
FLOAT32 = SCALARS["float32"]
FLOAT64 = SCALARS["float64"]
BFLOAT16 = SCALARS["bfloat16"]
HANDLE = SCALARS["handle"]
VOID = SCALARS["void"]
