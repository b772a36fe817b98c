"""Sums over variables that a loop does not change, computed at each entry of the loop.

A part of such a sum that is older than the loop is computed at the entry of the loop around it, and so on outwards: an
innermost loop that is entered often adds one product to each sum.

Preparing sums takes about as long as a hundred accesses: where the loops around a place have fewer iterations than
`WORTHWHILE` in all, there are none.
"""

from dataclasses import dataclass, field
from typing import TypeAlias, cast

from refmlc.run.interp.tensorir.frame import Frame, Layout, Run, Slot

WORTHWHILE = 256
Terms: TypeAlias = tuple[tuple[Slot[int], int], ...]
"""Slots with their factors, each slot once, no factor 0."""


@dataclass(slots=True)
class LoopSums:
    """The sums of a loop. `first`: the first slot that is declared inside of it.

    `outer`: the slots of the loops around it; `threads`: those of thread axes, which are older than their loops;
    `iterations`: the product of all their extents, those that are not constant taken for many.
    """

    first: int
    outer: frozenset[Slot[object]]
    threads: frozenset[Slot[object]]
    around: "LoopSums | None"
    iterations: int
    slots: dict[tuple[Slot[int], Terms], Slot[int]] = field(default_factory=dict)

    @property
    def worthwhile(self) -> bool:
        """True if accesses in the loop are executed often enough."""
        return self.iterations >= WORTHWHILE

    def keeps(self, slot: Slot[int]) -> bool:
        """True if the loop does not change the slot."""
        number, place = cast("int", slot), cast("Slot[object]", slot)
        return number < self.first and (place in self.outer or place not in self.threads)

    def slot(self, layout: Layout, constant: int, terms: Terms) -> Slot[int]:
        """The slot that holds `constant` and the sum of `terms` during the loop, which keeps them."""
        around = self.around
        older = () if around is None else tuple(term for term in terms if around.keeps(term[0]))
        newer = tuple(term for term in terms if term not in older)
        if around is None or not older:
            start = cast("Slot[int]", layout.constant(constant))
        else:
            start = around.slot(layout, constant, older)
        if not newer:
            return start
        key = (start, newer)
        if key not in self.slots:
            self.slots[key] = cast("Slot[int]", layout.new())
        return self.slots[key]

    def entering(self) -> Run | None:
        """Compute the sums; None: there are none."""
        if not self.slots:
            return None
        single = [(at, start, *terms[0]) for (start, terms), at in self.slots.items() if len(terms) == 1]
        several = [(at, start, terms) for (start, terms), at in self.slots.items() if len(terms) > 1]

        def enter(frame: Frame) -> None:
            for at, start, slot, factor in single:
                frame[at] = frame[start] + frame[slot] * factor
            for at, start, terms in several:
                frame[at] = frame[start] + sum([frame[slot] * factor for slot, factor in terms])

        return enter
