"""What the generator may do.

| grade       | the loop nest                                                                                    |
|-------------|--------------------------------------------------------------------------------------------------|
| `GUARDED`   | as written; what is not proved is checked where it happens, the first violation ends the call      |
| `UNCHECKED` | as written; everything is proved                                                                  |
| `REORDERED` | everything is proved, spatial iterations in another order; the reduction of each element as written |

| instruction set | bytes of a vector register |
|-----------------|----------------------------|
| `avx512`        | 64                         |
| `avx2`          | 32                         |
| `sse2`, `neon`  | 16                         |
| `none`          | no vectors                 |
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import IntEnum
from typing import Literal, TypeAlias

Math: TypeAlias = Literal["cr", "libm"]


class Grade(IntEnum):
    """How freely a block is executed. Higher is faster, and needs more to be proved."""

    GUARDED = 1
    UNCHECKED = 2
    REORDERED = 3


@dataclass(frozen=True, slots=True)
class Isa:
    """An instruction set: its name, bytes of a vector register (0: none), and the compiler's flags for it."""

    name: str
    vector_bytes: int
    flags: tuple[str, ...]


ISAS: Mapping[str, Isa] = {
    isa.name: isa
    for isa in (
        Isa(
            "avx512",
            64,
            ("-mavx512f", "-mavx512bw", "-mavx512dq", "-mavx512vl", "-mavx2", "-mf16c", "-mprefer-vector-width=512"),
        ),
        Isa("avx2", 32, ("-mavx2", "-mf16c")),
        Isa("sse2", 16, ()),
        Isa("neon", 16, ()),
        Isa("none", 0, ()),
    )
}


@dataclass(frozen=True, slots=True)
class Options:
    """What may be generated. `best` is the highest grade; `math` chooses the transcendentals (NUM-501)."""

    best: Grade = Grade.REORDERED
    isa: Isa = ISAS["none"]
    math: Math = "cr"
