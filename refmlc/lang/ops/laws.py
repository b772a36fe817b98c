"""Algebraic laws, one row each, by the names that `Contract.laws` has: what any implementation of an operator obeys.

A law holds for operands of one dtype. It says nothing (None) where it does not apply, or where something in it is
undefined.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import copysign
from types import MappingProxyType

from refmlc.lang.dtypes import DType
from refmlc.lang.dtypes.rounding import rounder
from refmlc.lang.ops.contract import BINARY64_PRECISION, Scalar, UndefinedValue, Value


@dataclass(frozen=True, slots=True)
class Setting:
    """Where a law is tried: a dtype, the operator's function on it, and the way to other operators' functions."""

    dtype: DType
    f: Value
    other: Callable[[str], Value]


@dataclass(frozen=True, slots=True)
class Law:
    """A law: its text, how many operands it takes, and whether it holds for them (None: it does not apply)."""

    text: str
    operands: int
    holds: Callable[..., bool | None]


def holds(law: Law, setting: Setting, *operands: Scalar) -> bool | None:
    """Whether `law` holds; None where it does not apply or something in it is undefined."""
    try:
        return law.holds(setting, *operands)
    except UndefinedValue:
        return None


def same(a: Scalar, b: Scalar) -> bool:
    """Equal as values of a dtype: all NaN are one, 0 and -0 are two."""
    if a != a or b != b:  # noqa: PLR0124 - the test for NaN
        return a != a and b != b  # noqa: PLR0124 - the test for NaN
    return a == b and copysign(1.0, a) == copysign(1.0, b)


def _on_integers(law: Callable[..., bool | None]) -> Callable[..., bool | None]:
    return lambda s, *operands: law(s, *operands) if s.dtype.is_integer else None


def _one(s: Setting) -> Scalar | None:
    if s.dtype.is_float:
        return 1.0
    return 1 if s.dtype.maximum >= 1 else None


def _commutative(s: Setting, a: Scalar, b: Scalar) -> bool:
    return same(s.f(a, b), s.f(b, a))


def _associative(s: Setting, a: Scalar, b: Scalar, c: Scalar) -> bool:
    return same(s.f(s.f(a, b), c), s.f(a, s.f(b, c)))


def _one_is_neutral(s: Setting, a: Scalar) -> bool | None:
    one = _one(s)
    return None if one is None else same(s.f(a, one), a)


def _distributes(s: Setting, a: Scalar, b: Scalar, c: Scalar) -> bool:
    add = s.other("add")
    return same(s.f(a, add(b, c)), add(s.f(a, b), s.f(a, c)))


def _quotient_and_remainder(remainder: str) -> Callable[..., bool]:
    return lambda s, a, b: s.f(a, b) * b + s.other(remainder)(a, b) == a


def _remainder_is_smaller(s: Setting, a: Scalar, b: Scalar) -> bool | None:
    rest = s.f(a, b)
    return None if rest != rest or b != b else abs(rest) < abs(b)  # noqa: PLR0124 - the test for NaN


def _negated(s: Setting, a: Scalar) -> float | None:
    """-a, where the dtype has it."""
    if s.dtype.is_integer:
        return -a if s.dtype.minimum <= -a <= s.dtype.maximum else None
    has_it = s.dtype.format.special != "e8m0" and (a != 0.0 or s.dtype.format.has_negative_zero)
    return -a if has_it else None


def _even(s: Setting, a: Scalar) -> bool | None:
    negated = _negated(s, a)
    return None if negated is None else same(s.f(negated), s.f(a))


def _odd(s: Setting, a: Scalar, *rest: Scalar) -> bool | None:
    negated = _negated(s, a)
    return None if negated is None else same(s.f(negated, *rest), rounder(s.dtype)(-s.f(a, *rest)))


def _monotone(s: Setting, a: Scalar, b: Scalar) -> bool | None:
    if s.dtype.format.precision == BINARY64_PRECISION or not a <= b:
        return None
    low, high = s.f(a), s.f(b)
    return None if low != low or high != high else low <= high  # noqa: PLR0124 - the test for NaN


def _within_one(s: Setting, a: Scalar) -> bool:
    value = s.f(a)
    return value != value or -1.0 <= value <= 1.0  # noqa: PLR0124 - the test for NaN


def _two_doubles(s: Setting, a: Scalar) -> bool | None:
    return None if s.dtype.maximum < 2 else _end(s.f, a, 2) == _end(s.other("add"), a, a)


def _end(function: Callable[..., Scalar], *args: Scalar) -> Scalar | None:
    """The value; None: it is undefined."""
    try:
        return function(*args)
    except UndefinedValue:
        return None


LAWS: Mapping[str, Law] = MappingProxyType(
    {
        "commutative": Law("f(a, b) = f(b, a)", 2, _commutative),
        "commutative-int": Law("f(a, b) = f(b, a) on integers", 2, _on_integers(_commutative)),
        "associative": Law("f(f(a, b), c) = f(a, f(b, c))", 3, _associative),
        "associative-int": Law("f(f(a, b), c) = f(a, f(b, c)) on integers", 3, _on_integers(_associative)),
        "distributes-over-add-int": Law("f(a, b + c) = f(a, b) + f(a, c) on integers", 3, _on_integers(_distributes)),
        "idempotent": Law("f(a, a) = a", 1, lambda s, a: same(s.f(a, a), a)),
        "projection": Law("f(f(a)) = f(a)", 1, lambda s, a: same(s.f(s.f(a)), s.f(a))),
        "involution": Law("f(f(a)) = a", 1, lambda s, a: same(s.f(s.f(a)), a)),
        "undoes-itself": Law("f(f(a, b), b) = a", 2, lambda s, a, b: same(s.f(s.f(a, b), b), a)),
        "zero-is-neutral-int": Law("f(a, 0) = a on integers", 1, _on_integers(lambda s, a: s.f(a, 0) == a)),
        "zero-absorbs-int": Law("f(a, 0) = 0 on integers", 1, _on_integers(lambda s, a: s.f(a, 0) == 0)),
        "two-doubles-int": Law("f(a, 2) = a + a on integers, undefined where it is", 1, _on_integers(_two_doubles)),
        "self-cancels-int": Law("f(a, a) = 0 on integers", 1, _on_integers(lambda s, a: s.f(a, a) == 0)),
        "sub-undoes-add-int": Law(
            "f(a + b, b) = a on integers", 2, _on_integers(lambda s, a, b: s.f(s.other("add")(a, b), b) == a)
        ),
        "one-is-neutral": Law("f(a, 1) = a", 1, _one_is_neutral),
        "one-divides": Law("f(a, 1) = a", 1, _one_is_neutral),
        "quotient-and-remainder-trunc": Law(
            "f(a, b) * b + truncmod(a, b) = a, exactly", 2, _quotient_and_remainder("truncmod")
        ),
        "quotient-and-remainder-floor": Law(
            "f(a, b) * b + floormod(a, b) = a, exactly", 2, _quotient_and_remainder("floormod")
        ),
        "remainder-is-smaller": Law("|f(a, b)| < |b|", 2, _remainder_is_smaller),
        "even": Law("f(-a) = f(a)", 1, _even),
        "odd": Law("f(-a) = -f(a)", 1, _odd),
        "odd-in-the-first": Law("f(-a, b) = -f(a, b)", 2, _odd),
        "monotone": Law("a <= b makes f(a) <= f(b), in formats narrower than float64", 2, _monotone),
        "not-negative": Law("f(a) is not below 0", 1, lambda s, a: not s.f(a) < 0),
        "within-one": Law("f(a) lies in -1 … 1", 1, _within_one),
        "negates-eq": Law("f(a, b) = not eq(a, b)", 2, lambda s, a, b: s.f(a, b) is not s.other("eq")(a, b)),
        "mirrors-gt": Law("f(a, b) = gt(b, a)", 2, lambda s, a, b: s.f(a, b) is s.other("gt")(b, a)),
        "mirrors-lt": Law("f(a, b) = lt(b, a)", 2, lambda s, a, b: s.f(a, b) is s.other("lt")(b, a)),
        "mirrors-le": Law("f(a, b) = le(b, a)", 2, lambda s, a, b: s.f(a, b) is s.other("le")(b, a)),
        "is-lt-or-eq": Law(
            "f(a, b) = lt(a, b) or eq(a, b)", 2, lambda s, a, b: s.f(a, b) is (s.other("lt")(a, b) or a == b)
        ),
        "is-gt-or-eq": Law(
            "f(a, b) = gt(a, b) or eq(a, b)", 2, lambda s, a, b: s.f(a, b) is (s.other("gt")(a, b) or a == b)
        ),
        "zeroth-power-is-one": Law(
            "f(a, 0) = 1", 1, lambda s, a: None if s.dtype.format.special == "e8m0" else s.f(a, 0.0) == 1.0
        ),
        "first-power-is-itself": Law("f(a, 1) = a", 1, lambda s, a: same(s.f(a, 1.0), a)),
    }
)
