"""Memory between the calls of a run, planned ahead: each piece gets an offset in one workspace.

Two pieces that are needed at the same time do not overlap. Pieces of known size come first: the largest first, each
into the smallest gap that holds it among those that are needed with it (best fit). Behind them stand slots for pieces
whose sizes depend on dimensions: a piece takes a slot of the very same size that is free, or a new one.
"""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass

from refmlc.lang.ir import tir
from refmlc.native.fuse.sizes import ALIGNMENT, aligned, apply, key_of, number


@dataclass(frozen=True, slots=True)
class Need:
    """`size` bytes from call number `first` to call number `last`, both included."""

    name: Hashable
    size: tir.Expr
    first: int
    last: int

    def meets(self, other: "Need") -> bool:
        """Whether both are needed at some time."""
        return self.first <= other.last and other.first <= self.last


@dataclass(frozen=True, slots=True)
class Layout:
    """Where each need lies, and how large all of it is. Units: bytes."""

    offsets: Mapping[Hashable, tir.Expr]
    size: tir.Expr


def lay_out(needs: Sequence[Need]) -> Layout:
    """A plan for `needs`; all offsets are multiples of 64."""
    places: dict[Hashable, int] = {}
    placed: list[tuple[int, int, Need]] = []
    constant = [
        (-(-need.size.value // ALIGNMENT) * ALIGNMENT, need) for need in needs if isinstance(need.size, tir.IntImm)
    ]
    for size, need in sorted(constant, key=lambda pair: -pair[0]):
        occupied = sorted((start, stop) for start, stop, other in placed if other.meets(need))
        places[need.name] = start = _gap(occupied, size)
        placed.append((start, start + size, need))
    end = max((stop for _, stop, _ in placed), default=0)
    offsets: dict[Hashable, tir.Expr] = {name: number(start) for name, start in places.items()}
    return _with_slots(offsets, number(end), [need for need in needs if not isinstance(need.size, tir.IntImm)])


def _gap(occupied: Sequence[tuple[int, int]], size: int) -> int:
    """The start of the smallest gap between `occupied`, in order of their starts, that holds `size`; else their end."""
    gaps: list[tuple[int, int]] = []
    end = 0
    for start, stop in occupied:
        if start - end >= size:
            gaps.append((start - end, end))
        end = max(end, stop)
    return min(gaps)[1] if gaps else end


def _with_slots(offsets: dict[Hashable, tir.Expr], end: tir.Expr, needs: Sequence[Need]) -> Layout:
    """The plan `offsets` of `end` bytes, followed by slots for `needs`."""
    slots: list[tuple[Hashable, tir.Expr, list[Need]]] = []
    for need in needs:
        key = key_of(need.size)
        for size, start, holds in slots:
            if size == key and not any(need.meets(other) for other in holds):
                holds.append(need)
                offsets[need.name] = start
                break
        else:
            slots.append((key, end, [need]))
            offsets[need.name] = end
            room = aligned(need.size)
            end = room if isinstance(end, tir.IntImm) and end.value == 0 else apply("add", end, room)
    return Layout(offsets, end)
