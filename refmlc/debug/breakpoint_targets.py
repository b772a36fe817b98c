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


def at_line(engine: Engine, point: Breakpoint) -> ArmedBreakpoint:
    """A breakpoint at a line, or at the next line that has a statement."""
    point.source = point.source or next(iter(engine.program.sources), "")
    lines: dict[int, list[ProgramPlace]] = {}
    for place in engine.places.steps():
        span = place.span
        if span is not None and span.source.name == point.source and span.line >= point.line:
            lines.setdefault(span.line, []).append(place)
    if not lines:
        point.verified, point.note = False, "there is no statement on this line or a later one"
        return ArmedBreakpoint(point)
    point.line = min(lines)
    return ArmedBreakpoint(point, _outermost(lines[point.line]))


def check_condition(armed: ArmedBreakpoint) -> ArmedBreakpoint:
    """The breakpoint, if its condition can be read. Fails: RM1xx; RM112 for a condition that is no truth value."""
    text = armed.point.condition
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


def at_name(engine: Engine, point: Breakpoint) -> ArmedBreakpoint:
    """A breakpoint at a function, a block or a binding."""
    function, _, inner = point.what.rpartition(".")
    first = engine.places.first(point.what)
    if first is not None:
        return _placed(point, BreakKind.FUNCTION, [first])
    places = [place for place in engine.places.steps() if function in ("", place.function)]
    blocks: list[ProgramPlace] = [
        place
        for place in places
        if isinstance(place, StmtPlace) and isinstance(place.node, tir.SBlockRealize) and place.node.block.name == inner
    ]
    if blocks:
        return _placed(point, BreakKind.BLOCK, blocks)
    bindings: list[ProgramPlace] = [
        place for place in places if isinstance(place, BindingPlace) and place.name == inner
    ]
    if bindings:
        return _placed(point, BreakKind.BINDING, bindings)
    point.verified, point.note = False, f"no function, block or binding is named `{point.what}`"
    return ArmedBreakpoint(point)


def _placed(point: Breakpoint, kind: BreakKind, places: list[ProgramPlace]) -> ArmedBreakpoint:
    point.kind = kind
    span = places[0].span
    if span is not None:
        point.line, point.source = span.line, span.source.name
    return ArmedBreakpoint(point, frozenset(places))


def mode_of(mode: str) -> BreakKind:
    """The kind of a watch. Fails: RM112."""
    if mode not in MODES:
        raise fail(BAD_USAGE, f"`{mode}` is not a mode of `watch`: {', '.join(MODES)}")
    return MODES[mode]


def watch(inspection: Inspection, point: Breakpoint, frame: int) -> ArmedBreakpoint:
    """A watch on the memory of an argument, or on a name of this function. Fails: RM112."""
    element = inspection.element(point.what, frame)
    tensor = inspection.tensor(element.name, frame)
    if tensor is not None and element.axes:
        for corner in ([low for low, _ in element.axes], [high - 1 for _, high in element.axes]):
            offset_of(tensor, corner)
    node, _ = inspection.names(frame).get(element.name, (None, None))
    if tensor is None and not isinstance(node, tir.Buffer):
        raise fail(BAD_USAGE, f"`{element.name}` is not a tensor: only tensors can be watched")
    point.what = str(element)
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
            return ArmedBreakpoint(point, storage=tensor.storage, cells=cells, binding=binding)
    frames = inspection.live_frames()
    function = frames[frame].level.name if frames else inspection.engine.program.func
    return ArmedBreakpoint(point, element=element, function=function)


def binding_of(inspection: Inspection, name: str, frame: int) -> str:
    """The Relax variable that `name` stands for, or ""; after the end `result` stands for the returned variable."""
    frames = inspection.live_frames()
    if frames:
        return name if frames[frame].frame.kind is FrameKind.GRAPH else ""
    function = inspection.engine.program.module.functions[inspection.engine.program.func]
    if name == "result" and isinstance(function, relax.Function) and isinstance(function.body.body, relax.Var):
        return function.body.body.name
    return ""


def caught(name: str) -> BreakKind:
    """The kind of a `catch`. Fails: RM112."""
    if name in ("nan", "inf"):
        return BreakKind(name)
    if name in EXCEPTIONS or name in CODES:
        return BreakKind.FAILURE
    raise fail(BAD_USAGE, f"`{name}` cannot be caught", None, f"{', '.join(EXCEPTIONS)}, or the id of a code")


def compared(name: str, reference: object) -> ArmedBreakpoint:
    """A comparison of a buffer with a reference. Fails: RM112."""
    tensor = Tensor.from_numpy(reference) if isinstance(reference, np.ndarray) else reference
    if not isinstance(tensor, Tensor) or tensor.strides is not None:
        raise fail(BAD_USAGE, f"the reference of `{name}` is not a compact tensor")
    return ArmedBreakpoint(Breakpoint(0, BreakKind.DIFFERENCE, name), reference=tensor)
