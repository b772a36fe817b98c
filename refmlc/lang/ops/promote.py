"""The type rule of operators: which conversions TVM inserts when operands differ, and what a literal becomes.

Two operands of different dtypes (measured on TVM 0.27, every pair):

| operands                      | both become                                                   |
|-------------------------------|---------------------------------------------------------------|
| one with lanes, one without   | the one without is broadcast                                  |
| bool and other                | the other                                                     |
| float and integer             | the float                                                     |
| float and float               | the one of more bits; of equal ones `float16`, else the first |
| integers of one signedness    | the one of more bits                                          |
| integers of both signednesses | the one of more bits; of equal bits the unsigned one          |

A Python literal beside an operand x:

| operator                     | an int becomes                               | a float becomes                    |
|------------------------------|----------------------------------------------|------------------------------------|
| `+ - * / // %`, min, choices | int32 (int64 if too large), then as above    | float32, then as above             |
| comparisons                  | the element dtype of x                       | that of a float x; else float32    |
| `<< >> & ^`, or              | the element dtype of x                       | refused                            |

The literal itself is converted, without a Cast. Nothing else is folded: the constants of the text stay.

Fails: RM107 a literal that its dtype does not hold; RM201 operands that no rule brings together.
"""

import math
from dataclasses import replace

from refmlc.diag import Span, fail
from refmlc.diag.catalogue import BAD_LITERAL, TYPE_MISMATCH
from refmlc.lang.dtypes import BOOL, FLOAT32, INT32, INT64, DType
from refmlc.lang.dtypes.rounding import rounder
from refmlc.lang.ir import tir
from refmlc.lang.ops.names import BY_SYMBOL
from refmlc.lang.ops.notation import Operands
from refmlc.lang.ops.scalar import SCALAR_OPS

Operand = tir.Expr | int | float

BFLOAT16_TAKEN = 3.895313892515354759047080037148786688e38
"""The largest number that TVM takes as a constant of bfloat16, above the largest that the format has."""


def constant(value: int | float, dtype: DType, span: Span | None) -> tir.Expr:
    """The constant `value` of `dtype`, rounded once where it is a float; broadcast where `dtype` has lanes."""
    if dtype.is_vector:
        return broadcast(constant(value, dtype.scalar, span), dtype, span)
    if dtype.is_float:
        return tir.FloatImm(dtype, _rounded(value, dtype, span), span=span)
    if dtype.kind == "bool":
        if value not in (0, 1):
            raise fail(BAD_LITERAL, f"{_shown(value)} is not a value of bool", span)
        return tir.IntImm(BOOL, int(value), span=span)
    if not dtype.is_integer:
        raise fail(BAD_LITERAL, f"{_shown(value)} is not a value of {dtype}", span)
    if isinstance(value, float):
        if not value.is_integer():
            raise fail(BAD_LITERAL, f"{_shown(value)} is not a value of {dtype}", span)
        value = int(value)
    if not dtype.minimum <= value <= dtype.maximum:
        raise fail(BAD_LITERAL, f"{_shown(value)} is not in the range of {dtype}", span)
    return tir.IntImm(dtype, int(value), span=span)


def literal(value: Operand, span: Span | None) -> tir.Expr:
    """`value` as it stands alone: bool, int32 (int64 where it does not fit), float32."""
    if isinstance(value, bool):
        return tir.IntImm(BOOL, int(value), span=span)
    if isinstance(value, (int, float)):
        return constant(value, _default(value), span)
    return value


def broadcast(value: tir.Expr, lanes: DType, span: Span | None) -> tir.Expr:
    """`value` repeated in as many lanes as `lanes` has."""
    count: tir.Expr = tir.IntImm(INT32, lanes.lanes)
    if lanes.scalable:
        count = tir.Apply("mul", (tir.Call("vscale", (), INT32), count), INT32)
    return tir.Broadcast(value, count, value.dtype.with_lanes(lanes.lanes, scalable=lanes.scalable), span=span)


