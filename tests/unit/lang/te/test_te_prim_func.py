"""Tensor expressions as functions: the course's text, what is refused, what runs."""

import numpy as np
import pytest

import refmlc
from refmlc.diag import RefmlcError
from refmlc.lang import te
from refmlc.lang.dtypes import INT32
from refmlc.lang.ir import IRModule, tir
from refmlc.lang.ir.equal import structural_equal
from refmlc.lang.ir.kinds import ForKind

MATMUL_RELU = """
from tvm.script import tirx as T

@T.prim_func(s_tir=True)
def main(A: T.Buffer((8, 4), "float32"), B: T.Buffer((4, 6), "float32"), relu: T.Buffer((8, 6), "float32")):
    T.func_attr({"tirx.noalias": True})
    matmul = T.sblock_alloc_buffer((8, 6))
    for i, j, k in T.grid(8, 6, 4):
        with T.sblock("matmul"):
            v_i, v_j, v_k = T.axis.remap("SSR", [i, j, k])
            T.reads(A[v_i, v_k], B[v_k, v_j])
            T.writes(matmul[v_i, v_j])
            with T.init():
                matmul[v_i, v_j] = T.float32(0.0)
            matmul[v_i, v_j] = matmul[v_i, v_j] + A[v_i, v_k] * B[v_k, v_j]
    for i0, i1 in T.grid(8, 6):
        with T.sblock("relu"):
            v_i0, v_i1 = T.axis.remap("SS", [i0, i1])
            T.reads(matmul[v_i0, v_i1])
            T.writes(relu[v_i0, v_i1])
            relu[v_i0, v_i1] = T.max(matmul[v_i0, v_i1], T.float32(0.0))
"""

K = te.reduce_axis((0, 4), "k")


def matmul_relu():
    a, b = te.placeholder((8, 4), name="A"), te.placeholder((4, 6), name="B")
    k = te.reduce_axis((0, 4), "k")
    c = te.compute((8, 6), lambda i, j: te.sum(a[i, k] * b[k, j], axis=k), name="matmul")
    return a, b, c, te.compute(c.shape, lambda *i: te.max(c(*i), 0), name="relu")


def executed(func, *args):
    refmlc.VirtualMachine(refmlc.build(IRModule({"main": func}), tier="interp"))["main"](*args)
    return args[-1]


def test_the_text_is_the_courses():
    a, b, _, d = matmul_relu()
    (wanted,) = refmlc.read(MATMUL_RELU).functions.values()
    assert structural_equal(te.create_prim_func([a, b, d]), wanted)


def test_a_tensor_that_is_passed_is_not_allocated():
    a, b, c, d = matmul_relu()
    func = te.create_prim_func([a, b, c, d])
    assert [buffer.name for buffer in func.buffer_map.values()] == ["A", "B", "matmul", "relu"]
    left, right = np.arange(32, dtype="float32").reshape(8, 4) - 16, np.ones((4, 6), "float32")
    between, out = np.empty((8, 6), "float32"), np.empty((8, 6), "float32")
    executed(func, left, right, between, out)
    assert (between == left @ right).all()
    assert (out == np.maximum(left @ right, 0)).all()


def test_two_functions_of_one_expression_do_not_share_names():
    a, b, _, d = matmul_relu()
    assert structural_equal(te.create_prim_func([a, b, d]), te.create_prim_func([a, b, d]))


def test_a_reduction_with_a_condition_leaves_terms_out():
    x = te.placeholder((6,), name="X")
    k = te.reduce_axis((0, 6), "k")
    y = te.compute((), lambda: te.sum(x[k], axis=k, where=k % 2 == 0), name="Y")
    assert executed(te.create_prim_func([x, y]), np.arange(6, dtype="float32"), np.empty((), "float32")) == 6


