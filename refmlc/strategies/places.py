"""A distinct span for each node of a generated function, so that findings can be distinguished."""

from functools import lru_cache
from typing import TypeVar

from refmlc.diag.source import Source, Span
from refmlc.lang.ir.node import Node
from refmlc.lang.ir.visit import MAPPING, NODE, SORTS, TUPLE, Values, getter

N = TypeVar("N", bound=Node)
GENERATED = Source("generated", "")
PLAIN = frozenset(("name", "dtype", "op", "kind", "pointer", "message", "scope", "key"))  # an `op` may be shared
SET_SPAN = Node.__dict__["span"].__set__  # nodes are frozen


def place_nodes(node: N) -> N:
    """`node` with spans on it and below, parents first. It must be new and share no node with another program.

    Decision: the nodes are changed in place: building them again takes longer than the rest of the generation.
    """
    visited: set[int] = set()
    stack: list[object] = [node]
    while stack:
        current = stack.pop()
        sort = SORTS[type(current)]
        if sort == NODE:
            if id(current) in visited:
                continue
            visited.add(id(current))
            SET_SPAN(current, _place(len(visited)))
            stack += _inner(type(current))(current)  # type: ignore[arg-type]  # the sort says so; a cast takes time here
        elif sort == TUPLE:
            stack += current  # type: ignore[arg-type]  # the same
        elif sort == MAPPING:
            stack += current.items()  # type: ignore[attr-defined]  # the same
    return node


@lru_cache(maxsize=4096)
def _place(number: int) -> Span:
    """The span of a node: a separate line."""
    return Span(GENERATED, number, 0, number, 1)


@lru_cache(maxsize=128)
def _inner(kind: type) -> Values:
    """Reads the fields of a node kind that can hold nodes with spans."""
    names: tuple[str, ...] = kind.__match_args__  # type: ignore[attr-defined]  # nodes are dataclasses
    return getter([name for name in names if name not in PLAIN])
