"""Integer expressions of a program as expressions of z3: exact integers, with the program's own divisions.

z3's `/` and `%` on integers are Euclidean and total. Here they are floor and truncation as the program has them, and
that the divisor is not 0 is an obligation. Results of 32 and 64 bits are exact, and that they fit is an obligation;
narrower ones wrap. What is loaded from memory is an unknown number of its dtype, and so is every operation that is not
listed; that such an operation is defined is an obligation that nothing shows.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

import z3

from refmlc.diag.source import Span
from refmlc.lang.dtypes import DType
from refmlc.lang.ir import tir
from refmlc.lang.ops.scalar import SCALAR_OPS
from refmlc.prove.terms import WIDE, Undecided
from refmlc.prove.values import may_be_undefined

Number: TypeAlias = "z3.ArithRef"
Truth: TypeAlias = "z3.BoolRef"
Oblige: TypeAlias = Callable[[str, "z3.BoolRef | None", str, Span | None], None]
"""Takes the kind of an obligation, what must hold (None: nothing shows it), a text, and its place."""


@dataclass
class Variables:
    """The values of variables, the conditions that hold here, and the unknown numbers that memory holds.

    `made`: every constant, in order. `functions`: what tensors hold that are only read, as functions of the place.
    `prefix`: begins the names of constants, so that two programs have none in common.
    """

    values: dict[tir.Var, object] = field(default_factory=dict)
    conditions: list[object] = field(default_factory=list)
    unknown: list[object] = field(default_factory=list)
    made: list[object] = field(default_factory=list)
    functions: dict[str, object] = field(default_factory=dict)
    prefix: str = ""

    def fresh(self, name: str, dtype: DType, *, data: bool = False) -> Number:
        """A new number of a dtype. `data`: it comes from memory, so the caller decides it."""
        number = z3.Int(f"{self.prefix}{name}#{len(self.made) + 1}")
        self.made.append(number)
        if dtype.is_integer:
            self.conditions.append(z3.And(number >= dtype.minimum, number <= dtype.maximum))
        if data:
            self.unknown.append(number)
        return number

    def fresh_truth(self, name: str) -> Truth:
        """A new condition that memory decides."""
        truth = z3.Bool(f"{self.prefix}{name}#{len(self.made) + 1}")
        self.made.append(truth)
        self.unknown.append(truth)
        return truth

    def function(self, name: str, rank: int) -> "z3.FuncDeclRef":
        """The function from places to the numbers that a tensor holds."""
        if name not in self.functions:
            self.functions[name] = z3.Function(f"{self.prefix}{name}[]", *([z3.IntSort()] * (rank + 1)))
        return self.functions[name]


def names_of(expression: "z3.ExprRef") -> Iterator[str]:
    """The names of the constants and functions in an expression."""
    stack, visited = [expression], set()
    while stack:
        part = stack.pop()
        if part.get_id() in visited:
            continue
        visited.add(part.get_id())
        if z3.is_app(part) and part.decl().kind() == z3.Z3_OP_UNINTERPRETED:
            yield str(part.decl())
        stack.extend(part.children())


def floordiv(a: Number, b: Number) -> Number:
    """The quotient rounded down; z3's own where the divisor is positive."""
    if z3.is_int_value(b) and b.as_long() > 0:
        return a / b
    return z3.If(b > 0, a / b, (-a) / (-b))


def floormod(a: Number, b: Number) -> Number:
    """The rest of the quotient rounded down; z3's own where the divisor is positive."""
    if z3.is_int_value(b) and b.as_long() > 0:
        return a % b
    return a - b * floordiv(a, b)


def truncdiv(a: Number, b: Number) -> Number:
    """The quotient rounded towards zero."""
    size = z3.If(a >= 0, a, -a) / z3.If(b >= 0, b, -b)
    return z3.If((a >= 0) == (b >= 0), size, -size)