def test_the_index_of_the_greatest_is_a_reduction_of_two_terms():
    def greater(a, b):
        later = te.all(a[1] == b[1], a[0] > b[0])
        takes = te.any(b[1] > a[1], later)
        return te.if_then_else(takes, b[0], a[0]), te.if_then_else(b[1] > a[1], b[1], a[1])

    argmax = te.comm_reducer(greater, lambda t0, t1: (te.const(-1, t0), te.min_value(t1)), name="argmax")
    x = te.placeholder((2, 5), name="X")
    k = te.reduce_axis((0, 5), "k")
    at, best = te.compute((2,), lambda i: argmax((te.cast(k, "int32"), x[i, k]), axis=k), name="Y")
    data = np.array([[1, 7, 3, 7, 0], [-1, -2, -3, -4, -0.5]], "float32")
    places, values = np.empty(2, "int32"), np.empty(2, "float32")
    executed(te.create_prim_func([x, at, best]), data, places, values)
    assert places.tolist() == [1, 4]
    assert values.tolist() == [7, -0.5]


def test_an_extern_block_says_what_it_may_touch():
    x = te.placeholder((4,), name="X")

    y = te.extern((4,), [x], lambda ins, outs: reverse(ins[0], outs[0]), name="Y")
    func = te.create_prim_func([x, y])
    assert executed(func, np.arange(4, dtype="float32"), np.empty(4, "float32")).tolist() == [3, 2, 1, 0]
    assert "T.reads(X[0:4])" in func.script()


def reverse(source, target):
    i = tir.Var("i", INT32)
    three = tir.Apply("sub", (tir.IntImm(INT32, 3), i), INT32)
    store = tir.BufferStore(target, tir.BufferLoad(source, (three,)), (i,))
    return tir.For(i, tir.IntImm(INT32, 0), tir.IntImm(INT32, 4), ForKind.SERIAL, store)


@pytest.mark.parametrize(
    ("build", "code", "text"),
    [
        (lambda a: te.create_prim_func([]), "RM105", "at least one tensor"),
        (lambda a: te.create_prim_func([a, a]), "RM105", "given twice"),
        (lambda a: te.create_prim_func([te.compute((4,), lambda i: a[i, 0])]), "RM105", "but is not an argument"),
        (lambda a: te.compute((4,), lambda i, j: a[i, j]), "RM105", "takes 2 indices"),
        (lambda a: te.compute((4,), lambda i: a), "RM105", "computes a tensor"),
        (lambda a: a(1), "RM208", "has 2 dimensions, 1 indices"),
        (lambda a: a[1, 2, 3], "RM208", "has 2 dimensions, 3 indices"),
        (lambda a: a[0.5, 1], "RM105", "an index is an integer"),
        (lambda a: a[0, 0] + "x", "RM105", "is not an expression"),
        (lambda a: a[0, 0] // 2, "RM201", "not defined on float32"),
        (lambda a: te.power(te.var("n"), 2), "RM201", "`pow` is not defined on int32"),
        (lambda a: te.exp(te.var("n")), "RM201", "`exp` is not defined on int32"),
        (lambda a: te.sum(a[0, 0], axis=[te.placeholder((1,))]), "RM105", "axes of te.reduce_axis"),
        (lambda a: te.placeholder((1,), "float12"), "RM106", "not a dtype"),
        (lambda a: bool(a[0, 0] > 1), "RM105", "is not known here"),
        (lambda a: te.compute((4,), lambda i: (a[i, 0], te.sum(a[i, K], axis=K))), "RM201", "mixes a reduction"),
    ],
)  # fmt: skip
def test_misuse_is_told(build, code, text):
    with pytest.raises(RefmlcError) as found:
        build(te.placeholder((4, 4), name="A"))
    assert found.value.code.id == code
    assert text in found.value.diagnostic.message


@pytest.mark.parametrize(
    ("expr", "text"),
    [
        (lambda n: n + 0, "n"),
        (lambda n: 1 * n, "n"),
        (lambda n: n * 0, "0"),
        (lambda n: n - n, "0"),
        (lambda n: n // 1, "n"),
        (lambda n: n % 1, "0"),
        (lambda n: te.const(7) // -2, "-4"),
        (lambda n: te.const(7) % 0, "T.FloorMod(7, 0)"),
        (lambda n: te.const(2**31 - 1) + 1, "T.Add(2147483647, 1)"),
        (lambda n: n > 1, "1 < n"),
        (lambda n: te.all(te.const(True), n > 1), "1 < n"),
        (lambda n: te.any(te.const(True), n > 1), "T.bool(True)"),
        (lambda n: te.max(n, n), "n"),
    ],
)
def test_constants_are_folded_and_undefined_ones_stay(expr, text):
    assert repr(expr(te.var("n"))).splitlines()[-1] == text
