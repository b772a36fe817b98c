"""Points at which a rule is evaluated before a solver is asked: small numbers, ends of the dtype, special floats."""

import itertools
import math
import random
from collections.abc import Iterator, Sequence

from refmlc.lang.dtypes import DType
from refmlc.lang.ops.contract import Scalar
from refmlc.prove.rules.instance import Point, RuleInstance

MOST = 700
TRIES = 20
SMALL = (0, 1, -1, 2, -2, 3, -3, 4, 5, -5, 7, 8, -8)


def values_of(dtype: DType) -> Sequence[Scalar]:
    """Numbers of a dtype where things change."""
    if dtype.kind == "bool":
        return (False, True)
    if dtype.is_float:
        greatest, least = dtype.format.maximum, dtype.format.smallest
        return (0.0, -0.0, 1.0, -1.0, 3.0, 0.5, math.nan, math.inf, -math.inf, greatest, -greatest, least)
    half = 1 << (dtype.bits // 2)
    ends = (dtype.minimum, dtype.minimum + 1, dtype.maximum, dtype.maximum - 1, half, half + 1, -half)
    return tuple(value for value in (*SMALL, *ends) if dtype.minimum <= value <= dtype.maximum)


def points(instance: RuleInstance, most: int = MOST) -> Iterator[Point]:
    """Points at which the rule's condition holds: all of few, else a sample that is the same each time."""
    names = instance.rule.names
    choices = [values_of(instance.type_of(name)) for name in names]
    if math.prod(map(len, choices)) <= most:
        tuples: Iterator[tuple[Scalar, ...]] = itertools.product(*choices)
    else:
        draw = random.Random(0)  # noqa: S311 - a sample, not a secret
        tuples = (tuple(map(draw.choice, choices)) for _ in range(most * TRIES))
    chosen = (dict(zip(names, values, strict=True)) for values in tuples)
    return itertools.islice((point for point in chosen if instance.holds(instance.when, point)), most)
