"""Findings without a place, in one line, in lines of wide, combining and dangerous characters."""

import pytest

from refmlc.diag import Diagnostic, Source, Span
from refmlc.diag.catalogue import BAD_USAGE
from refmlc.diag.render import render_line, render_text


def test_a_finding_in_one_line():
    said = Diagnostic(BAD_USAGE, "first\nsecond")
    assert render_line(said) == "error[RM112]: first second"
    span = Span(Source("f.py", "x = 1\n"), 1, 0, 1, 1)
    assert render_line(said.at(span)) == "f.py:1:1: error[RM112]: first second"


def test_a_label_without_a_place_is_a_note_and_long_facts_are_indented():
    text = render_text(Diagnostic(BAD_USAGE, "no", label="a label", notes=("one\ntwo",)))
    assert "note: a label" in text
    first, second = (text.index(word) for word in ("one", "two"))
    assert text.rindex("\n", 0, second) > first
    lines = text.splitlines()
    assert lines[[line.strip() for line in lines].index("two")].index("two") == next(
        line.index("one") for line in lines if "one" in line
    )


@pytest.mark.parametrize(
    ("before", "width"), [("\t", 4), ("\N{CJK UNIFIED IDEOGRAPH-4E00}", 2), ("e\u0301", 1), ("\x1b", 1)]
)
def test_the_caret_stands_under_what_is_meant(before, width):
    line = f"{before}x"
    span = Span(Source("f.py", f"{line}\n"), 1, len(before), 1, len(before) + 1)
    shown = render_text(Diagnostic(BAD_USAGE, "no", span)).splitlines()
    caret = next(row for row in shown if row.rstrip().endswith("^"))
    assert caret.index("^") - caret.index("|") - 2 == width, shown
    assert "\x1b" not in "".join(shown)
