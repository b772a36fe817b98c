"""Ranges and canonical forms of integer expressions, under what is known at a place.

A range is that of the exact value, in executions in which nothing evaluated on the way was undefined: 32 and 64 bits
do not overflow there, divisors are not 0, loads are in bounds. Results of narrower integers wrap, which is defined:

| node                        | range                                                             |
|-----------------------------|-------------------------------------------------------------------|
| `+ - *`, abs, 32 or 64 bits | the exact range, cut to the dtype (a result outside is undefined) |
| … of fewer bits             | the exact range where it fits in the dtype, else the dtype's      |
| `<<`                        | the same; it wraps at every width                                 |
| Cast between integers       | of the value where it fits, else of the dtype                     |
| loads, calls                | of the dtype                                                      |
| Select, if_then_else        | of both arms, each where the condition says so                    |

A canonical form is given to expressions of variables and constants only: two that are equal are the same number
wherever the variables are bound to the same values. What loads, calls or chooses has none.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace

from refmlc.lang.arith.interval import ANY, Interval
from refmlc.lang.arith.polynomial import Atom, Opaque, Poly, constant, single, variables
from refmlc.lang.ir import tir
from refmlc.lang.ir.visit import walk
from refmlc.native.analysis.knowledge import Bounds, Knowledge, Range, mentions, of_dtype

WIDE = 32  # from this width on, overflow is undefined
Assume = Callable[[Knowledge, tir.Expr, bool], Knowledge]

EXACT: dict[str, Callable[[Interval, Interval], Interval]] = {
    "add": Interval.plus,
    "sub": Interval.minus,
    "mul": Interval.times,
    "min": Interval.smaller,
    "max": Interval.greater,
    "floordiv": Interval.floordiv,
    "floormod": Interval.floormod,
    "truncdiv": Interval.truncdiv,
    "div": Interval.truncdiv,
    "truncmod": Interval.truncmod,
}
RINGS: dict[str, Callable[[Poly, Poly], Poly]] = {
    "add": Poly.__add__,
    "sub": Poly.__sub__,
    "mul": Poly.__mul__,
}
BOOLS = Interval(0, 1)


class Values:
    """Ranges and canonical forms from one `Knowledge`; each node is looked at once."""

    def __init__(self, knowledge: Knowledge, assume: Assume) -> None:
        """`assume` gives the knowledge where a condition holds, or does not."""
        self.known = knowledge
        self.bounds = Bounds(knowledge)
        self._assume = assume
        self._ranges: dict[tir.Expr, Interval] = {}
        self._forms: dict[tir.Expr, Poly | None] = {}

    # ---------------------------------------------------------------------------------------- ranges

    def range(self, expr: tir.Expr) -> Interval:
        """The range of `expr`."""
        if expr not in self._ranges:
            form = self.form(expr)
            exact = ANY if form is None else self.bounds.interval(form)
            self._ranges[expr] = self._by_kind(expr).meet(exact)
        return self._ranges[expr]

    def exact(self, expr: tir.Apply) -> Interval:
        """The range of the exact result of an operator, before it is put into the dtype."""
        operands = [self.range(arg) for arg in expr.args]
        match expr.op, operands:
            case op, [a, b] if op in EXACT:
                interval = EXACT[op](a, b)
                forms = [self.form(arg) for arg in expr.args]
                if op in RINGS and forms[0] is not None and forms[1] is not None:
                    interval = interval.meet(self.bounds.interval(RINGS[op](forms[0], forms[1])))
                return interval
            case "abs", [a]:
                return a.greater(a.negate()).meet(Interval(0, None))
            case "shift_left", [a, b] if b.low is not None and b.high is not None and 0 <= b.low <= b.high <= 64:
                return a.times(Interval(1 << b.low, 1 << b.high))
            case _:
                return ANY

    def _by_kind(self, expr: tir.Expr) -> Interval:
        match expr:
            case tir.IntImm():
                return Interval(int(expr.value), int(expr.value))
            case tir.Var():
                return ANY if expr in self.known.values else self.bounds.of_atom(expr)
            case tir.Apply():
                return self._of_apply(expr)
            case tir.Cast():
                return self._of_cast(expr)
            case tir.Select(condition, true_value, false_value) | tir.IfThenElseExpr(
                condition, true_value, false_value
            ):
                holds = Values(self._assume(self.known, condition, True), self._assume).range(true_value)
                return holds.join(Values(self._assume(self.known, condition, False), self._assume).range(false_value))
            case tir.Let():
                return self._in_let(expr).range(expr.body)
            case tir.BufferLoad() if expr in self.known.loads:
                return self.known.loads[expr]
            case tir.Broadcast():
                return self.range(expr.value)
            case _:
                return of_dtype(expr)

    def _of_apply(self, expr: tir.Apply) -> Interval:
        dtype, limits = expr.dtype, of_dtype(expr)
        if not dtype.is_integer:
            return limits
        match expr.op:
            case "add" | "sub" | "mul" | "abs" | "shift_left":
                exact = self.exact(expr)
                if exact.inside(dtype.minimum, dtype.maximum):
                    return exact
                wraps = dtype.bits < WIDE or expr.op == "shift_left"
                return limits if wraps else exact.meet(limits)
            case op if op in EXACT:
                return self.exact(expr)
            case "likely":
                return self.range(expr.args[0])
            case _:
                return _of_bits(expr, [self.range(arg) for arg in expr.args], limits)

    def _of_cast(self, expr: tir.Cast) -> Interval:
        dtype, limits = expr.dtype, of_dtype(expr)
        source = expr.value.dtype
        if not dtype.is_integer or source.kind not in ("int", "uint", "bool"):
            return limits
        value = self.range(expr.value)
        return value if value.inside(dtype.minimum, dtype.maximum) or widens(expr) else limits

    def _in_let(self, expr: tir.Let) -> "Values":
        return Values(bind(self, expr.var, expr.value), self._assume)

    # ------------------------------------------------------------------------------- canonical forms

    def form(self, expr: tir.Expr) -> Poly | None:
        """The canonical form of `expr`; None: it has none."""
        if expr not in self._forms:
            scalar = expr.dtype.is_integer and not expr.dtype.is_vector
            self._forms[expr] = self._form(expr) if scalar else None
        return self._forms[expr]

    def _form(self, expr: tir.Expr) -> Poly | None:
        match expr:
            case tir.IntImm():
                return constant(expr.value)
            case tir.Var():
                bound_form = self.known.values.get(expr)
                return single(expr) if bound_form is None else bound_form
            case tir.Apply("likely", (value,)):
                return self.form(value)
            case tir.Apply(_, (a, b)):
                first, second = self.form(a), self.form(b)
                if first is None or second is None:
                    return None
                result = self.applied(expr.op, first, second)
                return result if result is not None and self._keeps(expr, result) else None
            case tir.Cast():
                source = self.form(expr.value)
                return source if source is not None and (widens(expr) or self._fits(expr, source)) else None
            case tir.Let():
                return self._in_let(expr).form(expr.body)
            case _:
                return None

    def _keeps(self, expr: tir.Apply, exact: Poly) -> bool:
        """Whether the value is the exact one, wherever it is defined."""
        if expr.op in RINGS and expr.dtype.bits >= WIDE:
            return True
        return (expr.op not in RINGS and expr.op != "shift_left") or self._fits(expr, exact)

    def _fits(self, expr: tir.Expr, value: Poly) -> bool:
        return self.bounds.interval(value).inside(expr.dtype.minimum, expr.dtype.maximum)

    def applied(self, op: str, a: Poly, b: Poly) -> Poly | None:
        """The exact result of an operator on canonical forms; None: it has no such form."""
        number = b.only
        match op:
            case "add" | "sub" | "mul":
                return RINGS[op](a, b)
            case "min" | "max":
                return self._minimum_or_maximum(op, a, b)
            case "shift_left" if number is not None and 0 <= number < 64:
                return a.scaled(1 << number)
            case "shift_right" if number is not None and 0 <= number < 64:
                return self.quotient(a, 1 << number)
            case "floordiv" | "floormod" if number is not None and number > 0:
                quotient = self.quotient(a, number)
                return quotient if op == "floordiv" else a - quotient.scaled(number)
            case "truncdiv" | "div" | "truncmod" if number is not None and number > 0 and self.bounds.not_negative(a):
                return self.applied("floormod" if op == "truncmod" else "floordiv", a, b)
            case "floordiv" | "floormod" if number is None:
                return single(Opaque(op, (a, b)))
            case _:
                return None

    def quotient(self, a: Poly, divisor: int) -> Poly:
        """`a // divisor` for a positive divisor: what it divides exactly comes out, as does what is then known."""
        number = a.only
        if number is not None:
            return constant(number // divisor)
        exact = Poly({key: value // divisor for key, value in a.terms.items() if key and value % divisor == 0})
        carried, constant_rest = divmod(a.constant, divisor)
        indivisible = Poly({key: value for key, value in a.terms.items() if value % divisor and key}).plus(
            constant_rest
        )
        integral = exact.plus(carried)
        rest_quotient = self.bounds.interval(indivisible).floordiv(Interval(divisor, divisor)).only
        if rest_quotient is not None:
            return integral.plus(rest_quotient)
        match indivisible.atom:
            case Opaque("floordiv", (inner, by)) if by.only is not None:
                return integral + single(Opaque("floordiv", (inner, by.scaled(divisor))))
            case _:
                return integral + single(Opaque("floordiv", (indivisible, constant(divisor))))

    def replaced(self, form: Poly, table: Mapping[tir.Var, Poly]) -> Poly | None:
        """`form` with each variable of `table` replaced."""
        total = constant(0)
        for key, factor in form.terms.items():
            term: Poly | None = constant(factor)
            for atom in key:
                atom_form = self._replaced(atom, table)
                term = None if term is None or atom_form is None else term * atom_form
            if term is None:
                return None
            total += term
        return total

    def _replaced(self, atom: Atom, table: Mapping[tir.Var, Poly]) -> Poly | None:
        if isinstance(atom, tir.Var):
            return table.get(atom, single(atom))
        first, second = (self.replaced(arg, table) for arg in atom.args)
        return None if first is None or second is None else self.applied(atom.op, first, second)

    def _minimum_or_maximum(self, op: str, a: Poly, b: Poly) -> Poly:
        """The minimum or maximum of two, one of them where it is known which."""
        if self.bounds.not_negative(a - b):
            return b if op == "min" else a
        if self.bounds.not_negative(b - a):
            return a if op == "min" else b
        return single(Opaque(op, (a, b)))


def widens(expr: tir.Cast) -> bool:
    """Whether every value of the source dtype is one of the target's."""
    source, target = expr.value.dtype, expr.dtype
    if not (source.is_integer and target.is_integer):
        return False
    return target.minimum <= source.minimum and source.maximum <= target.maximum


