"""Instructions that compute addresses, of state spaces and of the blocks of a cluster (PTX-024).

| instruction                                | writes                                                            |
|--------------------------------------------|-------------------------------------------------------------------|
| `cvta.to.shared.u64 d, p`, `cvta.shared …` | the same place as p, which is in the state space                  |
| `mapa d, a, b`                             | the same place as a: block b of the cluster is the own one        |
| `getctarank d, a`                          | 0                                                                 |

An address has no number: the register holds it (`refmlc.run.interp.tensorir.opaque_values`).
"""

from collections.abc import Callable
from typing import cast

from refmlc.diag.catalogue import BAD_POINTER, UNSUPPORTED_INTRINSIC
from refmlc.lang.ir import tir
from refmlc.lang.ir.instructions import InstructionCall, instruction
from refmlc.lang.ir.scope_ids import SEVERAL_BLOCKS
from refmlc.run.interp.tensorir.addresses import place_of, space_of
from refmlc.run.interp.tensorir.frame import Eval, Frame
from refmlc.run.interp.tensorir.opaque_values import holding
from refmlc.run.interp.tensorir.scope import Scope
from refmlc.run.memory.pointer import Pointer, SpaceAddress


def convert(scope: Scope, node: tir.Call) -> Eval:
    """`cvta`. Fails: RM313 where the address is in another state space."""
    facts, destination, operand = cast("tuple[tir.Expr, ...]", node.args)
    name, wanted = cast("tir.StringImm", facts).value.split(",")
    place, hold = place_of(scope, operand), holding(scope, cast("tir.BufferLoad", destination))
    failure = scope.failing(BAD_POINTER, node.span)

    def run(frame: Frame) -> None:
        at = place(frame)
        if space_of(at) != wanted:
            raise failure(frame, f"`{name}` of an address in `{space_of(at)}`")
        hold(frame, SpaceAddress(at))

    return run


def mapped(scope: Scope, node: tir.Call) -> Eval:
    """`mapa`. Fails: RM313 where the address is in another state space, or the cluster has no such block."""
    item = cast("InstructionCall", instruction(node))
    why = _refusal(node, item, 3, int(item.one_of("u32", "u64")[1:] or 0))
    if why:
        return scope.unsupported(UNSUPPORTED_INTRINSIC, f"`T.{node.callee}` is not executed: {why}", node.span)
    destination, address, rank = item.operands
    place, number = _shared(scope, node, address), scope.int(rank)
    hold = holding(scope, cast("tir.BufferLoad", destination))
    failure = scope.failing(BAD_POINTER, node.span)

    def run(frame: Frame) -> None:
        at, block = place(frame), number(frame)
        if block != 0:
            raise failure(frame, f"`mapa` into block {block} of a cluster of one block")
        hold(frame, SpaceAddress(at))

    return run


def rank_of(scope: Scope, node: tir.Call) -> Eval:
    """`getctarank`. Fails: RM313 where the address is in another state space."""
    item = cast("InstructionCall", instruction(node))
    why = _refusal(node, item, 2, 32)
    if why:
        return scope.unsupported(UNSUPPORTED_INTRINSIC, f"`T.{node.callee}` is not executed: {why}", node.span)
    destination, address = item.operands
    place, register = _shared(scope, node, address), cast("tir.BufferLoad", destination)
    zero = tir.IntImm(register.dtype, 0, span=node.span)
    store = scope.stmt(tir.BufferStore(register.buffer, zero, register.indices, span=node.span))

    def run(frame: Frame) -> None:
        place(frame)
        store(frame)

    return run


def _refusal(node: tir.Call, item: InstructionCall, operands: int, bits: int) -> str:
    """Why an instruction about blocks of a cluster is not executed; empty: it is."""
    if SEVERAL_BLOCKS in node.attrs:
        return "the cluster has several blocks, and blocks run one after the other"
    if not item.plain or len(item.operands) != operands:
        return "it has a predicate, or other operands"
    register = item.operands[0]
    if not isinstance(register, tir.BufferLoad) or register.dtype.kind != "uint" or register.dtype.bits != bits:
        return "what it gives is not written to a register of its type"
    return ""


def _shared(scope: Scope, node: tir.Call, address: tir.Expr) -> Callable[[Frame], Pointer]:
    """An operand that is an address in shared memory."""
    place, failure = place_of(scope, address), scope.failing(BAD_POINTER, node.span)

    def shared(frame: Frame) -> Pointer:
        at = place(frame)
        if space_of(at) != "shared":
            raise failure(frame, f"`T.{node.callee}` of an address in `{space_of(at)}`")
        return at

    return shared
