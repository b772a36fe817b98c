"""A rule decided at a dtype.

| verdict                    | wherever the left side is defined and the condition holds                              |
|----------------------------|----------------------------------------------------------------------------------------|
| `proved`                   | the right side is defined and equal                                                    |
| `proved without overflow`  | the same if no operation of the right side overflows, constants included; the example  |
|                            | is a point where one does: the right side is undefined or, folded, another number      |
| `proved with precondition` | the same if the `needs` of the row hold; refuted without                               |
| `refuted`                  | it is not: the example is a point where both are defined and differ                    |
| `undecided`                | the solver came to its limit                                                           |

ExactIntegers of 8 and 16 bits wrap, wider ones are exact and undefined on overflow (NUM-101). In the `wrapping` reading
they wrap at every width: what TVM's sources say of unsigned ones.

Every example is executed by the interpreter before it is said. A rule proved in exact integers of any size is proved
for each width. Decision: nothing that was proved at a small width only is proved: it is undecided.
"""

import enum
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import TypeAlias

import z3

from refmlc.diag import RefmlcError
from refmlc.lang.dtypes import DType, dtype as dtype_of
from refmlc.lang.ir import tir
from refmlc.lang.ir.visit import walk
from refmlc.prove.rules.encode import AnyFloats, Bits, Conditions, Encoder, ExactIntegers, Floats, NumberEncoding
from refmlc.prove.rules.instance import LANE, RING, Lanes, Point, RuleInstance, same
from refmlc.prove.rules.lemmas import multiples, products
from refmlc.prove.rules.points import points
from refmlc.prove.rules.table import Rule
from refmlc.prove.terms import WIDE, Undecided

Lemmas: TypeAlias = Callable[[ExactIntegers], Iterable[object]]
EFFORT = 20_000_000
"""Units of z3's own count (`rlimit`), so that a verdict does not depend on the machine: some five seconds."""


class RuleKind(enum.Enum):
    """The verdict on a rule; the worst of several is the last."""

    PROVED = "proved"
    NO_OVERFLOW = "proved without overflow"
    WITH_PRECONDITION = "proved with precondition"
    REFUTED = "refuted"
    UNDECIDED = "undecided"


@dataclass(frozen=True)
class RuleExample:
    """A point, and what the interpreter gives for both sides there: values, or codes of undefinedness."""

    point: Point
    left: str
    right: str
    hardware: str
    """The right side where integers wrap at every width."""

    @property
    def is_wrong(self) -> bool:
        """Whether hardware has another number too."""
        return self.hardware != self.left

    def __str__(self) -> str:
        values = ", ".join(f"{name}={value}" for name, value in self.point.items())
        wrapped = f" ({self.hardware} in hardware)" if self.right == "RM306" else ""
        return f"{values}: {self.left} becomes {self.right}{wrapped}"


@dataclass(frozen=True)
class RuleVerdict:
    """The verdict on an alternative at a dtype. `reason`: a precondition, or the limit."""

    rule: Rule
    left: str
    dtype: str
    kind: RuleKind
    reason: str = ""
    example: RuleExample | None = None


Answers: TypeAlias = dict[tuple[str, str, str], object]
"""What z3 says of an alternative, its condition and a kind of integers, whatever their width."""


def decide(
    rule: Rule,
    dtype: str,
    *,
    wraps: bool = False,
    effort: int = EFFORT,
    answers: Answers | None = None,
) -> RuleVerdict:
    """The verdict on a rule at a dtype: the worst of its alternatives. `wraps`: in the wrapping reading.

    `answers` are shared by calls that differ in the width. Units: `effort` is z3's count for each query.
    """
    answers = Answers() if answers is None else answers
    verdicts = [_Decision(rule, left, dtype, wraps, effort, answers).verdict() for left in rule.lefts]
    order = list(RuleKind)
    return max(verdicts, key=lambda verdict: order.index(verdict.kind))


@dataclass(frozen=True)
class _Query:
    """What z3 is asked: with `equal` both sides are equal and no divisor is 0, with `fits` the right side fits."""

    solver: "z3.Solver"
    encoder: Encoder
    fits: list[object]
    equal: object


