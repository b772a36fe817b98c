"""Expressions of generated programs, of every dtype, with the range that integers lie in.

The range tells where arithmetic could be undefined. There the generator puts a guard (a clamped divisor, a masked
shift, a smaller operand), unless the program aims at that very code: then most guards are left out.

| code  | guard                                                                          |
|-------|--------------------------------------------------------------------------------|
| RM306 | operands of wide integers are reduced modulo a small number                    |
| RM307 | a divisor that may be 0 is `max(b, 1)`                                         |
| RM308 | a shift count is masked                                                        |
| RM309 | a float is converted to an integer where it is in range, else a constant stands |
| RM311 | `clz(max(a, 1))`; what may be NaN is not computed in float6 and float4         |
"""

from dataclasses import dataclass
from functools import lru_cache

from refmlc.dtypes import BOOL, INT32, INT64, SCALARS, DType
from refmlc.dtypes.rounding import rounder
from refmlc.ir import tir
from refmlc.ops.scalar import SCALAR_OPS

KINDS = tuple(row for row in SCALARS.values() if row.kind not in ("handle", "void"))
INTEGERS = tuple(row for row in KINDS if row.is_integer)
FLOATS = tuple(row for row in KINDS if row.is_float)
PLAIN = (SCALARS["float32"], SCALARS["int32"], SCALARS["int64"], SCALARS["int8"], SCALARS["float64"])
COMPARISONS = ("lt", "le", "gt", "ge", "eq", "ne")
DIVISIONS = ("floordiv", "floormod", "truncdiv", "truncmod", "div", "ceildiv")
SHIFTS = ("shift_left", "shift_right")
# What gives no NaN from operands that are none.
NEVER_NAN = (
    *("add", "sub", "mul", "max", "min", "abs", "ceil", "floor", "trunc", "round", "nearbyint", "copysign"),
    *("exp", "exp2", "tanh", "sigmoid", "erf", "sin", "cos", "atan", "likely"),
)
CONSTANTS = (1.0, 0.0, 2.0, -1.0, 0.5, -0.0, 3.5, -2.25, 1e-3, 100.0, 1e30, -1e-40, float("inf"), float("nan"))
WIDE = 32
WANTED = {"RM306": ("add", "sub", "mul", "abs"), "RM307": DIVISIONS, "RM308": SHIFTS}


@dataclass(frozen=True)
class Sized:
    """An expression; of an integer (bool: 0 or 1) the range of its values."""

    expr: tir.Expr
    low: int = 0
    high: int = 0

    @property
    def dtype(self):
        return self.expr.dtype


@dataclass
class Held:
    """A buffer of the program: its extents in this call, the range of its values, whether all of it is written."""

    buffer: tir.Buffer
    shape: tuple[int, ...]
    low: int = 0
    high: int = 0
    ready: bool = True


@lru_cache(maxsize=64)
def operators(kind: DType) -> tuple[str, ...]:
    """The operators of one or two operands of `kind` whose result is of that dtype."""
    rows = (row.contract for row in SCALAR_OPS.values())
    names = [row.name for row in rows if row.arity <= 2 and row.result == "same" and row.rest is None]
    names = [name for name in names if SCALAR_OPS[name].contract.accepts_dtype(kind)]
    if kind.is_float and not kind.format.has_nan:
        names = [name for name in names if name in NEVER_NAN]
    return tuple(names)


def limits(kind):
    """The least and the greatest value; of floats nothing is known."""
    if kind.kind == "bool":
        return 0, 1
    return (kind.minimum, kind.maximum) if kind.is_integer else (0, 0)


def fits(kind, low, high):
    least, most = limits(kind)
    return least <= low and high <= most


def number(kind, value):
    """The constant `value`, as it is in `kind`."""
    if kind.is_float:
        return tir.FloatImm(kind, rounder(kind)(float(value)))
    return tir.IntImm(kind, int(value))


def sized(kind, expr, low, high):
    """`expr` with its range; what wraps may be anything."""
    return Sized(expr, low, high) if fits(kind, low, high) else Sized(expr, *limits(kind))


