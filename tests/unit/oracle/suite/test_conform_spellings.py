"""Who takes text is shown a module, then given what is written; cases of one module come together."""

from dataclasses import replace

from refmlc.oracle.implementations.implementation import Stop, Stopped
from refmlc.oracle.implementations.interp import Interp
from refmlc.oracle.suite.result import CaseVerdict
from refmlc.oracle.suite.runner_cases import run_cases
from refmlc.oracle.suite.runner_workers import together
from refmlc.oracle.suite.suite import load_suite

CASE = next(case for case in load_suite().cases if case.id == "scalar.add.int8")


class Choosy:
    """Refuses modules as they are shown; takes the text of `CASE`, if it `reads`."""

    name = "choosy"
    promises_verdicts = False

    def __init__(self, reads):
        self.reads = reads

    def prepare(self, module):
        return Stopped(Stop.REJECTED, "shown")

    def prepare_text(self, text):
        assert text == CASE.text
        return Interp().prepare(CASE.module) if self.reads else Stopped(Stop.REJECTED, "written")

    def close(self):
        pass


def test_what_is_written_is_asked_where_what_is_shown_is_refused():
    (result,) = run_cases(Choosy(reads=True), [CASE])
    assert result.verdict is CaseVerdict.PASS


def test_a_module_that_is_refused_in_both_spellings_is_refused_as_shown():
    (result,) = run_cases(Choosy(reads=False), [CASE])
    assert result.verdict is CaseVerdict.OVER_STRICT
    assert "shown" in result.why


def test_cases_of_one_module_come_together():
    other = replace(CASE, id="scalar.other", text="other")
    assert [len(some) for some in together([CASE, CASE, other, CASE], 1)] == [2, 1, 1]
    assert [len(some) for some in together([CASE, CASE, other, CASE], 3)] == [3, 1]
