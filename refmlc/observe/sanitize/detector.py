"""A detector: hooks that watch for one kind of undefined behaviour, or for one lint.

What is undefined is raised and ends the run, as the interpreter's own failures do. A lint is noted, once for each
place in the text, and counted each time; the run goes on.

Threads that run together take turns, so what a detector knows of the place where a run is belongs to each of them:
`place` gives a copy of it, `go_to` puts it back. A new thread begins where its loop stands.
"""

from dataclasses import dataclass
from enum import Enum
from typing import ClassVar

from refmlc.diag import Diagnostic, error
from refmlc.diag.catalogue import Code
from refmlc.diag.errors import RefmlcError
from refmlc.lang.ir import tir
from refmlc.lang.ir.node import Node
from refmlc.observe.sanitize.facts import FactTable
from refmlc.run.interp.hooks import Hooks
from refmlc.run.interp.tensorir.frame import ACTIVATION, Frame


@dataclass(slots=True)
class Noted:
    """A lint and how often it was met."""

    diagnostic: Diagnostic
    count: int = 1


class Reach(Enum):
    """Where a detector may report: functions that are *plain* (`proved`) may be executed without it."""

    EVERYWHERE = "in every function"
    NOT_PLAIN = "not in plain functions"
    NOT_PLAIN_ALONE = "not in plain functions that write to outputs of calls only"
    GRAPH = "not in functions of TensorIR: at calls and bindings of Relax only"


class Detector(Hooks):
    """Watches one run.

    `code` is what it reports, `is_lint` whether the run goes on after that. `reach` says where that can happen; who
    changes it from `EVERYWHERE` extends the argument in `proved`.
    """

    code: ClassVar[Code]
    is_lint: ClassVar[bool] = False
    reach: ClassVar[Reach] = Reach.EVERYWHERE

    def __init__(self, facts: FactTable) -> None:
        self.facts = facts
        self.noted: dict[object, Noted] = {}
        self._around: list[tuple[object, ...]] = []
        self._waiting: dict[int, tuple[object, ...]] = {}

    def place(self) -> tuple[object, ...]:
        """Where the run is, as far as this detector keeps it: a copy."""
        return ()

    def go_to(self, place: tuple[object, ...]) -> None:
        """Go on at `place`."""

    def resume_thread(self, loop: tir.For, frame: Frame) -> None:
        """Go on where the thread waits; a new one stands where its loop does."""
        del loop
        here = self.place()
        self._around.append(here)
        self.go_to(self._waiting.pop(id(frame), here))

    def pause_thread(self, loop: tir.For, frame: Frame) -> None:
        """Remember where the thread is."""
        del loop
        self._waiting[id(frame)] = self.place()
        self.go_to(self._around.pop())

    def explain(self, failure: RefmlcError) -> RefmlcError:
        """The failure that ended the run, with what this detector knows of it."""
        return failure

    def undefined(self, diagnostic: Diagnostic, node: Node, frame: Frame) -> RefmlcError:
        """The failure at `node`, to be raised."""
        frame[ACTIVATION].failed_in = self.facts.loops(node, frame)
        return error(diagnostic)

    def lint(self, diagnostic: Diagnostic, place: object) -> None:
        """Note a lint at `place`."""
        known = self.noted.get(place)
        if known is None:
            self.noted[place] = Noted(diagnostic)
        else:
            known.count += 1

    def has(self, place: object) -> bool:
        """Whether a lint is noted at `place`; then it is counted once more."""
        if place in self.noted:
            self.noted[place].count += 1
            return True
        return False
