"""Executions of blocks: the instances that are compared with each other.

The scope of a block is an instance of the block around it, or a call of its function. One execution of the block are
its instances in one scope, for one value of the loops between that no binding names: those loops are time, and repeat
the whole block. Under a `while` the executions of a block are unknown.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeAlias, TypeVar, cast

from refmlc.lang.ir import tir
from refmlc.lang.ir.visit import walk
from refmlc.observe.sanitize.detector import Detector
from refmlc.observe.sanitize.facts import FactTable
from refmlc.run.interp.tensorir.block_sites import BlockSite
from refmlc.run.interp.tensorir.frame import ACTIVATION, Frame

T = TypeVar("T")


@dataclass(slots=True)
class Execution(Generic[T]):
    """One execution of a block: its time (the values of the loops that are time), and the detector's state of it."""

    time: tuple[int, ...]
    state: T


Scope: TypeAlias = "dict[BlockSite, Execution[T]]"
"""The last execution of each block in one scope."""


class ExecutionDetector(Detector, Generic[T]):
    """A detector with a state for each execution of a block."""

    def __init__(self, facts: FactTable, make: Callable[[], T]) -> None:
        """`make` makes the state of an execution."""
        super().__init__(facts)
        self._make = make
        self._scopes: list[Scope[T]] = [{}]
        self._times: dict[BlockSite, tuple[tir.Var, ...] | None] = {}

    def place(self) -> tuple[object, ...]:
        return (list(self._scopes),)

    def go_to(self, place: tuple[object, ...]) -> None:
        self._scopes = list(cast("list[Scope[T]]", place[0]))

    def enter_function(self, name: str, args: Sequence[object]) -> None:
        del name, args
        self._scopes.append({})

    def leave_function(self, name: str, result: object) -> None:
        del name, result
        self._scopes.pop()

    def leave_block(self, site: BlockSite, frame: Frame) -> None:
        del site, frame
        self._scopes.pop()

    def enter_execution(self, site: BlockSite, frame: Frame) -> T | None:
        """Enter an instance of a block; the state of its execution. None: its instances are not compared."""
        if site not in self._times:
            self._times[site] = self._time_of(site, frame)
        scope, time = self._scopes[-1], self._times[site]
        self._scopes.append({})
        if time is None:
            return None
        layout = frame[ACTIVATION].layout
        now = tuple([cast("int", frame[layout.slot(var)]) for var in time])
        execution = scope.get(site)
        if execution is None or execution.time != now:
            execution = scope[site] = Execution(now, self._make())
        return execution.state

    def _time_of(self, site: BlockSite, frame: Frame) -> tuple[tir.Var, ...] | None:
        """The loops that no binding names, within the scope of the block; None under a `while`."""
        bound_vars = {part for value in site.node.iter_values for part in walk(value) if isinstance(part, tir.Var)}
        time: list[tir.Var] = []
        for place in reversed(self.facts.at(frame).around.get(site.node, ())):
            match place:
                case tir.SBlockRealize():
                    break
                case tir.While():
                    return None
                case tir.For(loop_var=var) | tir.AttrStmt(node=tir.ThreadVar(var=tir.Var() as var)):
                    if var not in bound_vars:
                        time.append(var)
        return tuple(time)
