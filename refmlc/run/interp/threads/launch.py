"""A loop over threads that wait for each other: all of them in rounds (TIR-227).

Each thread has a frame of its own, a copy of the one around the loop. Thread axes nest: the threads of an inner axis
take turns within the turn of their outer one.
"""

from collections.abc import Callable, Sequence
from functools import partial
from typing import cast

from refmlc.diag import Related
from refmlc.diag.catalogue import BAD_EXTENT, BARRIER_DIVERGENCE, UNSUPPORTED_CONSTRUCT
from refmlc.diag.errors import RefmlcError
from refmlc.lang.ir import tir, tirx
from refmlc.run.interp.tensorir.frame import ACTIVATION, Activation, Frame, Run, Slot
from refmlc.run.interp.tensorir.scope import Scope
from refmlc.run.interp.threads.deadlocks import deadlock
from refmlc.run.interp.threads.group import WARP, Events, Go, Group, Meeting, Steps, Thread, part_of, rounds, scheduled
from refmlc.run.interp.threads.private_memory import outside


def launch(scope: Scope, node: tir.For, body_of: Callable[[Scope, tir.Stmt], Go]) -> Run:
    """The outermost loop over `threadIdx`: all threads of a block."""
    scope.steps = True
    steps = threads(scope, node, body_of)
    scope.steps = False
    slot, machine = scope.group, scope.machine
    meet = machine.hooks.meet if machine.hooks.watches("meet") else None

    def run(frame: Frame) -> None:
        frame[slot] = group = Group()
        machine.groups += 1
        try:
            for meeting in steps(frame):
                group.next_round()
                if meet is not None and meeting.orders and _is_meeting(scope, meeting):
                    meet(meeting.node, meeting.implied)
            group.close()
        finally:
            machine.groups -= 1
            frame[slot] = None

    return run


def _is_meeting(scope: Scope, meeting: Meeting) -> bool:
    """True if hooks see the meeting. Under `as_written`, the only implied ones are those of reductions over threads."""
    return not (scope.machine.as_written and meeting.implied) or scope.exchange.folds(meeting.node)


def threads(scope: Scope, node: tir.For, body_of: Callable[[Scope, tir.Stmt], Go]) -> Go:
    """The iterations of a loop over a thread axis as threads."""
    tag = node.tag
    first, extent = scope.int(node.min), scope.int(node.extent)
    step = None if node.step is None else scope.int(node.step)
    domain = (node.min, node.extent) if node.step is None else None
    wrong = scope.failing(BAD_EXTENT, node.span)
    with scope.loop(node.loop_var, domain, tag) as slot, scope.thread(tag, node.loop_var, node.extent):
        if node.thread is not None and node.thread.var is not None:
            scope.layout.alias(node.thread.var, cast("Slot[object]", slot))
        body = _located(scope, slot, body_of(scope, node.body))
    machine, budget, span, memories = scope.machine, scope.machine.budget, node.span, scope.memories
    resume, pause = _switching(scope, node)
    released, met = scope.machine.hooks.release, _met(scope, node)
    size, group_slot = block_size(node), scope.group
    begin, begins = scope.machine.hooks.begin_threads, scope.machine.hooks.watches("begin_threads")

    def steps(frame: Frame) -> Steps:
        start, count, stride = first(frame), extent(frame), 1 if step is None else step(frame)
        if count < 0:
            raise wrong(frame, f"the extent of loop `{node.loop_var.name}` is {count}")
        if stride <= 0:
            raise wrong(frame, f"the step of loop `{node.loop_var.name}` is {stride}")
        values = range(start, start + count, stride)
        budget.charge_steps(len(values), span)
        private = outside(frame, memories, tag)
        group = frame[group_slot]
        if group is not None:
            group.threads = group.threads or len(values)
            if size:
                group.block = size
                group.block_of = lambda thread_frame: thread_frame[slot] // size
        block: list[Thread] = []
        for index, value in enumerate(values):
            thread_frame = _child(frame)
            thread_frame[slot] = value
            for memory, view in private:
                memory.enter(thread_frame, frame, view)
            block.append(Thread(index, thread_frame, body(thread_frame), None, size))
        if begins:
            begin(node, block)
        events = Events(resume, pause, released, met, partial(_divergence, scope, node, frame, block))
        schedule = machine.schedule
        yield from rounds(block, events) if schedule is None else scheduled(block, events, schedule)

    return steps


def block_size(node: tir.For) -> int:
    """How many threads a block has, where those of all blocks of a cluster run together; 0: there is one block."""
    match node.body:
        case tir.AttrStmt(key=tirx.KERNEL, value=int() as size):
            return size
        case _:
            return 0


def _child(frame: Frame) -> Frame:
    child = cast("Frame", list(cast("list[object]", frame)))
    outer = frame[ACTIVATION]
    child[ACTIVATION] = Activation(outer.function, outer.layout)
    return child


def _located(scope: Scope, slot: Slot[int], body: Go) -> Go:
    """A thread whose failures are located in its own frame."""
    group_slot = scope.group

    def located(frame: Frame) -> Steps:
        try:
            yield from body(frame)
        except RefmlcError as failure:
            scope.machine.locate(failure, frame)
            raise
        group = frame[group_slot]
        if group is not None:
            group.end(frame[slot])

    return located


