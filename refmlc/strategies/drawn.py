"""Decisions of Hypothesis: each is an integer drawn, and a smaller one is a simpler program."""

from typing import Protocol, TypeVar

from hypothesis import strategies as st

from refmlc.strategies.choices import Choices

Value = TypeVar("Value")
NUMBERS = {count: st.integers(0, count - 1) for count in range(1, 129)}


class Draw(Protocol):
    """What `@st.composite` gives a function to draw with."""

    def __call__(self, strategy: st.SearchStrategy[Value], /) -> Value:
        """A value of the strategy."""
        ...


class Drawn(Choices):
    """Decisions of Hypothesis."""

    def __init__(self, draw: Draw) -> None:
        """Draw with `draw`."""
        self._draw = draw

    def below(self, count: int) -> int:
        """A number of 0 … count - 1; Hypothesis shrinks it toward 0."""
        if count == 1:
            return 0
        return self._draw(NUMBERS[count] if count in NUMBERS else st.integers(0, count - 1))
