"""Whether an instance of a block begins a reduction, where the first value of each axis stands in a slot."""

from refmlc.lang.ir import tir
from refmlc.run.interp.tensorir.frame import Frame, Run, Slot
from refmlc.run.interp.tensorir.scope import Scope


def init(scope: Scope, reductions: list[tir.IterVar], run_init: Run, body: Run) -> Run | None:
    """The init where every axis is at its first value, then the body; None where such a value has no slot."""
    # Innermost first: it is the one that most often is not at its first value.
    starts = tuple((scope.slot(axis.var), scope.atom(axis.dom.min)) for axis in reversed(reductions))
    slots = tuple((slot, first) for slot, first in starts if first is not None)
    if len(slots) < len(starts):
        return None
    if len(slots) == 1:
        return _init_at(*slots[0], run_init, body)

    def reduce(frame: Frame) -> None:
        for slot, first in slots:
            if frame[slot] != frame[first]:
                break
        else:
            run_init(frame)
        body(frame)

    return reduce


def _init_at(slot: Slot[int], first: Slot[int], run_init: Run, body: Run) -> Run:
    def reduce(frame: Frame) -> None:
        if frame[slot] == frame[first]:
            run_init(frame)
        body(frame)

    return reduce
