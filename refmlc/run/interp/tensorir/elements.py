"""Loads and stores of single elements (TIR-112, TIR-205), and the failures of an access.

The order is: value (of a store), indices from left to right, bounds, initialisation, cell (TIR-006, TIR-007, TIR-008).
"""

from collections.abc import Callable
from typing import cast

from refmlc.diag import Related, fail
from refmlc.diag.catalogue import (
    BAD_POINTER,
    OPEN_OPERATION,
    OUT_OF_BOUNDS,
    RANK_MISMATCH,
    TYPE_MISMATCH,
    UNINITIALISED,
    UNSUPPORTED_CONSTRUCT,
    USE_AFTER_KILL,
    Code,
)
from refmlc.diag.errors import RefmlcError
from refmlc.lang.ir import tir
from refmlc.run.interp.tensorir.frame import Eval, Frame, NumberEval, Run
from refmlc.run.interp.tensorir.placed import is_owned
from refmlc.run.interp.tensorir.scope import Scope, failing_in
from refmlc.run.interp.tensorir.views import View
from refmlc.run.memory.cells import cell_size
from refmlc.run.memory.pointer import Numberless

Explain = Callable[[Frame, tuple[int, ...]], RefmlcError]


def load(scope: Scope, node: tir.BufferLoad) -> NumberEval:
    """The element at scalar indices."""
    check_rank(node)
    if is_owned(node.buffer):
        return cast("NumberEval", _unaddressed(scope, node))
    view_slot = scope.buffer(node.buffer, node.span).view
    indices = tuple(scope.int(index) for index in node.indices)
    wrong = explain(scope, node)
    hooks = scope.machine.hooks

    def load_element(frame: Frame) -> float:
        view = frame[view_slot]
        position = tuple([index(frame) for index in indices])
        offset = offset_of(view, position, wrong, frame)
        hooks.read_element(node, view, offset, frame)
        try:
            if view.shadow[offset]:
                value = view.cells[offset]
                hooks.load(node, position, value, frame)
                return value
        except IndexError:
            pass
        raise wrong(frame, position)

    return load_element


def store(scope: Scope, node: tir.BufferStore) -> Run:
    """Write the value at scalar indices."""
    check_rank(node)
    if is_owned(node.buffer):
        return cast("Run", _unaddressed(scope, node))
    if is_undef(node.value):
        return _clear(scope, node)
    check_stored(node)
    view_slot = scope.buffer(node.buffer, node.span).view
    indices = tuple(scope.int(index) for index in node.indices)
    value = scope.number(node.value)
    wrong = explain(scope, node)
    hooks = scope.machine.hooks

    def store_element(frame: Frame) -> None:
        written = value(frame)
        view = frame[view_slot]
        position = tuple([index(frame) for index in indices])
        offset = offset_of(view, position, wrong, frame)
        hooks.write_element(node, view, offset, frame)
        hooks.store(node, position, written, frame)
        try:
            view.cells[offset] = written
            view.shadow[offset] = 1
        except (IndexError, TypeError):
            raise wrong(frame, position) from None

    return store_element


def _unaddressed(scope: Scope, node: tir.BufferLoad | tir.BufferStore) -> Eval:  # TIX-004
    """An access to an element of a buffer whose elements belong to threads: TVM lowers none either."""
    message = f"`{node.buffer.name}` belongs to several threads: `{node.buffer.name}.local()` is what one has of it"
    scope.buffer(node.buffer, node.span)
    return scope.unsupported(UNSUPPORTED_CONSTRUCT, message, node.span)


def _clear(scope: Scope, node: tir.BufferStore) -> Run:
    """A store of `T.undef()`: the element becomes uninitialised."""
    view_slot = scope.buffer(node.buffer, node.span).view
    indices = tuple(scope.int(index) for index in node.indices)
    wrong = explain(scope, node)
    hooks = scope.machine.hooks

    def clear_element(frame: Frame) -> None:
        view = frame[view_slot]
        position = tuple([index(frame) for index in indices])
        offset = offset_of(view, position, wrong, frame)
        hooks.write_element(node, view, offset, frame)
        try:
            view.shadow[offset] = 0
        except IndexError:
            raise wrong(frame, position) from None
        view.data.storage.let_go(*_bytes_of(view, offset))

    return clear_element


# TIR-307
def is_undef(value: tir.Expr) -> bool:
    """True if the value is `T.undef()`, which the text may cast to a dtype."""
    return is_undef(value.value) if isinstance(value, tir.Cast) else getattr(value, "callee", None) == "undef"


