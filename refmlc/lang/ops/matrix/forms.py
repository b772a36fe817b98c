"""The forms of `mma`: shapes, layouts and the dtypes of the four matrices of D = A * B + C.

| elements of A and B | shapes                            | C and D             |
|---------------------|-----------------------------------|---------------------|
| f16                 | m16n8k8, m16n8k16                 | f16 or f32, alike   |
| f16                 | m8n8k4, four products at a time   | f16 or f32          |
| bf16                | m16n8k8, m16n8k16                 | f32                 |
| tf32                | m16n8k4, m16n8k8                  | f32                 |
| e4m3, e5m2          | m16n8k16, m16n8k32                | f16 or f32, alike   |
| f64                 | m8n8k4, m16n8k4, m16n8k8, m16n8k16 | f64                |
| s8, u8              | m8n8k16, m16n8k16, m16n8k32       | s32                 |
| s4, u4              | m8n8k32, m16n8k32, m16n8k64       | s32                 |
| b1                  | m8n8k128, m16n8k128, m16n8k256    | s32                 |

A is by rows and B by columns; with f16 in m8n8k4 each is by rows or by columns.

Source: PTX ISA, mma.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from refmlc.lang.dtypes import SCALARS, DType

ELEMENTS: Mapping[str, DType] = {
    name: SCALARS[dtype]
    for name, dtype in (
        ("f16", "float16"),
        ("bf16", "bfloat16"),
        ("tf32", "float32"),
        ("f32", "float32"),
        ("f64", "float64"),
        ("e4m3", "float8_e4m3fn"),
        ("e5m2", "float8_e5m2"),
        ("s8", "int8"),
        ("u8", "uint8"),
        ("s4", "int4"),
        ("u4", "uint4"),
        ("b1", "uint1"),
        ("s32", "int32"),
    )
}
"""The dtype of an element by the name that PTX gives it."""

NAMES: Mapping[str, str] = {
    **{dtype.element: name for name, dtype in ELEMENTS.items() if name != "tf32"},
    **{f".{name}": name for name in ELEMENTS},
    **{name: name for name in ("bf16", "tf32", "e4m3", "e5m2")},
    "fp16": "f16",
    "fp32": "f32",
    "fp64": "f64",
    "int1": "b1",
}
"""The name of an element in PTX, by the names that TVM's older calls accept."""

QUADS = ("m8n8k4", "f16")
KINDS: Sequence[tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]] = (
    (("f16",), ("m8n8k4", "m16n8k8", "m16n8k16"), ("f16", "f32")),
    (("bf16",), ("m16n8k8", "m16n8k16"), ("f32",)),
    (("tf32",), ("m16n8k4", "m16n8k8"), ("f32",)),
    (("e4m3", "e5m2"), ("m16n8k16", "m16n8k32"), ("f16", "f32")),
    (("f64",), ("m8n8k4", "m16n8k4", "m16n8k8", "m16n8k16"), ("f64",)),
    (("s8", "u8"), ("m8n8k16", "m16n8k16", "m16n8k32"), ("s32",)),
    (("s4", "u4"), ("m8n8k32", "m16n8k32", "m16n8k64"), ("s32",)),
    (("b1",), ("m8n8k128", "m16n8k128", "m16n8k256"), ("s32",)),
)
WORDS = re.compile(
    r"sync aligned (?P<shape>\w+) (?P<a_layout>row|col) (?P<b_layout>row|col) (?P<saturates>satfinite )?"
    r"(?P<d>\w+) (?P<a>\w+) (?P<b>\w+) (?P<c>\w+)(?: (?P<bit_operator>xor|and_?) popc)?(?: rn)?"
)


class NoSuchForm(Exception):
    """The modifiers are none of a form that is executed; says why."""


@dataclass(frozen=True, slots=True)
class MmaForm:
    """A form of `mma`, by the names of PTX. `bit_operator`: how two bits are one, of `b1` alone."""

    shape: str
    a_layout: str
    b_layout: str
    d: str
    a: str
    b: str
    c: str
    saturates: bool = False
    bit_operator: str = ""

    def __post_init__(self) -> None:
        """Fails: NoSuchForm where PTX has no such form."""
        kind = next((row for row in KINDS if self.a in row[0] and self.shape in row[1]), None)
        if kind is None or self.b not in kind[0] or self.c not in kind[2] or self.d not in kind[2]:
            raise NoSuchForm(
                f"no product of {self.a} and {self.b} in the shape {self.shape} with {self.d} and {self.c}"
            )
        if not self.in_quads and (self.a_layout, self.b_layout, self.d) != ("row", "col", self.c):
            raise NoSuchForm(f"{self.shape} of {self.a} by {self.a_layout} and {self.b_layout}, {self.c} to {self.d}")
        if self.in_quads and (self.c, self.d) == ("f32", "f16"):
            raise NoSuchForm("f32 is not brought to f16")
        if self.saturates and self.c != "s32":
            raise NoSuchForm(f"satfinite with {self.c}")
        if (self.bit_operator in ("xor", "and")) != (self.a == "b1"):
            raise NoSuchForm(f"the operator of bits `{self.bit_operator}` with {self.a}")

    @classmethod
    def of(cls, modifiers: Sequence[str]) -> "MmaForm":
        """The form of an instruction with these modifiers. Fails: NoSuchForm."""
        match = WORDS.fullmatch(" ".join(modifiers))
        if match is None:
            raise NoSuchForm(f"the modifiers {' '.join(modifiers)[:100]}")
        words = match.groupdict()
        operator = (words.pop("bit_operator") or "").removesuffix("_")
        saturates = words.pop("saturates") is not None
        return cls(**{name: word or "" for name, word in words.items()}, saturates=saturates, bit_operator=operator)

    @property
    def in_quads(self) -> bool:
        """Whether it is four products, each of 8 threads."""
        return (self.shape, self.a) == QUADS

    @property
    def sizes(self) -> tuple[int, int, int]:
        """The extents m, n and k."""
        m, n, k = re.findall(r"\d+", self.shape)
        return int(m), int(n), int(k)

    def element(self, matrix: str) -> DType:
        """The dtype of the elements of `matrix`: a, b, c or d."""
        return ELEMENTS[{"a": self.a, "b": self.b, "c": self.c, "d": self.d}[matrix]]
