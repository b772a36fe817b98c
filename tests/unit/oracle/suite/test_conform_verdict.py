"""The table of `score`, row by row: what a case asserts, what an answer is, which verdict."""

import pytest
from hand_made import hand_suite

from refmlc.diag import Diagnostic
from refmlc.diag.catalogue import CODES
from refmlc.diag.source import Source, Span
from refmlc.oracle.implementations.implementation import Ended, Stop, Stopped
from refmlc.oracle.suite.result import CaseVerdict, gravest
from refmlc.oracle.suite.score import score
from refmlc.run.memory.tensor import Tensor

CASES = {case.id.removeprefix("hand."): case for case in hand_suite().cases}


def at(line, column):
    return Span(Source("a", ""), line, column - 1, line, column)


def stop(why, code=None, span=None):
    return Stopped(why, "because", None if code is None else Diagnostic(CODES[code], "because", span))


def written(case, *values):
    """The call of a case ended, with `values` in its last argument."""
    *args, last = CASES[case].arguments(0)
    last.array[...] = values
    last.mark_initialised()
    return Ended(None, (*args, last))


def verdict(case, answer, promises=True):
    scored = score(CASES[case], 0, answer, promises=promises)
    return scored.verdict if scored.verdict is None else scored.verdict.value


@pytest.mark.parametrize(
    ("case", "answer", "promising", "other"),
    [
        ("open", stop(Stop.CRASHED), None, None),
        ("outside", stop(Stop.CRASHED), "crash", None),
        ("outside", stop(Stop.UNDEFINED, "RM304", at(4, 16)), "pass", None),
        ("outside", stop(Stop.UNDEFINED, "RM304", at(4, 17)), "fail", None),
        ("outside", stop(Stop.UNDEFINED, "RM305", at(4, 16)), "fail", None),
        ("outside", Ended(None, ()), "missed-trap", None),
        ("trap", stop(Stop.TRAP, "RM401", at(3, 5)), "pass", "pass"),
        ("trap", stop(Stop.TRAP), "fail", "pass"),
        ("trap", stop(Stop.UNDEFINED, "RM304", at(3, 5)), "fail", "pass"),
        ("trap", stop(Stop.REJECTED), "fail", "over-strict"),
        ("trap", Ended(None, ()), "missed-trap", "missed-trap"),
        ("trap", stop(Stop.CRASHED), "crash", "crash"),
        ("trap", stop(Stop.TIMED_OUT), "timeout", "timeout"),
        ("trap", stop(Stop.UNSUPPORTED), "unsupported", "unsupported"),
        ("no-shape", stop(Stop.REJECTED, "RM202", at(4, 5)), "pass", "pass"),
        ("no-shape", stop(Stop.REJECTED), "fail", "pass"),
        ("no-shape", stop(Stop.TRAP), "fail", "pass"),
        ("no-shape", Ended(None, ()), "missed-trap", "missed-trap"),
        ("truncate", written("truncate", 3, -3), "pass", "pass"),
        ("truncate", written("truncate", 3, -4), "fail", "fail"),
        ("truncate", stop(Stop.REJECTED), "over-strict", "over-strict"),
        ("truncate", stop(Stop.TRAP), "over-strict", "over-strict"),
        ("truncate", stop(Stop.UNDEFINED), "over-strict", "over-strict"),
        ("truncate", stop(Stop.UNSUPPORTED), "unsupported", "unsupported"),
        ("truncate", stop(Stop.EXHAUSTED, "RM601"), "unsupported", "unsupported"),
        ("truncate", stop(Stop.EXHAUSTED, "RM605"), "timeout", "timeout"),
        ("truncate", stop(Stop.CRASHED), "crash", "crash"),
        ("truncate", stop(Stop.TIMED_OUT), "timeout", "timeout"),
        ("sum", written("sum", 2**24), "pass", "pass"),
        ("sum", written("sum", 2**24 + 2), "permitted", "permitted"),
        ("sum", written("sum", 2**24 + 4), "permitted", "permitted"),
        ("sum", written("sum", 2**24 + 6), "fail", "fail"),
        ("sum", written("sum", float("nan")), "fail", "fail"),
        ("any-order", written("any-order", 2**24 + 2), "pass", "pass"),
        ("any-order", written("any-order", 2**24), "permitted", "permitted"),
        ("any-order", written("any-order", 2**24 + 4), "fail", "fail"),
    ],
)
def test_each_row_of_the_table(case, answer, promising, other):
    assert verdict(case, answer) == promising
    assert verdict(case, answer, promises=False) == other


def test_an_answer_without_a_place_says_nothing_of_places():
    assert verdict("outside", stop(Stop.UNDEFINED, "RM304")) == "pass"


def test_what_is_wrong_is_said():
    assert score(CASES["truncate"], 0, written("truncate", 3, -4), promises=True).why == (
        "`C`: element 1 is -4, recorded is -3"
    )


def test_the_gravest_verdict_counts():
    assert gravest([CaseVerdict.PASS, CaseVerdict.PERMITTED]) is CaseVerdict.PERMITTED
    assert gravest([CaseVerdict.UNSUPPORTED, CaseVerdict.PASS]) is CaseVerdict.UNSUPPORTED
    assert gravest([CaseVerdict.FAIL, CaseVerdict.CRASH, CaseVerdict.TIMEOUT]) is CaseVerdict.CRASH
    assert gravest([None, CaseVerdict.PASS]) is CaseVerdict.PASS
    assert gravest([None, None]) is None
    assert gravest([]) is None


def test_nan_is_one_class_and_zeros_are_two():
    *args, last = CASES["add"].arguments(0)
    last.array[...] = [2.5, float("nan"), -0.0, float("nan"), 2.0**24]
    codes = last.array.view("uint32")
    codes[1], codes[3] = 0xFFC00001, 0x7FC00000
    last.mark_initialised()
    assert verdict("add", Ended(None, (*args, last))) == "pass"
    last.array[2] = 0.0
    assert verdict("add", Ended(None, (*args, last))) == "fail"


def test_what_comes_back_may_be_anything():
    for value in (None, 1, "text", (), Tensor.empty((0,), args_dtype())):
        assert verdict("pair", Ended(value, tuple(CASES["pair"].arguments(0)))) == "fail"


def args_dtype():
    return CASES["pair"].arguments(0)[0].dtype
