"""Decisions of Hypothesis: each is an integer drawn, and a smaller one is a simpler program."""

from collections.abc import Callable
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


@st.composite
def _once(draw: Draw, percent: int, make: Callable[[], object]) -> bool:
    """Whether to do it, and what is drawn then: one thing to Hypothesis, which drops such things as a whole."""
    accepted = draw(NUMBERS[100]) >= 100 - percent
    if accepted:
        make()
    return accepted


class HypothesisChoices(Choices):
    """Decisions of Hypothesis."""

    def __init__(self, draw: Draw) -> None:
        self._draw = draw

    def below(self, count: int) -> int:
        """A number of 0 … count - 1; Hypothesis shrinks it toward 0."""
        if count == 1:
            return 0
        return self._draw(NUMBERS[count] if count in NUMBERS else st.integers(0, count - 1))

    def group(self, make: Callable[[], Value]) -> Value:
        """What `make` makes: a span to Hypothesis, which shrinks by leaving spans out."""
        return self._draw(_part(self, make))

    def draw_with(self, draw: Draw, make: Callable[[], Value]) -> Value:
        """What `make` makes with `draw` in place of the usual one."""
        outer, self._draw = self._draw, draw
        try:
            return make()
        finally:
            self._draw = outer

    def repeat(self, percent: int, most: int, make: Callable[[], object]) -> None:
        """As in `Choices`; each time is one thing, which Hypothesis may drop."""
        for _ in range(most):
            if not self._draw(_once(percent, make)):
                return


@st.composite
def _part(draw: Draw, choices: HypothesisChoices, make: Callable[[], Value]) -> Value:
    return choices.draw_with(draw, make)
