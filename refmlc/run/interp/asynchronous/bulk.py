"""Bulk copies: of one thread, of any multiple of 16 bytes (TIA-014, TIA-015).

| instruction                                                       | is complete when                                |
|-------------------------------------------------------------------|-------------------------------------------------|
| `cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes`    | a thread has seen the phase of the barrier      |
| `cp.async.bulk.shared::cluster.shared::cta.mbarrier…`              | the same                                        |
| `cp.async.bulk.global.shared::cta.bulk_group`                      | the thread has waited for its group             |
| `cp.async.bulk.commit_group`, `wait_group n`                       | the groups, as those of cp.async                |
| `cp.async.bulk.wait_group.read n`                                  | the sources may be written, the rest stays open |
"""

from collections.abc import Callable
from typing import TypeAlias

from refmlc.diag import fail
from refmlc.diag.catalogue import UNSUPPORTED_CONSTRUCT
from refmlc.run.interp.asynchronous.copies import Move, OpenCopy
from refmlc.run.interp.asynchronous.operands import Address, NotExecutedError
from refmlc.run.interp.asynchronous.place import Do, Here, signal
from refmlc.run.interp.tensorir.addresses import name_of, touching
from refmlc.run.interp.tensorir.frame import Frame, IntEval

Ends: TypeAlias = tuple[Address, Address, IntEval]
UNIT = 16
"""Sizes and addresses are multiples of it. Units: bytes."""
HINT = "L2::cache_hint"
BY_PHASE, BY_GROUP = "mbarrier::complete_tx::bytes", "bulk_group"


def to_shared(here: Here) -> Do:  # TIA-014
    """A copy from global to shared memory, which a phase completes."""
    return _by_phase(here, "global")


def within_cluster(here: Here) -> Do:  # PTX-026
    """A copy from shared memory to that of a block of the cluster, which a phase completes."""
    return _by_phase(here, "shared")


def _by_phase(here: Here, source: str) -> Do:
    ends = _ends(here, 4, BY_PHASE)
    at = here.address(3)
    prepare = _prepared(here, ends, ("shared", source))

    def issue(frame: Frame) -> None:
        barrier, (copy, nbytes) = here.barrier(at, frame, proxied=True), prepare(frame)
        here.block(frame).issue(copy)
        signal(here, barrier, frame)
        barrier.bring(copy, nbytes, here.node.span)

    return issue


def to_global(here: Here) -> Do:  # TIA-015
    """A copy from shared to global memory, which a wait for its group completes."""
    ends = _ends(here, 3, BY_GROUP)
    prepare = _prepared(here, ends, ("global", "shared"))

    def issue(frame: Frame) -> None:
        copy, _ = prepare(frame)
        copy.waits_for.add(here.thread(frame))
        copy.outlives = True
        here.block(frame).issue(copy)
        here.groups("bulk", frame).uncommitted.append(copy)

    return issue


def commit(here: Here) -> Do:  # TIA-015
    """What the thread has issued becomes a group."""
    return lambda frame: here.groups("bulk", frame).commit()


def wait(here: Here) -> Do:  # TIA-015
    """All groups but the last ones are complete, or have read their sources."""
    left = here.number(0)
    if "read" in here.words:
        return lambda frame: here.groups("bulk", frame).wait_for_sources(left(frame))
    return lambda frame: here.groups("bulk", frame).wait(here.thread(frame), left(frame), frame)


def _ends(here: Here, count: int, end: str) -> Ends:
    if set(here.words[5:]) - {HINT} != {end}:
        raise NotExecutedError("refmlc does not define it yet")
    if len(here.operands) != count + (HINT in here.words):
        raise NotExecutedError(f"it has {len(here.operands)} operands")
    return here.address(0), here.address(1), here.number(2)


def _prepared(here: Here, ends: Ends, spaces: tuple[str, str]) -> Callable[[Frame], tuple[OpenCopy, int]]:
    to, source, size = ends
    reads = touching(here.scope, source.span, written=False, proxied=True)
    writes = touching(here.scope, to.span, written=True, proxied=True)
    span = here.node.span

    def prepared(frame: Frame) -> tuple[OpenCopy, int]:
        nbytes = size(frame)
        if nbytes <= 0 or nbytes % UNIT:
            raise fail(UNSUPPORTED_CONSTRUCT, f"a bulk copy of {nbytes} bytes is not executed", span)
        into = to.bytes_at(frame, nbytes, "writes", spaces[0])
        place = source.bytes_at(frame, nbytes, "reads", spaces[1])
        to.aligned(into, UNIT)
        source.aligned(place, UNIT)
        if reads is not None:
            reads(frame, place, nbytes, None)

        def written(at: Frame, phase: object) -> None:
            if writes is not None:
                writes(at, into, nbytes, phase)

        written(frame, None)
        moves = [Move(into, place, source.content(place, nbytes))]
        return OpenCopy(moves, name_of(into), span, written), nbytes

    return prepared
