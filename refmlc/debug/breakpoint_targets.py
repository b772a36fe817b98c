"""From the user's words to breakpoints: places, elements, references."""

import ast
from itertools import product

import numpy as np

from refmlc.debug.breakpoints import ArmedBreakpoint
from refmlc.debug.engine import Engine
from refmlc.debug.expressions import parsed, prepare
from refmlc.debug.inspection import Inspection
from refmlc.debug.places import BindingPlace, ProgramPlace, StmtPlace, names_at
from refmlc.debug.session_data import EXCEPTIONS, BreakKind, Breakpoint, FrameKind
from refmlc.debug.snapshots import storages_of
from refmlc.debug.tensors import offset_of
from refmlc.diag import fail
from refmlc.diag.catalogue import BAD_USAGE, CODES
from refmlc.lang.ir import relax, tir
from refmlc.run.memory.cells import cell_size
from refmlc.run.memory.tensor import Tensor

MODES = {"write": BreakKind.WRITE, "change": BreakKind.CHANGE, "read": BreakKind.READ}
MOST_CELLS = 1_000_000


def at_line(engine: Engine, shown: Breakpoint) -> ArmedBreakpoint:
    """A breakpoint at a line, or at the next line that has a statement."""
    shown.source = shown.source or next(iter(engine.program.sources), "")
    lines: dict[int, list[ProgramPlace]] = {}
    for place in engine.places.everything():
        span = place.span
        if span is not None and span.source.name == shown.source and span.line >= shown.line:
            lines.setdefault(span.line, []).append(place)
    if not lines:
        shown.verified, shown.note = False, "there is no statement on this line or a later one"
        return ArmedBreakpoint(shown)
    shown.line = min(lines)
    return ArmedBreakpoint(shown, _outermost(lines[shown.line]))


def check_condition(armed: ArmedBreakpoint) -> ArmedBreakpoint:
    """The breakpoint, if its condition can be read. Fails: RM1xx; RM112 for a condition that is no truth value."""
    text = armed.shown.condition
    if text:
        node, _ = parsed(text)
        if isinstance(node, ast.Constant | ast.JoinedStr) and not isinstance(getattr(node, "value", None), int | float):
            raise fail(BAD_USAGE, f"`{text}` is neither true nor false")
    for place in armed.places if text else ():
        if isinstance(place, StmtPlace):
            dtype = prepare(text, names_at(place)).expr.dtype
            if dtype.kind == "handle" or dtype.is_vector:
                raise fail(BAD_USAGE, f"`{text}` is neither true nor false: it is of dtype {dtype}")
    return armed


def _outermost(places: list[ProgramPlace]) -> frozenset[ProgramPlace]:
    """The outermost places: a line with several nested statements stops once."""
    return frozenset(
        place
        for place in places
        if not isinstance(place, StmtPlace) or not any(around in places for around in place.around())
    )


def at_name(engine: Engine, shown: Breakpoint) -> ArmedBreakpoint:
    """A breakpoint at a function, a block or a binding."""
    function, _, inner = shown.what.rpartition(".")
    first = engine.places.first(shown.what)
    if first is not None:
        return _placed(shown, BreakKind.FUNCTION, [first])
    everything = [place for place in engine.places.everything() if function in ("", place.function)]
    blocks: list[ProgramPlace] = [
        place
        for place in everything
        if isinstance(place, StmtPlace) and isinstance(place.node, tir.SBlockRealize) and place.node.block.name == inner
    ]
    if blocks:
        return _placed(shown, BreakKind.BLOCK, blocks)
    bindings: list[ProgramPlace] = [
        place for place in everything if isinstance(place, BindingPlace) and place.name == inner
    ]
    if bindings:
        return _placed(shown, BreakKind.BINDING, bindings)
    shown.verified, shown.note = False, f"no function, block or binding is named `{shown.what}`"
    return ArmedBreakpoint(shown)


