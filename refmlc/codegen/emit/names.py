"""C identifiers for names of the IR: the same letters where C allows them, unique in their function."""

import re

TAKEN = frozenset(
    (
        *("auto", "break", "case", "char", "const", "continue", "default", "do", "double", "else", "enum"),
        *("extern", "float", "for", "goto", "if", "inline", "int", "long", "register", "restrict", "return"),
        *("short", "signed", "sizeof", "static", "struct", "switch", "typedef", "union", "unsigned", "void"),
        *("volatile", "while", "bool", "true", "false", "asm", "typeof", "linux", "unix", "run", "status", "leave"),
        *("main", "NULL", "INFINITY", "NAN", "memset", "fma", "fmaf", "size_t", "uintptr_t", "intptr_t"),
        *(f"{sign}int{bits}_t" for sign in ("", "u") for bits in (8, 16, 32, 64)),
    )
)
"""Words of C, and what generated functions use themselves."""
MACROS = ("rm_", "RM_", "_", "INT", "UINT", "M_", "FP_", "HUGE_", "EXIT_", "RAND_", "MB_", "SIZE_", "PTRDIFF_")


class Names:
    """The identifiers that are taken in one C function."""

    def __init__(self) -> None:
        """Nothing is taken but what C and the generated frame use."""
        self._taken = set(TAKEN)
        self._numbers: dict[str, int] = {}

    def new(self, wanted: str) -> str:
        """An identifier like `wanted` that was not given out before."""
        base = identifier(wanted)
        name, number = base, self._numbers.get(base, 0)
        while name in self._taken:
            number += 1
            name = f"{base}_{number}"
        self._numbers[base] = number
        self._taken.add(name)
        return name


def identifier(text: str) -> str:
    """`text` with everything that C does not allow replaced; never one of the names that headers use (`rm_`, `RM_`)."""
    plain = re.sub(r"[^A-Za-z0-9_]", "_", text) or "v"
    return f"v_{plain}" if plain[0].isdigit() or plain.startswith(MACROS) else plain
