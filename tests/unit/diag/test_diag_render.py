import json

import pytest

from refmlc.diag import Diagnostic, Related, Source, Span
from refmlc.diag.catalogue import OUT_OF_BOUNDS, SYNTAX
from refmlc.diag.render import render_line, render_text, to_json

GEMM = Source("gemm.py", "def gemm(A, B):\n\tfor i in 漢字 + x:\n\t\tC[i] = (\n   1\n  )\n" + "y\n" * 10)


def text(span, label="", **more):
    return render_text(Diagnostic(OUT_OF_BOUNDS, "load is out of bounds", span, label, **more)).splitlines()


def test_caret_stands_under_the_span_tabs_and_wide_characters_counted():
    assert text(Span(GEMM, 2, 10, 2, 12), "index 1 is 128") == [
        "error[RM304]: load is out of bounds",
        " --> gemm.py:2:11",
        "  |",
        "2 |     for i in 漢字 + x:",
        "  |              ^^^^ index 1 is 128",
        "  = help: `refmlc explain RM304`",
    ]


def test_gutter_is_as_wide_as_the_greatest_line_number_of_all_places():
    lines = text(Span(GEMM, 1, 4, 1, 8), related=(Related("declared here", Span(GEMM, 12, 0, 12, 1)),))
    assert lines[1:] == [
        "  --> gemm.py:1:5",
        "   |",
        " 1 | def gemm(A, B):",
        "   |     ^^^^",
        "note: declared here",
        "  --> gemm.py:12:1",
        "   |",
        "12 | y",
        "   | ^",
        "   = help: `refmlc explain RM304`",
    ]


def test_several_lines_are_joined_at_the_left():
    assert text(Span(GEMM, 3, 2, 5, 3), "a\nb")[2:-1] == [
        "  |",
        "3 | /         C[i] = (",
        "4 | |    1",
        "5 | |   )",
        "  | |___^ a",
        "  |       b",
    ]


def test_the_middle_of_many_lines_is_left_out():
    lines = text(Span(GEMM, 3, 2, 12, 1))
    assert lines[3:-1] == [
        " 3 | /         C[i] = (",
        " 4 | |    1",
        " 5 | |   )",
        "... |",
        "11 | | y",
        "12 | | y",
        "   | |_^",
    ]


def test_notes_keep_their_lines_and_helps_come_last():
    lines = text(None, "here", notes=("i = 3\nj = 4", "in `main`"), helps=("declare it",))
    assert lines == [
        "error[RM304]: load is out of bounds",
        "  = note: here",
        "  = note: i = 3",
        "          j = 4",
        "  = note: in `main`",
        "  = help: declare it",
        "  = help: `refmlc explain RM304`",
    ]


def test_message_of_two_lines_and_label_of_two_lines():
    source = Source("a.py", "abc")
    found = Diagnostic(SYNTAX, "first\nsecond", Span(source, 1, 0, 1, 3), "one\ntwo")
    assert render_text(found).splitlines()[:7] == [
        "error[RM101]: first",
        "    second",
        " --> a.py:1:1",
        "  |",
        "1 | abc",
        "  | ^^^ one",
        "  |     two",
    ]


@pytest.mark.parametrize(
    ("line", "column", "end", "shown", "carets"),
    [
        ("abc", 3, 3, "abc", "   ^"),
        ("abc", 7, 9, "abc", "   ^"),
        ("", 0, 0, "", "^"),
        ("a\x1b[31mb", 0, 7, "a�[31mb", "^^^^^^^"),
        ("a\u202eb", 2, 3, "a�b", "  ^"),
        ("e\u0301x", 2, 3, "e\u0301x", " ^"),
        ("\ta\tb", 1, 4, "    a   b", "    ^^^^^"),
        ("ü = 1", 4, 5, "ü = 1", "    ^"),
    ],
)
def test_cells(line, column, end, shown, carets):
    lines = text(Span(Source("x", line), 1, column, 1, end))
    assert lines[3] == f"1 | {shown}".rstrip()
    assert lines[4] == f"  | {carets}"


def test_long_line_is_shown_around_the_place():
    line = "a" * 1000 + "X" + "b" * 1000
    lines = text(Span(Source("x", line), 1, 1000, 1, 1001))
    assert lines[3] == "1 | …" + "a" * 80 + "X" + "b" * 119 + "…"
    assert lines[4].index("^") == lines[3].index("X")


def test_a_span_longer_than_what_is_shown_is_cut():
    lines = text(Span(Source("x", "a" * 10_000_000), 1, 0, 1, 10_000_000))
    assert len(lines[3]) < 220
    assert lines[4].count("^") == 200


def test_colours_change_nothing_but_escapes():
    found = Diagnostic(OUT_OF_BOUNDS, "m", Span(GEMM, 3, 2, 5, 3), "l", ("n",), (Related("r", None),))
    coloured = render_text(found, color=True)
    plain = coloured
    for code in ("\x1b[1;31m", "\x1b[1;34m", "\x1b[1;32m", "\x1b[1m", "\x1b[0m"):
        assert code in coloured
        plain = plain.replace(code, "")
    assert [line.rstrip() for line in plain.splitlines()] == render_text(found).splitlines()


def test_one_line():
    assert render_line(Diagnostic(SYNTAX, "a\nb", Span(GEMM, 2, 4, 2, 5))) == "gemm.py:2:5: error[RM101]: a b"
    assert render_line(Diagnostic(SYNTAX, "a")) == "error[RM101]: a"


def test_json():
    found = Diagnostic(
        OUT_OF_BOUNDS, "m", Span(GEMM, 2, 4, 3, 5), "l", ("n",), (Related("r", None),), helps=("do this",)
    )
    data = json.loads(json.dumps(to_json(found)))
    assert data.pop("title") == OUT_OF_BOUNDS.title
    assert data.pop("clause") == OUT_OF_BOUNDS.clause
    assert data == {
        "code": "RM304",
        "kind": "Undefined",
        "message": "m",
        "place": {"file": "gemm.py", "line": 2, "column": 5, "end_line": 3, "end_column": 6},
        "label": "l",
        "notes": ["n"],
        "related": [{"message": "r", "place": None}],
        "helps": ["do this"],
    }
