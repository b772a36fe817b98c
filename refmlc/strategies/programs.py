"""Strategies of programs, for Hypothesis."""

from hypothesis import strategies as st

from refmlc.strategies.case import Case
from refmlc.strategies.drawn import Draw, Drawn
from refmlc.strategies.functions import case_of, drawn_aim


@st.composite
def prim_funcs(draw: Draw, aim: str | None = "") -> Case:
    """A TensorIR function with arguments to call it on, defined for them, or aimed at the code `aim`; None: any.

    Decision: a `Case`, not a bare function. Whether a program is defined depends on what it is called with, and the
    generator knows both.
    """
    choices = Drawn(draw)
    return case_of(choices, drawn_aim(choices) if aim is None else aim)
