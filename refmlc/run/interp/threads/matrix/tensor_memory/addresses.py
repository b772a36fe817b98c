"""Numbers of places: addresses in tensor memory, and those of shared memory that descriptors hold (TMM-001, TMM-006).

| call of one thread                              | meaning                                  |
|-------------------------------------------------|------------------------------------------|
| `T.cuda.get_tmem_addr(address, lanes, columns)` | the address, moved                       |

A text may put an address into a descriptor itself: the number of a place in shared memory, divided by 16 or more.
"""

from collections.abc import Callable, Mapping
from typing import cast

from refmlc.lang.ir import tir
from refmlc.lang.ir.ptx import TO_SHARED
from refmlc.run.interp.tensorir.addresses import place_of
from refmlc.run.interp.tensorir.frame import Eval, Frame
from refmlc.run.interp.tensorir.scope import Scope
from refmlc.run.interp.threads.group import Group
from refmlc.run.interp.threads.matrix.shared_matrices import number_of
from refmlc.run.memory.pointer import Pointer
from refmlc.run.memory.tensor_memory import LANE_BITS

FIELD = (1 << LANE_BITS) - 1
OFFSET = "ptr_byte_offset"
LEAST_SHIFT = 4


def _moved(scope: Scope, node: tir.Call) -> Eval:  # TMM-001
    address, lanes, columns = (scope.int(cast("tir.Expr", arg)) for arg in node.args)

    def moved(frame: Frame) -> int:
        start = address(frame)
        lane, column = (start >> LANE_BITS) + lanes(frame), (start & FIELD) + columns(frame)
        return (lane & FIELD) << LANE_BITS | column & FIELD

    return moved


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
        return number_of(place(frame), cast("Group", frame[group_of]).numbers(frame), None) >> count

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
}
