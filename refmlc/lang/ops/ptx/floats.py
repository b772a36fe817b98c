"""Floating-point arithmetic of PTX: computed exactly, rounded once.

`.ftz`: subnormal operands and results are zeros of the same sign. `.sat`: a result is 0 … 1, and 0 for NaN.
"""

from collections.abc import Callable, Mapping
from fractions import Fraction

from refmlc.lang.dtypes.formats import FloatFormat
from refmlc.lang.ops.ptx import numbers
from refmlc.lang.ops.ptx.numbers import FORMATS, ZERO, Open, SignedNumber, Value, decode, encode
from refmlc.lang.ops.ptx.registers import Bits, Family, Meaning, lanewise

Modifiers = Mapping[str, str]
Exactly = Callable[..., Value]

ONE = SignedNumber(False, Fraction(1))


def flushed(row: FloatFormat, bits: int) -> int:
    """A subnormal as a zero of its sign."""
    top = ((1 << row.exponent_bits) - 1) << row.fraction_bits
    return bits if bits & top else bits & (1 << (row.bits - 1))


def saturated(value: Value) -> Value:
    """A value in 0 … 1; NaN and all below, -0 too, is +0."""
    if value is None or value.negative:
        return SignedNumber(False, ZERO)
    return ONE if value.size > 1 else value


def rectified(value: Value) -> Value:
    """A value that is not negative."""
    if value == SignedNumber(True, ZERO):
        raise Open("`.relu` of -0: PTX does not say the sign of the zero")
    return SignedNumber(False, ZERO) if value is not None and value.negative else value


def reading(kind: str, *, flush: bool) -> Callable[[int], Value]:
    """How an operand is read."""
    row = FORMATS[kind]
    return (lambda bits: decode(row, flushed(row, bits))) if flush else (lambda bits: decode(row, bits))


def packed(kind: str, meaning: Callable[[str], Meaning]) -> Meaning:
    """A meaning on a type or on two lanes of it."""
    if not kind.endswith("x2"):
        return meaning(kind)
    lane = kind.removesuffix("x2")
    return lanewise(meaning(lane), FORMATS[lane].bits)


def _rounded(m: Modifiers, exactly: Exactly) -> Meaning:
    """An operation on one type: rounded as `rnd` or `mode` says."""
    mode = m.get("rnd") or m.get("mode") or "rn"
    flush, limited, rectify = bool(m.get("ftz")), bool(m.get("sat")), bool(m.get("relu"))

    def on(kind: str) -> Meaning:
        row = FORMATS[kind]
        read, first = reading(kind, flush=flush), reading(m.get("srctype") or kind, flush=flush)
        factors = 2 if m.get("srctype") and exactly is _fused else 1

        def meaning(registers: Bits) -> Bits:
            operands = [(first if number < factors else read)(bits) for number, bits in enumerate(registers)]
            value = exactly(*operands, mode=mode)
            value = saturated(value) if limited else rectified(value) if rectify else value
            bits = encode(row, value, mode)
            return (flushed(row, bits) if flush else bits,)

        return meaning

    return packed(m["type"], on)


def _sum(x: Value, y: Value, *, mode: str) -> Value:
    return numbers.add(x, y, mode)


def _difference(x: Value, y: Value, *, mode: str) -> Value:
    return numbers.add(x, None if y is None else -y, mode)


def _product(x: Value, y: Value, *, mode: str) -> Value:
    del mode
    return numbers.multiply(x, y)


def _fused(x: Value, y: Value, z: Value, *, mode: str) -> Value:
    return numbers.add(numbers.multiply(x, y), z, mode)


def _quotient(x: Value, y: Value, *, mode: str) -> Value:
    del mode
    return numbers.divide(x, y)


def _reciprocal(x: Value, *, mode: str) -> Value:
    del mode
    return numbers.divide(ONE, x)


def _root(x: Value, *, mode: str) -> Value:
    del mode
    return numbers.root(x, FORMATS["f64"].precision)


def _arithmetic(exactly: Exactly) -> Family:
    return lambda m: _rounded(m, exactly)


def _fused_half(m: Modifiers) -> Meaning:
    if m["oob"]:
        raise Open("`.oob` depends on a NaN that PTX does not name here")
    return _rounded(m, _fused)


def _mixed(exactly: Exactly) -> Family:
    """Packed halves that are converted to f32, which is exact, and an operation on f32."""

    def family(m: Modifiers) -> Meaning:
        source, mode = m["atype"].removesuffix("x2"), m["rnd"] or "rn"

        def meaning(registers: Bits) -> Bits:
            a, *rest = registers
            halves = [decode(FORMATS[source], a >> 16 * lane & 0xFFFF) for lane in range(2)]
            others = [[decode(FORMATS["f32"], each >> 32 * lane & 0xFFFFFFFF) for each in rest] for lane in range(2)]
            lanes = [encode(FORMATS["f32"], exactly(halves[lane], *others[lane], mode=mode), mode) for lane in (0, 1)]
            return (lanes[0] | lanes[1] << 32,)

        return meaning

    return family


