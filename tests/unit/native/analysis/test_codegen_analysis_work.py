"""Estimates of iterations, counted by hand."""

import pytest
from places import function

from refmlc.native.analysis.cost import count

MATMUL = """
@T.prim_func(s_tir=True)
def main(A: T.Buffer((4, 6), "float32"), C: T.Buffer((4, 4), "float32")):
    T1 = T.sblock_alloc_buffer((4, 4))
    for i, j, k in T.grid(4, 4, 6):
        with T.sblock("T1"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                T1[vi, vj] = T.float32(0)
            T1[vi, vj] = T1[vi, vj] + A[vi, vk] * A[vj, vk]
    for i, j in T.grid(4, 4):
        C[i, j] = T1[i, j]
"""

SYMBOLIC = """
@T.prim_func(s_tir=True)
def main(a: T.handle, c: T.handle):
    n, m = T.int64(), T.int64()
    A = T.match_buffer(a, (n, m))
    C = T.match_buffer(c, (n,))
    for i in range(n):
        for j in range((m + 3) // 4):
            if j > 2:
                C[i] = A[i, j]
            else:
                for u in range(7):
                    C[i] = A[i, j]
"""


def test_nests_one_after_the_other():
    assert count(function(MATMUL))({}) == 4 * 4 * 6 + 4 * 4


@pytest.mark.parametrize(("n", "m", "iterations"), [(10, 8, 10 * 2 * 7), (10, 9, 10 * 3 * 7), (0, 9, 0)])
def test_symbolic_extents(n, m, iterations):
    func = function(SYMBOLIC)
    shape = next(iter(func.buffer_map.values())).shape
    assert count(func)(dict(zip(shape, (n, m), strict=True))) == iterations


def test_an_unknown_extent_counts_as_one():
    func = function(SYMBOLIC)
    n, m = next(iter(func.buffer_map.values())).shape
    assert count(func)({n: 5}) == 5 * 7
    assert count(func)({m: 8}) == 2 * 7


def test_an_axis_that_is_bound_already_is_counted_once():
    text = """
@T.prim_func(s_tir=True)
def main(C: T.Buffer((8, 32), "float32")):
    for x in T.thread_binding(32, thread="threadIdx.x"):
        for i in range(8):
            for y in T.thread_binding(32, thread="threadIdx.x"):
                C[i, y] = T.float32(1)
"""
    assert count(function(text))({}) == 32 * 8


def test_no_loop():
    text = '@T.prim_func(s_tir=True)\ndef main(C: T.Buffer((1,), "float32")):\n    C[0] = T.float32(1)\n'
    assert count(function(text))({}) == 0