class Integers:
    """Encodes expressions under the conditions of `variables`, and reports their obligations to `oblige`."""

    def __init__(self, variables: Variables, oblige: Oblige) -> None:
        self._variables = variables
        self._oblige = oblige

    def number(self, node: tir.Expr) -> Number:
        """The value of a scalar expression of an integer dtype."""
        match node:
            case tir.IntImm():
                return z3.IntVal(node.value)
            case tir.Var():
                return self._variable(node)
            case tir.Apply() if node.dtype.is_integer:
                return self._apply(node)
            case tir.Cast(value=value) if value.dtype.is_integer and _holds_all(node.dtype, value.dtype):
                return self.number(value)
            case tir.Cast(value=value) if value.dtype.is_integer:
                return self._fit(self.number(value), node.dtype, wraps=True)
            case tir.Cast(value=value) if value.dtype.kind == "bool":
                return z3.If(self.truth(value), z3.IntVal(1), z3.IntVal(0))
            case tir.Select(condition, yes, no):
                return z3.If(self.truth(condition), self.number(yes), self.number(no))
            case tir.IfThenElseExpr(condition, yes, no):
                holds = self.truth(condition)
                return z3.If(holds, self.under(holds, yes), self.under(z3.Not(holds), no))
            case tir.Let(var, value, body):
                self._variables.values[var] = self.value(value)
                return self.number(body)
            case _:
                return self._unknown(node)

    def truth(self, node: tir.Expr) -> Truth:
        """The value of a condition."""
        match node:
            case tir.IntImm():
                return z3.BoolVal(bool(node.value))
            case tir.And(a, b):
                first = self.truth(a)
                return z3.And(first, self.under(first, b))
            case tir.Or(a, b):
                first = self.truth(a)
                return z3.Or(first, self.under(z3.Not(first), b))
            case tir.Apply(op="not", args=(a,)):
                return z3.Not(self.truth(a))
            case tir.Apply(op="likely", args=(a,)):
                return self.truth(a)
            case tir.Apply(op=op, args=(a, b)) if op in COMPARISONS and a.dtype.is_integer:
                return COMPARISONS[op](self.number(a), self.number(b))
            case tir.Var() if isinstance(self._variables.values.get(node), z3.BoolRef):
                return self._variables.values[node]
            case _:
                self.visit(node)
                return self._variables.fresh_truth("condition")

    def value(self, node: tir.Expr) -> object:
        """The value of any scalar: a number, a condition, or None for a float, whose parts are visited."""
        if node.dtype.is_vector:
            self.visit(node)
            return None
        if node.dtype.kind == "bool":
            return self.truth(node)
        if node.dtype.is_integer:
            return self.number(node)
        self.visit(node)
        return None

    def under(self, condition: Truth, node: tir.Expr) -> object:
        """The value of an operand that is evaluated only if a condition holds."""
        before = len(self._variables.conditions)
        self._variables.conditions.append(condition)
        value = self.value(node)
        facts = self._variables.conditions[before + 1 :]
        del self._variables.conditions[before:]
        self._variables.conditions += facts  # ranges of fresh numbers hold anywhere
        return value

    def visit(self, node: tir.Expr) -> None:
        """Visit the operands of an expression whose own value is not needed. A hook for accesses to memory."""
        match node:
            case tir.IfThenElseExpr(condition, yes, no):
                holds = self.truth(condition)
                self.under(holds, yes)
                self.under(z3.Not(holds), no)
            case tir.Select(condition, yes, no):
                for part in (condition, yes, no):
                    self.value(part)
            case tir.Let(var, value, body):
                self._variables.values[var] = self.value(value)
                self.value(body)
            case tir.Apply(args=args):
                for part in args:
                    self.value(part)
                self._partial(node)
            case tir.Cast(value=value):
                self.value(value)
                if (value.dtype.is_float and node.dtype.is_integer) or _lacks_nan(node.dtype):
                    shown = z3.BoolVal(True) if self.converts(node) else None
                    self._oblige("defined", shown, f"the value of {value.dtype} has one of {node.dtype}", node.span)
            case tir.Call(args=arguments):
                for argument in arguments:
                    if isinstance(argument, tir.Expr):
                        self.value(argument)
            case tir.Var() | tir.IntImm() | tir.FloatImm() | tir.StringImm():
                pass
            case tir.And() | tir.Or():
                self.truth(node)
            case _:
                raise Undecided(f"a {type(node).__name__} is not known for all sizes", node.span)

    def converts(self, _node: tir.Cast) -> bool:
        """Whether the value of a float is known to have one in the dtype. A hook for ranges."""
        return False

    # -------------------------------------------------------------------------------------------- parts

    def _variable(self, node: tir.Var) -> Number:
        value = self._variables.values.get(node)
        if not isinstance(value, z3.ArithRef):
            value = self._variables.values[node] = self._variables.fresh(node.name, node.dtype)
        return value

    def _unknown(self, node: tir.Expr) -> Number:
        self.visit(node)
        return self.computed(node)

    def computed(self, node: tir.Expr) -> Number:
        """A number that is not a function of sizes and variables. A hook for what is known of it."""
        return self._variables.fresh("value", node.dtype, data=True)

    def _apply(self, node: tir.Apply) -> Number:
        op, args = node.op, node.args
        if op == "likely":
            return self.number(args[0])
        if op in DIVISIONS and len(args) == 2:
            a, b = self.number(args[0]), self.number(args[1])
            self._oblige("division", b != 0, "the divisor is not 0", node.span)
            if node.dtype.kind == "int":
                least = z3.And(a == node.dtype.minimum, b == -1)
                self._oblige("overflow", z3.Not(least), f"the quotient fits in {node.dtype}", node.span)
            return self._fit(DIVISIONS[op](a, b), node.dtype, span=node.span)
        if op in EXACT and len(args) == 2:
            return self._fit(EXACT[op](self.number(args[0]), self.number(args[1])), node.dtype, span=node.span)
        if op == "abs":
            a = self.number(args[0])
            return self._fit(z3.If(a >= 0, a, -a), node.dtype, span=node.span)
        if op in ("shift_left", "shift_right") and len(args) == 2:
            return self._shifted(node)
        for arg in args:
            self.value(arg)
        self._partial(node)
        return self._variables.fresh(op, node.dtype, data=True)

    def _shifted(self, node: tir.Apply) -> Number:
        """A shift: by a literal count it is exact, and narrow or unsigned results wrap."""
        a, b = (self.number(arg) for arg in node.args)
        in_range = z3.And(b >= 0, b < node.args[0].dtype.bits)
        self._oblige("defined", in_range, "the count of a shift is within the width", node.span)
        count = z3.simplify(b)
        if z3.is_int_value(count) and 0 <= count.as_long() < node.dtype.bits:
            power = z3.IntVal(1 << count.as_long())
            if node.op == "shift_right":
                return a / power
            return self._fit(a * power, node.dtype, wraps=True)
        return self._variables.fresh(node.op, node.dtype, data=True)

    def _partial(self, node: tir.Apply) -> None:
        """An obligation that nothing shows, for an operator that may be undefined for some operands."""
        row = SCALAR_OPS.get(node.op)
        operands = tuple(arg.dtype.scalar for arg in node.args)
        if row is None or may_be_undefined(row.contract, operands, node.dtype.scalar):
            self._oblige("defined", None, f"`{node.op}` is defined for its operands", node.span)

    def _fit(self, value: Number, dtype: DType, *, wraps: bool = False, span: Span | None = None) -> Number:
        """The value in its dtype: narrow ones wrap, wide ones must fit."""
        fits = z3.And(value >= dtype.minimum, value <= dtype.maximum)
        if dtype.bits >= WIDE and not wraps:
            self._oblige("overflow", fits, f"the result fits in {dtype}", span)
            return value
        modulus = 1 << dtype.bits
        return z3.If(fits, value, (value - dtype.minimum) % modulus + dtype.minimum)


def _holds_all(target: DType, source: DType) -> bool:
    """Whether a dtype of integers has every number of another one."""
    return target.is_integer and target.minimum <= source.minimum and source.maximum <= target.maximum


def _lacks_nan(dtype: DType) -> bool:
    return dtype.is_float and not dtype.format.has_nan


COMPARISONS: Mapping[str, Callable[[Number, Number], Truth]] = {
    "eq": lambda a, b: a == b,
    "ne": lambda a, b: a != b,
    "lt": lambda a, b: a < b,
    "le": lambda a, b: a <= b,
    "gt": lambda a, b: a > b,
    "ge": lambda a, b: a >= b,
}
DIVISIONS: Mapping[str, Callable[[Number, Number], Number]] = {
    "floordiv": floordiv,
    "floormod": floormod,
    "truncdiv": truncdiv,
    "div": truncdiv,
    "truncmod": lambda a, b: a - b * truncdiv(a, b),
}
EXACT: Mapping[str, Callable[[Number, Number], Number]] = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "max": lambda a, b: z3.If(a >= b, a, b),
    "min": lambda a, b: z3.If(a <= b, a, b),
}
