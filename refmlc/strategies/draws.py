"""Decisions of Hypothesis: each is an integer drawn, and a smaller one is a simpler program."""

from collections.abc import Callable
from typing import Protocol, TypeVar

from hypothesis import strategies as st

from refmlc.strategies.choices import Choices

Value = TypeVar("Value")
NUMBERS = {count: st.integers(0, count - 1) for count in range(1, 129)}


class Draw(Protocol):
    """The first argument of a function under `@st.composite`."""

    def __call__(self, strategy: st.SearchStrategy[Value], /) -> Value: ...


@st.composite
def _once(draw: Draw, percent: int, make: Callable[[], object]) -> bool:
    """True if `make` was called, in one span of Hypothesis, which shrinks by leaving spans out."""
    accepted = draw(NUMBERS[100]) >= 100 - percent
    if accepted:
        make()
    return accepted


class HypothesisChoices(Choices):
    """Decisions that Hypothesis draws and shrinks."""

    def __init__(self, draw: Draw) -> None:
        self._draw = draw

    def below(self, count: int) -> int:
        if count == 1:
            return 0
        return self._draw(NUMBERS[count] if count in NUMBERS else st.integers(0, count - 1))

    def group(self, make: Callable[[], Value]) -> Value:
        return self._draw(_part(self, make))

    def draw_with(self, draw: Draw, make: Callable[[], Value]) -> Value:
        """The result of `make`, which draws by `draw`."""
        outer, self._draw = self._draw, draw
        try:
            return make()
        finally:
            self._draw = outer

    def repeat(self, percent: int, most: int, make: Callable[[], object]) -> None:
        for _ in range(most):
            if not self._draw(_once(percent, make)):
                return


@st.composite
def _part(draw: Draw, choices: HypothesisChoices, make: Callable[[], Value]) -> Value:
    return choices.draw_with(draw, make)
