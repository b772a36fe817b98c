"""Loads and stores of single elements: bounds of every axis, initialisation, one cell.

The order is: value (of a store), indices from left to right, bounds, initialisation, cell. Ranks 1 and 2 are
written out, with indices read straight from their slots where they are variables or constants; the rest loops.
"""

from collections.abc import Callable
from typing import cast

from refmlc.diag import Related, fail
from refmlc.diag.catalogue import OUT_OF_BOUNDS, RANK_MISMATCH, UNINITIALISED
from refmlc.diag.errors import RefmlcError
from refmlc.dtypes import FLOAT32, INT32
from refmlc.interp.tensorir.arith import unrounded
from refmlc.interp.tensorir.frame import Frame, IntEval, NumberEval, Run, Slot
from refmlc.interp.tensorir.scope import Scope
from refmlc.interp.tensorir.views import BufferPlace, Strided
from refmlc.ir import tir
from refmlc.runtime.cells import Cells, Shadow

Explain = Callable[[Frame, tuple[int, ...]], RefmlcError]
Locate = Callable[[Frame], tuple[Cells, Shadow, int, tuple[int, ...]]]


def explain(scope: Scope, node: tir.BufferLoad | tir.BufferStore) -> Explain:
    """What is wrong with an access whose indices are given: which axis, or that nothing was written there."""
    buffer = node.buffer
    place = scope.buffer(buffer, node.span)
    verb = "load from" if isinstance(node, tir.BufferLoad) else "store to"
    declared = Related(f"`{buffer.name}` is declared here", buffer.span)
    outside = scope.failing(OUT_OF_BOUNDS, node.span, declared)
    blank = scope.failing(UNINITIALISED, node.span, Related(f"`{buffer.name}` is allocated here", buffer.span))

    def explanation(frame: Frame, indices: tuple[int, ...]) -> RefmlcError:
        view = frame[place.view]
        for axis, (index, extent) in enumerate(zip(indices, view.shape, strict=True)):
            if not 0 <= index < extent:
                label = f"index {axis} is {index}, extent is {extent}"
                return outside(frame, f"{verb} `{buffer.name}` is out of bounds", label=label)
        offset = sum(index * stride for index, stride in zip(indices, view.strides, strict=True))
        element = f"{buffer.name}[{', '.join(map(str, indices))}]"
        try:
            view.shadow[offset]
        except IndexError:
            label = f"element {offset} of the view, its storage ends before"
            return outside(frame, f"{verb} `{buffer.name}` is beyond its storage", label=label)
        return blank(frame, f"`{element}` is read but was never written", label="uninitialised")

    return explanation


def check_rank(node: tir.BufferLoad | tir.BufferStore) -> None:
    """Fails: RM208 when the number of indices is not the rank of the buffer."""
    rank = len(node.buffer.shape)
    if len(node.indices) != rank:
        message = f"`{node.buffer.name}` has {rank} dimensions and is accessed with {len(node.indices)} indices"
        raise fail(RANK_MISMATCH, message, node.span)


def _is_within(scope: Scope, node: tir.BufferLoad | tir.BufferStore) -> bool:
    """Whether loops and axes already say that every index is in bounds: a check that cannot fail is not made."""
    zero = tir.IntImm(INT32, 0)
    pairs = zip(node.indices, node.buffer.shape, strict=True)
    return all(scope.within(index, zero, extent) for index, extent in pairs)


# ------------------------------------------------------------------------------------------------ loads


def load(scope: Scope, node: tir.BufferLoad) -> NumberEval:
    """The element at scalar indices."""
    check_rank(node)
    place = scope.buffer(node.buffer, node.span)
    if scope.machine.hooks.watches("load"):
        return _watched_load(scope, node)
    if not place.strided and 1 <= len(node.indices) <= 2:
        atoms = [scope.atom(index) for index in node.indices]
        slots = [atom for atom in atoms if atom is not None]
        if len(node.indices) == 1:
            return _load_1(scope, node, scope.int(node.indices[0]))
        if len(slots) == 2:
            return (_load_2_within if _is_within(scope, node) else _load_2_slots)(scope, node, slots[0], slots[1])
        return _load_2(scope, node, scope.int(node.indices[0]), scope.int(node.indices[1]))
    locate = locator(scope, node)
    wrong = explain(scope, node)

    def load_any(frame: Frame) -> float:
        cells, shadow, offset, indices = locate(frame)
        try:
            if shadow[offset]:
                return cells[offset]
        except IndexError:
            pass
        raise wrong(frame, indices)

    return load_any


def _load_1(scope: Scope, node: tir.BufferLoad, index: IntEval) -> NumberEval:
    access = cast("Slot[tuple[Cells, Shadow, int]]", scope.buffer(node.buffer).access)
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
    access = cast("Slot[tuple[Cells, Shadow, int, int]]", scope.buffer(node.buffer).access)
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


def _load_2_slots(scope: Scope, node: tir.BufferLoad, row: Slot[int], column: Slot[int]) -> NumberEval:
    access = cast("Slot[tuple[Cells, Shadow, int, int]]", scope.buffer(node.buffer).access)
    wrong = explain(scope, node)

    def load_2_slots(frame: Frame) -> float:
        cells, shadow, n, m = frame[access]
        i = frame[row]
        j = frame[column]
        if 0 <= i < n and 0 <= j < m:
            offset = i * m + j
            try:
                if shadow[offset]:
                    return cells[offset]
            except IndexError:
                pass
        raise wrong(frame, (i, j))

    return load_2_slots


