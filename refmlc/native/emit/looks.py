"""Loops that look whether to stop: a limit of time, an interrupt (NAT-007).

| loop, of what is paid for before it                | looks                        |
|----------------------------------------------------|------------------------------|
| that is certainly short, or pays at each iteration | not: the loop around it does |
| that reaches, at each iteration, a loop that pays  | not: that one does           |
| with an iteration that takes microseconds          | at each iteration            |
| any other                                          | between strips of iterations |

A look that is not yet due takes about a nanosecond. What is short is an estimate (`refmlc.native.analysis.cost`).
"""

from dataclasses import dataclass

from refmlc.lang.ir import tir
from refmlc.native.analysis.cost import DEAR, LONG, STRIP, units
from refmlc.native.emit.fuel import Payment, may_be_left
from refmlc.native.emit.state import State
from refmlc.native.text import Line


@dataclass(frozen=True, slots=True)
class Bounds:
    """The head of a C loop: names, or numbers."""

    name: str
    first: str
    stop: str
    step: str

    def head(self, first: str, stop: str) -> str:
        """The loop over a part."""
        advance = f"++{self.name}" if self.step == "1" else f"{self.name} += {self.step}"
        return f"for (int64_t {self.name} = {first}; {self.name} < {stop}; {advance})"


def repeat(state: State, node: tir.For, payment: Payment, bounds: Bounds, body: list[Line]) -> None:
    """Emit the loop `node` around the lines of its body."""
    cost = 1 + units(node.body)
    head = bounds.head(bounds.first, bounds.stop)
    if _looks_elsewhere(node, payment, cost):
        with state.text.block(head, node.span):
            state.text.add(body)
    elif cost >= DEAR or bounds.step != "1":
        with state.text.block(head, node.span):
            state.text.line(look(cost))
            state.text.add(body)
    else:
        _strips(state, node, bounds, body, cost)


def look(cost: int, cleanup: str = "(void)0") -> str:
    """A look after the `cost` of an iteration; `cleanup` is done first where it ends the function."""
    return f"RM_LOOK(INT64_C({min(cost, STRIP)}), {cleanup});"


def _looks_elsewhere(node: tir.For, payment: Payment, cost: int) -> bool:
    if isinstance(node.extent, tir.IntImm) and node.step is None and node.extent.value * cost < LONG:
        return True
    return payment.may_leave or (payment.declares and payment.total is None and _pays(node.body))


def _strips(state: State, node: tir.For, bounds: Bounds, body: list[Line], cost: int) -> None:
    strip, end, length = state.names.new("strip"), state.names.new("strip_end"), STRIP // cost
    with state.text.block(f"for (int64_t {strip} = {bounds.first}, {end}; {strip} < {bounds.stop}; {strip} = {end})"):
        state.text.line(f"{end} = {bounds.stop} - {strip} > {length} ? {strip} + {length} : {bounds.stop};")
        with state.text.block(bounds.head(strip, end), node.span):
            state.text.add(body)
        state.text.line(f"if ({end} < {bounds.stop}) {look(STRIP)}")


def _pays(node: tir.Stmt) -> bool:
    """Whether `node`, in a loop that pays for its own iterations alone, certainly reaches a loop that pays."""
    match node:
        case tir.For(thread=None):
            return not may_be_left(node)
        case tir.SeqStmt(seq):
            return any(_pays(part) for part in seq)
        case tir.SBlockRealize(predicate=tir.IntImm(value=always), block=block):
            return bool(always) and _pays(block.body)
        case tir.IfThenElse(then_case=then_case, else_case=else_case):
            return else_case is not None and _pays(then_case) and _pays(else_case)
        case _:
            return False
