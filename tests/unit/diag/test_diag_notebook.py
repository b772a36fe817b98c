"""What a notebook, a list of failures and a terminal with colours show of a failure."""

import pytest

import refmlc
from refmlc.diag import RefmlcError, fail
from refmlc.diag.catalogue import BAD_USAGE, BUG
from refmlc.diag.layout import clipped


def raised(problem: RefmlcError) -> RefmlcError:
    with pytest.raises(RefmlcError) as caught:
        raise problem
    return caught.value


def test_a_notebook_shows_the_message_and_the_frames_of_the_user() -> None:
    lines = raised(fail(BAD_USAGE, "nothing is called `b`"))._render_traceback_()
    assert "nothing is called `b`" in lines[0]
    assert "\x1b[" in lines[0]
    assert any(__file__ in line and line.endswith("raise problem") for line in lines[1:])


def test_a_bug_shows_all_of_its_traceback() -> None:
    lines = raised(fail(BUG, "a case was forgotten"))._render_traceback_()
    assert lines[0].startswith("Traceback")
    assert "a case was forgotten" in "\n".join(lines)


def test_repr_is_the_kind_and_one_line() -> None:
    assert repr(fail(BAD_USAGE, "two\nlines")) == "<Malformed error[RM112]: two lines>"


def test_colours_are_asked_for() -> None:
    problem = fail(BAD_USAGE, "a message\nof two lines")
    assert refmlc.render(problem) == str(problem)
    assert "\x1b[" in refmlc.render(problem, color=True)
    assert refmlc.render(problem.diagnostic) == str(problem)


def test_tabs_and_marks_take_the_cells_that_a_terminal_gives_them() -> None:
    line = clipped("\ta = e\u0301 + \u6f22", 1, 2)
    assert (line.start, line.end) == (len(line.text) - len(line.text.lstrip(" ")), line.start + 1)
    assert "e\u0301" in line.text
