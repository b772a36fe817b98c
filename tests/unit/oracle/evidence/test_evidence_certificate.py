"""Certificates of proofs as data: what is written is read again, and a derivation that differs says where."""

from dataclasses import replace

import pytest
from needs import imported

from refmlc import read
from refmlc.diag import RefmlcError
from refmlc.oracle.evidence.case_file import read_case
from refmlc.oracle.evidence.certificate import (
    CertifiedProgram,
    Claim,
    certified,
    claim_of_proof,
    derive,
    read_certificate,
)
from refmlc.oracle.refine.proof import prove

DIVIDED = """
@T.prim_func
def main(A: T.Buffer((3,), "int32"), B: T.Buffer((3,), "int32")):
    for i in range(3):
        B[i] = A[i] // A[0] {more}
"""
PROGRAMS = (CertifiedProgram("0" * 64, "a.py"), CertifiedProgram("1" * 64))
CLAIM = claim_of_proof("main", PROGRAMS, {"b": 2, "a": 1})


def modules(*more):
    return [read(DIVIDED.format(more=each)) for each in more]


def test_a_certificate_is_read_as_it_was_written():
    certificate = derive(CLAIM, modules("", "+ 0"))
    assert read_certificate(certificate.toml()) == certificate
    assert list(certificate.differences(certificate)) == []
    lines = {(each.text, each.place): count for each, count in certificate.derivation.obligations}
    assert lines == {
        ("`A` is initialised where it is read", "5:16"): 3,
        ("`floordiv(A[0], A[0])` is defined", ""): 1,
        ("`floordiv(A[1], A[0])` is defined", ""): 1,
        ("`floordiv(A[2], A[0])` is defined", ""): 1,
        ("the memory of `B` may be written", ""): 1,
    }


def test_what_is_not_proved_has_no_certificate():
    certificate = derive(CLAIM, modules("", "+ 1"))
    assert certificate.derivation.verdict == "undecided"
    with pytest.raises(RefmlcError, match="the verdict is `undecided`"):
        certificate.toml()


def test_a_derivation_that_differs_says_where():
    certificate = derive(CLAIM, modules("", "+ 0"))
    other = derive(CLAIM, modules("", "+ 1"))
    assert list(certificate.differences(other)) == [
        "the derivation says `undecided`, the certificate `proved`: the terms differ"
    ]
    none = replace(certificate, derivation=replace(certificate.derivation, obligations=()))
    counts = "3 times in the derivation, 0 in the certificate"
    lines = list(none.differences(certificate))
    assert lines[0] == f"5:16: `A` is initialised where it is read (argument, discharged): {counts}"
    assert [line.partition(": ")[0] for line in lines] == ["5:16", "nowhere", "nowhere", "2 more obligations differ"]


def test_open_obligations_are_no_proof():
    first, second = read(DIVIDED.format(more="").replace(" // A[0]", "")), modules("- A[i] // A[0] + A[i]")[0]
    certificate = derive(CLAIM, [first, second])
    assert not certificate.is_proof
    assert certificate.derivation.reason


def test_a_function_of_another_kind_is_refused():
    imported("z3")
    graph = read("@R.function\ndef main(x: R.Tensor((2,), 'float32')):\n    return x\n")
    claim = Claim("main", "integers", PROGRAMS[:1], limit=4, assume=("n > 0",))
    with pytest.raises(RefmlcError, match="not a function of TensorIR"):
        derive(claim, [graph])


@pytest.mark.parametrize("reader", [read_case, read_certificate])
def test_an_integer_of_many_digits_is_no_toml(reader):
    with pytest.raises(RefmlcError, match="is not TOML"):
        reader("format = " + "1" * 5000)


def test_an_obligation_stands_once():
    text = derive(CLAIM, modules("", "+ 0")).toml()
    first = text[text.index("[[obligation]]") :].split("\n\n")[0]
    with pytest.raises(RefmlcError, match="stands twice"):
        read_certificate(f"{text}\n{first}\n")


def test_the_place_of_an_obligation_is_independent_of_the_name_of_the_file():
    texts = [DIVIDED.format(more=each) for each in ("", "+ 0")]
    named = [[read(text, name) for text in texts] for name in ("a.py", "/somewhere/else.py")]
    assert derive(CLAIM, named[0]) == derive(CLAIM, named[1])


def test_sizes_are_part_of_the_claim_in_the_order_of_their_names():
    assert CLAIM.dims == (("a", 1), ("b", 2))
    proof = prove(*modules("", "+ 0"), func="main", calls=0)
    assert certified(CLAIM, proof) == derive(CLAIM, modules("", "+ 0"))
