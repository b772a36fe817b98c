"""Reductions, stores `B[i] = B[i] op t` in a block with reduce axes: the terms may be gathered in any order.

The terms of `(B + x) - y` are x and -y. Their order is free, so `Freedom.reorder` decides whether this case exists.
"""

from collections.abc import Callable

from refmlc.diag import fail
from refmlc.diag.catalogue import UNINITIALISED
from refmlc.lang.ir import tir
from refmlc.lang.ir.equal import structural_equal
from refmlc.lang.ir.visit import walk
from refmlc.observe.bounds.enclosure import Enclosure, join, negated
from refmlc.observe.bounds.expressions import Eval, indices_of, prepare_expr
from refmlc.observe.bounds.operators import not_certified
from refmlc.observe.bounds.places import Pending, View, as_float, neutral
from refmlc.observe.bounds.roundoff import Grid
from refmlc.observe.bounds.run import Run

REDUCTIONS = ("add", "mul", "max", "min")


def reduction(node: tir.BufferStore) -> tuple[str, list[tuple[tir.Expr, bool]]] | None:
    """The operator and the terms of `B[i] = B[i] op term`, each with whether it is subtracted; None: no reduction."""
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
    """Whether `value` is the element that `node` writes, or a chain of the operators on it."""
    if isinstance(value, tir.BufferLoad):
        same = value.buffer is node.buffer and value.predicate is None and len(value.indices) == len(node.indices)
        return same and all(map(structural_equal, value.indices, node.indices))
    if isinstance(value, tir.Apply) and value.op in operators:
        sides = value.args if value.op != "sub" else value.args[:1]
        return any(_leads_to(node, side, operators) for side in sides)
    return False


def combine(run: Run, node: tir.BufferStore, op: str, terms: list[tuple[tir.Expr, bool]]) -> Callable[[], None]:
    """`node`, a reduction, as a closure that makes its terms further ones of the element.

    The terms wait (`places.Pending`) until the element is read: only then is it known that there are no more.
    """
    parts = [(prepare_expr(run, term), minus) for term, minus in reversed(terms)]
    indices, buffer, grid = indices_of(run, node), node.buffer, Grid(node.buffer.dtype, run.freedom)
    nothing = neutral(op)

    def combined() -> None:
        values = [_signed(part, minus=minus) for part, minus in parts]
        places = indices()
        if len(places) > 1:
            raise not_certified("a reduction at an index that depends on a rounding", node.span)
        view = run.views[buffer]
        where = view.place(places[0])
        old = None if where is None else view.region.elements[where]
        if where is None or old is None:
            raise fail(UNINITIALISED, f"element {places[0]} of `{buffer.name}` has no value", node.span)
        if run.unsure:
            before = _current(view, where)
            values = [join(value, before if nothing is None else nothing) for value in values]
        view.region.written = True
        pending = view.region.elements[where]
        if not isinstance(pending, Pending) or pending.op != op:
            pending = view.region.elements[where] = Pending(op, grid, [_current(view, where)])
        pending.terms.extend(values)

    return combined


def _current(view: View, where: int) -> Enclosure:
    found = view.read(where)
    assert found is not None  # noqa: S101 - the caller has looked
    return as_float(found)


def _signed(part: Eval, *, minus: bool) -> Enclosure:
    value = as_float(part())
    return negated(value) if minus else value


def reads_besides(node: tir.BufferStore) -> bool:
    """Whether a term of a reduction reads the memory that it is written to."""
    _, terms = reduction(node) or ("", [])
    loads = [part for term, _ in terms for part in walk(term) if isinstance(part, tir.BufferLoad)]
    return any(load.buffer is node.buffer for load in loads)
