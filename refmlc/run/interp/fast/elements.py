"""Loads and stores of single elements, by the form of the buffer; bounds and initialisation are checked here too.

| buffer and indices                              | closures                                         |
|-------------------------------------------------|--------------------------------------------------|
| fixed shape, indices are sums in bounds         | `_load_kept`, `_load_moving`, `_load_sum`, the same of stores |
| fixed shape, one index is not                   | `_load_checked`                                  |
| compact, rank 1                                 | `_load_1`, `_store_1`                            |
| compact, rank 2, indices proved to be in bounds | `_load_2_within`, `_store_2_within`              |
| compact, rank 2                                 | `_load_2`, `_store_2`                            |
| any rank, strides                               | `_load_any`, `_store_any`                        |

The closures read the tuple in the access slot of the buffer (`refmlc.run.interp.tensorir.views`). An access that fails
any check is explained by `refmlc.run.interp.tensorir.elements`.
"""

from collections.abc import Callable, Sequence
from typing import TypeAlias, cast

from refmlc.diag.errors import RefmlcError
from refmlc.lang.dtypes import FLOAT32, INT32
from refmlc.lang.ir import tir
from refmlc.run.interp.fast.numbers import unrounded
from refmlc.run.interp.fast.offsets import OffsetSum, offset_sum
from refmlc.run.interp.tensorir.elements import Explain, check_rank, check_stored, explain
from refmlc.run.interp.tensorir.frame import Frame, IntEval, NumberEval, Run, Slot
from refmlc.run.interp.tensorir.loop_sums import Terms
from refmlc.run.interp.tensorir.scope import Scope
from refmlc.run.interp.tensorir.views import Strided
from refmlc.run.memory.cells import Cells, Shadow

Compact: TypeAlias = tuple[Cells, Shadow]
Access1: TypeAlias = tuple[Cells, Shadow, int]
Access2: TypeAlias = tuple[Cells, Shadow, int, int]
Locate = Callable[[Frame], tuple[Cells, Shadow, int]]


def load(scope: Scope, node: tir.BufferLoad) -> NumberEval:
    """The element at scalar indices."""
    check_rank(node)
    place = scope.buffer(node.buffer, node.span)
    offset = offset_sum(scope, node)
    indices = tuple(scope.int(index) for index in node.indices)
    if offset is not None and (of_sum := _load_at(scope, node, offset, indices)) is not None:
        return of_sum
    match place.form, indices:
        case "vector", (index,):
            return _load_1(scope, node, index)
        case "matrix", (row, column):
            slots = _slots_within(scope, node)
            return _load_2_within(scope, node, *slots) if slots else _load_2(scope, node, row, column)
        case _:
            return _load_any(scope, node, indices)


def store(scope: Scope, node: tir.BufferStore) -> Run:
    """Write the value at scalar indices."""
    check_rank(node)
    check_stored(node)
    place = scope.buffer(node.buffer, node.span)
    indices = tuple(scope.int(index) for index in node.indices)
    # A float32 cell rounds a value when it is written.
    value = unrounded(scope, node.value) if node.buffer.dtype == FLOAT32 else scope.number(node.value)
    offset = offset_sum(scope, node)
    if offset is not None and offset.checked is None:
        return _store_at(scope, node, value, offset, indices)
    match place.form, indices:
        case "vector", (index,):
            return _store_1(scope, node, value, index)
        case "matrix", (row, column):
            slots = _slots_within(scope, node)
            return _store_2_within(scope, node, value, *slots) if slots else _store_2(scope, node, value, row, column)
        case _:
            return _store_any(scope, node, value, indices)


def _slots_within(scope: Scope, node: tir.BufferLoad | tir.BufferStore) -> tuple[Slot[int], ...]:
    """The slots of the indices, if every index has one and is in bounds; else nothing."""
    slots = [slot for index in node.indices if (slot := scope.atom(index)) is not None]
    return tuple(slots) if len(slots) == len(node.indices) and _is_within(scope, node) else ()


def _is_within(scope: Scope, node: tir.BufferLoad | tir.BufferStore) -> bool:
    """Whether the domains of loops and axes prove every index to be in bounds: such an access needs no check."""
    zero = tir.IntImm(INT32, 0)
    pairs = zip(node.indices, node.buffer.shape, strict=True)
    return all(scope.within(index, zero, extent) for index, extent in pairs)


# --------------------------------------------------------------------------------------------- offsets that are sums


def _load_at(scope: Scope, node: tir.BufferLoad, offset: OffsetSum, indices: Sequence[IntEval]) -> NumberEval | None:
    place, wrong = _compact(scope, node), _outside(scope, node, indices)
    match offset:
        case OffsetSum(start, (), None):
            return _load_kept(place, start, wrong)
        case OffsetSum(start, ((slot, factor),), None):
            return _load_moving(place, start, slot, factor, wrong)
        case OffsetSum(start, terms, None):
            return _load_sum(place, start, terms, wrong)
        case OffsetSum(start, ((slot, factor),), (axis, extent, stride)):
            wrong_at = _outside_at(scope, node, indices, axis)
            return _load_checked(place, (start, slot, factor), indices[axis], (extent, stride), wrong_at)
        case OffsetSum(start, (), (axis, extent, stride)):
            wrong_at = _outside_at(scope, node, indices, axis)
            return _load_checked(place, (start, start, 0), indices[axis], (extent, stride), wrong_at)
        case _:
            return None


