import pytest

from refmlc.diag import (
    Diagnostic,
    Exhausted,
    IllFormed,
    Internal,
    Malformed,
    Source,
    Span,
    Trap,
    Undefined,
    Unsupported,
    catalogue as codes,
    error,
    fail,
)

SPAN = Span(Source("a.py", "one\r\ntwo\rthree"), 2, 0, 2, 3)


@pytest.mark.parametrize(
    ("code", "kind", "exit_code"),
    [
        (codes.SYNTAX, Malformed, 2),
        (codes.TYPE_MISMATCH, IllFormed, 2),
        (codes.OUT_OF_BOUNDS, Undefined, 1),
        (codes.ASSERT_FAILED, Trap, 1),
        (codes.UNSUPPORTED_OP, Unsupported, 3),
        (codes.STEPS_EXHAUSTED, Exhausted, 4),
        (codes.BUG, Internal, 70),
    ],
)
def test_kind_and_exit_status_follow_from_the_code(code, kind, exit_code):
    raised = fail(code, "what is")
    assert type(raised) is kind
    assert raised.exit_code == exit_code
    assert raised.code is code
    assert str(raised) == f"error[{code.id}]: what is\n  = help: `refmlc explain {code.id}`"


def test_fail_carries_place_label_and_notes():
    found = fail(codes.SYNTAX, "m", SPAN, "one", "two", label="here").diagnostic
    assert (found.span, found.label, found.notes) == (SPAN, "here", ("one", "two"))


def test_place_is_given_once():
    nowhere = Diagnostic(codes.SYNTAX, "m")
    assert nowhere.at(SPAN).span is SPAN
    assert nowhere.at(SPAN).at(None).span is SPAN
    assert nowhere.noting("a").noting("b").notes == ("a", "b")
    assert error(nowhere).diagnostic is nowhere


def test_lines_end_as_python_ends_them():
    assert SPAN.source.lines == ["one", "two", "three"]
    assert SPAN.source.line(3) == "three"
    assert SPAN.source.line(0) == SPAN.source.line(4) == ""
    assert SPAN.place == "a.py:2:1"
