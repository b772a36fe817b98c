"""Loads and stores of single elements: bounds of every axis, initialisation, one cell.

The order is: value (of a store), indices from left to right, bounds, initialisation, cell (TIR-006, TIR-007, TIR-008).

| access                                             | closure                                                        |
|----------------------------------------------------|----------------------------------------------------------------|
| a hook watches                                     | `_watched_load`, `_watched_store`                              |
| compact, rank 1                                    | `_load_1`, `_store_1`                                          |
| compact, rank 2, indices known to be in bounds     | `_load_2_within`, `_store_2_within`: variables and constants   |
| compact, rank 2                                    | `_load_2`, `_store_2`                                          |
| any rank, strides                                  | `_load_any`, `_store_any`                                      |
"""

from collections.abc import Callable
from typing import TypeAlias, cast

from refmlc.diag import Related, fail
from refmlc.diag.catalogue import (
    BAD_POINTER,
    OUT_OF_BOUNDS,
    RANK_MISMATCH,
    TYPE_MISMATCH,
    UNINITIALISED,
    USE_AFTER_KILL,
    Code,
)
from refmlc.diag.errors import RefmlcError
from refmlc.dtypes import FLOAT32, INT32
from refmlc.interp.tensorir.arith import unrounded
from refmlc.interp.tensorir.frame import Frame, IntEval, NumberEval, Run, Slot
from refmlc.interp.tensorir.scope import Scope, failing_in
from refmlc.interp.tensorir.views import Strided, View
from refmlc.ir import tir
from refmlc.runtime.cells import Cells, Shadow

Explain = Callable[[Frame, tuple[int, ...]], RefmlcError]
Locate = Callable[[Frame], tuple[Cells, Shadow, int]]
Access1: TypeAlias = tuple[Cells, Shadow, int]
Access2: TypeAlias = tuple[Cells, Shadow, int, int]


def explain(scope: Scope, node: tir.BufferLoad | tir.BufferStore) -> Explain:
    """What is wrong with an access whose indices are given: which axis, or that nothing was written there."""
    place, loops = scope.buffer(node.buffer, node.span), scope.loops

    def explanation(frame: Frame, indices: tuple[int, ...]) -> RefmlcError:
        code, message, label = _why_wrong(frame[place.view], node, indices)
        how = "allocated" if code is UNINITIALISED else "declared"
        related = Related(f"`{node.buffer.name}` is {how} here", node.buffer.span)
        return failing_in(loops, code, node.span, related)(frame, message, label=label)

    return explanation


def _why_wrong(view: View, node: tir.BufferLoad | tir.BufferStore, indices: tuple[int, ...]) -> tuple[Code, str, str]:
    """The code, the message and the label of an access that went wrong."""
    buffer = node.buffer
    verb = "load from" if isinstance(node, tir.BufferLoad) else "store to"
    for axis, (index, extent) in enumerate(zip(indices, view.shape, strict=True)):
        if not 0 <= index < extent:
            label = f"index {axis} is {index}, extent is {extent}"
            return OUT_OF_BOUNDS, f"{verb} `{buffer.name}` is out of bounds", label
    offset = sum(index * stride for index, stride in zip(indices, view.strides, strict=True))
    element = f"{buffer.name}[{', '.join(map(str, indices))}]"
    try:
        view.shadow[offset * buffer.dtype.lanes]
    except IndexError:
        label = f"element {offset} of the view, its storage ends before"
        return OUT_OF_BOUNDS, f"{verb} `{buffer.name}` is beyond its storage", label
    if not view.data.storage.alive:
        return USE_AFTER_KILL, f"{verb} `{element}` after its storage was freed", ""
    if isinstance(node, tir.BufferStore):
        return BAD_POINTER, f"store to `{element}`: the memory that was given is read-only", ""
    return UNINITIALISED, f"`{element}` is read but was never written", "uninitialised"


def check_rank(node: tir.BufferLoad | tir.BufferStore) -> None:
    """Fails: RM208 when the number of indices is not the rank of the buffer."""
    rank = len(node.buffer.shape)
    if len(node.indices) != rank:
        message = f"`{node.buffer.name}` has {rank} dimensions and is accessed with {len(node.indices)} indices"
        raise fail(RANK_MISMATCH, message, node.span)


