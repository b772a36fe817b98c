"""Approximations of PTX: the number nearest to the exact result, and all that the stated error permits (PTX-019).

| instruction         | types      | error                                                                 |
|---------------------|------------|------------------------------------------------------------------------|
| `ex2.approx`        | f32        | 2 ulps from the rounded result                                         |
|                     | f16, bf16  | relative 2^-9.9, 2^-7                                                  |
| `lg2.approx`        | f32        | absolute 2^-22 where the operand is in (0.5, 2), else relative 2^-22   |
| `sin`, `cos.approx` | f32        | absolute 2^-20.5 within 2 pi of 0, 2^-14.7 within 100 pi; none beyond  |
| `tanh.approx`       | f32        | relative 2^-11; a subnormal is itself                                  |
|                     | f16, bf16  | absolute 2^-10.987, 2^-8                                               |
| `rsqrt.approx`      | f32        | relative 2^-22.9                                                       |
| `sqrt.approx`       | f32        | relative 2^-23                                                         |
| `rcp.approx`        | f32        | 1 ulp                                                                  |
| `div.full`          | f32        | 2 ulps                                                                 |
| `div.approx`        | f32        | 2 ulps where the size of the divisor is in 2^-126 … 2^126              |

The ends of what is permitted are rounded outward, to numbers of the type. Of f64 no error is stated.
"""

from collections.abc import Callable, Mapping
from fractions import Fraction
from math import inf, pi
from typing import NamedTuple

from refmlc.lang.dtypes.formats import FloatFormat
from refmlc.lang.ops.ptx import numbers
from refmlc.lang.ops.ptx.floats import FLOATS, ONE, flushed, packed
from refmlc.lang.ops.ptx.numbers import FORMATS, ZERO, Open, SignedNumber, Value, decode, encode, nan, number
from refmlc.lang.ops.ptx.registers import Bits, Family, Meaning, split
from refmlc.lang.ops.scalar import binary64

Modifiers = Mapping[str, str]
Exactly = Callable[..., Value]
CLOSE = Fraction(1, 1 << 46)
"""More than the relative error of a function of binary64, and of a root."""
NARROWEST, WIDEST = Fraction(2) ** -126, Fraction(2) ** 126


class Error(NamedTuple):
    """An error: in ulps of the rounded result, relative to the exact one, or absolute."""

    ulps: int = 0
    relative: float = 0.0
    absolute: float = 0.0


EXACT = Error()
ErrorOf = Callable[..., Error]


class Permitted(NamedTuple):
    """The bits of the number nearest to the exact result, and of the least and the greatest number permitted."""

    nearest: int
    low: int
    high: int


# ---------------------------------------------------------------------------------------------- the exact results


def _power(x: SignedNumber) -> Value:
    if not x.finite or abs(x.value) > 1 << 10:
        return SignedNumber(False, ZERO if x.negative else inf)
    return number(Fraction(binary64.exp2(float(x.value))))


def _logarithm(x: SignedNumber) -> Value:
    if not x.size:
        return SignedNumber(True, inf)
    if x.negative:
        return None
    return number(Fraction(binary64.log2(float(x.value)))) if x.finite else x


def _circular(function: Callable[[float], float]) -> Exactly:
    def exactly(x: SignedNumber) -> Value:
        if not x.finite:
            return None
        return number(Fraction(function(float(x.value))), negative_zero=x.negative)

    return exactly


def _hyperbolic(x: SignedNumber) -> Value:
    if not x.size:
        return x
    if not x.finite:
        return SignedNumber(x.negative, Fraction(1))
    return number(Fraction(binary64.tanh(float(x.value))))


def _reciprocal_root(x: SignedNumber) -> Value:
    if x.negative and x.size:
        return None
    return numbers.divide(ONE, numbers.root(x, FORMATS["f64"].precision))


def _root(x: SignedNumber) -> Value:
    return numbers.root(x, FORMATS["f64"].precision)


def _reciprocal(x: SignedNumber) -> Value:
    return numbers.divide(ONE, x)


# ------------------------------------------------------------------------------------------------------ the errors


def _error_of_logarithm(x: SignedNumber) -> Error:
    return Error(absolute=2.0**-22) if Fraction(1, 2) < x.value < 2 else Error(relative=2.0**-22)


def _error_on_circle(x: SignedNumber) -> Error:
    if x.size > 100 * pi:
        raise Open("beyond 100 pi PTX states no error")
    return Error(absolute=2.0**-20.5 if x.size <= 2 * pi else 2.0**-14.7)


def _error_of_division(m: Modifiers) -> ErrorOf:
    def error(x: SignedNumber, y: SignedNumber) -> Error:
        if not (x.finite and y.finite and y.size):
            raise Open("PTX does not say what an approximation makes of an infinity, or of a division by 0")
        if m["mode"] == "approx" and not NARROWEST <= y.size <= WIDEST:
            raise Open("`div.approx` by a number whose size is not in 2 ** -126 … 2 ** 126 has no error that is stated")
        return Error(ulps=2)

    return error


def _always(error: Error) -> Callable[[Modifiers], ErrorOf]:
    return lambda _: lambda *_numbers: error


def _by_type(**errors: Error) -> Callable[[Modifiers], ErrorOf]:
    def of(m: Modifiers) -> ErrorOf:
        error = errors[m["type"].removesuffix("x2")]
        return lambda *_numbers: error

    return of


