"""A side of a rule as an expression of z3, with what must hold for it to be defined.

| numbers         | of                               | an operator                                               |
|-----------------|----------------------------------|-----------------------------------------------------------|
| `ExactIntegers` | int32 … uint64, without overflow | is exact; that it fits in the dtype is in `fits`          |
| `Bits`          | integers that wrap               | is one of bit-vectors                                     |
| `Floats`        | float16, float32, float64        | is one of IEEE 754, rounded to nearest                    |
| `AnyFloats`     | the same                         | is any function: what holds for all holds for IEEE 754's  |

z3's `/` and `%` are Euclidean and total at 0. Here a quotient is a number of its own, which the dividend, the divisor
and the sign of the remainder define, and that the divisor is not 0 is in `divisors`. z3's `max` of floats is not
ours (NUM-106), so it is written as a choice.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Protocol, TypeAlias

import z3

from refmlc.lang.dtypes import DType
from refmlc.lang.ir import tir
from refmlc.lang.ir.visit import walk
from refmlc.prove.rules.table import CONSTANT
from refmlc.prove.terms import Undecided

Number: TypeAlias = "z3.ExprRef"
Truth: TypeAlias = "z3.BoolRef"
Operation: TypeAlias = Callable[["z3.ExprRef", "z3.ExprRef"], "z3.ExprRef"]
FEW = 4  # rests are listed
QUOTIENTS = ("floordiv", "floormod", "truncdiv", "truncmod")


@dataclass
class Conditions:
    """What encoding a side brings: the `facts` that define quotients, `divisors` that are not 0, results that fit."""

    facts: list[object] = field(default_factory=list)
    divisors: list[object] = field(default_factory=list)
    fits: list[object] = field(default_factory=list)

    @property
    def defined(self) -> Truth:
        """All of them."""
        return z3.And(*self.divisors, *self.fits)


class NumberEncoding(Protocol):
    """How numbers of a dtype are encoded."""

    def literal(self, value: float, dtype: DType) -> Number:
        """A known number."""

    def variable(self, name: str, dtype: DType) -> Number:
        """An unknown number."""

    def apply(self, op: str, operands: tuple[Number, ...], dtype: DType, conditions: Conditions) -> Number:
        """The value of an operator; what it needs and defines goes to `conditions`. Raises `Undecided`."""

    def compare(self, op: str, a: Number, b: Number) -> Truth:
        """The value of a comparison."""

    def wrapped(self, value: Number, dtype: DType) -> Number:
        """The number of the dtype that is congruent to a value."""


class Encoder:
    """Encodes sides over the same variables. `folds`: what is over constants alone wraps, and need not fit."""

    def __init__(self, numbers: NumberEncoding, *, folds: bool = False) -> None:
        self._numbers = numbers
        self._folds = folds
        self.variables: dict[str, Number] = {}
        self.conditions = Conditions()
        self._guards: list[object] = []

    def fresh(self) -> Conditions:
        """Begin to collect the conditions of another side."""
        self.conditions = Conditions()
        return self.conditions

    def number(self, node: tir.Expr) -> Number:
        """The value of an expression. Raises `Undecided` for one that has no encoding."""
        match node:
            case tir.IntImm(dtype, value) if dtype.kind == "bool":
                return z3.BoolVal(bool(value))
            case tir.IntImm(dtype, value) | tir.FloatImm(dtype, value):
                return self._numbers.literal(value, dtype)
            case tir.Var(name, dtype):
                if name not in self.variables:
                    is_truth = dtype.kind == "bool"
                    self.variables[name] = z3.Bool(name) if is_truth else self._numbers.variable(name, dtype)
                return self.variables[name]
            case tir.And(a, b):
                first = self.number(a)
                return z3.And(first, self._under(first, b))
            case tir.Or(a, b):
                first = self.number(a)
                return z3.Or(first, self._under(z3.Not(first), b))
            case tir.Select(condition, yes, no):
                return z3.If(self.number(condition), self.number(yes), self.number(no))
            case tir.IfThenElseExpr(condition, yes, no):
                holds = self.number(condition)
                return z3.If(holds, self._under(holds, yes), self._under(z3.Not(holds), no))
            case tir.Apply(op, args):
                return self._apply(op, args, node)
            case _:
                raise Undecided(f"a {type(node).__name__} is not encoded", node.span)

    def _apply(self, op: str, args: tuple[tir.Expr, ...], node: tir.Apply) -> Number:
        if op == "not":
            return z3.Not(self.number(args[0]))
        if op == "likely":
            return self.number(args[0])
        is_truth = args[0].dtype.kind == "bool"
        operands = tuple(map(self.number, args))
        if op in COMPARISONS:
            return OF_TRUTHS[op](*operands) if is_truth else self._numbers.compare(op, *operands)
        if is_truth:
            return OF_TRUTHS[op](*operands)
        is_folded = self._folds and all(CONSTANT.fullmatch(n.name) for n in walk(node) if isinstance(n, tir.Var))
        collected = Conditions()
        value = self._numbers.apply(op, operands, node.dtype, collected)
        self.conditions.facts += collected.facts
        self.conditions.divisors += map(self._guarded, collected.divisors)
        if is_folded:
            return self._numbers.wrapped(value, node.dtype)
        self.conditions.fits += map(self._guarded, collected.fits)
        return value

    def _under(self, condition: object, node: tir.Expr) -> Number:
        """An operand that is evaluated only if a condition holds."""
        self._guards.append(condition)
        value = self.number(node)
        self._guards.pop()
        return value

    def _guarded(self, condition: object) -> object:
        return z3.Implies(z3.And(*self._guards), condition) if self._guards else condition


@dataclass(frozen=True)
class Division:
    """`a` is `b * quotient + rest`."""

    a: Number
    b: Number
    quotient: Number
    rest: Number


@dataclass
class ExactIntegers:
    """Exact integers. `divisions`: those encoded so far, so that the same operands have the same quotient."""

    divisions: dict[tuple[str, int, int], Division] = field(default_factory=dict)

    def literal(self, value: float, dtype: DType) -> Number:
        """A known number."""
        del dtype
        return z3.IntVal(value)

    def variable(self, name: str, dtype: DType) -> Number:
        """An unknown number."""
        del dtype
        return z3.Int(name)

    def apply(self, op: str, operands: tuple[Number, ...], dtype: DType, conditions: Conditions) -> Number:
        """The value of an operator."""
        a, b = operands
        if op in QUOTIENTS:
            conditions.divisors.append(b != 0)
            if dtype.kind == "int":
                conditions.fits.append(z3.Not(z3.And(a == dtype.minimum, b == -1)))
            division = self._division(op.removesuffix("div").removesuffix("mod"), a, b, conditions)
            return division.quotient if op.endswith("div") else division.rest
        if op not in EXACT:
            raise Undecided(f"`{op}` of exact integers is not encoded")
        value = EXACT[op](a, b)
        if op in RANGED:
            conditions.fits.append(z3.And(value >= dtype.minimum, value <= dtype.maximum))
        return value

    def compare(self, op: str, a: Number, b: Number) -> Truth:
        """The value of a comparison."""
        return COMPARISONS[op](a, b)

    def wrapped(self, value: Number, dtype: DType) -> Number:
        """The value in its dtype."""
        modulus = 1 << dtype.bits
        fits = z3.And(value >= dtype.minimum, value <= dtype.maximum)
        return z3.If(fits, value, (value - dtype.minimum) % modulus + dtype.minimum)

    def _division(self, rounding: str, a: Number, b: Number, conditions: Conditions) -> "Division":
        """The quotient and the rest of `a` by `b`, numbers of their own that facts define where b is not 0."""
        key = (rounding, a.get_id(), b.get_id())
        if key in self.divisions:
            return self.divisions[key]
        number = len(self.divisions)
        quotient, rest = z3.Int(f"{rounding}.quotient.{number}"), z3.Int(f"{rounding}.rest.{number}")
        above, below = z3.And(rest >= 0, rest < b), z3.And(b < rest, rest <= 0)
        if rounding == "trunc":
            size = z3.If(b > 0, b, -b)
            above, below = z3.And(a >= 0, rest >= 0, rest < size), z3.And(a < 0, -size < rest, rest <= 0)
            facts = [z3.Implies(b != 0, z3.Or(above, below))]
        else:
            facts = [z3.Implies(b > 0, above), z3.Implies(b < 0, below)]
        if z3.is_int_value(b) and 0 < b.as_long() <= FEW and rounding == "floor":
            facts = [z3.Or(*(rest == value for value in range(b.as_long())))]
        conditions.facts += [*facts, z3.Implies(b != 0, a == b * quotient + rest)]
        self.divisions[key] = Division(a, b, quotient, rest)
        return self.divisions[key]


@dataclass(frozen=True)
class Bits:
    """Bit-vectors of a width. `exact`: conditions, in so many bits that nothing of them overflows."""

    bits: int
    is_signed: bool
    exact: bool = False

    def literal(self, value: float, dtype: DType) -> Number:
        """A known number."""
        del dtype
        return z3.BitVecVal(int(value), self._width)

    def variable(self, name: str, dtype: DType) -> Number:
        """An unknown number."""
        del dtype
        number = z3.BitVec(name, self.bits)
        if not self.exact:
            return number
        return (z3.SignExt if self.is_signed else z3.ZeroExt)(self._width - self.bits, number)

    @property
    def _width(self) -> int:
        return 2 * self.bits + 4 if self.exact else self.bits

    @property
    def _signed(self) -> bool:
        return self.is_signed or self.exact

    def apply(self, op: str, operands: tuple[Number, ...], dtype: DType, conditions: Conditions) -> Number:
        """The value of an operator."""
        del dtype
        a, b = operands
        if op in ("max", "min"):
            return z3.If(self.compare("gt" if op == "max" else "lt", a, b), a, b)
        if op in RING_OF_BITS:
            return RING_OF_BITS[op](a, b)
        if op not in QUOTIENTS:
            raise Undecided(f"`{op}` of bits is not encoded")
        conditions.divisors.append(b != 0)
        if not self._signed:
            return z3.UDiv(a, b) if op.endswith("div") else z3.URem(a, b)
        least = z3.BitVecVal(-1 << (self._width - 1), self._width)
        conditions.fits.append(z3.Not(z3.And(a == least, b == -1)))
        quotient, rest = a / b, z3.SRem(a, b)
        is_lower = z3.And(op.startswith("floor"), rest != 0, (rest < 0) != (b < 0))
        if op.endswith("div"):
            return z3.If(is_lower, quotient - 1, quotient)
        return z3.If(is_lower, rest + b, rest)

    def compare(self, op: str, a: Number, b: Number) -> Truth:
        """The value of a comparison."""
        return (COMPARISONS if self._signed else OF_UNSIGNED)[op](a, b)

    def wrapped(self, value: Number, dtype: DType) -> Number:
        """The value in its dtype."""
        del dtype
        return value


FORMATS: Mapping[str, Callable[[], "z3.FPSortRef"]] = {
    "float16": z3.Float16,
    "float32": z3.Float32,
    "float64": z3.Float64,
}


@dataclass(frozen=True)
class Floats:
    """Floats of IEEE 754."""

    dtype: DType

    def literal(self, value: float, dtype: DType) -> Number:
        """A known number."""
        del dtype
        return z3.FPVal(float(value), FORMATS[str(self.dtype)]())

    def variable(self, name: str, dtype: DType) -> Number:
        """An unknown number."""
        del dtype
        return z3.FP(name, FORMATS[str(self.dtype)]())

    def apply(self, op: str, operands: tuple[Number, ...], dtype: DType, conditions: Conditions) -> Number:
        """The value of an operator."""
        del dtype, conditions
        a, b = operands
        if op in ("max", "min"):
            return z3.If(self.compare("gt" if op == "max" else "lt", a, b), a, b)
        if op not in OF_FLOATS:
            raise Undecided(f"`{op}` of floats is not encoded")
        return OF_FLOATS[op](z3.RNE(), a, b)

    def compare(self, op: str, a: Number, b: Number) -> Truth:
        """The value of a comparison."""
        return FLOAT_COMPARISONS[op](a, b)

    def wrapped(self, value: Number, dtype: DType) -> Number:
        """The value in its dtype."""
        del dtype
        return value


@dataclass(frozen=True)
class AnyFloats(Floats):
    """Floats whose operators are any functions: what is equal for all functions is equal for those of IEEE 754."""

    def apply(self, op: str, operands: tuple[Number, ...], dtype: DType, conditions: Conditions) -> Number:
        """The value of an operator."""
        if op in ("max", "min"):
            return super().apply(op, operands, dtype, conditions)
        sort = FORMATS[str(self.dtype)]()
        return z3.Function(f"any.{op}", *(sort,) * (len(operands) + 1))(*operands)


COMPARISONS: Mapping[str, Operation] = {
    "eq": lambda a, b: a == b,
    "ne": lambda a, b: a != b,
    "lt": lambda a, b: a < b,
    "le": lambda a, b: a <= b,
    "gt": lambda a, b: a > b,
    "ge": lambda a, b: a >= b,
}
OF_UNSIGNED: Mapping[str, Operation] = {
    **COMPARISONS,
    "lt": z3.ULT,
    "le": z3.ULE,
    "gt": z3.UGT,
    "ge": z3.UGE,
}
FLOAT_COMPARISONS: Mapping[str, Operation] = {
    "eq": z3.fpEQ,
    "ne": z3.fpNEQ,
    "lt": z3.fpLT,
    "le": z3.fpLEQ,
    "gt": z3.fpGT,
    "ge": z3.fpGEQ,
}
OF_TRUTHS: Mapping[str, Operation] = {
    "eq": lambda a, b: a == b,
    "ne": lambda a, b: a != b,
    "bitwise_and": z3.And,
    "bitwise_or": z3.Or,
    "lt": lambda a, b: z3.And(z3.Not(a), b),
    "le": lambda a, b: z3.Or(z3.Not(a), b),
    "gt": lambda a, b: z3.And(a, z3.Not(b)),
    "ge": lambda a, b: z3.Or(a, z3.Not(b)),
}
RANGED: Mapping[str, Operation] = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
}
EXACT: Mapping[str, Operation] = {
    **RANGED,
    "max": lambda a, b: z3.If(a > b, a, b),
    "min": lambda a, b: z3.If(a < b, a, b),
}
RING_OF_BITS: Mapping[str, Operation] = {**RANGED, "bitwise_and": lambda a, b: a & b}
OF_FLOATS: Mapping[str, Callable[["z3.FPRMRef", "z3.FPRef", "z3.FPRef"], "z3.FPRef"]] = {
    "add": z3.fpAdd,
    "sub": z3.fpSub,
    "mul": z3.fpMul,
    "div": z3.fpDiv,
}
