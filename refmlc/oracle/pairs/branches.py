"""Both branches of every `if`, and the instances of blocks: what the calls of a program execute, and what none does."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from refmlc.diag.source import Span
from refmlc.lang.ir import IRModule, relax, tir
from refmlc.lang.ir.reach import reachable
from refmlc.lang.ir.visit import walk
from refmlc.run.interp.hooks import Hooks
from refmlc.run.interp.tensorir.block_sites import BlockSite
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


@dataclass(frozen=True)
class ReachablePart:
    """The branches and blocks of a program, in the order of the text."""

    branches: tuple[Branch, ...]
    blocks: tuple[tir.SBlockRealize, ...]


@dataclass(frozen=True)
class ExecutedParts:
    """What calls executed: the branches that none of them took, and instances of blocks.

    `instances` of the visited ones ran, the others were predicated off. `unused`: blocks of which none ran.
    """

    branches: int = 0
    missed: tuple[Branch, ...] = ()
    visited: int = 0
    instances: int = 0
    unused: tuple[str, ...] = ()

    def __str__(self) -> str:
        """In one line; empty for a program without branches and blocks."""
        parts = [f"{self.branches - len(self.missed)} of {self.branches} branches"] if self.branches else []
        parts += [f"{self.instances} of {self.visited} block instances"] if self.visited else []
        unused = f"; no instance of {', '.join(f'`{name}`' for name in self.unused)}" if self.unused else ""
        return f"reached {' and '.join(parts)}{unused}" if parts else ""


class ReachRecorder(Hooks):
    """Counts how often each statement, each binding and each instance of a block is executed."""

    def __init__(self) -> None:
        self.counts: Counter[object] = Counter()
        self.instances: Counter[tir.SBlockRealize] = Counter()

    def before_stmt(self, stmt: tir.Stmt, frame: Frame) -> None:
        del frame
        self.counts[stmt] += 1

    def enter_block(self, site: BlockSite, frame: Frame) -> None:
        del frame
        self.instances[site.node] += 1

    def before_binding(self, binding: relax.Binding) -> None:
        self.counts[binding] += 1

    def reach(self, program: ReachablePart) -> ExecutedParts:
        """What of the program was executed so far."""
        missed = tuple(branch for branch in program.branches if not _is_reached(branch, self.counts))
        visited = sum(self.counts[block] for block in program.blocks)
        unused = dict.fromkeys(block.block.name for block in program.blocks if not self.instances[block])
        return ExecutedParts(len(program.branches), missed, visited, self.instances.total(), tuple(unused))


def reachable_part(module: IRModule, func: str) -> ReachablePart:
    """The branches and blocks of the functions that a call of `func` can reach."""
    part = reachable(module, func)
    blocks = [node for each in part.functions.values() for node in walk(each) if isinstance(node, tir.SBlockRealize)]
    return ReachablePart(tuple(branches(part)), tuple(blocks))


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
