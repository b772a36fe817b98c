"""Comparisons, `not`, `likely`, and the classes of floats: isnan, isinf, isfinite.

| a, b         | eq    | ne    | lt, le, gt, ge |
|--------------|-------|-------|----------------|
| NaN with any | False | True  | False          |
| 0, -0        | True  | False | lt, gt False   |
| False, True  | False | True  | False < True   |
"""

import math
import operator
from collections.abc import Callable

from refmlc.lang.ops.contract import ALL, BOOLS, FLOATS, Contract, Example, Scalar, ScalarOp
from refmlc.lang.ops.notation import Notation, Operands

_NAN = float("nan")
_INF = float("inf")


def _comparison(
    symbol: str,
    name: str,
    meaning: str,
    value: Callable[[Scalar, Scalar], bool],
    laws: tuple[str, ...],
    *examples: Example,
) -> ScalarOp:
    """A comparison. TVM's class of nodes, and the form that is no symbol, have its name in capitals."""
    node = name.upper()
    contract = Contract(
        name=name,
        arity=2,
        meaning=meaning,
        clause="NUM-301",
        accepts=ALL,
        result="bool",
        laws=laws,
        examples=examples,
        notation=Notation(symbol=symbol, text=node, node=node, operands=Operands.ADAPTED),
    )
    return ScalarOp(contract, lambda _operands, _result: value)


_ORDER = (
    _comparison(
        "==",
        "eq",
        "whether a and b are the same number",
        operator.eq,
        ("commutative",),
        Example("int8", (1, 1), True),
        Example("float32", (_NAN, _NAN), False),
        Example("float32", (0.0, -0.0), True),
    ),
    _comparison(
        "!=",
        "ne",
        "whether a and b are not the same number; True where one is NaN",
        operator.ne,
        ("commutative", "negates-eq"),
        Example("int8", (1, 1), False),
        Example("float32", (_NAN, _NAN), True),
    ),
    _comparison(
        "<",
        "lt",
        "whether a is less than b",
        operator.lt,
        ("mirrors-gt",),
        Example("int8", (-1, 1), True),
        Example("float32", (_NAN, 1.0), False),
    ),
    _comparison(
        "<=",
        "le",
        "whether a is less than or equal to b",
        operator.le,
        ("is-lt-or-eq",),
        Example("int8", (1, 1), True),
        Example("float32", (_NAN, _NAN), False),
    ),
    _comparison(
        ">",
        "gt",
        "whether a is greater than b",
        operator.gt,
        ("mirrors-lt",),
        Example("uint8", (255, 1), True),
        Example("float32", (1.0, _NAN), False),
    ),
    _comparison(
        ">=",
        "ge",
        "whether a is greater than or equal to b",
        operator.ge,
        ("is-gt-or-eq", "mirrors-le"),
        Example("bool", (True, False), True),
        Example("float32", (-0.0, 0.0), True),
    ),
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


def _class(
    name: str, meaning: str, value: Callable[[float], bool], laws: tuple[str, ...], *examples: tuple[float, bool]
) -> ScalarOp:
    """A class of floats, whose examples are of float32."""
    contract = Contract(
        name=name,
        arity=1,
        meaning=meaning,
        clause="NUM-304",
        accepts=FLOATS,
        result="bool",
        laws=laws,
        examples=tuple(Example("float32", (a,), result) for a, result in examples),
    )
    return ScalarOp(contract, lambda _operands, _result: value)


_CLASSES = (
    _class("isnan", "whether a is NaN", math.isnan, (), (_NAN, True), (_INF, False)),
    _class("isinf", "whether a is +inf or -inf", math.isinf, ("even",), (-_INF, True), (_NAN, False)),
    _class("isfinite", "whether a is neither infinite nor NaN", math.isfinite, ("even",), (1.0, True), (_NAN, False)),
)

COMPARISONS = (*_ORDER, NOT, LIKELY, *_CLASSES)
