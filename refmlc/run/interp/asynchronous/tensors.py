"""Copies of boxes of tensors, by tensor maps (TIA-041 … TIA-043).

| instruction                                                               | operands                        |
|---------------------------------------------------------------------------|---------------------------------|
| `cp.async.bulk.tensor.2d.shared::cta.global.mbarrier::complete_tx::bytes` | to, map, 2 coordinates, barrier |
| `cp.async.bulk.tensor.2d.global.shared::cta.bulk_group`                   | map, 2 coordinates, source      |
| `.tile`, `.cta_group::1`                                                  | the same                        |
| `.multicast::cluster`: to the blocks of a mask (TIX-033)                  | and a mask                      |
| `.cta_group::2`: the barrier may be in the other block of the pair        | the same                        |
| `.L2::cache_hint`                                                         | and a policy                    |

They are issued and complete as other bulk copies are; see `bulk`.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import cast

import numpy as np

from refmlc.diag import Span, fail
from refmlc.diag.catalogue import BAD_POINTER, UNINITIALISED, UNSUPPORTED_CONSTRUCT
from refmlc.lang.dtypes.bits import to_bits
from refmlc.lang.ir import tir
from refmlc.run.interp.asynchronous.boxes import Row, overlap, places, rows, runs
from refmlc.run.interp.asynchronous.bulk import BY_GROUP, BY_PHASE, HINT, MULTICASTS, bring
from refmlc.run.interp.asynchronous.operands import Address, NotExecutedError
from refmlc.run.interp.asynchronous.operations import Move, OpenOperation, OperationSource
from refmlc.run.interp.asynchronous.place import Do, InstructionSite
from refmlc.run.interp.tensorir.addresses import Touch, name_of, touching
from refmlc.run.interp.tensorir.frame import Frame
from refmlc.run.memory.pointer import Pointer
from refmlc.run.memory.tensor_maps import TensorMap, TensorMapPlace
from refmlc.run.memory.values import kind_of

DIMENSIONS = ("1d", "2d", "3d", "4d", "5d")
PAIR = "cta_group::2"
NEUTRAL = frozenset(("tile", "cta_group::1", HINT))
ALIGNMENT = 128
"""Of a box in shared memory. Units: bytes."""


def rule(here: InstructionSite) -> Do:
    """A copy of a box."""
    match here.words[4:]:
        case (dimension, "shared::cta" | "shared::cluster", "global", *rest) if dimension in DIMENSIONS:
            _check_words(rest, BY_PHASE, PAIR, *MULTICASTS)
            return _to_shared(here, DIMENSIONS.index(dimension) + 1)
        case (dimension, "global", "shared::cta", *rest) if dimension in DIMENSIONS:
            _check_words(rest, BY_GROUP)
            return _to_global(here, DIMENSIONS.index(dimension) + 1)
    raise NotExecutedError("refmlc does not define it yet")


def _check_words(rest: Sequence[str], end: str, *more: str) -> None:
    unknown = [word for word in rest if word not in (end, *more) and word not in NEUTRAL]
    if unknown or end not in rest:
        raise NotExecutedError(f"refmlc does not define `.{unknown[0]}` yet" if unknown else f"it has no `.{end}`")


def _check_count(here: InstructionSite, count: int) -> None:
    if len(here.operands) != count + (HINT in here.words):
        raise NotExecutedError(f"it has {len(here.operands)} operands")


# ------------------------------------------------------------------------------------------- the map, and its box


def _map_of(here: InstructionSite, number: int, rank: int) -> Callable[[Frame], TensorMap]:
    """The tensor map that an operand is the address of."""
    node = cast("tir.Expr", here.operands[number])
    if not isinstance(node, tir.Expr):
        raise NotExecutedError(f"operand {number} of it is not a tensor map")
    value, span = here.scope.expr(node), here.span

    def found(frame: Frame) -> TensorMap:
        place = value(frame)
        if not isinstance(place, TensorMapPlace):
            raise fail(BAD_POINTER, f"a copy of a box needs a tensor map, {kind_of(place)} is given", span)
        if place.content is None:
            raise fail(UNINITIALISED, "a copy of a box reads a tensor map that was never encoded", span)
        if place.content.rank != rank:
            message = f"a copy of a box of {rank} axes is given the map of a tensor of {place.content.rank}"
            raise fail(BAD_POINTER, message, span)
        return place.content

    return found


def _coordinates(here: InstructionSite, first: int, rank: int) -> Callable[[Frame], list[int]]:
    numbers = [here.number(first + axis) for axis in range(rank)]
    return lambda frame: [number(frame) for number in numbers]


def _remote(here: InstructionSite, whole: TensorMap, row: Row, frame: Frame, access: str) -> tuple[Address, Pointer]:
    """The place of a row in global memory. Fails: RM304, RM313."""
    place = whole.start.moved(row.remote)
    address = Address(lambda _frame: place, here.span)
    return address, address.bytes_at(frame, row.nbytes, access, "global")


def _filled(whole: TensorMap) -> bytearray:
    """The box where nothing of it is in the tensor."""
    size = whole.strides[0]
    if not whole.nan:
        return bytearray(whole.nbytes)
    return bytearray(to_bits(whole.dtype, float("nan")).to_bytes(size, "little") * (whole.nbytes // size))


# --------------------------------------------------------------------------------------------------- to shared memory


def _to_shared(here: InstructionSite, rank: int) -> Do:  # TIA-042, TIX-033
    several, pair = not MULTICASTS.isdisjoint(here.words), PAIR in here.words
    _check_count(here, rank + 3 + several)
    at = here.address(rank + 2)
    mask = here.number(rank + 3) if several else None
    prepare, own = _box_to_shared(here, rank), here.words[5] == "shared::cta"

    def issue(frame: Frame) -> None:
        place, box = at.at(frame), prepare(frame)
        if own:
            here.check_own(box.into, frame)
        targets = [(box.into, place)]
        if mask is None:
            here.check_beside(box.into, place, frame, pair=pair)
        else:
            leader = here.owner(place, frame) % 2
            blocks = here.in_blocks(box.into, mask(frame), frame)
            targets = [
                (into, here.same(place, block - block % 2 + leader if pair else block, frame)) for block, into in blocks
            ]
        for into, there in targets:
            bring(here, at, there, box.copy(into, frame), box.nbytes, frame)

    return issue


@dataclass(frozen=True, slots=True)
class BoxCopy:
    """The bytes of a box as shared memory has them, and where they go in the block that the address names."""

    into: Pointer
    data: bytes
    sources: Sequence[OperationSource]
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
        return OpenOperation([Move(into, None, self.data)], name_of(into), self.span, written, sources=self.sources)


def _box_to_shared(here: InstructionSite, rank: int) -> Callable[[Frame], BoxCopy]:
    to, map_of, coordinates = here.address(0), _map_of(here, 1, rank), _coordinates(here, 2, rank)
    reads = touching(here.scope, here.span, written=False, proxied=True)
    writes = touching(here.scope, to.span, written=True, proxied=True)

    def prepared(frame: Frame) -> BoxCopy:
        whole = map_of(frame)
        into = to.bytes_at(frame, whole.nbytes, "a copy writes", "shared")
        to.aligned(into, ALIGNMENT)
        box, sources = _filled(whole), []
        for row in rows(whole, coordinates(frame)):
            address, place = _remote(here, whole, row, frame, "a copy reads")
            if reads is not None:
                reads(frame, place, row.nbytes, None)
            content = address.content(place, row.nbytes)
            box[row.local : row.local + row.nbytes] = content
            sources.append(OperationSource.read(place, row.nbytes))
        data = np.empty(whole.nbytes, np.uint8)
        data[places(whole, into.byte_offset)] = np.frombuffer(box, np.uint8)
        return BoxCopy(into, data.tobytes(), sources, here.span, writes)

    return prepared


# --------------------------------------------------------------------------------------------------- to global memory


def _to_global(here: InstructionSite, rank: int) -> Do:  # TIA-042
    _check_count(here, rank + 2)
    prepare = _box_to_global(here, rank)

    def issue(frame: Frame) -> None:
        copy = prepare(frame)
        copy.waits_for.add(here.thread(frame))
        copy.outlives = True
        here.block(frame).issue(copy)
        here.groups("bulk", frame).uncommitted.append(copy)

    return issue


def _box_to_global(here: InstructionSite, rank: int) -> Callable[[Frame], OpenOperation]:
    map_of, coordinates, source = _map_of(here, 0, rank), _coordinates(here, 1, rank), here.address(rank + 1)
    reads = touching(here.scope, source.span, written=False, proxied=True)
    writes = touching(here.scope, here.span, written=True, proxied=True)
    span = here.span

    def prepared(frame: Frame) -> OpenOperation:
        whole = map_of(frame)
        start = source.bytes_at(frame, whole.nbytes, "a copy reads", "shared")
        here.check_own(start, frame)
        source.aligned(start, ALIGNMENT)
        parts = rows(whole, coordinates(frame))
        if overlap(parts):
            raise fail(UNSUPPORTED_CONSTRUCT, "a copy of a box whose elements share memory is not executed", span)
        where = places(whole, start.byte_offset)
        taken = [where[row.local : row.local + row.nbytes] for row in parts]
        sources = []
        for first, count in runs(np.concatenate(taken)) if taken else ():
            place = start.moved(first)
            if reads is not None:
                reads(frame, place, count, None)
            source.content(place, count)
            sources.append(OperationSource.read(place, count))
        box = np.frombuffer(start.storage.bytes, np.uint8, whole.nbytes, start.byte_offset)
        moves = [
            Move(_remote(here, whole, row, frame, "a copy writes")[1], None, box[each].tobytes())
            for row, each in zip(parts, taken, strict=True)
        ]

        def written(at: Frame, phase: object) -> None:
            for move in moves if writes is not None else ():
                writes(at, move.destination, move.nbytes, phase)  # type: ignore[misc]

        written(frame, None)
        return OpenOperation(moves, name_of(whole.start), span, written, sources=sources)

    return prepared
