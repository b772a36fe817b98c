"""Stores of single elements: bounds of every axis, one cell (`access` has the order).

| access                                             | closure                                                        |
|----------------------------------------------------|----------------------------------------------------------------|
| a hook watches                                     | `_watched_store`                                               |
| of `T.undef()`                                     | `_forget`                                                      |
| compact, rank 1                                    | `_store_1`                                                     |
| compact, rank 2, indices known to be in bounds     | `_store_2_within`: variables and constants                     |
| compact, rank 2                                    | `_store_2`                                                     |
| any rank, strides                                  | `_store_any`                                                   |
"""

from typing import cast

from refmlc.diag.catalogue import USE_AFTER_KILL
from refmlc.lang.dtypes import FLOAT32
from refmlc.lang.ir import tir
from refmlc.run.interp.tensorir.access import (
    Access1,
    Access2,
    check_rank,
    check_stored,
    explain,
    is_undef,
    locator,
    offset_of,
    slots_within,
)
from refmlc.run.interp.tensorir.arith import unrounded
from refmlc.run.interp.tensorir.frame import Frame, IntEval, NumberEval, Run, Slot
from refmlc.run.interp.tensorir.scope import Scope


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
            slots = slots_within(scope, node)
            return _store_2_within(scope, node, value, *slots) if slots else _store_2(scope, node, value, row, column)
        case _:
            return _store_any(scope, node, value, indices)


def to_live(scope: Scope, node: tir.BufferStore, run: Run) -> Run:
    """`run`, and a look whether the memory that it wrote to was freed. Fails: RM316.

    It comes after the value and the indices, as the store does. Loads need no such look: no element of freed memory
    counts as initialised.
    """
    view_slot = scope.buffer(node.buffer).view
    failure = scope.failing(USE_AFTER_KILL, node.span)

    def store_to_live(frame: Frame) -> None:
        run(frame)
        if not frame[view_slot].data.storage.alive:
            raise failure(frame, f"store to `{node.buffer.name}` after its storage was freed")

    return store_to_live


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
