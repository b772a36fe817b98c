"""The column `proof` of `check`: what is known for all arguments of variants and of loops in place of threads."""

import pytest
from needs import imported

import refmlc
from refmlc.diag.catalogue import PROOF_CONTRADICTED
from refmlc.oracle.check import proofs
from refmlc.prove import Proof, ProofKind, compared

HEAD = "@T.prim_func\ndef main(a: T.handle, b: T.handle, k: T.float32):\n"
SIZED = (
    HEAD
    + """    n = T.int32()
    A = T.match_buffer(a, (n,), "float32")
    B = T.match_buffer(b, (n,), "float32")
    for i in range(n):
        B[i] = A[i] * T.float32(2) + k
"""
)
KERNEL = """@T.prim_func
def main(A: T.Buffer((8,), "int32"), B: T.Buffer((8,), "int32")):
    T.device_entry()
    bx = T.cta_id([1])
    tx = T.thread_id([2])
    for j in range(4):
        B[tx * 4 + j] = A[tx * 4 + j]
"""
SORTED_BY_DATA = (
    HEAD
    + """    A = T.match_buffer(a, (4,), "int32")
    B = T.match_buffer(b, (4,), "int32")
    for i in range(4):
        B[i] = 0
    for i in range(4):
        B[T.min(T.max(A[i], 0), 3)] = i
"""
)
THREADS = """from tvm.script import tir as T


@T.prim_func
def main(A: T.Buffer((8, 32), "float32"), B: T.Buffer((8, 32), "float32")):
    for b in T.thread_binding(8, thread="blockIdx.x"):
        S = T.alloc_buffer((32,), "float32", scope="shared")
        for t in T.thread_binding(32, thread="threadIdx.x"):
            S[t] = A[b, t]
            B[b, t] = S[31 - t]
"""


def checked(text, *implementations):
    report = refmlc.check(text, implementations=implementations or ("interp",), calls=3)
    return report, {pair.label: pair for pair in report.rows[0].pairs}


def test_variants_are_proved_for_all_sizes_and_literals_for_those_of_the_first_call():
    imported("z3")
    report, pairs = checked(SIZED)
    assert report.ok
    assert {label: pair.word for label, pair in pairs.items()} == {
        "parallel": "all sizes",
        "numbers written as literals": "these sizes",
    }
    line = next(line for line in report.table() if line.path == "variants")
    assert (line.calls, line.proof) == ("2 compared", "1 all sizes, 1 these sizes")


def test_what_is_not_decided_is_tested_and_says_why():
    report, pairs = checked(SORTED_BY_DATA)
    assert {pair.word for pair in pairs.values()} == {"tested"}
    assert any("where a store goes depends on the values of an argument" in remark for remark in report.remarks)
    assert [line.proof for line in report.table()][:2] == ["", "tested"]


def test_what_is_not_proved_of_a_kernel_of_tirx_is_one_remark():
    report, pairs = checked(KERNEL, "interp")
    assert report.ok
    assert {"unrolled", "vectorised"} <= pairs.keys()
    assert {pair.word for pair in pairs.values()} == {"tested"}
    remarks = [remark for remark in report.remarks if "tested" in remark]
    assert remarks == [f"main: {', '.join(pairs)}: tested: kernels of TIRx are run on the calls, and not proved"]


def test_loops_in_place_of_threads_are_proved():
    report, pairs = checked(THREADS, "native:guarded")
    assert pairs["threads as loops"].word == "all arguments"
    assert [pair["path"] for pair in report.to_json()["functions"][0]["pairs"]].count("threads as loops") == 1


def test_a_program_without_threads_has_no_loops_in_place_of_them():
    _, pairs = checked(SORTED_BY_DATA, "native:guarded")
    assert "threads as loops" not in pairs


@pytest.mark.parametrize("pairs", [True, False])
def test_no_pair_is_proved_where_none_is_compared(pairs):
    report = refmlc.check(SIZED, implementations=["interp"], calls=3, pairs=pairs)
    assert bool(report.rows[0].pairs) is pairs


def test_nothing_is_proved_of_what_is_undefined_or_continues_after_it():
    assert checked(THREADS, "native:guarded")[1]
    undefined = refmlc.check(THREADS, implementations=["native:guarded"], calls=3, as_written=True)
    assert undefined.findings
    allowed = refmlc.check(SIZED, implementations=["interp"], calls=3, allow={"RM306"})
    assert (undefined.rows[0].pairs, allowed.rows[0].pairs) == ((), ())


def test_a_call_that_contradicts_a_proof_is_a_finding(monkeypatch):
    """A prover that refutes what runs: the call says so."""

    def wrong(before, _after, func, call, **_options):
        return Proof(ProofKind.REFUTED, signature=compared(before, before, func, call).signature)

    monkeypatch.setattr("refmlc.oracle.refine.proved.decided", wrong)
    report, _ = checked(THREADS, "native:guarded")
    assert {finding.code for finding in report.findings} == {PROOF_CONTRADICTED}
    assert {cause.finding.other.label for cause in report.causes} <= {"parallel", proofs.LOOPS}
