"""Values that decide a condition: the inverse of simple expressions, one value at a time.

`decisive` takes a condition and gives, for each value that it reads (a parameter's element, a number, a symbolic
dimension), those at which the condition changes, and their neighbours. An expression is turned around for one
value at a time; everything else is 0, and then 1. What results is a proposal: a run shows whether it holds.

| expression                   | for the result t the operand is               |
|------------------------------|-----------------------------------------------|
| a + b, a - b                 | t - b, t + b; …                               |
| a * c                        | t / c, rounded down and up                    |
| a // c                       | t * c, t * c + c - 1                          |
| a % c                        | t, t + c                                      |
| shifts, and, min, max, abs   | the shifted value; t; t; ±t                   |
| a cast, a selection          | t; t of both sides                            |
"""

from collections.abc import Callable, Iterator, Mapping
from math import ceil, floor, isfinite

from refmlc.lang.ir import tir
from refmlc.strategies.requirements import PASSING

Value = int | float
Definitions = Mapping[tir.Var, tir.Expr]
Solutions = dict[str, list[Value]]
COMPARISONS = ("lt", "le", "gt", "ge", "eq", "ne")
DEEPEST = 24
MOST = 24  # values of one parameter


class Solver:
    """Turns conditions around. `names`: the parameters and dimensions by the variables and buffers that are read."""

    def __init__(
        self,
        names: Mapping[tir.Var | tir.Buffer, str],
        definitions: Definitions,
        root: Callable[[tir.Buffer], tir.Buffer],
    ) -> None:
        self._names, self._definitions, self._root = names, definitions, root

    def decisive(self, condition: tir.Expr) -> Solutions:
        """The values at which `condition` changes, by the parameter; each with its neighbours."""
        values: Solutions = {}
        for left, right in self._comparisons(condition, 0):
            for default in (0, 1):
                for side, other in ((left, right), (right, left)):
                    for name, value in self._inverse(side, self._plain(other, default, 0), default, 0):
                        self._add(values, name, value)
        return values

    def _add(self, values: Solutions, name: str, value: Value) -> None:
        known = values.setdefault(name, [])
        step = 1 if isinstance(value, int) or value == int(value) else abs(value) / 1024
        for near in (value, value - step, value + step):
            if near not in known and len(known) < MOST:
                known.append(near)

    def _comparisons(self, condition: tir.Expr, depth: int) -> Iterator[tuple[tir.Expr, tir.Expr]]:
        """The comparisons in a condition; a bare value is compared with 0."""
        if depth > DEEPEST:
            return
        match condition:
            case tir.And(a, b) | tir.Or(a, b):
                yield from self._comparisons(a, depth + 1)
                yield from self._comparisons(b, depth + 1)
            case tir.Apply(op=op, args=(a, b)) if op in COMPARISONS:
                yield a, b
            case tir.Var() if condition in self._definitions:
                yield from self._comparisons(self._definitions[condition], depth + 1)
            case tir.Apply(args=args):
                for arg in args:
                    yield from self._comparisons(arg, depth + 1)
            case tir.Cast(value=value):
                yield from self._comparisons(value, depth + 1)
            case tir.BufferLoad() | tir.Var():
                yield condition, tir.IntImm(condition.dtype, 0)
            case _:
                return

    def _inverse(self, expr: tir.Expr, target: Value, default: int, depth: int) -> Iterator[tuple[str, Value]]:
        """Pairs of a parameter and the value of it for which `expr` is `target`, everything else at its default."""
        if depth > DEEPEST or not isfinite(target) or abs(target) > 1 << 70:
            return
        deeper = depth + 1
        match expr:
            case tir.BufferLoad(buffer=buffer) if self._root(buffer) in self._names:
                yield self._names[self._root(buffer)], target
            case tir.Var() if expr in self._names:
                yield self._names[expr], target
            case tir.Var() if expr in self._definitions:
                yield from self._inverse(self._definitions[expr], target, default, deeper)
            case tir.Cast(value=value):
                yield from self._inverse(value, target, default, deeper)
            case tir.Select(_, yes, no) | tir.IfThenElseExpr(_, yes, no):
                yield from self._inverse(yes, target, default, deeper)
                yield from self._inverse(no, target, default, deeper)
            case tir.Apply(op="abs", args=(value,)):
                yield from self._inverse(value, target, default, deeper)
                yield from self._inverse(value, -target, default, deeper)
            case tir.Apply(op="neg", args=(value,)):
                yield from self._inverse(value, -target, default, deeper)
            case tir.Apply(op="sqrt", args=(value,)):
                yield from self._inverse(value, target * target, default, deeper)
            case tir.Apply(op=op, args=(value,)) if op in PASSING or op in ("floor", "ceil", "round", "trunc"):
                yield from self._inverse(value, target, default, deeper)
            case tir.Apply(op=op, args=(a, b)):
                first, second = self._plain(a, default, deeper), self._plain(b, default, deeper)
                for operand in _left(op, second, target):
                    yield from self._inverse(a, operand, default, deeper)
                for operand in _right(op, first, target):
                    yield from self._inverse(b, operand, default, deeper)

    def _plain(self, expr: tir.Expr, default: int, depth: int) -> Value:
        """The value of `expr` where all that it reads is `default`; 0 where this cannot be said."""
        match expr:
            case tir.IntImm(value=value) | tir.FloatImm(value=value):
                return value
            case tir.Var() if expr in self._definitions and depth < DEEPEST:
                return self._plain(self._definitions[expr], default, depth + 1)
            case tir.Cast(value=value) if depth < DEEPEST:
                return self._plain(value, default, depth + 1)
            case tir.Apply(op=op, args=(a, b)) if depth < DEEPEST:
                return _applied(op, self._plain(a, default, depth + 1), self._plain(b, default, depth + 1))
            case tir.BufferLoad() | tir.Var():
                return default
            case _:
                return 0


