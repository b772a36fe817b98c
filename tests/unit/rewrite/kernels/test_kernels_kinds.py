"""Kinds of functions, told by hand; functions whose loops are bound mean what they meant."""

import pytest

import refmlc
from refmlc.lang.ir import tir
from refmlc.lang.ir.kinds import ForKind
from refmlc.lang.ir.visit import walk
from refmlc.rewrite import kernels
from refmlc.rewrite.schedule import Schedule
from refmlc.rewrite.transform import deduced
from refmlc.testing import assert_equivalent

HEAD = """
@T.prim_func(s_tir=True)
def main(A: T.Buffer({a}, "float32"), B: T.Buffer({b}, "float32"), C: T.Buffer({c}, "float32")):
"""
PRODUCT = """
    for i, j, k in T.grid({i}, {j}, {k}):
        with T.sblock("C"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                C[vi, vj] = T.float32(0)
            C[vi, vj] = C[vi, vj] + A[vi, vk] * B[{b}]
"""
SUM = """
    D = T.sblock_alloc_buffer((4,), "float32")
    for i, k in T.grid(4, 6):
        with T.sblock("D"):
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                D[vi] = T.float32(0)
            D[vi] = D[vi] + A[{a}] * B[0, 0]
    for i, j in T.grid(4, 6):
        with T.sblock("C"):
            vi, vj = T.axis.remap("SS", [i, j])
            C[vi, vj] = D[vi] * T.float32(2)
"""
SWAP = """
    for i, j in T.grid(4, 6):
        with T.sblock("C"):
            vi, vj = T.axis.remap("SS", [i, j])
            C[vi, vj] = {value}
"""
ALL = ("is_matmul", "is_matrix_vector", "is_reduction", "is_general_reduction", "is_transposition")


def module(text, a, b, c):
    return refmlc.read(HEAD.format(a=a, b=b, c=c) + text)


PROGRAMS = {
    "product": (module(PRODUCT.format(i=4, j=6, k=5, b="vk, vj"), (4, 5), (5, 6), (4, 6)), {"is_matmul"}),
    "row times transposed": (
        module(PRODUCT.format(i=1, j=6, k=5, b="vj, vk"), (1, 5), (6, 5), (1, 6)),
        {"is_matrix_vector", "is_reduction"},
    ),
    "row times matrix": (module(PRODUCT.format(i=1, j=6, k=5, b="vk, vj"), (1, 5), (5, 6), (1, 6)), {"is_reduction"}),
    "sum": (module(SUM.format(a="vi, vk"), (4, 6), (1, 1), (4, 6)), {"is_reduction", "is_general_reduction"}),
    "sum of squares of places": (
        module(SUM.format(a="vk, vk"), (6, 6), (1, 1), (4, 6)),
        {"is_general_reduction"},
    ),
    "transposition": (module(SWAP.format(value="A[vj, vi]"), (6, 4), (1,), (4, 6)), {"is_transposition"}),
    "copy": (module(SWAP.format(value="A[vi, vj]"), (4, 6), (1,), (4, 6)), set()),
    "sum of two": (module(SWAP.format(value="A[vj, vi] + B[0]"), (6, 4), (1,), (4, 6)), set()),
}


def kinds(program):
    questions = {name: getattr(kernels, name) for name in ALL}
    return {name for name, question in questions.items() if question(Schedule(deduced(program)))}


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_kinds_of_a_function(name):
    program, expected = PROGRAMS[name]
    assert kinds(program) - {"is_general_reduction"} == expected - {"is_general_reduction"}
    assert "is_general_reduction" not in expected or "is_general_reduction" in kinds(program)


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("threads", [4, 256])
def test_bound_functions_mean_the_same_to_the_bit(name, threads):
    program, _ = PROGRAMS[name]
    schedule = Schedule(program)
    blocks = kernels.kernel_blocks(schedule)
    kernels.map_to_threads(schedule, kernels.inline(schedule, blocks), threads)
    loops = [node for node in walk(schedule.mod["main"]) if isinstance(node, tir.For)]
    assert [loop.tag for loop in loops if loop.kind is ForKind.THREAD_BINDING][:2] == ["blockIdx.x", "threadIdx.x"]
    assert_equivalent(program, schedule.mod, func="main", calls=3, exact=True)


def test_axes_of_extent_one_are_left_out():
    schedule = Schedule(PROGRAMS["row times matrix"][0])
    (block,) = kernels.kernel_blocks(schedule)
    assert (block.dom_kind(), block.dom(), block.is_injective()) == ("SR", [6, 5], False)


def test_a_sum_of_everything_has_an_axis_of_extent_one():
    program = refmlc.read("""
@T.prim_func(s_tir=True)
def main(A: T.Buffer((4,), "float32"), C: T.Buffer((), "float32")):
    for k in range(4):
        with T.sblock("C"):
            vk = T.axis.reduce(4, k)
            with T.init():
                C[()] = T.float32(0)
            C[()] = C[()] + A[vk]
""")
    schedule = Schedule(program)
    blocks = kernels.kernel_blocks(schedule)
    assert [(block.dom_kind(), block.dom()) for block in blocks] == [("SR", [1, 4])]
    kernels.map_to_threads(schedule, blocks, 64)
    assert_equivalent(program, schedule.mod, func="main", calls=3, exact=True)


def test_axes_that_are_not_the_loops_have_no_kernel_blocks():
    program = PROGRAMS["copy"][0]
    schedule = Schedule(program)
    schedule.fuse(*schedule.get_loops("C"))
    assert kernels.kernel_blocks(schedule) is None
