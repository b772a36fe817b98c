"""Each exact reference is what NumPy or PyTorch compute in float64, and a broken one would be found."""

import math
from fractions import Fraction

import numpy as np
import pytest
from reference_samples import SAMPLES

from refmlc.lang.library import OPERATORS
from refmlc.oracle.exact.definitions.numbers import ExactNumber
from refmlc.oracle.exact.definitions.table import DEFINITIONS, WITHOUT

CLOSE = 1e-12


def flat(value):
    """The parts of a result."""
    return [part for item in value for part in flat(item)] if isinstance(value, (tuple, list)) else [np.asarray(value)]


def plain(array):
    """An exact result as an array of NumPy; what is not defined is NaN."""
    if array.dtype != object:
        return array
    items = [item if isinstance(item, ExactNumber) else ExactNumber(Fraction(item)) for item in array.reshape(-1)]
    values = [math.nan if item.error == math.inf else item.value for item in items]
    return np.array([float(value) for value in values]).reshape(array.shape)


def agree(exact, witness):
    """Whether two results are alike: bits of what was moved, a few ulp of float64 of what was computed."""
    first, second = plain(exact), np.asarray(witness)
    if first.shape != second.shape:
        return False
    if exact.dtype != object and exact.dtype == second.dtype:
        return np.array_equal(first, second, equal_nan=first.dtype.kind == "f")
    return np.allclose(first, second, rtol=CLOSE, atol=1e-14, equal_nan=True)


def right(sample, compute):
    """Whether `compute` gives what the witness of the sample gives."""
    with np.errstate(all="ignore"):
        exact, witness = flat(compute(*sample.args, **sample.attrs)), flat(sample.witness(*sample.args))
    return len(exact) == len(witness) and all(agree(*pair) for pair in zip(exact, witness, strict=True))


def broken(compute):
    """The same with another value at one place of each result."""

    def wrong(*args, **attrs):
        results = []
        for exact in flat(compute(*args, **attrs)):
            part = exact.copy()
            at = part.size // 2
            old = part.reshape(-1)[at]
            if isinstance(old, ExactNumber):
                finite = not isinstance(old.value, float) or math.isfinite(old.value)
                new = ExactNumber(
                    old.rational * Fraction(1000001, 1000000) + Fraction(1, 10**9) if finite else Fraction(7)
                )
            else:
                new = not old if part.dtype.kind == "b" else old + 1
            part.flat[at] = new
            results.append(part)
        return tuple(results)

    return wrong


def needing(sample):
    return pytest.param(sample, id=sample.name, marks=[pytest.mark.needs(sample.needs)] if sample.needs else [])


@pytest.mark.parametrize("sample", [needing(sample) for sample in SAMPLES])
def test_a_reference_is_what_numpy_or_pytorch_compute(sample):
    compute = DEFINITIONS[sample.name].compute
    assert right(sample, compute)
    assert not right(sample, broken(compute))


def test_each_reference_has_a_sample():
    assert set(DEFINITIONS) - {sample.name for sample in SAMPLES} == set()


def test_each_operator_with_a_meaning_has_a_reference_or_a_reason():
    named = {row.name for row in OPERATORS.values() if not row.reason}
    assert named == set(DEFINITIONS) | set(WITHOUT)
    assert not set(DEFINITIONS) & set(WITHOUT)
    assert all(WITHOUT.values())
