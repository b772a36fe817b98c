"""Rounding to an integer that stays a float: ceil floor trunc round nearbyint.

|           | -1.5 | -0.5 | 0.5 | 1.5 | 2.5 |
|-----------|------|------|-----|-----|-----|
| ceil      | -1   | -0   | 1   | 2   | 3   |
| floor     | -2   | -1   | 0   | 1   | 2   |
| trunc     | -1   | -0   | 0   | 1   | 2   |
| round     | -2   | -0   | 0   | 2   | 2   |
| nearbyint | -2   | -0   | 0   | 2   | 2   |
"""

import math
from collections.abc import Callable

from refmlc.lang.dtypes import DType
from refmlc.lang.ops.contract import FLOATS, Accuracy, Contract, Example, ScalarOp, Value
from refmlc.lang.ops.notation import Notation
from refmlc.lang.ops.scalar.results import float_result

_ROUNDS_AGAIN_BELOW = 16  # bits: there the integer above the greatest value, or 0, may be missing


def _integral(exact: Callable[[float], int]) -> Callable[[tuple[DType, ...], DType], Value]:
    def integral(x: float) -> float:
        # NaN and the infinities are themselves; a zero keeps the sign of x.
        return math.copysign(exact(x), x) if x - x == 0.0 else x

    def value(_operands: tuple[DType, ...], result: DType) -> Value:
        if result.bits >= _ROUNDS_AGAIN_BELOW:
            return integral
        rounded = float_result(result)
        return lambda x: rounded(integral(x))

    return value


CEIL = ScalarOp(
    Contract(
        name="ceil",
        arity=1,
        meaning="the least integer that is not below a",
        clause="NUM-401",
        accepts=FLOATS,
        accuracy=Accuracy.ROUNDED,
        laws=("projection", "monotone"),
        examples=(
            Example("float32", (-0.5,), -0.0),
            Example("float32", (1.25,), 2.0),
            Example("float8_e3m4", (15.5,), float("inf")),
            Example("float6_e2m3fn", (7.5,), 7.5),
        ),
        notation=Notation(keeps_integers=True, c=("ceil",), llvm=("ceil",)),
    ),
    _integral(math.ceil),
)

FLOOR = ScalarOp(
    Contract(
        name="floor",
        arity=1,
        meaning="the greatest integer that is not above a",
        clause="NUM-401",
        accepts=FLOATS,
        accuracy=Accuracy.ROUNDED,
        laws=("projection", "monotone"),
        examples=(Example("float32", (-0.5,), -1.0), Example("float32", (-0.0,), -0.0)),
        notation=Notation(keeps_integers=True, c=("floor",), llvm=("floor",)),
    ),
    _integral(math.floor),
)

TRUNC = ScalarOp(
    Contract(
        name="trunc",
        arity=1,
        meaning="a without its fraction",
        clause="NUM-401",
        accepts=FLOATS,
        accuracy=Accuracy.ROUNDED,
        laws=("projection", "monotone", "odd"),
        examples=(Example("float32", (-1.75,), -1.0), Example("float32", (float("inf"),), float("inf"))),
        notation=Notation(keeps_integers=True, c=("trunc",), llvm=("trunc",)),
    ),
    _integral(math.trunc),
)

ROUND = ScalarOp(
    Contract(
        name="round",
        arity=1,
        meaning="the nearest integer, of two the even one",
        clause="NUM-402",
        accepts=FLOATS,
        accuracy=Accuracy.ROUNDED,
        laws=("projection", "monotone", "odd"),
        examples=(
            Example("float32", (0.5,), 0.0),
            Example("float32", (1.5,), 2.0),
            Example("float32", (2.5,), 2.0),
            Example("float32", (-0.5,), -0.0),
            Example("float64", (0.49999999999999994,), 0.0),
        ),
        notation=Notation(keeps_integers=True),
    ),
    _integral(round),
)

NEARBYINT = ScalarOp(
    Contract(
        name="nearbyint",
        arity=1,
        meaning="the nearest integer, of two the even one",
        clause="NUM-402",
        accepts=FLOATS,
        accuracy=Accuracy.ROUNDED,
        laws=("projection", "monotone", "odd"),
        examples=(Example("float32", (-1.5,), -2.0), Example("float32", (3.5,), 4.0)),
        notation=Notation(keeps_integers=True, c=("nearbyint", "rint"), llvm=("nearbyint", "rint", "roundeven")),
    ),
    _integral(round),
)

INTEGRAL = (CEIL, FLOOR, TRUNC, ROUND, NEARBYINT)
