"""The oracle's subject: a program with arguments for one or more calls.

`refmlc.strategies.Case` is one; `refmlc check` makes its own from files and options.
"""

from collections.abc import Sized
from typing import Protocol

from refmlc.lang.ir import IRModule


class Program(Protocol):
    """A module, the function that is called, and the arguments of each call."""

    @property
    def module(self) -> IRModule:
        """The module."""
        ...

    @property
    def func(self) -> str:
        """The function that is called."""
        ...

    @property
    def calls(self) -> Sized:
        """The calls: there are as many as this has parts."""
        ...

    @property
    def name(self) -> str:
        """What messages call it; may be empty."""
        ...

    def arguments(self, number: int = 0) -> list[object]:
        """The arguments of call `number`, fresh ones each time."""
        ...
