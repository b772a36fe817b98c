"""Scalar operators at the edges of their dtypes against TVM's default `llvm` build, and against mpmath.

What is exact or rounded once agrees to the bit, NaN as one class, or is a recorded deviation
(`conformance/known`). TVM's transcendental functions are not held to ours: ours are held to the exact value.
"""

import os
from fnmatch import fnmatchcase

import known
import mpmath
import numpy as np
import pytest
import scalar_edges
from scalar_edges import differing

from refmlc.lang.ops.contract import Accuracy

PYTHON = os.environ.get("REFMLC_TVM_PYTHON", "")
NO_RESULT = ("refused", "internal error", "crash")
CALLED = {
    "exp10": lambda x: mpmath.power(10, x),
    "exp2": lambda x: mpmath.power(2, x),
    "log2": lambda x: mpmath.log(x) / mpmath.log(2),
    "rsqrt": lambda x: 1 / mpmath.sqrt(x),
    "sigmoid": lambda x: 1 / (1 + mpmath.exp(-x)),
    "pow": mpmath.power,
}


@pytest.fixture(scope="module")
def jobs():
    return scalar_edges.jobs()


@pytest.fixture(scope="module")
def tvm(jobs, tmp_path_factory):
    """What TVM's side says, by the name of the job."""
    alone = {job.name for job in jobs for kind in NO_RESULT if known.explaining(job.name, kind)}
    found = scalar_edges.run_in_tvm(PYTHON, tmp_path_factory.mktemp("kernels"), jobs, alone)
    return {job.name: result for job, result in zip(jobs, found, strict=True)}


def wrong(job, tvm):
    """Where TVM differs from us; nowhere when it has no result."""
    result = tvm[job.name]
    return np.zeros(0, bool) if isinstance(result, str) else differing(job.expected, result)


def test_the_points_are_many(jobs):
    assert len({job.name for job in jobs}) == len(jobs) >= 900
    assert sum(len(job.expected) for job in jobs) > 150_000


def test_interpreter_and_value_functions_agree(jobs):
    assert [job.name for job in jobs if differing(job.expected, job.values).any()] == []


@pytest.mark.needs("tvm")
def test_what_is_exact_agrees_with_tvm_to_the_bit_or_is_recorded(jobs, tvm):
    unexplained = [
        f"{job.name}: {wrong(job, tvm).sum()} of {len(job.expected)}"
        for job in jobs
        if job.accuracy is not Accuracy.ULP and wrong(job, tvm).any() and not known.explaining(job.name, "wrong result")
    ]
    assert unexplained == []


@pytest.mark.needs("tvm")
def test_what_tvm_refuses_or_dies_of_is_recorded(jobs, tvm):
    none = {job.name: tvm[job.name] for job in jobs if isinstance(tvm[job.name], str)}
    kinds = {"refused": ("refused", "internal error"), "crash": ("crash",)}
    explained = {n for n, why in none.items() for kind in kinds[why.partition(":")[0]] if known.explaining(n, kind)}
    assert {n: why for n, why in none.items() if n not in explained} == {}


@pytest.mark.needs("tvm")
def test_every_record_is_needed(jobs, tvm):
    deviating = [job.name for job in jobs if isinstance(tvm[job.name], str) or wrong(job, tvm).any()]
    patterns = [pattern for row in known.ROWS for pattern in row.get("edges", ())]
    assert patterns
    assert [p for p in patterns if not any(fnmatchcase(name, p) for name in deviating)] == []


def transcendental(jobs, *dtypes):
    return [job for job in jobs if job.accuracy is Accuracy.ULP and job.dtypes[-1] in dtypes]


def is_nearest(value, exact):
    """Whether no neighbour of `value` in its dtype is nearer to the exact number; overflow and underflow included."""
    kind = type(value)
    top, least = np.finfo(kind).max, np.nextafter(kind(0), kind(1))
    if np.isinf(value):
        beyond = mpmath.mpf(float(top)) * 2 - mpmath.mpf(float(np.nextafter(top, kind(0))))
        return exact * int(np.sign(value)) >= (mpmath.mpf(float(top)) + beyond) / 2
    if value == 0:
        return abs(exact) <= mpmath.mpf(float(least)) / 2
    error = abs(mpmath.mpf(float(value)) - exact)
    with np.errstate(over="ignore", under="ignore"):
        near = [float(np.nextafter(value, kind(side))) for side in (-np.inf, np.inf)]
    return all(error <= abs(mpmath.mpf(n) - exact) for n in near if np.isfinite(n))


def exact_points(job):
    """Points of a job where inputs are finite and the function has a finite real value, with that value."""
    name = job.name.split()[0]
    function = CALLED.get(name) or getattr(mpmath, name)
    for *point, value in zip(*job.inputs, job.expected, strict=True):
        if not all(np.isfinite(x) for x in point) or np.isnan(value):
            continue
        if name in ("pow", "atan2") and 0 in point:
            continue
        try:
            exact = function(*(mpmath.mpf(float(x)) for x in point))
        except (ValueError, ZeroDivisionError):
            continue
        if mpmath.im(exact) == 0 and mpmath.isfinite(exact):
            yield point, value, mpmath.re(exact)


def test_our_functions_are_the_exact_value_rounded_once(jobs):
    checked = 0
    with mpmath.workprec(400):
        for job in transcendental(jobs, "float16", "float32"):
            for point, value, exact in exact_points(job):
                assert is_nearest(value, exact), (job.name, point, value, exact)
                checked += 1
    assert checked > 4000


@pytest.mark.needs("tvm")
def test_tvm_differs_on_some_points(jobs, tvm, record_property):
    chosen = transcendental(jobs, "float16", "float32", "float64", "bfloat16")
    points = sum(len(job.expected) for job in chosen if not isinstance(tvm[job.name], str))
    other = sum(int(wrong(job, tvm).sum()) for job in chosen)
    record_property("transcendental points", points)
    record_property("where TVM differs", other)
    assert 0 < other < 0.05 * points
