"""Whether one operator, given any operands in their ranges, is defined, and whether it gives the exact number.

| node                              | defined                                     | exact                           |
|-----------------------------------|---------------------------------------------|---------------------------------|
| `+ - *`, abs of 32, 64 bits       | when the exact result fits                  | the same                        |
| … of fewer bits                   | always: it wraps                            | when the exact result fits      |
| quotients, remainders             | divisor not 0, nor -1 where it may overflow | the same                        |
| ceildiv                           | as its steps `a + b`, `- 1`, `// b`         | the same                        |
| shifts                            | count 0 … bits - 1                          | `<<`: and the exact result fits |
| clz                               | operand not 0                               | the same                        |
| any other row without a predicate | always                                      | the same                        |
| any other row with one            | never proved                                | never proved                    |
| float results without a NaN code  | never proved: the result may be NaN         | the same                        |
| Cast float to integer             | never proved                                | never proved                    |
| Cast to integer                   | always: it wraps                            | when the value fits             |
| Ramp                              | when all lanes fit                          | the same                        |
| Call                              | never proved                                | never proved                    |
"""

from refmlc.lang.arith.interval import Interval
from refmlc.lang.dtypes import DType
from refmlc.lang.ir import tir
from refmlc.lang.ops.scalar import SCALAR_OPS
from refmlc.native.analysis.values import WIDE, Values

WRAPPING = frozenset(("add", "sub", "mul", "abs"))
DIVISIONS = frozenset(("div", "truncdiv", "truncmod", "floordiv", "floormod"))
ONE = Interval(1, 1)


def is_defined(values: Values, expr: tir.Expr) -> bool:
    """Whether evaluating this node is defined, its operands being so."""
    match expr:
        case tir.Apply():
            return _apply(values, expr, exact=False)
        case tir.Cast():
            return _cast(values, expr, exact=False)
        case tir.Ramp():
            return _ramp(values, expr)
        case tir.Call():
            return False
        case _:
            return True


def fits_dtype(values: Values, expr: tir.Expr) -> bool:
    """Whether this node is defined and gives the exact number."""
    match expr:
        case tir.Apply():
            return _apply(values, expr, exact=True)
        case tir.Cast():
            return _cast(values, expr, exact=True)
        case _:
            return is_defined(values, expr)


def _apply(values: Values, expr: tir.Apply, *, exact: bool) -> bool:
    dtype = expr.dtype
    row = SCALAR_OPS.get(expr.op)
    if row is None:
        return False
    if expr.args[0].dtype.is_integer and expr.op in WRAPPING:
        return (dtype.bits < WIDE and not exact) or _is_in_dtype(values.exact(expr), dtype)
    operands = [values.range(arg) for arg in expr.args]
    match expr.op, operands:
        case op, [a, b] if op in DIVISIONS and dtype.is_integer:
            return b.without(0) and _no_quotient_overflow(dtype, a, b)
        case "ceildiv", [a, b]:
            total = a.plus(b)
            fits = _is_in_dtype(total, dtype) and _is_in_dtype(total.minus(ONE), dtype)
            return b.without(0) and fits and _no_quotient_overflow(dtype, total.minus(ONE), b)
        case "shift_left" | "shift_right", [_, b]:
            count_in_range = b.inside(0, dtype.bits - 1)
            return count_in_range and (expr.op == "shift_right" or not exact or _is_in_dtype(values.exact(expr), dtype))
        case "clz", [a]:
            return a.without(0)
        case "popcount", _:
            return not exact or dtype.bits <= dtype.maximum
        case _ if dtype.is_float:
            return dtype.format.has_nan
        case _:
            return not row.contract.undefined


def _is_in_dtype(numbers: Interval, dtype: DType) -> bool:
    return numbers.inside(dtype.minimum, dtype.maximum)


def _no_quotient_overflow(dtype: DType, a: Interval, b: Interval) -> bool:
    """The least value is certainly not divided by -1."""
    return dtype.kind == "uint" or a.without(dtype.minimum) or b.without(-1)


def _cast(values: Values, expr: tir.Cast, *, exact: bool) -> bool:
    source, target = expr.value.dtype, expr.dtype
    if target.is_integer:
        if source.kind not in ("int", "uint", "bool"):
            return False
        return not exact or _is_in_dtype(values.range(expr.value), target.scalar)
    if target.is_float:
        return source.kind in ("int", "uint", "bool") or target.element == source.element or target.format.has_nan
    return target.kind == "bool" and source.kind in ("int", "uint", "bool", "float")


def _ramp(values: Values, expr: tir.Ramp) -> bool:
    if not isinstance(expr.lanes, tir.IntImm) or not expr.dtype.is_integer:
        return False
    last = values.range(expr.stride).times(Interval(expr.lanes.value - 1, expr.lanes.value - 1))
    base = values.range(expr.base)
    return _is_in_dtype(base, expr.dtype.scalar) and _is_in_dtype(base.plus(last), expr.dtype.scalar)
