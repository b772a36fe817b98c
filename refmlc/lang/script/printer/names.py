"""A name for each variable: its own, made a Python name, with `_1`, `_2` … where it is taken.

A scope ends with the statement that opened it: names of its variables may be used again.
"""

import keyword
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager

from refmlc.lang.ir.node import Node
from refmlc.lang.script.spellings import PRELUDE

RESERVED = frozenset((*keyword.kwlist, *keyword.softkwlist, *PRELUDE, "I", "cls", "range", "float", "int", "bool"))
"""Names that mean something in every text."""

_FOREIGN = re.compile(r"[^A-Za-z0-9_]")


def python_name(name: str) -> str:
    """`name` with what Python does not allow in a name replaced by `_`."""
    plain = _FOREIGN.sub("_", name)
    return f"v{plain}" if not plain or plain[0].isdigit() else plain


class Names:
    """The names in scope, one per object."""

    def __init__(self, taken: Iterable[str] = ()) -> None:
        """`taken` are names that no variable gets."""
        self.taken = {*RESERVED, *taken}
        self.of: dict[int, str] = {}
        self.holders: Counter[str] = Counter()  # how many nodes have a name
        self.frames: list[list[int]] = [[]]
        self.kept: list[Node] = []  # an id is unique only while its object lives

    def define(self, node: Node, name: str, *, avoid: Collection[str] = ()) -> str:
        """The name of `node` from here on, none of `avoid`. A node that has one keeps it."""
        known = self.of.get(id(node))
        if known is not None:
            return known
        result = self.free(name, avoid)
        self.give(node, result)
        return result

    def free(self, name: str, avoid: Collection[str] = ()) -> str:
        """A name that is free: `name` itself, or with a number."""
        stem = python_name(name)
        result, number = stem, 0
        while result in self.taken or result in avoid:
            number += 1
            result = f"{stem}{number}" if stem == "_" else f"{stem}_{number}"
        return result

    def give(self, node: Node, text: str) -> None:
        """Let `node` be called `text` in this scope, whatever else is."""
        self.taken.add(text)
        self._drop(id(node))
        self.of[id(node)] = text
        self.holders[text] += 1
        self.kept.append(node)
        self.frames[-1].append(id(node))

    def get(self, node: Node) -> str | None:
        """The name of `node`, None where it is not in scope."""
        return self.of.get(id(node))

    @contextmanager
    def frame(self) -> Iterator[None]:
        """A scope."""
        self.frames.append([])
        try:
            yield
        finally:
            for key in self.frames.pop():
                text = self._drop(key)
                if not self.holders[text]:
                    self.taken.discard(text)

    def _drop(self, key: int) -> str:
        """Forget the name of a node, and give it back."""
        text = self.of.pop(key, "")
        self.holders[text] -= bool(text)
        return text
