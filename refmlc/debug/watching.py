"""Breakpoints as a person names them become what the judge compares: places, elements, references."""

import ast
from itertools import product

import numpy as np

from refmlc.debug.breaks import Armed
from refmlc.debug.engine import Engine
from refmlc.debug.expressions import parsed, prepare
from refmlc.debug.looking import Looking
from refmlc.debug.places import AnyPlace, BindingPlace, Place, names_at
from refmlc.debug.snapshots import storages_of
from refmlc.debug.tensors import offset_of
from refmlc.debug.values import EXCEPTIONS, BreakKind, Breakpoint, FrameKind
from refmlc.diag import fail
from refmlc.diag.catalogue import BAD_USAGE, CODES
from refmlc.lang.ir import relax, tir
from refmlc.run.memory.cells import cell_size
from refmlc.run.memory.tensor import Tensor

MODES = {"write": BreakKind.WRITE, "change": BreakKind.CHANGE, "read": BreakKind.READ}
MOST_CELLS = 1_000_000


def at_line(engine: Engine, shown: Breakpoint) -> Armed:
    """A breakpoint at a line, or the next one that has something."""
    shown.source = shown.source or next(iter(engine.program.sources), "")
    lines: dict[int, list[AnyPlace]] = {}
    for place in engine.places.everything():
        span = place.span
        if span is not None and span.source.name == shown.source and span.line >= shown.line:
            lines.setdefault(span.line, []).append(place)
    if not lines:
        shown.verified, shown.note = False, "there is nothing to stop at on this line, or on a later one"
        return Armed(shown)
    shown.line = min(lines)
    return Armed(shown, _outermost(lines[shown.line]))


def check_condition(armed: Armed) -> Armed:
    """The breakpoint, if its condition can be read where it stops. Fails: RM1xx, RM112 for what is no truth value."""
    text = armed.shown.condition
    if text:
        node, _ = parsed(text)
        if isinstance(node, ast.Constant | ast.JoinedStr) and not isinstance(getattr(node, "value", None), int | float):
            raise fail(BAD_USAGE, f"`{text}` is neither true nor false")
    for place in armed.places if text else ():
        if isinstance(place, Place):
            dtype = prepare(text, names_at(place)).expr.dtype
            if dtype.kind == "handle" or dtype.is_vector:
                raise fail(BAD_USAGE, f"`{text}` is neither true nor false: it is of dtype {dtype}")
    return armed


def _outermost(places: list[AnyPlace]) -> frozenset[AnyPlace]:
    """Those that stand in no other: a line that is many statements stops once."""
    return frozenset(
        place
        for place in places
        if not isinstance(place, Place) or not any(around in places for around in place.around())
    )


def at_name(engine: Engine, shown: Breakpoint) -> Armed:
    """A breakpoint at a function, a block, a binding."""
    function, _, inner = shown.what.rpartition(".")
    first = engine.places.first(shown.what)
    if first is not None:
        return _placed(shown, BreakKind.FUNCTION, [first])
    everything = [place for place in engine.places.everything() if function in ("", place.function)]
    blocks: list[AnyPlace] = [
        place
        for place in everything
        if isinstance(place, Place) and isinstance(place.node, tir.SBlockRealize) and place.node.block.name == inner
    ]
    if blocks:
        return _placed(shown, BreakKind.BLOCK, blocks)
    bindings: list[AnyPlace] = [
        place for place in everything if isinstance(place, BindingPlace) and place.name == inner
    ]
    if bindings:
        return _placed(shown, BreakKind.BINDING, bindings)
    shown.verified, shown.note = False, f"no function, block or binding is called `{shown.what}`"
    return Armed(shown)


def _placed(shown: Breakpoint, kind: BreakKind, places: list[AnyPlace]) -> Armed:
    shown.kind = kind
    span = places[0].span
    if span is not None:
        shown.line, shown.source = span.line, span.source.name
    return Armed(shown, frozenset(places))


def mode_of(mode: str) -> BreakKind:
    """The kind of a watch. Fails: RM112."""
    if mode not in MODES:
        raise fail(BAD_USAGE, f"there is no way `{mode}` to watch: {', '.join(MODES)}")
    return MODES[mode]


def watch(looking: Looking, shown: Breakpoint, frame: int) -> Armed:
    """A watch on memory where that is an argument's, else on the name in this function. Fails: RM112."""
    element = looking.element(shown.what, frame)
    tensor = looking.tensor(element.name, frame)
    if tensor is not None and element.axes:
        for corner in ([low for low, _ in element.axes], [high - 1 for _, high in element.axes]):
            offset_of(tensor, corner)
    node, _ = looking.names(frame).get(element.name, (None, None))
    if tensor is None and not isinstance(node, tir.Buffer):
        raise fail(BAD_USAGE, f"`{element.name}` is no tensor: only tensors are watched")
    shown.what = str(element)
    pinned = {id(storage) for storage in storages_of(looking.engine.args)}
    binding = binding_of(looking, element.name, frame)
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
            return Armed(shown, storage=tensor.storage, cells=cells, binding=binding)
    found = looking.spots()
    function = found[frame].level.name if found else looking.engine.program.func
    return Armed(shown, element=element, function=function)


def binding_of(looking: Looking, name: str, frame: int) -> str:
    """The variable of Relax that `name` is; after the end `result` is the one that was returned. Else nothing."""
    found = looking.spots()
    if found:
        return name if found[frame].shown.kind is FrameKind.GRAPH else ""
    function = looking.engine.program.module.functions[looking.engine.program.func]
    if name == "result" and isinstance(function, relax.Function) and isinstance(function.body.body, relax.Var):
        return function.body.body.name
    return ""


def caught(what: str) -> BreakKind:
    """The kind of what is caught. Fails: RM112."""
    if what in ("nan", "inf"):
        return BreakKind(what)
    if what in EXCEPTIONS or what in CODES:
        return BreakKind.FAILURE
    raise fail(BAD_USAGE, f"`{what}` is nothing to be caught", None, f"{', '.join(EXCEPTIONS)}, or the id of a code")


def compared(name: str, reference: object) -> Armed:
    """A comparison with a reference. Fails: RM112."""
    tensor = Tensor.from_numpy(reference) if isinstance(reference, np.ndarray) else reference
    if not isinstance(tensor, Tensor) or tensor.strides is not None:
        raise fail(BAD_USAGE, f"the reference of `{name}` is no compact tensor")
    return Armed(Breakpoint(0, BreakKind.DIFFERENCE, name), reference=tensor)
