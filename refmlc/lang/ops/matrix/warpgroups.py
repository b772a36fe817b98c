"""The forms of `wgmma.mma_async`: D = A * B + D with 64 rows, by the 128 threads of a warpgroup (TIM-011, TIM-014).

| elements of A and B | k   | n                              | D          | options                           |
|---------------------|-----|--------------------------------|------------|-----------------------------------|
| f16                 | 16  | 8, 16, … 256                   | f16 or f32 | signs; A and B by the other index |
| bf16                | 16  | 8, 16, … 256                   | f32        | the same                          |
| tf32                | 8   | 8, 16, … 256                   | f32        | signs                             |
| e4m3, e5m2          | 32  | 8, 16, … 256                   | f16 or f32 | signs                             |
| s8, u8              | 32  | 8, 16, 24, 32, 48, … 224       | s32        | satfinite                         |
| b1                  | 256 | the same, and 240, 256         | s32        | none                              |

Each warp has 16 rows of A and D. A is in registers, or in shared memory as B is.

Source: PTX ISA, wgmma.mma_async; TVM 0.27: the table of PTX instructions.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from refmlc.lang.dtypes import DType
from refmlc.lang.ops.matrix.forms import ELEMENTS, NoSuchForm

WARPS, WARP_ROWS = 4, 16
REGISTER = 32
EVERY_N = tuple(range(8, 257, 8))
INTEGER_N = (8, 16, 24, *range(32, 225, 16))
WORDS = re.compile(
    r"mma_async sync aligned m64n(?P<n>\d{1,3})k(?P<k>\d{1,3}) (?P<saturates>satfinite )?"
    r"(?P<d>\w+) (?P<a>\w+) (?P<b>\w+)(?P<bits> and_? popc)?"
)


@dataclass(frozen=True, slots=True)
class WarpgroupKind:
    """What the dtype of the elements decides. `options`: signs, and layouts by the other index."""

    elements: tuple[str, ...]
    k: int
    columns: Sequence[int]
    sums: tuple[str, ...]
    signs: bool
    layouts: bool


KINDS = (
    WarpgroupKind(("f16",), 16, EVERY_N, ("f16", "f32"), signs=True, layouts=True),
    WarpgroupKind(("bf16",), 16, EVERY_N, ("f32",), signs=True, layouts=True),
    WarpgroupKind(("tf32",), 8, EVERY_N, ("f32",), signs=True, layouts=False),
    WarpgroupKind(("e4m3", "e5m2"), 32, EVERY_N, ("f16", "f32"), signs=True, layouts=False),
    WarpgroupKind(("s8", "u8"), 32, INTEGER_N, ("s32",), signs=False, layouts=False),
    WarpgroupKind(("b1",), 256, (*INTEGER_N, 240, 256), ("s32",), signs=False, layouts=False),
)


@dataclass(frozen=True, slots=True)
class WarpgroupForm:
    """A form, by the names of PTX; its `sizes` are those of one warp's part."""

    n: int
    k: int
    d: str
    a: str
    b: str
    saturates: bool = False

    def __post_init__(self) -> None:
        """Fails: NoSuchForm where PTX has no such form."""
        kind = self.kind
        if self.b not in kind.elements or (self.n, self.k) not in {(n, kind.k) for n in kind.columns}:
            raise NoSuchForm(f"no product of {self.a} and {self.b} in the shape m64n{self.n}k{self.k}")
        if self.d not in kind.sums or (self.saturates and self.a not in ("s8", "u8")):
            raise NoSuchForm(f"sums in {self.d}{' with satfinite' if self.saturates else ''} of {self.a}")

    @classmethod
    def of(cls, modifiers: Sequence[str]) -> "WarpgroupForm":
        """The form of an instruction with these modifiers. Fails: NoSuchForm."""
        match = WORDS.fullmatch(" ".join(modifiers))
        if match is None or (match["bits"] is not None) != (match["a"] == "b1"):
            raise NoSuchForm(f"the modifiers {' '.join(modifiers)[:100]}")
        n, k = int(match["n"]), int(match["k"])
        return cls(n, k, match["d"], match["a"], match["b"], match["saturates"] is not None)

    @property
    def kind(self) -> WarpgroupKind:
        """What the elements of A decide. Fails: NoSuchForm."""
        for kind in KINDS:
            if self.a in kind.elements:
                return kind
        raise NoSuchForm(f"elements of {self.a[:20]}")

    @property
    def c(self) -> str:
        """The elements of the third matrix, which D is too."""
        return self.d

    @property
    def bit_operator(self) -> str:
        """How two bits are one; empty where elements are numbers."""
        return "and" if self.a == "b1" else ""

    @property
    def a_layout(self) -> str:
        """A is by rows, as registers have it."""
        return "row"

    @property
    def b_layout(self) -> str:
        """B is by columns."""
        return "col"

    @property
    def in_quads(self) -> bool:
        """It is one product."""
        return False

    @property
    def sizes(self) -> tuple[int, int, int]:
        """The extents m, n and k of the part of a warp."""
        return WARP_ROWS, self.n, self.k

    @property
    def sum_registers(self) -> int:
        """How many registers of 32 bits a thread has of D."""
        return self.n * ELEMENTS[self.d].bits // (2 * REGISTER)

    def element(self, matrix: str) -> DType:
        """The dtype of the elements of `matrix`: a, b, c or d."""
        names: Mapping[str, str] = {"a": self.a, "b": self.b, "c": self.d, "d": self.d}
        return ELEMENTS[names[matrix]]