def bind(values: Values, var: tir.Var, value: tir.Expr) -> Knowledge:
    """The knowledge where `var` is `value`; what was known of `var` before is forgotten."""
    form = values.form(value) if var.dtype.is_integer else None
    if var.dtype.kind == "bool":
        names = [node for node in walk(value) if isinstance(node, tir.Var)]
        knowledge = values.known.declare(var, names)
        return knowledge if var in names else replace(knowledge, tests={**knowledge.tests, var: value})
    if form is not None and not mentions(form, var):
        return values.known.declare(var, variables(form)).equal(var, form)
    return values.known.declare(var).between(var, Range(numbers=values.range(value)))


def _of_bits(expr: tir.Apply, operands: list[Interval], limits: Interval) -> Interval:
    """The range of an operator on bits, or of any other that gives an integer."""
    match expr.op, operands:
        case "bitwise_and", [a, b] if (a.low is not None and a.low >= 0) or (b.low is not None and b.low >= 0):
            highs = [side.high for side in (a, b) if side.low is not None and side.low >= 0 and side.high is not None]
            return Interval(0, min(highs)) if highs else limits
        case "shift_right", [a, b]:
            least = 1 << min(b.low, 64) if b.low is not None and b.low > 0 else 1
            return a.floordiv(Interval(least, 1 << 64))
        case "ceildiv", [a, b] if expr.dtype.bits >= WIDE:
            return a.plus(b).minus(Interval(1, 1)).floordiv(b)
        case _:
            return limits
