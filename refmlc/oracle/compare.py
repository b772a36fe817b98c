"""Comparison of one result with its reference, by the rule that a clause chooses.

The rules follow from what is compared, not from who compares:

| rule           | permits                                                                          |
|----------------|----------------------------------------------------------------------------------|
| `Exact()`      | the bits of the reference; every NaN is one class (NUM-006)                      |
| `OneOf(…)`     | at each element the bits of one of several results                               |
| `Ulps(n)`      | at most n representable numbers away; NaN only where the reference is NaN        |
| `Certified(…)` | what the certificate's element holds; the bound has a proof                      |

An integer or bool is compared by value under every rule.

The rule for a result follows from the contracts of the operators that make it (`rule_for`): where every one of
them is exact (copies, integers, comparisons, max, min, abs, casts) the bits are, the sign of zero included;
where one rounds, or terms are combined in any order, the bound is.

`distance` counts the representable numbers between two values. Codes of one sign grow with the size, so with s the sign
and m the rest of the code, the number s * m counts the format's values from 0 on; both zeros are 0. Infinity is one
step beyond the maximum, NaN is nowhere.

`compare` looks at shape and dtype, then bits, then the rule at each element that has other bits. Elements that the
program did not write are not compared. Comparing a result under a rule costs nothing but memory where all bits agree.
"""

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TypeAlias

import numpy as np

from refmlc.diag import fail
from refmlc.diag.catalogue import BAD_INPUT
from refmlc.lang.dtypes import DType
from refmlc.lang.dtypes.bits import encoder
from refmlc.lang.dtypes.storage import dtype_of
from refmlc.observe.bounds.certify import CertifiedTensor
from refmlc.observe.bounds.choice import UNKNOWN
from refmlc.observe.bounds.enclosure import ANYTHING, Enclosure
from refmlc.oracle.difference import Difference, Number, conditioning, guess
from refmlc.oracle.outcome import Kind, Verdict
from refmlc.run.memory.tensor import Tensor


@dataclass(frozen=True)
class Exact:
    """The bits of the reference."""


@dataclass(frozen=True)
class OneOf:
    """The bits of one of `alternatives`, besides the reference's."""

    alternatives: Sequence[np.ndarray]


@dataclass(frozen=True)
class Ulps:
    """Within `distance` representable numbers."""

    distance: int


@dataclass(frozen=True)
class Certified:
    """Inside of the certificate."""

    tensor: CertifiedTensor


Rule: TypeAlias = Exact | OneOf | Ulps | Certified


def rule_for(tensor: CertifiedTensor) -> Rule:
    """The rule of a certified result: its bits where its program only has exact operators, else the certificate."""
    return Exact() if tensor.exact else Certified(tensor)


BUCKETS = (0, 1, 2, 4, 16, 256, 65536)


def distance(a: float, b: float, dtype: DType) -> int | None:
    """Steps from `a` to `b`; 0 between two NaN, None between a NaN and a number. Of integers the difference."""
    if not dtype.is_float:
        return abs(int(a) - int(b))
    if math.isnan(a) or math.isnan(b):
        return 0 if math.isnan(a) and math.isnan(b) else None
    encode = encoder(dtype)
    return abs(_ordered(encode(a), dtype, a) - _ordered(encode(b), dtype, b))


def _ordered(code: int, dtype: DType, value: float) -> int:
    size = code & ((1 << (dtype.bits - 1)) - 1)
    return -size if math.copysign(1.0, value) < 0 else size


def histogram(distances: Iterable[int | None]) -> dict[str, int]:
    """How many distances fall into each bucket, the empty ones left out; `NaN` for those that are none."""
    names = [str(BUCKETS[0]), *(_span(low, high) for low, high in pairwise(BUCKETS))]
    names += [f"> {BUCKETS[-1]}", "NaN"]
    counts = dict.fromkeys(names, 0)
    for steps in distances:
        counts[names[_bucket(steps)]] += 1
    return {name: count for name, count in counts.items() if count}


def _span(low: int, high: int) -> str:
    return str(high) if high == low + 1 else f"{low + 1} … {high}"


def _bucket(steps: int | None) -> int:
    if steps is None:
        return len(BUCKETS) + 1
    return next((number for number, top in enumerate(BUCKETS) if steps <= top), len(BUCKETS))


Permits = Callable[[int, Number], bool]


def compare(
    actual: np.ndarray | Tensor, expected: "np.ndarray | Tensor | CertifiedTensor", rule: Rule | None = None
) -> Verdict:
    """The verdict on `actual` under `rule`; `expected` is the reference result, or a certified tensor.

    Without a rule a certified tensor brings its own (`rule_for`), and anything else is compared by its bits.
    Fails: RM111 if shape or dtype differ: then it is not a result of this program.
    """
    if rule is None:
        rule = rule_for(expected) if isinstance(expected, CertifiedTensor) else Exact()
    reference, dtype = _array(expected)
    result, actual_dtype = _array(actual)
    if result.shape != reference.shape or actual_dtype.bits != dtype.bits or actual_dtype.is_float != dtype.is_float:
        message = f"a result of shape {result.shape} and {actual_dtype} is compared with {reference.shape} and {dtype}"
        raise fail(BAD_INPUT, message)
    skipped = _unwritten(expected, rule)
    differing = [number for number in _other_bits(result, reference) if number not in skipped]
    if not differing:
        return Verdict(Kind.EQUAL)
    permits = _permits(rule, reference, dtype)
    elements = result.ravel()
    wrong = [number for number in differing if not permits(number, elements[number].item())]
    difference = _difference(result, reference, dtype, differing, wrong, rule)
    notes = (difference.note, _unbounded(rule, differing))
    return Verdict(Kind.WRONG if wrong else Kind.PERMITTED, difference, notes=tuple(note for note in notes if note))


