"""Why an element has its value at a moment: `refmlc.observe.why`, its runs ended there.

Moments are counted as the engine counts them; the recorder sees the same functions, statements and bindings.
"""

from collections.abc import Sequence

from refmlc.debug.program import Program
from refmlc.debug.session_data import Moment
from refmlc.lang.ir import relax, tir
from refmlc.lang.library import OPERATORS
from refmlc.observe.why import LIMITS, Slice
from refmlc.observe.why.asked import Finder
from refmlc.observe.why.recorder import Enough, Recorder
from refmlc.observe.why.why import Ways, why
from refmlc.run.interp.tensorir.frame import Frame


class Ending(Recorder):
    """A recorder that has enough at a moment."""

    moment: Moment
    event: int = 0
    step: int = 0
    depth: int = 0
    inner: int = 0

    def enter_function(self, name: str, args: Sequence[object]) -> None:
        """An event begins, where Relax calls."""
        super().enter_function(name, args)
        if not self.inner:
            self._next_event()
        if self.inner or isinstance(self._module.functions.get(name), tir.PrimFunc) or name in OPERATORS:
            self.inner += 1

    def leave_function(self, name: str, result: object) -> None:
        """It ends."""
        super().leave_function(name, result)
        self.inner = max(0, self.inner - 1)
        if not self.inner:
            self._next_event()

    def before_binding(self, binding: relax.Binding) -> None:
        """A binding is an event."""
        super().before_binding(binding)
        self._next_event()

    def before_stmt(self, stmt: tir.Stmt, frame: Frame) -> None:
        """A statement is a step."""
        if not isinstance(stmt, tir.SeqStmt):
            self.step += 1
            if (self.event, self.step) >= (self.moment.event, self.moment.step):
                raise Enough
        super().before_stmt(stmt, frame)

    def _next_event(self) -> None:
        self.event += 1
        self.step = 0
        if (self.event, 0) >= (self.moment.event, self.moment.step):
            raise Enough


class EndingFinder(Ending, Finder):
    """The same for the first run."""


def why_at(program: Program, name: str, index: tuple[int, ...], until: Moment | None) -> Slice:
    """Why an element has the value that it has at `until` (None: at the end)."""
    if until is None:
        return why(program.module, program.func, program.args, name, index, registry=program.registry)
    recorder = type("EndingRecorder", (Ending,), {"moment": until})
    finder = type("EndingFinderAt", (EndingFinder,), {"moment": until})
    ways = Ways(finder, recorder)
    return why(
        program.module, program.func, program.args, name, index, limits=LIMITS, registry=program.registry, ways=ways
    )
