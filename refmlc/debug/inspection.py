"""Inspection of the program where it stands: frames, variables, expressions, provenance."""

from collections.abc import Sequence

from refmlc.debug.engine import Engine
from refmlc.debug.expressions import ElementRange, PreparedExpression, element, node_for, prepare, region, value_of
from refmlc.debug.frames import LiveFrame, Standing, live_frames, names_in, variables
from refmlc.debug.places import ProgramPlace, StmtPlace
from refmlc.debug.provenance import why_at
from refmlc.debug.session_data import FrameKind, Moment, Reason, StackFrame, Stop, Variable
from refmlc.debug.tensors import dtype_of, region as select
from refmlc.debug.threads.roster import Tracked
from refmlc.debug.threads.standing import place_of, reentry_of
from refmlc.diag import fail
from refmlc.diag.catalogue import BAD_USAGE
from refmlc.lang.ir import tir
from refmlc.observe.why import Slice
from refmlc.run.memory.tensor import Tensor


class Inspection:
    """Reads frames and values at the current position; results are cached until the program moves."""

    def __init__(self, engine: Engine) -> None:
        """Begin with an empty cache."""
        self.engine = engine
        self.edited: set[tuple[int, str]] = set()
        self._live_frames: list[LiveFrame] | None = None
        self.selected: Tracked | None = None
        self._prepared: dict[tuple[int, str], tuple[ProgramPlace, PreparedExpression]] = {}

    def invalidate(self) -> None:
        """Drop the cache, and select the thread that runs: the program has moved."""
        self._live_frames = self.selected = None

    # -------------------------------------------------------------------------------------------- threads

    def select(self, tracked: Tracked | None) -> None:
        """Show the frames of another thread; None: of the one that runs."""
        self._live_frames, self.selected = None, tracked

    def _standing(self) -> Standing | None:
        tracked = self.selected
        if tracked is None:
            return None
        reentry, place = reentry_of(self.engine, tracked), place_of(self.engine, tracked)
        return None if reentry is None or place is None else Standing(reentry, place, tracked.frame)

    # --------------------------------------------------------------------------------------------- frames

    def live_frames(self) -> list[LiveFrame]:
        """All frames, innermost first."""
        if self._live_frames is None:
            stands = self.engine.position.place is not None
            self._live_frames = live_frames(self.engine, self._standing()) if stands else []
        return self._live_frames

    def live_frame(self, index: int) -> LiveFrame:
        """The frame of this number. Fails: RM112."""
        frames = self.live_frames()
        if not 0 <= index < len(frames):
            raise fail(BAD_USAGE, f"there is no frame {index}: the number of frames is {len(frames)}")
        return frames[index]

    def loop(self, name: str) -> LiveFrame:
        """The innermost loop, or the one over `name`. Fails: RM112."""
        for live in self.live_frames():
            if live.frame.kind is FrameKind.LOOP and name in ("", live.frame.name):
                return live
        raise fail(BAD_USAGE, f"there is no loop over `{name}` around this" if name else "there is no loop around this")

    def frames(self) -> Sequence[StackFrame]:
        """All frames, innermost first."""
        return [live.frame for live in self.live_frames()]

    # ------------------------------------------------------------------------------------------ variables

    def variables(self, frame: int) -> Sequence[Variable]:
        """The variables of a frame."""
        return variables(self.live_frame(frame), frozenset(self.edited))

    def visible(self, frame: int) -> Sequence[Variable]:
        """The names visible in a frame; without frames, the arguments."""
        if not self.live_frames():
            return self.arguments()
        first, names = self.live_frame(frame), dict[str, Variable]()
        for live in self.live_frames()[frame:]:
            if live.frame.level == first.frame.level:
                for variable in variables(live, frozenset(self.edited)):
                    names.setdefault(variable.name, variable)
        return list(names.values())

    def arguments(self) -> list[Variable]:
        """The arguments in their present state, and the result."""
        program = self.engine.program
        variables = [
            Variable(name, "parameter", value, dtype_of(value))
            for name, value in zip(program.names, self.engine.args, strict=True)
        ]
        result = self.engine.outcome.result
        if result is not None:
            variables.append(Variable("result", "variable", result, dtype_of(result)))
        return variables

    # ---------------------------------------------------------------------------------------- expressions

    def names(self, frame: int) -> dict[str, "tuple[tir.Var | tir.Buffer, object]"]:
        """The names that an expression can use in a frame, with their values."""
        if self.live_frames():
            self.live_frame(frame)
            return names_in(self.live_frames(), frame)
        from_end: dict[str, tuple[tir.Var | tir.Buffer, object]] = {}
        for variable in self.arguments():
            node = node_for(variable.name, variable.value)
            if node is not None:
                from_end[variable.name] = (node, variable.value)
        return from_end

    def look(self, text: str, frame: int) -> Variable:
        """An expression or a name with its value and dtype."""
        name = text.strip()
        for variable in self.visible(frame) if name.isidentifier() else ():
            if variable.name == name and (variable.tensor is not None or not isinstance(variable.value, int | float)):
                return variable
        selected = region(name, lambda index: self.evaluate(index, frame))
        if selected is not None and (tensor := self.tensor(selected[0], frame)) is not None:
            part, axes = select(tensor, selected[1])
            return Variable(name, "region", part, str(part.dtype), axes=axes)
        value, dtype = value_of(text, self.names(frame))
        return Variable(name, "expression", value, dtype)

    def evaluate(self, text: str, frame: int) -> object:
        """The value of an expression or a name."""
        return self.look(text, frame).value

    def evaluate_during_run(self, text: str) -> object:
        """The value in the innermost frame during a run; prepared expressions are cached per place."""
        place = self.engine.position.place
        key = (id(place), text)
        entry = self._prepared.get(key)
        if entry is not None and entry[0] is place and isinstance(place, StmtPlace):
            return entry[1].value(self._values(entry[1].used))
        names = names_in(live_frames(self.engine), 0)
        prepared = prepare(text, {name: node for name, (node, _) in names.items()})
        if place is not None:
            self._prepared[key] = (place, prepared)
        return prepared.value(dict(names.values()))

    def _values(self, used: "Sequence[tir.Var | tir.Buffer]") -> dict["tir.Var | tir.Buffer", object]:
        """The values of variables and views of buffers in the innermost call."""
        reentry, slots = self.engine.position.innermost.reentry, self.engine.position.frame
        assert reentry is not None  # noqa: S101 - the place is a statement's, so the call is a prim_func's
        assert slots is not None  # noqa: S101 - as above
        scope = reentry.scope
        return {
            node: slots[scope.layout.slot(node)] if isinstance(node, tir.Var) else slots[scope.buffer(node).view]
            for node in used
        }

    def element(self, text: str, frame: int) -> ElementRange:
        """Read `C[3, 0:4]`; the indices are evaluated in a frame."""
        return element(text, lambda index: self.evaluate(index, frame))

    def tensor(self, name: str, frame: int) -> Tensor | None:
        """The tensor named `name`; None without a tensor as its value. Fails: RM112 for an unknown name."""
        for variable in self.visible(frame):
            if variable.name == name:
                return variable.tensor
        names = ", ".join(variable.name for variable in self.visible(frame)) or "none"
        raise fail(BAD_USAGE, f"no variable is named `{name}` here", None, f"known names: {names}")

    # ----------------------------------------------------------------------------------------- provenance

    def why(self, stop: Stop, text: str, frame: int) -> Slice:
        """Why an element has its value, the store about to be executed included."""
        until = None if stop.reason is Reason.ENDED else stop.moment
        if "is about to be stored" in stop.text:
            until = Moment(stop.moment.event, stop.moment.step + 1)
        if not text.strip():
            if not stop.element:
                raise fail(
                    BAD_USAGE, "which element? no store is about to be executed here", None, "why NAME[INDEX, …]"
                )
            text = stop.element
        element = self.element(text, frame)
        index = element.single
        tensor_variable = (
            None
            if element.axes
            else next((variable for variable in self.visible(frame) if variable.name == element.name), None)
        )
        if index is None or (
            tensor_variable is not None and tensor_variable.tensor is not None and tensor_variable.tensor.shape
        ):
            raise fail(BAD_USAGE, f"`{text}` is not a single element")
        return why_at(self.engine.program, element.name, index, until)
