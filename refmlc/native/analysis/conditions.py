"""Conditions as polynomials that are not negative.

| condition (of integers) | holds                   | does not hold                |
|-------------------------|-------------------------|------------------------------|
| a < b                   | b - a - 1 >= 0          | a - b >= 0                   |
| a == b                  | a - b >= 0, b - a >= 0  | as a != b                    |
| a != b                  | a - b is not at its end | as a == b                    |
| x and y                 | both                    | nothing, unless one is known |
| x or y                  | nothing                 | neither                      |
| a bound variable        | what it was bound to    | the same                     |
"""

from collections.abc import Iterator
from dataclasses import replace

from refmlc.lang.arith.interval import ANY, Interval
from refmlc.lang.arith.polynomial import Poly, atoms, single, variables
from refmlc.lang.ir import tir
from refmlc.native.analysis.knowledge import Bounds, Knowledge
from refmlc.native.analysis.values import Values

OPPOSITE = {"lt": "ge", "le": "gt", "gt": "le", "ge": "lt", "eq": "ne", "ne": "eq"}


def assumed(knowledge: Knowledge, condition: tir.Expr, holds: bool = True) -> Knowledge:
    """The knowledge where `condition` holds, or does not. What says nothing about variables is passed over."""
    for part, way in _parts(knowledge, condition, holds):
        values = Values(knowledge, assumed)
        a, b = (values.form(arg) for arg in part.args)
        if a is None or b is None:
            continue
        op = part.op if way else OPPOSITE[part.op]
        for fact in _not_negative(values.bounds, op, a, b):
            knowledge = with_fact(knowledge, fact)
    return knowledge


def _parts(knowledge: Knowledge, condition: tir.Expr, holds: bool) -> Iterator[tuple[tir.Apply, bool]]:
    """The comparisons of integers that all hold, each (True), or all do not (False)."""
    match condition:
        case tir.And(a, b) | tir.Apply("bitwise_and", (a, b)) if holds:
            yield from _parts(knowledge, a, True)
            yield from _parts(knowledge, b, True)
        case tir.Or(a, b) | tir.Apply("bitwise_or", (a, b)) if not holds:
            yield from _parts(knowledge, a, False)
            yield from _parts(knowledge, b, False)
        case tir.Apply("not" | "bitwise_not", (inner,)) if inner.dtype.kind == "bool":
            yield from _parts(knowledge, inner, not holds)
        case tir.Apply("likely", (inner,)):
            yield from _parts(knowledge, inner, holds)
        case tir.Var() if condition in knowledge.tests:
            yield from _parts(knowledge, knowledge.tests[condition], holds)
        case tir.Apply(op, (a, _)) if op in OPPOSITE and a.dtype.is_integer and not a.dtype.is_vector:
            yield condition, holds
        case _:
            return


def _not_negative(bounds: Bounds, op: str, a: Poly, b: Poly) -> Iterator[Poly]:
    match op:
        case "lt" | "le":
            yield (b - a).plus(-1 if op == "lt" else 0)
        case "gt" | "ge":
            yield (a - b).plus(-1 if op == "gt" else 0)
        case "eq":
            yield a - b
            yield b - a
        case _:
            difference = a - b
            low, high = bounds.interval(difference)
            if low == 0:
                yield difference.plus(-1)
            if high == 0:
                yield (-difference).plus(-1)


def with_fact(knowledge: Knowledge, fact: Poly) -> Knowledge:
    """The knowledge where `fact` is 0 or more: kept whole, as a range of its form, and as an end of each atom in it."""
    if fact.only is not None:
        return knowledge
    bounds = Bounds(knowledge)
    forms = dict(knowledge.forms)
    form, factor = fact.form()
    _raise(forms, form, -(fact.constant // factor))
    for atom in dict.fromkeys(atoms(fact)):
        share, remainder = fact.split(atom)
        times, limit = share.only, bounds.high(remainder)
        if times is None or limit is None or len(fact.terms) == 1:
            continue
        if times > 0:
            _raise(forms, single(atom), -(limit // times))
        else:
            _raise(forms, -single(atom), -(limit // -times))
    order, bound = dict(knowledge.order), knowledge.bound
    for var in variables(fact):
        if var not in order:
            order[var] = bound
            bound += 1
    return replace(knowledge, forms=forms, conditions=(*knowledge.conditions, fact), order=order, bound=bound)


def _raise(forms: dict[Poly, Interval], form: Poly, low: int) -> None:
    """`form` is at least `low`."""
    forms[form] = forms.get(form, ANY).meet(Interval(low, None))


def in_full(values: Values, condition: tir.Expr) -> tuple[Poly, ...] | None:
    """Polynomials that are all 0 or more exactly where `condition` holds; None: it is no such condition."""
    if decided(values, condition) is True:
        return ()
    match condition:
        case tir.And(a, b) | tir.Apply("bitwise_and", (a, b)) if condition.dtype.kind == "bool":
            first, second = in_full(values, a), in_full(values, b)
            return None if first is None or second is None else (*first, *second)
        case tir.Apply("likely", (inner,)):
            return in_full(values, inner)
        case tir.Var() if condition in values.known.tests:
            return in_full(values, values.known.tests[condition])
        case tir.Apply("lt" | "le" | "gt" | "ge" | "eq" as op, (a, b)) if a.dtype.is_integer and not a.dtype.is_vector:
            first_form, second_form = values.form(a), values.form(b)
            if first_form is None or second_form is None:
                return None
            return tuple(_not_negative(values.bounds, op, first_form, second_form))
        case _:
            return None


def decided(values: Values, condition: tir.Expr) -> bool | None:
    """Whether `condition` certainly holds, or certainly does not; None: not proved."""
    match condition:
        case tir.IntImm():
            return bool(condition.value)
        case tir.And(a, b) | tir.Apply("bitwise_and", (a, b)) if condition.dtype.kind == "bool":
            return _both(decided(values, a), decided(values, b))
        case tir.Or(a, b) | tir.Apply("bitwise_or", (a, b)) if condition.dtype.kind == "bool":
            return _not(_both(_not(decided(values, a)), _not(decided(values, b))))
        case tir.Apply("not", (inner,)):
            return _not(decided(values, inner))
        case tir.Apply("likely", (inner,)):
            return decided(values, inner)
        case tir.Apply(op, (a, _)) if op in OPPOSITE and a.dtype.is_integer and not a.dtype.is_vector:
            return _compared(values, condition)
        case _:
            return None


def _both(a: bool | None, b: bool | None) -> bool | None:
    if a is False or b is False:
        return False
    return True if a and b else None


def _not(a: bool | None) -> bool | None:
    return None if a is None else not a


def _compared(values: Values, condition: tir.Apply) -> bool | None:
    """A comparison of integers, from the range of the difference."""
    a, b = condition.args
    first, second = values.form(a), values.form(b)
    difference = values.range(a).minus(values.range(b))
    if first is not None and second is not None:
        difference = difference.meet(values.bounds.interval(first - second))
    low, high = difference
    below, above = high is not None and high < 0, low is not None and low > 0
    at_most, at_least = high is not None and high <= 0, low is not None and low >= 0
    yes, no = {
        "lt": (below, at_least),
        "ge": (at_least, below),
        "gt": (above, at_most),
        "le": (at_most, above),
        "eq": (difference == (0, 0), below or above),
        "ne": (below or above, difference == (0, 0)),
    }[condition.op]
    return True if yes else False if no else None