class _Decision:
    """The decision on one alternative."""

    def __init__(self, rule: Rule, left: str, dtype: str, wraps: bool, effort: int, answers: Answers) -> None:
        self._instance = RuleInstance(rule, left, dtype_of(dtype))
        self._dtype = dtype_of(dtype)
        self._effort = effort
        self._answers = answers
        is_wide = self._dtype.is_integer and self._dtype.bits >= WIDE
        self._allows = wraps and is_wide
        self._exact = is_wide and not wraps

    def verdict(self) -> RuleVerdict:
        rule, instance = self._instance.rule, self._instance
        made = RuleVerdict(rule, instance.left_text, str(self._dtype), RuleKind.UNDECIDED)
        try:
            verdict = self._of_exact(made) if self._exact else self._of_bits(made)
        except (Undecided, RefmlcError) as end:
            return replace(made, reason=str(end))
        if verdict.kind is RuleKind.REFUTED and rule.needs:
            narrowed = _Decision(
                replace(rule, when=_both(rule), needs=""),
                made.left,
                made.dtype,
                self._allows,
                self._effort,
                self._answers,
            ).verdict()
            if narrowed.kind in (RuleKind.PROVED, RuleKind.NO_OVERFLOW):
                overflow = ", without overflow" if narrowed.kind is RuleKind.NO_OVERFLOW else ""
                return replace(verdict, kind=RuleKind.WITH_PRECONDITION, reason=rule.needs + overflow)
        return verdict

    # ---------------------------------------------------------------------------------------- exact integers

    def _of_exact(self, verdict: RuleVerdict) -> RuleVerdict:
        sampled, differing = self._sampled()
        holds = self._holds_in_integers()
        if holds == z3.unsat:
            if sampled is None:
                return self._fitting(verdict)
            return replace(verdict, kind=RuleKind.NO_OVERFLOW, example=self._executed(sampled))
        if differing is not None:
            return replace(verdict, kind=RuleKind.REFUTED, example=self._executed(differing))
        point = self._model()
        if point is not None:
            return replace(verdict, kind=RuleKind.REFUTED, example=self._executed(point))
        return replace(verdict, reason=f"z3 says {holds}")

    def _fitting(self, verdict: RuleVerdict) -> RuleVerdict:
        """Whether the right side fits too, of a rule that holds in exact integers.

        First without folding: where everything fits, nothing wraps.
        """
        answer: object = z3.unknown
        for folds in (False, True):
            query = self._query(in_range=True, folds=folds)
            query.solver.add(z3.Not(z3.And(*query.fits, *([query.equal] if folds else []))))
            answer = query.solver.check() if folds or query.fits else z3.unsat
            if answer == z3.unsat:
                return replace(verdict, kind=RuleKind.PROVED)
            point = self._point(query.solver, query.encoder) if answer == z3.sat else None
            if point is not None and self._differs(point):
                return replace(verdict, kind=RuleKind.NO_OVERFLOW, example=self._executed(point))
        return replace(verdict, kind=RuleKind.NO_OVERFLOW, reason="whether the right side can overflow is undecided")

    def _differs(self, point: Point) -> bool:
        """Whether the left side has a value at a point and the right side has another or none."""
        instance = self._instance
        left = instance.value(instance.left_lanes, point)
        return not isinstance(left, str) and not same(left, instance.value(instance.rewritten(point), point))

    def _sampled(self) -> tuple[Point | None, Point | None]:
        """A point where the right side is undefined or differs, and one where it differs without folding.

        Of the first kind rather one where the wrapped right side differs too.
        """
        instance, sampled, is_wrong = self._instance, None, False
        for point in points(instance):
            left = instance.value(instance.left_lanes, point)
            if isinstance(left, str):
                continue
            exact = instance.value(instance.right_lanes, point)
            if exact != "RM306" and not same(left, exact):
                return point, point
            if not is_wrong and not same(left, instance.value(instance.rewritten(point), point)):
                is_wrong = not same(left, instance.value(instance.right_lanes, point, wraps=True))
                sampled = point if is_wrong else sampled or point
        return sampled, None

    def _query(self, *, in_range: bool, folds: bool = False, lemmas: tuple[Lemmas, ...] = ()) -> "_Query":
        """The left side is defined, the condition holds; lane by lane in a range, else at any lane."""
        numbers, instance = ExactIntegers(), self._instance
        lefts, rights = (
            (instance.left_lanes, instance.right_lanes) if in_range else ((instance.left,), (instance.right,))
        )
        encoder = Encoder(numbers)
        left_conditions = encoder.fresh()
        left_values = [encoder.number(left) for left in lefts]
        hypotheses = self._condition(encoder)
        right_encoder = Encoder(numbers, folds=folds)
        right_encoder.variables = encoder.variables
        right_values = [right_encoder.number(right) for right in rights]
        right_conditions = right_encoder.conditions
        solver = self._solver()
        solver.add(*left_conditions.facts, *left_conditions.divisors, *hypotheses, *right_conditions.facts)
        for name, variable in encoder.variables.items():
            dtype = instance.type_of(name)
            if name == LANE or dtype.kind == "uint":
                solver.add(variable >= 0)
            if in_range and dtype.is_integer:
                solver.add(variable >= dtype.minimum, variable <= dtype.maximum)
        if in_range:
            solver.add(*left_conditions.fits)
        elif self._dtype.kind == "uint":
            solver.add(*_not_negative(left_conditions), *_not_negative(right_conditions))
        solver.add(*(fact for lemma in lemmas for fact in lemma(numbers)))
        equal = z3.And(*(a == b for a, b in zip(left_values, right_values, strict=True)), *right_conditions.divisors)
        return _Query(solver, encoder, right_conditions.fits, equal)

    def _holds_in_integers(self) -> object:
        """What z3 says of a point, of any size, where the right side divides by 0 or differs."""
        key = (self._instance.left_text, self._instance.rule.when, self._dtype.kind)
        if key not in self._answers:
            for lemmas in ((), (multiples,), (multiples, products)):
                query = self._query(in_range=False, lemmas=lemmas)
                query.solver.add(z3.Not(query.equal))
                self._answers[key] = query.solver.check()
                if self._answers[key] != z3.unknown:
                    break
        return self._answers[key]

    def _model(self) -> Point | None:
        """A point in range where both sides are defined and differ, or the right divides by zero."""
        query = self._query(in_range=True)
        query.solver.add(*query.fits, z3.Not(query.equal))
        return self._point(query.solver, query.encoder) if query.solver.check() == z3.sat else None

    def _condition(self, encoder: Encoder) -> list[object]:
        """The rule's condition, as what is known; of a part that has no encoding nothing is."""
        if self._instance.when is None:
            return []
        hypotheses: list[object] = []
        for part in conjuncts(self._instance.when):
            collected = encoder.fresh()
            try:
                value = encoder.number(part)
            except Undecided:
                continue
            hypotheses += [value, *collected.facts, *collected.divisors]
        return hypotheses

    # ---------------------------------------------------------------------------------------- bits and floats

    def _of_bits(self, verdict: RuleVerdict) -> RuleVerdict:
        instance = self._instance
        for point in points(instance):
            left = instance.value(instance.left_lanes, point, wraps=self._allows)
            if not isinstance(left, str) and not same(
                left, instance.value(instance.rewritten(point), point, wraps=self._allows)
            ):
                return replace(verdict, kind=RuleKind.REFUTED, example=self._executed(point))
        if self._is_identity():
            return replace(verdict, kind=RuleKind.PROVED)
        if self._dtype.is_float and self._differing(AnyFloats(self._dtype))[0] == z3.unsat:
            return replace(verdict, kind=RuleKind.PROVED)
        is_signed = self._dtype.kind == "int"
        numbers = Floats(self._dtype) if self._dtype.is_float else Bits(max(self._dtype.bits, 8), is_signed)
        answer, place = self._differing(numbers)
        if answer == z3.unsat:
            return replace(verdict, kind=RuleKind.PROVED)
        if place is not None:
            return replace(verdict, kind=RuleKind.REFUTED, example=self._executed(place))
        return replace(verdict, reason=f"z3 says {answer}")

    def _is_identity(self) -> bool:
        """Whether both sides are the same polynomial, which holds modulo any power of two too."""
        sides = (self._instance.left, self._instance.right)
        nodes = [node for side in sides for node in walk(side) if isinstance(node, tir.Expr)]
        if self._dtype.is_float or self._instance.is_boolean:
            return False
        if not all(isinstance(n, tir.Var | tir.IntImm) or (isinstance(n, tir.Apply) and n.op in RING) for n in nodes):
            return False
        encoder = Encoder(ExactIntegers())
        difference = encoder.number(sides[0]) - encoder.number(sides[1])
        return bool(z3.is_true(z3.simplify(difference == 0, som=True)))

    def _differing(self, numbers: NumberEncoding) -> tuple[object, Point | None]:
        """What z3 says of a point where the sides differ, and the point."""
        encoder = Encoder(numbers)
        left_conditions = encoder.fresh()
        left = encoder.number(self._instance.left)
        right_conditions = encoder.fresh()
        right = encoder.number(self._instance.right)
        solver = self._solver()
        solver.add(left_conditions.defined, z3.Not(z3.And(left == right, right_conditions.defined)))
        solver.add(*self._condition_of_bits(encoder))
        answer = solver.check()
        return answer, self._point(solver, encoder) if answer == z3.sat else None

    def _condition_of_bits(self, encoder: Encoder) -> list[object]:
        if self._instance.when is None:
            return []
        conditions: NumberEncoding = Floats(self._dtype)
        if not self._dtype.is_float:
            conditions = Bits(self._dtype.bits, self._dtype.kind == "int", exact=True)
        other = Encoder(conditions)
        collected = other.fresh()
        value = other.number(self._instance.when)
        for name in other.variables:
            encoder.variables.setdefault(name, z3.Const(name, _sort(self._dtype)))
        return [value, *collected.divisors]

    # ---------------------------------------------------------------------------------------- parts

    def _solver(self) -> "z3.Solver":
        solver = z3.Solver()
        solver.set("rlimit", self._effort)
        return solver

    def _point(self, solver: "z3.Solver", encoder: Encoder) -> Point:
        model = solver.model()
        values = {name: model.eval(encoder.variables[name], model_completion=True) for name in encoder.variables}
        return {
            name: _scalar(values[name], self._instance.type_of(name)) if name in values else 0
            for name in self._instance.rule.names
        }

    def _executed(self, point: Point) -> RuleExample:
        """The example, by the interpreter. Raises `Undecided` where it does not show what was found."""
        instance = self._instance
        left = instance.executed(instance.left_program(point), point, wraps=self._allows)
        right = instance.executed(instance.right_program(point), point, wraps=self._allows)
        hardware = instance.executed(instance.right_program(point), point, wraps=True)
        if isinstance(left, str) or same(left, right) or not instance.holds(instance.when, point):
            raise Undecided(f"the interpreter does not show {dict(point)}: {left} becomes {right}")
        return RuleExample(point, _shown(left), _shown(right), _shown(hardware))


