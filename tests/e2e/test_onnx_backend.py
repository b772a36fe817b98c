"""ONNX's own backend tests, as its runner has them: a sample in the default run, all where the profile is `soak`."""

import os
import random
import sys
import unittest
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from needs import imported

imported("onnx")

sys.path.append(str(Path(__file__).parents[1] / "property"))

from onnx.backend.test import BackendTest  # noqa: E402 - ONNX may be missing
from onnx_backend import cases, judge, label, operators, way_of  # noqa: E402
from onnx_nodes import spoilt  # noqa: E402

from refmlc.diag import RefmlcError, Unsupported  # noqa: E402
from refmlc.diag.errors import Internal  # noqa: E402
from refmlc.frontends.onnx_backend import Prepared, RefmlcBackend  # noqa: E402

TABLE = Path(__file__).parents[2] / "docs" / "reference" / "onnx-operators.md"
NOT_COMPARABLE = {
    "test_loop16_seq_none_cpu": "ONNX's comparison takes a scalar in a sequence for a list",
    "test_dft_inverse_cpu": "the expected zeros are rounding errors of 2e-7, the tolerance is 1e-7",
    "test_dft_inverse_opset19_cpu": "the same",
}
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
    every = [test for test in every if test.id().rpartition(".")[2] not in NOT_COMPARABLE]
    return every[::PART]


@pytest.mark.filterwarnings("ignore")
def test_the_backend_tests_of_onnx() -> None:
    tests = sample()
    result = unittest.TestResult()
    unittest.TestSuite(tests).run(result)
    assert [f"{test}: {why}" for test, why in result.failures + result.errors] == []
    assert result.testsRun == len(tests) >= 2000 // PART
    assert len(result.skipped) <= 0.06 * len(tests)


@pytest.mark.filterwarnings("ignore")
def test_spoilt_cases_give_a_result_or_a_finding() -> None:
    """Valid models with one thing changed, which come deeper than nodes of which nothing fits."""
    outcomes = Counter()
    for number, (name, model, inputs, _, _, _) in enumerate(cases(["node"])):
        if number % PART == PART // 2 and not any(one.type.HasField("sequence_type") for one in model.graph.input):
            for seed in range(4):
                dice = random.Random(4 * number + seed)  # noqa: S311 - no secret
                with np.errstate(all="ignore"):
                    outcomes[answer(*spoilt(dice, model, inputs), f"{name} {seed}")] += 1
    assert {"result", "RM111", "RM501"} <= set(outcomes)


def answer(model, inputs, name):
    """Whether there is a result; else the code of the finding, which is no fault of ours."""
    try:
        Prepared(model, "interp").run(inputs)
    except Internal as fault:
        pytest.fail(f"{name}: {fault}")
    except RefmlcError as finding:
        return finding.diagnostic.code.id
    except Exception as broken:
        broken.add_note(name)
        raise
    return "result"


def test_a_wrong_answer_counts_as_wrong() -> None:
    """The judge itself: an output with one element changed is wrong."""
    _, model, inputs, outputs, rtol, atol = next(one for one in cases(["node"]) if one[0] == "node:test_relu")
    assert judge(model, inputs, outputs, rtol, atol) == ("right", "")
    changed = [outputs[0].copy()]
    changed[0].flat[0] += 1
    assert judge(model, inputs, changed, rtol, atol)[0] == "wrong"


def test_the_table_of_operators_is_of_these_rules() -> None:
    """How each operator is translated, as the page says it; the counts are from the last whole run."""
    lines = [line for line in TABLE.read_text(encoding="utf-8").splitlines() if line.startswith("| `")]
    written = [tuple(cell.strip() for cell in line.split("|")[1:3]) for line in lines]
    expected = [(label(domain, name), way_of(domain, name)) for domain, name in operators()]
    assert written == expected
