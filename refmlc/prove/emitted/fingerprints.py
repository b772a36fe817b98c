"""The fingerprint of a term: 128 bits, under secret keys that are drawn for each proof.

A second computation of what `headers/rm_terms.hpp` computes while C runs: this one walks the interpreter's exact terms.

| value                    | fingerprint                                                                            |
|--------------------------|----------------------------------------------------------------------------------------|
| a number                 | `(its bits, 0)`; the bits of a float are those of it as a double, all NaN are one      |
| an element of an argument | twice the combination of its place and the argument's number                          |
| an operator on operands  | their combination under the operator's keys; of operands that may be swapped, symmetric |

A combination of `(a, b)` and `(c, d)` is the pair of `fold(a ^ k0, c ^ k1)` and `fold(a ^ b ^ k2, c ^ d ^ k3)`, where
`fold` is the exclusive or of both halves of the product and the keys are secret, other ones for each operator.

Assumption: two different terms that a program makes have the same fingerprint with a probability of 2**-64 or less for
each pair. It is no theorem (`fold` is no polynomial), and nobody who chooses a program knows the keys.

float16 and bfloat16 are computed in float32 and rounded (`kernels_c`): their sum is a conversion of a sum.
"""

import secrets
import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import cast

from refmlc.lang.dtypes import BOOL, DType, dtype as dtype_named
from refmlc.lang.ops.scalar import SCALAR_OPS
from refmlc.prove.terms import CAST, FMA, LEAF, SELECT, SymbolicTerm, TermValue, Undecided, commutes, subterms

Fingerprint = tuple[int, int]

