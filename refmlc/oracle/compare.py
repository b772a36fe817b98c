"""Comparison of one result with its reference, by a rule: equal, permitted, or wrong with what differs.

The order: shape and dtype, bits, then the rule at each element that has other bits. Elements that the program did not
write are not compared. Comparing a result under a rule costs nothing but memory where all bits agree.
"""

import math
from collections.abc import Callable, Iterator

import numpy as np

from refmlc.diag import fail
from refmlc.diag.catalogue import BAD_INPUT
from refmlc.lang.dtypes import DType
from refmlc.lang.dtypes.storage import dtype_of
from refmlc.observe.bounds.certify import CertifiedTensor
from refmlc.observe.bounds.choice import UNKNOWN
from refmlc.observe.bounds.enclosure import ANYTHING, Enclosure
from refmlc.oracle.difference import Difference, Number, conditioning
from refmlc.oracle.guess import guess
from refmlc.oracle.outcome import Kind, Verdict
from refmlc.oracle.rule import Certified, Exact, OneOf, Rule, Ulps, chosen
from refmlc.oracle.ulps import distance, histogram
from refmlc.run.memory.tensor import Tensor

Permits = Callable[[int, Number], bool]


def compare(
    actual: np.ndarray | Tensor, expected: "np.ndarray | Tensor | CertifiedTensor", rule: Rule | None = None
) -> Verdict:
    """The verdict on `actual` under `rule`; `expected` is the reference result, or a certified tensor.

    Without a rule a certified tensor brings its own (`rule.chosen`), and anything else is compared by its bits.
    Fails: RM111 if shape or dtype differ: then it is not a result of this program.
    """
    if rule is None:
        rule = chosen(expected) if isinstance(expected, CertifiedTensor) else Exact()
    reference, dtype = _array(expected)
    result, own = _array(actual)
    if result.shape != reference.shape or own.bits != dtype.bits or own.is_float != dtype.is_float:
        message = f"a result of shape {result.shape} and {own} is compared with {reference.shape} and {dtype}"
        raise fail(BAD_INPUT, message)
    skipped = _unwritten(expected, rule)
    differing = [number for number in _other_bits(result, reference) if number not in skipped]
    if not differing:
        return Verdict(Kind.EQUAL)
    permits = _permits(rule, reference, dtype)
    got = result.ravel()
    wrong = [number for number in differing if not permits(number, got[number].item())]
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
    return frozenset(number for number, element in enumerate(certified.elements) if element is None)


def _other_bits(result: np.ndarray, reference: np.ndarray) -> Iterator[int]:
    """The numbers of the elements whose bits differ, two NaN being alike."""
    code = np.dtype(f"u{result.dtype.itemsize}")
    a, b = np.ascontiguousarray(result), np.ascontiguousarray(reference)
    other = (a.view(code) != b.view(code)).ravel()
    for number in np.flatnonzero(other).tolist():
        x, y = a.flat[number].item(), b.flat[number].item()
        if not (isinstance(x, float) and math.isnan(x) and math.isnan(y)):
            yield number


def _permits(rule: Rule, reference: np.ndarray, dtype: DType) -> Permits:
    match rule:
        case Exact():
            return lambda _number, _value: False
        case OneOf(alternatives=alternatives):
            others = [np.ascontiguousarray(each).ravel() for each in alternatives]
            return lambda number, value: any(_same(value, other[number].item()) for other in others)
        case Ulps(distance=most):
            want = np.ascontiguousarray(reference).ravel()
            return lambda number, value: _within(distance(value, want[number].item(), dtype), most)
        case Certified(tensor=tensor):
            return tensor.permits


def _same(a: Number, b: Number) -> bool:
    if isinstance(a, float) and isinstance(b, float):
        return (math.isnan(a) and math.isnan(b)) or (a == b and math.copysign(1.0, a) == math.copysign(1.0, b))
    return a == b


def _within(steps: int | None, most: int) -> bool:
    return steps is not None and steps <= most


def _difference(
    result: np.ndarray, reference: np.ndarray, dtype: DType, differing: list[int], wrong: list[int], rule: Rule
) -> Difference:
    first = (wrong or differing)[0]
    got, want = result.ravel(), reference.ravel()
    mask = np.zeros(result.size, bool)
    mask[wrong] = True
    shape = guess(_plain(result), _plain(reference), mask.reshape(result.shape), dtype)
    distances = [distance(got[number].item(), want[number].item(), dtype) for number in differing]
    unequal = histogram([0] * (result.size - len(differing)) + distances)
    bound = _bound(rule, first)
    return Difference(
        tuple(int(index) for index in np.unravel_index(first, result.shape)),
        got[first].item(),
        want[first].item(),
        distance(got[first].item(), want[first].item(), dtype),
        bound,
        len(wrong),
        result.size,
        unequal,
        shape,
        "" if bound is None else conditioning(_exact(rule, first, want[first].item()), bound),
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
