"""The writers of the documentation: every page is written from data that exists, and text cannot become markup."""

import re
import sys
import zlib
from pathlib import Path

import click
import pytest

from refmlc.cli import main
from refmlc.cli.commands import GROUPS
from refmlc.diag.catalogue import CODES
from refmlc.lang.spec import AREAS, clauses

ROOT = Path(__file__).parents[3]
DOCS = ROOT / "docs"
sys.path.append(str(DOCS / "_ext"))

from refmlc_docs import (  # noqa: E402 - after the path
    book,
    cases,
    citations,
    codes,
    commands,
    docstrings,
    documents,
    inventory,
    links,
    markdown,
    schemas,
)
from refmlc_docs.writers import WRITE, WRITERS, text_for  # noqa: E402 - after the path

PAGES = {path: path.read_text(encoding="utf-8") for path in sorted(DOCS.rglob("*.md"))}
WRITTEN = [(path, match) for path, text in PAGES.items() for match in WRITE.finditer(text) if match["name"] in WRITERS]
ANCHOR = re.compile(rf"^\(((?:{'|'.join(AREAS).lower()})-\d{{3}}|rm\d{{3}})\)=$", re.MULTILINE)


@pytest.fixture(scope="module")
def anchors():
    """The clauses and codes of the pages, each as often as it is written."""
    names = ("clauses", "codes")
    return [each for _, match in WRITTEN if match["name"] in names for each in ANCHOR.findall(text_for(match))]


def test_every_clause_and_every_code_is_written_once(anchors):
    assert sorted(anchors) == sorted(name.lower() for name in (*clauses(), *CODES))


def test_every_group_of_commands_has_its_page():
    groups = [match["arguments"].strip() for _, match in WRITTEN if match["name"] == "commands"]
    assert sorted(groups) == sorted(GROUPS)


def test_every_command_is_written_once():
    written = "\n".join(commands.group(title) for title in GROUPS)
    names = re.findall(r"^\(command-([\w-]+)\)=$", written, re.MULTILINE)
    assert sorted(names) == sorted(main.list_commands(click.Context(main)))


def test_a_line_that_names_no_writer_is_found():
    names = {match["name"] for text in PAGES.values() for match in WRITE.finditer(text)}
    assert names == {*WRITERS, "pages"}


def test_markup_in_text_is_escaped():
    assert markdown.prose("a * b <c> [d](e) $f$") == r"a \* b \<c\> \[d\](e) \$f\$"
    assert markdown.prose("keep `a * b`, not a * b") == r"keep `a * b`, not a \* b"


def test_powers_are_raised():
    assert markdown.prose("wraps modulo 2**bits; 2**(n - 1)") == "wraps modulo 2{sup}`bits`; 2{sup}`n - 1`"


def test_clauses_and_codes_become_links():
    assert markdown.prose("see NUM-101, RM304") == "see [NUM-101](#num-101), [RM304](#rm304)"
    assert markdown.prose("`NUM-101` as code") == "`NUM-101` as code"


def test_no_text_ends_its_fence():
    text = "```\nout"
    fenced = markdown.fence(text)
    assert fenced.startswith("````{code-block}")
    assert fenced.endswith("````")


def test_the_summary_of_a_fold_is_text():
    assert "<summary>a &lt;b&gt;</summary>" in markdown.folded("a <b>", [])


def test_a_docstring_becomes_restructured_text():
    lines = ["Gives `a`s, *all* of them.", "", "| a | b |", "|---|---|", "| `x` | y |", "", "Fails: RM304."]
    assert [line for line in docstrings.converted(lines) if line] == [
        r"Gives ``a``\ s, \*all\* of them.",
        ".. list-table::",
        "   :header-rows: 1",
        "   * - a",
        "     - b",
        "   * - ``x``",
        "     - y",
        "**Fails:** :ref:`RM304 <rm304>`.",
    ]


def test_values_read_as_numbers():
    tensor = {"dtype": "float32", "shape": [2, 2], "values": ["0x1.99999ap-4", "nan", "-0x0p+0", "_"]}
    assert cases.value(tensor) == "float32 (2, 2): [[0.1, nan], [-0.0, _]]"
    assert cases.value({"tuple": [{"number": "int64", "value": 5}, {"extents": [3]}]}) == "(int64 5, shape (3,))"
    assert cases.expected({"rule": "kept"}) == "as before"


def test_a_result_stands_before_the_tensors_among_the_arguments():
    call = cases.CaseCall(({"dtype": "int8", "shape": []}, {"null": True}))
    assert cases._labels(["a", "b"], call, 2) == ["result", "a"]
    assert cases._labels(["a", "b"], call, 1) == ["a"]


