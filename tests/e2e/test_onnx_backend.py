"""ONNX's own backend tests, as its runner has them: a sample in the default run, all where the profile is `soak`."""

import os
import unittest

import numpy as np
import pytest
from needs import imported

imported("onnx")

from onnx.backend.test import BackendTest  # noqa: E402 - ONNX may be missing
from onnx_backend import cases, judge  # noqa: E402

from refmlc.diag import Unsupported  # noqa: E402
from refmlc.frontends.onnx_backend import Prepared, RefmlcBackend  # noqa: E402

PART = 1 if os.environ.get("REFMLC_PROFILE") == "soak" else 40


class Skipping(Prepared):
    """What is not supported is skipped, as ONNX's runner expects it."""

    def run(self, inputs, **kwargs):
        try:
            with np.errstate(all="ignore"):
                return super().run(inputs, **kwargs)
        except Unsupported as unsupported:
            raise unittest.SkipTest(unsupported.diagnostic.message) from None


class Backend(RefmlcBackend):
    """The backend in one tier: compiling thousands of small modules would take an hour."""

    @classmethod
    def is_compatible(cls, model, device="CPU", **kwargs):
        return True

    @classmethod
    def prepare(cls, model, device="CPU", **kwargs):
        return Skipping(model, "interp")


def sample():
    """Every n-th test of the runner on the CPU, without those that download models."""
    kinds = {name: kind for name, kind in BackendTest(Backend).test_cases.items() if "Real" not in name}
    every = [kind(name) for kind in kinds.values() for name in sorted(vars(kind)) if name.endswith("_cpu")]
    return every[::PART]


@pytest.mark.filterwarnings("ignore")
def test_the_backend_tests_of_onnx() -> None:
    tests = sample()
    result = unittest.TestResult()
    unittest.TestSuite(tests).run(result)
    assert [f"{test}: {why}" for test, why in result.failures + result.errors] == []
    assert result.testsRun == len(tests) >= 2000 // PART
    assert len(result.skipped) <= 0.2 * len(tests)


def test_a_wrong_answer_counts_as_wrong() -> None:
    """The judge itself: an output with one element changed is wrong."""
    _, model, inputs, outputs, rtol, atol = next(one for one in cases(["node"]) if one[0] == "node:test_relu")
    assert judge(model, inputs, outputs, rtol, atol) == ("right", "")
    changed = [outputs[0].copy()]
    changed[0].flat[0] += 1
    assert judge(model, inputs, changed, rtol, atol)[0] == "wrong"
