"""What is below a node, found in one walk that all analyses of it share.

Most analyses look for a few kinds of nodes, and most functions have none of them: a search that finds no node costs
no walk, but for the first one of a tree. Nodes are immutable, so what is known of one stays true.
"""

from functools import lru_cache
from typing import TypeVar, overload

from refmlc.lang.ir.node import Node
from refmlc.lang.ir.visit import walk

A = TypeVar("A", bound=Node)
B = TypeVar("B", bound=Node)
C = TypeVar("C", bound=Node)
LATEST = 512
"""Trees whose nodes are kept."""


class Subtree:
    """The nodes of a tree as `walk` gives them, and those of some kinds, which are looked for once."""

    __slots__ = ("_of_kinds", "classes", "nodes")

    def __init__(self, root: Node) -> None:
        """The tree of `root`, itself among its nodes."""
        self.nodes = tuple(walk(root))
        self.classes = frozenset(map(type, self.nodes))
        self._of_kinds: dict[tuple[type[Node], ...], tuple[Node, ...]] = {}

    def of(self, *kinds: type[Node]) -> tuple[Node, ...]:
        """The nodes of any of these classes. Order: of `walk`."""
        found = self._of_kinds.get(kinds)
        if found is None:
            classes = {each for each in self.classes if issubclass(each, kinds)}
            found = tuple([node for node in self.nodes if type(node) in classes]) if classes else ()
            self._of_kinds[kinds] = found
        return found


@lru_cache(maxsize=LATEST)
def subtree(root: Node) -> Subtree:
    """What is below `root`. Cached for the latest trees: analyses and tiers share it."""
    return Subtree(root)


def nodes_in(root: Node) -> tuple[Node, ...]:
    """`root` and every node below it. Order: of `walk`."""
    return subtree(root).nodes


@overload
def nodes_of(root: Node, first: type[A], /) -> tuple[A, ...]: ...


@overload
def nodes_of(root: Node, first: type[A], second: type[B], /) -> tuple[A | B, ...]: ...


@overload
def nodes_of(root: Node, first: type[A], second: type[B], third: type[C], /) -> tuple[A | B | C, ...]: ...


def nodes_of(root: Node, /, *kinds: type[Node]) -> tuple[Node, ...]:
    """The nodes in the tree of `root` that are of any of these classes, `root` too. Order: of `walk`."""
    return subtree(root).of(*kinds)
