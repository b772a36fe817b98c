"""Scalar operators: the value function of the operator's row, with the commonest ones written out.

| written out                                  | when                                                             |
|----------------------------------------------|------------------------------------------------------------------|
| add, sub, mul of int8 … uint64               | the exact result lies in the dtype; else the row decides         |
| floordiv, floormod of integers               | the divisor is positive; else the row decides                    |
| add, sub, mul of float32, float64            | always: computed in binary64, rounded once                       |
| eq, ne, lt, le, gt, ge                       | always: Python's comparison of two numbers is exact              |

Everything else calls the row. A row that finds its operands undefined raises `UndefinedValue`; here it gets its
place, or, where `Machine.allow` has the code, the value that wraps.
"""

import operator
from array import array
from collections.abc import Callable, Mapping
from typing import cast

from refmlc.diag.catalogue import BAD_POINTER, UNSUPPORTED_DTYPE, UNSUPPORTED_OP
from refmlc.dtypes import FLOAT32, FLOAT64, DType
from refmlc.interp.tensorir.frame import Eval, Frame, LanesEval, NumberEval
from refmlc.interp.tensorir.scope import Scope
from refmlc.ir import tir
from refmlc.ops.contract import UndefinedValue
from refmlc.ops.scalar import SCALAR_OPS

Value = Callable[..., float]


def apply(scope: Scope, node: tir.Apply) -> Eval:
    """`node` as a closure: operands from left to right, then the operator, lane by lane."""
    row = SCALAR_OPS.get(node.op)
    operands = tuple(arg.dtype for arg in node.args)
    if row is None:
        return scope.unsupported(UNSUPPORTED_OP, f"operator `{node.op}` is not supported", node.span)
    if node.op == "reinterpret" and (operands[0].kind == "handle" or node.dtype.kind == "handle"):
        return _as_handle(scope, node)
    if not operands or not row.contract.accepts_dtype(operands[0].scalar):
        spelled = ", ".join(map(str, operands))
        return scope.unsupported(UNSUPPORTED_DTYPE, f"operator `{node.op}` is not supported on {spelled}", node.span)
    value = located(scope, node, row.value(tuple(dtype.scalar for dtype in operands), node.dtype.scalar))
    if any(dtype.is_vector for dtype in operands):
        return _lanewise(scope, node, value)
    match node.args:
        case (a,):
            return _unary(scope.number(a), value)
        case (a, b):
            return _binary(node.op, operands[0], scope.number(a), scope.number(b), value)
        case _:
            return _any(tuple(scope.number(arg) for arg in node.args), value)


def _as_handle(scope: Scope, node: tir.Apply) -> Eval:
    """Handles keep what they point to whatever they are called; the only number that is a handle is 0, null."""
    value = scope.expr(node.args[0])
    failure = scope.failing(BAD_POINTER, node.span)

    def reinterpret(frame: Frame) -> object:
        found = value(frame)
        if isinstance(found, int | float):
            if found == 0 and node.dtype.kind == "handle":
                return None
            raise failure(frame, f"the number {found} is no handle")
        if node.dtype.kind != "handle":
            raise failure(frame, "an address has no number here")
        return found

    return reinterpret


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

Slow = Callable[[Frame, tuple[float, ...]], float]


def located(scope: Scope, node: tir.Apply, value: Value) -> Slow:
    """The row's value function on given operands; its `UndefinedValue` becomes the failure of this place."""
    failures = scope.failing_by_code(node.span)
    allow = scope.machine.allow

    def value_at(frame: Frame, operands: tuple[float, ...]) -> float:
        try:
            return value(*operands)
        except UndefinedValue as undefined:
            if undefined.wrapped is not None and undefined.code.id in allow:
                return undefined.wrapped
            raise failures(frame, undefined.code, undefined.detail) from None

    return value_at


def _unary(a: NumberEval, value: Slow) -> NumberEval:
    def unary(frame: Frame) -> float:
        return value(frame, (a(frame),))

    return unary


def _any(args: tuple[NumberEval, ...], value: Slow) -> NumberEval:
    def any_arity(frame: Frame) -> float:
        return value(frame, tuple([arg(frame) for arg in args]))

    return any_arity


def _lanewise(scope: Scope, node: tir.Apply, value: Slow) -> LanesEval:
    args = tuple(scope.lanes(arg) for arg in node.args)

    def lanewise(frame: Frame) -> tuple[float, ...]:
        vectors = [arg(frame) for arg in args]
        return tuple([value(frame, lane) for lane in zip(*vectors, strict=True)])

    return lanewise


# ------------------------------------------------------------------------------------------ written out


def _binary(op: str, operands: DType, a: NumberEval, b: NumberEval, slow: Slow) -> NumberEval:
    if op in _COMPARE:
        return _COMPARE[op](a, b)
    if operands.is_integer and op in _INTEGER:
        least, greatest = operands.minimum, operands.maximum
        return _INTEGER[op](a, b, least, greatest, slow)
    if operands == FLOAT64 and op in _WIDE:
        return _WIDE[op](a, b)
    if operands == FLOAT32 and op in _SINGLE:
        return _SINGLE[op](a, b)

    def binary(frame: Frame) -> float:
        return slow(frame, (a(frame), b(frame)))

    return binary


def _add(a: NumberEval, b: NumberEval, least: int, greatest: int, slow: Slow) -> NumberEval:
    def add(frame: Frame) -> float:
        x = a(frame)
        y = b(frame)
        result = x + y
        return result if least <= result <= greatest else slow(frame, (x, y))

    return add


def _sub(a: NumberEval, b: NumberEval, least: int, greatest: int, slow: Slow) -> NumberEval:
    def sub(frame: Frame) -> float:
        x = a(frame)
        y = b(frame)
        result = x - y
        return result if least <= result <= greatest else slow(frame, (x, y))

    return sub


def _mul(a: NumberEval, b: NumberEval, least: int, greatest: int, slow: Slow) -> NumberEval:
    def mul(frame: Frame) -> float:
        x = a(frame)
        y = b(frame)
        result = x * y
        return result if least <= result <= greatest else slow(frame, (x, y))

    return mul


def _floordiv(a: NumberEval, b: NumberEval, _least: int, _greatest: int, slow: Slow) -> NumberEval:
    def floordiv(frame: Frame) -> float:
        x = a(frame)
        y = b(frame)
        return x // y if y > 0 else slow(frame, (x, y))

    return floordiv


def _floormod(a: NumberEval, b: NumberEval, _least: int, _greatest: int, slow: Slow) -> NumberEval:
    def floormod(frame: Frame) -> float:
        x = a(frame)
        y = b(frame)
        return x % y if y > 0 else slow(frame, (x, y))

    return floormod


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


_INTEGER: Mapping[str, Callable[[NumberEval, NumberEval, int, int, Slow], NumberEval]] = {
    "add": _add,
    "sub": _sub,
    "mul": _mul,
    "floordiv": _floordiv,
    "floormod": _floormod,
}
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
