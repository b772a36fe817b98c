"""Division and remainder: div, truncdiv, truncmod, floordiv, floormod, ceildiv.

| a, b   | truncdiv | truncmod | floordiv | floormod |
|--------|----------|----------|----------|----------|
| 7, 2   | 3        | 1        | 3        | 1        |
| -7, 2  | -3       | -1       | -4       | 1        |
| 7, -2  | -3       | 1        | -4       | -1       |
| -7, -2 | 3        | -1       | 3        | -1       |
"""

from collections.abc import Callable

from refmlc.diag.catalogue import DIVISION_BY_ZERO, INT_OVERFLOW
from refmlc.lang.dtypes import DType
from refmlc.lang.ops.contract import (
    INTEGERS,
    NUMBERS,
    Accuracy,
    Contract,
    Example,
    ScalarOp,
    UndefinedValue,
    UndefinedWhen,
    Value,
)
from refmlc.lang.ops.notation import Notation, Operands
from refmlc.lang.ops.scalar.arith import ADD, SUB
from refmlc.lang.ops.scalar.binary64 import divide, fmod
from refmlc.lang.ops.scalar.results import fits, float_binary, is_wide

ROUNDED = Accuracy.ROUNDED

_DIVISOR_ZERO = UndefinedWhen(
    DIVISION_BY_ZERO, "the divisor of integers is 0", lambda dtype, _a, b: dtype.is_integer and b == 0
)
_QUOTIENT_OVERFLOW = UndefinedWhen(
    INT_OVERFLOW,
    "the least signed value is divided by -1, at any width",
    lambda dtype, a, b: dtype.kind == "int" and a == dtype.minimum and b == -1,
)
_DIVISION = (_DIVISOR_ZERO, _QUOTIENT_OVERFLOW)


def _division_check(dtype: DType, symbol: str) -> Callable[[int, int], None]:
    """Raises where the division of integers is undefined."""
    minimum = dtype.minimum
    signed = dtype.kind == "int"

    def check(a: int, b: int) -> None:
        if b == 0:
            raise UndefinedValue(DIVISION_BY_ZERO, f"{a} {symbol} 0 in {dtype}")
        if signed and b == -1 and a == minimum:
            wrapped = 0 if "mod" in symbol or symbol == "%" else minimum
            raise UndefinedValue(INT_OVERFLOW, f"{a} {symbol} -1 overflows {dtype}", wrapped)

    return check


# --------------------------------------------------------------------------------------------- divisions


def _div(operands: tuple[DType, ...], result: DType) -> Value:
    return float_binary(divide, result) if result.is_float else _truncdiv(operands, result)


DIV = ScalarOp(
    Contract(
        name="div",
        arity=2,
        meaning="the quotient a / b; of integers, rounded toward zero",
        clause="NUM-103",
        accepts=NUMBERS,
        accuracy=ROUNDED,
        makes_nan=True,
        undefined=_DIVISION,
        laws=("one-divides",),
        examples=(
            Example("float32", (1.0, 3.0), 0.3333333432674408),
            Example("float32", (-1.0, 0.0), float("-inf")),
            Example("float32", (0.0, 0.0), float("nan")),
            Example("int32", (-7, 2), -3),
        ),
        notation=Notation(
            symbol="/",
            text="Div",
            node="Div",
            also=("div",),
            on_integers="truncdiv",
            operands=Operands.MATCHED,
            folds=((0,), (0, 1)),
        ),
    ),
    _div,
)


def _truncdiv(_operands: tuple[DType, ...], result: DType) -> Value:
    check = _division_check(result, "truncdiv")

    def truncdiv(a: int, b: int) -> int:
        if a >= 0 < b:
            return a // b
        check(a, b)
        quotient = abs(a) // abs(b)
        return quotient if (a < 0) == (b < 0) else -quotient

    return truncdiv


TRUNCDIV = ScalarOp(
    Contract(
        name="truncdiv",
        arity=2,
        meaning="a / b rounded toward zero",
        clause="NUM-104",
        accepts=INTEGERS,
        undefined=_DIVISION,
        laws=("one-divides", "quotient-and-remainder-trunc"),
        examples=(
            Example("int8", (7, 2), 3),
            Example("int8", (-7, 2), -3),
            Example("int8", (7, -2), -3),
            Example("int8", (-7, -2), 3),
        ),
        notation=Notation(text="Div", also=("truncdiv",), operands=Operands.MATCHED, folds=((0,), (0, 1))),
    ),
    _truncdiv,
)


def _truncmod(_operands: tuple[DType, ...], result: DType) -> Value:
    if result.is_float:
        return float_binary(fmod, result)
    check = _division_check(result, "truncmod")

    def truncmod(a: int, b: int) -> int:
        if a >= 0 < b:
            return a % b
        check(a, b)
        rest = abs(a) % abs(b)
        return -rest if a < 0 else rest

    return truncmod


