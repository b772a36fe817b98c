"""What the threads of a part of a block do together: barriers of a part, shuffles of a warp, the election of a thread.

| call                                              | part      | value in each thread                               |
|---------------------------------------------------|-----------|----------------------------------------------------|
| `T.cuda.cta_sync()`                               | block     | none                                               |
| `T.cuda.warpgroup_sync(n)`                        | warpgroup | none                                               |
| `T.cuda.warp_sync()`                              | warp      | none                                               |
| `T.cuda.elect_sync()`                             | warp      | 1 in the first thread, 0 in the others             |
| `T.tvm_warp_shuffle(mask, x, lane, width, 32)`    | warp      | x of lane `lane` mod width, of the own width lanes |
| `T.tvm_warp_shuffle_up(mask, x, d, width, 32)`    | warp      | x of d lanes before; its own where none of them is |
| `T.tvm_warp_shuffle_down(mask, x, d, width, 32)`  | warp      | x of d lanes after; its own where none of them is  |
| `T.tvm_warp_shuffle_xor(mask, x, bits, width, 32)`| warp      | x of the lane with these bits inverted; its own    |
|                                                   |           | where this is beyond the own width lanes           |

A statement first evaluates the operands of such calls in it, in order, then the threads meet, then it is executed with
the values. A call that is evaluated only on a condition is not executed, unless it elects.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias, cast

from refmlc.diag.catalogue import UNSUPPORTED_CONSTRUCT, UNSUPPORTED_INTRINSIC
from refmlc.lang.ir import tir
from refmlc.lang.ir.node import Node
from refmlc.lang.ir.threads import IN_PART
from refmlc.lang.ir.visit import children
from refmlc.run.interp.tensorir.frame import Eval, Frame, Slot
from refmlc.run.interp.tensorir.scope import Scope
from refmlc.run.interp.threads.group import PARTS, Go, Meeting, Steps, Thread

LANES = PARTS["warp"]
WHOLE = (1 << LANES) - 1
ELECTION = "cuda.elect_sync"
LAZY = (tir.And, tir.Or, tir.Select, tir.IfThenElseExpr, tir.Let)
Values: TypeAlias = Sequence[tuple[object, ...]]


def exchange(scope: Scope, *parts: Node) -> Go | None:
    """The meetings of the calls in the expressions of a statement; None where there are none.

    Afterwards the expressions can be prepared, with their values.
    """
    calls = [call for part in parts if not isinstance(part, tir.Buffer) for call in _calls(part)]
    if not calls:
        return None
    steps = [_meeting(scope, call, lazy=lazy) for call, lazy in calls]

    def meet(frame: Frame) -> Steps:
        for step in steps:
            yield from step(frame)

    return meet


def _calls(node: Node, *, lazy: bool = False) -> list[tuple[tir.Call, bool]]:
    """The calls in the order of evaluation, and whether each is evaluated on a condition only."""
    inner = lazy or isinstance(node, LAZY)
    below = (child for child in children(node) if not isinstance(child, tir.Buffer))
    found = [pair for child in below for pair in _calls(child, lazy=inner)]
    if isinstance(node, tir.Call) and node.callee in IN_PART:
        found.append((node, lazy))
    return found


def _meeting(scope: Scope, call: tir.Call, *, lazy: bool) -> Go:
    name = str(call.callee)
    rule = RULES.get(name)
    if sum(tag.startswith("threadIdx") for tag in scope.threads) != 1:
        return _stopping(scope, call, "threads of a warp that are those of several loops")
    if lazy and name != ELECTION:
        return _stopping(scope, call, f"`T.{name}` on a condition")
    args = tuple(scope.expr(arg) for arg in call.args if isinstance(arg, tir.Expr)) if rule is not None else ()
    posted, result = scope.layout.new(), scope.layout.new()
    scope.exchanged[call] = result
    failure = scope.failing(UNSUPPORTED_INTRINSIC, call.span)

    def act(members: Sequence[Thread]) -> None:
        if rule is None:
            if IN_PART[name] == "warpgroup" and len(members) < PARTS["warpgroup"]:
                error = failure(members[0].frame, f"`T.{name}` waits for 128 threads, the warpgroup has {len(members)}")
                scope.machine.locate(error, members[0].frame)
                raise error
            return
        values = cast("Values", [member.frame[posted] for member in members])
        try:
            results = rule(values)
        except Beyond as beyond:
            error = failure(members[0].frame, f"`T.{name}` {beyond}")
            scope.machine.locate(error, members[0].frame)
            raise error from None
        for member, value in zip(members, results, strict=True):
            member.frame[result] = value

    meets = Meeting(call, implied=False, part=IN_PART[name], act=act, orders=rule is None)

    def steps(frame: Frame) -> Steps:
        frame[posted] = tuple([arg(frame) for arg in args])
        yield meets

    return steps


def _stopping(scope: Scope, call: tir.Call, what: str) -> Go:
    stop = scope.unsupported(UNSUPPORTED_CONSTRUCT, f"{what}: not executed", call.span)

    def steps(frame: Frame) -> Steps:
        stop(frame)
        yield from ()

    return steps


def is_barrier(node: tir.Stmt) -> bool:
    """Whether a statement is a barrier of a part of the block, and nothing else."""
    callee = node.value.callee if isinstance(node, tir.Evaluate) and isinstance(node.value, tir.Call) else None
    return callee in IN_PART and callee not in RULES


class Beyond(Exception):
    """What a call does that is not executed."""


def _shuffle(source: Callable[[int, int, int], int]) -> Callable[[Values], Sequence[object]]:
    """A shuffle whose lane `source` finds, from the own lane, the operand and the width."""

    def results(values: Values) -> Sequence[object]:
        found = []
        for lane, (mask, own, operand, width, _) in enumerate(values):
            place, size = cast("int", operand), cast("int", width)
            if mask != WHOLE:
                raise Beyond(f"with the mask {mask:#x} is not executed" if isinstance(mask, int) else "has no mask")
            if size not in (1, 2, 4, 8, 16, 32):
                raise Beyond(f"of the width {size} is not executed")
            other = source(lane, place, size)
            if not 0 <= other < len(values):
                raise Beyond(f"reads lane {other}, in a warp of {len(values)} threads")
            found.append(own if other == lane else values[other][1])
        return found

    return results


def _indexed(lane: int, place: int, width: int) -> int:
    return lane // width * width + place % width


def _up(lane: int, distance: int, width: int) -> int:
    _check_distance(distance)
    return lane if lane % width < distance else lane - distance


def _down(lane: int, distance: int, width: int) -> int:
    _check_distance(distance)
    return lane if lane % width + distance >= width else lane + distance


def _check_distance(distance: int) -> None:
    if not 0 <= distance < LANES:
        raise Beyond(f"over {distance} lanes is not executed")


def _xor(lane: int, bits: int, width: int) -> int:
    other = lane ^ bits
    return lane if other // width > lane // width else other


def _elected(values: Values) -> Sequence[object]:
    """Decision: the first thread; PTX leaves open which one, and says that it is the same each time."""
    return [int(lane == 0) for lane in range(len(values))]


RULES: Mapping[str, Callable[[Values], Sequence[object]]] = {
    ELECTION: _elected,
    "tvm_warp_shuffle": _shuffle(_indexed),
    "tvm_warp_shuffle_up": _shuffle(_up),
    "tvm_warp_shuffle_down": _shuffle(_down),
    "tvm_warp_shuffle_xor": _shuffle(_xor),
}
"""What calls with a value give, from the operands in each thread of the part. Those without are barriers."""


def _value(scope: Scope, node: tir.Call) -> Eval:
    """The value of a call at which the threads have met."""
    slot: Slot[object] | None = scope.exchanged.get(node)
    if slot is None:
        message = f"`T.{node.callee}` is executed by the threads of a kernel only"
        return scope.unsupported(UNSUPPORTED_INTRINSIC, message, node.span)
    return lambda frame: frame[slot]


EXECUTED: Mapping[str, Callable[[Scope, tir.Call], Eval]] = dict.fromkeys(IN_PART, _value)
