"""Addresses as values (TIX-008 …): what computes them, and the memory that they point to.

| expression                                              | value                                                  |
|---------------------------------------------------------|--------------------------------------------------------|
| `T.address_of(A[i])`, `A.data`, `T.tvm_access_ptr`, …   | a pointer, see `intrinsics`                            |
| `T.cuda.func_call("tvm_builtin_pointer_offset", p, n)`  | the pointer n elements on                              |
| `T.cuda.cvta_generic_to_shared(p)`                      | the same place; its number in the space is not known   |
| `T.ptx.addr(p, n)`, `p + n`, `p - n` as an operand      | the place n bytes on                                   |
| `T.Cast("uint32", p)` of 64 bits                        | the same place, which is in shared memory (TIX-031)    |
| `p & 0xFEFFFFFF` of 32 bits                             | the same place in the first block of the pair (TIX-031) |

A pointer knows its storage, the byte in it, and the view that it was taken from; the storage knows its state space.
"""

from collections.abc import Callable, Mapping
from typing import cast

from refmlc.diag import Span
from refmlc.diag.catalogue import BAD_POINTER, UNSUPPORTED_INTRINSIC
from refmlc.lang.dtypes import INT32, UINT8, UINT64, DType
from refmlc.lang.ir import tir
from refmlc.lang.ir.kinds import PointerType
from refmlc.lang.ir.ptx import ADDRESS, TO_SHARED
from refmlc.run.interp.tensorir.frame import Eval, Frame
from refmlc.run.interp.tensorir.intrinsics import pointer
from refmlc.run.interp.tensorir.opaque_values import held
from refmlc.run.interp.tensorir.scope import Scope
from refmlc.run.interp.tensorir.views import View, view_on
from refmlc.run.memory.cells import cell_size
from refmlc.run.memory.pointer import Pointer, SpaceAddress

OFFSET = "tvm_builtin_pointer_offset"
BODY = f"template<typenameT>__forceinline____device__T*{OFFSET}(T*ptr,intoffset){{returnptr+offset;}}"
"""The source that TVM writes beside each call of it, without spaces."""
BYTE = 8
NARROWED, LEADING = "cuda.smem_addr_from_uint64", "cuda.sm100_2sm_leader_smem_addr"
LEADER = 0xFEFFFFFF
"""The mask that takes from an address in shared memory whether the block is the second one of its pair."""


# ------------------------------------------------------------------------------------------------ the place of one


def place_of(scope: Scope, node: tir.Attr) -> Callable[[Frame], Pointer]:  # TIX-009
    """An operand that is an address, as a pointer. Fails: RM313 where its value is none."""
    match node:
        case tir.Buffer():
            return pointer(scope, tir.BufferData(node, span=node.span))
        case tir.Call(callee=callee, args=(base, *rest)) if callee in (TO_SHARED, ADDRESS):
            return _moved(scope, base, rest[0] if rest else None, 1)
        case tir.Call(callee=callee, args=(base,)) if callee in (NARROWED, LEADING):
            return _narrowed(scope, base) if callee == NARROWED else _leading(scope, base)
        case tir.Apply(op="bitwise_and", args=(base, tir.IntImm(value=mask))) if mask == LEADER:
            return _leading(scope, base)
        case tir.Apply(op="add", args=(distance, base)) if is_address(base):
            return _moved(scope, base, distance, 1)
        case tir.Apply(op="add" | "sub" as op, args=(base, distance)):
            return _moved(scope, base, distance, 1 if op == "add" else -1)
        case tir.Cast(value=value) if value.dtype.kind == "uint" and node.dtype.bits >= value.dtype.bits:
            return place_of(scope, value)
        case tir.Cast(value=tir.BufferLoad() as value) if (value.dtype.kind, str(node.dtype)) == ("uint", "uint32"):
            return _narrowed(scope, value)
        case tir.BufferLoad() if node.dtype.kind == "uint" and not node.dtype.is_vector:
            return _in_register(scope, node)
    return pointer(scope, cast("tir.Expr", node))


def _in_register(scope: Scope, node: tir.BufferLoad) -> Callable[[Frame], Pointer]:  # PTX-024
    """The address that a register holds."""
    address, other = held(scope, node), pointer(scope, node)

    def place(frame: Frame) -> Pointer:
        found = address(frame)
        return found.place if isinstance(found, SpaceAddress) else other(frame)

    return place


def _narrowed(scope: Scope, node: tir.Attr) -> Callable[[Frame], Pointer]:  # TIX-031
    """An address of 64 bits as one of 32. Fails: RM313 where it is not in shared memory."""
    place, failure = place_of(scope, node), scope.failing(BAD_POINTER, getattr(node, "span", None))

    def narrowed(frame: Frame) -> Pointer:
        at = place(frame)
        if space_of(at) != "shared":
            raise failure(frame, f"the low 32 bits of an address in `{space_of(at)}` are none of shared memory")
        return at

    return narrowed


def _leading(scope: Scope, node: tir.Attr) -> Callable[[Frame], Pointer]:  # TIX-031
    """The same place in the first block of the pair. Fails: RM313 where it is not in shared memory."""
    place, group_of = _narrowed(scope, node), scope.group

    def leading(frame: Frame) -> Pointer:
        at, group = place(frame), frame[group_of]
        block = None if group is None else group.memory.owner(at)
        return at if group is None or not block else group.memory.same(at, block - block % 2, frame) or at

    return leading


def _moved(scope: Scope, base: tir.Attr, distance: tir.Attr, sign: int) -> Callable[[Frame], Pointer]:
    start = place_of(scope, base)
    if distance is None:
        return start
    nbytes = scope.int(cast("tir.Expr", distance))
    return lambda frame: start(frame).moved(sign * nbytes(frame))


