"""What loops pay: for the iterations they execute, and never for more.

| loop                                          | pays                                                              |
|-----------------------------------------------|-------------------------------------------------------------------|
| that may be left (`break`, `return`), `while` | at each iteration                                                 |
| of a nest of constant extents, all executed   | the outermost one, for all of them                                |
| any other                                     | for its iterations, when it is reached                            |
| … in which a check may fail                   | the same where there is enough; else (`scarce`) at each iteration |

The last row: where a program fails early, that is its outcome, whatever its loops would have cost. An iteration pays
more where its body is dear (`refmlc.native.analysis.cost`). A payment looks now and then whether to stop; a loop that
is paid for at once and takes long looks in between (`refmlc.native.emit.looks`).
"""

from dataclasses import dataclass

from refmlc.lang.ir import tir
from refmlc.lang.ir.subtree import nodes_of
from refmlc.native.analysis.cost import weight
from refmlc.native.emit.state import State
from refmlc.native.text import Line

MOST = 1 << 62


@dataclass(frozen=True, slots=True)
class Payment:
    """How one loop pays. `scarce`: the C name of "too little for all", which it `declares`, or uses."""

    scarce: str
    declares: bool
    may_leave: bool
    total: int | None
    weight: int

    @property
    def iteration(self) -> str:
        """What pays for one iteration."""
        return f"RM_PAY({self.weight});"

    def several(self, count: str) -> str:
        """The fuel of `count` iterations of this loop, or of all the nest."""
        if self.total is not None:
            return f"INT64_C({min(self.total, MOST)})"
        return count if self.weight == 1 else f"rm_times({count}, {self.weight})"


def payment(state: State, node: tir.For) -> Payment:
    """How `node` pays; the loops below it whose number is known do not pay again."""
    if node in state.paid:
        return Payment(state.scarce, declares=False, may_leave=False, total=None, weight=weight(node.body))
    total = countable(node)
    if total is not None:
        state.paid.update(_loops(node))
    scarce = state.names.new("scarce")
    return Payment(scarce, declares=True, may_leave=may_be_left(node), total=total, weight=weight(node.body))


def pay(state: State, payment: Payment, count: str, body: list[Line], *, checked: bool) -> list[Line]:
    """Charge `count` iterations of what is in `body`, where there are checks or not; the body that pays its part."""
    if payment.may_leave:
        return [*_line(state, payment.iteration), *body]
    unlikely, total = f"if (RM_UNLIKELY({payment.scarce}))", payment.several(count)
    if checked:
        if payment.declares:
            state.text.line(f"const bool {payment.scarce} = RM_SCARCE({total});")
            state.text.line(f"RM_PAY({payment.scarce} ? 0 : {total});")
        return [*_line(state, f"{unlikely} {payment.iteration}"), *body]
    if not payment.declares:
        state.text.line(f"{unlikely} RM_PAY({total});")
        return body
    state.text.line(f"RM_PAY({total});")
    return [line for line in body if unlikely not in line]


def pay_at_once(state: State, node: tir.For) -> None:
    """Charge all iterations of a nest of constant extents in which nothing can fail."""
    total = f"RM_PAY(INT64_C({min(countable(node) or 1, MOST)}));"
    state.text.line(f"if (RM_UNLIKELY({state.scarce})) {total}" if node in state.paid else total)


def _line(state: State, code: str) -> list[Line]:
    with state.text.apart() as lines:
        state.text.line(code)
    return lines


def may_be_left(node: tir.For) -> bool:
    """Whether there is a `break` or a `return` in `node`, its own or not: it pays at each iteration."""
    if nodes_of(node.body, tir.Break, tir.Return):
        return True
    return any(call.callee == "ret" for call in nodes_of(node.body, tir.Call))


def _loops(node: tir.Stmt) -> list[tir.For]:
    """The loops of a countable nest."""
    match node:
        case tir.For():
            return [node, *_loops(node.body)]
        case tir.SeqStmt(seq):
            return [loop for part in seq for loop in _loops(part)]
        case tir.SBlockRealize(block=block):
            return [*([] if block.init is None else _loops(block.init)), *_loops(block.body)]
        case tir.AttrStmt(body=body):
            return _loops(body)
        case tir.IfThenElse(then_case=then_case, else_case=else_case):
            return [*_loops(then_case), *([] if else_case is None else _loops(else_case))]
        case _:
            return []


def countable(node: tir.Stmt) -> int | None:
    """How many iterations `node` executes; None where that is not known, or a loop may be left early."""
    match node:
        case tir.For(extent=tir.IntImm(value=count), step=None, thread=None, body=body):
            inner = countable(body)
            return None if inner is None else count * (weight(body) + inner)
        case tir.For() | tir.While() | tir.Break() | tir.Return() | tir.Evaluate(tir.Call(callee="ret")):
            return None
        case tir.SeqStmt(seq):
            return _sum([countable(part) for part in seq])
        case tir.SBlockRealize(block=block):
            always = isinstance(node.predicate, tir.IntImm) and node.predicate.value
            inner = countable(block.body)
            return (inner if always else _none(inner)) if block.init is None or countable(block.init) == 0 else None
        case tir.AttrStmt(key=key, body=body):
            return None if "thread" in key else countable(body)
        case tir.IfThenElse(then_case=then_case, else_case=else_case):
            return _none(_sum([countable(then_case), 0 if else_case is None else countable(else_case)]))
        case _:
            return 0


def _none(count: int | None) -> int | None:
    """The iterations of what is not always executed: only that there are none is known."""
    return 0 if count == 0 else None


def _sum(counts: list[int | None]) -> int | None:
    counted = [count for count in counts if count is not None]
    return sum(counted) if len(counted) == len(counts) else None
