"""Random places in a function and integer expressions there, small enough to go through every point of the loops.

`pick(n)` chooses one of 0 … n - 1: drawn by Hypothesis, or by a plain random generator for long runs. `Place` holds
what `Facts` is told and, apart from it, how to enumerate every execution that reaches the place.
"""

from collections.abc import Callable
from itertools import product

from refmlc.lang.dtypes import BOOL, INT8, INT32, INT64, UINT8, UINT32, dtype
from refmlc.lang.ir import tir
from refmlc.lang.ops.contract import UndefinedValue
from refmlc.lang.ops.scalar import SCALAR_OPS, converter
from refmlc.native.analysis.facts import Facts

KINDS = (INT32, INT32, INT32, INT64, INT64, INT8, UINT8, UINT32, dtype("int4"))
RING = ("add", "add", "add", "sub", "sub", "mul", "mul")
OTHER = ("floordiv", "floormod", "floordiv", "floormod", "min", "max", "truncdiv", "truncmod", "ceildiv")
BITS = ("bitwise_and", "bitwise_or", "bitwise_xor", "shift_left", "shift_right")
COMPARISONS = ("lt", "le", "gt", "ge", "eq", "ne")
OPS = (*RING, *RING, *OTHER, *OTHER, *BITS)


class Undefined(Exception):
    """The evaluation is undefined."""


def evaluate(expr, env):
    """The value of `expr`, with variables from `env`, by the rows of the operators. Raises `Undefined`."""
    match expr:
        case tir.IntImm():
            return expr.value
        case tir.Var():
            return env[expr]
        case tir.Apply():
            args = [evaluate(arg, env) for arg in expr.args]
            kinds = tuple(arg.dtype for arg in expr.args)
            try:
                return SCALAR_OPS[expr.op].value(kinds, expr.dtype)(*args)
            except UndefinedValue as undefined:
                raise Undefined from undefined
        case tir.Cast():
            return converter(expr.value.dtype, expr.dtype)(evaluate(expr.value, env))
        case tir.And():
            return evaluate(expr.a, env) and evaluate(expr.b, env)
        case tir.Or():
            return evaluate(expr.a, env) or evaluate(expr.b, env)
        case tir.Select():
            yes, no = evaluate(expr.true_value, env), evaluate(expr.false_value, env)
            return yes if evaluate(expr.condition, env) else no
        case tir.IfThenElseExpr():
            return evaluate(expr.true_value if evaluate(expr.condition, env) else expr.false_value, env)
        case tir.Let():
            return evaluate(expr.body, {**env, expr.var: evaluate(expr.value, env)})
    raise TypeError(expr)