def check_stored(node: tir.BufferStore) -> None:
    """Fails: RM201 when the value is not of the dtype of the element."""
    wanted, given = tir.loaded_dtype(node.buffer, node.indices), node.value.dtype
    if wanted != given:
        raise fail(TYPE_MISMATCH, f"a value of {given} is stored to `{node.buffer.name}` of {wanted}", node.span)


def _is_within(scope: Scope, node: tir.BufferLoad | tir.BufferStore) -> bool:
    """Whether loops and axes already say that every index is in bounds: a check that cannot fail is not made."""
    zero = tir.IntImm(INT32, 0)
    pairs = zip(node.indices, node.buffer.shape, strict=True)
    return all(scope.within(index, zero, extent) for index, extent in pairs)


def offset_of(view: View, at: tuple[int, ...], wrong: Explain, frame: Frame) -> int:
    """The offset of an element; bounds are checked."""
    offset = 0
    for index, extent, stride in zip(at, view.shape, view.strides, strict=True):
        if not 0 <= index < extent:
            raise wrong(frame, at)
        offset += index * stride
    return offset


def _slots_within(scope: Scope, node: tir.BufferLoad | tir.BufferStore) -> tuple[Slot[int], ...]:
    """The slots of the indices, when every index has one and is in bounds; else nothing."""
    slots = [slot for index in node.indices if (slot := scope.atom(index)) is not None]
    return tuple(slots) if len(slots) == len(node.indices) and _is_within(scope, node) else ()


def locator(scope: Scope, node: tir.BufferLoad | tir.BufferStore, indices: tuple[IntEval, ...]) -> Locate:
    """Cells, shadow and offset of an element of any rank, strided or not; bounds are checked."""
    access = cast("Slot[Strided]", scope.buffer(node.buffer).access)
    wrong = explain(scope, node)
    match indices:
        case (first, second, third, fourth):
            return _locate_4(access, first, second, third, fourth, wrong)
        case _:
            return _locate_any(access, indices, wrong)


def _locate_4(
    access: Slot[Strided], first: IntEval, second: IntEval, third: IntEval, fourth: IntEval, wrong: Explain
) -> Locate:
    def locate_4(frame: Frame) -> tuple[Cells, Shadow, int]:
        cells, shadow, (n0, n1, n2, n3), (s0, s1, s2, s3) = frame[access]
        i = first(frame)
        j = second(frame)
        k = third(frame)
        m = fourth(frame)
        if 0 <= i < n0 and 0 <= j < n1 and 0 <= k < n2 and 0 <= m < n3:
            return cells, shadow, i * s0 + j * s1 + k * s2 + m * s3
        raise wrong(frame, (i, j, k, m))

    return locate_4


def _locate_any(access: Slot[Strided], indices: tuple[IntEval, ...], wrong: Explain) -> Locate:
    def locate_any(frame: Frame) -> tuple[Cells, Shadow, int]:
        cells, shadow, shape, strides = frame[access]
        offset = axis = 0
        for index in indices:
            i = index(frame)
            if not 0 <= i < shape[axis]:
                raise wrong(frame, tuple([index(frame) for index in indices]))
            offset += i * strides[axis]
            axis += 1  # noqa: SIM113 - a hot path: enumerate makes a tuple for each axis
        return cells, shadow, offset

    return locate_any


# ------------------------------------------------------------------------------------------------ loads


def load(scope: Scope, node: tir.BufferLoad) -> NumberEval:
    """The element at scalar indices."""
    check_rank(node)
    place = scope.buffer(node.buffer, node.span)
    indices = tuple(scope.int(index) for index in node.indices)
    if scope.machine.hooks.watches("load") or scope.machine.hooks.watches("read_element"):
        return _watched_load(scope, node, indices)
    match place.form, indices:
        case "vector", (index,):
            return _load_1(scope, node, index)
        case "matrix", (row, column):
            slots = _slots_within(scope, node)
            return _load_2_within(scope, node, *slots) if slots else _load_2(scope, node, row, column)
        case _:
            return _load_any(scope, node, indices)