def integer_range(op, kind, a, b):
    """The exact results of an operator on ranges, as wide as is easily said; None: the result wraps by its meaning."""
    most = max(abs(a.low), abs(a.high))
    match op:
        case "add":
            return a.low + b.low, a.high + b.high
        case "sub":
            return a.low - b.high, a.high - b.low
        case "mul":
            corners = [x * y for x in (a.low, a.high) for y in (b.low, b.high)]
            return min(corners), max(corners)
        case "max":
            return max(a.low, b.low), max(a.high, b.high)
        case "min":
            return min(a.low, b.low), min(a.high, b.high)
        case "abs":
            return 0, most
        case "div" | "truncdiv" | "floordiv" | "truncmod":
            return (0 if a.low >= 0 and b.low >= 0 else -most), most
        case "floormod":
            return (0, b.high - 1) if b.low > 0 else (min(b.low, 0), max(b.high, 0))
        case "ceildiv":
            return a.low + min(b.low, 0) - 1, a.high + b.high
        case "likely":
            return a.low, a.high
        case "shift_right":
            return min(a.low, 0), max(a.high, 0)
        case "popcount":
            return 0, kind.bits
        case _:
            return None


class Values:
    """Makes expressions from what is in scope: `numbers` are variables, `held` buffers that may be read."""

    def __init__(self, choices, aim="") -> None:
        self.choices = choices
        self.aim = aim  # the code of what the program does wrong; empty: nothing
        self.word = INT32
        self.numbers: list[Sized] = []
        self.held: list[Held] = []
        self.palette: tuple[DType, ...] = PLAIN

    def spoil(self, code, percent=85):
        """Whether to leave out a guard against `code` here."""
        return self.aim == code and self.choices.chance(percent)

    def indices(self, held):
        """Indices of an element of a buffer."""
        raise NotImplementedError

    # ------------------------------------------------------------------------------------------- leaves

    def constant(self, kind):
        if kind.is_float:
            value = rounder(kind)(self.choices.pick(CONSTANTS))
            if value != value and not kind.format.has_nan:  # noqa: PLR0124 - the test for NaN
                value = 1.0
            return Sized(tir.FloatImm(kind, value))
        least, most = limits(kind)
        near = (1, 0, 2, 3, 7, -1, -2, 100)
        value = self.choices.pick(near) if self.choices.chance(90) else self.choices.pick((most, least))
        value = min(max(value, least), most)
        return Sized(tir.IntImm(kind, value), value, value)

    def leaf(self, kind, _depth=0):
        forms = [self.constant]
        if any(one.dtype == kind for one in self.numbers):
            forms += [self.variable] * 2
        if any(one.buffer.dtype == kind for one in self.held):
            forms += [self.load] * 9
        elif self.held:
            forms += [self.converted_load] * 7
        if self.numbers:
            forms += [self.converted_variable]
        return self.choices.pick(forms)(kind)

    def variable(self, kind):
        return self.choices.pick([one for one in self.numbers if one.dtype == kind])

    def converted_variable(self, kind):
        return self.converted(self.choices.pick(self.numbers), kind)

    def load(self, kind):
        return self.element(self.choices.pick([one for one in self.held if one.buffer.dtype == kind]))

    def converted_load(self, kind):
        return self.converted(self.element(self.choices.pick(self.held)), kind)

    def element(self, held):
        return Sized(tir.BufferLoad(held.buffer, self.indices(held)), held.low, held.high)

    # ----------------------------------------------------------------------------------- inner expressions

    def value(self, kind, depth):
        """An expression of the scalar dtype `kind`."""
        if depth <= 0:
            return self.leaf(kind)
        forms = [self.leaf] * 4 + [self.select, self.choice, self.let, self.cast, self.cast]
        forms += [self.operation] * 20 * (self.aim in WANTED and kind.is_integer)
        forms += [self.cast] * 20 * (self.aim == "RM309" and kind.is_integer)
        forms += [self.special] * 20 * (self.aim in ("RM311", "RM306") and kind == INT32)
        if kind.kind == "bool":
            forms += [self.condition] * 6 + [self.operation] * 2
        else:
            forms += [self.operation] * 14 + [self.special] * 3
        return self.choices.pick(forms)(kind, depth - 1)

    def cast(self, kind, depth):
        if self.aim == "RM309" and self.choices.chance(60):
            return self.converted(self.value(self.choices.pick(FLOATS), depth), kind)
        other = self.choices.pick(self.palette) if self.choices.chance(80) else self.choices.pick(KINDS)
        return self.converted(self.value(other, depth), kind)

    def select(self, kind, depth):
        return self._chosen(tir.Select, kind, depth)

    def choice(self, kind, depth):
        return self._chosen(tir.IfThenElseExpr, kind, depth)

    def _chosen(self, node, kind, depth):
        a, b = self.value(kind, depth), self.value(kind, depth)
        expr = node(self.condition(BOOL, depth).expr, a.expr, b.expr)
        return Sized(expr, min(a.low, b.low), max(a.high, b.high))

    def let(self, kind, depth):
        value = self.value(self.choices.pick((kind, kind, *self.palette)), depth)
        var = tir.Var("x", value.dtype)
        self.numbers.append(Sized(var, value.low, value.high))
        body = self.value(kind, depth)
        self.numbers.pop()
        return Sized(tir.Let(var, value.expr, body.expr), body.low, body.high)

    def condition(self, _kind, depth):
        """A bool: mostly a comparison."""
        if depth > 0 and self.choices.chance(25):
            node = self.choices.pick((tir.And, tir.Or))
            return Sized(node(self.condition(BOOL, depth - 1).expr, self.condition(BOOL, depth - 1).expr), 0, 1)
        if self.choices.chance(15):
            return Sized(tir.Apply("not", (self.condition(BOOL, depth - 1).expr,), BOOL), 0, 1)
        if self.choices.chance(15):
            kind = self.choices.pick([one for one in self.palette if one.is_float] or FLOATS)
            name = self.choices.pick(("isnan", "isinf", "isfinite"))
            return Sized(tir.Apply(name, (self.value(kind, depth - 1).expr,), BOOL), 0, 1)
        kind = self.choices.pick((self.word, *self.palette))
        pair = (self.value(kind, depth - 1).expr, self.value(kind, depth - 1).expr)
        return Sized(tir.Apply(self.choices.pick(COMPARISONS), pair, BOOL), 0, 1)

    def operation(self, kind, depth):
        """A scalar operator of one or two operands."""
        op = self.choices.pick(operators(kind))
        if self.aim in WANTED and self.choices.chance(60):
            op = self.choices.pick([one for one in operators(kind) if one in WANTED[self.aim]] or [op])
        operands = [self.value(kind, depth) for _ in range(SCALAR_OPS[op].contract.arity)]
        if not kind.is_integer:
            return Sized(tir.Apply(op, tuple(one.expr for one in operands), kind), *limits(kind))
        return self.integer(op, kind, *operands)

    def integer(self, op, kind, a, b=None):
        """An operator on integers, its operands guarded where it could be undefined."""
        if op in DIVISIONS and not self.spoil("RM307"):
            if b.low <= 0 <= b.high and kind.maximum < 1:
                return a
            b = self.divisor(kind, a, b)
        if op in SHIFTS and not (b.low >= 0 and b.high < kind.bits) and not self.spoil("RM308"):
            b = Sized(tir.Apply("bitwise_and", (b.expr, number(kind, kind.bits - 1)), kind), 0, kind.bits - 1)
        a, b = self._reduced(op, kind, a, b or a) if kind.bits >= WIDE else (a, b or a)
        args = (a.expr, b.expr)[: SCALAR_OPS[op].contract.arity]
        found = integer_range(op, kind, a, b)
        return sized(kind, tir.Apply(op, args, kind), *(found or limits(kind)))

    def divisor(self, kind, a, b):
        """`b`, or what is certainly no 0, and no -1 where that overflows."""
        if b.low > 0 or (b.high < 0 and (b.high < -1 or a.low > kind.minimum)):
            return b
        if kind.kind == "int" and kind.minimum <= -3 and self.choices.chance(25):
            return Sized(number(kind, -3), -3, -3)
        return Sized(tir.Apply("max", (b.expr, number(kind, 1)), kind), 1, max(b.high, 1))

    def _reduced(self, op, kind, a, b):
        """The operands, made small where the result could overflow."""
        for modulus in (97, 5):
            found = integer_range(op, kind, a, b)
            if op == "ceildiv":
                found = a.low + b.low - 1, a.high + b.high
            if found is None or fits(kind, *found) or self.spoil("RM306"):
                return a, b
            a, b = self.small(a, modulus), Sized(number(kind, 3), 3, 3) if op == "ceildiv" else self.small(b, modulus)
        bigger = Sized(tir.Apply("max", (a.expr, b.expr), kind), max(a.low, b.low), max(a.high, b.high))
        return (bigger, b) if op == "sub" and kind.kind == "uint" else (a, b)

    def small(self, a, modulus=97):
        """`a`, or its remainder where it may be large."""
        if -modulus < a.low and a.high < modulus:
            return a
        return Sized(tir.Apply("floormod", (a.expr, number(a.dtype, modulus)), a.dtype), 0, modulus - 1)

    # ------------------------------------------------------------------------------------------ conversions

    def converted(self, a, kind):
        """`a` in the dtype `kind`."""
        source = a.dtype
        if source == kind:
            return a
        if source.is_float and kind.is_integer and not self.spoil("RM309"):
            return self._in_range(a, kind)
        expr = tir.Cast(kind, a.expr)
        if kind.is_float and not kind.format.has_nan and source.is_float and source.format.has_nan:
            if not self.spoil("RM311"):
                expr = tir.IfThenElseExpr(tir.Apply("isnan", (a.expr,), BOOL), number(kind, 1), expr)
            return Sized(expr)
        if source.is_float or kind.is_float or kind.kind == "bool":
            return Sized(expr, *limits(kind))
        return sized(kind, expr, a.low, a.high)

    def _in_range(self, a, kind):
        """A float as an integer where it has one, else 0."""
        source, rounded = a.dtype, rounder(a.dtype)
        var = tir.Var("f", source)
        bare = a.expr if isinstance(a.expr, tir.Var | tir.FloatImm) else var
        ends = [one for one in (100, 64, 16, 4, 1) if one <= kind.maximum and rounded(one) == one]
        most = max(ends, default=0)
        least = -max([one for one in ends if -one >= kind.minimum and rounded(-one) == -one], default=0)
        within = tir.Apply("le", (bare, number(source, most)), BOOL)
        if rounded(least) == least:
            within = tir.And(tir.Apply("ge", (bare, number(source, least)), BOOL), within)
        else:
            least = 0
        expr = tir.IfThenElseExpr(within, tir.Cast(kind, bare), number(kind, 0))
        return Sized(expr if bare is a.expr else tir.Let(var, a.expr, expr), least, most)

    # ------------------------------------------------------------------------------------ special operators

    def special(self, kind, depth):
        """Operators that are not of the common kind: other operands, other results, fused ones."""
        forms = [self.reinterpreted, self.hinted]
        if kind.is_float and kind.format.has_nan:
            forms += [self.ldexp, self.fma]
        if kind == INT32:
            forms += [self.clz, self.fixed_point, self.fixed_point_per_axis]
        return self.choices.pick(forms)(kind, depth)

    def reinterpreted(self, kind, depth):
        alike = [one for one in KINDS if one.bits == kind.bits and one != kind and "bool" not in (one.kind, kind.kind)]
        if not alike:
            return self.leaf(kind)
        expr = tir.Apply("reinterpret", (self.value(self.choices.pick(alike), depth).expr,), kind)
        return Sized(expr, *limits(kind))

    def hinted(self, kind, depth):
        a = self.value(kind, depth)
        name = self.choices.pick(("tvm_thread_invariant", "ignore_loop_partition"))
        return Sized(tir.Call(name, (a.expr,), kind), a.low, a.high)

    def ldexp(self, kind, depth):
        power = self.value(self.choices.pick((INT32, INT64, SCALARS["int8"])), depth)
        return Sized(tir.Apply("ldexp", (self.value(kind, depth).expr, power.expr), kind))

    def fma(self, kind, depth):
        return Sized(tir.Call("fma", tuple(self.value(kind, depth).expr for _ in range(3)), kind))

    def clz(self, kind, depth):
        source = self.choices.pick([SCALARS[name] for name in ("int32", "int64", "uint32", "uint64")])
        a = self.value(source, depth)
        if a.low <= 0 <= a.high and not self.spoil("RM311"):
            a = Sized(tir.Apply("max", (a.expr, number(source, 1)), source), 1, max(a.high, 1))
        return Sized(tir.Apply("clz", (a.expr,), kind), 0, source.bits - 1)

    def fixed_point(self, kind, depth):
        shift = self.choices.pick((0, -1, -5, 1))
        x = self.value(kind, depth)
        if shift > 0 and not self.spoil("RM306"):
            x = self.small(x)
        y = self.choices.pick(((1 << 30), (1 << 31) - 1, 1395864371))
        digits = self.choices.pick((0, 64, -1)) if self.spoil("RM311") else 31
        args = (x.expr, number(kind, y), number(kind, digits), number(kind, shift))
        most = max(abs(x.low), abs(x.high)) * (2 if shift > 0 else 1)
        return sized(kind, tir.Apply("q_multiply_shift", args, kind), -most, most)

    def fixed_point_per_axis(self, kind, depth):
        x, y = self.value(kind, depth), self.choices.pick((1 << 30, (1 << 31) - 1))
        x = x if self.spoil("RM306") else self.small(x)
        left, right = self.choices.pick((0, 1, 3)), self.choices.pick((0, 1, 7))
        if self.spoil("RM311"):
            right = self.choices.pick((-1, 40, 64))
        flags = tuple(tir.IntImm(BOOL, self.choices.below(2)) for _ in range(2))
        args = (x.expr, number(kind, y), number(kind, left), number(kind, right), number(kind, 31), *flags)
        return sized(kind, tir.Apply("q_multiply_shift_per_axis", args, kind), -97 * 8, 97 * 8)
