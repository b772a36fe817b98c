"""The stop policy of a session: whether a breakpoint is met at a place, a store or a load.

| kind                      | is met                                                                |
|---------------------------|-----------------------------------------------------------------------|
| line, name                | before the statement or binding, where the condition holds            |
| `write`, `change`, `read` | before the element is written, written with other bits, or read       |
| `nan`, `inf`              | before a NaN or an infinity is stored, except for a constant of the text |
| difference                | before an element is stored with bits other than those of the reference |

A watch is on memory where the name stands for an argument of the function to run, or for a Relax variable (then also
while it is computed). Otherwise it is on every buffer with this name in the function, in whatever memory each call has.

| a condition                                 | the breakpoint                                          |
|---------------------------------------------|---------------------------------------------------------|
| holds, does not hold                        | is met, is not met                                      |
| has no value, or is neither true nor false  | is met, and the stop says why; a log point says it once |

Decision: a condition without a value stops the program, as in pdb and gdb: a stop too many is better than one missed.
"""

import re
from array import array
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from math import isnan

from refmlc.debug.clock import NEVER
from refmlc.debug.edits import EditLog
from refmlc.debug.engine import Engine
from refmlc.debug.expressions import ElementRange
from refmlc.debug.places import ProgramPlace, StmtPlace
from refmlc.debug.plan import MotionPlan
from refmlc.debug.session_data import BreakKind, Breakpoint, Moment, Reason, Stop
from refmlc.debug.stop_policy import StopPolicy
from refmlc.debug.tensors import digits, is_special
from refmlc.diag import Diagnostic, RefmlcError
from refmlc.lang.ir import tir
from refmlc.run.interp.tensorir.views import View
from refmlc.run.memory.cells import cell_size
from refmlc.run.memory.storage import Storage
from refmlc.run.memory.tensor import Tensor
from refmlc.run.memory.values import kind_of

WATCHES = (BreakKind.WRITE, BreakKind.CHANGE, BreakKind.READ)
STORES = (*WATCHES, BreakKind.NAN, BreakKind.INF, BreakKind.DIFFERENCE)
STEP_BITS = 36
BRACES = re.compile(r"\{([^{}]*)\}")


@dataclass(slots=True)
class ArmedBreakpoint:
    """A breakpoint together with everything needed to decide whether it is met.

    `hits`: the moments at which it was met, as numbers that grow. `failed`: why its condition has no value.
    `cells`: the bytes of watched elements in `storage`, or in the output of the call that makes the variable `binding`
    of Relax, which has other memory each time it is executed.
    """

    point: Breakpoint
    places: frozenset[ProgramPlace] = frozenset()
    element: ElementRange | None = None
    function: str = ""
    storage: Storage | None = None
    binding: str = ""
    cells: frozenset[int] = frozenset()
    reference: Tensor | None = None
    hits: "array[int]" = field(default_factory=lambda: array("Q"))
    failed: str = ""

    def hit(self, moment: Moment) -> int:
        """Count a hit at `moment`; the number of hits so far."""
        self.back_to(moment)
        number = moment.event << STEP_BITS | moment.step
        if not self.hits or self.hits[-1] < number:
            self.hits.append(number)
        self.point.count = len(self.hits)
        return self.point.count

    def back_to(self, moment: Moment) -> None:
        """Take back the hits after `moment`."""
        number = moment.event << STEP_BITS | moment.step
        while self.hits and self.hits[-1] > number:
            self.hits.pop()
        self.point.count = len(self.hits)

    def forget(self) -> None:
        """Forget the hits and the failed condition."""
        del self.hits[:]
        self.point.count, self.failed = 0, ""


