"""Every module, function and fragment of TVMScript in the course's documents is read, shown, and read again equal.

`REFMLC_SEEDS` names the folder of the documents.
"""

import ast

import pytest
from seed_documents import Piece, documents, inside, pieces

from refmlc.diag import RefmlcError
from refmlc.lang.ir.equal import structural_equal
from refmlc.lang.script import read, show
from refmlc.lang.wellformed import check_module
from refmlc.tools.course.excerpt import wrapped

PIECES = [piece for path in documents() for piece in pieces(path)]


def text_of(piece: Piece) -> str:
    """A piece as a text of its own: fragments in a function, functions in the module that the document shows before."""
    if piece.kind == "fragment":
        return wrapped(piece.text, ast.parse(piece.text))
    if piece.kind == "function" and "R.function" in piece.text and "call_tir(linear0" in piece.text:
        before = [one for one in PIECES if one.document == piece.document and one.line < piece.line]
        return inside(piece.text, [one for one in before if one.kind == "module"][-1].text)
    return piece.text


@pytest.mark.needs("seeds")
def test_the_documents_are_there():
    kinds = [piece.kind for piece in PIECES]
    assert len(documents()) == 5
    assert (kinds.count("module"), kinds.count("function"), kinds.count("fragment")) == (20, 9, 12)


@pytest.mark.needs("seeds")
@pytest.mark.parametrize("piece", PIECES, ids=str)
@pytest.mark.parametrize("dialect", ["0.27", "2023", "2022"])
def test_it_is_read_shown_and_read_again(piece, dialect):
    text = text_of(piece)
    module = read(text, str(piece))
    assert list(module.functions)
    shown = show(module, dialect=dialect)
    again = read(shown, f"{piece} shown")
    assert structural_equal(module, again), shown


@pytest.mark.needs("seeds")
@pytest.mark.parametrize("piece", [piece for piece in PIECES if piece.kind == "module"], ids=str)
def test_a_cut_text_ends_in_a_diagnostic(piece):
    lines = piece.text.split("\n")
    for end in range(1, len(lines), 7):
        text = "\n".join(lines[:end])[:-1]
        try:
            read(text)
        except RefmlcError as bad:
            assert bad.code.id[2] in "1256"  # noqa: PT017 - a text that reads is as good


@pytest.mark.needs("seeds")
@pytest.mark.parametrize("piece", [piece for piece in PIECES if "R.alloc_tensor" in piece.text], ids=str)
def test_the_example_that_does_not_fit_is_refused_once(piece):
    (finding,) = check_module(read(text_of(piece), str(piece)))
    assert finding.code.id == "RM202"
    for part in ("`W`", "(10, 128)", "(1, 128)"):
        assert part in finding.message
    assert "linear1, (gv0, gv1, b0)" in finding.span.source.line(finding.span.line)