def _switching(scope: Scope, node: tir.For) -> tuple[Callable[[Thread], None], Callable[[Thread], None]]:
    hooks = scope.machine.hooks
    if not (hooks.watches("resume_thread") or hooks.watches("pause_thread")):
        return (lambda _thread: None), (lambda _thread: None)
    return (
        lambda thread: hooks.resume_thread(node, thread.frame),
        lambda thread: hooks.pause_thread(node, thread.frame),
    )


def _met(scope: Scope, node: tir.For) -> Callable[[Meeting, Sequence[Thread], Sequence[object]], None]:
    """Reports that a part of the block has met, and which phases of barriers it has seen complete."""
    hooks = scope.machine.hooks
    resume, pause = _switching(scope, node)

    def met(meeting: Meeting, members: Sequence[Thread], phases: Sequence[object]) -> None:
        if not meeting.orders:
            return
        if hooks.watches("meet_in_part"):
            hooks.meet_in_part(meeting.node, tuple([member.index for member in members]))
        for member in members if phases and hooks.watches("acquire") else ():
            resume(member)
            for phase in phases:
                hooks.acquire(phase, member.frame)
            pause(member)

    return met


NAMES = {"cluster": "cluster", "cta": "block", "warpgroup": "warpgroup", "warp": "warp"}


def _divergence(
    scope: Scope,
    node: tir.For,
    frame: Frame,
    block: Sequence[Thread],
    members: Sequence[Thread],
    waiting: Thread,
    arrived: Sequence[Thread],
) -> Exception:
    """The failure of threads that do not reach the same meeting, or wait for what nobody does."""
    if any(thread.waits is not None and thread.waits.until is not None for thread in members):
        return deadlock(scope, frame, block, partial(_state, block), _label(node))
    meeting = waiting.waits
    assert meeting is not None  # noqa: S101 - it waits
    tag = _label(node)
    awaited = _awaited(meeting, waiting, members)
    other = next((thread for thread in members if not _comes(meeting, waiting, thread)), None)
    message = f"{tag} {waiting.index} {awaited}"
    if meeting.barrier is not None and meeting.barrier.count is not None:
        come = [thread for thread in members if thread.waits is not None and _is_at(meeting, thread)]
        message = f"{message}, {len(come) + len(arrived)} have come"
    if other is not None:
        state = "has ended" if other.waits is None else "waits elsewhere"
        message = f"{message}, {tag} {other.index} {state}"
    if meeting.implied or (other is not None and other.waits is not None and other.waits.implied):
        message = f"{message}: where a compiler puts the barriers is not known"
        return scope.failing(UNSUPPORTED_CONSTRUCT, meeting.node.span)(frame, message)
    related = [Related(f"the threads of {node.tag} begin here", node.span)]
    if other is not None and other.waits is not None:
        related.insert(0, Related(f"{tag} {other.index} {_told(other.waits)}", other.waits.node.span))
    return scope.failing(BARRIER_DIVERGENCE, meeting.node.span, *related)(frame, message)


def _label(node: tir.For) -> str:
    """What the numbers of threads count in messages."""
    return "thread of the cluster" if block_size(node) else node.tag


def _awaited(meeting: Meeting, waiting: Thread, members: Sequence[Thread]) -> str:
    """What a thread waits for."""
    barrier = meeting.barrier
    if barrier is not None and barrier.arrives:
        return f"arrives at barrier {barrier.number} again, which has not opened since it did"
    if barrier is not None and barrier.count is not None:
        return f"waits at barrier {barrier.number} for {barrier.count} threads"
    if barrier is not None and barrier.number:
        return f"waits at barrier {barrier.number} for all threads of its block"
    if meeting.mask is None:
        return f"waits for all threads of its {NAMES[meeting.part]}"
    named = f"the lanes {meeting.mask:#x} of its warp"
    return f"waits for {named}" if waiting in members else f"waits for {named}, which leave it out"


def _told(meeting: Meeting) -> str:
    if meeting.mask is not None:
        return f"waits here for the lanes {meeting.mask:#x} of its warp"
    numbered = meeting.barrier is not None and (meeting.barrier.number or meeting.barrier.count is not None)
    return f"waits here at barrier {meeting.barrier.number}" if numbered and meeting.barrier else "waits here"


def _is_at(meeting: Meeting, thread: Thread) -> bool:
    """Whether the thread waits at the barrier of a meeting."""
    at = None if thread.waits is None else thread.waits.barrier
    return at is not None and meeting.barrier is not None and at.number == meeting.barrier.number


def _comes(meeting: Meeting, waiting: Thread, thread: Thread) -> bool:
    """Whether a thread is where another one waits for it."""
    if not meeting.is_same(thread.waits):
        return False
    aligned = meeting.barrier is not None and meeting.barrier.aligned
    in_warp = _warp(thread) == _warp(waiting)
    return not (aligned and in_warp) or (thread.waits is not None and thread.waits.node is meeting.node)


def _warp(thread: Thread) -> tuple[int, int]:
    return thread.index - thread.number, thread.number // WARP


def _state(threads: Sequence[Thread], thread: Thread) -> str:
    waits = thread.waits
    if waits is None:
        return "ended"
    if waits.until is not None:
        return f"waits, and {waits.until.lacks(thread)}"
    return _awaited(waits, thread, part_of(threads, thread, waits))
