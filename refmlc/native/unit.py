"""What is generated: one C function per PrimFunc, and what its caller must know.

The C function takes a `rm_run *`, then for each parameter in order what the table says, then the `dims` as int64_t.

| parameter                   | C parameters                                          |
|-----------------------------|-------------------------------------------------------|
| `BufferParam`               | `void *` to the first element, compact or as declared |
| … with `tracked`            | and `uint8_t *` to its shadow, a byte per element     |
| `ScalarParam` of ints, bool | `int64_t` (of uint64: its bits)                       |
| `ScalarParam` of floats     | `double`                                              |

It returns a `Status`. Unless that is `DONE` the caller restores what was written and lets the interpreter run.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import IntEnum
from typing import TypeAlias

from refmlc.diag.source import Span
from refmlc.lang.dtypes import DType
from refmlc.lang.ir import tir
from refmlc.native.options import Grade


class Status(IntEnum):
    """How a call of a generated function ended (the numbers of `rm_guard.h`)."""

    DONE = 0
    CHECK_FAILED = 1
    FUEL_EXHAUSTED = 2
    NO_MEMORY = 3
    OVERLAP = 4
    STOPPED = 5


@dataclass(frozen=True, slots=True)
class BufferParam:
    """A parameter that is a buffer.

    `loaded`, `stored`: whether the function reads, writes it. `tracked`: a shadow is passed, elements that were not
    written may be read only after a write. A buffer that is loaded and not tracked must be initialised by the caller,
    unless `covered`: the function writes every element before it reads it, and has written all when it is done.
    """

    var: tir.Var
    buffer: tir.Buffer
    loaded: bool
    stored: bool
    tracked: bool
    covered: bool


@dataclass(frozen=True, slots=True)
class ScalarParam:
    """A parameter that is a number."""

    var: tir.Var


Param: TypeAlias = BufferParam | ScalarParam


@dataclass(frozen=True, slots=True)
class BlockReport:
    """What became of one block (or of statements outside of any): its grade, and why not the next one.

    `checks` counts the checks that are left; `proofs` says of each that was not needed why; `wanting` says what
    would be needed for the next grade.
    """

    name: str
    span: Span | None
    grade: Grade
    checks: int
    proofs: tuple[str, ...] = ()
    wanting: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Unit:
    """One C function.

    `symbol` is its name in C; `dims` are the variables of shapes, strides and offsets that the caller binds, in the
    order in which they are passed; `result` the dtype of the returned value (in `rm_run`), None: there is none.
    `checks` are all that are made after it began to write, those that belong to no block that stores too.
    """

    name: str
    symbol: str
    params: tuple[Param, ...]
    dims: tuple[tir.Var, ...]
    result: DType | None
    blocks: tuple[BlockReport, ...]
    checks: int = 0

    @property
    def grade(self) -> Grade:
        """The lowest grade of its blocks."""
        return min((block.grade for block in self.blocks), default=Grade.UNCHECKED)


@dataclass(frozen=True, slots=True)
class Declined:
    """Why a function is left to the interpreter, and where."""

    reason: str
    span: Span | None = None


@dataclass(frozen=True, slots=True)
class Source:
    """A translation unit: C text that includes headers of `kernels_c`, and what it holds."""

    text: str
    units: Mapping[str, Unit]
    declined: Mapping[str, Declined]