def converted(value: Operand, dtype: DType, span: Span | None) -> tir.Expr:
    """`value` as `dtype`: itself, a constant, or a Cast; broadcast first where only `dtype` has lanes."""
    if isinstance(value, (int, float)):
        return constant(value, dtype, span)
    if dtype.is_vector and not value.dtype.is_vector:
        return broadcast(converted(value, dtype.scalar, span), dtype, span)
    if value.dtype == dtype:
        return value
    if isinstance(value, tir.Call) and value.dtype.kind == "void":
        # Decision: the text does not say what a call of a hardware family results in; it is what its place wants.
        return replace(value, dtype=dtype)
    if "handle" in (value.dtype.kind, dtype.kind) or "void" in (value.dtype.kind, dtype.kind):
        raise fail(TYPE_MISMATCH, f"a value of {value.dtype} stands where one of {dtype} is wanted", span)
    return tir.Cast(dtype, value, span=span)


def promoted(a: DType, b: DType) -> DType | None:
    """The element dtype that operands of element dtypes `a` and `b` are brought to; None: no rule."""
    if a == b or b.kind == "bool":
        return a
    if a.kind == "bool":
        return b
    if a.is_float and b.is_float:
        if a.bits == b.bits:
            return b if b.element == "float16" else a
        return a if a.bits > b.bits else b
    if a.is_float and b.is_integer:
        return a
    if a.is_integer and b.is_float:
        return b
    if a.is_integer and b.is_integer:
        if a.bits == b.bits:
            return a if a.kind == "uint" else b
        return a if a.bits > b.bits else b
    return None


def matched(a: Operand, b: Operand, span: Span | None, *, adapting: bool = False) -> tuple[tir.Expr, tir.Expr]:
    """`a` and `b` brought to one dtype. `adapting`: an int literal takes the dtype of the other as it is."""
    if isinstance(a, (int, float)) and isinstance(b, (int, float)):
        alone = promoted(_default(a), _default(b)) or INT64
        return constant(a, alone, span), constant(b, alone, span)
    left, right = _dtype_beside(a, b, adapting=adapting), _dtype_beside(b, a, adapting=adapting)
    element = promoted(left.scalar, right.scalar)
    wide = left if left.is_vector else right
    lanes_differ = left.is_vector and right.is_vector and (left.lanes, left.scalable) != (right.lanes, right.scalable)
    if element is None or lanes_differ:
        raise fail(TYPE_MISMATCH, f"operands of {left} and {right} have no common dtype", span)
    common = element.with_lanes(wide.lanes, scalable=wide.scalable) if wide.is_vector else element
    return converted(a, common, span), converted(b, common, span)


def apply_binary(op: str, a: Operand, b: Operand, span: Span | None) -> tir.Expr:
    """The scalar operator `op` (a name of `Apply.op`) on two operands brought to one dtype."""
    contract = SCALAR_OPS[op].contract
    x, y = matched(a, b, span, adapting=contract.notation.operands is Operands.ADAPTED)
    dtype = x.dtype
    if "float" not in contract.accepts and dtype.is_float:
        raise fail(TYPE_MISMATCH, f"`{op}` is not defined on {dtype}", span)
    if op == "div" and not dtype.is_float:
        raise fail(TYPE_MISMATCH, f"`/` is not defined on {dtype}; integers divide by `//` or `T.truncdiv`", span)
    lane = contract.result_dtype([dtype])
    return tir.Apply(op, (x, y), lane.with_lanes(dtype.lanes, scalable=dtype.scalable), span=span)


def binary(symbol: str, a: Operand, b: Operand, span: Span | None) -> tir.Expr:
    """`a symbol b`, `symbol` as Python writes it. At least one operand is a node."""
    if symbol in ("and", "or"):
        return logical(symbol, a, b, span)
    if symbol in BY_SYMBOL:
        return apply_binary(BY_SYMBOL[symbol], a, b, span)
    raise fail(TYPE_MISMATCH, f"`{symbol}` is not defined on TensorIR expressions", span)


def logical(symbol: str, a: Operand, b: Operand, span: Span | None) -> tir.Expr:
    """`a and b`, `a or b`: lazy on scalars, `&` and `|` on vectors."""
    x, y = condition(a, span), condition(b, span)
    if x.dtype.is_vector or y.dtype.is_vector:
        return apply_binary("bitwise_and" if symbol == "and" else "bitwise_or", x, y, span)
    return tir.And(x, y, span=span) if symbol == "and" else tir.Or(x, y, span=span)


