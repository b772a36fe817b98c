"""Pairs: which variants there are, that they mean the same, and that who treats them differently is found."""

import numpy as np
import pytest
from wrapped import Given, Wrapped, empty, floats, honest

import refmlc
from refmlc.lang.ir import tir
from refmlc.lang.ir.kinds import ForKind
from refmlc.lang.ir.visit import walk
from refmlc.oracle.examine import examine
from refmlc.oracle.implementations.implementation import Ended
from refmlc.oracle.implementations.interp import Interp, Interpreted
from refmlc.oracle.implementations.native import Native
from refmlc.oracle.pairs import variants
from refmlc.oracle.pairs.branches import ReachRecorder, branches, reachable_part
from refmlc.strategies import rolled

SCALED = """
@T.prim_func
def main(A: T.Buffer((4, 8), "float32"), n: T.int32, B: T.Buffer((4, 8), "float32")):
    for i in range(4):
        for j in range(8):
            B[i, j] = A[i, j] * T.float32(0.5) + T.Cast("float32", n * 3)
"""
SUM = """
@T.prim_func
def main(A: T.Buffer((8,), "float32"), B: T.Buffer((1,), "float32")):
    B[0] = T.float32(0)
    for i in T.parallel(1):
        for k in range(8):
            B[0] = B[0] + A[k]
"""
THIRDS = """
@T.prim_func
def main(A: T.Buffer((4, 8), "float32"), B: T.Buffer((4,), "float32")):
    for i, k in T.grid(4, 8):
        with T.block("B"):
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                B[vi] = T.float32(0)
            B[vi] += A[vi, vk] / T.float32(3)
"""
IFS = """
@T.prim_func
def main(A: T.Buffer((4,), "float32"), n: T.int32, B: T.Buffer((4,), "float32")):
    for i in range(4):
        if n > i:
            B[i] = A[i]
        else:
            if n > 100:
                B[i] = T.float32(1)
            B[i] = T.float32(0)
"""


def scaled():
    return Given(SCALED, lambda _number: [floats(4, 8), 7, empty(4, 8)])


def kinds(module):
    return [node.kind for node in walk(module["main"].body) if isinstance(node, tir.For)]


def test_loops_get_every_kind_that_they_may_have():
    found = {variant.label: kinds(variant.module) for variant in variants(scaled())}
    assert found["unrolled"] == [ForKind.SERIAL, ForKind.UNROLLED]
    assert found["vectorised"] == [ForKind.SERIAL, ForKind.VECTORIZED]
    assert found["parallel"] == [ForKind.PARALLEL, ForKind.SERIAL]
    assert "serial" not in found


def test_a_sum_in_place_is_not_made_parallel_or_a_vector():
    program = Given(SUM, lambda _number: [floats(8), empty(1)])
    found = {variant.label: kinds(variant.module) for variant in variants(program)}
    assert found["serial"] == [ForKind.SERIAL, ForKind.SERIAL]
    assert found["unrolled"] == [ForKind.PARALLEL, ForKind.UNROLLED]
    assert "vectorised" not in found


def test_constants_are_loaded_and_numbers_written_in():
    found = {variant.label: variant for variant in variants(scaled())}
    loaded = found["constants loaded from a buffer"]
    assert [buffer.name for buffer in loaded.module["main"].buffer_map.values()][2:] == [
        "constants_float32",
        "constants_int32",
    ]
    assert [one.numpy().tolist() for one in loaded.arguments()[3:]] == [[0.5], [3]]
    constants = [node.value for node in walk(loaded.module["main"].body) if isinstance(node, tir.FloatImm)]
    assert constants == []
    written = found["numbers written as literals"].module["main"]
    assert not any(isinstance(node, tir.Var) and node.name == "n" for node in walk(written.body))


def test_variants_are_modules_that_obey_the_rules_and_have_a_text():
    for variant in variants(scaled()):
        assert refmlc.structural_equal(refmlc.read(refmlc.show(variant.module)), variant.module)


@pytest.mark.parametrize("seed", range(12))
def test_the_tiers_do_not_contradict_themselves(seed):
    (found,) = examine([rolled(seed)], [Native("tiny")], pairs=True)
    assert found.findings == ()


def test_who_treats_a_vector_differently_contradicts_itself():
    def worse(answer, module):
        if ForKind.VECTORIZED in kinds(module) and isinstance(answer, Ended):
            answer.args[-1].numpy()[2, 3] += 1
        return answer

    (found,) = examine([scaled()], [Wrapped(worse)], pairs=True)
    assert found.pairs == (
        "unrolled",
        "vectorised",
        "parallel",
        "constants loaded from a buffer",
        "numbers written as literals",
    )
    (finding,) = found.findings
    assert (finding.code.id, finding.verdict.difference.index) == ("RM705", (2, 3))
    assert "vectorised" in finding.diagnostic.message
    assert finding.other.label == "vectorised"


def test_who_folds_constants_within_the_bound_is_permitted():
    def folds(answer, module):
        if len(module["main"].params) == 2 and isinstance(answer, Ended):
            array = answer.args[-1].numpy()
            array[...] = np.nextafter(array, np.float32(1e9))
        return answer

    program = Given(THIRDS, lambda _number: [floats(4, 8), empty(4)])
    (found,) = examine([program], [Wrapped(folds)], pairs=True)
    assert "constants loaded from a buffer" in found.pairs
    assert found.findings == ()
    assert found.verdicts["mine"][0].kind.value == "permitted"


def test_honest_ones_pass():
    (found,) = examine([scaled()], [Wrapped(honest)], pairs=True)
    assert found.findings == ()


def test_branches_that_no_call_reaches_are_known():
    program = Given(IFS, lambda at: [floats(4), (2, 200)[at], empty(4)], calls=(0, 1))
    module = program.module
    program = Fixed(module, program)

    def seen(*numbers):
        recorder = ReachRecorder()
        for number in numbers:
            Interpreted(module, Interp(), recorder).run(program.func, program.arguments(number))
        missed = recorder.reach(reachable_part(module, program.func)).missed
        return {(branch.span.line, branch.side) for branch in branches(module) if branch not in missed}

    assert len(list(branches(module))) == 4
    assert seen(0) == {(5, True), (5, False), (8, False)}
    assert seen(1) == {(5, True)}
    assert (8, True) not in seen(0, 1)


class Fixed:
    """A program whose module is one object."""

    def __init__(self, module, given):
        self.module, self.func, self.calls, self.arguments = module, given.func, given.calls, given.arguments
