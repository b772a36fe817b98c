"""Functions on scalar expressions, by the names that `te` and TVMScript have for them.

Those of one operand are the rows of `refmlc.lang.ops.scalar`; each has the dtype of its operand but for the tests for
NaN and infinity. On integers the roundings are the operand itself.
"""

from collections.abc import Callable

from refmlc.diag import fail
from refmlc.diag.catalogue import BAD_ARGUMENTS
from refmlc.lang.dtypes import BOOL, DType
from refmlc.lang.ir import tir
from refmlc.lang.ops import promote
from refmlc.lang.ops.scalar import SCALAR_OPS
from refmlc.lang.te.fold import folded
from refmlc.lang.te.value import Operand, Value, defined, expr_of, operand

ROUNDINGS = frozenset(("floor", "ceil", "round", "trunc", "nearbyint"))
TESTS = frozenset(("isnan", "isinf", "isfinite"))


def apply(name: str, *operands: Operand) -> Value:
    """The scalar operator `name` on operands of one dtype. Fails: RM105 for a name, RM201 for dtypes it has not."""
    if name not in SCALAR_OPS:
        raise fail(BAD_ARGUMENTS, f"no scalar operator is named `{name}`")
    first = next((value.expr.dtype for value in operands if isinstance(value, Value)), None)
    nodes = [_beside(operand(value), first) for value in operands]
    dtype = nodes[0].dtype
    if name in ROUNDINGS and not dtype.is_float:
        return Value(nodes[0])
    result = BOOL if name in TESTS else SCALAR_OPS[name].contract.result_dtype([dtype])
    return Value(defined(tir.Apply(name, tuple(nodes), result)))


def _beside(value: promote.Operand, dtype: DType | None) -> tir.Expr:
    if isinstance(value, int | float) and dtype is not None and (dtype.is_float or isinstance(value, int)):
        return promote.constant(value, dtype, None)
    return promote.literal(value, None)


def _of_one(name: str) -> Callable[[Operand], Value]:
    def function(x: Operand) -> Value:
        return apply(name, x)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"{SCALAR_OPS[name].contract.meaning} Clause: {SCALAR_OPS[name].contract.clause}."
    return function


exp, exp2, exp10 = _of_one("exp"), _of_one("exp2"), _of_one("exp10")
log, log2, log10, log1p = _of_one("log"), _of_one("log2"), _of_one("log10"), _of_one("log1p")
sin, cos, tan = _of_one("sin"), _of_one("cos"), _of_one("tan")
asin, acos, atan = _of_one("asin"), _of_one("acos"), _of_one("atan")
sinh, cosh, tanh = _of_one("sinh"), _of_one("cosh"), _of_one("tanh")
asinh, acosh, atanh = _of_one("asinh"), _of_one("acosh"), _of_one("atanh")
sqrt, rsqrt, erf, sigmoid = _of_one("sqrt"), _of_one("rsqrt"), _of_one("erf"), _of_one("sigmoid")
floor, ceil, round_, trunc = _of_one("floor"), _of_one("ceil"), _of_one("round"), _of_one("trunc")
nearbyint, abs_ = _of_one("nearbyint"), _of_one("abs")
isnan, isinf, isfinite = _of_one("isnan"), _of_one("isinf"), _of_one("isfinite")


def power(x: Operand, y: Operand) -> Value:
    """The first to the power of the second."""
    return _of_two("pow", x, y)


def atan2(y: Operand, x: Operand) -> Value:
    """The angle of the point (x, y)."""
    return _of_two("atan2", y, x)


def maximum(a: Operand, b: Operand) -> Value:
    """The greater of two; NaN as `T.max` has it."""
    return _of_two("max", a, b)


def minimum(a: Operand, b: Operand) -> Value:
    """The smaller of two; NaN as `T.min` has it."""
    return _of_two("min", a, b)


def div(a: Operand, b: Operand) -> Value:
    """The quotient: of floats rounded once, of integers rounded to 0."""
    x, y = promote.matched(operand(a), operand(b), None)
    return _of_two("div" if x.dtype.is_float else "truncdiv", Value(x), Value(y))


def floordiv(a: Operand, b: Operand) -> Value:
    """The quotient of integers, rounded down."""
    return _of_two("floordiv", a, b)


def floormod(a: Operand, b: Operand) -> Value:
    """The rest of `floordiv`: it has the sign of the divisor."""
    return _of_two("floormod", a, b)


def fmod(x: Operand, y: Operand) -> Value:
    """The rest of floats with the sign of `x`."""
    return _of_two("fmod", x, y)


def truncdiv(a: Operand, b: Operand) -> Value:
    """The quotient of integers, rounded to 0."""
    return _of_two("truncdiv", a, b)


def truncmod(a: Operand, b: Operand) -> Value:
    """The rest of `truncdiv`; of floats that of C's `fmod`."""
    return _of_two("truncmod", a, b)


def ceildiv(a: Operand, b: Operand) -> Value:
    """The quotient of integers, rounded up."""
    x, y = Value(expr_of(a)), Value(expr_of(b))
    return (x + (y - 1)) // y


def _of_two(name: str, a: Operand, b: Operand) -> Value:
    """Operator `name` on two operands brought to one dtype. Fails: RM201, for dtypes it has not."""
    return Value(folded(defined(promote.apply_binary(name, operand(a), operand(b), None))))


def if_then_else(condition: Operand, yes: Operand, no: Operand) -> Value:
    """`yes` where the condition holds, else `no`; only the chosen one is evaluated."""
    test, a, b = _arms(condition, yes, no)
    if isinstance(test, tir.IntImm):
        return Value(a if test.value else b)
    return Value(tir.IfThenElseExpr(test, a, b))


def select(condition: Operand, yes: Operand, no: Operand) -> Value:
    """The same, both being evaluated."""
    test, a, b = _arms(condition, yes, no)
    if isinstance(test, tir.IntImm):
        return Value(a if test.value else b)
    return Value(tir.Select(test, a, b))


def _arms(condition: Operand, yes: Operand, no: Operand) -> tuple[tir.Expr, tir.Expr, tir.Expr]:
    return promote.condition(operand(condition), None), *promote.matched(operand(yes), operand(no), None)


def all_(*conditions: Operand) -> Value:
    """Whether all hold; those after the first that does not are not evaluated."""
    return _joined("and", conditions)


def any_(*conditions: Operand) -> Value:
    """Whether one holds; those after it are not evaluated."""
    return _joined("or", conditions)


def not_(condition: Operand) -> Value:
    """Whether it does not hold."""
    return Value(folded(promote.unary("not", promote.condition(operand(condition), None), None)))


def _joined(symbol: str, conditions: tuple[Operand, ...]) -> Value:
    if not conditions:
        raise fail(BAD_ARGUMENTS, f"`{'all' if symbol == 'and' else 'any'}` takes at least one condition")
    condition = promote.condition(operand(conditions[0]), None)
    for value in conditions[1:]:
        condition = folded(promote.logical(symbol, condition, operand(value), None))
    return Value(condition)


def reinterpret(dtype: str, value: Operand) -> Value:
    """The bits of `value` read as another dtype."""
    node = expr_of(value)
    return Value(tir.Apply("reinterpret", (node,), Value(node).astype(dtype).expr.dtype))