class BreakpointPolicy(StopPolicy):
    """The breakpoints and edits of a session. `evaluate` evaluates an expression in the innermost frame."""

    def __init__(self, engine: Engine, evaluate: Callable[[str], object], edit_log: EditLog) -> None:
        self.engine = engine
        self.armed: dict[int, ArmedBreakpoint] = {}
        self.logs: list[str] = []
        self._evaluate = evaluate
        self._edit_log = edit_log
        self.failures: frozenset[str] | None = None

    # ------------------------------------------------------------------------------------------- the plan

    def places(self) -> frozenset[ProgramPlace]:
        """The places that have breakpoints."""
        return frozenset(place for armed in self._enabled() for place in armed.places)

    def level(self) -> int:
        """The tracing level that the breakpoints need."""
        kinds = {armed.point.kind for armed in self._enabled()}
        return 2 if BreakKind.READ in kinds else 1 if kinds & set(STORES) else 0

    def _enabled(self) -> Iterator[ArmedBreakpoint]:
        return (armed for armed in self.armed.values() if armed.point.enabled)

    def quiet(self, name: str, event: int, plan: MotionPlan) -> bool:
        """True if no breakpoint and no edit concerns a call of the prim_func `name`."""
        if any(edit.moment.event == event for edit in self._edit_log.edits):
            return False
        if not plan.breakpoints:
            return True
        if any(armed.point.kind in STORES for armed in self._enabled()):
            return False
        functions = {place.function for place in self.places() if isinstance(place, StmtPlace)}
        return not functions or not (functions & self._called_by(name))

    def concerns(self, loop: StmtPlace, plan: MotionPlan, steps: range) -> bool:
        """True if a breakpoint or an edit concerns the inside of `loop`, which takes these steps of the event."""
        event = self.engine.position.event
        if any(edit.moment.event == event and edit.moment.step in steps[1:] for edit in self._edit_log.edits):
            return True
        if not plan.breakpoints:
            return False
        if any(armed.point.kind in STORES for armed in self._enabled()):
            return True
        return any(isinstance(place, StmtPlace) and place is not loop and place.is_in(loop) for place in self.places())

    def _called_by(self, name: str) -> set[str]:
        """The functions that a call of `name` can execute."""
        names, queue = {name}, [name]
        functions = self.engine.program.module.functions
        while queue:
            func = functions.get(queue.pop())
            if not isinstance(func, tir.PrimFunc):
                continue
            places = self.engine.places.of(func, name)
            if any(place.calls for place in places):
                queue += [function for function in functions if function not in names]
                names |= set(functions)
        return names

    def fails(self, diagnostic: Diagnostic) -> bool:
        """True if the program stops at this failure: `failures` is None, or contains its kind or code."""
        if self.failures is None:
            return True
        code = diagnostic.code.id
        kinds = {"3": "undefined", "4": "trap"}
        return not self.failures.isdisjoint((code, "all", kinds.get(code[2], "all")))

    # --------------------------------------------------------------------------------------------- edits

    def sets(self, event: int) -> bool:
        """True if a variable is set in `event`."""
        return any(edit.moment.event == event and edit.index is None for edit in self._edit_log.edits)

    def next_edit(self, event: int, after: int) -> int:
        """The next step of `event` that has an edit."""
        steps = [edit.moment.step for edit in self._edit_log.edits if edit.moment.event == event]
        return min((step for step in steps if step > after), default=NEVER)

    def apply_edits(self, moment: Moment) -> None:
        """Make the edits of this moment."""
        for edit in self._edit_log.edits:
            if edit.moment == moment:
                self._edit_log(edit)

    # ------------------------------------------------------------------------------------------- being met

    def hit_at(self, place: ProgramPlace, plan: MotionPlan, moment: Moment) -> Stop | None:
        """The stop at a breakpoint of `place`, if one is met."""
        hits = [armed for armed in self._enabled() if place in armed.places and self._passes(armed, plan)]
        if not hits:
            return None
        kind = hits[0].point.kind
        reason = Reason.FUNCTION if kind is BreakKind.FUNCTION else Reason.BREAKPOINT
        numbers = tuple(armed.point.number for armed in hits)
        return Stop(reason, moment, self.engine.position.function, place.span, "", numbers, note=noted(hits))

    def _passes(self, armed: ArmedBreakpoint, plan: MotionPlan) -> bool:
        """True if the condition holds or has no value, the count is reached, and it is not a log point."""
        point, failed = armed.point, armed.failed
        if point.threads and self.engine.thread not in point.threads:
            return False
        if point.condition and not self._holds(armed):
            return False
        if plan.collects:
            return not point.log
        count = armed.hit(self.engine.position.moment)
        if count <= point.ignore or (point.exactly and count > point.ignore + 1):
            return False
        if point.log:
            if not plan.silent and not (armed.failed and failed):
                text = BRACES.sub(lambda match: self._evaluated(match[1]), point.log)
                self.logs.append(armed.failed or text)
            return False
        if point.once:
            point.enabled = False
        return True

    def _holds(self, armed: ArmedBreakpoint) -> bool:
        """True if the condition holds, or has no value; the reason is then kept in `failed`."""
        try:
            value = self._evaluate(armed.point.condition)
        except RefmlcError as failure:
            why = failure.diagnostic.message
        else:
            if isinstance(value, bool | int | float):
                armed.failed = ""
                return bool(value)
            why = f"{kind_of(value)} is neither true nor false"
        armed.failed = f"the condition `{armed.point.condition}` has no value here: {why}"
        return True

    def _evaluated(self, text: str) -> str:
        try:
            return str(self._evaluate(text))
        except RefmlcError as failure:
            return f"<{failure.diagnostic.message}>"

    def on_store(self, access: tir.BufferStore, view: View, offset: int, value: object) -> Stop | None:
        """The stop before a store, if a breakpoint is met."""
        lanes = value if isinstance(value, tuple) else (value,)
        for armed in self._enabled():
            text = self._why(armed, access, view, offset, lanes)
            if text and self._passes(armed, self.engine.control.plan):
                kind = armed.point.kind
                reason = (
                    Reason.NUMBER if kind in (BreakKind.NAN, BreakKind.INF)
                    else Reason.DIFFERENCE if kind is BreakKind.DIFFERENCE else Reason.DATA
                )  # fmt: skip
                return self._stop(reason, access, armed, text)
        return None

    def _why(
        self, armed: ArmedBreakpoint, access: tir.BufferStore, view: View, offset: int, lanes: tuple[object, ...]
    ) -> str:
        """A sentence on the value about to be stored, if the breakpoint waits for it; else ""."""
        element_text, dtype = spelled(view, offset), view.buffer.dtype
        match armed.point.kind:
            case BreakKind.NAN | BreakKind.INF as kind:
                specials = ("nan", "inf") if kind is BreakKind.NAN else ("inf",)
                special = [lane for lane in lanes if is_special(lane) in specials]
                return (
                    f"{element_text} = {special[0]} is about to be stored"
                    if special and not constant(access.value)
                    else ""
                )
            case BreakKind.WRITE | BreakKind.CHANGE as kind if self._watched(armed, view, offset):
                old_value = present_value(view, offset)
                if kind is BreakKind.CHANGE and old_value is not None and same(old_value, lanes[0]):
                    return ""
                was = "" if old_value is None else f", it was {digits(old_value, dtype)}"
                return f"{element_text} = {digits(lanes[0], dtype)} is about to be stored{was}"
            case BreakKind.DIFFERENCE if armed.reference is not None and view.buffer.name == armed.point.what:
                reference = armed.reference
                number = offset * view.buffer.dtype.lanes
                if view.shape != reference.shape or not reference.shadow[number]:
                    return ""
                due = reference.cells[number]
                if same(due, lanes[0]):
                    return ""
                return f"{element_text} = {digits(lanes[0], dtype)} is about to be stored, not {digits(due, dtype)}"
            case _:
                return ""

    def on_load(self, access: tir.BufferLoad, view: View, offset: int) -> Stop | None:
        """The stop before a load, if a breakpoint is met."""
        for armed in self._enabled():
            if armed.point.kind is BreakKind.READ and self._watched(armed, view, offset):
                value = present_value(view, offset)
                state = "not initialised" if value is None else digits(value, view.buffer.dtype)
                text = f"{spelled(view, offset)} is about to be read: {state}"
                if self._passes(armed, self.engine.control.plan):
                    return self._stop(Reason.DATA, access, armed, text)
        return None

    def _stop(
        self, reason: Reason, access: tir.BufferLoad | tir.BufferStore, armed: ArmedBreakpoint, text: str
    ) -> Stop:
        place = self.engine.places.of_access(access)
        span = access.span if place is None else place.span
        element = text[: text.index("]") + 1]  # it begins with it
        return Stop(
            reason, self.engine.position.moment, self.engine.position.function, span, text, (armed.point.number,),
            element=element, note=armed.failed,
        )  # fmt: skip

    def _watched(self, armed: ArmedBreakpoint, view: View, offset: int) -> bool:
        if armed.storage is not None:
            size = cell_size(view.buffer.dtype) * view.buffer.dtype.lanes
            start = view.data.byte_offset + (view.offset + offset) * size
            storage = view.data.storage
            is_watched_storage = storage is armed.storage or (
                bool(armed.binding) and storage is self._output_storage(armed.binding)
            )
            return is_watched_storage and not armed.cells.isdisjoint(range(start, start + size))
        element = armed.element
        return (
            element is not None
            and view.buffer.name == element.name
            and self.engine.position.function == armed.function
            and element.holds(indices_of(view, offset))
        )

    def _output_storage(self, binding: str) -> Storage | None:
        """The storage that the active call for a binding writes to: that of its last tensor."""
        levels = self.engine.position.calls
        for caller, callee in pairwise(levels):
            if caller.bindings and caller.bindings[-1].name == binding:
                tensors = [arg for arg in callee.args if isinstance(arg, Tensor)]
                return tensors[-1].storage if tensors else None
        return None