def _load_2_within(scope: Scope, node: tir.BufferLoad, row: Slot[int], column: Slot[int]) -> NumberEval:
    access = cast("Slot[tuple[Cells, Shadow, int, int]]", scope.buffer(node.buffer).access)
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


def _watched_load(scope: Scope, node: tir.BufferLoad) -> NumberEval:
    locate = locator(scope, node)
    wrong = explain(scope, node)
    hook = scope.machine.hooks.load

    def watched_load(frame: Frame) -> float:
        cells, shadow, offset, indices = locate(frame)
        try:
            value = cells[offset] if shadow[offset] else None
        except IndexError:
            value = None
        if value is None:
            raise wrong(frame, indices)
        hook(node, indices, value, frame)
        return value

    return watched_load


# ----------------------------------------------------------------------------------------------- stores


def store(scope: Scope, node: tir.BufferStore) -> Run:
    """Write the value at scalar indices."""
    check_rank(node)
    place = scope.buffer(node.buffer, node.span)
    value = cast("NumberEval", scope.expr(node.value))
    if scope.machine.hooks.watches("store"):
        return _watched_store(scope, node, value)
    if node.buffer.dtype == FLOAT32:
        value = unrounded(scope, node.value)  # a float32 cell rounds what is written into it
    if not place.strided and len(node.indices) == 2:
        atoms = [scope.atom(index) for index in node.indices]
        slots = [atom for atom in atoms if atom is not None]
        if len(slots) == 2:
            make = _store_2_within if _is_within(scope, node) else _store_2_slots
            return make(scope, node, value, slots[0], slots[1])
    locate = locator(scope, node)
    wrong = explain(scope, node)

    def store_any(frame: Frame) -> None:
        written = value(frame)
        cells, shadow, offset, indices = locate(frame)
        try:
            cells[offset] = written
            shadow[offset] = 1
        except (IndexError, TypeError):
            raise wrong(frame, indices) from None

    return store_any


def _store_2_slots(scope: Scope, node: tir.BufferStore, value: NumberEval, row: Slot[int], column: Slot[int]) -> Run:
    access = cast("Slot[tuple[Cells, Shadow, int, int]]", scope.buffer(node.buffer).access)
    wrong = explain(scope, node)

    def store_2_slots(frame: Frame) -> None:
        written = value(frame)
        cells, shadow, n, m = frame[access]
        i = frame[row]
        j = frame[column]
        if 0 <= i < n and 0 <= j < m:
            offset = i * m + j
            try:
                cells[offset] = written
                shadow[offset] = 1
            except (IndexError, TypeError):
                raise wrong(frame, (i, j)) from None
        else:
            raise wrong(frame, (i, j))

    return store_2_slots


def _store_2_within(scope: Scope, node: tir.BufferStore, value: NumberEval, row: Slot[int], column: Slot[int]) -> Run:
    access = cast("Slot[tuple[Cells, Shadow, int, int]]", scope.buffer(node.buffer).access)
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


def _watched_store(scope: Scope, node: tir.BufferStore, value: NumberEval) -> Run:
    locate = locator(scope, node)
    wrong = explain(scope, node)
    hook = scope.machine.hooks.store

    def watched_store(frame: Frame) -> None:
        written = value(frame)
        cells, shadow, offset, indices = locate(frame)
        hook(node, indices, written, frame)
        try:
            cells[offset] = written
            shadow[offset] = 1
        except (IndexError, TypeError):
            raise wrong(frame, indices) from None

    return watched_store


# --------------------------------------------------------------------------------------------- any rank


def locator(scope: Scope, node: tir.BufferLoad | tir.BufferStore) -> Locate:
    """Cells, shadow, offset and indices of an access of any rank, compact or with strides; bounds are checked."""
    place = scope.buffer(node.buffer, node.span)
    indices = tuple(scope.int(index) for index in node.indices)
    wrong = explain(scope, node)
    if place.strided:
        return _locate_strided(place, indices, wrong)
    access = cast("Slot[tuple[Cells, Shadow, *tuple[int, ...]]]", place.access)

    def locate(frame: Frame) -> tuple[Cells, Shadow, int, tuple[int, ...]]:
        cells, shadow, *shape = frame[access]
        at = tuple([index(frame) for index in indices])
        offset = 0
        for i, extent in zip(at, shape, strict=True):
            if not 0 <= i < extent:
                raise wrong(frame, at)
            offset = offset * extent + i
        return cells, shadow, offset, at

    return locate


def _locate_strided(place: BufferPlace, indices: tuple[IntEval, ...], wrong: Explain) -> Locate:
    access = cast("Slot[Strided]", place.access)

    def locate_strided(frame: Frame) -> tuple[Cells, Shadow, int, tuple[int, ...]]:
        cells, shadow, shape, strides = frame[access]
        at = tuple([index(frame) for index in indices])
        offset = 0
        for i, extent, stride in zip(at, shape, strides, strict=True):
            if not 0 <= i < extent:
                raise wrong(frame, at)
            offset += i * stride
        return cells, shadow, offset, at

    return locate_strided