# ----------------------------------------------------------------------------------------------- signs: PTX-011


def _signed(change: Callable[[int, int], int]) -> Family:
    """An operation on the sign alone, of which `.ftz` flushes the operand."""

    def family(m: Modifiers) -> Meaning:
        def on(kind: str) -> Meaning:
            row = FORMATS[kind]

            def meaning(registers: Bits) -> Bits:
                bits = flushed(row, registers[0]) if m["ftz"] else registers[0]
                if decode(row, bits) is None and row.bits == 16:
                    raise Open("the sign of a NaN is changed: PTX does not say which NaN this gives")
                return (change(bits, 1 << (row.bits - 1)),)

            return meaning

        return packed(m["type"], on)

    return family


def _copied_sign(m: Modifiers) -> Meaning:
    row = FORMATS[m["type"]]
    sign = 1 << (row.bits - 1)

    def meaning(registers: Bits) -> Bits:
        a, b = registers
        if decode(row, a) is None:
            raise Open("the sign of a NaN is copied: it is not known")
        return ((b & ~sign) | (a & sign),)

    return meaning


def _tested(m: Modifiers) -> Meaning:
    row, read = FORMATS[m["type"]], reading(m["type"], flush=False)

    def meaning(registers: Bits) -> Bits:
        bits, value = registers[0], read(registers[0])
        finite = value is not None and value.finite
        subnormal = finite and value is not None and bool(value.size) and flushed(row, bits) != bits
        answers = {
            "finite": finite,
            "infinite": value is not None and not finite,
            "number": value is not None,
            "notanumber": value is None,
            "normal": finite and not subnormal,
            "subnormal": subnormal,
        }
        return (int(answers[m["op"]]),)

    return meaning


# ------------------------------------------------------------------------------------- least and greatest: PTX-012


def _order(value: SignedNumber) -> tuple[Fraction | float, bool]:
    """The place of a number: -0 is less than +0."""
    size = -value.size if value.negative else value.size
    return size, not value.negative


def _extreme(greatest: bool) -> Family:
    choose = max if greatest else min

    def family(m: Modifiers) -> Meaning:
        def on(kind: str) -> Meaning:
            row, read = FORMATS[kind], reading(kind, flush=bool(m["ftz"]))
            sign = 1 << (row.bits - 1)

            def meaning(registers: Bits) -> Bits:
                values = [read(bits) for bits in registers]
                if m["abs"]:
                    values = [None if value is None else SignedNumber(False, value.size) for value in values]
                known = [value for value in values if value is not None]
                if not known or (m["nan"] and None in values):
                    return (numbers.nan(row),)
                bits = encode(row, choose(known, key=_order), "rn")
                if m.get("xorsign"):
                    if None in values and row.bits != 16:
                        raise Open("`.xorsign` of a NaN: its sign is not known")
                    bits |= (registers[0] ^ registers[1]) & sign
                return (bits,)

            return meaning

        return packed(m["type"], on)

    return family


FLOATS: Mapping[str, Family] = {
    **dict.fromkeys(("add", "add_half"), _arithmetic(_sum)),
    **dict.fromkeys(("sub", "sub_half"), _arithmetic(_difference)),
    **dict.fromkeys(("mul", "mul_half"), _arithmetic(_product)),
    **dict.fromkeys(("fma", "mad_f"), _arithmetic(_fused)),
    "fma_half": _fused_half,
    "div_f": _arithmetic(_quotient),
    "rcp": _arithmetic(_reciprocal),
    "sqrt": _arithmetic(_root),
    "add_mixed_vec_up": _mixed(_sum),
    "sub_mixed_vec_up": _mixed(_difference),
    "fma_mixed_vec": _mixed(_fused),
    **dict.fromkeys(("abs_f", "abs_half"), _signed(lambda bits, sign: bits & ~sign)),
    **dict.fromkeys(("neg", "neg_half"), _signed(lambda bits, sign: bits ^ sign)),
    "copysign": _copied_sign,
    "testp": _tested,
    **dict.fromkeys(("min3",), _extreme(greatest=False)),
    **dict.fromkeys(("max3",), _extreme(greatest=True)),
}
EXTREMES: Mapping[str, Family] = {"min": _extreme(greatest=False), "max": _extreme(greatest=True)}
