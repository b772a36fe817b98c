"""Any text by lines: units with what is indented below them, heads unwrapped, numbers made smaller."""

import pytest

from refmlc.diag import Malformed
from refmlc.oracle.reduce import reduce_text
from refmlc.oracle.reduce.lines import drop_units, end_of, smaller_numbers, unwrap_units

TEXT = """\
def f(x):
    a = 1

    for i in range(100):
        b = 2
        if b:
            bad(i, 128)
    c = 3
def g():
    pass
"""


def test_a_unit_is_a_line_and_the_deeper_ones_below_it():
    lines = TEXT.splitlines()
    assert [end_of(lines, number) for number in (0, 1, 3, 5, 8)] == [8, 2, 7, 7, 10]


def test_units_are_dropped_with_what_belongs_to_them():
    found = [edit() for edit in drop_units(TEXT)]
    assert "def g():\n    pass\n" in found
    assert TEXT[: TEXT.index("def g")] in found


def test_a_head_is_dropped_and_its_body_moves():
    found = [edit() for edit in unwrap_units("a:\n    b:\n        c\n    d\n")]
    assert found == ["b:\n    c\nd\n", "a:\n    c\n    d\n"]


def test_numbers_become_smaller_everywhere_and_in_one_place():
    found = [edit() for edit in smaller_numbers("x4 = 7 + 7\n")]
    assert "x4 = 0 + 0\n" in found
    assert "x4 = 7 + 3\n" in found
    assert not any("x0" in one for one in found)


def test_a_text_becomes_what_is_asked_for():
    found = reduce_text(TEXT, lambda text: "bad(" in text)
    assert found.text == "bad(i, 0)\n"
    assert found.finished
    assert (found.before[0], found.after[0]) == (9, 1)
    assert reduce_text(found.text, lambda text: "bad(" in text).steps == 0


def test_valid_python_stays_valid_where_that_is_asked_for():
    def keep(text):
        try:
            compile(text, "t", "exec")
        except SyntaxError:
            return False
        return "bad(" in text and "def f" in text

    assert reduce_text(TEXT, keep).text.split("\n ") == ["def f(x):", "bad(i, 0)\n"]


def test_the_predicate_must_hold_at_first():
    with pytest.raises(Malformed):
        reduce_text(TEXT, lambda _: False)


def test_limits_and_jobs():
    assert not reduce_text(TEXT, lambda text: "bad(" in text, tries=3).finished
    assert reduce_text(TEXT, lambda text: "bad(" in text, jobs=4).text == "bad(i, 0)\n"


def test_an_empty_text_is_as_small_as_it_gets():
    assert reduce_text("", lambda _: True).text == ""