def to_live_memory(scope: Scope, node: tir.BufferStore, run: Run) -> Run:
    """`run`, a store, then a check that its memory is alive. Fails: RM316.

    The check comes after the value and the indices, as the store does. Loads need no such check: no element of freed
    memory counts as initialised.
    """
    view_slot = scope.buffer(node.buffer).view
    failure = scope.failing(USE_AFTER_KILL, node.span)

    def store_to_live_memory(frame: Frame) -> None:
        run(frame)
        if not frame[view_slot].data.storage.alive:
            raise failure(frame, f"store to `{node.buffer.name}` after its storage was freed")

    return store_to_live_memory


def offset_of(view: View, position: tuple[int, ...], wrong: Explain, frame: Frame) -> int:
    """The offset of an element; bounds are checked."""
    offset = 0
    for index, extent, stride in zip(position, view.shape, view.strides, strict=True):
        if not 0 <= index < extent:
            raise wrong(frame, position)
        offset += index * stride
    return offset if view.addresses is None else view.addresses.offset(position)


def check_rank(node: tir.BufferLoad | tir.BufferStore) -> None:
    """Fails: RM208 when the number of indices is not the rank of the buffer."""
    rank = len(node.buffer.shape)
    if len(node.indices) != rank:
        message = f"`{node.buffer.name}` has {rank} dimensions and is accessed with {len(node.indices)} indices"
        raise fail(RANK_MISMATCH, message, node.span)


def check_stored(node: tir.BufferStore) -> None:
    """Fails: RM201 when the value is not of the dtype of the element."""
    element, value = tir.loaded_dtype(node.buffer, node.indices), node.value.dtype
    if element != value:
        raise fail(TYPE_MISMATCH, f"a value of {value} is stored to `{node.buffer.name}` of {element}", node.span)


def explain(scope: Scope, node: tir.BufferLoad | tir.BufferStore) -> Explain:
    """Explains why an access at given indices failed: an axis out of bounds, or an element that was never written."""
    place, loops = scope.buffer(node.buffer, node.span), scope.loops

    def explanation(frame: Frame, indices: tuple[int, ...]) -> RefmlcError:
        code, message, label = _diagnosis(frame[place.view], node, indices)
        how = "allocated" if code is UNINITIALISED else "declared"
        related = Related(f"`{node.buffer.name}` is {how} here", node.buffer.span)
        return failing_in(loops, code, node.span, related)(frame, message, label=label)

    return explanation


def _diagnosis(view: View, node: tir.BufferLoad | tir.BufferStore, indices: tuple[int, ...]) -> tuple[Code, str, str]:
    """The code, the message and the label of an access that failed."""
    buffer = node.buffer
    verb = "load from" if isinstance(node, tir.BufferLoad) else "store to"
    for axis, (index, extent) in enumerate(zip(indices, view.shape, strict=True)):
        if not 0 <= index < extent:
            label = f"index {axis} is {index}, extent is {extent}"
            return OUT_OF_BOUNDS, f"{verb} `{buffer.name}` is out of bounds", label
    offset = sum(index * stride for index, stride in zip(indices, view.strides, strict=True))
    if view.addresses is not None:
        offset = view.addresses.offset(indices)
    element = f"{buffer.name}[{', '.join(map(str, indices))}]"
    if offset * buffer.dtype.lanes >= len(view.cells):
        label = f"element {offset} of the view, its storage ends before"
        return OUT_OF_BOUNDS, f"{verb} `{buffer.name}` is beyond its storage", label
    if not view.data.storage.alive:
        return USE_AFTER_KILL, f"{verb} `{element}` after its storage was freed", ""
    if isinstance(node, tir.BufferStore):
        return BAD_POINTER, f"store to `{element}`: the memory of the argument is read-only", ""
    if is_open(view, offset):
        return OPEN_OPERATION, f"`{element}` is read before the asynchronous operation that writes it is complete", ""
    value = view.data.storage.held_at(*_bytes_of(view, offset))
    if isinstance(value, Numberless):
        return UNSUPPORTED_CONSTRUCT, f"`{element}` holds {value.what}, whose number is not known", ""
    return UNINITIALISED, f"`{element}` is read but was never written", "uninitialised"


def is_open(view: View, offset: int) -> bool:  # TIA-002
    """Whether a copy that is not complete writes an element."""
    return any(item.written for item in view.data.storage.reserved_at(*_bytes_of(view, offset)))


def _bytes_of(view: View, offset: int) -> tuple[int, int]:
    """The first byte of an element in its storage, and the number of its bytes."""
    size = cell_size(view.buffer.dtype) * view.buffer.dtype.lanes
    return view.data.byte_offset + (view.offset + offset) * size, size
