"""A variant: a program that says the same as another one in other words."""

from collections.abc import Callable, Sequence, Sized
from dataclasses import dataclass

from refmlc.lang.ir import IRModule
from refmlc.oracle.implementations.implementation import Ended
from refmlc.oracle.program import Program


@dataclass(frozen=True)
class Variant:
    """`base` said otherwise, as `label` says. `more` makes the arguments that come after those of the base."""

    base: Program
    module: IRModule
    label: str
    more: Callable[[], Sequence[object]] = tuple
    calls: Sized = ()

    @property
    def func(self) -> str:
        """The function that is called."""
        return self.base.func

    @property
    def name(self) -> str:
        """What messages call it."""
        return f"{self.base.name or self.base.func}, {self.label}"

    def arguments(self, number: int = 0) -> list[object]:
        """The arguments of the base, and those that the variant has besides."""
        return [*self.base.arguments(number), *self.more()]

    def without_more(self, ended: Ended) -> Ended:
        """The answer to a call in the form of the base program."""
        more = len(self.more())
        return Ended(ended.value, ended.args[: len(ended.args) - more]) if more else ended
