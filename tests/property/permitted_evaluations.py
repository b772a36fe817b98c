"""Evaluations that an implementation may choose, made without the oracle: exact fractions and NumPy's own roundings.

`Evaluation` draws, for each rounding, whether it happens at all (wide), once, or by way of the wider format; and for
each sum a tree.
"""

import math
from fractions import Fraction

import numpy as np

WIDER = {"float16": "float32", "float32": "float64"}
DIGITS = {"float16": (11, -14, 15), "float32": (24, -126, 127), "float64": (53, -1022, 1023)}


def rounded(x, name):
    """The fraction `x` rounded to nearest, ties to even, by whole numbers alone; ±inf beyond the format."""
    if isinstance(x, float) or x == 0:
        return x
    digits, least, most = DIGITS[name]
    exponent = math.floor(math.log2(abs(x.numerator)) - math.log2(x.denominator))
    while Fraction(2) ** (exponent + 1) <= abs(x):
        exponent += 1
    while Fraction(2) ** exponent > abs(x):
        exponent -= 1
    quantum = Fraction(2) ** (max(exponent, least) - digits + 1)
    quotient, rest = divmod(abs(x), quantum)
    up = rest * 2 > quantum or (rest * 2 == quantum and quotient % 2 == 1)
    size = (quotient + up) * quantum
    if size >= Fraction(2) ** (most + 1):
        return math.inf if x > 0 else -math.inf
    return size if x > 0 else -size


class Evaluation:
    """One permitted evaluation in dtype `name`, its choices by `generator` (random.Random)."""

    def __init__(self, generator, name, *, wide=True):
        self.random, self.name, self.wide = generator, name, wide

    def round(self, x):
        """One of the roundings that are permitted after an operation."""
        way = self.random.randrange(3) if self.wide else 2
        if way == 0:
            return rounded(x, WIDER[self.name])
        if way == 1:
            return rounded(rounded(x, WIDER[self.name]), self.name)
        return rounded(x, self.name)

    def product(self, a, b):
        """`a * b`, rounded or left for a fused sum."""
        exact = a * b
        return exact if self.random.random() < 0.3 else self.round(exact)

    def sum(self, terms):
        """The terms along a random tree, each node rounded, the result stored in the dtype."""
        terms = list(terms)
        self.random.shuffle(terms)
        chain = self.random.random() < 0.5
        while len(terms) > 1:
            at = 0 if chain else self.random.randrange(len(terms) - 1)
            a, b = terms.pop(at), terms.pop(at)
            terms.insert(at, self.round(plus(a, b)))
        return rounded(terms[0], self.name) if terms else Fraction(0)


def plus(a, b):
    """The exact sum; of infinities as IEEE 754 says."""
    if isinstance(a, float) or isinstance(b, float):
        a, b = (x if isinstance(x, float) else math.copysign(1.0, x) for x in (a, b))
        return a + b
    return a + b


def number(x):
    """A fraction or special value as a float."""
    return x if isinstance(x, float) else float(x)


def all_trees(terms):
    """Every binary tree on every order of the terms, as nested pairs."""
    if len(terms) == 1:
        yield terms[0]
        return
    for mask in range(1, 1 << (len(terms) - 1)):
        left = [term for at, term in enumerate(terms) if mask >> at & 1]
        right = [term for at, term in enumerate(terms) if not mask >> at & 1]
        for a in all_trees(left):
            for b in all_trees(right):
                yield (a, b)


def evaluated(tree, name):
    """The rounded sum along a tree of fractions."""
    if not isinstance(tree, tuple):
        return tree
    return rounded(plus(evaluated(tree[0], name), evaluated(tree[1], name)), name)


def check_against_numpy():
    """`rounded` is NumPy's own rounding of binary64 numbers."""
    generator = np.random.default_rng(0)
    values = np.ldexp(generator.standard_normal(20_000), generator.integers(-160, 140, 20_000))
    with np.errstate(over="ignore"):
        for name in ("float16", "float32"):
            expected = values.astype(name).astype(np.float64)
            for x, y in zip(values.tolist(), expected.tolist(), strict=True):
                assert number(rounded(Fraction(x), name)) == y, (name, x)
