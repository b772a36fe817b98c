"""Predicates that keep a verdict: each holds for its own verdict only."""

import pytest

import refmlc
from refmlc.lang.dtypes import FLOAT32
from refmlc.oracle.implementations.interp import Interp
from refmlc.oracle.implementations.native import Native
from refmlc.oracle.reduction_predicates import codes_of, ends_in, fails_to_read, findings_of, same_verdict
from refmlc.strategies.arguments import Array
from refmlc.strategies.case import Case

TEXT = """
@T.prim_func
def main(A: T.Buffer((4,), "float32"), B: T.Buffer((4,), "float32")):
    P = T.alloc_buffer((4,), "float32")
    for i in range(4):
        B[i] = {}
"""


def case(value):
    return Case(refmlc.read(TEXT.format(value)), "main", ((Array(FLOAT32, (4,)), Array(FLOAT32, (4,), form="fresh")),))


@pytest.mark.parametrize(("value", "codes"), [("A[i]", []), ("A[i + 1]", ["RM304"]), ("P[i]", ["RM305"])])
def test_a_code_is_met_or_not(value, codes):
    program = case(value)
    assert codes_of(program) == codes
    for code in ("RM304", "RM305", "RM306"):
        assert ends_in(code)(program) == (code in codes)


class Doubled(Interp):
    """Wrong: it runs another program than the one it is given."""

    def prepare(self, module):
        text = refmlc.show(module).replace("A[i]", "A[i] + A[i]")
        return super().prepare(refmlc.read(text))


def test_a_finding_is_kept_by_its_code():
    wrong = Doubled(name="doubled", promises_verdicts=False)
    assert [one.code.id for one in findings_of(case("A[i]"), wrong)] == ["RM701"]
    assert same_verdict(wrong, "RM701")(case("A[i]"))
    assert not same_verdict(wrong, "RM703")(case("A[i]"))
    assert not same_verdict(wrong, "RM701")(case("T.float32(2)"))


def test_what_has_no_meaning_is_no_finding_of_who_promises_nothing():
    wrong = Doubled(name="doubled", promises_verdicts=False)
    assert findings_of(case("P[i] + A[i]"), wrong) == ()


def test_a_right_implementation_has_none():
    assert findings_of(case("A[i]"), Native("")) == ()


def test_texts_that_are_refused():
    assert fails_to_read("RM101")("def (")
    assert not fails_to_read("RM103")("def (")
    assert not fails_to_read("RM101")(TEXT.format("A[i]"))
