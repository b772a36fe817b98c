"""Calls of matrix units (TIM-005, TIM-006): where a warp meets, and what a thread does alone.

A warp is 32 consecutive values of `threadIdx.x`, where no axis of threads is inside of its loop. What works on whole
matrices stands for all of its threads where there is no loop over `threadIdx.x` around it: so TVM writes it before its
passes, and Metal always.

| call                                                   | of one thread: its value is none                            |
|--------------------------------------------------------|-------------------------------------------------------------|
| `T.cuda.mma_fill_legacy(n, d, i)`, `T.cuda.mma_fill`   | n elements from d[i] on are 0                               |
| `T.cuda.mma_store_legacy(16, 16, p, s, i, stride)`, …  | the 8 elements of the thread in a 16 by 16 matrix, by rows  |
"""

from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar, cast

from refmlc.diag import Span
from refmlc.diag.catalogue import OPERANDS_DIFFER, UNSUPPORTED_INTRINSIC
from refmlc.diag.errors import RefmlcError
from refmlc.lang.ir import tir
from refmlc.lang.ir.matrix_units import FRAGMENTS, LEGACY, TENSOR_MEMORY, WARPGROUP
from refmlc.lang.ir.ptx import operator_of
from refmlc.lang.ops.matrix.forms import NoSuchForm
from refmlc.lang.ops.matrix.fragments import LANES
from refmlc.lang.ops.matrix.products import Unspecified
from refmlc.run.interp.tensorir.frame import Eval, Frame
from refmlc.run.interp.tensorir.scope import Scope
from refmlc.run.interp.threads.group import PARTS, Go, Meeting, Steps, Thread
from refmlc.run.interp.threads.matrix import instructions, shared_matrices, tensor_memory
from refmlc.run.interp.threads.matrix.registers import ElementCodes, place_of, scope_of
from refmlc.run.interp.threads.matrix.tiles import TILES
from refmlc.run.interp.threads.matrix.warpgroups import prepare_warpgroup
from refmlc.run.interp.threads.matrix.work import Apart, NotExecuted, Posted, ThreadWork, WarpWork

T = TypeVar("T")
LANE_AXIS = "threadIdx.x"
SIDE, HELD = 16, 8


def prepare_matrix(scope: Scope, node: tir.Evaluate) -> Go:
    """A call of a matrix unit, executed by a thread of a group."""
    call = cast("tir.Call", node.value)
    axes = [tag for tag in scope.threads if tag.startswith("threadIdx")]
    if LANE_AXIS not in axes and operator_of(call.callee) in FRAGMENTS:
        return _piece(scope, node)
    work = _work(scope, call)
    if isinstance(work, ThreadWork):
        return _of_thread(call, work)
    if not isinstance(work, WarpWork):
        return _stopping(work)
    if not axes or axes[-1] != LANE_AXIS:
        return _stopping(_refused(scope, call, "by threads whose innermost axis is not threadIdx.x"))
    return _together(scope, call, work)


def _work(scope: Scope, call: tir.Call) -> "WarpWork | ThreadWork | Eval":
    """The call, prepared; or what refuses it when it is reached."""
    family = operator_of(call.callee)
    try:
        if family in TILES:
            return TILES[family](scope, call)
        if family in instructions.LEGACY:
            return instructions.LEGACY[family](scope, call)
        if family in WARPGROUP:
            return prepare_warpgroup(scope, call)
        if family in TENSOR_MEMORY:
            return tensor_memory.prepare_tensor_memory(scope, call)
        return instructions.instruction(scope, call, family)
    except (NotExecuted, NoSuchForm) as reason:
        return _refused(scope, call, str(reason) if isinstance(reason, NotExecuted) else f"has no form with {reason}")
    except ValueError:
        return _refused(scope, call, f"has {len(call.args)} operands")


def _refused(scope: Scope, call: tir.Call, reason: str) -> Eval:
    return scope.unsupported(UNSUPPORTED_INTRINSIC, f"`T.{operator_of(call.callee)}` {reason}: not executed", call.span)


def _piece(scope: Scope, node: tir.Evaluate) -> Go:
    run = scope.stmt(node)

    def steps(frame: Frame) -> Steps:
        run(frame)
        yield from ()

    return steps


def _stopping(stop: Eval) -> Go:
    def steps(frame: Frame) -> Steps:
        stop(frame)
        yield from ()

    return steps


def _of_thread(call: tir.Call, work: ThreadWork) -> Go:
    def steps(frame: Frame) -> Steps:
        _located(call.span, lambda: work.run(frame))
        yield from ()

    return steps


def _together(scope: Scope, call: tir.Call, work: WarpWork) -> Go:
    posted, result, execute = scope.layout.new(), scope.layout.new(), _executing(scope, call, work)
    machine, failure = scope.machine, scope.failing(UNSUPPORTED_INTRINSIC, call.span)

    def act(members: Sequence[Thread]) -> None:
        frame = members[0].frame
        try:
            if len(members) != PARTS[work.part]:
                message = f"`T.{operator_of(call.callee)}` by a {work.part} of {len(members)} threads: not executed"
                raise failure(frame, message)
            results = execute([member.frame[posted] for member in members], frame)
        except RefmlcError as error:
            machine.locate(error, frame)
            raise
        for member, value in zip(members, results, strict=True):
            member.frame[result] = value

    meets = Meeting(call, implied=False, part=work.part, act=act, orders=False)

    def steps(frame: Frame) -> Steps:
        frame[posted] = _located(call.span, lambda: work.post(frame))
        yield meets
        if work.wait is not None:
            yield from work.wait(frame, frame[result])
        _located(call.span, lambda: work.finish(frame, frame[result]))

    return steps


