"""A detector: hooks that watch for one kind of undefined behaviour, or for one lint.

Undefined behaviour is raised and ends the run, as the interpreter's own failures do. A lint is kept once for each place
in the text, and counted each time; the run continues.

Threads that run together take turns, so each of them has its own state of a detector, as far as it depends on the place
of the run: `place` copies it, `go_to` restores it. A new thread begins with the state of its loop.
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
class LintCount:
    """A lint and the number of times it occurred."""

    diagnostic: Diagnostic
    count: int = 1


class Reach(Enum):
    """Where a detector may report; *plain* functions (`proved`) may be executed without it."""

    EVERYWHERE = "in every function"
    NOT_PLAIN = "not in plain functions"
    NOT_PLAIN_ALONE = "not in plain functions that write to outputs of calls only"
    GRAPH = "not in functions of TensorIR: at calls and bindings of Relax only"


class Detector(Hooks):
    """Watches one run.

    `code` is the code that it reports; after a lint (`is_lint`) the run continues. `reach` says where it may report: a
    value other than `EVERYWHERE` needs an argument in `proved`.
    """

    code: ClassVar[Code]
    is_lint: ClassVar[bool] = False
    reach: ClassVar[Reach] = Reach.EVERYWHERE

    def __init__(self, facts: FactTable) -> None:
        self.facts = facts
        self.lint_counts: dict[object, LintCount] = {}
        self._around: list[tuple[object, ...]] = []
        self._waiting: dict[int, tuple[object, ...]] = {}

    @classmethod
    def applies(cls, facts: FactTable) -> bool:
        """Whether the detector can find anything in the module: otherwise it is left out, as it costs time."""
        del facts
        return True

    def place(self) -> tuple[object, ...]:
        """A copy of the state that depends on the place of the run."""
        return ()

    def go_to(self, place: tuple[object, ...]) -> None:
        """Restore the state that `place` copied."""

    def resume_thread(self, loop: tir.For, frame: Frame) -> None:
        """Restore the state of the thread; a new one has that of its loop."""
        del loop
        place = self.place()
        self._around.append(place)
        self.go_to(self._waiting.pop(id(frame), place))

    def pause_thread(self, loop: tir.For, frame: Frame) -> None:
        """Keep the state of the thread, and restore that of its loop."""
        del loop
        self._waiting[id(frame)] = self.place()
        self.go_to(self._around.pop())

    def explain(self, failure: RefmlcError) -> RefmlcError:
        """The failure that ended the run, with this detector's details."""
        return failure

    def undefined(self, diagnostic: Diagnostic, node: Node, frame: Frame) -> RefmlcError:
        """The failure at `node`, to be raised."""
        frame[ACTIVATION].failed_in = self.facts.loops(node, frame)
        return error(diagnostic)

    def lint(self, diagnostic: Diagnostic, place: object) -> None:
        """Count a lint at `place`."""
        lint = self.lint_counts.get(place)
        if lint is None:
            self.lint_counts[place] = LintCount(diagnostic)
        else:
            lint.count += 1

    def has(self, place: object) -> bool:
        """True if there is a lint at `place`, which is counted once more."""
        if place in self.lint_counts:
            self.lint_counts[place].count += 1
            return True
        return False
