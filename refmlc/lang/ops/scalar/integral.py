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
from dataclasses import replace

from refmlc.lang.dtypes import DType
from refmlc.lang.ops.contract import FLOATS, Accuracy, Contract, Example, ScalarOp, Value
from refmlc.lang.ops.notation import PLAIN, Notation
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


def _row(
    name: str, meaning: str, exact: Callable[[float], int], laws: tuple[str, ...], names: Notation, *examples: Example
) -> ScalarOp:
    """A rounding; the clause of those to the nearest integer is another."""
    contract = Contract(
        name=name,
        arity=1,
        meaning=meaning,
        clause="NUM-402" if exact is round else "NUM-401",
        accepts=FLOATS,
        accuracy=Accuracy.ROUNDED,
        laws=laws,
        examples=examples,
        notation=replace(names, keeps_integers=True),
    )
    return ScalarOp(contract, _integral(exact))


INTEGRAL = (
    _row(
        "ceil",
        "the least integer that is not below a",
        math.ceil,
        ("projection", "monotone"),
        Notation(c=("ceil",), llvm=("ceil",)),
        Example("float32", (-0.5,), -0.0),
        Example("float32", (1.25,), 2.0),
        Example("float8_e3m4", (15.5,), float("inf")),
        Example("float6_e2m3fn", (7.5,), 7.5),
    ),
    _row(
        "floor",
        "the greatest integer that is not above a",
        math.floor,
        ("projection", "monotone"),
        Notation(c=("floor",), llvm=("floor",)),
        Example("float32", (-0.5,), -1.0),
        Example("float32", (-0.0,), -0.0),
    ),
    _row(
        "trunc",
        "a without its fraction",
        math.trunc,
        ("projection", "monotone", "odd"),
        Notation(c=("trunc",), llvm=("trunc",)),
        Example("float32", (-1.75,), -1.0),
        Example("float32", (float("inf"),), float("inf")),
    ),
    _row(
        "round",
        "the nearest integer, of two the even one",
        round,
        ("projection", "monotone", "odd"),
        PLAIN,
        Example("float32", (0.5,), 0.0),
        Example("float32", (1.5,), 2.0),
        Example("float32", (2.5,), 2.0),
        Example("float32", (-0.5,), -0.0),
        Example("float64", (0.49999999999999994,), 0.0),
    ),
    _row(
        "nearbyint",
        "the nearest integer, of two the even one",
        round,
        ("projection", "monotone", "odd"),
        Notation(c=("nearbyint", "rint"), llvm=("nearbyint", "rint", "roundeven")),
        Example("float32", (-1.5,), -2.0),
        Example("float32", (3.5,), 4.0),
    ),
)
