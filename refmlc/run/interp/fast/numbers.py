"""The commonest scalar operators without a call of their row.

| operator                                     | computed here                                                    |
|----------------------------------------------|------------------------------------------------------------------|
| add, sub, mul of int8 … uint64               | where the exact result lies in the dtype; else the row is called |
| floordiv, floormod of integers               | where the divisor is positive; else the row is called            |
| add, sub, mul of float32, float64            | always: in binary64, rounded once                                |
| div of float32                               | where the divisor is not 0; else the row is called               |
| eq, ne, lt, le, gt, ge                       | always: Python compares two numbers exactly                      |
| any other with one or two operands           | never: the row is called, without a list of operands             |

Operands of integers are closures, or are read straight from the slots of variables and constants (`_slots`).
"""

import operator as python
from array import array
from collections.abc import Callable, Mapping
from typing import TypeAlias, cast

from refmlc.lang.dtypes import FLOAT32, FLOAT64
from refmlc.lang.ir import tir
from refmlc.lang.ops.contract import UndefinedValue
from refmlc.run.interp.tensorir.frame import Frame, IntEval, NumberEval, Slot
from refmlc.run.interp.tensorir.operators import Operator, accepted
from refmlc.run.interp.tensorir.scope import Scope

RowValue: TypeAlias = Callable[[Frame, int, int], int]
"""The result of the row on two integers."""


def apply(scope: Scope, node: tir.Apply) -> NumberEval | None:
    """The scalar operator of `node`; None where it is refused, or has more than two operands."""
    operator = accepted(scope, node)
    if operator is None:
        return None
    match node.args:
        case (a,):
            return _unary(operator, scope.number(a))
        case (a, b) if node.op in COMPARISONS:
            return _comparison(scope, COMPARISONS[node.op], a, b)
        case (a, b) if a.dtype.is_integer and node.op in ON_VALUES:
            return _on_integers(scope, node, operator)
        case (a, b) if a.dtype == FLOAT64 and node.op in ON_FLOAT64:
            return ON_FLOAT64[node.op](scope.number(a), scope.number(b))
        case (a, b) if a.dtype == FLOAT32 and node.op == "div":
            return _div_single(scope.number(a), scope.number(b), operator)
        case (a, b) if a.dtype == FLOAT32 and node.op in ON_FLOAT32:
            return ON_FLOAT32[node.op](scope.number(a), scope.number(b))
        case (a, b):
            return _binary(operator, scope.number(a), scope.number(b))
        case _:
            return None


def unrounded(scope: Scope, node: tir.Expr) -> NumberEval:
    """A float32 expression whose last rounding is left to the float32 cell that the value is written into."""
    match node:
        case tir.Apply(op="add", args=(a, tir.Apply(op="mul", args=(b, c)))) if node.dtype == FLOAT32:
            return _add_product(scope.number(a), scope.number(b), scope.number(c))
        case tir.Apply(op="add" | "sub" | "mul", args=(a, b)) if node.dtype == FLOAT32:
            return ON_FLOAT64[node.op](scope.number(a), scope.number(b))
        case _:
            return scope.number(node)


# ------------------------------------------------------------------------------------------- calls of the row


def _unary(operator: Operator, a: NumberEval) -> NumberEval:
    value, on_undefined = operator.value, operator.undefined

    def unary(frame: Frame) -> float:
        x = a(frame)
        try:
            return value(x)
        except UndefinedValue as undefined:
            return on_undefined(frame, undefined)

    return unary


def _binary(operator: Operator, a: NumberEval, b: NumberEval) -> NumberEval:
    value, on_undefined = operator.value, operator.undefined

    def binary(frame: Frame) -> float:
        x = a(frame)
        y = b(frame)
        try:
            return value(x, y)
        except UndefinedValue as undefined:
            return on_undefined(frame, undefined)

    return binary


def _on_integers(scope: Scope, node: tir.Apply, operator: Operator) -> IntEval:
    a, b = node.args
    least, greatest, by_row = a.dtype.minimum, a.dtype.maximum, _row_value(operator)
    left, right = scope.atom(a), scope.atom(b)
    if left is not None and right is not None:
        return ON_SLOTS[node.op](left, right, least, greatest, by_row)
    return ON_VALUES[node.op](scope.int(a), scope.int(b), least, greatest, by_row)


def _row_value(operator: Operator) -> RowValue:
    def by_row(frame: Frame, x: int, y: int) -> int:
        try:
            return int(operator.value(x, y))
        except UndefinedValue as undefined:
            return int(operator.undefined(frame, undefined))

    return by_row


# --------------------------------------------------------------------------- integers, operands as closures


def _add(a: IntEval, b: IntEval, least: int, greatest: int, by_row: RowValue) -> IntEval:
    def add(frame: Frame) -> int:
        x = a(frame)
        y = b(frame)
        result = x + y
        return result if least <= result <= greatest else by_row(frame, x, y)

    return add


def _sub(a: IntEval, b: IntEval, least: int, greatest: int, by_row: RowValue) -> IntEval:
    def sub(frame: Frame) -> int:
        x = a(frame)
        y = b(frame)
        result = x - y
        return result if least <= result <= greatest else by_row(frame, x, y)

    return sub


