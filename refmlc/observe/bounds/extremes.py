"""Reductions of pairs, an extreme and its index: which of several equal terms wins depends on the order of the terms.

The form is that of TVM's schedules: values that are bound first, then stores of the same element of two buffers,

    i = Select(V[at] >= t, I[at], z)
    v = Select(V[at] >= t, V[at], t)
    I[at] = i
    V[at] = v

with any of `>=`, `>`, `<=`, `<`, in a block with reduce axes. `Freedom.ties` decides whether this case exists: then the
index may be that of every term that equals the extreme.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction

from refmlc.lang.ir import tir
from refmlc.lang.ir.equal import structural_equal
from refmlc.lang.ir.node import Node
from refmlc.lang.ir.visit import substitute
from refmlc.observe.bounds.choice import Value
from refmlc.observe.bounds.enclosure import NAN, Enclosure
from refmlc.observe.bounds.expressions import indices_of, prepare_expr
from refmlc.observe.bounds.operators import not_certified
from refmlc.observe.bounds.places import Pending, View, unite
from refmlc.observe.bounds.run import Run

BOTH = 2  # stores, and parts of a pair
GREATEST = {"ge": True, "gt": True, "le": False, "lt": False}
"""By the comparison that keeps the element: whether the reduction looks for the greatest term."""


@dataclass(frozen=True)
class ExtremeStores:
    """The parts of the form: both stores, the terms, and whether the greatest one wins."""

    index: tir.BufferStore
    extreme: tir.BufferStore
    number: tir.Expr
    term: tir.Expr
    greatest: bool


def extreme_stores(body: tir.Stmt) -> ExtremeStores | None:
    """The parts of `body`, if it has the form."""
    if not isinstance(body, tir.SeqStmt) or len(body.seq) < BOTH:
        return None
    *binds, first, second = body.seq
    if not all(isinstance(bind, tir.Bind) for bind in binds):
        return None
    if not isinstance(first, tir.BufferStore) or not isinstance(second, tir.BufferStore):
        return None
    values: dict[Node, Node] = {bind.var: bind.value for bind in binds if isinstance(bind, tir.Bind)}
    for index, extreme in ((first, second), (second, first)):
        parts = _parts(index, extreme, values, bound=bool(binds))
        if parts is not None:
            return parts
    return None


def _parts(
    index: tir.BufferStore, extreme: tir.BufferStore, values: Mapping[Node, Node], *, bound: bool
) -> ExtremeStores | None:
    kept, wins = _chosen(extreme, values), _chosen(index, values)
    if not bound or kept is None or wins is None or not structural_equal(kept[0], wins[0]):
        return None
    condition, term = kept
    if not isinstance(condition, tir.Apply) or condition.op not in GREATEST:
        return None
    left, right = condition.args
    if not _is_element(extreme, left) or not structural_equal(right, term):
        return None
    return ExtremeStores(index, extreme, wins[1], term, GREATEST[condition.op])


def _chosen(store: tir.BufferStore, values: Mapping[Node, Node]) -> tuple[tir.Expr, tir.Expr] | None:
    """The condition under which the element stays, and what replaces it otherwise."""
    value = values.get(store.value, store.value) if isinstance(store.value, tir.Var) else store.value
    if not isinstance(value, tir.Select) or not _is_element(store, value.true_value):
        return None
    return substitute(value.condition, values), substitute(value.false_value, values)


def _is_element(store: tir.BufferStore, value: tir.Expr) -> bool:
    """Whether `value` is the element that `store` writes."""
    return (
        isinstance(value, tir.BufferLoad)
        and value.buffer is store.buffer
        and value.predicate is None
        and len(value.indices) == len(store.indices)
        and all(map(structural_equal, value.indices, store.indices))
    )


@dataclass
class RivalTerms:
    """The terms so far, each with its index; the first are the values of before."""

    greatest: bool
    terms: list[tuple[Value, Value]] = field(default_factory=list)

    def winners(self) -> list[tuple[Value, Value]]:
        """The terms that may be the result: those that equal the extreme; with a NaN among them, any. Fails: RM504."""
        numbers = [_number(term) for _, term in self.terms]
        ordered = [number for number in numbers if number is not None]
        if len(ordered) < len(numbers):
            return self.terms
        best = max(ordered) if self.greatest else min(ordered)
        return [pair for pair, number in zip(self.terms, ordered, strict=True) if number == best]


def _number(term: Value) -> Fraction | float | None:
    """The number that a term is; None: NaN. Fails: RM504 for one that depends on a rounding."""
    if isinstance(term, int):
        return Fraction(term)
    if isinstance(term, Enclosure) and term.exact:
        return term.centre
    if isinstance(term, Enclosure) and not term.finite and len(term.special_members()) == 1:
        return None if term.specials & NAN else term.special_members()[0]
    raise not_certified("an extreme of terms that are rounded", None)


@dataclass
class PendingPart(Pending):
    """The extreme, or its index: part `at` of the winners."""

    terms: RivalTerms
    at: int

    def close(self) -> Value:
        """Every value that it may have."""
        first, *rest = (pair[self.at] for pair in self.terms.winners())
        for other in rest:
            first = unite(first, other)
        return first


def gather(run: Run, parts: ExtremeStores) -> Callable[[], None]:
    """The stores as a closure that adds a term."""
    number, term = prepare_expr(run, parts.number), prepare_expr(run, parts.term)
    stores = (parts.index, parts.extreme)
    places = [indices_of(run, store) for store in stores]

    def add_term() -> None:
        pair = number(), term()
        options = [indices() for indices in places]
        if run.unsure or any(len(option) > 1 for option in options):
            raise not_certified("an extreme under a condition that depends on a rounding", parts.index.span)
        views = [run.views[store.buffer] for store in stores]
        at = [view.place(option[0]) for view, option in zip(views, options, strict=True)]
        elements = _elements(parts, [(view, place) for view, place in zip(views, at, strict=True) if place is not None])
        elements[0].terms.terms.append(pair)

    return add_term


def _elements(parts: ExtremeStores, places: list[tuple[View, int]]) -> list[PendingPart]:
    """The unfinished index and extreme at these places; new ones begin with the values that are there."""
    pending = [view.region.elements[at] for view, at in places]
    unfinished = [element for element in pending if isinstance(element, PendingPart)]
    if len(unfinished) == BOTH and unfinished[0].terms is unfinished[1].terms:
        return unfinished
    before = [view.read(at) for view, at in places]
    values = [value for value in before if value is not None]
    if len(values) < BOTH:
        raise not_certified("an extreme without a first value", parts.index.span)
    terms = RivalTerms(parts.greatest, [(values[0], values[1])])
    elements = [PendingPart(terms, part) for part in range(BOTH)]
    for (view, at), element in zip(places, elements, strict=True):
        view.region.elements[at] = element
        view.region.written = True
    return elements