WORD = (1 << 64) - 1
FACTORS = (0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F, 0xD6E8FEB86659FD93, 0xA0761D6478BD642F)
OPERATORS: Mapping[str, int] = {
    name: number for number, name in enumerate((*sorted(SCALAR_OPS), SELECT, LEAF, CAST), 1)
}
DTYPES = (
    *("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
    *("float32", "float64", "float16", "bfloat16"),
)
"""The dtypes that have fingerprints."""
NUMBERS: Mapping[str, int] = {name: number for number, name in enumerate(DTYPES, 1)}
SMALL = ("float16", "bfloat16")
ROUNDED = ("add", "sub", "mul", "div")
PRESERVED = ("eq", "ne", "lt", "le", "gt", "ge", "max", "min", "abs")
"""Operators that small floats have as the float32 they are held as: with a rounding, and without one."""
FLOAT32 = dtype_named("float32")
NARROW = 16  # bits of integers that float32 holds, and a small float then rounds once
NAN = 0x7FF8000000000000


def draw() -> tuple[int, ...]:
    """Fresh secret keys."""
    return tuple(secrets.randbits(64) for _ in FACTORS)


def tag(op: str, source: int = 0, target: int = 0) -> int:
    """The number of an operator on a dtype, with one as result."""
    return OPERATORS[op] << 16 | source << 8 | target


def held(dtype: DType) -> DType:
    """The dtype that values of `dtype` are held as. Fails: Undecided for one without fingerprints."""
    if dtype.element not in NUMBERS:
        raise Undecided(f"elements of {dtype} have no fingerprints")
    return FLOAT32 if dtype.element in SMALL else dtype


def goes_through_float32(source: DType, target: DType) -> bool:
    """Whether a conversion to a small float is one to float32, which is exact, and a rounding."""
    return target.element in SMALL and not source.is_float and source.bits <= NARROW


@dataclass(frozen=True)
class Fingerprints:
    """Fingerprints of terms under `secret`; `arguments` are number and shape of each tensor by name."""

    secret: Sequence[int]
    arguments: Mapping[str, tuple[int, tuple[int, ...]]]
    _known: dict[int, Fingerprint] = field(default_factory=dict)

    def of(self, value: TermValue, dtype: DType) -> Fingerprint:
        """The fingerprint of a value of `dtype`. Fails: Undecided for an operator without one."""
        if not isinstance(value, SymbolicTerm):
            return number(value, dtype)
        if value.number not in self._known:
            for term in subterms(value):
                if term.number not in self._known:
                    self._known[term.number] = self._term(term)
        return self._known[value.number]

    def _term(self, term: SymbolicTerm) -> Fingerprint:
        match term.op:
            case "leaf":
                return self._leaf(*cast("tuple[str, tuple[int, ...]]", term.detail))
            case "select":
                dtype = held(term.dtype)
                parts = (BOOL, dtype, dtype)
                operands = [self.of(arg, part) for arg, part in zip(term.args, parts, strict=True)]
                return self._symbol(SELECT, dtype, dtype, operands)
            case "cast":
                source = cast("DType", term.detail)
                return self._cast(self.of(term.args[0], source), source, term.dtype)
            case op if op in SCALAR_OPS:
                return self._row(term)
            case op:
                raise Undecided(f"`{'fma' if op == FMA else op}` has no fingerprint")

    def _leaf(self, name: str, index: Sequence[int]) -> Fingerprint:
        argument, shape = self.arguments[name]
        place = 0
        for extent, part in zip(shape, index, strict=True):
            place = place * extent + part
        once = self._combined(tag(LEAF), (place, 0), (argument, 0))
        return self._combined(tag(LEAF, target=1), once, (argument, 0))

    def _row(self, term: SymbolicTerm) -> Fingerprint:
        dtypes = cast("tuple[DType, ...]", term.detail)
        operands = [self.of(arg, dtype) for arg, dtype in zip(term.args, dtypes, strict=True)]
        first, result = dtypes[0], term.dtype
        if first.element in SMALL and term.op in ROUNDED:
            return self._cast(self._symbol(term.op, FLOAT32, FLOAT32, operands), FLOAT32, first)
        if first.element in SMALL and term.op in PRESERVED:
            return self._symbol(term.op, FLOAT32, held(result), operands)
        held(first)
        held(result)
        return self._symbol(term.op, first, result, operands)

    def _cast(self, operand: Fingerprint, source: DType, target: DType) -> Fingerprint:
        source = held(source)
        held(target)
        if target.kind == "bool":
            return self._symbol("ne", source, BOOL, (operand, (0, 0)))
        if goes_through_float32(source, target):
            operand, source = self._symbol(CAST, source, FLOAT32, (operand,)), FLOAT32
        return self._symbol(CAST, source, target, (operand,))

    def _symbol(self, op: str, source: DType, result: DType, operands: Sequence[Fingerprint]) -> Fingerprint:
        swaps = op in SCALAR_OPS and commutes(SCALAR_OPS[op].contract, source)
        number_of = tag(op, NUMBERS[source.element], NUMBERS[result.element])
        left, *others = operands
        for place, right in enumerate(others or [(0, 0)]):
            left = self._combined(number_of + (place << 32), left, right, swaps=swaps)
        return left

    def _combined(self, number_of: int, a: Fingerprint, b: Fingerprint, *, swaps: bool = False) -> Fingerprint:
        keys = [key + number_of * factor & WORD for key, factor in zip(self.secret, FACTORS, strict=True)]
        if swaps:
            keys[1], keys[3] = keys[0], keys[2]
        low = _folded(a[0] ^ keys[0], b[0] ^ keys[1])
        high = _folded(a[0] ^ a[1] ^ keys[2], b[0] ^ b[1] ^ keys[3])
        return low, 2 if high < 2 else high & ~1


def number(value: float, dtype: DType) -> Fingerprint:
    """The fingerprint of a number."""
    if not dtype.is_float:
        return int(value) & WORD, 0
    value = float(value)
    if value != value:  # noqa: PLR0124 - the test for NaN
        return NAN, 0
    return int.from_bytes(struct.pack("<d", value), "little"), 0


def _folded(a: int, b: int) -> int:
    product = a * b
    return (product ^ product >> 64) & WORD
