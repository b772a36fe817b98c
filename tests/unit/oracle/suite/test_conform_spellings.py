"""Who takes text is shown a module, then given what is written; cases of one module come together."""

from dataclasses import replace

import pytest

from refmlc.oracle.implementations.implementation import Stop, Stopped
from refmlc.oracle.implementations.interp import Interp
from refmlc.oracle.suite.result import CaseVerdict
from refmlc.oracle.suite.runner_cases import run_cases
from refmlc.oracle.suite.runner_workers import together
from refmlc.oracle.suite.suite import load_suite


@pytest.fixture(scope="module")
def case():
    return next(case for case in load_suite().cases if case.id == "scalar.add.int8")


class Choosy:
    """Refuses modules as they are shown; takes the text of a `case`, if it `reads`."""

    name = "choosy"
    promises_verdicts = False

    def __init__(self, case, reads):
        self.case, self.reads = case, reads

    def prepare(self, module):
        return Stopped(Stop.REJECTED, "shown")

    def prepare_text(self, text):
        assert text == self.case.text
        return Interp().prepare(self.case.module) if self.reads else Stopped(Stop.REJECTED, "written")

    def close(self):
        pass


def test_what_is_written_is_asked_where_what_is_shown_is_refused(case):
    (result,) = run_cases(Choosy(case, reads=True), [case])
    assert result.verdict is CaseVerdict.PASS


def test_a_module_that_is_refused_in_both_spellings_is_refused_as_shown(case):
    (result,) = run_cases(Choosy(case, reads=False), [case])
    assert result.verdict is CaseVerdict.OVER_STRICT
    assert "shown" in result.why


def test_cases_of_one_module_come_together(case):
    other = replace(case, id="scalar.other", text="other")
    assert [len(some) for some in together([case, case, other, case], 1)] == [2, 1, 1]
    assert [len(some) for some in together([case, case, other, case], 3)] == [3, 1]
