"""Instructions that compute addresses, of state spaces and of the blocks of a cluster (PTX-024, TIX-030).

| instruction                                | writes                                                            |
|--------------------------------------------|-------------------------------------------------------------------|
| `cvta.to.shared.u64 d, p`, `cvta.shared …` | the same place as p, which is in the state space                  |
| `mapa d, a, b`                             | the place in block b of the cluster that is the same as a         |
| `getctarank d, a`                          | the number of the block whose memory a is in                      |

An address has no number: the register holds it (`refmlc.run.interp.tensorir.opaque_values`).
"""

from collections.abc import Callable
from typing import cast

from refmlc.diag.catalogue import BAD_POINTER, UNSUPPORTED_INTRINSIC
from refmlc.lang.ir import tir
from refmlc.lang.ir.ptx import PtxCall
from refmlc.run.interp.tensorir.addresses import name_of, place_of, space_of
from refmlc.run.interp.tensorir.frame import Eval, Frame, Slot
from refmlc.run.interp.tensorir.opaque_values import holding
from refmlc.run.interp.tensorir.scope import Scope
from refmlc.run.interp.threads.group import Group
from refmlc.run.memory.pointer import Pointer, SpaceAddress


def convert(scope: Scope, node: tir.Call) -> Eval:
    """`cvta`. Fails: RM313 where the address is in another state space."""
    facts, destination, operand = cast("tuple[tir.Expr, ...]", node.args)
    name, wanted = cast("tir.StringImm", facts).value.split(",")
    place, hold = place_of(scope, operand), holding(scope, cast("tir.BufferLoad", destination))
    failure = scope.failing(BAD_POINTER, node.span)

    def run(frame: Frame) -> None:
        at = place(frame)
        if wanted and space_of(at) != wanted:
            raise failure(frame, f"`{name}` of an address in `{space_of(at)}`")
        hold(frame, SpaceAddress(at))

    return run


def mapped(scope: Scope, node: tir.Call) -> Eval:  # TIX-030
    """`mapa`. Fails: RM313 where the address is in another state space, or the cluster has no such block."""
    item = cast("PtxCall", PtxCall.of(node))
    why = _refusal(item, 3, int(item.one_of("u32", "u64")[1:] or 0))
    if why:
        return scope.unsupported(UNSUPPORTED_INTRINSIC, f"`T.{node.callee}` is not executed: {why}", node.span)
    destination, address, rank = item.expressions
    place, number, group_of = _shared(scope, node, address), scope.int(rank), scope.group
    hold = holding(scope, cast("tir.BufferLoad", destination))
    failure = scope.failing(BAD_POINTER, node.span)

    def run(frame: Frame) -> None:
        at, block, group = place(frame), number(frame), frame[group_of]
        blocks = 1 if group is None else group.blocks
        if not 0 <= block < blocks:
            size = "one block" if blocks == 1 else f"{blocks} blocks"
            raise failure(frame, f"`mapa` into block {block} of a cluster of {size}")
        there = at if group is None or blocks == 1 else group.memory.same(at, block, frame)
        if there is None:
            raise failure(frame, f"`mapa` of an address in `{name_of(at)}`, which no block has as its own")
        hold(frame, SpaceAddress(there))

    return run


def rank_of(scope: Scope, node: tir.Call) -> Eval:  # TIX-030
    """`getctarank`. Fails: RM313 where the address is in another state space."""
    item = cast("PtxCall", PtxCall.of(node))
    why = _refusal(item, 2, 32)
    if why:
        return scope.unsupported(UNSUPPORTED_INTRINSIC, f"`T.{node.callee}` is not executed: {why}", node.span)
    destination, address = item.expressions
    place, register = _shared(scope, node, address), cast("tir.BufferLoad", destination)
    var, group_of = tir.Var("rank", register.dtype), scope.group
    slot = scope.layout.declare(var)
    store = scope.stmt(tir.BufferStore(register.buffer, var, register.indices, span=node.span))

    def run(frame: Frame) -> None:
        at, group = place(frame), frame[group_of]
        owner = None if group is None else group.memory.owner(at)
        frame[slot] = owner or 0
        store(frame)

    return run


def check_block(place: Pointer, frame: Frame, group_of: Slot[Group | None], *, own: bool) -> str:  # TIX-030, TIX-034
    """Why an access to a place is none that a thread may do; empty: it may. `own`: it is to the own block."""
    group = frame[group_of]
    owner = None if group is None or not group.block else group.memory.owner(place)
    if group is None or owner is None or owner == group.block_of(frame):
        return ""
    what = f"`{name_of(place)}` is of block {owner} of the cluster"
    if own:
        return f"{what}, the access is to shared memory of the own block"
    return f"{what}, which has ended" if group.memory.is_over(owner) else ""


def _refusal(item: PtxCall, operands: int, bits: int) -> str:
    """Why an instruction about blocks of a cluster is not executed; empty: it is."""
    if not item.is_plain or len(item.expressions) != operands:
        return "it has a predicate, or other operands"
    register = item.expressions[0]
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
