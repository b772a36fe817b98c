"""Identifiers of a tiled block: none that the texts of its cells use, and the same ones again in each tile."""

import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_RESERVED = frozenset(
    (
        *("auto", "break", "case", "char", "const", "continue", "default", "do", "double", "else", "enum", "extern"),
        *("float", "for", "goto", "if", "inline", "int", "long", "register", "restrict", "return", "short", "signed"),
        *("sizeof", "static", "struct", "switch", "typedef", "union", "unsigned", "void", "volatile", "while"),
        *("asm", "bool", "true", "false", "typeof", "linux", "unix", "run", "status", "leave"),
        *("free", "memcpy", "NAN", "INFINITY", "NULL"),
    )
)


def words(texts: Iterable[str]) -> frozenset[str]:
    """The identifiers in C texts."""
    return frozenset(word for text in texts for word in _WORD.findall(text))


class Names:
    """Identifiers that are taken, by scopes."""

    def __init__(self, taken: Iterable[str]) -> None:
        """`taken` are used by what is around the block."""
        self._taken = _RESERVED.union(taken)

    def new(self, wanted: str) -> str:
        """An identifier like `wanted` that is free."""
        plain = re.sub(r"[^A-Za-z0-9_]", "_", wanted)
        base = plain if plain[:1].isalpha() and not plain.startswith(("rm_", "RM_")) else f"v_{plain}"
        name, number = base, 1
        while name in self._taken:
            name, number = f"{base}_{number}", number + 1
        self._taken |= {name}
        return name

    @contextmanager
    def scope(self) -> Iterator[None]:
        """Identifiers given out here are free again afterwards."""
        before = self._taken
        try:
            yield
        finally:
            self._taken = before
