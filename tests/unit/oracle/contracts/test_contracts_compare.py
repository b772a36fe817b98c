"""A stronger contract of the second of two programs: a finding where a call shows it, else a note."""

import numpy as np
import pytest

import refmlc
from refmlc.oracle.contracts.compare import ContractWatch
from refmlc.oracle.passes import PassTrace, Stage, check
from refmlc.oracle.passes.stages import StageVerdict
from refmlc.run.memory.tensor import Tensor
from refmlc.testing import Inequivalent, assert_equivalent

TAKE = """
@T.prim_func
def main(idx: T.Buffer((4,), "int32"), A: T.Buffer((EXTENT,), "float32"), B: T.Buffer((4,), "float32")):
    for i in range(4):
        B[i] = VALUE
"""
GUARDED = TAKE.replace("EXTENT", "9").replace("VALUE", "T.if_then_else(0 <= idx[i] and idx[i] < 9, A[idx[i]], 0.0)")
BARE = TAKE.replace("EXTENT", "9").replace("VALUE", "A[idx[i]]")


def test_the_second_needs_a_contract_that_the_first_does_not():
    with pytest.raises(Inequivalent) as caught:
        assert_equivalent(GUARDED, BARE)
    (note,) = [note for note in caught.value.diagnostic.notes if "stronger contract" in note]
    assert "contract: 0 <= idx < 9" in note
    assert "does not hold for idx[" in note
    assert_equivalent(BARE, GUARDED)
    assert_equivalent(GUARDED, BARE, assume="0 <= idx < 9")


def test_a_pass_that_drops_a_guard_is_told_with_the_contract():
    found = check(PassTrace((Stage("input", GUARDED), Stage("drop", BARE))))
    assert found.broken.name == "drop"
    assert any("stronger contract" in note and "0 <= idx < 9" in note for note in found.broken.diagnostic.notes)


def test_the_ends_of_the_first_contract_show_the_second():
    """`idx[i] + 1` is a place of the larger buffer alone; the last index of the first contract shows that."""
    larger = BARE.replace("A[idx[i]]", "A[T.min(idx[i] + 1, 8)]")
    smaller = BARE.replace("A[idx[i]]", "A[idx[i] + 1]")
    with pytest.raises(Inequivalent) as caught:
        assert_equivalent(larger, smaller)
    assert caught.value.code.id == "RM705"


def test_the_same_contract_in_both_is_nothing():
    twice = BARE.replace("A[idx[i]]", "A[idx[i]] * T.float32(2)")
    halved = BARE.replace("A[idx[i]]", "A[idx[i]] / T.float32(0.5)")
    (row,) = check(PassTrace((Stage("input", twice), Stage("divide", halved)))).rows
    assert (row.verdict, "contract" in row.why) == (StageVerdict.SAME, False)


def test_what_no_call_shows_is_a_note():
    watch = ContractWatch(refmlc.read(GUARDED), refmlc.read(BARE), "main")
    inside = [np.array([0, 8, 3, 1], "int32"), np.ones(9, "float32"), np.zeros(4, "float32")]
    watch.see(list(map(Tensor.from_numpy, inside)))
    (line,) = watch.lines
    assert "which no call shows: contract: 0 <= idx < 9" in line
    inside[0][2] = 9
    watch.see(list(map(Tensor.from_numpy, inside)))  # a call violates it: what is executed there decides
    assert watch.lines == ()


def test_a_narrower_text_that_is_defined_on_all_calls_is_no_finding():
    """The inferred contract may be narrower than needed; only executed calls accuse."""
    same = GUARDED.replace("i in", "j in").replace("[i]", "[j]")
    assert check(PassTrace((Stage("input", GUARDED), Stage("same", same)))).broken is None
