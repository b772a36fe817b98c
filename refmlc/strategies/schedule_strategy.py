"""`schedules(func)`: the strategy of Hypothesis over functions that must mean the same as a given one."""

from hypothesis import strategies as st

from refmlc.ir import tir
from refmlc.strategies.drawn import Draw, Drawn
from refmlc.strategies.equivalents import scheduled


@st.composite
def schedules(draw: Draw, func: tir.PrimFunc, steps: int = 3) -> tuple[str, tir.PrimFunc]:
    """The trace of up to `steps` legal steps, and `func` after them. Shrinks toward fewer and simpler steps."""
    return scheduled(func, Drawn(draw), steps)
