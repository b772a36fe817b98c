"""Stages proved for all arguments: the word of each, the reason, and the alarm where a call contradicts it."""

import json

import pytest
from click.testing import CliRunner
from needs import need

from refmlc import read
from refmlc.cli import main
from refmlc.oracle.implementations.implementation import Limits
from refmlc.oracle.implementations.interp import Interp
from refmlc.oracle.passes import PassTrace, Stage, check
from refmlc.oracle.passes.proofs import stage_proof
from refmlc.oracle.passes.stages import StageRow, StageVerdict
from refmlc.oracle.refine.proved import ProgramPair, ProofWord
from refmlc.oracle.refine.scope import is_covered, sizes_of
from refmlc.prove import Proof, ProofKind, SymbolicCall, compared
from refmlc.run.memory.tensor import Tensor

HEAD = """
@T.prim_func
def main(A: T.Buffer(("n",), "{dtype}"), k: T.int32, B: T.Buffer(("n",), "{dtype}")):
    n = T.int32()
"""
LOOP = "    for i in range(n):\n        B[i] = {}\n"
PRODUCT, DISTRIBUTED = "A[i] * A[i] + A[i]", "A[i] * (A[i] + T.int8(1))"
SUM = "    for i in range(n):\n        B[i] = 0.0\n        for j in range(n):\n            B[i] = B[i] + A[{}]\n"


def program(value, dtype="int8"):
    return HEAD.format(dtype=dtype) + (value if "for" in value else LOOP.format(value))


def trace(*texts):
    return PassTrace(tuple(Stage(f"pass {number}", text) for number, text in enumerate(texts)))


def words(*texts, **options):
    return [(row.proof.word, row.proof.reason) for row in check(trace(*texts), prove=10.0, **options).rows]


def test_the_word_of_a_stage():
    product, shifted = program(PRODUCT), program(f"{PRODUCT} + T.int8(0)")
    assert words(product, shifted, product, program(DISTRIBUTED), program("A[i]")) == [
        (ProofWord.PROVED, ""),
        (ProofWord.PROVED, ""),
        (ProofWord.TESTED, "the terms differ, the first in `B[0]`"),
        (ProofWord.REFUTED, ""),
    ]


def test_a_sum_in_another_order_is_equal_over_the_reals():
    assert words(program(SUM.format("j"), "float32"), program(SUM.format("n - 1 - j"), "float32")) == [
        (ProofWord.REALS, "")
    ]


def test_a_stage_is_held_to_the_last_one_that_is_read():
    assert words(program("A[i]"), "not a module", program("A[i] + T.int8(0)")) == [
        (ProofWord.UNDECIDED, "the stage is not read"),
        (ProofWord.PROVED, ""),
    ]


def test_a_stage_of_the_same_loops_is_proved_for_all_sizes():
    need("z3")
    backwards = "    for i in range(n):\n        B[n - 1 - i] = A[n - 1 - i]\n"
    (row,) = check(trace(program("A[i]"), program(backwards)), prove=10.0).rows
    assert (row.proof.word, row.proof.extent, str(row.proof)) == (ProofWord.PROVED, "all sizes", "proved, all sizes")
    (row,) = check(trace(program("A[i]"), program("A[i] + T.int8(0)")), prove=10.0).rows
    assert (row.proof.word, row.proof.extent) == (ProofWord.PROVED, "these sizes")


def test_a_definedness_that_is_not_shown():
    before, after = program("A[i]", "int32"), program("A[i] + 1 - 1", "int32")
    ((word, reason),) = words(before, after, calls=1)
    assert (word, reason) == (ProofWord.TESTED, "not shown: `(A[0] + 1)` is defined")


def test_a_proof_that_takes_long_is_undecided():
    (row,) = check(trace(program("A[i]"), program("A[i] + T.int8(0)")), prove=1e-9).rows
    assert (row.verdict, row.proof.word) == (StageVerdict.SAME, ProofWord.TESTED)
    assert "takes longer than" in row.proof.reason


