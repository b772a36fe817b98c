"""Terms evaluated in two random prime fields: other expressions, shown to have the same value up to a small chance.

| term                                             | value in a field of p elements                             |
|--------------------------------------------------|------------------------------------------------------------|
| an element of an argument                        | a random element                                           |
| a constant                                       | the number or fraction that it is                          |
| `+`, `-`, `*` of integers of 32 and 64 bits      | the operation of the field: no overflow where defined      |
| `+`, `-`, `*`, `/`, `fma` of floats              | over the reals: the same, without any rounding             |
| `max`, `min` of floats                           | over the reals: a random function of the set of operands   |
| everything else: comparisons, narrowing casts, selections, `exp` … | a random function of the operands |

Two rational functions of degree d that differ agree at a random point with a chance of at most d / p (Schwartz and
Zippel); p has 61 bits, and two fields are used. Over the integers the result holds wherever both programs are defined.
Over the reals it says nothing about rounding, overflow, NaN or infinities, and holds where every intermediate value is
finite and no divisor is 0.
"""

import secrets
from collections.abc import Callable, Iterable
from fractions import Fraction
from hashlib import blake2b
from math import isfinite
from typing import TypeAlias

from refmlc.lang.ops.scalar import SCALAR_OPS
from refmlc.prove.terms import FMA, LEAF, WIDE, SymbolicTerm, TermValue, key_of, subterms

BITS = 61
WITNESSES = (2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37)  # decide every number below 2^64
EXTREMES = ("max", "min")
Element: TypeAlias = tuple[int, int]
"""The value in both fields."""


class DivisionByZero(Exception):
    """A divisor is 0 in one of the fields: nothing is said."""


def random_prime() -> int:
    """A random prime of `BITS` bits."""
    while True:
        number = secrets.randbits(BITS - 2) << 1 | 1 << BITS - 1 | 1
        if is_prime(number):
            return number


def is_prime(number: int) -> bool:
    """Whether an odd number above 37 and below 2^64 is a prime (Miller and Rabin)."""
    odd, twos = number - 1, 0
    while odd % 2 == 0:
        odd, twos = odd // 2, twos + 1
    return all(_passes(number, base, odd, twos) for base in WITNESSES)


def _passes(number: int, base: int, odd: int, twos: int) -> bool:
    power = pow(base, odd, number)
    if power in (1, number - 1):
        return True
    for _ in range(twos - 1):
        power = power * power % number
        if power == number - 1:
            return True
    return False


class Field:
    """Two fields and a point in them, drawn anew for each proof. `reals`: floats are elements too."""

    def __init__(self, *, reals: bool) -> None:
        self._reals = reals
        self.primes = (random_prime(), random_prime())
        self._key = secrets.token_bytes(32)
        self._values: dict[int, Element] = {}
        self._sets: dict[int, frozenset[Element]] = {}

    def value(self, value: TermValue) -> Element:
        """The value of a term or a constant. Fails: DivisionByZero."""
        for term in subterms(value):
            if term.number not in self._values:
                self._values[term.number] = self._of(term)
        return self._known(value)

    def _known(self, value: TermValue) -> Element:
        if isinstance(value, SymbolicTerm):
            return self._values[value.number]
        if isinstance(value, bool) or not isfinite(value) or (isinstance(value, float) and not self._reals):
            return self._random("constant", key_of(value))
        fraction = Fraction(value)
        return self._each(lambda p: fraction.numerator * pow(fraction.denominator, -1, p))

    def _each(self, compute: Callable[[int], int]) -> Element:
        first, second = self.primes
        return compute(first) % first, compute(second) % second

    def _random(self, *what: object) -> Element:
        """A random function of its arguments."""
        digest = blake2b(repr(what).encode(), key=self._key, digest_size=32).digest()
        return self._each(lambda p: int.from_bytes(digest[:16] if p == self.primes[0] else digest[16:]))

    def _of(self, term: SymbolicTerm) -> Element:
        if term.op == LEAF:
            return self._random(LEAF, term.detail)
        args = [self._known(arg) for arg in term.args]
        if self._is_element(term):
            value = self._arithmetic(term, args)
            if value is not None:
                return value
        row = SCALAR_OPS.get(term.op)
        if row is not None and "commutative" in row.contract.laws:
            args.sort()
        return self._random(term.op, str(term.dtype), repr(term.detail), args)

    def _is_element(self, term: SymbolicTerm) -> bool:
        """Whether the operator is one of the field."""
        if term.op == FMA:
            return self._reals
        operands = term.detail if term.op in SCALAR_OPS and isinstance(term.detail, tuple) else ()
        if not all(dtype == term.dtype for dtype in operands):
            return False
        return self._reals if term.dtype.is_float else term.dtype.is_integer and term.dtype.bits >= WIDE

    def _arithmetic(self, term: SymbolicTerm, args: list[Element]) -> Element | None:
        match term.op, args:
            case "add", ((a, b), (c, d)):
                return (a + c) % self.primes[0], (b + d) % self.primes[1]
            case "sub", ((a, b), (c, d)):
                return (a - c) % self.primes[0], (b - d) % self.primes[1]
            case "mul", ((a, b), (c, d)):
                return a * c % self.primes[0], b * d % self.primes[1]
            case "div", ((a, b), (c, d)) if term.dtype.is_float:
                if not c or not d:
                    raise DivisionByZero
                return a * pow(c, -1, self.primes[0]) % self.primes[0], b * pow(d, -1, self.primes[1]) % self.primes[1]
            case "fma", ((a, b), (c, d), (e, f)):
                return (a * c + e) % self.primes[0], (b * d + f) % self.primes[1]
            case op, _ if op in EXTREMES and term.dtype.is_float:
                return self._extreme(term)
        return None

    def _extreme(self, term: SymbolicTerm) -> Element:
        """The greatest or least of a set: the order and the number of equal members do not matter."""
        members: set[Element] = set()
        for arg in term.args:
            if isinstance(arg, SymbolicTerm) and arg.op == term.op and arg.number in self._sets:
                members |= self._sets[arg.number]
            else:
                members.add(self._known(arg))
        self._sets[term.number] = frozenset(members)
        if len(members) == 1:
            return next(iter(members))
        return self._random(term.op, sorted(members))


def equal(pairs: Iterable[tuple[TermValue, TermValue]], *, reals: bool) -> bool:
    """Whether the values of each pair are equal in both fields; False where a divisor is 0 there."""
    field = Field(reals=reals)
    try:
        return all(field.value(a) == field.value(b) for a, b in pairs)
    except DivisionByZero:
        return False