def is_address(node: tir.Attr) -> bool:
    """Whether an expression says itself that it is an address."""
    if isinstance(node, tir.Call | tir.Apply | tir.Cast) and node.dtype.kind == "uint":
        parts = node.args if not isinstance(node, tir.Cast) else (node.value,)
        return getattr(node, "callee", "") == TO_SHARED or any(is_address(part) for part in parts)
    return isinstance(node, tir.Expr) and node.dtype.kind == "handle"


def view_at(place: Pointer, nbytes: int = 0) -> View:
    """The view of a buffer by which `nbytes` bytes from a place on are named: that it was taken from, or all bytes."""
    base, storage = place.base, place.storage
    if isinstance(base, View) and base.data.storage is storage:
        elements = elements_at(base, place, nbytes)
        if elements.start >= 0 and _has_cell(base, elements.stop - 1):
            return base
    extent = tir.IntImm(UINT64, storage.nbytes)
    buffer = tir.Buffer(name_of(place), UINT8, (extent,), scope=storage.space, span=storage.span)
    return view_on(buffer, Pointer(storage), (storage.nbytes,), None, 0)


def _has_cell(view: View, element: int) -> bool:
    try:
        view.shadow[element]
    except IndexError:
        return False
    return True


def elements_at(view: View, place: Pointer, nbytes: int) -> range:
    """The elements of a view that `nbytes` bytes from a place on are part of."""
    dtype = view.buffer.dtype
    size = cell_size(dtype) * dtype.lanes
    start = place.byte_offset - view.data.byte_offset - view.offset * size
    return range(start // size, -(-(start + nbytes) // size))


def name_of(place: Pointer) -> str:
    """The memory at a place as messages name it: its buffer."""
    return place.base.buffer.name if isinstance(place.base, View) else "memory"


def space_of(place: Pointer) -> str:
    """The state space of a place, as PTX names it."""
    space = place.storage.space.partition(".")[0]
    return "local" if space == "warp" else space


Touch = Callable[[Frame, Pointer, int, object], None]


def touching(scope: Scope, span: Span | None, *, written: bool, proxied: bool = False) -> Touch | None:
    """What reports the elements of some bytes to hooks; None where nobody watches.

    The last argument is the phase that completes a copy, None where a thread accesses them. Bytes that are not in the
    memory are none: the access fails. `proxied`: it is a bulk copy that does, through the async proxy.
    """
    event = "through_proxy" if proxied else "touch_tile"
    if not scope.machine.hooks.watches(event):
        return None
    touch = getattr(scope.machine.hooks, event)
    hooks, zero = scope.machine.hooks, tir.IntImm(INT32, 0)
    accesses: dict[tir.Buffer, tir.BufferLoad | tir.BufferStore] = {}

    def access_of(buffer: tir.Buffer) -> tir.BufferLoad | tir.BufferStore:
        access = accesses.get(buffer)
        if access is None:
            indices = tuple(zero for _ in buffer.shape)
            access = tir.BufferLoad(buffer, indices, span=span)
            if written:
                access = tir.BufferStore(buffer, zero, indices, span=span)
            accesses[buffer] = access
        return access

    def report(frame: Frame, place: Pointer, nbytes: int, phase: object) -> None:
        if not 0 <= place.byte_offset <= place.storage.nbytes - nbytes:
            return
        view = view_at(place, nbytes)
        access = access_of(view.buffer)
        for element in elements_at(view, place, nbytes):
            if phase is None or isinstance(access, tir.BufferLoad):
                touch(access, view, element, frame)
            else:
                hooks.landed(phase, access, view, element)

    return report


# ------------------------------------------------------------------------------------------------------ the values


def _to_shared(scope: Scope, node: tir.Call) -> Eval:  # TIX-009
    place = place_of(scope, node.args[0])
    return lambda frame: SpaceAddress(place(frame))


def _func_call(scope: Scope, node: tir.Call) -> Eval:  # TIX-008
    name = _text(node.args[0]) if node.args else ""
    source = "".join(_text(node.attrs.get("source_code", "")).split())
    if name != OFFSET or source != BODY or len(node.args) != 3:
        message = f"`T.cuda.func_call` of `{name[:60]}` is not executed: its meaning is text of CUDA"
        return scope.unsupported(UNSUPPORTED_INTRINSIC, message, node.span)
    base, count = cast("tuple[tir.Expr, tir.Expr]", node.args[1:])
    dtype = _pointee(base)
    if dtype is None or dtype.bits < BYTE:
        message = f"`{OFFSET}` on a pointer whose text does not say to elements of which size is not executed"
        return scope.unsupported(UNSUPPORTED_INTRINSIC, message, node.span)
    start, elements, size = pointer(scope, base), scope.int(count), cell_size(dtype) * dtype.lanes
    return lambda frame: start(frame).moved(elements(frame) * size)


def _pointee(node: tir.Expr) -> DType | None:
    """The dtype of what a pointer in the text of CUDA points to."""
    match node:
        case tir.BufferData(buffer=tir.Buffer(dtype=dtype)):
            return dtype
        case tir.Var(pointer=PointerType(element=element)):
            return None if element is None or element.kind == "void" else element
        case tir.Call(callee="tvm_access_ptr", args=(tir.Call(dtype=dtype), *_)):
            return dtype
        case tir.Call(callee="address_of", args=(tir.BufferLoad(dtype=dtype), *_)):
            return dtype
        case _:
            return None


def _text(node: object) -> str:
    return node.value if isinstance(node, tir.StringImm) else str(node)


EXECUTED: Mapping[str, Callable[[Scope, tir.Call], Eval]] = {
    "cuda.func_call": _func_call,
    TO_SHARED: _to_shared,
}
