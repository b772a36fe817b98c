"""A result compared with exact numbers.

| the exact value   | the result must be                                                                      |
|-------------------|-----------------------------------------------------------------------------------------|
| of NumPy's array  | these bits; every NaN is one class                                                      |
| NaN               | NaN                                                                                     |
| an infinity       | that one                                                                                |
| an integer        | it, modulo two to the bits; within the error where the definition leaves a choice       |
| a rational        | at most the error and half an ulp away; an infinity only where that may overflow        |
| without a bound   | anything: the formula overflows, or the definition says nothing; they are counted       |

Zeros of both signs are equal, but where bits are compared.
"""

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from refmlc.observe.bounds.enclosure import ANYTHING, NAN, NINF, PINF, Enclosure
from refmlc.oracle.exact.definitions.arrays import numbers
from refmlc.oracle.exact.definitions.numbers import ExactNumber, Format, above, format_of, special
from refmlc.oracle.parts import normal_codes

MOST_ULPS = 10**30


@dataclass(frozen=True)
class Distance:
    """How far a result is from the definition.

    `index` is the first element outside of the bound, else the farthest; `ulps` its distance (None: one is NaN or
    infinite), `bound` what is permitted there, both in ulp of the result's format. `wrong` of `total` elements are
    outside; of `free` ones nothing is required. `nearest`: every element is the nearest number of the format.
    """

    index: tuple[int, ...]
    actual: object
    exact: str
    ulps: float | None
    bound: float
    wrong: int
    total: int
    free: int
    nearest: bool


@dataclass(frozen=True)
class _Element:
    """The verdict on an element."""

    fits: bool
    ulps: float | None
    bound: float
    free: bool = False


def unlike(actual: np.ndarray, exact: np.ndarray) -> str:
    """Why two results are not compared: their shapes, or the dtypes of elements; empty if they are."""
    if actual.shape != exact.shape:
        return f"the result has the shape {actual.shape}, the definition gives {exact.shape}"
    if exact.dtype not in (object, bool, actual.dtype):
        return f"the result has the dtype {actual.dtype}, the definition gives {exact.dtype}"
    return ""


def distance(actual: np.ndarray, exact: np.ndarray) -> Distance:
    """How far `actual` is from `exact`, an array of exact numbers or of elements. Fails: ValueError where `unlike`."""
    if problem := unlike(actual, exact):
        raise ValueError(problem)
    if exact.dtype != object:
        return _bitwise(actual, exact)
    form, dtype = format_of(actual.dtype), actual.dtype
    plain = actual.astype(np.float64) if form is not None else actual
    values = plain.reshape(-1).tolist()
    items = as_numbers(exact)
    judged = [_judged(value, number, form, dtype) for value, number in zip(values, items, strict=True)]
    if not judged:
        return Distance((), None, "", 0.0, 0.0, 0, 0, 0, nearest=True)
    wrong = [at for at, element in enumerate(judged) if not element.fits]
    far = max(range(len(judged)), key=lambda at: judged[at].ulps or 0.0)
    at = wrong[0] if wrong else far
    nearest = all(element.fits and (element.ulps or 0.0) <= 0.5 for element in judged)
    free = sum(element.free for element in judged)
    index = tuple(int(i) for i in np.unravel_index(at, actual.shape))
    shown = shown_value(items[at], form, dtype)
    return Distance(
        index, values[at], shown, judged[at].ulps, judged[at].bound, len(wrong), len(judged), free, nearest=nearest
    )


def _bitwise(actual: np.ndarray, exact: np.ndarray) -> Distance:
    expected = np.ascontiguousarray(exact.astype(actual.dtype) if exact.dtype.kind == "b" else exact)
    found = np.ascontiguousarray(actual)
    differs = (normal_codes(found) != normal_codes(expected)).reshape(-1)
    wrong = np.flatnonzero(differs).tolist()
    if not wrong:
        return Distance((), None, "", 0.0, 0.0, 0, actual.size, 0, nearest=True)
    index = tuple(int(i) for i in np.unravel_index(wrong[0], actual.shape))
    first, second = (array.reshape(-1)[wrong[0]].item() for array in (found, expected))
    return Distance(index, first, f"{second!r}", None, 0.0, len(wrong), actual.size, 0, nearest=False)


def _judged(actual: float, exact: ExactNumber, form: Format | None, dtype: np.dtype) -> _Element:
    if exact.error == math.inf:
        return _Element(fits=True, ulps=None, bound=math.inf, free=True)
    if dtype.kind == "b":
        return _Element(fits=bool(actual) == bool(exact.value), ulps=None, bound=0.0)
    if form is None:
        return _integer(int(actual), exact, dtype)
    if special(exact.value) or special(actual):
        return _special(float(actual), exact, form)
    value = exact.rational
    away, ulp = abs(Fraction(actual) - value), form.ulp(value)
    bound = permitted(exact, form)
    ulps = _ratio(away, ulp)
    if abs(value) - bound >= form.overflow:
        return _Element(fits=not form.infinite and abs(actual) == form.greatest, ulps=ulps, bound=0.0)
    return _Element(fits=away <= bound, ulps=ulps, bound=_ratio(bound, ulp))


