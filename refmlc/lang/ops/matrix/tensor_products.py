"""The forms of `tcgen05.mma`: D = A * B + D with D in tensor memory (TIM-016, TIM-017, TIM-018).

A descriptor of 32 bits says what the modifiers leave open:

| bits    | of all kinds                           | of scaled kinds                                |
|---------|----------------------------------------|------------------------------------------------|
| 2       | whether A is sparse: 0                 | the same                                       |
| 3       | whether integers saturate              |                                                |
| 4, 5    | D: 0 f16, 1 f32, 2 s32                 | the first byte of a scale of B in its column   |
| 7 … 9   | the elements of A, see `KINDS`         | the same                                       |
| 10 … 12 | those of B                             | the same                                       |
| 13, 14  | whether A, B are negated               | the same                                       |
| 15, 16  | whether A, B are by the other index    | the same                                       |
| 17 … 22 | n in units of 8                        | the same                                       |
| 23      |                                        | scales: 0 ue4m3, 1 ue8m0                       |
| 24 … 28 | m in units of 16                       | the same                                       |
| 29, 30  | the shift of `ws`, bits 30 and 31: 0   | the first byte of a scale of A in its column   |

Where D is, for rows r and columns c, with `group` blocks that have m / group rows each:

| group | m   | `ws` | lane of row r of a block       | lanes that a bank of columns adds              |
|-------|-----|------|--------------------------------|------------------------------------------------|
| 1     | 128 |      | r                              | one bank                                       |
| 1     | 64  | no   | 32 (r div 16) + r mod 16       | one bank                                       |
| 1     | 64  | yes  | r                              | 64 for the second half of the columns          |
| 1     | 32  | yes  | r                              | 32, 64, 96 for the second to fourth quarter    |
| 2     | 256 |      | r                              | one bank                                       |
| 2     | 128 |      | r                              | 64 for the second half of the columns          |

Source: PTX ISA, tcgen05: instruction descriptor, data path layouts, kinds and shapes; TVM 0.27: the code of its
encoders of descriptors, `tmem_datapath_layout`, and its tests of `gemm_async` on a device.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from refmlc.lang.dtypes import SCALARS, DType
from refmlc.lang.ops.matrix.forms import ELEMENTS, NoSuchForm

F8 = {0: "e4m3", 1: "e5m2"}
SUMS = {0: "f16", 1: "f32", 2: "s32"}
UNUSED, UNUSED_SCALED = 1 << 6 | 1 << 23 | 7 << 29, 15 | 1 << 6 | 1 << 31
"""The bits that have to be zero; those of sparse products and of shifts are among them."""
SPARSE = 7
SCALE_TYPES = ("e4m3", "e8m0")
SCALES: Mapping[str, DType] = {"e4m3": SCALARS["float8_e4m3fn"], "e8m0": SCALARS["float8_e8m0fnu"]}


@dataclass(frozen=True, slots=True)
class TensorKind:
    """What a kind says: the elements by their numbers, the extent of k, and the dtypes of D."""

    elements: Mapping[int, str]
    k: int
    sums: tuple[str, ...]
    scales: Mapping[int, tuple[str, ...]]
    turns: bool = True


KINDS: Mapping[str, TensorKind] = {
    "f16": TensorKind({0: "f16", 1: "bf16"}, 16, ("f32",), {}),
    "tf32": TensorKind({2: "tf32"}, 8, ("f32",), {}, turns=False),
    "f8f6f4": TensorKind(F8, 32, ("f32",), {}),
    "i8": TensorKind({0: "u8", 1: "s8"}, 32, ("s32",), {}),
    "mxf8f6f4": TensorKind(F8, 32, ("f32",), {1: ("e8m0",)}),
    "mxf4": TensorKind({1: "e2m1"}, 64, ("f32",), {2: ("e8m0",)}, turns=False),
    "mxf4nvf4": TensorKind({1: "e2m1"}, 64, ("f32",), {2: ("e8m0",), 4: ("e4m3",)}, turns=False),
}
"""Decision: D of f16, and elements of f8f6f4 of fewer than 8 bits, are not executed: their places are not known."""
SHAPES: Mapping[tuple[int, int], int] = {(1, 64): 8, (1, 128): 16, (2, 128): 32, (2, 256): 32}
SHAPES_SCALED: Mapping[tuple[int, int], int] = {(1, 128): 8, (2, 256): 16}
SHAPES_STATIONARY = ((32, 64, 128), (64, 128, 256))
INTEGER_N = {8, 16, 24, *range(32, 257, 16)}
MOST_N = 256


@dataclass(frozen=True, slots=True)
class TensorForm:
    """A form: what modifiers and the descriptor say. `along_k`, `signs`: of A, then of B.

    `vector`: the number of scales of a row; `offsets`: their first bytes in a column, of A and of B.
    """

    kind: str
    group: int
    stationary: bool
    m: int
    n: int
    a: str
    b: str
    d: str
    saturates: bool = False
    along_k: tuple[bool, bool] = (True, True)
    signs: tuple[int, int] = (1, 1)
    vector: int = 0
    scale: str = ""
    offsets: tuple[int, int] = (0, 0)

    def __post_init__(self) -> None:
        """Fails: NoSuchForm where PTX has no such form, or it is not executed."""
        if not self._has_shape():
            of = f"{self.group} blocks{' with ws' if self.stationary else ''}"
            raise NoSuchForm(f"no product of kind::{self.kind} with m = {self.m} and n = {self.n} of {of}")
        if self.saturates and self.kind != "i8":
            raise NoSuchForm(f"kind::{self.kind} does not saturate")
        if self.kind == "i8" and self.signs != (1, 1):
            raise NoSuchForm("kind::i8 negates nothing")
        if not KINDS[self.kind].turns and self.along_k != (True, True):
            raise NoSuchForm(f"matrices of kind::{self.kind} are along k")
        if self.vector and (self.vector - 1) & (self.offsets[0] | self.offsets[1]):
            raise NoSuchForm(f"{self.vector} scales of a row do not begin at the bytes {self.offsets} of a column")

    def _has_shape(self) -> bool:
        if self.stationary:
            return self.group == 1 and self.m in SHAPES_STATIONARY[0] and self.n in SHAPES_STATIONARY[1]
        step = (SHAPES_SCALED if self.vector else SHAPES).get((self.group, self.m))
        if step is None or not step <= self.n <= MOST_N:
            return False
        if self.kind == "i8" and (self.group, self.m) == (1, 64):
            return self.n in INTEGER_N
        return self.n % step == 0

    @classmethod
    def of(cls, kind: str, group: int, code: int, *, stationary: bool = False, vector: int = 0) -> "TensorForm":
        """The form of a descriptor. `vector`: the number of scales of a row, 0 of none. Fails: NoSuchForm."""
        row = KINDS.get(kind)
        if row is None or bool(row.scales) != bool(vector):
            raise NoSuchForm(f"kind::{kind[:20]}")
        if code & (UNUSED_SCALED if vector else UNUSED) or code & SPARSE:
            raise NoSuchForm(f"the descriptor {code:#x} of a sparse or shifted product, or of unknown bits")
        a, b = (row.elements.get(code >> place & 7) for place in (7, 10))
        d = "f32" if vector else SUMS.get(code >> 4 & 3)
        if a is None or b is None or d not in row.sums:
            raise NoSuchForm(f"the elements or the sums of the descriptor {code:#x} with kind::{kind}")
        scale = SCALE_TYPES[code >> 23 & 1] if vector else ""
        if vector and scale not in row.scales.get(vector, ()):
            raise NoSuchForm(f"{vector} scales of {scale} with kind::{kind}")
        return cls(
            kind,
            group,
            stationary,
            16 * (code >> 24 & 31),
            8 * (code >> 17 & 63),
            a,
            b,
            d,
            saturates=not vector and bool(code >> 3 & 1),
            along_k=(not code >> 15 & 1, not code >> 16 & 1),
            signs=(-1 if code >> 13 & 1 else 1, -1 if code >> 14 & 1 else 1),
            vector=vector,
            scale=scale,
            offsets=(code >> 29 & 3, code >> 4 & 3) if vector else (0, 0),
        )

    @property
    def k(self) -> int:
        """The extent of k."""
        return KINDS[self.kind].k

    @property
    def c(self) -> str:
        """The elements of the third matrix, which D is too."""
        return self.d

    @property
    def bit_operator(self) -> str:
        """Elements are numbers."""
        return ""

    @property
    def rows(self) -> int:
        """How many rows of D and A each block has."""
        return self.m // self.group

    @property
    def banks(self) -> tuple[int, ...]:
        """What each equal part of the columns adds to the lane of a row."""
        if self.stationary and self.m < SHAPES_STATIONARY[0][-1]:
            return tuple(range(0, 128, self.m))
        return (0, 64) if (self.group, self.m) == (2, 128) else (0,)

    @property
    def scatters(self) -> bool:
        """Whether the rows of D are 16 in each 32 lanes."""
        return (self.group, self.m, self.stationary) == (1, 64, False)

    def lane(self, row: int) -> int:
        """The lane of a row of a block, in the first bank."""
        return 32 * (row // 16) + row % 16 if self.scatters else row

    def element(self, matrix: str) -> DType:
        """The dtype of the elements of `matrix`: a, b, c or d."""
        name = {"a": self.a, "b": self.b, "c": self.d, "d": self.d}[matrix]
        return SCALARS["float4_e2m1fn"] if name == "e2m1" else ELEMENTS[name]


def encoded(form: TensorForm) -> int:
    """The descriptor of 32 bits of a form."""
    row = KINDS[form.kind]
    numbers = {name: number for number, name in row.elements.items()}
    code = numbers[form.a] << 7 | numbers[form.b] << 10 | form.n // 8 << 17 | form.m // 16 << 24
    for place, sign in zip((13, 14), form.signs, strict=True):
        code |= (sign < 0) << place
    for place, along_k in zip((15, 16), form.along_k, strict=True):
        code |= (not along_k) << place
    if form.vector:
        return code | form.offsets[1] << 4 | SCALE_TYPES.index(form.scale) << 23 | form.offsets[0] << 29
    sums = {name: number for number, name in SUMS.items()}
    return code | form.saturates << 3 | sums[form.d] << 4
