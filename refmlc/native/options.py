"""What the generator may do.

| grade       | the loop nest                                                                                       |
|-------------|-----------------------------------------------------------------------------------------------------|
| `GUARDED`   | as written; what is not proved is checked where it happens, the first violation ends the call       |
| `UNCHECKED` | as written; everything is proved                                                                    |
| `REORDERED` | everything is proved, spatial iterations in another order; the reduction of each element as written |

| instruction set | bytes of a vector | vector registers |
|-----------------|-------------------|------------------|
| `avx512`        | 64                | 32               |
| `avx512halves`  | 64                | 32               |
| `avx2`          | 32                | 16               |
| `neon`          | 16                | 32               |
| `sse2`          | 16                | 16               |
| `none`          | no vectors        |                  |

`avx512halves` is AVX-512 where the processor executes the whole width in two halves: a load that repeats a number in
all lanes then takes the time of an addition, and multiplications do it on the way (`RM_SPLIT_REGISTERS`, rm_vector.h).
Zen 4, matmul 512³, in turn on a busy machine: 3.1 ms; with such loads 3.7 ms; with vectors of half the width 4.1 ms.
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
    """An instruction set: its name, bytes of a vector (0: none), how many vector registers, the compiler's flags."""

    name: str
    vector_bytes: int
    registers: int
    flags: tuple[str, ...]


_AVX512 = ("-mavx512f", "-mavx512bw", "-mavx512dq", "-mavx512vl", "-mavx2", "-mf16c")


ISAS: Mapping[str, Isa] = {
    isa.name: isa
    for isa in (
        Isa("avx512", 64, 32, (*_AVX512, "-mprefer-vector-width=512")),
        Isa("avx512halves", 64, 32, (*_AVX512, "-mprefer-vector-width=512", "-DRM_SPLIT_REGISTERS")),
        Isa("avx2", 32, 16, ("-mavx2", "-mf16c")),
        Isa("sse2", 16, 16, ()),
        Isa("neon", 16, 32, ()),
        Isa("none", 0, 0, ()),
    )
}


@dataclass(frozen=True, slots=True)
class Options:
    """What may be generated. `best` is the highest grade; `math` chooses the transcendentals (NUM-501).

    `threads`: on how many threads a nest may run whose iterations may move.
    """

    best: Grade = Grade.REORDERED
    isa: Isa = ISAS["none"]
    math: Math = "cr"
    threads: int = 1
