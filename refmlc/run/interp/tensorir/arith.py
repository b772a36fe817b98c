"""Scalar operators: the value function of the operator's row, with the commonest ones written out.

| written out                                  | when                                                             |
|----------------------------------------------|------------------------------------------------------------------|
| add, sub, mul of int8 … uint64               | the exact result lies in the dtype; else the row decides         |
| floordiv, floormod of integers               | the divisor is positive; else the row decides                    |
| add, sub, mul of float32, float64            | always: computed in binary64, rounded once                       |
| eq, ne, lt, le, gt, ge                       | always: Python's comparison of two numbers is exact              |

Everything else calls the row, of the machine's mode. A row that finds its operands undefined raises `UndefinedValue`;
here it gets its place, or, where `Machine.allow` has the code, the value that wraps.
"""

import operator
from array import array
from collections.abc import Callable, Mapping
from typing import cast

from refmlc.diag.catalogue import UNSUPPORTED_DTYPE, UNSUPPORTED_OP
from refmlc.lang.dtypes import FLOAT32, FLOAT64
from refmlc.lang.ir import tir
from refmlc.lang.ops.contract import ScalarOp, UndefinedValue
from refmlc.run.interp.tensorir import integers
from refmlc.run.interp.tensorir.frame import Eval, Frame, LanesEval, NumberEval
from refmlc.run.interp.tensorir.scope import Scope

Value = Callable[..., float]
Resolve = Callable[[Frame, UndefinedValue], float]


def apply(scope: Scope, node: tir.Apply, rows: Mapping[str, ScalarOp] | None = None) -> Eval:
    """`node` as a closure: operands from left to right, then the operator, lane by lane.

    `rows` are the operators (None: the machine's).
    """
    row = (scope.machine.scalar_ops if rows is None else rows).get(node.op)
    operands = tuple(arg.dtype for arg in node.args)
    if row is None:
        return scope.unsupported(UNSUPPORTED_OP, f"operator `{node.op}` is not supported", node.span)
    if not row.contract.accepts_operands([dtype.scalar for dtype in operands]):
        spelled = ", ".join(map(str, operands))
        return scope.unsupported(UNSUPPORTED_DTYPE, f"operator `{node.op}` is not supported on {spelled}", node.span)
    if node.op == "reinterpret" and operands[0].lanes != node.dtype.lanes:
        spelled = f"{operands[0]} as {node.dtype}"
        return scope.unsupported(
            UNSUPPORTED_OP, f"a reinterpretation of {spelled}, other lanes, is not supported", node.span
        )
    value = row.value(tuple(dtype.scalar for dtype in operands), node.dtype.scalar)
    resolve = resolver(scope, node)
    if any(dtype.is_vector for dtype in operands):
        return _lanewise(tuple(scope.lanes(arg) for arg in node.args), value, resolve)
    match node.args:
        case (a,):
            return _unary(scope.number(a), value, resolve)
        case (a, b):
            return _written_out(scope, node, a, b, value, resolve) or _binary(
                scope.number(a), scope.number(b), value, resolve
            )
        case _:
            return _any(tuple(scope.number(arg) for arg in node.args), value, resolve)


def _written_out(
    scope: Scope, node: tir.Apply, a: tir.Expr, b: tir.Expr, value: Value, resolve: Resolve
) -> NumberEval | None:
    """The operator as a closure of its own, for the operators and dtypes in the table of this module."""
    dtype = a.dtype
    if node.op in _COMPARE:
        return _COMPARE[node.op](scope.number(a), scope.number(b))
    if dtype.is_integer and node.op in integers.ON_VALUES:
        slow = _slow(value, resolve)
        left, right = scope.atom(a), scope.atom(b)
        if left is not None and right is not None:
            return integers.ON_SLOTS[node.op](left, right, dtype.minimum, dtype.maximum, slow)
        return integers.ON_VALUES[node.op](scope.int(a), scope.int(b), dtype.minimum, dtype.maximum, slow)
    if dtype == FLOAT64 and node.op in _WIDE:
        return _WIDE[node.op](scope.number(a), scope.number(b))
    if dtype == FLOAT32 and node.op in _SINGLE:
        return _SINGLE[node.op](scope.number(a), scope.number(b))
    return None


def unrounded(scope: Scope, node: tir.Expr) -> NumberEval:
    """A float32 expression whose last rounding is left to the float32 cell that the value is written into."""
    match node:
        case tir.Apply(op="add", args=(a, tir.Apply(op="mul", args=(b, c)))) if node.dtype == FLOAT32:
            return _add_product(scope.number(a), scope.number(b), scope.number(c))
        case tir.Apply(op="add" | "sub" | "mul", args=(a, b)) if node.dtype == FLOAT32:
            return _WIDE[node.op](scope.number(a), scope.number(b))
        case _:
            return scope.number(node)


# ---------------------------------------------------------------------------------------------- by arity


