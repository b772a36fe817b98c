"""Conversions of PTX with scales, without -0, with random bits, to a fixed point and to unsigned floats (PTX-018).

| form             | result                                                                                       |
|------------------|----------------------------------------------------------------------------------------------|
| `.scaled::n1`    | both numbers divided by one power of two, then converted                                      |
| `.scaled::n2`    | each lane divided by its own; from a narrow type: converted, then multiplied                  |
| `.pzo`           | +0 in place of -0                                                                            |
| `.rs`            | the random bits are added to those that the target has no room for, which are then cut off    |
| `s2f6`           | a number of 64ths in 8 bits                                                                  |
| `ue5m3`          | a float without a sign: five bits of exponent, three of fraction, one NaN                     |
"""

from collections.abc import Callable, Mapping
from fractions import Fraction

from refmlc.lang.dtypes.formats import FloatFormat
from refmlc.lang.ops.ptx.floats import flushed, rectified
from refmlc.lang.ops.ptx.numbers import FORMATS, Open, SignedNumber, Value, decode, encode, integral, number
from refmlc.lang.ops.ptx.registers import Bits, Family, Meaning, join, mask, of_number, split, to_number

Modifiers = Mapping[str, str]
LANE_BITS = {"e4m3": 8, "e5m2": 8, "e2m3": 8, "e3m2": 8, "ue5m3": 8, "s2f6": 8, "e2m1": 4, "f32": 32}
"""The bits of a lane of a packed register, where they are not 16; floats of 6 bits have two zero bits above them."""
E8M0_NAN, E8M0_BIAS = 0xFF, 127
SIXTY_FOURTHS, MOST_SIXTY_FOURTHS = 64, 127
MAGNITUDE = mask(31)
RANDOM = {"f16": 13, "bf16": 16}
"""How many random bits a lane has, which is how many bits of f32 the target has no room for."""


def scale_of(code: int) -> Fraction:
    """The power of two that a scale stands for. Fails: Open."""
    if code == E8M0_NAN:
        raise Open("a scale that is NaN")
    return Fraction(2) ** (code - E8M0_BIAS)


def _held(row: FloatFormat, value: SignedNumber, words: str) -> SignedNumber:
    """A number that a format holds, and that is no subnormal. Fails: Open."""
    bits = encode(row, value, "rz")
    if decode(row, bits) != value or flushed(row, bits) != bits:
        raise Open(f"{words}: PTX does not say how it is rounded")
    return value


def _scaled(value: Value, by: Fraction, row: FloatFormat, words: str) -> Value:
    if value is None or not value.finite or not value.size:
        return value
    return _held(row, SignedNumber(value.negative, value.size * by), words)


def dividing(m: Modifiers, source: str) -> Callable[[Value, int], Value]:
    """What is converted of a value with the code of its scale."""
    row = FORMATS[source]
    if not m.get("scaled"):
        return lambda value, _code: value

    def quotient(value: Value, code: int) -> Value:
        if value is not None and value.finite and value.size:
            _held(row, value, f"a scale on a subnormal of {source}")
        return _scaled(value, 1 / scale_of(code), row, f"a scaled number that is none of {source}")

    return quotient


def codes_of(m: Modifiers, registers: Bits) -> tuple[Bits, Bits]:
    """The registers without the scale, and the code of the scale of each lane."""
    if not m.get("scaled"):
        return registers, (E8M0_BIAS, E8M0_BIAS)
    *rest, scale = registers
    lanes = split(scale, 8, 2) if "n2" in m["scaled"] else (scale & 0xFF,) * 2
    return tuple(rest), lanes


def encoding(m: Modifiers, target: str) -> Callable[[Value], int]:
    """The bits of a value in the target, as rounding, `.relu`, `.satfinite` and `.pzo` say."""
    row, mode, finite = FORMATS[target], m["rnd"], bool(m.get("satfinite"))
    negative_zero = 1 << (row.bits - 1)
    rectify, without = bool(m.get("relu")), bool(m.get("pzo"))

    def bits(value: Value) -> int:
        code = encode(row, rectified(value) if rectify else value, mode, finite=finite)
        return 0 if without and code == negative_zero else code

    return bits


def sources(m: Modifiers, registers: Bits) -> list[Value]:
    """The two numbers that are packed, the low one first: two registers of f32, or the lanes of one."""
    kind = m["atype"].removesuffix("x2")
    row = FORMATS[kind]
    if m["atype"] == "f32":
        return [decode(row, each) for each in reversed(registers)]
    return [decode(row, each & mask(row.bits)) for each in split(registers[0], LANE_BITS.get(kind, 16), 2)]


def packing(m: Modifiers, lane: Callable[[Value], int], target: str) -> Meaning:
    """Two numbers, scaled and converted lane by lane."""
    divide, bits = dividing(m, m["atype"].removesuffix("x2")), LANE_BITS.get(target, 16)

    def meaning(registers: Bits) -> Bits:
        rest, codes = codes_of(m, registers)
        pairs = zip(sources(m, rest), codes, strict=True)
        return (join([lane(divide(value, code)) for value, code in pairs], bits),)

    return meaning


def packed(m: Modifiers) -> Meaning:
    """To a packed type."""
    target = m["dtype"].removesuffix("x2")
    return packing(m, encoding(m, target), target)


