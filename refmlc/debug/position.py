"""The position of a run: the event, the active calls, and the statement or binding that is about to be executed."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from refmlc.debug.clock import Clock
from refmlc.debug.places import BindingPlace, ProgramPlace, StmtPlace
from refmlc.debug.reentry import Reentry
from refmlc.debug.session_data import Moment
from refmlc.run.interp.graph import activation
from refmlc.run.interp.tensorir.frame import Frame


@dataclass(slots=True)
class ActiveCall:
    """A call that is being executed; only `Position` writes to it.

    `calls`: the number of calls it has made since its last binding began. `env` and `bindings` belong to Relax,
    `reentry`, `place` and `frame` to TensorIR.
    """

    name: str
    args: tuple[object, ...]
    calls: int = 0
    reentry: Reentry | None = None
    place: StmtPlace | None = None
    frame: Frame | None = None
    env: activation.Activation | None = None
    bindings: list[BindingPlace] = field(default_factory=list)


class Position:
    """See the docstring of the module. The run writes it; `calls` are outermost first."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self.bodies = 0  # of prim_funcs being executed, one within another
        self.event = 0
        self.calls: list[ActiveCall] = []
        self.place: ProgramPlace | None = None
        self.frame: Frame | None = None

    @property
    def moment(self) -> Moment:
        """The present moment."""
        return Moment(self.event, self._clock.count())

    @property
    def depth(self) -> int:
        """The number of active calls."""
        return len(self.calls)

    @property
    def innermost(self) -> ActiveCall:
        """The innermost active call."""
        return self.calls[-1]

    @property
    def function(self) -> str:
        """The name of the innermost function."""
        return self.calls[-1].name

    def reset(self) -> None:
        """No call is active: the program has not begun."""
        self.calls = []
        self.event = self.bodies = 0
        self._clock.begin(0)
        self.clear_place()

    def clear_place(self) -> None:
        """The program has no next statement: it has not begun, or it has ended."""
        self.place = self.frame = None

    def next_event(self) -> None:
        """The next event begins; its statements are counted from 1."""
        self.event += 1
        self._clock.begin(0)

    def skip_to(self, step: int) -> None:
        """Statement number `step` of this event is the last one executed."""
        self._clock.begin(step)

    def jump(self, event: int, step: int) -> None:
        """Statement number `step` of `event` is the last one executed."""
        self.event = event
        self._clock.begin(step)

    # ---------------------------------------------------------------------------------------------- calls

    def enter_call(self, name: str, args: Sequence[object]) -> None:
        """Add an active call."""
        if self.calls:
            self.calls[-1].calls += 1
        self.calls.append(ActiveCall(name, tuple(args)))

    def leave_call(self) -> None:
        """The innermost call ends."""
        self.calls.pop()

    def enter_body(self, reentry: Reentry, frame: Frame) -> None:
        """The body of the innermost call, a prim_func, begins."""
        call = self.calls[-1]
        call.reentry, call.frame = reentry, frame
        self.bodies += 1

    def leave_body(self) -> None:
        """The body of a prim_func ends, also by a failure."""
        self.bodies -= 1

    # --------------------------------------------------------------------------------------------- places

    def at_statement(self, place: StmtPlace, frame: Frame) -> None:
        """`place` is about to be executed in `frame`."""
        self.place, self.frame = place, frame
        call = self.calls[-1]
        call.place, call.frame = place, frame

    def after_call(self, place: StmtPlace) -> None:
        """The calls made by `place` have returned."""
        if self.calls:
            self.calls[-1].place = place

    def at_binding(self, place: BindingPlace) -> None:
        """`place` is about to be evaluated."""
        self.place, self.frame = place, None

    def enter_env(self, env: activation.Activation) -> ActiveCall:
        """A binding of the innermost call, a Relax function with the variables `env`, comes next."""
        call = self.calls[-1]
        call.env = env
        return call

    def begin_binding(self, call: ActiveCall, place: BindingPlace) -> None:
        """`call` begins to evaluate a binding."""
        call.bindings.append(place)
        call.calls = 0

    def end_binding(self, call: ActiveCall) -> None:
        """`call` has evaluated the binding."""
        call.bindings.pop()
