"""`schedules(func)`: the strategy of Hypothesis over functions that must mean the same as a given one."""

from hypothesis import strategies as st

from refmlc.lang.ir import tir
from refmlc.strategies.draws import Draw, Drawn
from refmlc.strategies.equivalents import Equivalent, scheduled


def schedules(func: tir.PrimFunc, steps: int = 3) -> st.SearchStrategy[Equivalent]:
    """The trace of up to `steps` legal steps, and `func` after them. Shrinks toward fewer and simpler steps."""

    @st.composite
    def stepped(draw: Draw) -> Equivalent:
        return scheduled(func, Drawn(draw), steps)

    return stepped()
