"""Conversions: the meaning of `Cast` (converter), and `reinterpret`.

| from, to   | int, uint                              | bool              | float                        |
|------------|----------------------------------------|-------------------|------------------------------|
| int, uint  | modulo 2**bits                         | not 0             | rounded once                 |
| bool       | 0 or 1, modulo 2**bits                 | itself            | 0 or 1, rounded once         |
| float      | toward zero; out of range, NaN: RM309  | not 0, NaN: True  | rounded once                 |

Clauses: NUM-701 between integers and bool, NUM-702 float to integer, NUM-703 float to bool, NUM-704 to float,
NUM-705 reinterpret.
"""

import math
from collections.abc import Callable

from refmlc.diag import fail
from refmlc.diag.catalogue import FLOAT_TO_INT, UNSUPPORTED_DTYPE
from refmlc.lang.dtypes import DType
from refmlc.lang.dtypes.bits import decoder, encoder
from refmlc.lang.dtypes.rounding import wrap
from refmlc.lang.ops.contract import ALL, Contract, Example, Scalar, ScalarOp, UndefinedValue, Value
from refmlc.lang.ops.notation import Notation, Operands
from refmlc.lang.ops.scalar.results import float_result, int_to_float

Conversion = Callable[[Scalar], Scalar]


def converter(source: DType, target: DType) -> Conversion:
    """The function that converts one lane from `source` to `target`.

    Fails: UndefinedValue RM309 when called on a float that has no value in an integer dtype; Unsupported RM503 at
    once when one of the dtypes is a handle or void and they differ.
    """
    if source.element == target.element:
        return _itself
    match source.kind, target.kind:
        case "int" | "uint" | "bool", "int" | "uint":
            return _to_integer(source, target)
        case "int" | "uint" | "bool", "float":
            return _from_integer(target)
        case "int" | "uint", "bool":
            return bool
        case "float", "int" | "uint":
            return _float_to_integer(source, target)
        case "float", "bool":
            return bool
        case "float", "float":
            return _itself if contains(target, source) else float_result(target)
        case _:
            raise fail(UNSUPPORTED_DTYPE, f"a value of {source} cannot be converted to {target}")


def contains(wide: DType, narrow: DType) -> bool:
    """Whether the float dtype `wide` holds every value of the float dtype `narrow`, NaN and -0 included."""
    a, b = wide.format, narrow.format
    return a.special == "ieee" and a.precision >= b.precision and a.maximum >= b.maximum and a.smallest <= b.smallest


def reinterpreter(source: DType, target: DType) -> Conversion:
    """The function that gives the value whose code in `target` is the code in `source`, both of the same width."""
    encode, decode = encoder(source), decoder(target)
    return lambda value: decode(encode(value))


def _itself(value: Scalar) -> Scalar:
    return value


def _to_integer(source: DType, target: DType) -> Conversion:
    if source.kind == "bool":
        return int if target.maximum >= 1 else lambda value: wrap(target, int(value))
    if target.minimum <= source.minimum and source.maximum <= target.maximum:
        return _itself
    return lambda value: wrap(target, int(value))


def _from_integer(target: DType) -> Conversion:
    rounded = int_to_float(target)
    return lambda value: rounded(int(value))


def _float_to_integer(source: DType, target: DType) -> Conversion:
    minimum, maximum = target.minimum, target.maximum

    def to_integer(value: Scalar) -> int:
        if math.isfinite(value):
            number = int(value)
            if minimum <= number <= maximum:
                return number
        raise UndefinedValue(FLOAT_TO_INT, f"{value!r} of {source} has no value in {target}")

    return to_integer


def _reinterpret(operands: tuple[DType, ...], result: DType) -> Value:
    return reinterpreter(operands[0], result)


REINTERPRET = ScalarOp(
    Contract(
        name="reinterpret",
        arity=1,
        meaning="the value with the same bits in the result's dtype, which is as wide",
        clause="NUM-705",
        accepts=ALL,
        result="declared",
        examples=(
            Example("float32", (1.5,), 0x3FC00000, declared="int32"),
            Example("uint16", (0x7C00,), float("inf"), declared="float16"),
            Example("uint8", (255,), -1, declared="int8"),
            Example("float32", (float("nan"),), 0x7FC00000, declared="uint32"),
        ),
        notation=Notation(operands=Operands.OWN),
    ),
    _reinterpret,
)

CONVERSIONS = (REINTERPRET,)
