"""The instructions of PTX that issue and complete copies, and those of barriers in memory.

| instruction                                            | clause  | meaning                                           |
|--------------------------------------------------------|---------|---------------------------------------------------|
| `cp.async.ca`, `cp.async.cg`                           | TIA-011 | issues a copy of 4, 8 or 16 bytes                 |
| `cp.async.commit_group`                                | TIA-012 | what the thread has issued becomes a group        |
| `cp.async.wait_group n`, `cp.async.wait_all`           | TIA-012 | all groups but the last n are complete            |
| `cp.async.mbarrier.arrive`                             | TIA-013 | a phase completes what the thread has issued      |
| `cp.async.bulk`                                        | TIA-014 | see `bulk`                                        |
| `st.async`                                             | PTX-026 | see `stores`                                      |
| `cp.async.bulk.tensor`                                 | TIA-042 | see `tensors`                                     |
| `cp.async.bulk.prefetch`, also of tensors              | PTX-021 | nothing happens                                   |
| `mbarrier.init`, `inval`, `arrive`, `arrive_drop`      | TIA-021 | begins and ends a barrier, arrives at it          |
| `mbarrier.expect_tx`, `complete_tx`, `arrive.expect_tx` | TIA-022 | bytes that copies bring                          |
| `mbarrier.pending_count`, states that `arrive` gives   | TIA-024 | what a barrier was like before an arrival         |
| `fence`                                                | TIA-031 | orders accesses, as hooks see                     |

`refmlc.run.interp.asynchronous.waits` waits for a phase.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import cast

from refmlc.diag import fail
from refmlc.diag.catalogue import BARRIER_MISUSE, UNSUPPORTED_CONSTRUCT, UNSUPPORTED_INTRINSIC
from refmlc.lang.dtypes import HANDLE, INT32
from refmlc.lang.ir import tir
from refmlc.lang.ir.asynchronous import RAW
from refmlc.lang.ir.ptx import PtxCall, is_sink
from refmlc.lang.ops.ptx.hints import operands_of_hint
from refmlc.run.interp.asynchronous import bulk, stores, tensors
from refmlc.run.interp.asynchronous.barriers import SIZE
from refmlc.run.interp.asynchronous.operands import NotExecutedError, element_name
from refmlc.run.interp.asynchronous.operations import Move, OpenOperation
from refmlc.run.interp.asynchronous.place import Do, InstructionSite, is_number, is_state, signal
from refmlc.run.interp.tensorir.addresses import name_of, touching
from refmlc.run.interp.tensorir.frame import Eval, Frame, IntEval
from refmlc.run.interp.tensorir.scope import Scope
from refmlc.run.memory.cells import cell_size

SHARED = ("shared", "shared::cta")
SIZES = {"ca": (4, 8, 16), "cg": (16,)}
HINTS = ("L2::cache_hint", "L2::64B", "L2::128B", "L2::256B")
ORDERS = frozenset(("release", "acquire", "relaxed", "cta", "cluster", "b64", *SHARED, "shared::cluster"))
"""Words of barriers that change neither operands nor counts."""


def prepare(scope: Scope, node: tir.Call) -> Eval:
    """An instruction as a closure; it gives nothing."""
    ptx = raw(node) if node.callee == RAW else cast("PtxCall", PtxCall.of(node))
    if sum(tag.startswith("threadIdx") for tag in scope.threads) != 1:
        message = f"the instruction `T.{node.callee}` is executed by the threads of a kernel only"
        return scope.unsupported(UNSUPPORTED_INTRINSIC, message, node.span)
    try:
        run = _rule(ptx.words)(InstructionSite(scope, ptx))
    except NotExecutedError as reason:
        return scope.unsupported(UNSUPPORTED_INTRINSIC, f"`{ptx.name}` is not executed: {reason}", node.span)
    if ptx.predicate is None or node.callee == RAW:
        return run
    condition = scope.expr(cast("tir.Expr", ptx.predicate))

    def guarded(frame: Frame) -> None:
        if condition(frame):
            run(frame)

    return guarded


def raw(node: tir.Call) -> PtxCall:
    """`s_tir.cp_async_raw`: offsets beside the pointers, and a condition under which zeros are copied."""
    to, to_offset, source, source_offset, size, *condition = node.args
    nbytes = _constant(size)
    modifiers = ("async", "cg" if nbytes == SIZES["cg"][0] else "ca", "shared", "global")
    operands = (_moved(to, to_offset), _moved(source, source_offset), size)
    return PtxCall(node, "cp", modifiers, operands, condition[0] if condition else None)


def _moved(base: tir.Attr, offset: tir.Attr) -> tir.Attr:
    """The address `offset` elements on."""
    if isinstance(offset, int):
        offset = tir.IntImm(INT32, offset)
    if isinstance(offset, tir.IntImm) and offset.value == 0:
        return base
    match base:
        case tir.BufferData(buffer=buffer):
            size = cell_size(buffer.dtype) * buffer.dtype.lanes
        case tir.Call(callee="tvm_access_ptr", args=(tir.Call(dtype=element), *_)):
            size = cell_size(element)
        case _:
            size = 1
    place, start = cast("tir.Expr", offset), cast("tir.Expr", base)
    distance = tir.Apply("mul", (place, tir.IntImm(place.dtype, size)), place.dtype, span=place.span)
    return tir.Call("handle_add_byte_offset", (start, distance), HANDLE, span=start.span)


def _rule(words: tuple[str, ...]) -> Callable[[InstructionSite], Do]:
    match words:
        case ("cp", "async", "ca" | "cg", *_):
            return _copy
        case ("cp", "async", "commit_group"):
            return _commit
        case ("cp", "async", "wait_group"):
            return _wait_group
        case ("cp", "async", "wait_all"):
            return _wait_all
        case ("cp", "async", "mbarrier", "arrive", *rest):
            return _tracked(noinc="noinc" in rest)
        case ("cp", "async", "bulk", "prefetch", *_):
            return _hint
        case ("cp", "async", "bulk", "tensor", *_):
            return tensors.rule
        case ("cp", "async", "bulk", "shared::cta" | "shared::cluster", "global", *_):
            return bulk.to_shared
        case ("cp", "async", "bulk", "shared::cluster", "shared::cta", *_):
            return bulk.within_cluster
        case ("cp", "async", "bulk", "global", "shared::cta", *_):
            return bulk.to_global
        case ("cp", "async", "bulk", "commit_group"):
            return bulk.commit
        case ("cp", "async", "bulk", "wait_group") | ("cp", "async", "bulk", "wait_group", "read"):
            return bulk.wait
        case ("mbarrier", "pending_count", "b64"):
            return _pending_count
        case ("mbarrier", action, *rest) if action in BARRIERS and set(rest) <= ORDERS | MORE.get(action, frozenset()):
            return BARRIERS[action]
        case ("fence", *_):
            return _fence
        case ("st_async", *_):
            return stores.store
        case _:
            raise NotExecutedError("refmlc does not define it yet")


def _hint(here: InstructionSite) -> Do:  # PTX-021
    count = operands_of_hint(here.words)
    if count is None or count != len(here.operands) or here.ptx.has_sinks:
        raise NotExecutedError("it has other modifiers or operands than a hint")
    return lambda _frame: None


# --------------------------------------------------------------------------------------------- copies of a thread


def _copy(here: InstructionSite) -> Do:  # TIA-011
    _, _, way, to_space, from_space, *hints = here.words
    if to_space not in SHARED or from_space != "global" or not set(hints) <= set(HINTS):
        raise NotExecutedError("refmlc does not define it yet")
    count = 3 + ("L2::cache_hint" in hints)
    if len(here.operands) not in (count, count + 1):
        raise NotExecutedError(f"it has {len(here.operands)} operands")
    nbytes = _constant(here.operands[2])
    if nbytes not in SIZES[way]:
        raise NotExecutedError(f"it copies {nbytes} bytes" if nbytes else "it copies a number of bytes that varies")
    to, source, fills = here.address(0), here.address(1), _filled(here, count, nbytes)
    reads = touching(here.scope, source.span, written=False)
    writes = touching(here.scope, to.span, written=True)
    span = here.span

    def issue(frame: Frame) -> None:
        read = fills(frame)
        into = to.bytes_at(frame, nbytes, "a copy writes", "shared")
        to.aligned(into, nbytes)
        moves: list[Move] = []
        if read:
            place = source.bytes_at(frame, read, "a copy reads", "global")
            source.aligned(place, nbytes)
            if reads is not None:
                reads(frame, place, read, None)
            moves.append(Move(into, place, source.content(place, read)))
        if read < nbytes:
            moves.append(Move(into.moved(read), None, bytes(nbytes - read)))

        def written(at: Frame, phase: object = None) -> None:
            if writes is not None:
                writes(at, into, nbytes, phase)

        written(frame)
        copy = OpenOperation(moves, name_of(into), span, written, {here.thread(frame)})
        here.block(frame).issue(copy)
        here.groups("cp", frame).uncommitted.append(copy)

    return issue


def _constant(size: tir.Attr) -> int:
    """The number that an operand is; 0 where it is not constant."""
    value = size.value if isinstance(size, tir.IntImm) else size
    return value if isinstance(value, int) else 0


def _filled(here: InstructionSite, count: int, nbytes: int) -> IntEval:
    """How many bytes are read: the others are zeros."""
    if here.node.callee == RAW and here.ptx.predicate is not None:
        condition = here.scope.expr(cast("tir.Expr", here.ptx.predicate))
        return lambda frame: nbytes if condition(frame) else 0
    if len(here.operands) == count:
        return lambda _frame: nbytes
    value = here.number(3)
    if 3 in here.ptx.predicates:
        return lambda frame: 0 if value(frame) else nbytes
    failure = here.scope.failing(UNSUPPORTED_CONSTRUCT, here.span)

    def read(frame: Frame) -> int:
        size = value(frame)
        if not 0 <= size <= nbytes:
            raise failure(frame, f"a copy of {nbytes} bytes reads {size}: not defined")
        return size

    return read


def _commit(here: InstructionSite) -> Do:  # TIA-012
    return lambda frame: here.groups("cp", frame).commit()


def _wait_group(here: InstructionSite) -> Do:  # TIA-012
    left = here.number(0)
    return lambda frame: here.groups("cp", frame).wait(here.thread(frame), left(frame), frame)


def _wait_all(here: InstructionSite) -> Do:  # TIA-012
    def wait(frame: Frame) -> None:
        groups = here.groups("cp", frame)
        groups.commit()
        groups.wait(here.thread(frame), 0, frame)

    return wait


def _tracked(*, noinc: bool) -> Callable[[InstructionSite], Do]:  # TIA-013
    def rule(here: InstructionSite) -> Do:
        at = here.address(0)

        def track(frame: Frame) -> None:
            barrier, groups = here.barrier(at, frame, own=True), here.groups("cp", frame)
            for group in (*groups.committed, groups.uncommitted):
                for operation in group:
                    barrier.attach(operation)
            signal(here, barrier, frame)
            if noinc:
                barrier.arrive(1, here.span)

        return track

    return rule


# -------------------------------------------------------------------------------------------- barriers in memory


def _fence(here: InstructionSite) -> Do:  # TIA-031
    hooks, words = here.hooks, here.modifiers
    return (lambda frame: hooks.fence(words, frame)) if hooks.watches("fence") else lambda _frame: None


def _init(here: InstructionSite) -> Do:  # TIA-021
    at, count = here.address(0), here.number(1)
    writes = touching(here.scope, at.span, written=True)

    def init(frame: Frame) -> None:
        place = at.at(frame)
        here.check_own(place, frame)
        here.block(frame).initialise(element_name(place), place, count(frame), here.span)
        if writes is not None:
            writes(frame, place, SIZE, None)

    return init


def _inval(here: InstructionSite) -> Do:  # TIA-021
    at = here.address(0)
    writes = touching(here.scope, at.span, written=True)

    def end(frame: Frame) -> None:
        place = at.at(frame)
        here.check_own(place, frame)
        here.block(frame).end_barrier(element_name(place), place, here.span)
        if writes is not None:
            writes(frame, place, SIZE, None)

    return end


def _arrive(here: InstructionSite) -> Do:  # TIA-021, TIA-022, TIA-024
    expecting, leaves_open = "expect_tx" in here.ptx, "noComplete" in here.ptx
    first = _first_address(here.operands)
    count = len(here.operands) - first
    if not 1 + (expecting or leaves_open) <= count <= 2:
        raise NotExecutedError(f"it has {len(here.operands)} operands")
    at, number = here.address(first), here.number(first + 1) if count == 2 else None
    hold = here.holding_state(0) if first and not is_sink(here.operands[0]) else None
    drop, span, own = here.words[1] == "arrive_drop", here.span, _is_own(here)

    def arrive(frame: Frame) -> None:
        barrier = here.barrier(at, frame, own=own or hold is not None or leaves_open)
        value = 1 if number is None else number(frame)
        signal(here, barrier, frame)
        if expecting:
            barrier.expect(value, span, settle=False)
            value = 1
        state = barrier.state_before(value, span, leaves_open=leaves_open)
        barrier.arrive(value, span, drop=drop)
        if hold is not None:
            hold(frame, state)

    return arrive


def _first_address(operands: Sequence[tir.Attr]) -> int:
    """The place of the address of a barrier: 1 behind a register for the state, or what stands for none."""
    match operands:
        case (first, *_) if is_sink(first):
            return 1
        case (_, _, _):
            return 1
        case (first, tir.BufferLoad()) if is_state(first):
            raise NotExecutedError("its text does not say which of its registers is the address")
        case (first, second) if is_state(first) and not is_number(second):
            return 1
        case _:
            return 0


def _pending_count(here: InstructionSite) -> Do:  # TIA-024
    if len(here.operands) != 2:
        raise NotExecutedError(f"it has {len(here.operands)} operands")
    state, store, span = here.state(1), here.storing(0), here.span

    def tell(frame: Frame) -> None:
        found = state(frame)
        if not found.without_completion:
            raise fail(BARRIER_MISUSE, "the arrival that has given the state is not one with noComplete", span)
        store(frame, found.pending)

    return tell


def _bytes(here: InstructionSite) -> Do:  # TIA-022
    at, number = here.address(0), here.number(1)
    sign, own = 1 if here.words[1] == "expect_tx" else -1, _is_own(here)
    return lambda frame: here.barrier(at, frame, own=own).expect(sign * number(frame), here.span)


def _is_own(here: InstructionSite) -> bool:
    """Whether the words say that the barrier is one of the own block."""
    return not set(SHARED).isdisjoint(here.words)


BARRIERS: Mapping[str, Callable[[InstructionSite], Do]] = {
    "init": _init,
    "inval": _inval,
    **dict.fromkeys(("arrive", "arrive_drop"), _arrive),
    **dict.fromkeys(("expect_tx", "complete_tx"), _bytes),
}
"""The operations of barriers, by their words."""
MORE = dict.fromkeys(("arrive", "arrive_drop"), frozenset(("expect_tx", "noComplete")))
"""The words of some of them that change what they do."""
