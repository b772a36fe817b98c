"""A dozen implementations with a fault are caught; `tests/e2e/mutated_adapters.py` has all of them."""

import pytest
from hand_made import hand_suite, verdicts
from mutations import faults, judged, right_verdicts

from refmlc.oracle.implementations.interp import Interp
from refmlc.oracle.suite.runner import run_suite

SOME = {
    "add is sub",
    "floordiv is truncdiv",
    "max has its operands swapped",
    "the last bit is lost",
    "NaN is 0",
    "the shape is turned",
    "an output is left out",
    "the answer of the call before",
    "traps are swallowed",
    "what is ill-formed is taken",
    "an exception when a function is called",
    "prepare:SIGSEGV",
}
CHOSEN = [fault for fault in faults() if fault.name in SOME]


def test_there_are_more_than_a_hundred_faults_with_names_of_their_own():
    names = [fault.name for fault in faults()]
    assert len(set(names)) == len(names) > 100
    assert {fault.name for fault in CHOSEN} == SOME


@pytest.mark.parametrize("fault", CHOSEN, ids=lambda fault: fault.name)
def test_the_fault_is_caught_for_what_it_is(fault):
    report, wrong = judged(fault, hand_suite())
    assert wrong == []
    assert not report.ok


def test_who_has_no_fault_is_right():
    report = run_suite(hand_suite(), Interp())
    assert verdicts(report) == right_verdicts()
    assert report.ok
