"""What a load and a store of a single element share: where the element is, and what is wrong with an access.

The order is: value (of a store), indices from left to right, bounds, initialisation, cell (TIR-006, TIR-007, TIR-008).
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
from refmlc.lang.dtypes import INT32
from refmlc.lang.ir import tir
from refmlc.run.interp.tensorir.frame import Frame, IntEval, Slot
from refmlc.run.interp.tensorir.scope import Scope, failing_in
from refmlc.run.interp.tensorir.views import Strided, View
from refmlc.run.memory.cells import Cells, Shadow

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


def slots_within(scope: Scope, node: tir.BufferLoad | tir.BufferStore) -> tuple[Slot[int], ...]:
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


# TIR-307
def is_undef(value: tir.Expr) -> bool:
    """Whether the value is `T.undef()`, converted or not: the text gives it a dtype by a cast."""
    return is_undef(value.value) if isinstance(value, tir.Cast) else getattr(value, "callee", None) == "undef"
