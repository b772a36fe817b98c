"""Arithmetic: add sub mul, max min abs.

Integers are computed exactly, then put into the dtype (`refmlc.lang.ops.scalar.results`). Floats of at most 24 digits
are computed in binary64 and rounded once more, which is the exact result rounded once, since 53 >= 2 * 24 + 2 (S. A.
Figueroa, "When is double rounding innocuous?", 1995); float64 is binary64 itself.
"""

import operator
from collections.abc import Callable

from refmlc.lang.dtypes import DType
from refmlc.lang.ops.contract import NUMBERS, Accuracy, Contract, Example, Scalar, ScalarOp, Value
from refmlc.lang.ops.notation import Notation, Operands
from refmlc.lang.ops.scalar.results import float_binary, int_result, is_wide, overflow, overflows

ROUNDED = Accuracy.ROUNDED

# ------------------------------------------------------------------------------------------------ + - *


def _add(_operands: tuple[DType, ...], result: DType) -> Value:
    if result.is_float:
        return float_binary(operator.add, result)
    if not is_wide(result):
        return _narrow(operator.add, result)
    minimum, maximum = result.minimum, result.maximum

    def add(a: int, b: int) -> int:
        total = a + b
        if minimum <= total <= maximum:
            return total
        raise overflow(result, f"{a} + {b}", total)

    return add


ADD = ScalarOp(
    Contract(
        name="add",
        arity=2,
        meaning="a + b",
        clause="NUM-101",
        accepts=NUMBERS,
        accuracy=ROUNDED,
        undefined=(overflows(operator.add, "the sum of wide integers does not fit"),),
        laws=("commutative", "associative-int", "zero-is-neutral-int"),
        examples=(
            Example("int8", (127, 1), -128),
            Example("uint8", (255, 1), 0),
            Example("float32", (16777216.0, 1.0), 16777216.0),
            Example("float16", (2048.0, 3.0), 2052.0),
            Example("bfloat16", (256.0, 1.0), 256.0),
            Example("float8_e4m3fn", (448.0, 32.0), float("nan")),
            Example("float8_e4m3fn", (448.0, 16.0), 448.0),
        ),
        notation=Notation(symbol="+", text="Add", node="Add", operands=Operands.MATCHED, folds=((0,), (0,))),
    ),
    _add,
)


def _sub(_operands: tuple[DType, ...], result: DType) -> Value:
    if result.is_float:
        return float_binary(operator.sub, result)
    if not is_wide(result):
        return _narrow(operator.sub, result)
    minimum, maximum = result.minimum, result.maximum

    def sub(a: int, b: int) -> int:
        difference = a - b
        if minimum <= difference <= maximum:
            return difference
        raise overflow(result, f"{a} - {b}", difference)

    return sub


SUB = ScalarOp(
    Contract(
        name="sub",
        arity=2,
        meaning="a - b",
        clause="NUM-101",
        accepts=NUMBERS,
        accuracy=ROUNDED,
        undefined=(overflows(operator.sub, "the difference of wide integers does not fit"),),
        laws=("self-cancels-int", "sub-undoes-add-int"),
        examples=(
            Example("int8", (-128, 1), 127),
            Example("uint8", (0, 1), 255),
            Example("float32", (1.0, 5.960464477539063e-08), 0.9999999403953552),
        ),
        notation=Notation(symbol="-", text="Sub", node="Sub", operands=Operands.MATCHED, folds=((), (0,))),
    ),
    _sub,
)


def _mul(_operands: tuple[DType, ...], result: DType) -> Value:
    if result.is_float:
        return float_binary(operator.mul, result)
    if not is_wide(result):
        return _narrow(operator.mul, result)
    minimum, maximum = result.minimum, result.maximum

    def mul(a: int, b: int) -> int:
        product = a * b
        if minimum <= product <= maximum:
            return product
        raise overflow(result, f"{a} * {b}", product)

    return mul


