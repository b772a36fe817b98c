"""D = A * B + C in a matrix unit: the value that every order and every width gives, or why there is none (TIM-002).

| elements of A and B | the value of an element of D                                                                 |
|---------------------|----------------------------------------------------------------------------------------------|
| integers            | the exact sum, wrapped to 32 bits; with `satfinite` the nearest of 32 bits                   |
| bits                | C plus the number of ones in the row and the column, combined by the operator; wrapped       |
| floats              | the exact sum, where all sums of some of the terms are exact in the accumulator's precision  |

A unit that is narrower than the accumulator shifts the terms to the largest one and drops what is below. Where the
sum of all magnitudes is within `precision` bits of the lowest bit of any term, nothing is below, in any order.

Decision: the ISA promises single precision for f32 accumulators and half precision for f16 ones, leaves open the order,
the rounding and subnormal inputs, and units for 8-bit floats are known to keep 14 bits of an f32 accumulator: half
precision is what is relied on there. What those leave open has no value here, as do infinities, NaN and sums of
negative zeros alone.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Generic, TypeAlias, TypeVar

from refmlc.lang.dtypes import INT32, DType
from refmlc.lang.dtypes.bits import from_bits, to_bits
from refmlc.lang.dtypes.rounding import wrap
from refmlc.lang.ops.matrix.fragments import Matrix, ProductForm
from refmlc.lang.ops.matrix.tensor_products import TensorForm

T = TypeVar("T")


class Unspecified(Exception):
    """The value depends on the order or the width, which are not specified."""


@dataclass(frozen=True, slots=True)
class Accumulator:
    """Floats of `precision` bits from 2 to the `least` on, of magnitudes up to `largest`."""

    precision: int
    least: int
    largest: float


ACCUMULATORS: Mapping[str, Accumulator] = {
    "float16": Accumulator(11, -14, 65504.0),
    "bfloat16": Accumulator(8, -126, math.ldexp(255, 120)),
    "float32": Accumulator(24, -126, math.ldexp(2**24 - 1, 104)),
    "float64": Accumulator(53, -1022, math.ldexp(2**53 - 1, 971)),
}
HALF, BYTE, HALF_BYTE = 11, 8, 4
TF32_DROPPED = (1 << 13) - 1
Parts: TypeAlias = tuple[int, int, float]


@dataclass(frozen=True, slots=True)
class Product(Generic[T]):
    """How codes of A and B are read, and the code of an element of D: of a row, a column and a code of C."""

    read_a: Callable[[int], T]
    read_b: Callable[[int], T]
    element: Callable[[Sequence[T], Sequence[T], int], int]

    def of(self, a: Matrix, b: Matrix, c: Matrix) -> Matrix:
        """The codes of D = A * B + C. Fails: Unspecified."""
        rows = [[self.read_a(code) for code in row] for row in a]
        columns = [[self.read_b(code) for code in column] for column in zip(*b, strict=True)]
        return [[self.element(row, column, c[i][j]) for j, column in enumerate(columns)] for i, row in enumerate(rows)]


@dataclass(frozen=True, slots=True)
class Scales:
    """The scales of the rows of A and the columns of B, as codes of `dtype`: each for as many elements along k."""

    dtype: DType
    a: Matrix
    b: Matrix

    def of_columns(self, first: int, count: int) -> "Scales":
        """Those of some of the columns of B."""
        return Scales(self.dtype, self.a, self.b[first : first + count])

    def apply(self, elements: Sequence[Parts], codes: Sequence[int]) -> list[Parts]:
        """The elements of a row or a column, times their scales. Fails: Unspecified."""
        scales = [_scale(self.dtype, code) for code in codes]
        count = len(elements) // len(scales)
        pairs = ((element, scales[place // count]) for place, element in enumerate(elements))
        return [(x[0] * y[0], x[1] + y[1], x[2]) for x, y in pairs]


def scaled_product(form: TensorForm, a: Matrix, b: Matrix, c: Matrix, scales: Scales) -> Matrix:
    """The codes of D, where an element of A and B is what its code says times its scale. Fails: Unspecified."""
    rule = of_floats(*(form.element(matrix) for matrix in "abcd"))
    rows = [scales.apply([rule.read_a(code) for code in row], own) for row, own in zip(a, scales.a, strict=True)]
    turned = zip(zip(*b, strict=True), scales.b, strict=True)
    columns = [scales.apply([rule.read_b(code) for code in column], own) for column, own in turned]
    return [[rule.element(row, column, c[i][j]) for j, column in enumerate(columns)] for i, row in enumerate(rows)]


def product(form: ProductForm | TensorForm, a: Matrix, b: Matrix, c: Matrix) -> Matrix:
    """The codes of D. Fails: Unspecified."""
    if form.bit_operator:
        return of_bits(form.bit_operator).of(a, b, c)
    dtypes = [form.element(matrix) for matrix in "abcd"]
    if form.c == "s32":
        return of_integers(*dtypes[:2], saturates=form.saturates).of(a, b, c)
    return of_floats(*dtypes, dropped=TF32_DROPPED if form.a == "tf32" else 0).of(a, b, c)


def signed(dtype: DType, matrix: Matrix, sign: int) -> Matrix:
    """The codes of a matrix of floats, or of its negative."""
    if sign == 1:
        return matrix
    bit = 1 << dtype.bits - 1
    return [[code ^ bit for code in row] for row in matrix]


def of_bits(operator: str) -> Product[int]:
    """Ones in common (`and`), or where row and column differ (`xor`)."""

    def element(row: Sequence[int], column: Sequence[int], start: int) -> int:
        pairs = zip(row, column, strict=True)
        ones = sum(x & y for x, y in pairs) if operator == "and" else sum(x ^ y for x, y in pairs)
        return to_bits(INT32, wrap(INT32, start + ones))

    return Product(int, int, element)


def of_integers(a: DType, b: DType, *, saturates: bool = False) -> Product[int]:
    """Sums of products of integers in 32 bits."""

    def element(row: Sequence[int], column: Sequence[int], start: int) -> int:
        terms = [wrap(INT32, start), *(x * y for x, y in zip(row, column, strict=True))]
        total = sum(terms)
        return to_bits(INT32, _saturated(terms, total) if saturates else wrap(INT32, total))

    return Product(partial(_integer, a), partial(_integer, b), element)


def _integer(dtype: DType, code: int) -> int:
    return int(from_bits(dtype, code))


def _saturated(terms: Sequence[int], total: int) -> int:
    """The sum, limited to 32 bits. Fails: Unspecified where it depends on when it is limited."""
    above, below = sum(term for term in terms if term > 0), sum(term for term in terms if term < 0)
    if (above > INT32.maximum or below < INT32.minimum) and above and below:
        raise Unspecified("with `satfinite` the sum depends on the order of its terms")
    return max(int(INT32.minimum), min(int(INT32.maximum), total))


def of_floats(a: DType, b: DType, c: DType, d: DType, *, dropped: int = 0) -> Product[Parts]:
    """Sums of products of floats; `dropped`: the bits of an element that the unit does not look at."""
    accumulator = ACCUMULATORS[max(c, d, key=lambda dtype: dtype.bits).element]
    precision = min(accumulator.precision, HALF) if a.bits <= BYTE else accumulator.precision

    def element(row: Sequence[Parts], column: Sequence[Parts], start: int) -> int:
        mantissa, exponent, sign = _parts(c, 0, start)
        terms, signs = [(mantissa, exponent)], [sign]
        for x, y in zip(row, column, strict=True):
            terms.append((x[0] * y[0], x[1] + y[1]))
            signs.append(x[2] * y[2])
        return to_bits(d, _exact_sum(terms, signs, accumulator, precision))

    return Product(partial(_parts, a, dropped), partial(_parts, b, dropped), element)


@lru_cache(maxsize=1 << 17)
def _parts(dtype: DType, dropped: int, code: int) -> Parts:
    """A float as mantissa, exponent and sign. Fails: Unspecified where the ISA does not say what a unit reads."""
    value = float(from_bits(dtype, code))
    if not math.isfinite(value):
        raise Unspecified(f"an element is {value}")
    if code & dropped:
        raise Unspecified(f"{value} does not fit in tf32")
    if value and abs(value) < math.ldexp(1.0, dtype.format.minimum_exponent) and dtype.bits > HALF_BYTE:
        raise Unspecified(f"the element {value} is subnormal")
    mantissa, denominator = value.as_integer_ratio()
    return mantissa, 1 - denominator.bit_length(), math.copysign(1.0, value)


@lru_cache(maxsize=1 << 9)
def _scale(dtype: DType, code: int) -> Parts:
    """A scale: a power of two, or the magnitude of a float. Fails: Unspecified where it is none."""
    value = float(from_bits(dtype, code))
    if not math.isfinite(value) or math.copysign(1.0, value) < 0:
        raise Unspecified(f"a scale is {value}")
    mantissa, denominator = value.as_integer_ratio()
    return mantissa, 1 - denominator.bit_length(), 1.0


def _exact_sum(
    terms: Sequence[tuple[int, int]], signs: Sequence[float], accumulator: Accumulator, precision: int
) -> float:
    """The sum of mantissas times powers of two, where every order and width gives it. Fails: Unspecified."""
    counting = [term for term in terms if term[0]]
    if not counting:
        if all(sign < 0 for sign in signs):
            raise Unspecified("the sign of a sum of negative zeros")
        return 0.0
    lowest = min(exponent for _, exponent in counting)
    whole = [mantissa << exponent - lowest for mantissa, exponent in counting]
    union = 0
    for number in whole:
        union |= abs(number)
    step = (union & -union).bit_length() - 1
    reach = sum(map(abs, whole)) >> step
    if reach.bit_length() > precision:
        raise Unspecified(f"the sum takes {reach.bit_length()} bits, so that order and rounding count")
    least = lowest + step
    if least < accumulator.least or (reach << max(least, 0)) > int(accumulator.largest) << max(-least, 0):
        raise Unspecified("a sum of some of the terms may be subnormal or beyond the largest number")
    return math.ldexp(sum(whole), lowest)
