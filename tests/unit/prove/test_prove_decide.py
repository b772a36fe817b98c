"""The verdict by terms or by integers, whichever decides sooner: large programs, limits, and a machine without z3."""

import pytest
from needs import imported

from refmlc import Schedule, read
from refmlc.diag import fail
from refmlc.diag.catalogue import BAD_USAGE
from refmlc.lang.dtypes import dtype
from refmlc.oracle.refine.scope import is_covered
from refmlc.prove import ProofKind, SymbolicCall, decide, decided
from refmlc.run.memory.tensor import Tensor

imported("z3")

PRODUCT = """@T.prim_func
def main(A: T.Buffer((60, 60), "float32"), B: T.Buffer((60, 60), "float32"), C: T.Buffer((60, 60), "float32")):
    for i, j, k in T.grid(60, 60, 60):
        with T.sblock("C"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                C[vi, vj] = T.float32(0)
            C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]
"""
SMALL = PRODUCT.replace("60", "3")


def tiled(text):
    schedule = Schedule(read(text))
    i, _, k = schedule.get_loops(schedule.get_sblock("C"))
    outer, inner = schedule.split(i, [None, 8])
    schedule.reorder(outer, k, inner)
    return schedule.mod


def tensor(*shape):
    return Tensor.empty(shape, dtype("float32"))


def test_a_product_of_large_matrices_is_proved_without_its_iterations():
    proof = decided(read(PRODUCT), tiled(PRODUCT), "main", SymbolicCall())
    assert proof.kind is ProofKind.PROVED
    assert proof.limit > 0
    assert proof.elements == 0


def test_a_small_program_is_decided_by_terms():
    proof = decided(read(SMALL), tiled(SMALL), "main", SymbolicCall())
    assert proof.kind is ProofKind.PROVED
    assert (proof.limit, proof.elements) == (0, 9)


@pytest.mark.parametrize(
    ("part", "wrong"),
    [
        ("A[vi, vk]", "A[vk, vi]"),
        ("float32(0)", "float32(1)"),
        ("B[vk, vj]", "B[59 - vk, vj]"),
        ("60, 60, 60", "60, 60, 59"),
    ],
)
def test_a_large_program_that_differs_is_not_proved(part, wrong):
    assert part in PRODUCT
    proof = decided(read(PRODUCT), read(PRODUCT.replace(part, wrong)), "main", SymbolicCall(steps=10_000))
    assert proof.kind is ProofKind.UNDECIDED
    assert proof.is_unfinished


def test_terms_have_all_steps_where_integers_do_not_decide(monkeypatch):
    def without_z3(*_arguments, **_options):
        raise fail(BAD_USAGE, "no z3")

    monkeypatch.setattr(decide, "equal_for_all_sizes", without_z3)
    text = PRODUCT.replace("60", "14")
    monkeypatch.setattr(decide, "FEW_STEPS", 100)
    proof = decided(read(text), tiled(text), "main", SymbolicCall())
    assert (proof.kind, proof.limit, proof.elements) == (ProofKind.PROVED, 0, 14 * 14)
    few = decided(read(text), tiled(text), "main", SymbolicCall(steps=50))
    assert few.is_unfinished


def test_a_proof_without_iterations_covers_all_scalars_and_sizes_up_to_its_limit():
    proof = decided(read(PRODUCT), tiled(PRODUCT), "main", SymbolicCall(), limit=100)
    assert is_covered(proof, [tensor(60, 60), tensor(60, 60), tensor(60, 60)])
    assert not is_covered(proof, [tensor(60, 101), tensor(60, 60), tensor(60, 60)])
    shared = tensor(60, 60)
    assert not is_covered(proof, [shared, tensor(60, 60), shared])