def _load_1(scope: Scope, node: tir.BufferLoad, index: IntEval) -> NumberEval:
    access = cast("Slot[Access1]", scope.buffer(node.buffer).access)
    wrong = explain(scope, node)

    def load_1(frame: Frame) -> float:
        cells, shadow, n = frame[access]
        i = index(frame)
        if 0 <= i < n:
            try:
                if shadow[i]:
                    return cells[i]
            except IndexError:
                pass
        raise wrong(frame, (i,))

    return load_1


def _load_2(scope: Scope, node: tir.BufferLoad, row: IntEval, column: IntEval) -> NumberEval:
    access = cast("Slot[Access2]", scope.buffer(node.buffer).access)
    wrong = explain(scope, node)

    def load_2(frame: Frame) -> float:
        cells, shadow, n, m = frame[access]
        i = row(frame)
        j = column(frame)
        if 0 <= i < n and 0 <= j < m:
            offset = i * m + j
            try:
                if shadow[offset]:
                    return cells[offset]
            except IndexError:
                pass
        raise wrong(frame, (i, j))

    return load_2


def _load_2_within(scope: Scope, node: tir.BufferLoad, row: Slot[int], column: Slot[int]) -> NumberEval:
    access = cast("Slot[Access2]", scope.buffer(node.buffer).access)
    wrong = explain(scope, node)

    def load_2_within(frame: Frame) -> float:
        cells, shadow, _, m = frame[access]
        offset = frame[row] * m + frame[column]
        try:
            if shadow[offset]:
                return cells[offset]
        except IndexError:
            pass
        raise wrong(frame, (frame[row], frame[column]))

    return load_2_within


def _load_any(scope: Scope, node: tir.BufferLoad, indices: tuple[IntEval, ...]) -> NumberEval:
    locate = locator(scope, node, indices)
    wrong = explain(scope, node)

    def load_any(frame: Frame) -> float:
        cells, shadow, offset = locate(frame)
        try:
            if shadow[offset]:
                return cells[offset]
        except IndexError:
            pass
        raise wrong(frame, tuple([index(frame) for index in indices]))

    return load_any


def _watched_load(scope: Scope, node: tir.BufferLoad, indices: tuple[IntEval, ...]) -> NumberEval:
    view_slot = scope.buffer(node.buffer).view
    wrong = explain(scope, node)
    hook, reading = scope.machine.hooks.load, scope.machine.hooks.read_element

    def watched_load(frame: Frame) -> float:
        view = frame[view_slot]
        at = tuple([index(frame) for index in indices])
        offset = offset_of(view, at, wrong, frame)
        reading(node, view, offset, frame)
        try:
            if view.shadow[offset]:
                value = view.cells[offset]
                hook(node, at, value, frame)
                return value
        except IndexError:
            pass
        raise wrong(frame, at)

    return watched_load


# ----------------------------------------------------------------------------------------------- stores


def store(scope: Scope, node: tir.BufferStore) -> Run:
    """Write the value at scalar indices."""
    check_rank(node)
    place = scope.buffer(node.buffer, node.span)
    indices = tuple(scope.int(index) for index in node.indices)
    if is_undef(node.value):
        return _forget(scope, node, indices)
    check_stored(node)
    if scope.machine.hooks.watches("store") or scope.machine.hooks.watches("write_element"):
        return _watched_store(scope, node, indices)
    # A float32 cell rounds what is written into it.
    value = unrounded(scope, node.value) if node.buffer.dtype == FLOAT32 else scope.number(node.value)
    match place.form, indices:
        case "vector", (index,):
            return _store_1(scope, node, value, index)
        case "matrix", (row, column):
            slots = _slots_within(scope, node)
            return _store_2_within(scope, node, value, *slots) if slots else _store_2(scope, node, value, row, column)
        case _:
            return _store_any(scope, node, value, indices)


