"""Products of a warpgroup that are not complete: one thread's share (TIM-011).

From its issue until the thread has waited for its group, a product reserves the registers of D, which count as not
written, those of A, and the shared memory that it reads, as a copy reserves its destination and its source. The next
product of the same form that adds to the same registers takes them over: sums continue in the order of issue.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from refmlc.diag import Span
from refmlc.run.interp.asynchronous.operations import Move, OpenOperation
from refmlc.run.interp.tensorir.addresses import name_of
from refmlc.run.memory.pointer import Pointer


@dataclass(slots=True, eq=False)
class OpenProduct(OpenOperation):
    """A product from its issue on. `moves`: the registers of D; `sources`: the places that it reads, with their bytes.

    `form`: what products that continue in the same registers have in common.
    """

    noun: ClassVar[str] = "product of matrices"
    form: object = None

    @classmethod
    def of(cls, form: object, places: Sequence[Pointer], data: Sequence[bytes], span: Span | None) -> "OpenProduct":
        """A product that leaves `data` in the registers at `places`."""
        moves = [Move(place, None, content) for place, content in zip(places, data, strict=True)]
        return cls(moves, name_of(places[0]), span, lambda _frame, _phase: None, form=form)

    def issue(self) -> None:
        """Reserve its bytes; an earlier one hands its registers over. Fails: RM341 where others have some of them."""
        earlier = pending([move.destination for move in self.moves], self.form, self.span)
        if earlier is not None:
            earlier.hand_over()
        OpenOperation.issue(self)

    def hand_over(self) -> None:
        """A later product has its registers."""
        for storage, item in [pair for pair in self._reserved if pair[1].written]:
            storage.extras.reserved.remove(item)
        self._reserved = [pair for pair in self._reserved if not pair[1].written]
        self.moves = ()


def pending(registers: Sequence[Pointer], form: object, span: Span | None) -> OpenProduct | None:
    """The open product that the next one with these registers continues; None: no open operation has any of them.

    Fails: RM341 where an open operation has others too, or is of another form.
    """
    owners: list[OpenOperation] = []
    for move in registers:
        for item in move.storage.reserved_at(move.byte_offset, 1):
            if item.written and isinstance(item.owner, OpenOperation) and item.owner not in owners:
                owners.append(item.owner)
    if not owners:
        return None
    owner = owners[0]
    same = isinstance(owner, OpenProduct) and [move.destination for move in owner.moves] == list(registers)
    if isinstance(owner, OpenProduct) and same and owner.form == form:
        return owner
    raise owner.failure("a product with other registers, or of another form, writes memory", span, written=True)
