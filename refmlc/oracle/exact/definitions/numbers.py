"""Exact numbers that know how far a straightforward evaluation in a format may lie from them.

An `ExactNumber` is a rational, or NaN or an infinity. Beside it stands `error`: how far the value computed in the
`format` may be away, as the running error analysis of the formula has it (Higham, Accuracy and Stability of Numerical
Algorithms, 2nd edition, 3.1 and 3.3). So a bound follows from the definition, before anything is computed:

| step                      | adds to the error                                                                    |
|---------------------------|--------------------------------------------------------------------------------------|
| an input                  | nothing                                                                              |
| `+ - *`, division         | what both operands bring                                                             |
| a result that is used     | its rounding, `u * abs(result)`, and the least subnormal; none if the format holds it |
| a sum of n terms          | `(n - 1) * u * sum(abs(terms))`, in any order (Jeannerod and Rump 2013)              |
| an operand that overflows | everything: any result is permitted then                                             |

The last operation is rounded by the comparison, so a single one is correctly rounded: half an ulp. Integers have no
format: they are exact, and wrap where they are compared. Errors are binary64 numbers, rounded up.
"""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

import ml_dtypes
import numpy as np

UP = 1 + 2.0**-50
LEAST = 5e-324
SPECIALS: "dict[str, Callable[[float, float], float]]" = {
    "+": lambda a, b: a + b,
    "*": lambda a, b: a * b,
}
Real: TypeAlias = Fraction | float