def judge(actual: np.ndarray | Tensor, certified: CertifiedTensor) -> Verdict:
    """The verdict by the certified bound, whatever the clauses say."""
    return compare(actual, certified, Certified(certified))


def _array(value: "np.ndarray | Tensor | CertifiedTensor") -> tuple[np.ndarray, DType]:
    match value:
        case CertifiedTensor():
            return value.reference, value.dtype
        case Tensor():
            return value.array, value.dtype
        case _:
            return value, dtype_of(value.dtype)


def _unwritten(expected: "np.ndarray | Tensor | CertifiedTensor", rule: Rule) -> frozenset[int]:
    certified = rule.tensor if isinstance(rule, Certified) else expected
    if not isinstance(certified, CertifiedTensor):
        return frozenset()
    return certified.unwritten


def _other_bits(result: np.ndarray, reference: np.ndarray) -> Iterator[int]:
    """The numbers of the elements whose bits differ, two NaN being alike."""
    code = np.dtype(f"u{result.dtype.itemsize}")
    a, b = np.ascontiguousarray(result), np.ascontiguousarray(reference)
    differing = (a.view(code) != b.view(code)).ravel()
    for number in np.flatnonzero(differing).tolist():
        x, y = a.flat[number].item(), b.flat[number].item()
        if not (isinstance(x, float) and math.isnan(x) and math.isnan(y)):
            yield number


def _permits(rule: Rule, reference: np.ndarray, dtype: DType) -> Permits:
    match rule:
        case Exact():
            return lambda _number, _value: False
        case OneOf(alternatives=alternatives):
            options = [np.ascontiguousarray(alternative).ravel() for alternative in alternatives]
            return lambda number, value: any(_same_number(value, option[number].item()) for option in options)
        case Ulps(distance=limit):
            want = np.ascontiguousarray(reference).ravel()
            return lambda number, value: _within(distance(value, want[number].item(), dtype), limit)
        case Certified(tensor=tensor):
            return tensor.permits


def _same_number(a: Number, b: Number) -> bool:
    if isinstance(a, float) and isinstance(b, float):
        return (math.isnan(a) and math.isnan(b)) or (a == b and math.copysign(1.0, a) == math.copysign(1.0, b))
    return a == b


def _within(steps: int | None, limit: int) -> bool:
    return steps is not None and steps <= limit


def _difference(
    result: np.ndarray, reference: np.ndarray, dtype: DType, differing: list[int], wrong: list[int], rule: Rule
) -> Difference:
    first = (wrong or differing)[0]
    actual, expected = result.ravel(), reference.ravel()
    mask = np.zeros(result.size, bool)
    mask[wrong] = True
    shape = guess(_plain(result), _plain(reference), mask.reshape(result.shape), dtype)
    distances = [distance(actual[number].item(), expected[number].item(), dtype) for number in differing]
    unequal = histogram([0] * (result.size - len(differing)) + distances)
    bound = _bound(rule, first)
    return Difference(
        tuple(int(index) for index in np.unravel_index(first, result.shape)),
        actual[first].item(),
        expected[first].item(),
        distance(actual[first].item(), expected[first].item(), dtype),
        bound,
        len(wrong),
        result.size,
        unequal,
        shape,
        "" if bound is None else conditioning(_exact(rule, first, expected[first].item()), bound),
    )


def _bound(rule: Rule, number: int) -> float | None:
    if not isinstance(rule, Certified):
        return None
    element = rule.tensor.elements[number]
    return element.radius if isinstance(element, Enclosure) else None


def _unbounded(rule: Rule, differing: list[int]) -> str:
    """A note on differing elements without a bound or a set; empty if there are none."""
    if not isinstance(rule, Certified):
        return ""
    bounds = rule.tensor.bound.ravel()
    elements = rule.tensor.elements
    count = sum(bounds[at] == math.inf and elements[at] in (UNKNOWN, ANYTHING) for at in differing)
    return f"{count} differing elements have no bound: any value is permitted" if count else ""


def _exact(rule: Rule, number: int, otherwise: float) -> float:
    return float(rule.tensor.centre.flat[number]) if isinstance(rule, Certified) else otherwise


def _plain(array: np.ndarray) -> np.ndarray:
    """Small floats as float32, whose arithmetic NumPy has."""
    wide = array.dtype.kind in "iub" or array.dtype.itemsize >= 4
    return array if wide else array.astype(np.float32)
