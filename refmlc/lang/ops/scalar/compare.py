"""Comparisons, `not`, `likely`, and the classes of floats: isnan, isinf, isfinite.

| a, b         | eq    | ne    | lt, le, gt, ge |
|--------------|-------|-------|----------------|
| NaN with any | False | True  | False          |
| 0, -0        | True  | False | lt, gt False   |
| False, True  | False | True  | False < True   |
"""

import math
import operator

from refmlc.lang.ops.contract import ALL, BOOLS, FLOATS, Contract, Example, Scalar, ScalarOp
from refmlc.lang.ops.notation import Notation, Operands

_NAN = float("nan")
_INF = float("inf")

EQ = ScalarOp(
    Contract(
        name="eq",
        arity=2,
        meaning="whether a and b are the same number",
        clause="NUM-301",
        accepts=ALL,
        result="bool",
        laws=("commutative",),
        examples=(
            Example("int8", (1, 1), True),
            Example("float32", (_NAN, _NAN), False),
            Example("float32", (0.0, -0.0), True),
        ),
        notation=Notation(symbol="==", text="EQ", node="EQ", operands=Operands.ADAPTED),
    ),
    lambda _operands, _result: operator.eq,
)

NE = ScalarOp(
    Contract(
        name="ne",
        arity=2,
        meaning="whether a and b are not the same number; True where one is NaN",
        clause="NUM-301",
        accepts=ALL,
        result="bool",
        laws=("commutative", "negates-eq"),
        examples=(Example("int8", (1, 1), False), Example("float32", (_NAN, _NAN), True)),
        notation=Notation(symbol="!=", text="NE", node="NE", operands=Operands.ADAPTED),
    ),
    lambda _operands, _result: operator.ne,
)

LT = ScalarOp(
    Contract(
        name="lt",
        arity=2,
        meaning="whether a is less than b",
        clause="NUM-301",
        accepts=ALL,
        result="bool",
        laws=("mirrors-gt",),
        examples=(Example("int8", (-1, 1), True), Example("float32", (_NAN, 1.0), False)),
        notation=Notation(symbol="<", text="LT", node="LT", operands=Operands.ADAPTED),
    ),
    lambda _operands, _result: operator.lt,
)

LE = ScalarOp(
    Contract(
        name="le",
        arity=2,
        meaning="whether a is less than or equal to b",
        clause="NUM-301",
        accepts=ALL,
        result="bool",
        laws=("is-lt-or-eq",),
        examples=(Example("int8", (1, 1), True), Example("float32", (_NAN, _NAN), False)),
        notation=Notation(symbol="<=", text="LE", node="LE", operands=Operands.ADAPTED),
    ),
    lambda _operands, _result: operator.le,
)

GT = ScalarOp(
    Contract(
        name="gt",
        arity=2,
        meaning="whether a is greater than b",
        clause="NUM-301",
        accepts=ALL,
        result="bool",
        laws=("mirrors-lt",),
        examples=(Example("uint8", (255, 1), True), Example("float32", (1.0, _NAN), False)),
        notation=Notation(symbol=">", text="GT", node="GT", operands=Operands.ADAPTED),
    ),
    lambda _operands, _result: operator.gt,
)

GE = ScalarOp(
    Contract(
        name="ge",
        arity=2,
        meaning="whether a is greater than or equal to b",
        clause="NUM-301",
        accepts=ALL,
        result="bool",
        laws=("is-gt-or-eq",),
        examples=(Example("bool", (True, False), True), Example("float32", (-0.0, 0.0), True)),
        notation=Notation(symbol=">=", text="GE", node="GE", operands=Operands.ADAPTED),
    ),
    lambda _operands, _result: operator.ge,
)

NOT = ScalarOp(
    Contract(
        name="not",
        arity=1,
        meaning="the negation of a bool",
        clause="NUM-302",
        accepts=BOOLS,
        result="bool",
        laws=("involution",),
        examples=(Example("bool", (True,), False), Example("bool", (False,), True)),
        notation=Notation(symbol="not", text="Not", node="Not", operands=Operands.OWN),
    ),
    lambda _operands, _result: operator.not_,
)


def _itself(a: Scalar) -> Scalar:
    return a


LIKELY = ScalarOp(
    Contract(
        name="likely",
        arity=1,
        meaning="a itself; a hint to compilers that it is true",
        clause="NUM-303",
        accepts=ALL,
        laws=("projection",),
        examples=(Example("bool", (False,), False),),
        notation=Notation(operands=Operands.OWN),
    ),
    lambda _operands, _result: _itself,
)

ISNAN = ScalarOp(
    Contract(
        name="isnan",
        arity=1,
        meaning="whether a is NaN",
        clause="NUM-304",
        accepts=FLOATS,
        result="bool",
        examples=(Example("float32", (_NAN,), True), Example("float32", (_INF,), False)),
    ),
    lambda _operands, _result: math.isnan,
)

ISINF = ScalarOp(
    Contract(
        name="isinf",
        arity=1,
        meaning="whether a is +inf or -inf",
        clause="NUM-304",
        accepts=FLOATS,
        result="bool",
        laws=("even",),
        examples=(Example("float32", (-_INF,), True), Example("float32", (_NAN,), False)),
    ),
    lambda _operands, _result: math.isinf,
)

ISFINITE = ScalarOp(
    Contract(
        name="isfinite",
        arity=1,
        meaning="whether a is neither infinite nor NaN",
        clause="NUM-304",
        accepts=FLOATS,
        result="bool",
        laws=("even",),
        examples=(Example("float32", (1.0,), True), Example("float32", (_NAN,), False)),
    ),
    lambda _operands, _result: math.isfinite,
)

COMPARISONS = (EQ, NE, LT, LE, GT, GE, NOT, LIKELY, ISNAN, ISINF, ISFINITE)
