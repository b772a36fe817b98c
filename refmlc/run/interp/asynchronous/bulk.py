"""Bulk copies: of one thread, of any multiple of 16 bytes (TIA-014, TIA-015).

| instruction                                                       | is complete when                                |
|-------------------------------------------------------------------|-------------------------------------------------|
| `cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes`    | a thread has seen the phase of the barrier      |
| `cp.async.bulk.shared::cluster.shared::cta.mbarrier…`              | the same                                        |
| `cp.async.bulk.global.shared::cta.bulk_group`                      | the thread has waited for its group             |
| the first two with `.multicast::cluster`, to the blocks of a mask  | a thread of each block has seen its phase       |
| `cp.async.bulk.commit_group`, `wait_group n`                       | the groups, as those of cp.async                |
| `cp.async.bulk.wait_group.read n`                                  | the sources may be written, the rest stays open |
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from refmlc.diag import Span, fail
from refmlc.diag.catalogue import UNSUPPORTED_CONSTRUCT
from refmlc.run.interp.asynchronous.operands import Address, NotExecutedError
from refmlc.run.interp.asynchronous.operations import Move, OpenOperation
from refmlc.run.interp.asynchronous.place import Do, InstructionSite, signal
from refmlc.run.interp.tensorir.addresses import Touch, name_of, touching
from refmlc.run.interp.tensorir.frame import Frame, IntEval
from refmlc.run.memory.pointer import Pointer

Ends: TypeAlias = tuple[Address, Address, IntEval]
UNIT = 16
"""Sizes and addresses are multiples of it. Units: bytes."""
HINT = "L2::cache_hint"
MULTICASTS = frozenset(f"multicast::cluster{mask}" for mask in ("", "::16b", "::32b"))
"""Words of copies to several blocks; how many bits their mask has changes nothing."""
BY_PHASE, BY_GROUP = "mbarrier::complete_tx::bytes", "bulk_group"


def to_shared(here: InstructionSite) -> Do:  # TIA-014
    """A copy from global to shared memory, which a phase completes."""
    return _by_phase(here, "global")


def within_cluster(here: InstructionSite) -> Do:  # PTX-026
    """A copy from shared memory to that of a block of the cluster, which a phase completes."""
    return _by_phase(here, "shared")


def _by_phase(here: InstructionSite, source: str) -> Do:
    several = not MULTICASTS.isdisjoint(here.words)
    ends = _ends(here, 4 + several, BY_PHASE, *MULTICASTS)
    at = here.address(3)
    mask = here.number(4) if several else None
    prepare = _prepared(here, ends, ("shared", source))
    own = here.words[3] == "shared::cta"

    def issue(frame: Frame) -> None:
        place, bulk = at.at(frame), prepare(frame)
        if own:
            here.check_own(bulk.into, frame)
        here.check_beside(bulk.into, place, frame)
        targets = [(bulk.into, place)]
        if mask is not None:
            blocks = here.in_blocks(bulk.into, mask(frame), frame)
            targets = [(into, here.same(place, block, frame)) for block, into in blocks]
        for into, there in targets:
            bring(here, at, there, bulk.copy(into, frame), bulk.nbytes, frame)

    return issue


def bring(
    here: InstructionSite, at: Address, place: Pointer, operation: OpenOperation, nbytes: int, frame: Frame
) -> None:
    """Issue an operation that the phase of the barrier at a place completes. Fails: RM341, RM342."""
    barrier = here.barrier(at, frame, proxied=True, place=place)
    here.block(frame).issue(operation)
    signal(here, barrier, frame)
    barrier.bring(operation, nbytes, here.span)


def to_global(here: InstructionSite) -> Do:  # TIA-015
    """A copy from shared to global memory, which a wait for its group completes."""
    ends = _ends(here, 3, BY_GROUP)
    prepare = _prepared(here, ends, ("global", "shared"))

    def issue(frame: Frame) -> None:
        bulk = prepare(frame)
        copy = bulk.copy(bulk.into, frame)
        copy.waits_for.add(here.thread(frame))
        copy.outlives = True
        here.block(frame).issue(copy)
        here.groups("bulk", frame).uncommitted.append(copy)

    return issue


def commit(here: InstructionSite) -> Do:  # TIA-015
    """What the thread has issued becomes a group."""
    return lambda frame: here.groups("bulk", frame).commit()


def wait(here: InstructionSite) -> Do:  # TIA-015
    """All groups but the last ones are complete, or have read their sources."""
    left = here.number(0)
    if "read" in here.words:
        return lambda frame: here.groups("bulk", frame).wait_for_sources(left(frame))
    return lambda frame: here.groups("bulk", frame).wait(here.thread(frame), left(frame), frame)


def _ends(here: InstructionSite, count: int, end: str, *more: str) -> Ends:
    words = set(here.words[5:]) - {HINT}
    if end not in words or not words - {end} <= set(more) or len(words) > 1 + bool(more):
        raise NotExecutedError("refmlc does not define it yet")
    if len(here.operands) != count + (HINT in here.words):
        raise NotExecutedError(f"it has {len(here.operands)} operands")
    return here.address(0), here.address(1), here.number(2)


@dataclass(frozen=True, slots=True)
class BulkCopy:
    """Bytes that are taken from a place, and where they go in the block that the address names."""

    into: Pointer
    source: Pointer
    data: bytes
    span: Span | None
    writes: Touch | None

    @property
    def nbytes(self) -> int:
        """The number of bytes."""
        return len(self.data)

    def copy(self, into: Pointer, frame: Frame) -> OpenOperation:
        """The copy to a place."""
        writes, nbytes = self.writes, self.nbytes

        def written(at: Frame, phase: object) -> None:
            if writes is not None:
                writes(at, into, nbytes, phase)

        written(frame, None)
        return OpenOperation([Move(into, self.source, self.data)], name_of(into), self.span, written)


def _prepared(here: InstructionSite, ends: Ends, spaces: tuple[str, str]) -> Callable[[Frame], BulkCopy]:
    to, source, size = ends
    reads = touching(here.scope, source.span, written=False, proxied=True)
    writes = touching(here.scope, to.span, written=True, proxied=True)
    span = here.span

    def prepared(frame: Frame) -> BulkCopy:
        nbytes = size(frame)
        if nbytes <= 0 or nbytes % UNIT:
            raise fail(UNSUPPORTED_CONSTRUCT, f"a bulk copy of {nbytes} bytes is not executed", span)
        into = to.bytes_at(frame, nbytes, "a copy writes", spaces[0])
        place = source.bytes_at(frame, nbytes, "a copy reads", spaces[1])
        if spaces[1] == "shared":
            here.check_own(place, frame)
        to.aligned(into, UNIT)
        source.aligned(place, UNIT)
        if reads is not None:
            reads(frame, place, nbytes, None)
        return BulkCopy(into, place, source.content(place, nbytes), span, writes)

    return prepared
