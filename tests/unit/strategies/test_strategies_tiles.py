"""Intrinsics read off functions, and the steps that rewrites of functions are made of."""

import numpy as np
import pytest

from refmlc.diag import RefmlcError
from refmlc.lang.ir import IRModule, tir
from refmlc.lang.ir.visit import walk
from refmlc.lang.wellformed.reader_checks import read
from refmlc.rewrite import schedule
from refmlc.strategies import rolled, rolled_schedules
from refmlc.strategies.tiles import intrinsic_of
from refmlc.vm import VirtualMachine, build

TILED = """
@T.prim_func(s_tir=True)
def main(A: T.Buffer((4, 6), "int32"), X: T.Buffer((4, 6), "int32")):
    for i0, j0, i1, j1 in T.grid(2, 2, 2, 3):
        with T.sblock("work"):
            vi = T.axis.spatial(4, i0 * 2 + i1)
            vj = T.axis.spatial(6, j0 * 3 + j1)
            X[vi, vj] = A[vi, 5] + A[vi, 3] * 2
"""


def main_of(text):
    return read(text, "tiles.py")["main"]


def loop_of(func, name):
    return next(node.loop_var for node in walk(func) if isinstance(node, tir.For) and node.loop_var.name == name)


@pytest.mark.parametrize("unrolled", [False, True])
def test_a_description_has_the_part_of_each_buffer(unrolled):
    func = main_of(TILED)
    found = intrinsic_of(func, loop_of(func, "i1"), unrolled=unrolled)
    shapes = {one.name: [size.value for size in one.shape] for one in found.desc.buffer_map.values()}
    assert shapes == {"A_tile": [2, 3], "X_tile": [2, 3]}
    kinds = {node.kind.value for node in walk(found.impl) if isinstance(node, tir.For)}
    assert kinds == {"unroll" if unrolled else "serial"}
    assert all(isinstance(stride, tir.Var) for one in found.impl.buffer_map.values() for stride in one.strides)


def test_the_function_is_the_intrinsic():
    func = main_of(TILED.replace("A[vi, 5] + A[vi, 3] * 2", "A[vi, vj] * 2 - A[vi, vj]"))
    loop = loop_of(func, "i1")
    after, _ = schedule.tensorize(func, loop, intrinsic_of(func, loop, unrolled=True))
    given, out = np.arange(24, dtype="int32").reshape(4, 6), np.zeros((4, 6), "int32")
    VirtualMachine(build(IRModule({"main": after})))["main"](given, out)
    assert out.tolist() == given.tolist()
    assert any(isinstance(node, tir.SBlock) and node.match_buffers for node in walk(after))


@pytest.mark.parametrize(
    "change",
    [("X[vi, vj]", "X[A[0, 0], vj]"), ("vi = T.axis.spatial(4, i0 * 2 + i1)", "vi = T.axis.spatial(5, i1 + 1)")],
)
def test_where_there_is_none(change):
    func = main_of(TILED.replace(*change))
    assert intrinsic_of(func, loop_of(func, "i1"), unrolled=False) is None


def test_a_description_that_touches_other_buffers_is_refused():
    func = main_of(TILED.replace("A[vi, 5] + A[vi, 3] * 2", "A[vi, vj] * 2 - A[vi, vj]"))
    loop = loop_of(func, "i1")
    found = intrinsic_of(func, loop, unrolled=False)
    short = tir.PrimFunc((), {}, found.desc.body)
    with pytest.raises(RefmlcError, match=r"RM112.*`[AX]_tile` is no parameter"):
        schedule.tensorize(func, loop, schedule.TensorIntrin(short, short))


def test_steps_that_move_blocks_are_drawn():
    """They are seldom legal: the seeds are of functions that they fit."""
    seen = {
        step.split()[0]
        for seed in (5, 7, 9, 28)
        for trace, _ in rolled_schedules(rolled(seed).prim_func, seed)
        for step in trace.split("; ")
    }
    assert seen >= {"compute_at", "reverse_compute_at", "reverse_compute_inline", "rfactor"}
