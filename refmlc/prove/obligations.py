"""Obligations: what must hold for the executed operations to be defined, each under the conditions it was met under.

| kind       | must hold                                                       | key                          |
|------------|-----------------------------------------------------------------|------------------------------|
| `defined`  | an operator has a value for these operands                      | the term                     |
| `argument` | the caller has initialised an element of an argument            | the argument, the element    |
| `writable` | the memory of an argument is not read-only (RM313)              | the argument                 |
| `place`    | an index that depends on values lies within an extent           | the index, the extent        |
| `element`  | the element at such an index is initialised                     | the term that reads it       |
| `holds`    | a condition that the program asserts or assumes                 | the condition                |

Wherever the first program is defined, its own obligations hold. So one of the second program is discharged if the first
has the same one under conditions that are among those of the second. One under a condition, and under its opposite, is
one without it.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TypeAlias

from refmlc.diag.source import Span

Conditions: TypeAlias = frozenset[tuple[int, bool]]
"""Conditions, by the numbers of their terms, each with the side that is taken."""


@dataclass(frozen=True)
class Obligation:
    """One obligation. `text` says in words what must hold."""

    kind: str
    key: object
    conditions: Conditions
    text: str
    span: Span | None = None


class Obligations:
    """The obligations of one execution, each kept once."""

    def __init__(self) -> None:
        self._by_key: dict[tuple[str, object], dict[Conditions, Obligation]] = {}

    def add(self, obligation: Obligation) -> None:
        """Add an obligation, unless one with fewer conditions is there."""
        same = self._by_key.setdefault((obligation.kind, obligation.key), {})
        if any(conditions <= obligation.conditions for conditions in same):
            return
        same[obligation.conditions] = obligation
        for term, side in obligation.conditions:
            others = obligation.conditions - {(term, side)}
            if others | {(term, not side)} in same:
                self.add(replace(obligation, conditions=others))
                return

    def __iter__(self) -> Iterator[Obligation]:
        return (obligation for same in self._by_key.values() for obligation in same.values())

    def __len__(self) -> int:
        return sum(len(same) for same in self._by_key.values())

    def implies(self, obligation: Obligation) -> bool:
        """True if `obligation` holds wherever these do."""
        same = self._by_key.get((obligation.kind, obligation.key), {})
        return any(conditions <= obligation.conditions for conditions in same)
