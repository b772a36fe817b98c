"""Which variables and buffers are visible: a stack of definitions.

A definition is visible from where it stands to the end of the construct that it stands in. What is still known after
that end is remembered, so that a message can say where it was defined.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Generic, TypeVar

from refmlc.lang.ir.node import Node

N = TypeVar("N", bound=Node)


class Scope(Generic[N]):
    """The definitions visible at one point, and those that were visible before."""

    def __init__(self) -> None:
        self._stack: list[N] = []
        self._visible: dict[N, int] = {}
        self.known: set[N] = set()

    def __contains__(self, node: N) -> bool:
        """Whether `node` is visible here."""
        return self._visible.get(node, 0) > 0

    def define(self, node: N) -> None:
        """Make `node` visible until the innermost `inner` ends."""
        self._stack.append(node)
        self._visible[node] = self._visible.get(node, 0) + 1
        self.known.add(node)

    def end(self, node: N) -> None:
        """`node` is not visible from here on."""
        self._visible[node] = 0

    @contextmanager
    def inner(self) -> Iterator[None]:
        """A scope: definitions inside end with it."""
        mark = len(self._stack)
        yield
        for node in self._stack[mark:]:
            self._visible[node] = max(0, self._visible[node] - 1)
        del self._stack[mark:]
