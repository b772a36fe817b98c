"""The program of a number: a function, a graph over functions, or a function with rewrites of it.

| kind        | the program                                                     |
|-------------|-----------------------------------------------------------------|
| `functions` | a prim_func (`refmlc.strategies.rolled`)                        |
| `graphs`    | a function of Relax over prim_funcs (`rolled_module`)           |
| `schedules` | a prim_func, and legal rewrites of it that must agree with it   |

Most programs are small: faults show in small programs, and of these there are many more in an hour. Of a hundred
decisions `thrift` take the simplest choice unasked; one program in `WHOLE` is as large as the generator makes them.
"""

from collections.abc import Sequence
from dataclasses import replace
from random import Random
from typing import TypeVar

from refmlc.fuzz.settings import ANY, Settings
from refmlc.strategies.case import Case
from refmlc.strategies.choices import Choices, Rolled
from refmlc.strategies.functions import case_of, drawn_aim

Item = TypeVar("Item")
WHOLE = 16
MANY = 6


class Thrifty(Choices):
    """Decisions of a pseudo-random generator, so many of a hundred the simplest."""

    def __init__(self, seed: int, thrift: int) -> None:
        """Begin at `seed`."""
        self._random = Random(seed).random  # noqa: S311 - reproducible, not secret
        self._other = 1 - thrift / 100

    def pick(self, items: Sequence[Item]) -> Item:
        """One of `items`, mostly the first; of a long list (dtypes, operators) any."""
        return items[int(self._random() * len(items))] if len(items) > MANY else items[self.below(len(items))]

    def below(self, count: int) -> int:
        """A number of 0 … count - 1, mostly 0."""
        drawn = self._random()
        return int(drawn / self._other * count) if drawn < self._other else 0


def program(settings: Settings, number: int) -> Case:
    """The case of program `number`."""
    seed = settings.seed_of(number)
    choices = Rolled(seed) if seed % WHOLE == 0 else Thrifty(seed, settings.thrift)
    aim = drawn_aim(choices) if settings.aim == ANY else settings.aim
    return replace(case_of(choices, aim), name=f"seed{seed}")
