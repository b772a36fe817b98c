"""A place of its own for each node of a generated function, so that findings can be told apart."""

from collections.abc import Mapping
from functools import lru_cache
from typing import TypeVar

from refmlc.diag.source import Source, Span
from refmlc.ir.node import Node
from refmlc.ir.visit import field_names

N = TypeVar("N", bound=Node)
GENERATED = Source("generated", "")


def placed(node: N) -> N:
    """`node`, which is new and nobody else's, with spans on it and below. Order: parents first.

    Decision: the nodes are changed in place. They were made a moment ago by the generator, which shares none with
    another program; to build them anew takes longer than all the rest of the generation.
    """
    seen: set[int] = set()
    stack: list[object] = [node]
    while stack:
        here = stack.pop()
        if isinstance(here, Node):
            if id(here) in seen:
                continue
            seen.add(id(here))
            object.__setattr__(here, "span", _place(len(seen)))
            for name in _inner(field_names(here)):
                part = getattr(here, name)
                if part is not None:
                    stack.append(part)
        elif isinstance(here, tuple):
            stack.extend(here)
        elif isinstance(here, Mapping):
            stack.extend(here.items())
    return node


@lru_cache(maxsize=4096)
def _place(number: int) -> Span:
    """The place of a node: a line that is its own."""
    return Span(GENERATED, number, 0, number, 1)


@lru_cache(maxsize=128)
def _inner(fields: tuple[str, ...]) -> tuple[str, ...]:
    """Those fields of a kind of node that may hold others."""
    plain = {"name", "dtype", "op", "kind", "pointer", "message", "scope", "key"}
    return tuple(name for name in fields if name not in plain)