def _executing(scope: Scope, call: tir.Call, work: WarpWork) -> Callable[[Posted, Frame], Posted]:
    """What a warp does, with what has no value refused."""
    name = operator_of(call.callee)
    unsupported = scope.failing(UNSUPPORTED_INTRINSIC, call.span)
    apart = scope.failing(OPERANDS_DIFFER, call.span)

    def execute(posted: Posted, frame: Frame) -> Posted:
        try:
            return _located(call.span, lambda: work.act(posted))
        except Unspecified as reason:
            message = f"`T.{name}` gives no value that every order and width gives: {reason}"
            raise unsupported(frame, message) from None
        except Apart as difference:
            threads = f"the threads of a {work.part}"
            raise apart(frame, f"{threads} bring different operands to `T.{name}`: {difference}") from None

    return execute


def _located(span: Span | None, run: Callable[[], T]) -> T:
    """Run; a failure in memory is one of the call."""
    try:
        return run()
    except RefmlcError as failure:
        if failure.diagnostic.span is None:
            failure.diagnostic = failure.diagnostic.at(span)
        raise


# ---------------------------------------------------------------------------------- outside of a warp


def _alone(scope: Scope, call: tir.Call) -> Eval:
    """A call that no threads of a warp reach."""
    if operator_of(call.callee) not in FRAGMENTS:
        return scope.unsupported(
            UNSUPPORTED_INTRINSIC, f"`T.{call.callee}` is executed by the threads of a kernel only", call.span
        )
    work = _work(scope, call)
    if not isinstance(work, WarpWork):
        return cast("Eval", work)
    execute = _executing(scope, call, work)

    def run(frame: Frame) -> None:
        (result,) = execute([_located(call.span, lambda: work.post(frame))], frame)
        _located(call.span, lambda: work.finish(frame, result))

    return run


def _fill_own(scope: Scope, call: tir.Call) -> Eval:
    if len(call.args) != 3:
        return _refused(scope, call, f"has {len(call.args)} operands")
    count, place, lane = scope.int(cast("tir.Expr", call.args[0])), *_own_part(scope, call, *call.args[1:])

    def fill(frame: Frame) -> None:
        number = count(frame)
        place(frame).moved(lane(frame) * number).clear(number)

    return lambda frame: _located(call.span, lambda: fill(frame))


def _own_part(
    scope: Scope, call: tir.Call, data: tir.Attr, offset: tir.Attr
) -> tuple[Callable[[Frame], ElementCodes], Callable[[Frame], int]]:
    """Where the registers of a thread are, and after how many parts of others: none but in memory of scope `warp`.

    Decision: such memory is one until TVM's LowerWarpMemory, which drops the lane of an offset in these calls.
    """
    place = place_of(scope, data, offset)
    return place, _lane(scope, call) if scope_of(data) == "warp" else lambda _frame: 0


def _lane(scope: Scope, call: tir.Call) -> Callable[[Frame], int]:
    """`threadIdx.x`, which is the lane."""
    axis, wrong = scope.axes.get(LANE_AXIS), scope.failing(UNSUPPORTED_INTRINSIC, call.span)

    def lane(frame: Frame) -> int:
        index = None if axis is None else frame[axis]
        if index is None or index >= LANES:
            raise wrong(frame, f"`T.{call.callee}` by threadIdx.x {index}: not executed")
        return index

    return lane


def _store_own(scope: Scope, call: tir.Call) -> Eval:
    args = call.args
    if len(args) != 6 or any(not isinstance(arg, tir.IntImm) or arg.value != SIDE for arg in args[:2]):
        return _refused(scope, call, "stores another matrix than one of 16 by 16")
    memory, (held, part) = place_of(scope, args[2]), _own_part(scope, call, args[3], args[4])
    stride, lane_of = scope.int(cast("tir.Expr", args[5])), _lane(scope, call)

    def store(frame: Frame) -> None:
        lane, place, distance = lane_of(frame), memory(frame), stride(frame)
        for number, code in enumerate(held(frame).moved(part(frame) * HELD).codes(HELD)):
            row, column = HELD * (number % 4 // 2) + lane // 4, HELD * (number // 4) + lane % 4 * 2 + number % 2
            place.moved(row * distance + column).put([code])

    return lambda frame: _located(call.span, lambda: store(frame))


EXECUTED: Mapping[str, Callable[[Scope, tir.Call], Eval]] = {
    **dict.fromkeys((*FRAGMENTS, *LEGACY, *instructions.FAMILIES, *WARPGROUP, *TENSOR_MEMORY), _alone),
    **shared_matrices.EXECUTED,
    **tensor_memory.EXECUTED,
    **dict.fromkeys(("cuda.mma_fill", "cuda.mma_fill_legacy"), _fill_own),
    **dict.fromkeys(("cuda.mma_store", "cuda.mma_store_legacy"), _store_own),
}
