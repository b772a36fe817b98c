"""What every node has: the place it was read from."""

from dataclasses import dataclass, field
from typing import TypeVar, dataclass_transform

from refmlc.diag import Span

C = TypeVar("C")


@dataclass_transform(eq_default=False, frozen_default=True, field_specifiers=(field,))
def node(cls: type[C]) -> type[C]:
    """Make `cls` a node: an immutable dataclass that is compared by identity."""
    return dataclass(frozen=True, slots=True, eq=False)(cls)


@node
class Node:
    """A node of the IR."""

    span: Span | None = field(default=None, kw_only=True, repr=False)