def widened(m: Modifiers) -> Meaning:
    """From a narrow packed type to bf16, times the scales."""
    row, lane = FORMATS["bf16"], encoding(m, "bf16")

    def meaning(registers: Bits) -> Bits:
        rest, codes = codes_of(m, registers)
        values = _narrow_lanes(m["atype"].removesuffix("x2"), rest[0])
        words = "a scaled number that is none of bf16"
        products = [_scaled(value, scale_of(code), row, words) for value, code in zip(values, codes, strict=True)]
        return (join([lane(value) for value in products], 16),)

    return meaning


def _narrow_lanes(kind: str, register: int) -> list[Value]:
    lanes = split(register, LANE_BITS[kind], 2)
    if kind == "s2f6":
        return [number(Fraction(to_number("s8", each), SIXTY_FOURTHS)) for each in lanes]
    row = FORMATS[kind]
    return [decode(row, each & mask(8 if kind == "ue5m3" else row.bits)) for each in lanes]


def _alone(m: Modifiers) -> Meaning:
    """One f32 to a half."""
    lane = encoding(m, m["dtype"])
    return lambda registers: (lane(decode(FORMATS["f32"], registers[0])),)


def _tf32(m: Modifiers) -> Meaning:
    lane = encoding(m, "tf32")

    def meaning(registers: Bits) -> Bits:
        value = decode(FORMATS["f32"], registers[0])
        return (MAGNITUDE if value is None else lane(value) << 13,)

    return meaning


# ------------------------------------------------------------------------------------------------- random bits


def _randomly(m: Modifiers) -> Meaning:
    target, finite, rectify = m["dtype"].removesuffix("x2"), bool(m["satfinite"]), bool(m["relu"])
    count = RANDOM[target]

    def meaning(registers: Bits) -> Bits:
        first, second, random = registers
        pairs = zip((second, first), split(random, 16, 2), strict=True)
        lanes = [_cut(target, bits, extra & mask(count), finite=finite, rectify=rectify) for bits, extra in pairs]
        return (join(lanes, 16),)

    return meaning


def _cut(target: str, bits: int, random: int, *, finite: bool, rectify: bool) -> int:
    """The bits of an f32 and the random ones added, without those that the target has no room for."""
    row = FORMATS[target]
    value = decode(FORMATS["f32"], bits)
    value = rectified(value) if rectify else value
    if value is None or not value.finite or not value.size:
        return encode(row, value, "rz", finite=finite)
    if value.size < Fraction(2) ** row.minimum_exponent and target == "f16":
        raise Open("`.rs` to a subnormal of f16: PTX does not say which bits the random ones are added to")
    size = ((bits & MAGNITUDE) + random) >> RANDOM[target] << RANDOM[target]
    rounded = decode(FORMATS["f32"], size)
    if rounded is None or not rounded.finite or rounded.size > Fraction(row.maximum):
        if not finite:
            raise Open(f"`.rs` beyond the greatest number of {target}: PTX does not say the result")
        rounded = SignedNumber(negative=False, size=Fraction(row.maximum))
    return encode(row, SignedNumber(value.negative, rounded.size), "rz")


# ------------------------------------------------------------------------------------------------- fixed point


def _sixty_fourths(m: Modifiers) -> Meaning:
    def lane(value: Value) -> int:
        if value is None:
            return MOST_SIXTY_FOURTHS
        if value.negative and m["relu"]:
            return 0
        if value.size > Fraction(MOST_SIXTY_FOURTHS, SIXTY_FOURTHS):
            if value.negative:
                raise Open("`s2f6` of less than -127 / 64: PTX names two least numbers")
            return MOST_SIXTY_FOURTHS
        size = integral(SignedNumber(value.negative, value.size * SIXTY_FOURTHS), "rn")
        return of_number("s8", -size if value.negative else size)

    return packing(m, lane, "s2f6")


# ---------------------------------------------------------------------------------------------- unsigned floats


def _unsigned(m: Modifiers) -> Meaning:
    row, mode, finite = FORMATS["ue5m3"], m["rnd"], bool(m["satfinite"])

    def lane(value: Value) -> int:
        if value is not None and value.negative:
            raise Open("`ue5m3` of a number with a minus sign: PTX does not say the result")
        if value is not None and value.size > Fraction(row.maximum) and not finite:
            raise Open("`ue5m3` of a number beyond its greatest: PTX does not say the result")
        return encode(row, value, mode, finite=finite)

    return packing(m, lane, "ue5m3")


def _from_unsigned(m: Modifiers) -> Meaning:
    """To f16."""
    row = FORMATS["f16"]

    def lane(value: Value) -> int:
        if value is not None and value.size > Fraction(row.maximum):
            raise Open("a number of `ue5m3` beyond the greatest of f16: PTX does not say the result")
        return encode(row, value, m["rnd"])

    return lambda registers: (join([lane(value) for value in _narrow_lanes("ue5m3", registers[0])], 16),)


NARROW: Mapping[str, Family] = {
    "cvt_pzo_scalar_f32": _alone,
    "cvt_pzo_fp16x2_f32": packed,
    "cvt_pzo_tf32_f32": _tf32,
    "cvt_rs_f16x2_f32": _randomly,
    "cvt_rs_bf16x2_f32": _randomly,
    "cvt_s2f6x2_f32": _sixty_fourths,
    "cvt_s2f6x2_bf16x2": _sixty_fourths,
    "cvt_bf16x2_s2f6x2": widened,
    **dict.fromkeys(
        ("cvt_ue5m3x2_f32", "cvt_ue5m3x2_f32_scaled", "cvt_ue5m3x2_fp16x2", "cvt_ue5m3x2_fp16x2_scaled"), _unsigned
    ),
    "cvt_f16x2_ue5m3x2": _from_unsigned,
    "cvt_bf16x2_ue5m3x2": widened,
}
