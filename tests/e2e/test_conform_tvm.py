"""Real TVM asked a slice of hand-worked cases: what it is known to do wrong is known, everything else is right."""

import os
from pathlib import Path

import pytest

from refmlc.oracle.evidence.case_file import read_cases
from refmlc.oracle.implementations.implementation import Limits
from refmlc.oracle.implementations.lookup import implementation
from refmlc.oracle.suite.expectations import read_expectations
from refmlc.oracle.suite.runner import run_suite
from refmlc.oracle.suite.suite import Suite

PYTHON = os.environ.get("REFMLC_TVM_PYTHON", "")
SLICE = Path(__file__).parents[1] / "unit" / "oracle" / "suite" / "slice"
CASES = [case for path in sorted(SLICE.glob("*.toml")) for case in read_cases(path.read_text(), path.name)]
KNOWN = """
[[deviation]]
id = "ne-nan"
why = "The code generator emits the ordered comparison."
cases = ["hand.other"]
verdict = "fail"
"""
VERDICTS = {
    "hand.add": "pass",
    "hand.other": "known",
    "hand.any-order": "permitted",
    "hand.pair": "pass",
    "hand.again": "pass",
    "hand.trap": "pass",
    "hand.no-text": "pass",
    "hand.no-shape": "pass",
    "hand.outside": "not scored",
    "hand.open": "not scored",
}

pytestmark = pytest.mark.needs("tvm")


def test_a_slice_of_the_suite():
    made = implementation(f"tvm:{PYTHON}", Limits(seconds=20.0, prepare=60.0))
    try:
        report = run_suite(Suite("slice", tuple(CASES), {}), made, read_expectations(KNOWN, "rows"), tuple(VERDICTS))
    finally:
        made.close()
    found = {each.id: "not scored" if each.verdict is None else each.verdict.value for each in report.results}
    assert found == VERDICTS
    assert report.ok
    assert report.version.startswith("0.2")