def _error_of_tanh(m: Modifiers) -> ErrorOf:
    least = Fraction(2) ** FORMATS["f32"].minimum_exponent
    error = TANH[m["type"].removesuffix("x2")]
    return lambda x: EXACT if m["type"] == "f32" and x.size < least else error


TANH = {"f32": Error(relative=2.0**-11), "f16": Error(absolute=2.0**-10.987), "bf16": Error(absolute=2.0**-8)}
ROWS: Mapping[str, tuple[Exactly, Callable[[Modifiers], ErrorOf]]] = {
    "ex2": (_power, _always(Error(ulps=2))),
    "ex2_half": (_power, _by_type(f16=Error(relative=2.0**-9.9), bf16=Error(relative=2.0**-7))),
    "lg2": (_logarithm, lambda _: _error_of_logarithm),
    "sin": (_circular(binary64.sin), lambda _: _error_on_circle),
    "cos": (_circular(binary64.cos), lambda _: _error_on_circle),
    **dict.fromkeys(("tanh", "tanh_half"), (_hyperbolic, _error_of_tanh)),
    "rsqrt": (_reciprocal_root, _always(Error(relative=2.0**-22.9))),
    "sqrt": (_root, _always(Error(relative=2.0**-23))),
    "rcp": (_reciprocal, _always(Error(ulps=1))),
    "div_f": (numbers.divide, _error_of_division),
}
"""The exact result, and the error of finite operands."""
NOT_NEGATIVE = ("ex2", "ex2_half", "rsqrt", "sqrt")
DOMAIN = ("lg2", "rsqrt", "sqrt")
"""Those of a negative subnormal: PTX says of other negative numbers only that they give NaN."""


# ------------------------------------------------------------------------------------------------- what is permitted


def is_approximate(form: str, m: Modifiers) -> bool:
    """Whether an instruction is one of the table above."""
    return form in ROWS and m["mode"] in ("approx", "full")


def permitted(form: str, m: Modifiers) -> Callable[[Bits], tuple[Permitted, ...]]:
    """What the error permits in each lane of the result. Fails: Open, when it is called."""
    kind = m["type"].removesuffix("x2")
    row, one = FORMATS[kind], _one_lane(form, m)
    count = 2 if m["type"].endswith("x2") else 1

    def of(registers: Bits) -> tuple[Permitted, ...]:
        return tuple([one(lanes) for lanes in zip(*(split(each, row.bits, count) for each in registers), strict=True)])

    return of


def _one_lane(form: str, m: Modifiers) -> Callable[[Bits], Permitted]:
    row, flush = FORMATS[m["type"].removesuffix("x2")], bool(m.get("ftz"))
    exactly, error_of = ROWS[form][0], ROWS[form][1](m)
    if row.bits == 64:
        raise Open("of an approximation of f64 PTX states no error")

    def one(lanes: Bits) -> Permitted:
        values = [decode(row, flushed(row, bits) if flush else bits) for bits in lanes]
        if None in values:
            return Permitted(nan(row), nan(row), nan(row))
        known = [value for value in values if value is not None]
        if form in DOMAIN and known[0].negative and 0 < known[0].size < Fraction(2) ** row.minimum_exponent:
            raise Open(f"`{form}` of a negative subnormal: PTX does not say the result")
        result = exactly(*known)
        special = result is None or not result.finite or not all(value.finite and value.size for value in known)
        error = EXACT if special and form != "div_f" else error_of(*known)
        ends = _ends(row, result, error, least=0 if form in NOT_NEGATIVE else None)
        return Permitted(*[flushed(row, bits) if flush else bits for bits in ends])

    return one


def _ends(row: FloatFormat, result: Value, error: Error, *, least: int | None) -> Bits:
    nearest = encode(row, result, "rn")
    if result is None or error == EXACT:
        return nearest, nearest, nearest
    if not result.finite:
        return nearest, _stepped(row, nearest, -error.ulps), nearest
    exact = result.value
    margin = abs(exact) * CLOSE
    reach = margin + abs(exact) * Fraction(error.relative) + Fraction(error.absolute)
    low, high = exact - reach, exact + reach
    mode_low, mode_high = ("rn", "rn") if error.ulps else ("rm", "rp")
    low = low if least is None else max(low, Fraction(least))
    bottom = _stepped(row, encode(row, number(low, negative_zero=result.negative), mode_low), -error.ulps)
    top = _stepped(row, encode(row, number(high, negative_zero=result.negative), mode_high), error.ulps)
    if least is not None and _place(row, bottom) < 0:
        bottom = 0
    return nearest, bottom, top


def _place(row: FloatFormat, bits: int) -> int:
    """The place of a number among those of its format, 0 that of both zeros."""
    size = bits & ((1 << (row.bits - 1)) - 1)
    return -size if bits >> (row.bits - 1) else size


def _stepped(row: FloatFormat, bits: int, steps: int) -> int:
    """The number some places on, at most infinity."""
    if not steps:
        return bits
    infinite = ((1 << row.exponent_bits) - 1) << row.fraction_bits
    place = max(-infinite, min(_place(row, bits) + steps, infinite))
    return place if place >= 0 else -place | 1 << (row.bits - 1)


# ------------------------------------------------------------------------------------------------- the meanings


def _approximated(form: str) -> Family:
    def family(m: Modifiers) -> Meaning:
        if not is_approximate(form, m):
            return FLOATS[form](m)
        one = _one_lane(form, m)
        return packed(m["type"], lambda _: lambda registers: (one(registers).nearest,))

    return family


APPROXIMATIONS: Mapping[str, Family] = {form: _approximated(form) for form in ROWS}