MUL = ScalarOp(
    Contract(
        name="mul",
        arity=2,
        meaning="a * b",
        clause="NUM-101",
        accepts=NUMBERS,
        accuracy=ROUNDED,
        undefined=(overflows(operator.mul, "the product of wide integers does not fit"),),
        laws=(
            *("commutative", "associative-int", "one-is-neutral", "zero-absorbs-int", "two-doubles-int"),
            "distributes-over-add-int",
        ),
        examples=(
            Example("int8", (-128, -1), -128),
            Example("uint8", (16, 17), 16),
            Example("float16", (256.0, 256.0), float("inf")),
            Example("float4_e2m1fn", (6.0, 4.0), 6.0),
            Example("float8_e4m3fnuz", (-0.0009765625, 0.0), 0.0),
        ),
        notation=Notation(symbol="*", text="Mul", node="Mul", operands=Operands.MATCHED, folds=((0, 1), (0, 1))),
    ),
    _mul,
)

# ------------------------------------------------------------------------------------------- max min abs


def _greater(a: Scalar, b: Scalar) -> Scalar:
    return a if a > b else b  # noqa: FURB136 - the rule as the clause has it; max() is slower


def _smaller(a: Scalar, b: Scalar) -> Scalar:
    return a if a < b else b  # noqa: FURB136 - the rule as the clause has it; min() is slower


MAX = ScalarOp(
    Contract(
        name="max",
        arity=2,
        meaning="a if a > b else b; so b where one of them is NaN",
        clause="NUM-106",
        accepts=NUMBERS,
        laws=("idempotent", "commutative-int", "associative-int"),
        examples=(
            Example("int8", (-1, 1), 1),
            Example("float32", (float("nan"), 1.0), 1.0),
            Example("float32", (1.0, float("nan")), float("nan")),
            Example("float32", (0.0, -0.0), -0.0),
        ),
        notation=Notation(node="Max", operands=Operands.MATCHED),
    ),
    lambda _operands, _result: _greater,
)

MIN = ScalarOp(
    Contract(
        name="min",
        arity=2,
        meaning="a if a < b else b; so b where one of them is NaN",
        clause="NUM-106",
        accepts=NUMBERS,
        laws=("idempotent", "commutative-int", "associative-int"),
        examples=(
            Example("int8", (-1, 1), -1),
            Example("float32", (float("nan"), 1.0), 1.0),
            Example("float32", (-0.0, 0.0), 0.0),
        ),
        notation=Notation(node="Min", operands=Operands.MATCHED),
    ),
    lambda _operands, _result: _smaller,
)


def _abs(_operands: tuple[DType, ...], result: DType) -> Value:
    if result.is_float:
        return abs
    to_dtype = int_result(result, "-")
    return lambda a: a if a >= 0 else to_dtype(-a, 0, a)


ABS = ScalarOp(
    Contract(
        name="abs",
        arity=1,
        meaning="a without its sign: 0 - a where a < 0; of floats the sign bit is cleared",
        clause="NUM-107",
        accepts=NUMBERS,
        undefined=(overflows(abs, "the least signed value of 32 or 64 bits"),),
        laws=("projection", "even"),
        examples=(Example("int8", (-128,), -128), Example("int8", (-5,), 5), Example("float32", (-0.0,), 0.0)),
        notation=Notation(on_floats="fabs", c=("fabs",), llvm=("fabs",)),
    ),
    _abs,
)

ARITH = (ADD, SUB, MUL, MAX, MIN, ABS)

# -------------------------------------------------------------------------------------------------- parts


def _narrow(exact: Callable[[int, int], int], result: DType) -> Value:
    """`exact` modulo 2**bits."""
    mask = (1 << result.bits) - 1
    half = -result.minimum

    def wrapped(a: int, b: int) -> int:
        return ((exact(a, b) + half) & mask) - half

    return wrapped
