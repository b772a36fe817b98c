"""Conversions of PTX: `cvt` between integers and floats, and to and from packed narrow floats.

| from, to         | result                                                                                  |
|------------------|-----------------------------------------------------------------------------------------|
| integer, integer | modulo 2 ** width, or the nearest number with `.sat`                                      |
| integer, float   | rounded once                                                                            |
| float, integer   | rounded to an integer, then the nearest number; NaN: 0, or the highest bit alone where     |
|                  | the source is f64 or the target has 64 bits                                             |
| float, float     | rounded once; to an integer where the types are the same and the rounding is of integers  |
"""

from collections.abc import Callable, Mapping
from fractions import Fraction
from math import inf

from refmlc.lang.ops.ptx import narrow
from refmlc.lang.ops.ptx.floats import flushed, reading, rectified, saturated
from refmlc.lang.ops.ptx.numbers import FORMATS, Open, SignedNumber, Value, decode, encode, integral, nan, number
from refmlc.lang.ops.ptx.registers import Bits, Family, Meaning, clamp, join, limits, of_number, split, to_number, width

Modifiers = Mapping[str, str]
E8M0_NAN, E8M0_BIAS, E8M0_GREATEST = 0xFF, 127, 0xFE
NARROW_PAIRS = ("e4m3x2", "e5m2x2", "e2m3x2", "e3m2x2", "e2m1x2")


def _converted(m: Modifiers) -> Meaning:
    match m["dtype"] in FORMATS, m["atype"] in FORMATS:
        case False, False:
            return _between_integers(m)
        case True, False:
            return _from_integer(m)
        case False, True:
            return _to_integer(m)
        case _:
            return _between_floats(m)


def _between_integers(m: Modifiers) -> Meaning:
    target, source, limited = m["dtype"], m["atype"], bool(m["sat"])

    def meaning(registers: Bits) -> Bits:
        value = to_number(source, registers[0])
        return (of_number(target, clamp(target, value) if limited else value),)

    return meaning


def _from_integer(m: Modifiers) -> Meaning:
    row, source, mode, limited = FORMATS[m["dtype"]], m["atype"], m["rnd"], bool(m["sat"])

    def meaning(registers: Bits) -> Bits:
        value: Value = number(to_number(source, registers[0]))
        return (encode(row, saturated(value) if limited else value, mode),)

    return meaning


def _to_integer(m: Modifiers) -> Meaning:
    target, source = m["dtype"], m["atype"]
    read, mode = reading(source, flush=bool(m["ftz"]) and source == "f32"), m["rnd"].removesuffix("i")
    of_nan = 1 << (width(target) - 1) if source == "f64" or width(target) == 64 else 0

    def meaning(registers: Bits) -> Bits:
        value = read(registers[0])
        if value is None:
            return (of_nan,)
        if not value.finite:
            return (of_number(target, limits(target)[0 if value.negative else 1]),)
        size = integral(value, mode)
        return (of_number(target, clamp(target, -size if value.negative else size)),)

    return meaning


def _between_floats(m: Modifiers) -> Meaning:
    target, source = FORMATS[m["dtype"]], m["atype"]
    flush, to_integral = bool(m["ftz"]), m["rnd"].endswith("i")
    mode = m["rnd"].removesuffix("i") or "rn"
    read = reading(source, flush=flush and source == "f32")
    finish = _finish(m)

    def meaning(registers: Bits) -> Bits:
        value = read(registers[0])
        if to_integral and value is not None and value.finite:
            value = SignedNumber(value.negative, Fraction(integral(value, mode)))
        bits = encode(target, finish(value), mode, finite=bool(m["satfinite"]))
        return (flushed(target, bits) if flush and m["dtype"] == "f32" else bits,)

    return meaning


def _finish(m: Modifiers) -> Callable[[Value], Value]:
    """What `.sat` or `.relu` make of a value."""
    if m.get("sat"):
        return saturated
    return rectified if m.get("relu") else lambda value: value


# ------------------------------------------------------------------------------------------- packed: PTX-014


def _to_pair(m: Modifiers) -> Meaning:
    """To and from packed narrow floats; with a scale or `.pzo`: PTX-018."""
    return narrow.widened(m) if m["dtype"] == "bf16x2" and m["atype"] in NARROW_PAIRS else narrow.packed(m)


def _to_tf32(m: Modifiers) -> Meaning:
    row, finish, finite = FORMATS["tf32"], _finish(m), bool(m["satfinite"])

    def meaning(registers: Bits) -> Bits:
        value = finish(decode(FORMATS["f32"], registers[0]))
        if value is None:
            return (nan(FORMATS["f32"]),)
        return (encode(row, value, m["rnd"], finite=finite) << 13,)

    return meaning


def _exponent(value: Value, mode: str, *, finite: bool) -> int:
    """A number as a power of two, rounded toward zero or up."""
    if value is None:
        return E8M0_NAN
    if value.negative or not value.size:
        raise Open("`ue8m0` of a number that is not positive: PTX does not say the result")
    if value.size == inf:
        code = E8M0_NAN
    else:
        size = Fraction(value.size)
        power = size.numerator.bit_length() - size.denominator.bit_length()
        power -= size < Fraction(2) ** power
        code = power + (mode == "rp" and size != Fraction(2) ** power) + E8M0_BIAS
    if code < 0 or (code > E8M0_GREATEST and not finite):
        raise Open("`ue8m0` of a number beyond its powers of two: PTX does not say the result")
    return min(code, E8M0_GREATEST)


def _powers_from_floats(m: Modifiers) -> Meaning:
    def meaning(registers: Bits) -> Bits:
        values = [decode(FORMATS["f32"], each) for each in reversed(registers)]
        return (join([_exponent(value, m["rnd"], finite=bool(m["satfinite"])) for value in values], 8),)

    return meaning


def _powers_from_pair(m: Modifiers) -> Meaning:
    def meaning(registers: Bits) -> Bits:
        values = [decode(FORMATS["bf16"], each) for each in split(registers[0], 16, 2)]
        return (join([_exponent(value, m["rnd"], finite=bool(m["satfinite"])) for value in values], 8),)

    return meaning


def _powers_to_pair(_: Modifiers) -> Meaning:
    row = FORMATS["bf16"]

    def meaning(registers: Bits) -> Bits:
        powers = split(registers[0], 8, 2)
        values = [
            None if each == E8M0_NAN else SignedNumber(False, Fraction(2) ** (each - E8M0_BIAS)) for each in powers
        ]
        return (join([encode(row, value, "rn") for value in values], 16),)

    return meaning


CONVERSIONS: Mapping[str, Family] = {
    "cvt": _converted,
    **dict.fromkeys(("cvt_f16x2_f32", "cvt_bf16x2_f32", "cvt_f8x2_f32", "cvt_f6x2_f32", "cvt_f4x2_f32"), _to_pair),
    "cvt_94_narrow_f32": _to_pair,
    "cvt_94_narrow_fp16x2": _to_pair,
    **{f"cvt_f{bits}x2_fp16x2": _to_pair for bits in (8, 6, 4)},
    **{f"cvt_{target}_f{bits}x2": _to_pair for target in ("f16x2", "bf16x2") for bits in (8, 6, 4)},
    "cvt_tf32_f32": _to_tf32,
    "cvt_ue8m0x2_f32": _powers_from_floats,
    "cvt_ue8m0x2_bf16x2": _powers_from_pair,
    "cvt_bf16x2_ue8m0x2": _powers_to_pair,
}
