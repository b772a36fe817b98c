"""Why an element has its value at a moment: `refmlc.observe.why` with runs that end at the moment."""

from collections.abc import Sequence
from functools import partial

from refmlc.debug.program import Program
from refmlc.debug.session_data import Moment
from refmlc.lang.ir import IRModule, relax, tir
from refmlc.lang.library import OPERATORS
from refmlc.observe.why import Slice
from refmlc.observe.why.recorder import Enough
from refmlc.observe.why.why import why
from refmlc.run.interp.hooks import Hooks
from refmlc.run.interp.tensorir.frame import Frame


class MomentLimit(Hooks):
    """Ends a run at a moment, which it counts as the engine does."""

    def __init__(self, module: IRModule, until: Moment) -> None:
        self._module = module
        self._until = until
        self._event = 0
        self._step = 0
        self._calls = 0  # of prim_funcs and operators, one within another

    def enter_function(self, name: str, args: Sequence[object]) -> None:
        """A call that Relax makes begins an event."""
        del args
        if not self._calls:
            self._next_event()
        if self._calls or isinstance(self._module.functions.get(name), tir.PrimFunc) or name in OPERATORS:
            self._calls += 1

    def leave_function(self, name: str, result: object) -> None:
        """The end of a call that Relax makes is an event."""
        del name, result
        self._calls = max(0, self._calls - 1)
        if not self._calls:
            self._next_event()

    def before_binding(self, binding: relax.Binding) -> None:
        """A binding is an event."""
        del binding
        self._next_event()

    def before_stmt(self, stmt: tir.Stmt, frame: Frame) -> None:
        """A statement is a step."""
        del frame
        if not isinstance(stmt, tir.SeqStmt):
            self._step += 1
            self._check()

    def _next_event(self) -> None:
        self._event += 1
        self._step = 0
        self._check()

    def _check(self) -> None:
        if Moment(self._event, self._step) >= self._until:
            raise Enough


def why_at(program: Program, name: str, index: tuple[int, ...], until: Moment | None) -> Slice:
    """Why an element has the value that it has at `until` (None: at the end)."""
    limit = None if until is None else partial(MomentLimit, program.module, until)
    return why(program.module, program.func, program.args, name, index, registry=program.registry, companion=limit)
