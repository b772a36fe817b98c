"""Facts of exact integers that z3 does not find by itself: products of divisors, quotients and rests.

| lemma      | says                                                                                           |
|------------|------------------------------------------------------------------------------------------------|
| `multiples`| a multiple of a divisor that is not 0 is at least as far from 0 as the divisor                 |
| `products` | a rest that is below its divisor is so by a multiple of another divisor, and the equation of a |
|            | division holds times another divisor                                                           |

Each is true of all integers, so a proof that uses them is one without.
"""

import itertools
from collections.abc import Iterator

import z3

from refmlc.prove.rules.encode import Division, ExactIntegers

MOST_QUOTIENTS = 5


def multiples(numbers: ExactIntegers) -> Iterator[object]:
    """For each divisor b, and each sum t of quotients by it with signs: t is 0, or b * t is beyond b."""
    divisors: dict[int, list[Division]] = {}
    for division in numbers.divisions.values():
        divisors.setdefault(division.b.get_id(), []).append(division)
    for divisions in divisors.values():
        if len(divisions) <= MOST_QUOTIENTS:
            yield from _multiples(divisions)


def _multiples(divisions: list[Division]) -> Iterator[object]:
    b = divisions[0].b
    if z3.is_int_value(b):
        return
    for signs in itertools.product((0, 1, -1), repeat=len(divisions)):
        first = next((sign for sign in signs if sign), 0)
        if first <= 0:  # the negative of another sum
            continue
        terms = [(sign, division.quotient) for sign, division in zip(signs, divisions, strict=True) if sign]
        total = z3.Sum(*(sign * quotient for sign, quotient in terms))
        product = z3.Sum(*(sign * (b * quotient) for sign, quotient in terms))
        yield z3.Implies(z3.And(b > 0, total >= 1), product >= b)
        yield z3.Implies(z3.And(b > 0, total <= -1), product <= -b)
        yield z3.Implies(z3.And(b < 0, total >= 1), product <= b)
        yield z3.Implies(z3.And(b < 0, total <= -1), product >= -b)


def products(numbers: ExactIntegers) -> Iterator[object]:
    """For each division and the divisor of another."""
    for one, other in itertools.permutations(numbers.divisions.values(), 2):
        d, r, b = one.b, one.rest, other.b
        yield z3.Implies(z3.And(b > 0, r <= d - 1), b * r <= b * d - b)
        yield z3.Implies(z3.And(b > 0, r >= 0), b * r >= 0)
        yield z3.Implies(d != 0, one.a * b == b * d * one.quotient + b * r)