TRUNCMOD = ScalarOp(
    Contract(
        name="truncmod",
        arity=2,
        meaning="a - b * trunc(a / b), which has the sign of a; on floats as fmod",
        clause="NUM-104",
        accepts=NUMBERS,
        accuracy=ROUNDED,
        makes_nan=True,
        undefined=_DIVISION,
        laws=("remainder-is-smaller",),
        examples=(
            Example("int8", (-7, 2), -1),
            Example("int8", (7, -2), 1),
            Example("float32", (5.5, -3.0), 2.5),
            Example("float32", (-5.5, 3.0), -2.5),
        ),
        notation=Notation(node="Mod", operands=Operands.MATCHED, folds=((0,), (0, 1))),
    ),
    _truncmod,
)


def _floordiv(_operands: tuple[DType, ...], result: DType) -> Value:
    check = _division_check(result, "//")

    def floordiv(a: int, b: int) -> int:
        if b <= 0:
            check(a, b)
        return a // b

    return floordiv


FLOORDIV = ScalarOp(
    Contract(
        name="floordiv",
        arity=2,
        meaning="a / b rounded down",
        clause="NUM-104",
        accepts=INTEGERS,
        undefined=_DIVISION,
        laws=("one-divides", "quotient-and-remainder-floor"),
        examples=(
            Example("int8", (7, 2), 3),
            Example("int8", (-7, 2), -4),
            Example("int8", (7, -2), -4),
            Example("int8", (-7, -2), 3),
        ),
        notation=Notation(
            symbol="//",
            text="FloorDiv",
            node="FloorDiv",
            also=("indexdiv", "floordiv"),
            operands=Operands.MATCHED,
            folds=((0,), (0, 1)),
        ),
    ),
    _floordiv,
)


def _floormod(_operands: tuple[DType, ...], result: DType) -> Value:
    check = _division_check(result, "%")

    def floormod(a: int, b: int) -> int:
        if b <= 0:
            check(a, b)
        return a % b

    return floormod


FLOORMOD = ScalarOp(
    Contract(
        name="floormod",
        arity=2,
        meaning="a - b * floor(a / b), which has the sign of b",
        clause="NUM-104",
        accepts=INTEGERS,
        undefined=_DIVISION,
        laws=("remainder-is-smaller",),
        examples=(
            Example("int8", (-7, 2), 1),
            Example("int8", (7, -2), -1),
            Example("int8", (-7, -2), -1),
        ),
        notation=Notation(
            symbol="%",
            text="FloorMod",
            node="FloorMod",
            also=("indexmod", "floormod"),
            operands=Operands.MATCHED,
            folds=((0,), (0, 1)),
        ),
    ),
    _floormod,
)


def _ceildiv(operands: tuple[DType, ...], result: DType) -> Value:
    add, sub, floordiv = (
        ADD.value(operands, result),
        SUB.value(operands, result),
        _floordiv(operands, result),
    )
    return lambda a, b: floordiv(sub(add(a, b), 1), b)


def _dividend_overflows(dtype: DType, a: int, b: int) -> bool:
    return is_wide(dtype) and not (fits(dtype, a + b) and fits(dtype, a + b - 1))


def _ceil_quotient_overflows(dtype: DType, a: int, b: int) -> bool:
    # Narrow dividends wrap, so the dividend is the least value when a + b - 1 is that modulo 2**bits.
    least_dividend = (a + b - 1 - dtype.minimum) % (1 << dtype.bits) == 0
    return dtype.kind == "int" and b == -1 and least_dividend


CEILDIV = ScalarOp(
    Contract(
        name="ceildiv",
        arity=2,
        meaning="(a + b - 1) // b, step by step in the dtype; for b > 0 that is a / b rounded up",
        clause="NUM-105",
        accepts=INTEGERS,
        undefined=(
            UndefinedWhen(DIVISION_BY_ZERO, "b is 0", lambda _dtype, _a, b: b == 0),
            UndefinedWhen(INT_OVERFLOW, "a + b - 1 of wide integers overflows on the way", _dividend_overflows),
            UndefinedWhen(INT_OVERFLOW, "b is -1 and a + b - 1 the least signed value", _ceil_quotient_overflows),
        ),
        examples=(Example("int32", (7, 2), 4), Example("int32", (-7, 2), -3), Example("int32", (5, -2), -1)),
        notation=Notation(operands=Operands.MATCHED),
    ),
    _ceildiv,
)

DIVISIONS = (DIV, TRUNCDIV, TRUNCMOD, FLOORDIV, FLOORMOD, CEILDIV)