def permitted(exact: ExactNumber, form: Format) -> Fraction:
    """How far a result may be from an exact value: its error, the rounding of its own format, and of the result's."""
    own = (
        Fraction(exact.used()) if exact.format is not None and exact.format.bits > form.bits else Fraction(exact.error)
    )
    return own + form.ulp(abs(exact.rational) + own) / 2


def _ratio(size: Fraction, ulp: Fraction) -> float:
    ratio = size / ulp
    return float(ratio) if ratio < MOST_ULPS else math.inf


def _integer(actual: int, exact: ExactNumber, dtype: np.dtype) -> _Element:
    if special(exact.value):
        return _Element(fits=True, ulps=None, bound=math.inf, free=True)
    value = exact.rational
    if exact.error:
        away = abs(actual - value)
        return _Element(fits=away <= Fraction(exact.error), ulps=float(away), bound=exact.error)
    span = 1 << (8 * dtype.itemsize if dtype.kind in "iu" else int(dtype.name.lstrip("uint") or 8))
    fits = value.denominator == 1 and (actual - value.numerator) % span == 0
    away = min((actual - value) % span, (value - actual) % span)
    return _Element(fits=fits, ulps=float(away), bound=0.0)


def _special(actual: float, exact: ExactNumber, form: Format) -> _Element:
    if special(exact.value):
        end = float(exact.value)
        same = math.isnan(actual) if math.isnan(end) or not form.infinite else actual == end
        return _Element(fits=same or _saturates(actual, end, form), ulps=None, bound=0.0)
    bound = permitted(exact, form)
    value = exact.rational
    over = abs(value) + bound >= form.overflow
    if not form.infinite:
        return _Element(fits=over and math.isnan(actual), ulps=None, bound=_ratio(bound, form.ulp(value)))
    fits = over and not math.isnan(actual) and (actual > 0) == (value > 0)
    return _Element(fits=fits, ulps=None, bound=_ratio(bound, form.ulp(value)))


def _saturates(actual: float, value: float, form: Format) -> bool:
    """Whether a format without infinities has its greatest number for one."""
    return not form.infinite and math.isinf(value) and actual == math.copysign(float(form.greatest), value)


def as_numbers(exact: np.ndarray) -> list[ExactNumber]:
    """The elements of an exact result as numbers, in row-major order."""
    if exact.dtype == object:
        return [item if isinstance(item, ExactNumber) else ExactNumber(Fraction(item)) for item in exact.reshape(-1)]
    return list(numbers(exact).reshape(-1))


def nearest(exact: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """The elements of `dtype` nearest to an exact result; integers wrap, what has no bound is 0."""
    if exact.dtype != object:
        return exact.astype(dtype)
    form, items = format_of(dtype), as_numbers(exact)
    if form is None:
        wrapped = [0 if special(item.value) else math.trunc(item.rational) for item in items]
        return _wrapped(wrapped, dtype).reshape(exact.shape)
    values = [math.nan if item.error == math.inf else _float(item) for item in items]
    with np.errstate(all="ignore"):
        return np.array(values, np.float64).astype(dtype).reshape(exact.shape)


def _wrapped(values: list[int], dtype: np.dtype) -> np.ndarray:
    if dtype.kind == "b":
        return np.array([bool(value) for value in values])
    mask = (1 << 64) - 1
    return np.array([value & mask for value in values], np.uint64).astype(np.int64).astype(dtype)


def _float(number: ExactNumber) -> float:
    try:
        return float(number.value)
    except OverflowError:
        return math.copysign(math.inf, number.rational)


def enclosure(number: ExactNumber, form: Format | None) -> Enclosure:
    """What is permitted for an element, as a certificate says it."""
    if number.error == math.inf:
        return ANYTHING
    if special(number.value):
        end = float(number.value)
        bit = NAN if math.isnan(end) else PINF if end > 0 else NINF
        return Enclosure(Fraction(0), 0.0, bit, finite=False)
    value = number.rational
    if form is None:
        return Enclosure(value, number.error)
    bound = permitted(number, form)
    over = form.infinite and abs(value) + bound >= form.overflow
    centre = Fraction(float(value)) if abs(value) < form.overflow else value
    radius = above(bound + abs(value - centre))
    return Enclosure(centre, radius, (PINF if value > 0 else NINF) if over else 0)


def shown_value(number: ExactNumber, form: Format | None, dtype: np.dtype) -> str:
    """An exact value for a message: integers in full, others to 12 digits."""
    value = number.value
    if special(value):
        return repr(float(value))
    exact = number.rational
    if dtype.kind == "b":
        return str(bool(exact))
    if form is None or exact.denominator == 1:
        return str(exact.numerator) if exact.denominator == 1 and abs(exact) < 10**18 else _decimal(exact)
    return _decimal(exact)


def _decimal(exact: Fraction) -> str:
    try:
        return f"{float(exact):.12g}"
    except OverflowError:
        return "beyond binary64"
