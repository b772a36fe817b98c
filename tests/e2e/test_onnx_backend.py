"""A sample of ONNX's own backend tests: none is wrong or ends in a traceback, most are right."""

import os
from collections import Counter

import pytest
from needs import imported

imported("onnx")

from onnx_backend import KINDS, cases, judge  # noqa: E402 - ONNX may be missing

PART = 1 if os.environ.get("REFMLC_PROFILE") == "soak" else 40


@pytest.mark.filterwarnings("ignore")
def test_a_sample_of_the_backend_tests() -> None:
    counts, bad = Counter(), []
    for number, (name, model, inputs, outputs, rtol, atol) in enumerate(cases(KINDS)):
        if number % PART:
            continue
        state, why = judge(model, inputs, outputs, rtol, atol)
        counts[state] += 1
        if state in ("wrong", "traceback"):
            bad.append(f"{state} {name}: {why}")
    assert bad == []
    assert counts["right"] >= 0.75 * counts.total()


def test_a_wrong_answer_counts_as_wrong() -> None:
    """The judge itself: an output with one element changed is wrong."""
    _, model, inputs, outputs, rtol, atol = next(one for one in cases(["node"]) if one[0] == "node:test_relu")
    assert judge(model, inputs, outputs, rtol, atol) == ("right", "")
    changed = [outputs[0].copy()]
    changed[0].flat[0] += 1
    assert judge(model, inputs, changed, rtol, atol)[0] == "wrong"
