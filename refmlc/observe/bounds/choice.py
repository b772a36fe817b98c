"""Integers and bools that depend on a rounding: the set of values they may have.

A value is, during a certified run, one of

| dtype                | value                                                                     |
|----------------------|---------------------------------------------------------------------------|
| float                | `Enclosure`                                                               |
| int, uint, bool      | a Python number if it is certain, else a `Choice` of at least two         |

A choice of more than `MOST` values is `UNKNOWN`: any value of the dtype.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import product
from math import prod
from typing import TypeAlias

from refmlc.lang.ops.contract import UndefinedValue
from refmlc.observe.bounds.enclosure import Enclosure

MOST = 64


@dataclass(frozen=True, slots=True)
class Choice:
    """One of `values`; None: any of the dtype."""

    values: frozenset[int] | None


UNKNOWN = Choice(None)
EITHER = Choice(frozenset((False, True)))
Whole: TypeAlias = int | Choice
Value: TypeAlias = int | Choice | Enclosure


def one_of(values: Iterable[int]) -> Whole:
    """The choice of `values`, the value itself where there is one."""
    options = frozenset(values)
    if len(options) == 1:
        return next(iter(options))
    return Choice(options) if 0 < len(options) <= MOST else UNKNOWN


def members(value: Whole) -> frozenset[int] | None:
    """The values; None where any is possible."""
    return value.values if isinstance(value, Choice) else frozenset((value,))


def either(a: Whole, b: Whole) -> Whole:
    """A choice that holds both."""
    left, right = members(a), members(b)
    return UNKNOWN if left is None or right is None else one_of(left | right)


def truth(holds: bool, fails: bool) -> Whole:
    """The bool that may be True where `holds`, and False where `fails`."""
    return EITHER if holds and fails else holds


def can(value: Whole, outcome: bool) -> bool:
    """True if the truth of the value may be `outcome`."""
    options = members(value)
    return options is None or any(bool(option) == outcome for option in options)


def on_combinations(function: Callable[..., int], *args: Whole) -> Whole:
    """`function` on every combination; undefined combinations do not occur in a defined program."""
    if not any(isinstance(arg, Choice) for arg in args):
        return function(*args)
    sets = [members(arg) for arg in args]
    finite_sets = [options for options in sets if options is not None]
    if len(finite_sets) < len(sets) or prod(map(len, finite_sets)) > MOST * MOST:
        return UNKNOWN
    results: set[int] = set()
    for combination in product(*finite_sets):
        try:
            results.add(function(*combination))
        except UndefinedValue:
            continue
    return one_of(results)
