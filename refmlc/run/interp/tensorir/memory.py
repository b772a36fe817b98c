"""Intrinsics on pointers and workspaces.

Units: `handle_add_byte_offset` and workspaces count bytes, `tvm_access_ptr` elements of its type annotation.
"""

from collections.abc import Callable, Mapping
from typing import cast

from refmlc.diag.catalogue import BAD_POINTER, TVM_THROW, UNSUPPORTED_CONSTRUCT
from refmlc.lang.ir import tir
from refmlc.run.interp.tensorir.access import explain, offset_of
from refmlc.run.interp.tensorir.frame import Eval, Frame
from refmlc.run.interp.tensorir.plain import operands
from refmlc.run.interp.tensorir.scope import Scope
from refmlc.run.memory.cells import cell_size
from refmlc.run.memory.pointer import Pointer
from refmlc.run.memory.storage import Storage
from refmlc.run.memory.tensor import Tensor
from refmlc.run.memory.values import kind_of


def pointer(scope: Scope, node: tir.Expr) -> Callable[[Frame], Pointer]:
    """An expression that must point somewhere. Fails: RM313. A tensor points to its first element."""
    value = scope.expr(node)
    failure = scope.failing(BAD_POINTER, node.span)

    def checked(frame: Frame) -> Pointer:
        found = value(frame)
        if isinstance(found, Tensor):
            return Pointer(found.storage, found.byte_offset)
        if not isinstance(found, Pointer):
            raise failure(frame, f"a pointer is needed, {kind_of(found)} is given")
        return found

    return checked


def _address_of(scope: Scope, node: tir.Call) -> Eval:  # TIR-321
    load = operands(node)[0]
    if not isinstance(load, tir.BufferLoad) or load.dtype.lanes != load.buffer.dtype.lanes:
        message = "`T.address_of` is executed on an element of a buffer only"
        return scope.unsupported(UNSUPPORTED_CONSTRUCT, message, node.span)
    view_slot = scope.buffer(load.buffer, node.span).view
    indices = tuple(scope.int(index) for index in load.indices)
    wrong = explain(scope, load)
    size = cell_size(load.buffer.dtype) * load.buffer.dtype.lanes

    def address(frame: Frame) -> Pointer:
        view = frame[view_slot]
        offset = offset_of(view, tuple([index(frame) for index in indices]), wrong, frame)
        return view.data.moved((view.offset + offset) * size)

    return address


def _access_ptr(scope: Scope, node: tir.Call) -> Eval:  # TIR-322
    annotation, data, offset, *_ = operands(node)
    start, elements = pointer(scope, data), scope.int(offset)
    size = cell_size(annotation.dtype) * annotation.dtype.lanes
    return lambda frame: start(frame).moved(elements(frame) * size)


def _add_bytes(scope: Scope, node: tir.Call) -> Eval:  # TIR-323
    data, offset = operands(node)
    start, nbytes = pointer(scope, data), scope.int(offset)
    return lambda frame: start(frame).moved(nbytes(frame))


def _is_null(scope: Scope, node: tir.Call) -> Eval:  # TIR-324
    value = scope.expr(operands(node)[0])
    return lambda frame: value(frame) is None


def _allocate(scope: Scope, node: tir.Call) -> Eval:  # TIR-325
    nbytes = scope.int(operands(node)[2])
    budget, span = scope.machine.budget, node.span

    def workspace(frame: Frame) -> Pointer:
        return Pointer(Storage(nbytes(frame), unit=0, origin="a workspace", span=span, budget=budget))

    return workspace


def _free(scope: Scope, node: tir.Call) -> Eval:  # TIR-325
    given = pointer(scope, operands(node)[2])
    failure = scope.failing(BAD_POINTER, node.span)

    def free(frame: Frame) -> int:
        place = given(frame)
        if place.byte_offset != 0 or not place.storage.alive:
            raise failure(frame, "what is freed is no live workspace")
        place.storage.kill()
        return 0

    return free


def _throw(scope: Scope, node: tir.Call) -> Eval:  # TIR-326
    failure = scope.failing(TVM_THROW, node.span)

    def throw(frame: Frame) -> object:
        raise failure(frame, "the program threw the last error")

    return throw


def _make_shape(scope: Scope, node: tir.Call) -> Eval:  # TIR-327
    extents = tuple(scope.int(extent) for extent in operands(node))
    return lambda frame: tuple([extent(frame) for extent in extents])


def _make_array(scope: Scope, node: tir.Call) -> Eval:  # TIR-328
    data, shape, strides, _ndim, like, *offsets = operands(node)
    start, extents, steps = pointer(scope, data), scope.expr(shape), scope.expr(strides)
    dtype = like.dtype
    offset = scope.int(offsets[0]) if offsets else (lambda _frame: 0)
    size = cell_size(dtype) * dtype.lanes

    def make(frame: Frame) -> Tensor:
        place = start(frame)
        sizes = cast("tuple[int, ...]", extents(frame))
        spacing = cast("tuple[int, ...] | None", steps(frame) or None)
        first = place.byte_offset + offset(frame) * size
        return Tensor(place.storage, dtype, sizes, spacing, first, span=node.span)

    return make


def _reinterpret(scope: Scope, node: tir.Call) -> Eval:  # TIR-332
    """Handles keep what they point to whatever they are called; the only number that is a handle is 0, null."""
    value = scope.expr(operands(node)[0])
    failure = scope.failing(BAD_POINTER, node.span)

    def reinterpret(frame: Frame) -> object:
        found = value(frame)
        if isinstance(found, int | float):
            if found == 0 and node.dtype.kind == "handle":
                return None
            raise failure(frame, f"the number {found} is no handle")
        if node.dtype.kind != "handle":
            raise failure(frame, "an address has no number here")
        return found

    return reinterpret


EXECUTED: Mapping[str, Callable[[Scope, tir.Call], Eval]] = {
    "address_of": _address_of,
    "tvm_access_ptr": _access_ptr,
    "handle_add_byte_offset": _add_bytes,
    "isnullptr": _is_null,
    "reinterpret": _reinterpret,
    "TVMBackendAllocWorkspace": _allocate,
    "TVMBackendFreeWorkspace": _free,
    "tvm_throw_last_error": _throw,
    "tvm_stack_make_shape": _make_shape,
    "tvm_stack_make_array": _make_array,
}
