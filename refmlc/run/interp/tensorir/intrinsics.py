"""Intrinsics of values, pointers and workspaces: each function prepares one, `EXECUTED` maps names to them.

Units: `handle_add_byte_offset` and workspaces count bytes, `tvm_access_ptr` elements of its type annotation.
"""

from collections.abc import Callable, Mapping
from typing import cast

from refmlc.diag.catalogue import (
    ASSUMPTION,
    BAD_POINTER,
    TVM_THROW,
    UNINITIALISED,
    UNSUPPORTED_CONSTRUCT,
    UNSUPPORTED_DTYPE,
)
from refmlc.lang.ir import tir
from refmlc.lang.ops.scalar.fused import fused
from refmlc.run.interp.tensorir.elements import explain, offset_of
from refmlc.run.interp.tensorir.frame import Eval, Frame
from refmlc.run.interp.tensorir.jumps import OF_A_THREAD, Returning
from refmlc.run.interp.tensorir.opaque_values import held
from refmlc.run.interp.tensorir.scope import Scope
from refmlc.run.memory.cells import cell_size
from refmlc.run.memory.pointer import Pointer, SpaceAddress
from refmlc.run.memory.storage import Storage
from refmlc.run.memory.tensor import Tensor
from refmlc.run.memory.values import kind_of


def operands(node: tir.Call) -> tuple[tir.Expr, ...]:
    """The arguments, which this intrinsic takes as expressions only."""
    return cast("tuple[tir.Expr, ...]", node.args)


def _nothing(_scope: Scope, _node: tir.Call) -> Eval:  # TIR-301
    return lambda _frame: None


def _first(scope: Scope, node: tir.Call) -> Eval:  # TIR-302
    return scope.expr(operands(node)[0])


def _vscale(_scope: Scope, _node: tir.Call) -> Eval:  # TIR-303
    return lambda _frame: 1


