"""A sample of the rules of TVM's simplifier: real TVM rewrites as the rows say, and shows what the page says."""

import pytest
from needs import TVM_PYTHON, need

need("z3", "tvm")

from rules_table import PAGE, Tvm, ask, decided, line, taken  # noqa: E402 - needs z3

from refmlc.lang.dtypes import dtype  # noqa: E402 - the same
from refmlc.prove.rules import rules  # noqa: E402
from refmlc.prove.rules.instance import RuleInstance  # noqa: E402
from refmlc.prove.rules.verdict import EFFORT  # noqa: E402

SAMPLE = rules()[3::12]


@pytest.fixture(scope="module")
def tvm():
    asked = Tvm(TVM_PYTHON)
    yield asked
    asked.close()


def test_tvm_rewrites_as_the_rows_say(tvm):
    page = PAGE.read_text(encoding="utf-8")
    answers = {}
    for rule in SAMPLE:
        for left in rule.lefts:
            answers[rule.place, left] = taken(tvm, RuleInstance(rule, left, dtype(rule.applied[0])))
    others = {key: answer for key, answer in answers.items() if answer != "taken"}
    assert len(others) < len(answers) / 5
    assert [key for key, answer in others.items() if f"`{answer}`" not in page] == []


def test_a_row_that_tvm_does_not_have_is_not_taken(tvm):
    rule = next(rule for rule in rules() if rule.place == "Sub 44")
    wrong = RuleInstance(rule, "x - T.truncdiv(x, c1) * c1", dtype("int32"))
    assert taken(tvm, wrong) != "taken"


@pytest.mark.parametrize("place", ["Sub 42", "FloorDiv 2", "Add 12", "Div c"])
def test_what_is_wrong_in_tvm_is_shown_again(tvm, place):
    row = decided(next(rule for rule in rules() if rule.place == place), EFFORT)
    ask(tvm, row)
    assert ", which is" in row.shown["int32"]
    assert line(row) in PAGE.read_text(encoding="utf-8")
