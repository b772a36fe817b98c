"""Both branches of every `if`: which of them the calls of a program reach, and which none does."""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from refmlc.diag.source import Span
from refmlc.lang.ir import IRModule, relax, tir
from refmlc.lang.ir.visit import walk
from refmlc.oracle.implementations.interp import Interp, Interpreted
from refmlc.oracle.reference import Program
from refmlc.run.interp.hooks import Hooks
from refmlc.run.interp.tensorir.frame import Frame


@dataclass(frozen=True)
class Branch:
    """One side of an `if`: that of a true condition, or the other one."""

    node: tir.IfThenElse | relax.If
    side: bool

    @property
    def span(self) -> Span | None:
        """Where the `if` stands."""
        return self.node.span

    def __str__(self) -> str:
        """In words, with the place."""
        place = "" if self.span is None else f"{self.span.place}: "
        return f"{place}no call makes this condition {'true' if self.side else 'false'}"


class ReachRecorder(Hooks):
    """Counts how often each statement, and each binding, is executed."""

    def __init__(self) -> None:
        self.counts: Counter[object] = Counter()

    def before_stmt(self, stmt: tir.Stmt, frame: Frame) -> None:
        del frame
        self.counts[stmt] += 1

    def before_binding(self, binding: relax.Binding) -> None:
        self.counts[binding] += 1


def reached(program: Program, numbers: Iterable[int], interp: Interp) -> set[Branch]:
    """The branches that the calls `numbers` reach; a call that fails counts as far as it went."""
    hooks = ReachRecorder()
    interpreted = Interpreted(program.module, interp, hooks)
    for number in numbers:
        interpreted.run(program.func, program.arguments(number))
    return {branch for branch in branches(program.module) if _is_reached(branch, hooks.counts)}


def branches(module: IRModule) -> Iterator[Branch]:
    """Both sides of every `if` of a module. Order: of the text."""
    for func in module.functions.values():
        for node in walk(func):
            if isinstance(node, tir.IfThenElse) or (isinstance(node, relax.If) and _is_watchable(node)):
                yield from (Branch(node, side=True), Branch(node, side=False))


def _is_watchable(node: relax.If) -> bool:
    """Whether both sides bind something, which can be watched."""
    return _binding(node.true_branch) is not None and _binding(node.false_branch) is not None


def _is_reached(branch: Branch, counts: Counter[object]) -> bool:
    match branch.node:
        case tir.IfThenElse(then_case=then_case):
            true = counts[_first_statement(then_case)]
            return true > 0 if branch.side else counts[branch.node] > true
        case relax.If(true_branch=true_branch, false_branch=false_branch):
            return counts[_binding(true_branch if branch.side else false_branch)] > 0


def _first_statement(stmt: tir.Stmt) -> tir.Stmt:
    """The statement that is executed first in `stmt`."""
    while isinstance(stmt, tir.SeqStmt) and stmt.seq:
        stmt = stmt.seq[0]
    return stmt


def _binding(body: relax.SeqExpr) -> relax.Binding | None:
    """The first binding of a branch."""
    return next((binding for block in body.blocks for binding in block.bindings), None)
