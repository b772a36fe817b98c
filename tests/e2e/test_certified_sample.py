"""TVM's own results under certified bounds: wrong only where a recorded deviation of its functions says so."""

import os

import certified_sample
import pytest

from refmlc.oracle.outcome import Kind

PYTHON = os.environ.get("REFMLC_TVM_PYTHON", "")
DEVIATING = (
    "tanh",
    "sigmoid",
    "erf",
    "tan",
    "sinh",
    "cosh",
    "asinh",
    "acosh",
    "atanh",
    "rsqrt",
    "atan2",
    "exp10",
    "silu",
)

pytestmark = [pytest.mark.soak, pytest.mark.needs("tvm")]


def named(found, kind):
    return {f"{entry['group']}/{entry['name']}" for entry, each in found if each.kind is kind}


def test_only_functions_that_deviate_are_called_wrong(tvm_sample):
    found = certified_sample.verdicts(tvm_sample)
    wrong = named(found, Kind.WRONG)
    assert [name for name in wrong if not any(function in name for function in DEVIATING)] == []
    assert sum(each.kind in (Kind.EQUAL, Kind.PERMITTED) for _, each in found) >= 600
    assert named(found, Kind.CRASHED) == named(found, Kind.TIMED_OUT) == set()


def test_with_four_ulps_for_functions_one_formula_is_left(tvm_sample):
    assert named(certified_sample.verdicts(tvm_sample, 4.0), Kind.WRONG) == {"operator/atanh/float16"}