def _low(scope: Scope, node: tir.Call) -> Eval:  # TIR-304
    vector = scope.lanes(operands(node)[0])
    return lambda frame: (lanes := vector(frame))[: len(lanes) // 2]


def _high(scope: Scope, node: tir.Call) -> Eval:  # TIR-304
    vector = scope.lanes(operands(node)[0])
    return lambda frame: (lanes := vector(frame))[len(lanes) // 2 :]


def _combine(scope: Scope, node: tir.Call) -> Eval:  # TIR-304
    first, second = (scope.lanes(part) for part in operands(node))
    return lambda frame: first(frame) + second(frame)


def _active_lanes(scope: Scope, node: tir.Call) -> Eval:  # TIR-305
    first, limit = (scope.number(part) for part in operands(node))
    lanes = node.dtype.lanes

    def mask(frame: Frame) -> tuple[bool, ...]:
        start, end = first(frame), limit(frame)
        return tuple([start + lane < end for lane in range(lanes)])

    return mask


def _assume(scope: Scope, node: tir.Call) -> Eval:  # TIR-306
    condition = scope.expr(operands(node)[0])
    failure = scope.failing(ASSUMPTION, node.span)

    def assume(frame: Frame) -> object:
        if not condition(frame):
            raise failure(frame, "the condition of `T.assume` is false")
        return True

    return assume


def _undef(scope: Scope, node: tir.Call) -> Eval:  # TIR-307
    failure = scope.failing(UNINITIALISED, node.span)

    def undef(frame: Frame) -> object:
        raise failure(frame, "the value of `T.undef()` is used")

    return undef


def _ret(scope: Scope, node: tir.Call) -> Eval:  # TIR-308
    args = operands(node)
    value = scope.expr(args[0]) if args else (lambda _frame: None)
    if scope.in_thread:
        return scope.unsupported(UNSUPPORTED_CONSTRUCT, OF_A_THREAD, node.span)

    def leave(frame: Frame) -> object:
        raise Returning(value(frame))

    return leave


def _fma(scope: Scope, node: tir.Call) -> Eval:  # TIR-309
    a, b, c = (scope.number(part) for part in operands(node))
    dtype = node.dtype
    if not dtype.is_float or dtype.is_vector:
        return scope.unsupported(UNSUPPORTED_DTYPE, f"`T.fma` is not supported on {dtype}", node.span)

    value = fused(dtype)
    return lambda frame: value(a(frame), b(frame), c(frame))


# ------------------------------------------------------------------------------------ pointers and workspaces


def pointer(scope: Scope, node: tir.Expr) -> Callable[[Frame], Pointer]:
    """An expression that must point somewhere. Fails: RM313. A tensor points to its first element."""
    value = scope.expr(node)
    failure = scope.failing(BAD_POINTER, node.span)

    def checked(frame: Frame) -> Pointer:
        handle = value(frame)
        if isinstance(handle, Tensor):
            return Pointer(handle.storage, handle.byte_offset)
        if isinstance(handle, SpaceAddress):
            return handle.place
        if not isinstance(handle, Pointer):
            raise failure(frame, f"a pointer is needed, {kind_of(handle)} is given")
        return handle

    return checked


def _address_of(scope: Scope, node: tir.Call) -> Eval:  # TIR-321
    load = operands(node)[0]
    if isinstance(load, tir.Var) and load.pointer is not None and load.pointer.tensor_map:
        return scope.expr(load)  # the place of the map is what the variable holds (TIA-040)
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
        return Pointer(view.data.storage, view.data.byte_offset + (view.offset + offset) * size, view)

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
    start = pointer(scope, operands(node)[2])
    failure = scope.failing(BAD_POINTER, node.span)

    def free(frame: Frame) -> int:
        workspace = start(frame)
        if workspace.byte_offset != 0 or not workspace.storage.alive:
            raise failure(frame, "the pointer that is freed is not a live workspace")
        workspace.storage.kill()
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
    size, failure = cell_size(dtype) * dtype.lanes, scope.failing(UNSUPPORTED_CONSTRUCT, node.span)

    def make(frame: Frame) -> Tensor:
        place = start(frame)
        sizes, spacing = extents(frame), steps(frame) or None
        if not isinstance(sizes, tuple) or not (spacing is None or isinstance(spacing, tuple)):
            raise failure(frame, "an array whose shape or strides are not made by `T.tvm_stack_make_shape`")
        first = place.byte_offset + offset(frame) * size
        return Tensor(place.storage, dtype, sizes, spacing, first, span=node.span)

    return make


def _reinterpret(scope: Scope, node: tir.Call) -> Eval:  # TIR-332
    """A handle points to the same under any type; the only number that is a handle is 0, null."""
    operand = operands(node)[0]
    value = scope.expr(operand)
    failure = scope.failing(UNSUPPORTED_CONSTRUCT, node.span)
    holds = isinstance(operand, tir.BufferLoad) and node.dtype.kind == "handle" and str(operand.dtype) == "uint64"
    address = held(scope, cast("tir.BufferLoad", operand)) if holds else None

    def reinterpret(frame: Frame) -> object:
        found = None if address is None else address(frame)
        if isinstance(found, SpaceAddress):  # TIX-031
            return found.place
        handle = value(frame)
        if isinstance(handle, int | float):
            if handle == 0 and node.dtype.kind == "handle":
                return None
            raise failure(frame, f"the number {handle} as a handle: addresses have no numbers here")
        if node.dtype.kind != "handle":
            raise failure(frame, f"a handle as a number of {node.dtype}: addresses have no numbers here")
        return handle

    return reinterpret


EXECUTED: Mapping[str, Callable[[Scope, tir.Call], Eval]] = {
    "type_annotation": _nothing,
    "prefetch": _nothing,
    "start_profile_intrinsic": _nothing,
    "end_profile_intrinsic": _nothing,
    "tvm_thread_invariant": _first,
    "ignore_loop_partition": _first,
    "vscale": _vscale,
    "vectorlow": _low,
    "vectorhigh": _high,
    "vectorcombine": _combine,
    "get_active_lane_mask": _active_lanes,
    "assume": _assume,
    "undef": _undef,
    "ret": _ret,
    "fma": _fma,
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