def _applied(op: str, a: Value, b: Value) -> Value:
    match op:
        case "add":
            return a + b
        case "sub":
            return a - b
        case "mul":
            return a * b
        case "max":
            return max(a, b)
        case "min":
            return min(a, b)
        case "floordiv" | "truncdiv" | "div" if b:
            return a // b if isinstance(a, int) and isinstance(b, int) else a / b
        case "floormod" | "truncmod" if b:
            return a % b
        case _:
            return 0


def _left(op: str, b: Value, target: Value) -> Iterator[Value]:
    """The values of a for which `a op b` is `target`."""
    match op:
        case "add":
            yield target - b
        case "sub":
            yield target + b
        case "mul" if b:
            yield from {floor(target / b), ceil(target / b)} if _whole(target, b) else {target / b}
        case "floordiv" | "truncdiv" | "div" if b:
            yield target * b
            if _whole(target, b):
                yield target * b + abs(int(b)) - 1
        case "ceildiv" if b:
            yield target * b
            yield (target - 1) * b + 1
        case "floormod" | "truncmod" if b:
            yield target
            yield target + b
        case "shift_left" if _whole(b) and 0 <= b < 64:
            yield int(target) >> int(b)
        case "shift_right" if _whole(b) and 0 <= b < 64:
            yield int(target) << int(b)
        case "bitwise_and" | "bitwise_or" | "max" | "min":
            yield target
        case "bitwise_xor" if _whole(target, b):
            yield int(target) ^ int(b)


def _right(op: str, a: Value, target: Value) -> Iterator[Value]:
    """The values of b for which `a op b` is `target`."""
    match op:
        case "sub":
            yield a - target
        case "add" | "mul" | "bitwise_and" | "bitwise_or" | "bitwise_xor" | "max" | "min":
            yield from _left(op, a, target)


def _whole(*values: Value) -> bool:
    return all(isinstance(value, int) for value in values)