def _compact(scope: Scope, node: tir.BufferLoad | tir.BufferStore) -> Slot[Compact]:
    """The access slot, whose tuple begins with cells and shadow in every form."""
    return cast("Slot[Compact]", scope.buffer(node.buffer).access)


def _outside(
    scope: Scope, node: tir.BufferLoad | tir.BufferStore, indices: Sequence[IntEval]
) -> Callable[[Frame], RefmlcError]:
    """Explains a failed access, whose indices are sums."""
    wrong = explain(scope, node)
    return lambda frame: wrong(frame, tuple([index(frame) for index in indices]))


def _outside_at(
    scope: Scope, node: tir.BufferLoad, indices: Sequence[IntEval], axis: int
) -> Callable[[Frame, int], RefmlcError]:
    """The same, where the index of an axis is no sum: it is evaluated once, as it may have effects."""
    wrong = explain(scope, node)
    before, after = indices[:axis], indices[axis + 1 :]

    def failure(frame: Frame, position: int) -> RefmlcError:
        return wrong(frame, (*[index(frame) for index in before], position, *[index(frame) for index in after]))

    return failure


def _load_kept(place: Slot[Compact], start: Slot[int], wrong: Callable[[Frame], RefmlcError]) -> NumberEval:
    def load_kept(frame: Frame) -> float:
        memory = frame[place]
        offset = frame[start]
        try:
            if memory[1][offset]:
                return memory[0][offset]
        except IndexError:
            pass
        raise wrong(frame)

    return load_kept


def _load_moving(
    place: Slot[Compact], start: Slot[int], slot: Slot[int], factor: int, wrong: Callable[[Frame], RefmlcError]
) -> NumberEval:
    def load_moving(frame: Frame) -> float:
        memory = frame[place]
        offset = frame[start] + frame[slot] * factor
        try:
            if memory[1][offset]:
                return memory[0][offset]
        except IndexError:
            pass
        raise wrong(frame)

    return load_moving


def _load_sum(
    place: Slot[Compact], start: Slot[int], terms: Terms, wrong: Callable[[Frame], RefmlcError]
) -> NumberEval:
    def load_sum(frame: Frame) -> float:
        memory = frame[place]
        offset = frame[start]
        for slot, factor in terms:
            offset += frame[slot] * factor
        try:
            if memory[1][offset]:
                return memory[0][offset]
        except IndexError:
            pass
        raise wrong(frame)

    return load_sum


def _load_checked(
    place: Slot[Compact],
    rest: tuple[Slot[int], Slot[int], int],
    index: IntEval,
    axis: tuple[int, int],
    wrong: Callable[[Frame, int], RefmlcError],
) -> NumberEval:
    """`rest`: the sum of the other indices; `axis`: extent and stride of the one that is checked."""
    (start, slot, factor), (extent, stride) = rest, axis

    def load_checked(frame: Frame) -> float:
        i = index(frame)
        if 0 <= i < extent:
            memory = frame[place]
            offset = frame[start] + frame[slot] * factor + i * stride
            try:
                if memory[1][offset]:
                    return memory[0][offset]
            except IndexError:
                pass
        raise wrong(frame, i)

    return load_checked


def _store_at(
    scope: Scope, node: tir.BufferStore, value: NumberEval, offset: OffsetSum, indices: Sequence[IntEval]
) -> Run:
    place, wrong = _compact(scope, node), _outside(scope, node, indices)
    match offset:
        case OffsetSum(start, ()):
            return _store_kept(place, value, start, wrong)
        case OffsetSum(start, ((slot, factor),)):
            return _store_moving(place, value, (start, slot, factor), wrong)
        case OffsetSum(start, terms):
            return _store_sum(place, value, start, terms, wrong)


def _store_kept(
    place: Slot[Compact], value: NumberEval, start: Slot[int], wrong: Callable[[Frame], RefmlcError]
) -> Run:
    def store_kept(frame: Frame) -> None:
        written = value(frame)
        memory = frame[place]
        offset = frame[start]
        try:
            memory[0][offset] = written
            memory[1][offset] = 1
        except (IndexError, TypeError):
            raise wrong(frame) from None

    return store_kept


def _store_moving(
    place: Slot[Compact],
    value: NumberEval,
    offset: tuple[Slot[int], Slot[int], int],
    wrong: Callable[[Frame], RefmlcError],
) -> Run:
    start, slot, factor = offset

    def store_moving(frame: Frame) -> None:
        written = value(frame)
        memory = frame[place]
        at = frame[start] + frame[slot] * factor
        try:
            memory[0][at] = written
            memory[1][at] = 1
        except (IndexError, TypeError):
            raise wrong(frame) from None

    return store_moving


def _store_sum(
    place: Slot[Compact], value: NumberEval, start: Slot[int], terms: Terms, wrong: Callable[[Frame], RefmlcError]
) -> Run:
    def store_sum(frame: Frame) -> None:
        written = value(frame)
        memory = frame[place]
        offset = frame[start]
        for slot, factor in terms:
            offset += frame[slot] * factor
        try:
            memory[0][offset] = written
            memory[1][offset] = 1
        except (IndexError, TypeError):
            raise wrong(frame) from None

    return store_sum


# -------------------------------------------------------------------------------------------------------------- loads


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
    locate = _locator(scope, node, indices)
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


# ------------------------------------------------------------------------------------------------------------- stores


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
    locate = _locator(scope, node, indices)
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


# ----------------------------------------------------------------------------------------------------------- any rank


def _locator(scope: Scope, node: tir.BufferLoad | tir.BufferStore, indices: tuple[IntEval, ...]) -> Locate:
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