class Place:
    """A place inside of loops, lets and conditions."""

    def __init__(self, pick: Callable[[int], int]) -> None:
        self.pick = pick
        self.facts = Facts.empty()
        self.variables: list[tir.Var] = []
        self.steps: list[tuple] = []
        self.named: list[tir.Var] = []  # bools
        self.dims = [tir.Var(name, self.one(KINDS[:5])) for name in "nm"[: pick(3)]]
        self.variables += self.dims
        for var in self.dims:
            self.facts = self.facts.bind_range(var, 0, 1 << 20)
        for _ in range(1 + pick(3)):
            self.loop()
        for _ in range(pick(3)):
            self.one((self.let, self.condition, self.condition, self.negated, self.axis))()

    def one(self, items):
        return items[self.pick(len(items))]

    def executions(self):
        """The values of all variables, for each execution that reaches the place without being undefined before."""
        for sizes in product((3, 1, 0, 7), repeat=len(self.dims)):
            yield from self._from(0, dict(zip(self.dims, sizes, strict=True)))

    def _from(self, at, env):
        if at == len(self.steps):
            yield env
            return
        try:
            for inner in self._step(self.steps[at], env):
                yield from self._from(at + 1, inner)
        except Undefined:
            return

    def _step(self, step, env):
        match step:
            case ("loop", var, low, extent):
                first, count = evaluate(low, env), evaluate(extent, env)
                for value in range(first, first + min(count, 12)):
                    yield {**env, var: value}
            case ("let", var, value):
                yield {**env, var: evaluate(value, env)}
            case ("axis", var, low, extent, value):
                bound, first = evaluate(value, env), evaluate(low, env)
                if first <= bound < first + evaluate(extent, env):
                    yield {**env, var: bound}
            case ("if", condition, holds):
                if bool(evaluate(condition, env)) == holds:
                    yield env

    # ------------------------------------------------------------------------------------------ steps

    def loop(self):
        kind = self.one(KINDS[:5])
        low = self.affine(kind) if self.pick(4) == 0 else self.number(kind, 0)
        extent = self.one((lambda: self.number(kind, 1 + self.pick(8)), lambda: self.extent(kind)))()
        self.bind("loop", low, extent, kind)

    def bind(self, what, low, extent, kind, *value):
        var = self.fresh(kind)
        tell = self.facts.bind_axis if what == "axis" else self.facts.bind_range
        self.facts = tell(var, low, extent, *value)
        self.steps.append((what, var, low, extent, *value))
        self.known(var)

    def axis(self):
        kind = self.one(KINDS[:5])
        low = self.number(kind, 0) if self.pick(2) else self.affine(kind)
        self.bind("axis", low, self.extent(kind), kind, self.expr(kind, 2))

    def let(self):
        kind = self.one(KINDS)
        value = self.expr(kind, 2)
        var = self.fresh(kind)
        self.facts = self.facts.bind_value(var, value)
        self.steps.append(("let", var, value))
        self.known(var)

    def condition(self, holds=True):
        condition = self.compare(2)
        if self.pick(3) == 0:
            var = self.one((tir.Var("p", BOOL), self.named[-1])) if self.named else tir.Var("p", BOOL)
            if self.pick(4) == 0 and self.named:
                condition = tir.Apply("not", (self.named[-1],), BOOL)
            self.facts = self.facts.bind_value(var, condition)
            self.steps.append(("let", var, condition))
            self.named.append(var)
            condition = self.one(self.named)
        self.facts = self.facts.assume(condition) if holds else self.facts.assume_not(condition)
        self.steps.append(("if", condition, holds))

    def negated(self):
        self.condition(holds=False)

    def fresh(self, kind):
        """A variable; sometimes one that is bound already, which then means something else."""
        inner = [var for var in self.variables if var not in self.dims and var.dtype == kind]
        return self.one(inner) if inner and self.pick(12) == 0 else tir.Var("ijkxyz"[self.pick(6)], kind)

    def known(self, var):
        if var not in self.variables:
            self.variables.append(var)

    # ------------------------------------------------------------------------------------ expressions

    def number(self, kind, value):
        return tir.IntImm(kind, max(kind.minimum, min(kind.maximum, value)))

    def constant(self, kind):
        if self.pick(12) == 0:
            return tir.IntImm(kind, self.one((kind.minimum, kind.maximum, kind.maximum // 2, kind.minimum + 1)))
        return self.number(kind, self.pick(20) - 5)

    def variable(self, kind):
        if not self.variables:
            return self.constant(kind)
        var = self.variables[-1 - self.pick(len(self.variables))]
        return var if var.dtype == kind else tir.Cast(kind, var)

    def extent(self, kind):
        """Something that often is an extent: a dimension, or a little more or less."""
        base = self.variable(kind)
        return self.one((base, base, tir.Apply("add", (base, self.constant(kind)), kind), self.affine(kind)))

    def affine(self, kind):
        """The sum of numbers times variables."""
        total = self.variable(kind)
        for _ in range(self.pick(3)):
            term = tir.Apply("mul", (self.variable(kind), self.number(kind, self.pick(9))), kind)
            total = tir.Apply(self.one(RING[:5]), (total, term), kind)
        return tir.Apply("add", (total, self.constant(kind)), kind) if self.pick(3) == 0 else total

    def expr(self, kind, depth):
        if depth == 0 or self.pick(8) == 0:
            return self.one((self.variable, self.variable, self.affine, self.constant))(kind)
        match self.pick(14):
            case 0:
                inner = self.one(KINDS)
                return tir.Cast(kind, self.expr(inner, depth - 1))
            case 1:
                node = self.one((tir.Select, tir.IfThenElseExpr))
                return node(self.compare(depth - 1), self.expr(kind, depth - 1), self.expr(kind, depth - 1))
            case 2:
                inner = self.one(KINDS)
                var = tir.Var("t", inner)
                value = self.expr(inner, depth - 1)
                self.variables.append(var)
                body = self.expr(kind, depth - 1)
                self.variables.remove(var)
                return tir.Let(var, value, body)
            case 3 | 4 | 5:
                op = self.one(("floordiv", "floormod"))
                by = self.number(kind, 1 + self.pick(9))
                return tir.Apply(op, (self.expr(kind, depth - 1), by), kind)
            case 6:
                op = self.one(("abs", "likely", "bitwise_not", "popcount"))
                return tir.Apply(op, (self.expr(kind, depth - 1),), kind)
            case _:
                return tir.Apply(self.one(OPS), (self.expr(kind, depth - 1), self.expr(kind, depth - 1)), kind)

    def compare(self, depth):
        if depth > 0 and self.pick(3) == 0:
            match self.pick(4):
                case 0:
                    return tir.And(self.compare(depth - 1), self.compare(depth - 1))
                case 1:
                    return tir.Or(self.compare(depth - 1), self.compare(depth - 1))
                case 2:
                    return tir.Apply("not", (self.compare(depth - 1),), BOOL)
                case _:
                    return tir.Apply("likely", (self.compare(depth - 1),), BOOL)
        kind = self.one(KINDS)
        return tir.Apply(self.one(COMPARISONS), (self.expr(kind, max(depth - 1, 0)), self.expr(kind, 0)), BOOL)