def resolver(scope: Scope, node: tir.Apply) -> Resolve:
    """What to do when the row finds its operands undefined: go on with the wrapped value, or fail at this place."""
    failures = scope.failing_by_code(node.span)
    allow = scope.machine.allow

    def resolve(frame: Frame, undefined: UndefinedValue) -> float:
        if undefined.wrapped is not None and undefined.code.id in allow:
            return undefined.wrapped
        raise failures(frame, undefined.code, undefined.detail) from None

    return resolve


def _slow(value: Value, resolve: Resolve) -> integers.Slow:
    def slow(frame: Frame, x: int, y: int) -> int:
        try:
            return int(value(x, y))
        except UndefinedValue as undefined:
            return int(resolve(frame, undefined))

    return slow


def _unary(a: NumberEval, value: Value, resolve: Resolve) -> NumberEval:
    def unary(frame: Frame) -> float:
        x = a(frame)
        try:
            return value(x)
        except UndefinedValue as undefined:
            return resolve(frame, undefined)

    return unary


def _binary(a: NumberEval, b: NumberEval, value: Value, resolve: Resolve) -> NumberEval:
    def binary(frame: Frame) -> float:
        x = a(frame)
        y = b(frame)
        try:
            return value(x, y)
        except UndefinedValue as undefined:
            return resolve(frame, undefined)

    return binary


def _any(args: tuple[NumberEval, ...], value: Value, resolve: Resolve) -> NumberEval:
    def any_arity(frame: Frame) -> float:
        operands = [arg(frame) for arg in args]
        try:
            return value(*operands)
        except UndefinedValue as undefined:
            return resolve(frame, undefined)

    return any_arity


def _lanewise(args: tuple[LanesEval, ...], value: Value, resolve: Resolve) -> LanesEval:
    def lanewise(frame: Frame) -> tuple[float, ...]:
        results = []
        for lane in zip(*[arg(frame) for arg in args], strict=True):
            try:
                results.append(value(*lane))
            except UndefinedValue as undefined:
                results.append(resolve(frame, undefined))
        return tuple(results)

    return lanewise


# ------------------------------------------------------------------------------------------ written out


def _add_wide(a: NumberEval, b: NumberEval) -> NumberEval:
    def add_wide(frame: Frame) -> float:
        return a(frame) + b(frame)

    return add_wide


def _sub_wide(a: NumberEval, b: NumberEval) -> NumberEval:
    def sub_wide(frame: Frame) -> float:
        return a(frame) - b(frame)

    return sub_wide


def _mul_wide(a: NumberEval, b: NumberEval) -> NumberEval:
    def mul_wide(frame: Frame) -> float:
        return a(frame) * b(frame)

    return mul_wide


def _single_cell() -> "memoryview[float]":
    """One float32 in memory: writing rounds to nearest, ties to even; the fastest exact rounding there is here."""
    return cast("memoryview[float]", memoryview(array("f", [0.0])))


def _add_single(a: NumberEval, b: NumberEval) -> NumberEval:
    cell = _single_cell()

    def add_single(frame: Frame) -> float:
        cell[0] = a(frame) + b(frame)
        return cell[0]

    return add_single


def _sub_single(a: NumberEval, b: NumberEval) -> NumberEval:
    cell = _single_cell()

    def sub_single(frame: Frame) -> float:
        cell[0] = a(frame) - b(frame)
        return cell[0]

    return sub_single


def _mul_single(a: NumberEval, b: NumberEval) -> NumberEval:
    cell = _single_cell()

    def mul_single(frame: Frame) -> float:
        cell[0] = a(frame) * b(frame)
        return cell[0]

    return mul_single


def _add_product(a: NumberEval, b: NumberEval, c: NumberEval) -> NumberEval:
    """A + b * c, the commonest expression there is: the product rounded, the sum left to the cell."""
    cell = _single_cell()

    def add_product(frame: Frame) -> float:
        addend = a(frame)
        cell[0] = b(frame) * c(frame)
        return addend + cell[0]

    return add_product


def _compare(python: Callable[[float, float], bool]) -> Callable[[NumberEval, NumberEval], NumberEval]:
    def comparison(a: NumberEval, b: NumberEval) -> NumberEval:
        def compare(frame: Frame) -> float:
            return python(a(frame), b(frame))

        return compare

    return comparison


_WIDE: Mapping[str, Callable[[NumberEval, NumberEval], NumberEval]] = {
    "add": _add_wide,
    "sub": _sub_wide,
    "mul": _mul_wide,
}
_SINGLE: Mapping[str, Callable[[NumberEval, NumberEval], NumberEval]] = {
    "add": _add_single,
    "sub": _sub_single,
    "mul": _mul_single,
}
_COMPARE: Mapping[str, Callable[[NumberEval, NumberEval], NumberEval]] = {
    "eq": _compare(operator.eq),
    "ne": _compare(operator.ne),
    "lt": _compare(operator.lt),
    "le": _compare(operator.le),
    "gt": _compare(operator.gt),
    "ge": _compare(operator.ge),
}
