"""Indices that are digits of a sum: what is said of two iterations is true of all values, by enumeration."""

from itertools import product

import pytest

import refmlc
from refmlc.diag import RefmlcError
from refmlc.lang.ir import tir
from refmlc.lang.ir.visit import walk
from refmlc.rewrite.schedule import Schedule
from refmlc.rewrite.schedule.accesses import accesses, separates

# indices of A in terms of f = o * 8 + i, for o < 9, i < 8; whether two values of o may meet in an element
CASES = [
    ("f // 12, f % 12", True),
    ("f // 12, f % 12 // 4, f % 4", True),
    ("f // 12, f % 12 // 4, f % 12 % 4", True),
    ("f % 12, f // 12 + 1", True),
    ("f // 24, f % 24 // 12, f % 12 // 4, f % 4", True),
    ("f // 12, f % 11", False),
    ("f // 12, f % 6", False),
    ("f // 12, f % 12 // 4", False),
    ("f % 12 // 4, f % 4", False),
    ("f // 12, f % 12 // 5, f % 4", False),
    ("f // 16, f % 16", True),
    ("f // 12, (f + 1) % 12", False),
]


def function(indices):
    shape = ", ".join(["100"] * len(indices.split(",")))
    return refmlc.read(f"""
@T.prim_func(s_tir=True)
def main(A: T.Buffer(({shape},), "float32")):
    for o in range(9):
        for i in range(8):
            A[{indices.replace("f", "(o * 8 + i)")}] = T.float32(1)
""")["main"]


@pytest.mark.parametrize(("indices", "apart"), CASES)
def test_the_answer_is_that_of_enumeration(indices, apart):
    func = function(indices)
    loop = next(node for node in walk(func) if isinstance(node, tir.For) and node.loop_var.name == "o")
    uses = accesses(loop.body)
    (buffer,) = uses.written
    places = {}
    for o, i in product(range(9), range(8)):
        places.setdefault(eval(f"({indices},)", {"f": o * 8 + i}), set()).add(o)  # noqa: S307 - of this file
    assert all(len(owners) == 1 for owners in places.values()) or not apart
    assert separates(loop.loop_var, uses, buffer) == apart


def test_two_accesses_with_other_indices_are_not_told_apart():
    func = refmlc.read("""
@T.prim_func(s_tir=True)
def main(A: T.Buffer((20, 20), "float32")):
    for o in range(9):
        for i in range(8):
            A[(o * 8 + i) // 12, (o * 8 + i) % 12] = A[(o * 8 + i + 1) // 12, (o * 8 + i + 1) % 12]
""")["main"]
    loop = next(node for node in walk(func) if isinstance(node, tir.For) and node.loop_var.name == "o")
    uses = accesses(loop.body)
    assert not separates(loop.loop_var, uses, *uses.written)


GRID = refmlc.read("""
@T.prim_func(s_tir=True)
def main(A: T.Buffer((6, 10, 7), "float32"), B: T.Buffer((6, 10, 7), "float32")):
    for i, j, k in T.grid(6, 10, 7):
        with T.sblock("B"):
            vi, vj, vk = T.axis.remap("SSS", [i, j, k])
            B[vi, vj, vk] = A[vi, vj, vk] + T.float32(1)
""")


def test_loops_that_are_fused_and_split_can_be_bound():
    schedule = Schedule(GRID, validate=True)
    outer, inner = schedule.split(schedule.fuse(*schedule.get_loops("B")), factors=[None, 32])
    schedule.bind(outer, "blockIdx.x")
    schedule.bind(inner, "threadIdx.x")


def test_a_fused_sum_cannot_be_bound():
    schedule = Schedule(
        refmlc.read("""
@T.prim_func(s_tir=True)
def main(A: T.Buffer((6, 10), "float32"), B: T.Buffer((6,), "float32")):
    for i, j in T.grid(6, 10):
        with T.sblock("B"):
            vi, vj = T.axis.remap("SR", [i, j])
            with T.init():
                B[vi] = T.float32(0)
            B[vi] = B[vi] + A[vi, vj]
""")
    )
    outer, _ = schedule.split(schedule.fuse(*schedule.get_loops("B")), factors=[None, 4])
    with pytest.raises(RefmlcError, match="may touch the same elements"):
        schedule.bind(outer, "blockIdx.x")
