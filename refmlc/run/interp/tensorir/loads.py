"""Loads of single elements: bounds of every axis, initialisation, one cell (`access` has the order).

| access                                         | closure                                   |
|------------------------------------------------|-------------------------------------------|
| a hook watches                                 | `_watched_load`                           |
| compact, rank 1                                | `_load_1`                                 |
| compact, rank 2, indices known to be in bounds | `_load_2_within`: variables and constants |
| compact, rank 2                                | `_load_2`                                 |
| any rank, strides                              | `_load_any`                               |
"""

from typing import cast

from refmlc.lang.ir import tir
from refmlc.run.interp.tensorir.access import Access1, Access2, check_rank, explain, locator, offset_of, slots_within
from refmlc.run.interp.tensorir.frame import Frame, IntEval, NumberEval, Slot
from refmlc.run.interp.tensorir.scope import Scope


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
            slots = slots_within(scope, node)
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
