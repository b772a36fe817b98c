"""Graphs through PyTorch: what it takes, what it names, and that its results are those of the graph."""

import numpy as np
import pytest
from needs import need

import refmlc
from refmlc.lang.dtypes import FLOAT32
from refmlc.lang.library import OPERATORS
from refmlc.oracle.examine import examine
from refmlc.oracle.implementations.implementation import Stop
from refmlc.oracle.implementations.lookup import implementation
from refmlc.oracle.outcome import Kind
from refmlc.run.memory.tensor import Tensor
from refmlc.strategies.arguments import Array
from refmlc.strategies.case import Case

need("torch")
GRAPH = """
from tvm.script import ir as I, relax as R
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((3, 4), "float32"), y: R.Tensor((3, 4), "float32")):
        with R.dataflow():
            z = CALL
            R.output(z)
        return z
"""
LOOPS = """
from tvm.script import ir as I, relax as R, tirx as T
@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def f(A: T.Buffer((3,), "float32"), B: T.Buffer((3,), "float32")):
        for i in range(3):
            B[i] = A[i]
    @R.function
    def main(x: R.Tensor((3,), "float32")):
        y = R.call_tir(Module.f, (x,), out_ty=R.Tensor((3,), "float32"))
        return y
"""


def test_results_are_those_that_pytorch_gives():
    x, y = np.arange(12, dtype="f4").reshape(3, 4), np.full((3, 4), 2, "f4")
    made = implementation("torch").prepare(refmlc.read(GRAPH.replace("CALL", "R.sum(R.multiply(x, y), axis=[1])")))
    assert made.run("main", [Tensor.from_numpy(x), Tensor.from_numpy(y)]).value.numpy().tolist() == [12, 44, 76]


@pytest.mark.parametrize(
    "call",
    [
        "R.matmul(x, R.permute_dims(y))",
        "R.nn.softmax(x, axis=-1)",
        "R.concat((x, y), axis=1)",
        "R.mean(x, axis=[0], keepdims=True)",
        "R.where(R.less(x, y), x, R.negative(y))",
        "R.expand_dims(x, axis=[0, 2])",
        'R.astype(x, dtype="int32")',
        'R.mod(R.astype(x, dtype="int32"), R.add(R.astype(R.abs(y), dtype="int32"), R.const(3, "int32")))',
        "R.cumsum(x, axis=1)",
        "R.equal(x, x)",
        "R.prod(x)",
    ],
)
def test_operators_mean_what_relax_says(call):
    made = refmlc.read(GRAPH.replace("CALL", call))
    recipes = tuple(Array(FLOAT32, (3, 4), "tame", seed) for seed in (1, 2))
    found = examine([Case(made, "main", (recipes,))], [implementation("torch")], sanitize=False)[0]
    assert not found.findings
    assert found.verdicts["torch"][0].kind in (Kind.EQUAL, Kind.PERMITTED)


def test_every_row_names_an_operator_of_relax():
    from refmlc.oracle.implementations.pytorch import TABLE  # noqa: PLC0415 - torch is an extra

    assert set(TABLE) <= set(OPERATORS)


@pytest.mark.parametrize(("text", "words"), [(GRAPH.replace("CALL", "R.maximum(x, y)"), "maximum"), (LOOPS, "`f`")])
def test_what_it_does_not_take_is_named(text, words):
    module = refmlc.read(text)
    count = len(module.functions["main"].params)
    shape = (3, 4) if count > 1 else (3,)
    answer = implementation("torch").prepare(module).run("main", [Tensor.from_numpy(np.ones(shape, "f4"))] * count)
    assert answer.why is Stop.UNSUPPORTED
    assert words in answer.message
