"""The decisions of a generator. `below` is the only source, and 0 is always the simplest choice.

| source                          | for                                                               |
|---------------------------------|-------------------------------------------------------------------|
| `SeededChoices` (here)          | sweeps over many programs: quick, the same ones for the same seed |
| `draws.HypothesisChoices`       | properties: Hypothesis decides, and shrinks toward 0              |
"""

from collections.abc import Callable, Iterable, Sequence
from random import Random
from typing import TypeVar

Item = TypeVar("Item")


class Choices:
    """Decisions; `below` is the only source."""

    def below(self, count: int) -> int:
        """A number of 0 … count - 1; 0 is the simplest choice."""
        raise NotImplementedError

    def pick(self, items: Sequence[Item]) -> Item:
        """An item; the first is the simplest."""
        return items[self.below(len(items))]

    def chance(self, percent: int) -> bool:
        """True with probability `percent` / 100; False is simpler."""
        return self.below(100) >= 100 - percent

    def repeat(self, percent: int, most: int, make: Callable[[], object]) -> None:
        """Call `make` up to `most` times, each time with probability `percent` / 100; no call is the simplest."""
        for _ in range(most):
            if not self.chance(percent):
                return
            make()

    def group(self, make: Callable[[], Item]) -> Item:
        """The result of `make`, whose decisions shrink as one: it is a part of a program."""
        return make()

    def several(self, names: Sequence[str], percents: Sequence[int], make: Callable[[str], Item]) -> list[Item]:
        """Parts for the first names, each after the one before with its probability; no part is the simplest."""
        parts: list[Item] = []

        def next_part() -> bool:
            accepted = self.chance(percents[len(parts)])
            if accepted:
                parts.append(make(names[len(parts)]))
            return accepted

        while len(parts) < len(percents) and self.group(next_part):
            pass
        return parts

    def permutation(self, items: Iterable[Item]) -> list[Item]:
        """`items` in any order; their own order is the simplest."""
        remaining, order = list(items), []
        while remaining:
            order.append(remaining.pop(self.below(len(remaining))))
        return order


class SeededChoices(Choices):
    """Decisions of a pseudo-random generator."""

    def __init__(self, seed: int | str) -> None:
        self._random = Random(seed).random  # noqa: S311 - reproducible, not secret

    def below(self, count: int) -> int:
        return int(self._random() * count)

    def pick(self, items: Sequence[Item]) -> Item:
        return items[int(self._random() * len(items))]

    def chance(self, percent: int) -> bool:
        return int(self._random() * 100) >= 100 - percent
