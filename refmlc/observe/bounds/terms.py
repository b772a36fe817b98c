"""Reductions, stores `B[i] = B[i] op t` in a block with reduce axes: the terms may be gathered in any order.

The terms of `(B + x) - y` are x and -y. Their order is free, so `Freedom.reorder` decides whether this case exists.
"""

from collections.abc import Callable

from refmlc.diag import fail
from refmlc.diag.catalogue import UNINITIALISED
from refmlc.lang.ir import tir
from refmlc.lang.ir.equal import structural_equal
from refmlc.lang.ir.visit import walk
from refmlc.observe.bounds.enclosure import Enclosure, join, negate
from refmlc.observe.bounds.expressions import Eval, indices_of, prepare_expr
from refmlc.observe.bounds.operators import not_certified
from refmlc.observe.bounds.places import PendingReduction, View, as_float, neutral
from refmlc.observe.bounds.roundoff import Grid
from refmlc.observe.bounds.run import Run

REDUCTIONS = ("add", "mul", "max", "min")


def reduction(node: tir.BufferStore) -> tuple[str, list[tuple[tir.Expr, bool]]] | None:
    """The operator and the terms of `B[i] = B[i] op term`, with True for a subtracted term; None: no reduction."""
    value = node.value
    if not isinstance(value, tir.Apply) or (value.op not in REDUCTIONS and value.op != "sub"):
        return None
    op = "add" if value.op == "sub" else value.op
    operators = ("add", "sub") if op == "add" else (op,)
    terms: list[tuple[tir.Expr, bool]] = []
    while isinstance(value, tir.Apply) and value.op in operators:
        left, right = value.args
        if _leads_to(node, left, operators):
            terms.append((right, value.op == "sub"))
            value = left
        elif value.op != "sub" and _leads_to(node, right, operators):
            terms.append((left, False))
            value = right
        else:
            return None
    return op, terms


def _leads_to(node: tir.BufferStore, value: tir.Expr, operators: tuple[str, ...]) -> bool:
    """True if `value` is the element that `node` writes, or a chain of the operators on it."""
    if isinstance(value, tir.BufferLoad):
        is_element = value.buffer is node.buffer and value.predicate is None and len(value.indices) == len(node.indices)
        return is_element and all(map(structural_equal, value.indices, node.indices))
    if isinstance(value, tir.Apply) and value.op in operators:
        sides = value.args if value.op != "sub" else value.args[:1]
        return any(_leads_to(node, side, operators) for side in sides)
    return False


def combine(run: Run, node: tir.BufferStore, op: str, terms: list[tuple[tir.Expr, bool]]) -> Callable[[], None]:
    """`node`, a reduction, as a closure that adds its terms to the element.

    They are combined when the element is read (`places.PendingReduction`): only then are all of them known.
    """
    parts = [(prepare_expr(run, term), minus) for term, minus in reversed(terms)]
    indices, buffer, grid = indices_of(run, node), node.buffer, Grid(node.buffer.dtype, run.freedom)
    start = neutral(op)

    def add_terms() -> None:
        values = [_term(part, minus=minus) for part, minus in parts]
        places = indices()
        if len(places) > 1:
            raise not_certified("a reduction at an index that depends on a rounding", node.span)
        view = run.views[buffer]
        number = view.place(places[0])
        content = None if number is None else view.region.elements[number]
        if number is None or content is None:
            raise fail(UNINITIALISED, f"element {places[0]} of `{buffer.name}` has no value", node.span)
        if run.unsure:
            current = _current(view, number)
            values = [join(value, current if start is None else start) for value in values]
        view.region.written = True
        pending = view.region.elements[number]
        if not isinstance(pending, PendingReduction) or pending.op != op:
            pending = view.region.elements[number] = PendingReduction(op, grid, [_current(view, number)])
        pending.terms.extend(values)

    return add_terms


def _current(view: View, number: int) -> Enclosure:
    value = view.read(number)
    assert value is not None  # noqa: S101 - the caller has looked
    return as_float(value)


def _term(part: Eval, *, minus: bool) -> Enclosure:
    value = as_float(part())
    return negate(value) if minus else value


def reads_besides(node: tir.BufferStore) -> bool:
    """True if a term of a reduction reads the buffer that the reduction writes."""
    _, terms = reduction(node) or ("", [])
    loads = [part for term, _ in terms for part in walk(term) if isinstance(part, tir.BufferLoad)]
    return any(load.buffer is node.buffer for load in loads)