def unary(symbol: str, a: tir.Expr, span: Span | None) -> tir.Expr:
    """`symbol a`: minus is `a * -1` (a constant changes its sign), `~` and `not` are operators, plus is `a`."""
    match symbol:
        case "+":
            return a
        case "-":
            return _negated(a, span)
        case "~":
            if a.dtype.is_float:
                raise fail(TYPE_MISMATCH, f"`~` is not defined on {a.dtype}", span)
            return tir.Apply("bitwise_not", (a,), a.dtype, span=span)
        case _:
            return tir.Apply("not", (condition(a, span),), a.dtype, span=span)


def condition(value: Operand, span: Span | None) -> tir.Expr:
    """`value` where a bool is needed. Fails with RM201 when it is none."""
    if isinstance(value, (bool, int)):
        return tir.IntImm(BOOL, int(bool(value)), span=span)
    if isinstance(value, float) or value.dtype.kind != "bool":
        kind = "float32" if isinstance(value, float) else str(value.dtype)
        raise fail(TYPE_MISMATCH, f"a condition is bool; this is {kind}", span)
    return value


def branch(value: Operand, span: Span | None) -> tir.Expr:
    """The condition of a statement: a bool, or an integer that is not 0.

    Decision: TVM 0.27 takes an integer there; its `c` target writes `if (b)`, its `llvm` builds none. What C says is
    written out. Clause TIR-211.
    """
    if not isinstance(value, (int, float)) and value.dtype.is_integer and not value.dtype.is_vector:
        return apply_binary("ne", value, 0, span)
    return condition(value, span)


def _negated(a: tir.Expr, span: Span | None) -> tir.Expr:
    match a:
        case tir.IntImm(dtype, value):
            return constant(-value, dtype, span)
        case tir.FloatImm(dtype, value):
            return tir.FloatImm(dtype, -value, span=span)
    if a.dtype.kind not in ("int", "float"):
        raise fail(TYPE_MISMATCH, f"`-` is not defined on {a.dtype}", span)
    return tir.Apply("mul", (a, constant(-1, a.dtype, span)), a.dtype, span=span)


def _default(value: int | float) -> DType:
    if isinstance(value, bool):
        return BOOL
    if isinstance(value, float):
        return FLOAT32
    return INT32 if INT32.minimum <= value <= INT32.maximum else INT64


def _dtype_beside(value: Operand, other: Operand, *, adapting: bool) -> DType:
    """The dtype that `value` brings to `matched`, `other` being its neighbour."""
    if not isinstance(value, (int, float)):
        return value.dtype
    if isinstance(other, (int, float)):
        return _default(value)
    beside = other.dtype.scalar
    if adapting and (not isinstance(value, float) or beside.is_float):
        return beside
    if isinstance(value, float) and beside.is_float and promoted(FLOAT32, beside) == beside:
        return beside
    return _default(value)


def _rounded(value: int | float, dtype: DType, span: Span | None) -> float:
    try:
        exact = float(value)
    except OverflowError:
        exact = math.inf
    result = rounder(dtype)(exact)
    if (
        not math.isfinite(result)
        and (isinstance(value, int) or math.isfinite(value))
        and not _is_let_through(exact, dtype)
    ):
        raise fail(BAD_LITERAL, f"{_shown(value)} is not in the range of {dtype}", span)
    return result


def _is_let_through(value: float, dtype: DType) -> bool:
    """Whether TVM takes a number whose rounding is not finite, and rounds it.

    Decision: TVM 0.27 takes bfloat16 up to `BFLOAT16_TAKEN` and prints its maximum as that of float32, which rounds to
    infinity (measured: -inf); and 0 in a format without a zero, which is its NaN.
    """
    if dtype.element == "bfloat16":
        return abs(value) <= BFLOAT16_TAKEN
    return value == 0 and dtype.element == "float8_e8m0fnu"


def _shown(value: int | float) -> str:
    if isinstance(value, int) and value.bit_length() > 256:
        return f"an integer of {value.bit_length()} bits"
    return str(value)
