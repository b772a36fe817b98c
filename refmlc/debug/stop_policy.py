"""What ends a motion: the decisions that the session makes for the engine, here without breakpoints and edits."""

from refmlc.debug.clock import NEVER
from refmlc.debug.places import ProgramPlace, StmtPlace
from refmlc.debug.plan import MotionPlan
from refmlc.debug.session_data import Moment, Stop
from refmlc.diag import Diagnostic
from refmlc.lang.ir import tir
from refmlc.run.interp.tensorir.views import View


class StopPolicy:
    """The decisions during a run [run]; this policy stops at failures only."""

    def hit_at(self, place: ProgramPlace, plan: MotionPlan, moment: Moment) -> Stop | None:
        """The stop at a breakpoint, if one is met."""
        del place, plan, moment
        return None

    def on_store(self, access: tir.BufferStore, view: View, offset: int, value: object) -> Stop | None:
        """The stop at a store, if a breakpoint is met."""
        del access, view, offset, value
        return None

    def on_load(self, access: tir.BufferLoad, view: View, offset: int) -> Stop | None:
        """The stop at a load, if a breakpoint is met."""
        del access, view, offset
        return None

    def quiet(self, name: str, event: int, plan: MotionPlan) -> bool:
        """True if no breakpoint and no edit concerns a call of the prim_func."""
        del name, event, plan
        return True

    def concerns(self, loop: StmtPlace, plan: MotionPlan, steps: range) -> bool:
        """True if a breakpoint or an edit concerns the inside of `loop`, which takes these steps of the event."""
        del loop, plan, steps
        return False

    def fails(self, diagnostic: Diagnostic) -> bool:
        """True if the program stops at this failure."""
        del diagnostic
        return True

    def apply_edits(self, moment: Moment) -> None:
        """The program is at `moment`: make its edits."""
        del moment

    def sets(self, event: int) -> bool:
        """True if a variable is set in `event`: bounds of loops computed before may depend on it."""
        del event
        return False

    def next_edit(self, event: int, after: int) -> int:
        """The next step of `event` after `after` that has an edit."""
        del event, after
        return NEVER
