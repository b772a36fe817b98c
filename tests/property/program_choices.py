"""Where a generator's decisions come from: Hypothesis, which shrinks them, or a seed, which is quick.

| source   | for                                                              |
|----------|------------------------------------------------------------------|
| `Drawn`  | properties: a smaller number is a simpler program                |
| `Rolled` | sweeps over many programs, the same ones for the same seed       |
"""

from random import Random

from hypothesis import strategies as st

NUMBERS = {count: st.integers(0, count - 1) for count in range(1, 129)}


class Choices:
    """Decisions; `below` is the only source."""

    def below(self, count):
        """A number of 0 … count - 1; 0 is the simplest choice."""
        raise NotImplementedError

    def pick(self, items):
        """One of `items`, the simplest first."""
        return items[self.below(len(items))]

    def chance(self, percent):
        """True in so many cases of a hundred; False is simpler."""
        return self.below(100) >= 100 - percent

    def permutation(self, items):
        """`items` in some order; the given one is the simplest."""
        left, order = list(items), []
        while left:
            order.append(left.pop(self.below(len(left))))
        return order


class Drawn(Choices):
    """Decisions of Hypothesis."""

    def __init__(self, draw) -> None:
        self._draw = draw

    def below(self, count):
        return self._draw(NUMBERS[count] if count in NUMBERS else st.integers(0, count - 1))


class Rolled(Choices):
    """Decisions of a pseudo-random generator."""

    def __init__(self, seed) -> None:
        self._random = Random(seed)  # noqa: S311 - reproducible, not secret

    def below(self, count):
        return self._random.randrange(count)