def test_the_example_of_a_loop_is_a_small_program():
    first = cases.examples("TIR-203", 3)[0]
    assert "TIR-203" in first.clauses
    assert "for " in first.text
    assert first.text.count("\n") <= cases.MOST_LINES


MODULE = """# from tvm.script import ir as I
@I.ir_module
class Module:
    @T.prim_func
    def one(A: T.Buffer((1,), "int8")):
        A[0] = 1

    @T.prim_func
    def two(A: T.Buffer((1,), "int8")):
        one(A)
"""


def shown_of(name):
    case = cases.CaseFile("x.y", (), (), "0.27", "hand", "", MODULE, name, (cases.CaseCall(()),))
    return cases.program(case)


def test_a_function_that_needs_no_other_is_shown_alone():
    lines, numbers = shown_of("one")
    assert lines == ["@T.prim_func", 'def one(A: T.Buffer((1,), "int8")):', "    A[0] = 1"]
    assert numbers == [4, 5, 6]


def test_a_function_is_shown_with_those_that_it_names():
    lines, numbers = shown_of("two")
    assert numbers == list(range(2, 11))
    assert lines == MODULE.splitlines()[1:]


def test_a_text_that_is_no_python_is_shown_as_it_is():
    case = cases.CaseFile("x.y", (), (), "0.27", "hand", "", "\nno python :\n", "one", (cases.CaseCall(()),))
    assert cases.program(case) == (["no python :"], [2])


def test_the_case_of_the_interpreter_is_cited_first():
    first = citations.citations()["TIR-109"][0]
    assert first.file == "refmlc/run/interp/tensorir/expressions.py"
    assert first.text.startswith("case tir.Select():  # TIR-109\n")


def test_every_clause_has_the_lines_that_implement_it():
    assert set(clauses()) - set(citations.citations()) == set()


def test_every_clause_shows_a_case_or_says_why_not():
    bare = [row.id for row in clauses().values() if not book._suite(row)]
    assert bare == []


def test_a_node_is_a_line_of_a_grammar():
    assert book.node_line(book.tir.Select) == "Select(condition: Expr, true_value: Expr, false_value: Expr)"
    assert "indices: Expr*" in book.node_line(book.tir.BufferLoad)
    assert "predicate: Expr?" in book.node_line(book.tir.BufferLoad)


def test_notation_of_a_clause_that_does_not_exist_is_refused(tmp_path, monkeypatch):
    (tmp_path / "notation.toml").write_text('TIR-999 = "x"\n')
    monkeypatch.setattr(book, "NOTATION", tmp_path / "notation.toml")
    with pytest.raises(ValueError, match="TIR-999"):
        book.notations.__wrapped__()


def test_a_golden_message_belongs_to_its_program():
    program, message = codes.messages()["RM311"]
    assert "T.clz(A[1])" in program
    assert message.startswith("error[RM311]: clz(0) in int32")


def test_a_link_of_a_document_leads_to_its_page():
    text = documents.document("conformance/adapters/README.md")
    assert "[PROTOCOL.md](/reference/protocol.md)" in text
    assert "[conformance/README.md](/reference/suite.md)" in text


def test_kinds_of_a_schema():
    assert schemas.kind({"type": "array", "items": {"enum": ["a", 1]}}, "p") == 'list of one of `"a"`, `1`'
    assert schemas.kind({"anyOf": [{"$ref": "#/$defs/x"}, {"type": "null"}]}, "p") == "[x](#p-x) or null"


def test_an_inventory_holds_what_is_listed():
    data = inventory.inventory("python", {"class": {"int": "functions.html#int"}})
    head, _, body = data.partition(b"zlib.\n")
    assert head.startswith(b"# Sphinx inventory version 2\n# Project: python\n")
    assert zlib.decompress(body) == b"int py:class 1 functions.html#int -\n"


def test_links_that_lead_nowhere_are_found(tmp_path):
    (tmp_path / "a.html").write_text('<p id="here"></p><a href="b.html#there">x</a><a href="#here">y</a>')
    (tmp_path / "b.html").write_text('<p id="there"></p><a href="https://example.org">z</a>')
    assert list(links.problems(tmp_path)) == []
    (tmp_path / "a.html").write_text('<a href="b.html#gone">x</a><a href="c.html">y</a><img src="d.png">')
    assert list(links.problems(tmp_path)) == [
        "a.html: `b.html#gone` is no place in that page",
        "a.html: `c.html` is no page",
        "a.html: `d.png` is no page",
    ]
