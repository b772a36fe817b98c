"""A number as TOML and JSON have it, bit by bit.

| value     | is written                                                                    |
|-----------|-------------------------------------------------------------------------------|
| float     | C99 hexadecimal, `"0x1.8p+1"`; `"inf"`, `"-inf"`, `"nan"` (NaN is one class)  |
| int, bool | itself; a string beyond 64 bits with sign                                     |
"""

import math
from typing import TypeAlias

from refmlc.diag import fail
from refmlc.diag.catalogue import BAD_FILE
from refmlc.lang.dtypes import DType
from refmlc.lang.ops.contract import Scalar

Data: TypeAlias = "dict[str, Data] | list[Data] | str | int | float | bool | None"


def number_data(value: Scalar) -> str | int | bool:
    """A number."""
    if isinstance(value, float):
        return value.hex() if math.isfinite(value) else str(abs(value) if math.isnan(value) else value)
    return value if -(1 << 63) <= value < 1 << 63 else str(value)


def number_of(data: Data, kind: DType) -> Scalar:
    """The number that `number_data` wrote. Fails: RM109."""
    try:
        if kind.is_float and isinstance(data, str):
            return float(data) if data in ("nan", "inf", "-inf") else float.fromhex(data)
        if kind.kind == "bool" and isinstance(data, (bool, int)):
            return bool(data)
        if isinstance(data, (int, str)):
            return int(data)
    except ValueError:
        pass
    raise fail(BAD_FILE, f"{data!r} is not a value of {kind}")
