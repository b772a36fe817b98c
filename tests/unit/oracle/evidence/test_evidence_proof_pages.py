"""The page of a proof: the two terms beside each other, obligations, both programs; whatever is in it is text."""

import pytest

from refmlc import read
from refmlc.oracle.evidence import write_proof_page
from refmlc.oracle.evidence.proof_page import MOST_NODES, proof_page, term_pair
from refmlc.oracle.refine.proof import prove
from refmlc.prove import ProofKind
from refmlc.prove.proof import DifferentElement

HEAD = (
    "@T.prim_func\ndef main(A: T.Buffer((4,), {0}), B: T.Buffer((4,), {0}), C: T.Buffer((4,), {0})):\n    # <b>&amp;\n"
)
F32, I32 = '"float32"', '"int32"'


def program(value, dtype=F32):
    return read(HEAD.format(dtype) + f"    for i in range(4):\n        C[i] = {value}\n")


def page_of(before, after, dtype=F32):
    modules = (program(before, dtype), program(after, dtype))
    proof = prove(*modules, calls=5)
    return proof, proof_page("main", proof, "the <meaning>", modules, command="refmlc prove a b")


def rows(node, level=0):
    yield level, node.text, node.differs
    for part in node.parts:
        yield from rows(part, level + 1)


def test_the_terms_stand_beside_each_other_and_what_differs_is_marked():
    proof = prove(
        program("T.exp(A[i] - B[i]) * (A[i] + T.float32(1))"), program("(A[i] + T.float32(1)) * T.exp(B[i] - A[i])")
    )
    pair = term_pair(proof.difference)
    assert pair.element == "C[0]"
    assert pair.count == "4 elements"
    shared = [(1, "(A[0] + 1.0)", False)]
    before, after = ([*rows(side)] for side in (pair.before, pair.after))
    assert before[:3] == after[:3] == [(0, "*", False), (1, "exp", False), (2, "-", False)]
    assert (before[3:], after[3:]) == (
        [(3, "A[0]", True), (3, "B[0]", True), *shared],
        [(3, "B[0]", True), (3, "A[0]", True), *shared],
    )


def test_a_page_shows_the_verdict_the_call_and_both_programs():
    proof, page = page_of("A[i] - B[i]", "B[i] - A[i]")
    assert proof.kind is ProofKind.REFUTED
    for words in (
        "refuted",
        "A call that tells them apart",
        "RM705",
        "refmlc prove a b",
        "The first element that differs",
    ):
        assert words in page
    assert "the &lt;meaning&gt;" in page
    assert "<b>" not in page
    assert "default-src &#39;none&#39;" in page or "default-src 'none'" in page


def test_obligations_are_grouped():
    proof, page = page_of("A[i] // B[i] * 0", "A[i] // B[i] * 0", I32)
    assert proof.is_proved
    assert "Obligations that hold wherever the first program is defined" in page
    _, page = page_of("0", "A[i] // B[i] * 0", I32)
    assert "Not shown" in page


def test_a_large_term_ends():
    """Twelve times the product with itself: 2^12 operands as a text."""
    lines = (
        "for i in range(4):",
        "    C[i] = {}",
        "    for k in range(12):",
        "        C[i] = T.sqrt(C[i] * C[i] + B[0])",
    )
    body = "".join(f"    {line}\n" for line in lines)
    modules = [read(HEAD.format(F32) + body.format(value)) for value in ("A[i]", "A[3 - i]")]
    proof = prove(*modules, calls=0)
    before = [*rows(term_pair(proof.difference).before)]
    assert 100 < len(before) <= 2 * MOST_NODES
    assert any(text == "…" for _, text, _ in before)


def test_an_element_that_only_one_program_writes():
    pair = term_pair(DifferentElement("C[0]", 1.0, None, 1))
    assert (pair.before.text, pair.after.text) == ("1.0", "uninitialised")
    assert pair.count == "1 element"


def test_a_page_is_written_to_a_file(tmp_path):
    modules = (program("A[i]"), program("A[i]"))
    write_proof_page("main", prove(*modules), "equal", modules, tmp_path / "p.html", command="x")
    assert (tmp_path / "p.html").read_text().startswith("<!DOCTYPE html>")


@pytest.mark.parametrize("value", ["T.max(A[i], B[i])", "A[i] + B[i]"])
def test_a_proof_without_a_difference_has_no_terms(value):
    _, page = page_of(value, value)
    assert "The first element that differs" not in page
