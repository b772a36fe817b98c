"""An implementation that reads trees and no TVMScript (`tree_adapter.py`, which uses nothing of refmlc) is judged."""

import sys
from pathlib import Path

import pytest
from hand_made import hand_suite

from refmlc.oracle.implementations.command import Command
from refmlc.oracle.suite.result import NOT_SCORED
from refmlc.oracle.suite.runner import run_suite

ADAPTER = Path(__file__).parent / "tree_adapter.py"
PASS = {"hand.add", "hand.sub", "hand.mul", "hand.product", "hand.two", "hand.again", "hand.tiny"}
REFUSED = {"hand.no-text", "hand.no-rank"}  # refmlc reads them no more than it does: there is no tree


@pytest.mark.parametrize("batch", [[], ["8"]])
def test_who_reads_trees_alone_is_judged(batch):
    adapter = Command([sys.executable, "-S", str(ADAPTER), *batch])
    report = run_suite(hand_suite(), adapter)
    adapter.close()
    assert {each.id for each in report.results if each.verdict and each.verdict.value == "pass"} == PASS | REFUSED
    assert report.counts.keys() == {"pass", "unsupported", NOT_SCORED}
