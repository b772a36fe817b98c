"""Constants, strings and dtypes as text.

| value                     | 0.27                                        | 2022, 2023                  |
|---------------------------|---------------------------------------------|-----------------------------|
| int32 1, -1               | `1`, `-1`                                   | same                        |
| int64 1 in TensorIR       | `T.int64(1)`                                | same                        |
| bool                      | `T.bool(True)`                              | same                        |
| float32 0                 | `T.float32(0.0)`                            | `T.float32(0)`              |
| float32 0.1               | `T.float32(0.10000000000000001)`            | same                        |
| float32 1e30              | all digits before the point                 | 17 digits with exponent     |
| inf, nan                  | `T.float32("inf")`, `T.float32("nan")`      | same                        |

Strings are in double quotes; what is not printable ASCII is escaped, so text stays one line and harmless.
"""

import math

from refmlc.lang.dtypes import DType
from refmlc.lang.ir.kinds import PointerType

_ESCAPES = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\t": "\\t", "\r": "\\r"}


def string_text(value: str) -> str:
    """A string literal."""
    return '"' + "".join(_ESCAPES.get(c) or (c if " " <= c <= "~" else _escaped(ord(c))) for c in value) + '"'


def _escaped(code: int) -> str:
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def float_text(value: float, *, modern: bool) -> str:
    """The number of a float constant: `0.5`, or a string for what Python has no literal for."""
    if math.isnan(value):
        return '"nan"'
    if math.isinf(value):
        return '"inf"' if value > 0 else '"-inf"'
    if value.is_integer() and (modern or (value == 0 and math.copysign(1, value) < 0)):
        return f"{value:.1f}"
    return f"{value:.17g}"


def dtype_text(dtype: DType) -> str:
    """A dtype as an argument."""
    return string_text(str(dtype))


def handle_text(pointer: PointerType | None, *, modern: bool) -> str:
    """The type of a handle, as an annotation without arguments: `T.handle`, `T.handle("float32", "global")`."""
    if pointer is None:
        return "T.handle"
    if pointer.tensor_map:
        return "T.TensorMap()"
    element = "void" if pointer.element is None else str(pointer.element)
    if pointer.scope == "global" and not modern:
        return f"T.handle({string_text(element)})"
    return f"T.handle({string_text(element)}, {string_text(pointer.scope)})"