def test_without_a_proof_there_is_no_word():
    (row,) = check(trace(program("A[i]"), program("A[i] + T.int8(0)"))).rows
    assert row.proof is None


def test_a_proved_stage_without_a_call_is_known():
    before, after = read(program("A[i]")), read(program("A[i] + T.int8(0)"))
    proof = stage_proof(before, after, [ProgramPair(before, after, "main", (), None)], Interp(Limits()), 10.0)
    assert proof.word is ProofWord.PROVED
    assert proof.assumptions[0] == "for n = 5, k = 2"
    assert proof.extent == "these sizes"
    assert StageRow("p", StageVerdict.NO_CALL, proof=proof).is_known
    assert not StageRow("p", StageVerdict.NO_CALL).is_known


@pytest.mark.parametrize(
    ("kind", "after", "message"),
    [
        (ProofKind.PROVED, "A[i] + T.int8(1)", "proved to mean the same in both programs, but on a call they differ"),
        (
            ProofKind.REFUTED,
            "A[i] + T.int8(0)",
            "all arguments in the second program, but a call of it runs to its end",
        ),
        (ProofKind.VACUOUS, "A[i] + T.int8(0)", "all arguments in the first program, but a call of it runs to its end"),
    ],
)
def test_a_call_that_contradicts_the_prover_is_an_alarm(monkeypatch, tmp_path, kind, after, message):
    def wrong(before, _after, func, call):
        return Proof(kind, signature=compared(before, before, func, call).signature)

    monkeypatch.setattr("refmlc.oracle.refine.proved.decided", wrong)
    stages = trace(program("A[i]"), program(after))
    (alarm,) = check(stages, prove=10.0).alarms
    assert alarm.code.id == "RM903"
    assert message in alarm.message
    file = tmp_path / "stages.jsonl"
    file.write_text("".join(json.dumps({"name": each.name, "text": each.text}) + "\n" for each in stages.stages))
    done = CliRunner().invoke(main, ["passes", str(file), "--prove"])
    assert done.exit_code == 70
    assert "RM903" in done.stderr


def test_a_right_verdict_is_no_alarm():
    assert check(trace(program("A[i]"), program("A[i + 1]")), prove=10.0).alarms == ()
    assert check(trace(program("A[i]"), program("A[i] + T.int8(1)")), prove=10.0).alarms == ()


def test_the_command_prints_words_and_reasons(tmp_path):
    file = tmp_path / "stages.jsonl"
    texts = program(PRODUCT), program(DISTRIBUTED)
    file.write_text("".join(json.dumps({"name": f"pass {at}", "text": text}) + "\n" for at, text in enumerate(texts)))
    done = CliRunner().invoke(main, ["passes", str(file), "--prove", "--json"])
    (row,) = json.loads(done.stdout)["stages"]
    assert row["proof"]["word"] == "tested"
    assert row["proof"]["reason"] == "the terms differ, the first in `B[0]`"
    assert "tested" in CliRunner().invoke(main, ["passes", str(file), "--prove"]).stdout
    assert "proof" not in CliRunner().invoke(main, ["passes", str(file)]).stdout


# ---------------------------------------------------------------------------------------------- scope


def arguments(size, scalar=2):
    buffer = next(iter(read(program("A[i]")).functions["main"].buffer_map.values()))
    return [Tensor.empty((size,), buffer.dtype), scalar, Tensor.empty((size,), buffer.dtype)]


def test_a_proof_is_about_the_calls_of_its_sizes():
    module = read(program("A[i]"))
    sizes = sizes_of(module, "main", arguments(3))
    assert sizes == {"n": 3, "k": 2}
    proof = compared(module, module, "main", SymbolicCall(sizes))
    assert is_covered(proof, arguments(3))
    assert not is_covered(proof, arguments(4))
    assert not is_covered(proof, arguments(3, 1))


def test_a_proof_is_not_about_arguments_that_overlap():
    module = read(program("A[i]"))
    call = arguments(3)
    proof = compared(module, module, "main", SymbolicCall(sizes_of(module, "main", call)))
    assert not is_covered(proof, [call[0], call[1], call[0]])
