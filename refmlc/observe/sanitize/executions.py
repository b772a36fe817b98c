"""Executions of blocks: the instances that are compared with each other.

A block stands in a scope: an instance of the block around it, or a call of its function. One execution of the block
are its instances in one such scope, for one value of the loops between that none of the bindings names: those are
time, and what they repeat is the whole block. Under a `while` there is no telling.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Generic, TypeVar, cast

from refmlc.lang.ir import tir
from refmlc.lang.ir.visit import walk
from refmlc.observe.sanitize.facts import FactTable
from refmlc.run.interp.tensorir.block_sites import BlockSite
from refmlc.run.interp.tensorir.frame import ACTIVATION, Frame

T = TypeVar("T")


@dataclass(slots=True)
class Execution(Generic[T]):
    """One execution of a block: when (the values of the loops that are time), and what a detector keeps of it."""

    time: tuple[int, ...]
    state: T


@dataclass(slots=True)
class ScopeOfBlocks(Generic[T]):
    """The executions in one scope, the last of each block."""

    below: dict[BlockSite, Execution[T]] = field(default_factory=dict)


class Executions(Generic[T]):
    """Which execution the instance that begins belongs to."""

    def __init__(self, facts: FactTable, make: Callable[[], T]) -> None:
        """`make` makes what is kept of an execution."""
        self._facts = facts
        self._make = make
        self._scopes: list[ScopeOfBlocks[T]] = [ScopeOfBlocks()]
        self._times: dict[BlockSite, tuple[tir.Var, ...] | None] = {}

    def place(self) -> list[ScopeOfBlocks[T]]:
        """The scopes around the place where the run is: a copy, which `go_to` takes."""
        return list(self._scopes)

    def go_to(self, place: list[ScopeOfBlocks[T]]) -> None:
        """Go on at `place`."""
        self._scopes = list(place)

    def enter(self) -> None:
        """A call of a function begins."""
        self._scopes.append(ScopeOfBlocks())

    def enter_block(self, site: BlockSite, frame: Frame) -> T | None:
        """An instance begins; what is kept of its execution. None: its instances are not compared."""
        if site not in self._times:
            self._times[site] = self._time_of(site, frame)
        below, time = self._scopes[-1].below, self._times[site]
        self._scopes.append(ScopeOfBlocks())
        if time is None:
            return None
        layout = frame[ACTIVATION].layout
        now = tuple([cast("int", frame[layout.slot(var)]) for var in time])
        execution = below.get(site)
        if execution is None or execution.time != now:
            execution = below[site] = Execution(now, self._make())
        return execution.state

    def leave(self) -> None:
        """The call or the instance that was entered last ended."""
        self._scopes.pop()

    def _time_of(self, site: BlockSite, frame: Frame) -> tuple[tir.Var, ...] | None:
        """The loops that no binding names, inside of the scope of the block."""
        named = {part for value in site.node.iter_values for part in walk(value) if isinstance(part, tir.Var)}
        time: list[tir.Var] = []
        for place in reversed(self._facts.at(frame).around.get(site.node, ())):
            match place:
                case tir.SBlockRealize():
                    break
                case tir.While():
                    return None
                case tir.For(loop_var=var) | tir.AttrStmt(node=tir.ThreadVar(var=tir.Var() as var)):
                    if var not in named:
                        time.append(var)
        return tuple(time)
