"""The stack where the program stands: frames from Relax to the innermost block, and the names of each.

| frame of       | declares                                                                     |
|----------------|------------------------------------------------------------------------------|
| Relax function | its variables so far, the symbolic sizes                                     |
| prim_func      | parameters, the variables of their shapes; what is declared at its top level |
| loop           | its variable; what is declared in it                                         |
| block          | its axes with their domains, its buffers; what is declared in it             |
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from refmlc.debug.engine import Engine
from refmlc.debug.expressions import node_for
from refmlc.debug.places import ProgramPlace, StmtPlace, declared_before, declared_by, declared_by_function
from refmlc.debug.position import ActiveCall
from refmlc.debug.reentry import Reentry
from refmlc.debug.session_data import FrameKind, StackFrame, Variable
from refmlc.debug.tensors import dtype_of
from refmlc.diag import RefmlcError
from refmlc.lang.ir import relax, tir
from refmlc.run.interp.graph.activation import KILLED
from refmlc.run.interp.tensorir.frame import Frame as Slots
from refmlc.run.interp.tensorir.views import View
from refmlc.run.memory.tensor import Tensor

KINDS = (tir.For, tir.SBlockRealize)


@dataclass(slots=True)
class LiveFrame:
    """A frame with access to its values. `kinds`: what each variable and buffer of the frame is."""

    frame: StackFrame
    level: ActiveCall
    place: ProgramPlace | None
    kinds: dict["tir.Var | tir.Buffer", str] = field(default_factory=dict)
    slots: Slots | None = None
    around: StmtPlace | None = None

    def value(self, node: "tir.Var | tir.Buffer") -> object:
        """The value of a variable, or the view of a buffer; None where it has none yet."""
        reentry, slots = self.level.reentry, self.slots
        if reentry is None or slots is None:
            return None
        scope = reentry.scope
        if isinstance(node, tir.Var):
            return slots[scope.layout.slot(node)] if scope.layout.knows(node) else None
        slot = scope.buffers.get(node)
        return None if slot is None else slots[slot.view]


@dataclass(frozen=True, slots=True)
class Standing:
    """Where another thread than the one that runs stands: in the call with this re-entry."""

    reentry: Reentry
    place: StmtPlace
    frame: Slots


def live_frames(engine: Engine, standing: Standing | None = None) -> list[LiveFrame]:
    """All frames, innermost first; `standing`: those of the thread that stands there."""
    frames: list[LiveFrame] = []
    for number, level in reversed(list(enumerate(engine.position.calls))):
        innermost = number == engine.position.depth - 1
        if standing is not None and not frames:
            if level.reentry is standing.reentry:
                frames += _of_prim_func(level, standing.place, standing.frame, number, 0)
            continue
        if level.reentry is not None:
            place = engine.position.place if innermost and isinstance(engine.position.place, StmtPlace) else level.place
            slots = engine.position.frame if innermost and engine.position.frame is not None else level.frame
            frames += _of_prim_func(level, place, slots, number, len(frames))
        elif level.env is not None:
            binding = level.bindings[-1] if level.bindings else None
            frame = StackFrame(
                len(frames), FrameKind.GRAPH, level.name, "" if binding is None else f"binding {binding.name}",
                None if binding is None else binding.span, number,
            )  # fmt: skip
            frames.append(LiveFrame(frame, level, binding))
    return frames


def _of_prim_func(
    level: ActiveCall, place: StmtPlace | None, slots: Slots | None, number: int, index: int
) -> list[LiveFrame]:
    """The frames of the blocks and loops around `place`, then that of the function."""
    frames: list[LiveFrame] = []
    names: dict[tir.Var | tir.Buffer, str] = {}
    span = None if place is None else place.span
    outer = place
    while outer is not None:
        names = {**declared_before(outer), **names}
        outer = outer.above
        declared = {} if outer is None else declared_by(outer)
        if outer is None or (not declared and not isinstance(outer.node, KINDS)):
            continue
        if _is_root(outer):  # TVMScript omits it: its declarations belong to the function
            names = {**declared, **names}
            continue
        kind = FrameKind.BLOCK if isinstance(outer.node, tir.SBlockRealize) else FrameKind.LOOP
        live = LiveFrame(
            StackFrame(0, kind, _name(outer), "", span, number), level, place, {**declared, **names}, slots, outer
        )
        live.frame = StackFrame(index + len(frames), kind, _name(outer), _detail(live), span, number)
        frames.append(live)
        span, names = outer.span, {}
    assert level.reentry is not None  # noqa: S101 - the caller has checked
    func = level.reentry.scope.func
    top = {} if func is None else declared_by_function(func)
    frame = StackFrame(index + len(frames), FrameKind.PRIM_FUNC, level.name, "", span, number)
    return [*frames, LiveFrame(frame, level, place, {**top, **names}, slots)]


def _is_root(place: StmtPlace) -> bool:
    """True for the root block that TVMScript leaves out."""
    node = place.node
    return (
        place.above is None
        and isinstance(node, tir.SBlockRealize)
        and node.block.name == "root"
        and not node.block.iter_vars
    )


def _name(place: StmtPlace) -> str:
    match place.node:
        case tir.SBlockRealize(block=block):
            return block.name
        case tir.For(loop_var=var) | tir.AttrStmt(node=tir.ThreadVar(var=tir.Var() as var)):
            return var.name
        case _:
            return type(place.node).__name__


def _detail(live: LiveFrame) -> str:
    values = [f"{node.name} = {live.value(node)}" for node, kind in live.kinds.items() if kind in ("loop", "axis")]
    return ", ".join(values)


# --------------------------------------------------------------------------------------------- variables


def variables(live: LiveFrame, edited: frozenset[tuple[int, str]] = frozenset()) -> list[Variable]:
    """The variables of a frame."""
    level = live.frame.level
    if live.frame.kind is FrameKind.GRAPH:
        return _of_graph(live.level, level, edited)
    shown_variables = []
    for node, kind in live.kinds.items():
        value = live.value(node)
        content = _tensor(value) if isinstance(node, tir.Buffer) else value
        shown_variables.append(
            Variable(
                node.name, kind, content, str(node.dtype), _extent(live, node),
                edited=(level, node.name) in edited, bound=value is not None,
            )
        )  # fmt: skip
    return shown_variables


def _tensor(value: object) -> Tensor | None:
    try:
        return value.tensor() if isinstance(value, View) else None
    except RefmlcError:  # it reaches beyond its storage
        return None


def _of_graph(level: ActiveCall, number: int, edited: frozenset[tuple[int, str]]) -> list[Variable]:
    if level.env is None:
        return []
    names: dict[str, Variable] = {}
    for var, value in level.env.values.items():
        kind = "parameter" if not isinstance(var, relax.Var) or var in _parameters(level) else "variable"
        names[var.name] = Variable(
            var.name, kind, None if value is KILLED else value, dtype_of(value),
            edited=(number, var.name) in edited, bound=value is not KILLED,
        )  # fmt: skip
    for dim, size in level.env.dims.items():
        names.setdefault(dim.name, Variable(dim.name, "size", size, str(dim.dtype)))
    return list(names.values())


def _parameters(level: ActiveCall) -> set[relax.Var]:
    """The variables that hold the arguments: those bound first."""
    return set() if level.env is None else set(list(level.env.values)[: len(level.args)])


def _extent(live: LiveFrame, node: "tir.Var | tir.Buffer") -> tuple[int, int] | None:
    """The range of a loop variable or an axis, where the text gives it in numbers."""
    place = live.place
    if not isinstance(place, StmtPlace) or isinstance(node, tir.Buffer):
        return None
    for around in place.around():
        bounds: list[tuple[tir.Expr, tir.Expr]] = []
        match around.node:
            case tir.For(loop_var=var) if var is node:
                bounds = [(around.node.min, around.node.extent)]
            case tir.SBlockRealize(block=block):
                bounds = [(axis.dom.min, axis.dom.extent) for axis in block.iter_vars if axis.var is node]
            case _:
                pass
        for low, extent in bounds:
            first, count = _number(live, low), _number(live, extent)
            return None if first is None or count is None else (first, first + count)
    return None


def _number(live: LiveFrame, expr: tir.Expr) -> int | None:
    match expr:
        case tir.IntImm(value=value):
            return value
        case tir.Var():
            number = live.value(expr)
            return number if isinstance(number, int) else None
        case _:
            return None


# ------------------------------------------------------------------------------------------------- names


def names_in(all_frames: Sequence[LiveFrame], index: int) -> dict[str, "tuple[tir.Var | tir.Buffer, object]"]:
    """The names visible to an expression in a frame: its own, then those around it in the same call."""
    level = all_frames[index].frame.level
    names: dict[str, tuple[tir.Var | tir.Buffer, object]] = {}
    for live in all_frames[index:]:
        if live.frame.level != level:
            break
        if live.frame.kind is FrameKind.GRAPH:
            for variable in variables(live):
                node = node_for(variable.name, variable.value)
                if node is not None:
                    names.setdefault(variable.name, (node, variable.value))
            continue
        for node in reversed(list(live.kinds)):
            names.setdefault(node.name, (node, live.value(node)))
    return names