def _is_block(place: ProgramPlace, name: str) -> bool:
    node = place.node if isinstance(place, StmtPlace) else None
    return isinstance(node, tir.SBlockRealize) and node.block.name == name


def _placed(shown: Breakpoint, kind: BreakKind, places: list[ProgramPlace]) -> ArmedBreakpoint:
    shown.kind = kind
    span = places[0].span
    if span is not None:
        shown.line, shown.source = span.line, span.source.name
    return ArmedBreakpoint(shown, frozenset(places))


def mode_of(mode: str) -> BreakKind:
    """The kind of a watch. Fails: RM112."""
    if mode not in MODES:
        raise fail(BAD_USAGE, f"`{mode}` is not a mode of `watch`: {', '.join(MODES)}")
    return MODES[mode]


def watch(inspection: Inspection, shown: Breakpoint, frame: int) -> ArmedBreakpoint:
    """A watch on the memory of an argument, or on a name of this function. Fails: RM112."""
    element = inspection.element(shown.what, frame)
    tensor = inspection.tensor(element.name, frame)
    if tensor is not None and element.axes:
        for corner in ([low for low, _ in element.axes], [high - 1 for _, high in element.axes]):
            offset_of(tensor, corner)
    node, _ = inspection.names(frame).get(element.name, (None, None))
    if tensor is None and not isinstance(node, tir.Buffer):
        raise fail(BAD_USAGE, f"`{element.name}` is not a tensor: only tensors can be watched")
    shown.what = str(element)
    pinned = {id(storage) for storage in storages_of(inspection.engine.args)}
    binding = binding_of(inspection, element.name, frame)
    if tensor is not None and (binding or id(tensor.storage) in pinned):
        axes = element.axes or tuple((0, extent) for extent in tensor.shape)
        size = cell_size(tensor.dtype)
        count = int(np.prod([high - low for low, high in axes])) * tensor.dtype.lanes
        if count <= MOST_CELLS:
            cells = frozenset(
                tensor.byte_offset + (offset_of(tensor, index) + lane) * size + byte
                for index in product(*(range(low, high) for low, high in axes))
                for lane in range(tensor.dtype.lanes)
                for byte in range(size)
            )
            return ArmedBreakpoint(shown, storage=tensor.storage, cells=cells, binding=binding)
    frames = inspection.live_frames()
    function = frames[frame].level.name if frames else inspection.engine.program.func
    return ArmedBreakpoint(shown, element=element, function=function)


def binding_of(inspection: Inspection, name: str, frame: int) -> str:
    """The Relax variable that `name` stands for, or ""; after the end `result` stands for the returned variable."""
    frames = inspection.live_frames()
    if frames:
        return name if frames[frame].shown.kind is FrameKind.GRAPH else ""
    function = inspection.engine.program.module.functions[inspection.engine.program.func]
    if name == "result" and isinstance(function, relax.Function) and isinstance(function.body.body, relax.Var):
        return function.body.body.name
    return ""


def caught(what: str) -> BreakKind:
    """The kind of a `catch`. Fails: RM112."""
    if what in ("nan", "inf"):
        return BreakKind(what)
    if what in EXCEPTIONS or what in CODES:
        return BreakKind.FAILURE
    raise fail(BAD_USAGE, f"`{what}` cannot be caught", None, f"{', '.join(EXCEPTIONS)}, or the id of a code")


def compared(name: str, reference: object) -> ArmedBreakpoint:
    """A comparison of a buffer with a reference. Fails: RM112."""
    tensor = Tensor.from_numpy(reference) if isinstance(reference, np.ndarray) else reference
    if not isinstance(tensor, Tensor) or tensor.strides is not None:
        raise fail(BAD_USAGE, f"the reference of `{name}` is not a compact tensor")
    return ArmedBreakpoint(Breakpoint(0, BreakKind.DIFFERENCE, name), reference=tensor)
