"""`reorder`: loops that stand one in the other, in another order.

Two iterations may change places when neither touches what the other writes. For each buffer that is written, the loops
that separate it (see `accesses`) are found one after the other, those found before counting as agreed: two iterations
that touch one element then agree in all of them, so their order is that of the loops that are left. It stays as it is
when the loops that are left keep their order. A sum over `k` into `C[i, j]` keeps the order of its terms that way:
`i` and `j` may stand anywhere, `k` and a second axis of the sum may not change places.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import ClassVar

from refmlc.diag import fail
from refmlc.diag.catalogue import BAD_USAGE
from refmlc.diag.entry import entry_point, entry_points
from refmlc.lang.ir import tir
from refmlc.lang.ir.kinds import ForKind
from refmlc.lang.ir.visit import walk
from refmlc.rewrite.schedule.accesses import Accesses, accesses, problem, separates
from refmlc.rewrite.schedule.draws import Choices, Draw, Drawn, loops as loops_of
from refmlc.rewrite.schedule.handles import LoopRV
from refmlc.rewrite.schedule.loops import plain
from refmlc.rewrite.schedule.places import get_loop, place_of_loop, refused, with_stmt
from refmlc.rewrite.schedule.session import Session

SERIAL = (ForKind.SERIAL, ForKind.UNROLLED)


@entry_point
def reorder(func: tir.PrimFunc, loops: Sequence[tir.Var], *, checked: bool = True) -> tir.PrimFunc:
    """The loops in this order, outermost first, at the places that they have now; others between them stay.

    `checked=False` leaves out the order of accesses, for whom validates by running. Fails: RM112, RM504.
    """
    chain = _chain(func, loops)
    old = [node.loop_var for node in chain]
    order = iter(loops)
    new = [next(order) if var in loops else var for var in old]
    _check_bounds(chain)
    body = chain[-1].body
    if checked:
        _check_order(func, chain, old, new)
    nodes = {node.loop_var: node for node in chain}
    for var in reversed(new):
        body = replace(nodes[var], body=body)
    return with_stmt(func, chain[0], body)


def _check_order(func: tir.PrimFunc, chain: Sequence[tir.For], old: Sequence[tir.Var], new: Sequence[tir.Var]) -> None:
    """Refuse what may change the order of the accesses of an element."""
    obstacle = problem(func, chain[0], inside=True)
    if obstacle is not None:
        raise refused("reorder", obstacle, chain[0].span)
    uses = accesses(chain[0])
    for buffer in uses.written:
        unseparated = _unseparated(old, uses, buffer)
        if [var for var in new if var in unseparated] != unseparated:
            message = f"the order of the accesses of an element of `{buffer.name}` may change"
            raise refused("reorder", message, chain[0].span)


def _chain(func: tir.PrimFunc, loops: Sequence[tir.Var]) -> list[tir.For]:
    """The loops from the outermost to the innermost of those named, each being all that the one before contains."""
    if len(set(loops)) != len(loops) or not loops:
        raise fail(BAD_USAGE, "a loop is named twice, or none is", func.span)
    depths = {var: len(place_of_loop(func, var).around) for var in loops}
    node = get_loop(func, min(loops, key=depths.__getitem__))
    chain = [node]
    last = max(loops, key=depths.__getitem__)
    while node.loop_var is not last:
        if not isinstance(node.body, tir.For):
            raise refused("reorder", f"the loop over `{node.loop_var.name}` contains more than one loop", node.span)
        node = node.body
        chain.append(node)
    if not set(loops) <= {link.loop_var for link in chain}:
        raise refused("reorder", "the loops do not stand one in the other", chain[0].span)
    return chain


def _check_bounds(chain: Sequence[tir.For]) -> None:
    """Refuse loops that are not serial, and bounds that depend on one of the others, or on memory."""
    variables = {node.loop_var for node in chain}
    for node in chain:
        plain(node, "reorder")
        if node.kind not in SERIAL:
            raise refused("reorder", f"the loop over `{node.loop_var.name}` is {node.kind.value}", node.span)
        for part in (*walk(node.min), *walk(node.extent)):
            if part in variables or isinstance(part, tir.BufferLoad | tir.Call):
                raise refused("reorder", f"the bounds of `{node.loop_var.name}` may change", node.span)


def _unseparated(loops: Sequence[tir.Var], uses: Accesses, buffer: tir.Buffer) -> list[tir.Var]:
    """The loops that do not separate `buffer`, in their order."""
    agreed: set[tir.Var] = set()
    grows = True
    while grows:
        separating = [var for var in loops if var not in agreed and separates(var, uses, buffer, agreed)]
        agreed.update(separating[:1])
        grows = bool(separating)
    return [var for var in loops if var not in agreed]


def _draw(func: tir.PrimFunc, choices: Choices) -> Drawn:
    loop: tir.Stmt = choices.pick(loops_of(func))
    chain: list[tir.Var] = []
    while isinstance(loop, tir.For):
        chain.append(loop.loop_var)
        loop = loop.body
    order = choices.permutation(chain)
    if len(chain) < 2 or order == chain:
        return None
    return f"reorder {', '.join(var.name for var in order)}", reorder(func, order)


@entry_points
class OrderSteps(Session):
    """The method that changes the order of loops."""

    draws: ClassVar[Mapping[str, Draw]] = {"reorder": _draw}

    def reorder(self, *loops: LoopRV) -> None:
        """Put the loops in this order, at the places that they have."""
        order = [loop.var for loop in loops]
        self._apply("reorder", loops, lambda func: (reorder(func, order, checked=self._checked), ()))
