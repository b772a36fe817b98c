"""A known name that resembles a misspelt one: the `help` of messages about unknown names."""

import difflib
from collections.abc import Iterable

LONGEST = 80


def similar(name: str, known: Iterable[str]) -> str | None:
    """The name in `known` that is most like `name`; None where none is."""
    if len(name) > LONGEST:
        return None
    matches = difflib.get_close_matches(name, sorted(known), 1)
    return matches[0] if matches else None


def suggestion(name: str, known: Iterable[str], prefix: str = "") -> tuple[str, ...]:
    """The `helps` of a diagnostic on the unknown `name`; `prefix` stands before the name that is proposed."""
    match = similar(name, known)
    return () if match is None else (f"a name like it is `{prefix}{match}`",)