def _store_1(scope: Scope, node: tir.BufferStore, value: NumberEval, index: IntEval) -> Run:
    access = cast("Slot[Access1]", scope.buffer(node.buffer).access)
    wrong = explain(scope, node)

    def store_1(frame: Frame) -> None:
        written = value(frame)
        cells, shadow, n = frame[access]
        i = index(frame)
        if not 0 <= i < n:
            raise wrong(frame, (i,))
        try:
            cells[i] = written
            shadow[i] = 1
        except (IndexError, TypeError):
            raise wrong(frame, (i,)) from None

    return store_1


def _store_2(scope: Scope, node: tir.BufferStore, value: NumberEval, row: IntEval, column: IntEval) -> Run:
    access = cast("Slot[Access2]", scope.buffer(node.buffer).access)
    wrong = explain(scope, node)

    def store_2(frame: Frame) -> None:
        written = value(frame)
        cells, shadow, n, m = frame[access]
        i = row(frame)
        j = column(frame)
        if not (0 <= i < n and 0 <= j < m):
            raise wrong(frame, (i, j))
        offset = i * m + j
        try:
            cells[offset] = written
            shadow[offset] = 1
        except (IndexError, TypeError):
            raise wrong(frame, (i, j)) from None

    return store_2


def _store_2_within(scope: Scope, node: tir.BufferStore, value: NumberEval, row: Slot[int], column: Slot[int]) -> Run:
    access = cast("Slot[Access2]", scope.buffer(node.buffer).access)
    wrong = explain(scope, node)

    def store_2_within(frame: Frame) -> None:
        written = value(frame)
        cells, shadow, _, m = frame[access]
        offset = frame[row] * m + frame[column]
        try:
            cells[offset] = written
            shadow[offset] = 1
        except (IndexError, TypeError):
            raise wrong(frame, (frame[row], frame[column])) from None

    return store_2_within


def _store_any(scope: Scope, node: tir.BufferStore, value: NumberEval, indices: tuple[IntEval, ...]) -> Run:
    locate = locator(scope, node, indices)
    wrong = explain(scope, node)

    def store_any(frame: Frame) -> None:
        written = value(frame)
        cells, shadow, offset = locate(frame)
        try:
            cells[offset] = written
            shadow[offset] = 1
        except (IndexError, TypeError):
            raise wrong(frame, tuple([index(frame) for index in indices])) from None

    return store_any


def _watched_store(scope: Scope, node: tir.BufferStore, indices: tuple[IntEval, ...]) -> Run:
    view_slot = scope.buffer(node.buffer).view
    value = scope.number(node.value)
    wrong = explain(scope, node)
    hook, writing = scope.machine.hooks.store, scope.machine.hooks.write_element

    def watched_store(frame: Frame) -> None:
        written = value(frame)
        view = frame[view_slot]
        at = tuple([index(frame) for index in indices])
        offset = offset_of(view, at, wrong, frame)
        writing(node, view, offset, frame)
        hook(node, at, written, frame)
        try:
            view.cells[offset] = written
            view.shadow[offset] = 1
        except (IndexError, TypeError):
            raise wrong(frame, at) from None

    return watched_store


# TIR-307
def is_undef(value: tir.Expr) -> bool:
    """Whether the value is `T.undef()`, converted or not: the text gives it a dtype by a cast."""
    return is_undef(value.value) if isinstance(value, tir.Cast) else getattr(value, "callee", None) == "undef"


def _forget(scope: Scope, node: tir.BufferStore, indices: tuple[IntEval, ...]) -> Run:
    """Storing `T.undef()`: the element holds no value any more."""
    view_slot = scope.buffer(node.buffer).view
    wrong = explain(scope, node)
    writing = scope.machine.hooks.write_element if scope.machine.hooks.watches("write_element") else None

    def forget(frame: Frame) -> None:
        view = frame[view_slot]
        at = tuple([index(frame) for index in indices])
        offset = offset_of(view, at, wrong, frame)
        if writing is not None:
            writing(node, view, offset, frame)
        try:
            view.shadow[offset] = 0
        except IndexError:
            raise wrong(frame, at) from None

    return forget