def _mul(a: IntEval, b: IntEval, least: int, greatest: int, by_row: RowValue) -> IntEval:
    def mul(frame: Frame) -> int:
        x = a(frame)
        y = b(frame)
        result = x * y
        return result if least <= result <= greatest else by_row(frame, x, y)

    return mul


def _floordiv(a: IntEval, b: IntEval, _least: int, _greatest: int, by_row: RowValue) -> IntEval:
    def floordiv(frame: Frame) -> int:
        x = a(frame)
        y = b(frame)
        return x // y if y > 0 else by_row(frame, x, y)

    return floordiv


def _floormod(a: IntEval, b: IntEval, _least: int, _greatest: int, by_row: RowValue) -> IntEval:
    def floormod(frame: Frame) -> int:
        x = a(frame)
        y = b(frame)
        return x % y if y > 0 else by_row(frame, x, y)

    return floormod


# ------------------------------------------------------------------------------ integers, operands in slots


def _add_slots(a: Slot[int], b: Slot[int], least: int, greatest: int, by_row: RowValue) -> IntEval:
    def add_slots(frame: Frame) -> int:
        result = frame[a] + frame[b]
        return result if least <= result <= greatest else by_row(frame, frame[a], frame[b])

    return add_slots


def _sub_slots(a: Slot[int], b: Slot[int], least: int, greatest: int, by_row: RowValue) -> IntEval:
    def sub_slots(frame: Frame) -> int:
        result = frame[a] - frame[b]
        return result if least <= result <= greatest else by_row(frame, frame[a], frame[b])

    return sub_slots


def _mul_slots(a: Slot[int], b: Slot[int], least: int, greatest: int, by_row: RowValue) -> IntEval:
    def mul_slots(frame: Frame) -> int:
        result = frame[a] * frame[b]
        return result if least <= result <= greatest else by_row(frame, frame[a], frame[b])

    return mul_slots


def _floordiv_slots(a: Slot[int], b: Slot[int], _least: int, _greatest: int, by_row: RowValue) -> IntEval:
    def floordiv_slots(frame: Frame) -> int:
        y = frame[b]
        return frame[a] // y if y > 0 else by_row(frame, frame[a], y)

    return floordiv_slots


def _floormod_slots(a: Slot[int], b: Slot[int], _least: int, _greatest: int, by_row: RowValue) -> IntEval:
    def floormod_slots(frame: Frame) -> int:
        y = frame[b]
        return frame[a] % y if y > 0 else by_row(frame, frame[a], y)

    return floormod_slots


# ------------------------------------------------------------------------------------------------------------- floats


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


def _div_single(a: NumberEval, b: NumberEval, operator: Operator) -> NumberEval:
    cell, value, on_undefined = _single_cell(), operator.value, operator.undefined

    def div_single(frame: Frame) -> float:
        x = a(frame)
        y = b(frame)
        if y:
            cell[0] = x / y
            return cell[0]
        try:
            return value(x, y)
        except UndefinedValue as undefined:
            return on_undefined(frame, undefined)

    return div_single


def _add_product(a: NumberEval, b: NumberEval, c: NumberEval) -> NumberEval:
    """A + b * c, the commonest expression there is: the product rounded, the sum left to the cell."""
    cell = _single_cell()

    def add_product(frame: Frame) -> float:
        addend = a(frame)
        cell[0] = b(frame) * c(frame)
        return addend + cell[0]

    return add_product


# -------------------------------------------------------------------------------------------------------- comparisons


def _comparison(scope: Scope, holds: Callable[[float, float], bool], a: tir.Expr, b: tir.Expr) -> NumberEval:
    left, right = scope.atom(a), scope.atom(b)
    if left is not None and right is not None:
        return _compare_slots(holds, left, right)
    return _compare(holds, scope.number(a), scope.number(b))


def _compare(holds: Callable[[float, float], bool], a: NumberEval, b: NumberEval) -> NumberEval:
    def compare(frame: Frame) -> float:
        return holds(a(frame), b(frame))

    return compare


def _compare_slots(holds: Callable[[float, float], bool], a: Slot[int], b: Slot[int]) -> NumberEval:
    def compare_slots(frame: Frame) -> float:
        return holds(frame[a], frame[b])

    return compare_slots


ON_VALUES: Mapping[str, Callable[[IntEval, IntEval, int, int, RowValue], IntEval]] = {
    "add": _add,
    "sub": _sub,
    "mul": _mul,
    "floordiv": _floordiv,
    "floormod": _floormod,
}
ON_SLOTS: Mapping[str, Callable[[Slot[int], Slot[int], int, int, RowValue], IntEval]] = {
    "add": _add_slots,
    "sub": _sub_slots,
    "mul": _mul_slots,
    "floordiv": _floordiv_slots,
    "floormod": _floormod_slots,
}
ON_FLOAT64: Mapping[str, Callable[[NumberEval, NumberEval], NumberEval]] = {
    "add": _add_wide,
    "sub": _sub_wide,
    "mul": _mul_wide,
}
ON_FLOAT32: Mapping[str, Callable[[NumberEval, NumberEval], NumberEval]] = {
    "add": _add_single,
    "sub": _sub_single,
    "mul": _mul_single,
}
COMPARISONS: Mapping[str, Callable[[float, float], bool]] = {
    "eq": python.eq,
    "ne": python.ne,
    "lt": python.lt,
    "le": python.le,
    "gt": python.gt,
    "ge": python.ge,
}