def _shown(value: Lanes | str) -> str:
    """A value; of a vector all lanes."""
    return str(value[0]) if isinstance(value, tuple) and len(value) == 1 else str(value)


def _both(rule: Rule) -> str:
    return f"({rule.when}) and ({rule.needs})" if rule.when else rule.needs


def conjuncts(condition: tir.Expr) -> Iterable[tir.Expr]:
    """The conditions that must all hold for `condition` to."""
    match condition:
        case tir.And(a, b):
            yield from conjuncts(a)
            yield from conjuncts(b)
        case _:
            yield condition


def _not_negative(conditions: Conditions) -> Iterable[object]:
    """Of obligations to fit in an unsigned dtype the lower half, which no width changes."""
    return (fit.arg(0) for fit in conditions.fits if isinstance(fit, z3.BoolRef) and z3.is_and(fit))


def _sort(dtype: DType) -> "z3.SortRef":
    """The sort of a variable that only a condition names."""
    return Floats(dtype).variable("v", dtype).sort() if dtype.is_float else z3.BitVecSort(max(dtype.bits, 8))


def _scalar(value: "z3.ExprRef", dtype: DType) -> float | int | bool:
    if dtype.kind == "bool":
        return bool(z3.is_true(value))
    if dtype.is_float:
        return _float(value)
    return int(value.as_signed_long() if z3.is_bv(value) and dtype.kind == "int" else value.as_long())


def _float(value: "z3.FPNumRef") -> float:
    if value.isNaN():
        return float("nan")
    if value.isInf():
        return float("-inf") if value.isNegative() else float("inf")
    if value.isZero():
        return -0.0 if value.isNegative() else 0.0
    return float(_fraction(z3.simplify(z3.fpToReal(value))))


def _fraction(value: "z3.RatNumRef") -> float:
    """The quotient of a rational number of z3."""
    return float(value.numerator_as_long() / value.denominator_as_long())
