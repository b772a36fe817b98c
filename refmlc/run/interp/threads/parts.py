"""What the threads of a part of a block do together: barriers, and what the lanes of a warp give each other.

| call                                           | part                   | value in each thread          |
|------------------------------------------------|------------------------|-------------------------------|
| `T.cuda.cta_sync()`                            | barrier 0, the block   | none                          |
| `T.cuda.syncthreads_and(p)`, `…_or(p)`         | the same               | whether all, any have p       |
| `T.cuda.warpgroup_sync(n)`                     | barrier n, 128 threads | none                          |
| `T.ptx.bar.sync(n, c)`, `T.ptx.barrier.sync(…)`| barrier n, c threads   | none                          |
| `T.ptx.bar.arrive(n, c)`, …                    | the same, no waiting   | none                          |
| `T.ptx.bar.red.popc.u32(d, n, c, p)`, …        | the same               | how many have p; all, any     |
| `T.tvm_storage_sync("warp")`                   | lanes that come        | none                          |
| calls of `warps`                               | warp                   | see there                     |

A statement first evaluates the operands of such calls in it, in order, and the threads meet for each; then it is
executed with the values. What is evaluated only on a condition, or in a `let`, is evaluated with the calls in it, where
the condition holds.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import cast

from refmlc.diag.catalogue import UNSUPPORTED_CONSTRUCT, UNSUPPORTED_INTRINSIC
from refmlc.diag.errors import RefmlcError
from refmlc.lang.ir import tir
from refmlc.lang.ir.node import Node
from refmlc.lang.ir.ptx import PtxCall, operator_of
from refmlc.lang.ir.threads import IN_PART, is_in_part, meets_in_part
from refmlc.lang.ir.visit import children
from refmlc.run.interp.tensorir.frame import Eval, Frame, Slot
from refmlc.run.interp.tensorir.scope import Scope
from refmlc.run.interp.threads import registers, warps
from refmlc.run.interp.threads.group import PARTS, WARP, Barrier, Go, Meeting, Steps, Thread
from refmlc.run.interp.threads.registers import Missing
from refmlc.run.interp.threads.warps import WHOLE, Beyond, Lanes, Numbered, Results, Together, Values, check_numbers

BARRIERS = 16


def exchange(scope: Scope, *parts: Node) -> Go | None:
    """The meetings of the calls in the expressions of a statement; None where there are none.

    Afterwards the expressions can be prepared, with their values.
    """
    steps = [step for part in parts for step in _steps(scope, part)]
    return _in_order(steps) if steps else None


def _in_order(steps: Sequence[Go]) -> Go:
    def meet(frame: Frame) -> Steps:
        for step in steps:
            yield from step(frame)

    return meet


def _steps(scope: Scope, node: Node) -> list[Go]:
    """The meetings within an expression, in the order of evaluation."""
    if isinstance(node, tir.Buffer) or not meets_in_part(node):
        return []
    match node:
        case tir.And(a=first, b=second) | tir.Or(a=first, b=second) if meets_in_part(second):
            return [_junction(scope, node, first, second)]
        case tir.IfThenElseExpr(true_value=yes, false_value=no) if meets_in_part(yes) or meets_in_part(no):
            return [_chosen(scope, node)]
        case tir.Let():
            return [_let(scope, node)]
    steps = [step for child in children(node) for step in _steps(scope, child)]
    return [*steps, _meeting(scope, node)] if isinstance(node, tir.Call) and is_in_part(node) else steps


def _evaluated(scope: Scope, node: tir.Expr) -> tuple[Go, Eval]:
    """The meetings within an expression, and its value after them."""
    steps = _in_order(_steps(scope, node))
    return steps, scope.expr(node)


def _junction(scope: Scope, node: tir.And | tir.Or, first: tir.Expr, second: tir.Expr) -> Go:
    (meet_a, a), (meet_b, b) = _evaluated(scope, first), _evaluated(scope, second)
    result = scope.exchanged[node] = scope.layout.new()
    stops = isinstance(node, tir.Or)

    def steps(frame: Frame) -> Steps:
        yield from meet_a(frame)
        value = a(frame)
        if bool(value) is not stops:
            yield from meet_b(frame)
            value = b(frame)
        frame[result] = value

    return steps


def _chosen(scope: Scope, node: tir.IfThenElseExpr) -> Go:
    meet, condition = _evaluated(scope, node.condition)
    with scope.assuming(node.condition, holds=True):
        meet_yes, yes = _evaluated(scope, node.true_value)
    with scope.assuming(node.condition, holds=False):
        meet_no, no = _evaluated(scope, node.false_value)
    result = scope.exchanged[node] = scope.layout.new()

    def steps(frame: Frame) -> Steps:
        yield from meet(frame)
        if condition(frame):
            yield from meet_yes(frame)
            frame[result] = yes(frame)
        else:
            yield from meet_no(frame)
            frame[result] = no(frame)

    return steps


def _let(scope: Scope, node: tir.Let) -> Go:
    meet, value = _evaluated(scope, node.value)
    slot = scope.layout.declare(node.var)
    meet_body, body = _evaluated(scope, node.body)
    result = scope.exchanged[node] = scope.layout.new()

    def steps(frame: Frame) -> Steps:
        yield from meet(frame)
        frame[slot] = value(frame)
        yield from meet_body(frame)
        frame[result] = body(frame)

    return steps


# ------------------------------------------------------------------------------------------------------ meetings


def _meeting(scope: Scope, call: tir.Call) -> Go:
    name = operator_of(call.callee)
    if sum(tag.startswith("threadIdx") for tag in scope.threads) != 1:
        return _stopping(scope, call, "threads of a warp that are those of several loops: not executed")
    try:
        together = _together(call)
        check_numbers(operand for place, operand in enumerate(together.operands) if place != together.gives)
    except Beyond as beyond:
        return _stopping(scope, call, f"`T.{name}` {beyond}")
    args = tuple(
        registers.brought(scope, arg) if place == together.gives else scope.expr(arg)
        for place, arg in enumerate(together.operands)
    )
    posted, result = scope.layout.new(), scope.layout.new()
    scope.exchanged[call] = result
    failure = scope.failing(UNSUPPORTED_INTRINSIC, call.span)

    def fail(frame: Frame, beyond: Beyond) -> RefmlcError:
        return failure(frame, f"`T.{name}` {beyond}")

    def located(frame: Frame, beyond: Beyond) -> RefmlcError:
        error = fail(frame, beyond)
        scope.machine.locate(error, frame)
        return error

    act = None if together.rule is None else partial(_act, together, located)
    meets = Meeting(
        call,
        implied=False,
        part=together.part,
        act=act,
        orders=together.orders,
        key=together.key,
        converges=together.converges,
        posted=posted,
        result=result,
    )

    def steps(frame: Frame) -> Steps:
        values = tuple([arg(frame) for arg in args])
        frame[posted] = values
        try:
            meeting = _for_values(meets, together, values)
        except Beyond as beyond:
            raise fail(frame, beyond) from None
        yield meeting

    return steps


def _act(together: Together, fail: Callable[[Frame, Beyond], Exception], members: Sequence[Thread]) -> None:
    """Give each thread what the rule says, from what all of them bring."""
    rule = together.rule
    meetings = [cast("Meeting", member.waits) for member in members]
    pairs = list(zip(members, meetings, strict=True))
    values = [
        cast("tuple[object, ...]", member.frame[cast("Slot[object]", meeting.posted)]) for member, meeting in pairs
    ]
    lanes = [member.number % WARP if together.part == "warp" else member.index for member in members]
    try:
        results = [] if rule is None else rule(lanes, values)
    except Beyond as beyond:
        raise fail(members[0].frame, beyond) from None
    for (member, meeting), given in zip(pairs, results, strict=True):
        member.frame[cast("Slot[object]", meeting.result)] = tuple([_given(value, fail) for value in given])


def _given(value: object, fail: Callable[[Frame, Beyond], Exception]) -> object:
    """What a thread gets; where the lane has not come, what fails when it is used."""
    if not isinstance(value, warps.Absent):
        return value
    beyond = Beyond(f"reads lane {value.lane}, which is not among the {value.count} that came")
    return Missing(lambda frame: fail(frame, beyond))


def _for_values(meets: Meeting, together: Together, values: tuple[object, ...]) -> Meeting:
    """The meeting of a thread that brings these values: its mask, or its barrier. Fails where that is not executed."""
    if together.mask is not None:
        mask = values[together.mask]
        if not isinstance(mask, int) or not -(1 << 31) <= mask <= WHOLE:
            raise Beyond("has no mask of 32 bits")
        return meets if mask & WHOLE == WHOLE else replace(meets, mask=mask & WHOLE)
    numbered = together.barrier
    if numbered is None:
        return meets
    number = 0 if numbered.number is None else cast("int", values[numbered.number])
    count = None if numbered.count is None else cast("int", values[numbered.count])
    if together.part == "warpgroup":
        count = PARTS["warpgroup"]
    if not 0 <= number < BARRIERS:
        raise Beyond(f"at barrier {number} of {BARRIERS} is not executed")
    if count is not None and (count <= 0 or count % WARP):
        raise Beyond(f"for {count} threads, no multiple of {WARP}, is not executed")
    barrier = Barrier(number, count, numbered.aligned, numbered.arrives)
    return replace(meets, part="cta", key=(number, meets.key), barrier=barrier)


def _stopping(scope: Scope, call: tir.Call, what: str) -> Go:
    stop = scope.unsupported(UNSUPPORTED_CONSTRUCT, what, call.span)
    scope.exchanged[call] = scope.layout.new()

    def steps(frame: Frame) -> Steps:
        stop(frame)
        yield from ()

    return steps


# ------------------------------------------------------------------------------------------------------ barriers


def _together(call: tir.Call) -> Together:
    """What a call does. Fails where it is not executed."""
    args = tuple(arg for arg in call.args if isinstance(arg, tir.Expr))
    match call.callee:
        case "tvm_storage_sync":
            return Together("warp", orders=True, converges=True)
        case "cuda.cta_sync":
            return Together("cta", key="sync", orders=True, barrier=Numbered())
        case "cuda.warpgroup_sync" if len(args) == 1:
            return Together("warpgroup", args, "sync", orders=True, barrier=Numbered(0))
        case "cuda.syncthreads_and" | "cuda.syncthreads_or":
            kind = "and" if call.callee.endswith("and") else "or"
            return Together("cta", args, kind, rule=_counted(0, kind), orders=True, barrier=Numbered())
    item = PtxCall.of(call)
    if item is None:
        return warps.of_cuda(call)
    if not item.is_plain:
        raise Beyond("with a predicate, keywords or an operand that is left out is not executed")
    if item.family in ("bar", "barrier") and "warp" not in item:
        return _barrier(item)
    return warps.of_ptx(item)


def _barrier(item: PtxCall) -> Together:
    aligned = item.family == "bar" or "aligned" in item
    action, count = item.one_of("sync", "arrive", "red"), len(item.expressions)
    match action, count:
        case "sync", (1 | 2):
            numbered = Numbered(0, 1 if count == 2 else None, aligned)
            return Together("cta", item.expressions, "sync", orders=True, barrier=numbered)
        case "arrive", 2:
            return Together("cta", item.expressions, "sync", orders=True, barrier=Numbered(0, 1, aligned, arrives=True))
        case "red", (3 | 4):
            kind = item.one_of("popc", "and", "or")
            destination, *operands = item.expressions
            if not isinstance(destination, tir.BufferLoad):
                raise Beyond("into what is no element of a buffer is not executed")
            numbered = Numbered(0, 1 if count == 4 else None, aligned)
            rule = _counted(len(operands) - 1, kind)
            return Together("cta", tuple(operands), kind, None, rule, (destination,), orders=True, barrier=numbered)
        case _:
            raise Beyond("in this form is not executed")


def _counted(place: int, kind: str) -> Callable[[Lanes, Values], Results]:
    """What a barrier says of the predicates that threads bring as operand `place`."""

    def results(_lanes: Lanes, values: Values) -> Results:
        true = sum(bool(value[place]) for value in values)
        found = {"popc": true, "and": int(true == len(values)), "or": int(true > 0)}[kind]
        return [(found,)] * len(values)

    return results


def is_barrier(node: tir.Stmt) -> bool:
    """Whether a statement is a barrier of a part of the block, and nothing else."""
    value = node.value if isinstance(node, tir.Evaluate) else None
    if not isinstance(value, tir.Call) or not is_in_part(value):
        return False
    try:
        return _together(value).rule is None
    except Beyond:
        return True


# -------------------------------------------------------------------------------------------------------- values


def _value(scope: Scope, node: tir.Call) -> Eval:
    """The value of a call at which the threads have met; an instruction writes its results."""
    slot: Slot[object] | None = scope.exchanged.get(node)
    if slot is None:
        message = f"`T.{node.callee}` is executed by the threads of a kernel only"
        return scope.unsupported(UNSUPPORTED_INTRINSIC, message, node.span)
    destinations = () if PtxCall.of(node) is None else _together(node).destinations
    if not destinations:
        return lambda frame: _present(cast("tuple[object, ...]", frame[slot])[0], frame)
    writes = [written(scope, load, node) for load in destinations]

    def write(frame: Frame) -> object:
        for store, value in zip(writes, cast("tuple[object, ...]", frame[slot]), strict=True):
            store(frame, _present(value, frame))
        return 0

    return write


def _present(value: object, frame: Frame) -> object:
    """A result that is used. Fails where it is missing."""
    if isinstance(value, Missing):
        raise value.failure(frame)
    return value


def written(scope: Scope, load: tir.BufferLoad, node: tir.Call) -> Callable[[Frame, object], None]:
    """A function that writes a value to an element, of which an instruction knows the bits only."""
    var = tir.Var("result", load.dtype)
    place = scope.layout.declare(var)
    store = scope.stmt(tir.BufferStore(load.buffer, var, load.indices, span=node.span))
    failure = scope.failing(UNSUPPORTED_INTRINSIC, node.span)
    dtype = load.dtype

    def write(frame: Frame, value: object) -> None:
        if isinstance(value, float) is not dtype.is_float:
            raise failure(frame, f"`T.{node.callee}` does not write what is no {dtype} as one")
        if isinstance(value, int) and dtype.is_integer:
            value &= (1 << dtype.bits) - 1
            value -= (1 << dtype.bits) if value > dtype.maximum else 0
        frame[place] = value
        store(frame)

    return write


EXECUTED: Mapping[str, Callable[[Scope, tir.Call], Eval]] = dict.fromkeys(IN_PART, _value)
