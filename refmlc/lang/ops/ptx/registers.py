"""Registers as integers: the bits of a type as a number, and back; packed registers as lanes, the low one first."""

from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

Bits: TypeAlias = tuple[int, ...]
Meaning: TypeAlias = Callable[[Bits], Bits]
"""The registers that an instruction writes, from those that it reads; bits above a register's width are 0."""
Family: TypeAlias = Callable[[Mapping[str, str]], Meaning]
"""The meaning of an instruction with these modifiers by slot."""

WIDTHS: Mapping[str, int] = {
    **{f"{kind}{bits}": bits for kind in "usb" for bits in (2, 4, 8, 16, 32, 64)},
    "b128": 128,
    "pred": 1,
    "f16": 16,
    "bf16": 16,
    "f32": 32,
    "f64": 64,
    "tf32": 32,
}


def width(kind: str) -> int:
    """The bits of a register of this type."""
    return WIDTHS[kind]


def mask(bits: int) -> int:
    """A word of this number of bits, all of them 1."""
    return (1 << bits) - 1


def to_number(kind: str, register: int) -> int:
    """The integer that the low bits of a register stand for."""
    bits = WIDTHS[kind]
    low = register & mask(bits)
    return low - (1 << bits) if kind[0] == "s" and low >> (bits - 1) else low


def of_number(kind: str, number: int) -> int:
    """An integer modulo 2 ** width, as bits."""
    return number & mask(WIDTHS[kind])


def limits(kind: str) -> tuple[int, int]:
    """The least and the greatest integer of a type."""
    bits = WIDTHS[kind]
    return (-(1 << (bits - 1)), mask(bits - 1)) if kind[0] == "s" else (0, mask(bits))


def clamp(kind: str, number: int) -> int:
    """The nearest integer of a type."""
    least, greatest = limits(kind)
    return min(max(number, least), greatest)


def split(register: int, bits: int, count: int) -> Bits:
    """The lanes of a register."""
    return tuple([register >> lane * bits & mask(bits) for lane in range(count)])


def join(lanes: Sequence[int], bits: int) -> int:
    """The register that the lanes make."""
    return sum(lane << number * bits for number, lane in enumerate(lanes))


def lanewise(one: Meaning, bits: int, count: int = 2) -> Meaning:
    """A meaning on lanes as one on packed registers."""

    def packed(registers: Bits) -> Bits:
        results = [one(lanes) for lanes in zip(*(split(each, bits, count) for each in registers), strict=True)]
        return tuple([join(lanes, bits) for lanes in zip(*results, strict=True)])

    return packed