@dataclass(frozen=True)
class Format:
    """A format of floats: precision in bits, unit roundoff, greatest and least number, whether it has infinities."""

    name: str
    bits: int
    unit: float
    greatest: Fraction
    least: Fraction
    infinite: bool

    def ulp(self, value: Real) -> Fraction:
        """The distance of the numbers around `value`."""
        size = abs(Fraction(value))
        if size <= self.least:
            return self.least
        exponent = size.numerator.bit_length() - size.denominator.bit_length()
        exponent -= size < Fraction(2) ** exponent
        return max(Fraction(2) ** (exponent - self.bits + 1), self.least)

    def holds(self, value: Fraction) -> bool:
        """Whether a value is a number of the format, so that nothing is rounded."""
        top, bottom = abs(value.numerator), value.denominator
        if bottom & (bottom - 1) or not top:
            return not top
        significant = (top // (top & -top)).bit_length()
        return significant <= self.bits and abs(value) <= self.greatest and not value % self.least

    @property
    def overflow(self) -> Fraction:
        """The least size that is rounded to infinity."""
        return self.greatest + self.ulp(self.greatest) / 2


def format_of(dtype: np.dtype) -> Format | None:
    """The format of a dtype of floats; None for integers and bool."""
    if dtype.kind in "biu" or dtype.name.startswith(("int", "uint")):
        return None
    info = ml_dtypes.finfo(dtype)
    bits = info.nmant + 1
    with np.errstate(all="ignore"):
        infinite = bool(np.isinf(np.array(np.inf, np.float32).astype(dtype).astype(np.float32)))
    least = Fraction(float(info.smallest_subnormal))
    return Format(dtype.name, bits, 2.0**-bits, Fraction(float(info.max)), least, infinite)


FLOAT32 = np.dtype("float32")


def wide(dtype: np.dtype) -> np.dtype:
    """The dtype in which PyTorch computes (`at::opmath_type`): float32 for floats of fewer bits."""
    narrow = format_of(dtype) is not None and dtype.itemsize < FLOAT32.itemsize
    return FLOAT32 if narrow else dtype


def above(value: Real) -> float:
    """A binary64 number that is not below `value`."""
    try:
        return float(value) * UP + LEAST if value else 0.0
    except OverflowError:
        return math.inf


def special(value: Real) -> bool:
    """Whether a value is NaN or an infinity."""
    return isinstance(value, float) and not math.isfinite(value)


def _sign(value: Real) -> float:
    """A float of the same sign, which is 0 where the value is."""
    return value if isinstance(value, float) else float((value > 0) - (value < 0))


class ExactNumber:
    """A value with the error of its computation. `fresh`: it was computed and is rounded when it is used.

    `value` is -0.0 (a float) where an input is that, for what depends on the sign of zero.
    """

    __slots__ = ("error", "format", "fresh", "value")

    def __init__(self, value: Real, error: float = 0.0, format: Format | None = None, *, fresh: bool = False) -> None:  # noqa: A002 - the field's name
        self.value, self.error, self.format, self.fresh = value, error, format, fresh

    @property
    def rational(self) -> Fraction:
        """The value where it is finite."""
        return Fraction(self.value)

    def used(self) -> float:
        """The error of the value as an operand: its own rounding too, and everything where it may overflow."""
        if special(self.value) or not self.fresh or self.format is None:
            return self.error
        if not self.error and self.format.holds(self.rational):
            return 0.0
        size = above(abs(self.rational)) + self.error
        error = (self.error + size * self.format.unit) * UP + above(self.format.least)
        return math.inf if size + error > self.format.greatest else error

    def _with(self, other: "ExactNumber | int | Fraction") -> "tuple[ExactNumber, Format | None]":
        second = other if isinstance(other, ExactNumber) else ExactNumber(Fraction(other))
        return second, self.format or second.format

    def _special(self, other: "ExactNumber", sign: str, form: Format | None) -> "ExactNumber":
        """Where one is special: by IEEE 754, as long as the sign of the other is sure."""
        known = self.is_sure() and other.is_sure()
        return ExactNumber(SPECIALS[sign](_sign(self.value), _sign(other.value)), 0.0 if known else math.inf, form)

    def is_sure(self) -> bool:
        """Whether the computed value certainly has the class and the sign of this one."""
        error = self.used()
        return error == 0 or (not special(self.value) and error < abs(self.rational))

    def __add__(self, other: "ExactNumber | int | Fraction") -> "ExactNumber":
        second, form = self._with(other)
        if special(self.value) or special(second.value):
            return self._special(second, "+", form)
        error = (self.used() + second.used()) * UP
        return ExactNumber(self.rational + second.rational, error, form, fresh=True)

    def __neg__(self) -> "ExactNumber":
        return ExactNumber(-self.value, self.error, self.format, fresh=self.fresh)

    def __sub__(self, other: "ExactNumber | int | Fraction") -> "ExactNumber":
        return self + (-other)

    def __mul__(self, other: "ExactNumber | int | Fraction") -> "ExactNumber":
        second, form = self._with(other)
        if special(self.value) or special(second.value):
            return self._special(second, "*", form)
        a, b = self.rational, second.rational
        first, then = self.used(), second.used()
        if max(first, then) == math.inf:
            return ExactNumber(a * b, math.inf, form)
        error = 0.0
        if first or then:
            error = (above(abs(a)) * then if then else 0.0) + (above(abs(b)) * first if first else 0.0)
            error = (error + first * then) * UP
        return ExactNumber(a * b, error, form, fresh=True)

    def __truediv__(self, other: "ExactNumber | int | Fraction") -> "ExactNumber":
        second, form = self._with(other)
        a, b = self.value, second.value
        first, then = self.used(), second.used()
        if special(a) or special(b) or not b:
            known = self.is_sure() and second.is_sure() and not (second.fresh and not b)
            return ExactNumber(_quotient(a, b), 0.0 if known else math.inf, form)
        if max(first, then) == math.inf or then >= abs(Fraction(b)):
            return UNKNOWN
        ratio = Fraction(a) / Fraction(b)
        smallest = float(abs(Fraction(b)) - Fraction(then)) / UP
        error = first + (above(abs(ratio)) * then if then else 0.0)
        return ExactNumber(ratio, _ratio(error, smallest), form, fresh=True)

    def __abs__(self) -> "ExactNumber":
        return -self if self.value < 0 else self

    def __lt__(self, other: "ExactNumber") -> bool:
        return self.value < other.value

    def __gt__(self, other: "ExactNumber") -> bool:
        return self.value > other.value


def _ratio(error: float, divisor: float) -> float:
    """The quotient of errors, rounded up; infinite where the divisor may be 0."""
    if not error:
        return 0.0
    return error / divisor * UP if divisor and error < math.inf else math.inf


def _quotient(a: Real, b: Real) -> float:
    """The quotient of IEEE 754 where one is special, or the divisor is 0."""
    with np.errstate(all="ignore"):
        return float(np.float64(_sign(a)) / np.float64(_sign(b)))


UNKNOWN = ExactNumber(math.nan, math.inf)
"""A number without a definition: any result is permitted."""


def is_nan(number: ExactNumber) -> bool:
    """Whether the value is NaN."""
    return isinstance(number.value, float) and math.isnan(number.value)


def constant(value: float | Fraction, form: Format | None) -> ExactNumber:
    """A number that is written in a program, and rounded to the format when it is used."""
    exact = Fraction(value) if not isinstance(value, float) or math.isfinite(value) else value
    return ExactNumber(exact, 0.0, form, fresh=True)


def total(terms: Iterable[ExactNumber], form: Format | None) -> ExactNumber:
    """The sum of terms in any order; 0 where there is none."""
    numbers = list(terms)
    finite = [number for number in numbers if not special(number.value)]
    if len(finite) < len(numbers):
        return _special_total(numbers, form)
    used = [number.used() for number in numbers]
    value = sum((number.rational for number in numbers), Fraction(0))
    if form is None or len(numbers) < 2:
        return ExactNumber(value, math.fsum(used) if max(used, default=0.0) < math.inf else math.inf, form)
    sizes = above(sum((abs(number.rational) for number in numbers), Fraction(0))) + sum(used)
    if sizes > form.greatest:
        return ExactNumber(value, math.inf, form)
    error = (sum(used) + (len(numbers) - 2) * form.unit * sizes) * UP if len(numbers) > 2 else sum(used)
    return ExactNumber(value, error, form, fresh=True)


def _special_total(numbers: Sequence[ExactNumber], form: Format | None) -> ExactNumber:
    """NaN and infinities decide; where only one infinity is there, finite terms must not reach the other one."""
    value = math.fsum(_signs(numbers))
    sizes = sum((abs(number.rational) for number in numbers if not special(number.value)), Fraction(0))
    reaches = form is not None and (above(sizes) + sum(number.used() for number in numbers)) * UP > form.greatest
    known = all(number.is_sure() for number in numbers if special(number.value)) and (math.isnan(value) or not reaches)
    return ExactNumber(value, 0.0 if known else math.inf, form)


def _signs(numbers: Sequence[ExactNumber]) -> list[float]:
    """The special values; NaN alone where they contradict each other."""
    specials = [float(number.value) for number in numbers if special(number.value)]
    return [math.nan] if {math.inf, -math.inf} <= set(specials) else specials


def product(terms: Iterable[ExactNumber], form: Format | None) -> ExactNumber:
    """The product of terms in any order; 1 where there is none. Unknown where a part of it may leave the range."""
    numbers = list(terms)
    result = ExactNumber(Fraction(1), 0.0, form)
    for place, number in enumerate(numbers):
        result = result * number if place else number
    if form is None or special(result.value) or not result.value or len(numbers) < 3:
        return result
    sizes = [abs(number.rational) for number in numbers]
    most, fewest = (math.prod(part) for part in ([s for s in sizes if s > 1], [s for s in sizes if s < 1]))
    outside = most > form.greatest or fewest < form.least * 2 ** (form.bits - 1)
    return ExactNumber(result.value, math.inf if outside else result.error * UP, form, fresh=True)


def greatest(numbers: Iterable[ExactNumber]) -> ExactNumber:
    """The greatest; NaN where one is NaN (NumPy's `maximum`)."""
    return _extreme(numbers, upwards=True)


def least(numbers: Iterable[ExactNumber]) -> ExactNumber:
    """The least; NaN where one is NaN (NumPy's `minimum`)."""
    return _extreme(numbers, upwards=False)


def _extreme(numbers: Iterable[ExactNumber], *, upwards: bool) -> ExactNumber:
    best: ExactNumber | None = None
    error = 0.0
    for number in numbers:
        if is_nan(number):
            return number
        error = max(error, number.used())
        if best is None or (number.value > best.value if upwards else number.value < best.value):
            best = number
    return UNKNOWN if best is None else ExactNumber(best.value, error, best.format) if error else best


def truncated(number: ExactNumber) -> ExactNumber:
    """An integer: the value without its fraction."""
    return (
        number
        if special(number.value)
        else ExactNumber(Fraction(math.trunc(number.value)), number.error, number.format)
    )


def quotient(a: ExactNumber, b: ExactNumber) -> ExactNumber:
    """The quotient; that of integers without its fraction."""
    return truncated(a / b) if a.format is None and b.format is None else a / b
