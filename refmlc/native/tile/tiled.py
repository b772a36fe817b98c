"""What the tile generator gives: C text, and what the text needs around it."""

from dataclasses import dataclass

from refmlc.native.text import Line


class NoForm(Exception):
    """There is no tiled form; the text is a clause that follows "not reordered because"."""


@dataclass(frozen=True, slots=True)
class Tiled:
    """A nest as C: a block in braces that uses `run`, `status` and `goto leave`.

    `dtypes`, `headers`, `casts` are what a unit declares before it includes headers, or defines after; `definitions`
    are lines for after the headers, to be kept in order, each once in a unit. `plan` says in words how the nest is
    executed. `memory`: bytes of scratch memory taken from the heap during the block (0: none).
    """

    lines: tuple[Line, ...]
    dtypes: frozenset[str]
    headers: tuple[str, ...]
    casts: frozenset[tuple[str, str]]
    definitions: tuple[str, ...]
    plan: tuple[str, ...]
    memory: int = 0
