"""Operands where things change: by dtype, the same in every run."""

import itertools
import math
import random

from rounding import FINITE, exact, format_of, is_int, limits, rounded

NAN, INF = math.nan, math.inf
PLAIN = (0.0, -0.0, 1.0, -1.0, 0.5, 1.5, 2.5, -2.5, 3.0, -3.5, 0.1, -0.3, 7.3, -7.3, 20.75, 100.0, NAN, INF, -INF)


def edges(name):
    """Values of a dtype, each once."""
    if name == "bool":
        return [False, True]
    if is_int(name):
        low, high = limits(name)
        near = {0, 1, 2, 3, 7, 5, -1, -2, -3, -7, low, low + 1, high - 1, high, high // 2 + 1, high // 3}
        return sorted(value for value in near if low <= value <= high)
    row = format_of(name)
    least = 2.0 ** (row.low - row.digits + 1) if name != "float8_e8m0fnu" else 2.0**-127
    more = [
        least,
        -least,
        2.0**row.low,
        float(row.top),
        -float(row.top),
        float(row.top) / 2,
        least * 3,
        1 + 2.0 ** (1 - row.digits),
    ]
    return distinct([*PLAIN, *more], name)


def distinct(values, name):
    """The values rounded to the dtype, each once, in order."""
    found = {}
    for value in values:
        near = rounded(exact(value), name)
        if near is not None:
            found.setdefault(repr(near), near)
    return list(found.values())


def some(name, count, seed=0):
    """Values at random: of floats over a few binades, of integers over the range and near 0."""
    draw = random.Random(f"{name} {seed}")  # noqa: S311 - the same in every run
    if is_int(name):
        low, high = limits(name)
        return [
            draw.randint(low, high) if draw.random() < 0.5 else draw.randint(max(low, -20), min(high, 20))
            for _ in range(count)
        ]
    values = [draw.choice((-1, 1)) * draw.uniform(1, 2) * 2.0 ** draw.randint(-3, 4) for _ in range(count)]
    return [rounded(exact(value), name) for value in values]


def pairs(name, count, other=None):
    """Pairs: the important with the important, then at random."""
    other = other or name
    first, second = important(name), important(other)
    crossed = list(itertools.product(first, second))
    draw = random.Random(f"pairs {name} {other}")  # noqa: S311 - the same in every run
    if len(crossed) > count:
        crossed = draw.sample(crossed, count)
    rest = zip(some(name, 12, 1), some(other, 12, 2), strict=True) if name != "bool" else ()
    return list(dict.fromkeys(map(_Pair, [*crossed, *rest])))


class _Pair(tuple):
    """A pair; pairs of other bits are other pairs."""

    __slots__ = ()

    def __eq__(self, other):
        return repr(self) == repr(other)

    def __hash__(self):
        return hash(repr(tuple(self)))


def important(name):
    """The edges that combine."""
    found = edges(name)
    if is_int(name) or name == "bool":
        return found
    if name in FINITE or len(found) <= 14:
        return found
    keep = {0.0, 1.0, -1.0, 0.5, 1.5, 2.5, -2.5, 3.0}
    tops = found[-8:]
    return [value for value in found if value in keep or not math.isfinite(value)] + [v for v in tops if v not in keep]