def noted(hits: Iterable[ArmedBreakpoint]) -> str:
    """The notes on conditions that have no value."""
    return "; ".join(armed.failed for armed in hits if armed.failed)


def spelled(view: View, offset: int) -> str:
    """The element as TVMScript spells it."""
    return f"{view.buffer.name}[{', '.join(map(str, indices_of(view, offset)))}]"


def indices_of(view: View, offset: int) -> tuple[int, ...]:
    """The indices of an element; where strides overlap, the greatest possible ones."""
    indices = {}
    for axis in sorted(range(len(view.shape)), key=lambda number: -view.strides[number]):
        stride = view.strides[axis]
        at = min(offset // stride, view.shape[axis] - 1) if stride and view.shape[axis] > 1 else 0
        offset -= at * stride
        indices[axis] = at
    return tuple(indices[axis] for axis in range(len(view.shape)))


def present_value(view: View, offset: int) -> object:
    """The value of the first lane of an element; None where it is uninitialised, or outside of the storage."""
    first = offset * view.buffer.dtype.lanes
    try:
        return view.cells[first] if view.shadow[first] else None
    except (IndexError, RefmlcError):
        return None


def same(a: object, b: object) -> bool:
    """True for equal bits; all NaNs are equal."""
    if isinstance(a, float) and isinstance(b, float):
        return (isnan(a) and isnan(b)) or (a == b and str(a) == str(b))
    return a == b


def constant(value: tir.Expr) -> bool:
    """True if the number is a constant of the text."""
    match value:
        case tir.FloatImm() | tir.IntImm():
            return True
        case tir.Cast(value=inner) | tir.Broadcast(value=inner):
            return constant(inner)
        case tir.Apply(args=args):
            return all(constant(arg) for arg in args)
        case _:
            return False


__all__ = ["STORES", "WATCHES", "ArmedBreakpoint", "BreakpointPolicy"]
