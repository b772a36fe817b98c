"""Programs of 2022: functions and names as TVM printed them then. Expected texts are those of the course's chapter."""

import pytest

from refmlc.tvm import relax, te, topi
from refmlc.tvm.script import ir_module, relax as R  # noqa: N812 - the text below names it


@pytest.fixture(autouse=True)
def of_2022(monkeypatch):
    monkeypatch.setenv("REFMLC_DIALECT", "2022")


def te_matmul(a, b):
    k = te.reduce_axis((0, a.shape[1]), name="k")
    return te.compute((a.shape[0], b.shape[1]), lambda i, j: te.sum(a[i, k] * b[k, j], axis=k), name="matmul")


def te_relu(a):
    return te.compute(a.shape, lambda *i: te.max(a(*i), 0), name="relu")


RELU = """@T.prim_func
def func(X1: T.Buffer[10, "float32"], relu: T.Buffer[10, "float32"]) -> None:
    # function attr dict
    T.func_attr({"global_symbol": "main", "tir.noalias": True})
    # body
    # with T.block("root")
    for i0 in T.serial(10):
        with T.block("relu"):
            i0_1 = T.axis.spatial(10, i0)
            T.reads(X1[i0_1])
            T.writes(relu[i0_1])
            relu[i0_1] = T.max(X1[i0_1], T.float32(0))
"""


def test_a_function_alone():
    x = te.placeholder((10,), name="X1", dtype="float32")
    assert te.create_prim_func([x, te_relu(x)]).script().strip() == RELU.strip()


def module(function, *shapes):
    builder = relax.BlockBuilder()
    params = [relax.Var(f"A{n}", shape, relax.DynTensorType(len(shape), "float32")) for n, shape in enumerate(shapes)]
    with builder.function("main", params):
        with builder.dataflow():
            out = builder.emit_output(builder.emit_te(function, *params))
        builder.emit_func_output(out)
    return builder.get()


MATMUL = """    @T.prim_func
    def te_matmul(rxplaceholder: T.Buffer[(1, 8), "float32"], rxplaceholder_1: T.Buffer[(8, 4), "float32"], matmul: T.Buffer[(1, 4), "float32"]) -> None:
        # function attr dict
        T.func_attr({"global_symbol": "te_matmul", "tir.noalias": True})
        # body
        # with T.block("root")
        for i0, i1, i2 in T.grid(1, 4, 8):
            with T.block("matmul"):
                i, j, k = T.axis.remap("SSR", [i0, i1, i2])
                T.reads(rxplaceholder[i, k], rxplaceholder_1[k, j])
                T.writes(matmul[i, j])
                with T.init():
                    matmul[i, j] = T.float32(0)
                matmul[i, j] = matmul[i, j] + rxplaceholder[i, k] * rxplaceholder_1[k, j]
"""  # noqa: E501 - as the chapter prints it


def test_a_function_of_the_builder():
    text = module(te_matmul, (1, 8), (8, 4)).script()
    assert MATMUL in text
    assert '-> Tensor(None, "float32", ndim = 2):' in text


DENSE = 'T.func_attr({"global_symbol": "dense", "tir.noalias": True, "layout_free_buffers": [1]})'
ADD = """            with T.block("T_add"):
                ax0, ax1 = T.axis.remap("SS", [i0, i1])
                T.reads(rxplaceholder[ax0, ax1], rxplaceholder_1[ax1])
                T.writes(T_add[ax0, ax1])
                T_add[ax0, ax1] = rxplaceholder[ax0, ax1] + rxplaceholder_1[ax1]
"""


def test_functions_of_topi():
    assert DENSE in module(topi.nn.dense, (1, 8), (4, 8)).script()
    assert ADD in module(topi.add, (1, 8), (8,)).script()


def test_a_result_that_the_text_says_stays():
    @ir_module
    class Said:
        @R.function
        def main(x: R.Tensor((2,), "float32")) -> R.Tensor((2,), "float32"):
            return x

    assert '-> Tensor((2,), "float32"):' in Said.script()


def test_today_is_another_matter(monkeypatch):
    monkeypatch.delenv("REFMLC_DIALECT")
    text = module(te_matmul, (1, 8), (8, 4)).script()
    assert "rxplaceholder" not in text
    assert "v_i, v_j, v_k" in text
