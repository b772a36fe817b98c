"""Numbers of places: addresses in tensor memory, descriptors of matrices in shared memory (TMM-001, TMM-006).

| call of one thread                                             | meaning                                     |
|----------------------------------------------------------------|---------------------------------------------|
| `T.cuda.get_tmem_addr(a, lanes, columns)`                      | the address so many lanes and columns on    |
| `T.cuda.tcgen05.encode_matrix_descriptor(p, s, leading, …)`    | writes a descriptor of the matrix at s to p |

A descriptor for `tcgen05` is as one for `wgmma`, but for bits 46 to 48, which are 001, and for bits 61 to 63, which
hold the swizzle: 0 none, 2 of 128 bytes, 4 of 64 bytes, 6 of 32 bytes. A text may put an address into a descriptor
itself: the number of a place in shared memory, where it is divided by 16 or more.
"""

from collections.abc import Callable, Mapping
from typing import cast

from refmlc.diag import fail
from refmlc.diag.catalogue import UNSUPPORTED_CONSTRUCT, UNSUPPORTED_INTRINSIC
from refmlc.lang.ir import tir
from refmlc.lang.ops.matrix.descriptors import MatrixDescriptor, NoSuchDescriptor, encoded
from refmlc.run.interp.tensorir.addresses import TO_SHARED, place_of, touching
from refmlc.run.interp.tensorir.frame import Eval, Frame
from refmlc.run.interp.tensorir.scope import Scope
from refmlc.run.interp.threads.group import Group
from refmlc.run.interp.threads.matrix.shared_matrices import DESCRIPTOR_BYTES, check_alignment, number_of, put
from refmlc.run.memory.pointer import Pointer
from refmlc.run.memory.tensor_memory import LANE_BITS

VERSION, VERSION_BITS = 1 << 46, 7 << 46
MODES = {0: 0, 6: 3, 4: 2, 2: 1}
"""The swizzle in a descriptor of `tcgen05`, and that of `wgmma` that is the same."""
SWIZZLE = 61
FIELD = (1 << LANE_BITS) - 1
OFFSET = "ptr_byte_offset"
LEAST_SHIFT = 4


def as_wgmma(code: int) -> MatrixDescriptor:
    """The descriptor of 64 bits. Fails: NoSuchDescriptor."""
    mode, rest = code >> SWIZZLE, code & (1 << SWIZZLE) - 1
    if rest & VERSION_BITS != VERSION or mode not in MODES:
        raise NoSuchDescriptor(f"the descriptor {code:#x} has another version or swizzle than those of `tcgen05`")
    return MatrixDescriptor.of(rest & ~VERSION_BITS | MODES[mode] << 62)


def _moved(scope: Scope, node: tir.Call) -> Eval:  # TMM-001
    address, lanes, columns = (scope.int(cast("tir.Expr", arg)) for arg in node.args)

    def moved(frame: Frame) -> int:
        start = address(frame)
        lane, column = (start >> LANE_BITS) + lanes(frame), (start & FIELD) + columns(frame)
        return (lane & FIELD) << LANE_BITS | column & FIELD

    return moved


def _encode(scope: Scope, node: tir.Call) -> Eval:  # TMM-006
    to, source, *numbers = node.args
    into, span, group_of = place_of(scope, to), node.span, scope.group
    place = None if _is_null(source) else place_of(scope, source)
    leading, stride, mode = (scope.int(cast("tir.Expr", number)) for number in numbers)
    writes, alone = touching(scope, span, written=True), scope.failing(UNSUPPORTED_INTRINSIC, span)

    def encode(frame: Frame) -> None:
        group, start = frame[group_of], None if place is None else place(frame)
        if group is None:
            raise alone(frame, "a descriptor of shared memory is made by the threads of a kernel only")
        target = into(frame)
        if writes is not None:
            writes(frame, target, DESCRIPTOR_BYTES, None)
        number = 0 if start is None else number_of(start, group.numbers, span)
        try:
            code = encoded(number, leading(frame), stride(frame), mode(frame))
        except NoSuchDescriptor as reason:
            raise fail(UNSUPPORTED_CONSTRUCT, f"{reason}: not executed", span) from None
        if start is not None:
            check_alignment(start, MatrixDescriptor.of(code).chunks, span)
        swizzle = next(own for own, other in MODES.items() if other == code >> 62)
        code = code & (1 << 62) - 1 | VERSION | swizzle << SWIZZLE
        put(target, code.to_bytes(DESCRIPTOR_BYTES, "little"), span)

    return encode


def _is_null(node: tir.Attr) -> bool:
    """Whether an expression is the null pointer, in whose place a text puts an address later."""
    match node:
        case tir.Call(callee="reinterpret", args=(*_, tir.IntImm(value=0))):
            return True
        case tir.Cast(value=tir.IntImm(value=0)):
            return True
        case _:
            return False


def descriptor(scope: Scope, node: tir.Expr) -> Callable[[Frame], int]:  # TMM-006
    """An operand that is a descriptor, into which its text may put an address in shared memory."""
    match node:
        case tir.Apply(op="shift_right", args=(tir.Call(callee=callee, args=(base, *_)), tir.IntImm(value=count))) if (
            callee == TO_SHARED and count >= LEAST_SHIFT
        ):
            return _number(scope, base, count)
        case tir.Apply(op="bitwise_or" | "bitwise_and" as op, args=(first, second)) if _has_address(node):
            values = descriptor(scope, first), descriptor(scope, second)
            if op == "bitwise_or":
                return lambda frame: values[0](frame) | values[1](frame)
            return lambda frame: values[0](frame) & values[1](frame)
        case tir.Cast(value=value) if _has_address(node) and node.dtype.bits >= value.dtype.bits:
            return descriptor(scope, value)
        case _:
            return scope.int(node)


def _has_address(node: tir.Attr) -> bool:
    match node:
        case tir.Call(callee=callee):
            return callee == TO_SHARED
        case tir.Apply(args=args):
            return any(_has_address(arg) for arg in args)
        case tir.Cast(value=value):
            return _has_address(value)
        case _:
            return False


def _number(scope: Scope, base: tir.Attr, count: int) -> Callable[[Frame], int]:
    place, group_of = _place(scope, base), scope.group

    def number(frame: Frame) -> int:
        return number_of(place(frame), cast("Group", frame[group_of]).numbers, None) >> count

    return number


def _place(scope: Scope, base: tir.Attr) -> Callable[[Frame], Pointer]:
    match base:
        case tir.Call(callee=callee, args=(start, distance, *_)) if callee == OFFSET:
            first, nbytes = _place(scope, start), scope.int(cast("tir.Expr", distance))
            return lambda frame: first(frame).moved(nbytes(frame))
        case _:
            return place_of(scope, base)


EXECUTED: Mapping[str, Callable[[Scope, tir.Call], Eval]] = {
    "cuda.get_tmem_addr": _moved,
    "cuda.tcgen05.encode_matrix_descriptor": _encode,
}
