"""refmlc as a backend of ONNX: models and nodes are run, and what an import must know is found out."""

import numpy as np
import pytest
from needs import imported

from refmlc.diag import RefmlcError

onnx = imported("onnx")

from onnx import TensorProto, helper  # noqa: E402 - ONNX may be missing
from onnx.reference import ReferenceEvaluator  # noqa: E402

import refmlc.frontends.onnx_backend as backend  # noqa: E402
from refmlc.lang.ir import relax  # noqa: E402
from refmlc.lang.ir.visit import walk  # noqa: E402

RANDOM = np.random.default_rng(8)


def floats(*shape):
    return RANDOM.normal(size=shape).astype(np.float32)


def ints(*values):
    return np.array(values, np.int64)


def model(nodes, inputs, outputs, version=21):
    """A model of nodes; `inputs`: the shape and dtype of each."""
    values = [helper.make_tensor_value_info(name, dtype, shape) for name, (shape, dtype) in inputs.items()]
    results = [helper.make_value_info(name, onnx.TypeProto()) for name in outputs]
    graph = helper.make_graph(nodes, "graph", values, results)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", version)], ir_version=10)


def test_a_model_that_needs_nothing_known_has_parameters_only() -> None:
    net = model([helper.make_node("Gemm", ["x", "w"], ["y"])], {"x": (["n", 3], 1), "w": ([3, 2], 1)}, ["y"])
    x, w = floats(4, 3), floats(3, 2)
    prepared = backend.prepare(net)
    np.testing.assert_allclose(prepared.run([x, w])[0], x @ w, rtol=1e-6)
    np.testing.assert_allclose(prepared.run({"w": w, "x": x[:2]})[0], x[:2] @ w, rtol=1e-6)
    assert len(prepared.module([x, w])["main"].params) == 2


def test_a_shape_that_is_an_input_becomes_a_constant_of_each_run() -> None:
    nodes = [helper.make_node("Mul", ["s", "s"], ["t"]), helper.make_node("Reshape", ["x", "t"], ["y"])]
    net = model(nodes, {"x": ([2, 8], 1), "s": ([2], TensorProto.INT64)}, ["y"])
    x, prepared = floats(2, 8), backend.prepare(net)
    for sizes in (ints(2, 2), ints(4, 1), ints(2, 2)):
        np.testing.assert_array_equal(prepared.run([x, sizes])[0], x.reshape(sizes * sizes))
    assert [one.name for one in prepared.module([x, ints(2, 2)])["main"].params] == ["x"]


def test_a_module_computes_what_is_known_too() -> None:
    """The result follows from inputs that the import knows; nothing of it is ONNX's."""
    nodes = [helper.make_node("Add", ["s", "s"], ["t"]), helper.make_node("Expand", ["s", "t"], ["y"])]
    net = model(nodes, {"s": ([1], TensorProto.INT64)}, ["y"])
    prepared = backend.prepare(net)
    np.testing.assert_array_equal(prepared.run([ints(2)])[0], np.full(4, 2))
    assert any(isinstance(node, relax.Call) for node in walk(prepared.module([ints(2)])["main"].body))


def test_symbolic_extents_are_those_of_the_run_where_a_rule_needs_them() -> None:
    net = model([helper.make_node("Hardmax", ["x"], ["y"])], {"x": (["n", "m"], 1)}, ["y"])
    x = floats(2, 3)
    np.testing.assert_array_equal(backend.run_model(net, [x])[0], np.eye(3)[x.argmax(1)])


def test_sequences_and_optionals() -> None:
    tensor = helper.make_tensor_type_proto(1, None)
    sequence = helper.make_sequence_type_proto(tensor)
    inputs = [
        helper.make_value_info("s", sequence),
        helper.make_value_info("o", helper.make_optional_type_proto(tensor)),
    ]
    nodes = [
        helper.make_node("OptionalHasElement", ["o"], ["has"]),
        helper.make_node("SequenceInsert", ["s", "first", "zero"], ["longer"]),
        helper.make_node("SequenceAt", ["s", "zero"], ["first"]),
        helper.make_node("SequenceErase", ["longer"], ["y"]),
    ]
    nodes[1], nodes[2] = nodes[2], nodes[1]
    zero = onnx.numpy_helper.from_array(np.array(0), "zero")
    results = [helper.make_value_info(name, onnx.TypeProto()) for name in ("has", "y")]
    net = helper.make_model(helper.make_graph(nodes, "graph", inputs, results, [zero]), ir_version=10)
    a, b = floats(2), floats(3, 1)
    for element in (None, floats(2, 2)):
        has, y = backend.run_model(net, [[a, b], element])
        assert has.item() is (element is not None)
        assert [one.shape for one in y] == [(2,), (2,)]
        np.testing.assert_array_equal(y[1], a)


def test_a_node() -> None:
    x = floats(2, 3)
    node = helper.make_node("ReduceSum", ["x", "axes"], ["y"], keepdims=0)
    np.testing.assert_allclose(backend.run_node(node, [x, ints(1)])[0], x.sum(1), rtol=1e-6)
    old = helper.make_node("Softmax", ["x"], ["y"], axis=1)
    wanted = ReferenceEvaluator(old).run(None, {"x": x})[0]
    np.testing.assert_allclose(backend.run_node(old, [x], opset_version=13)[0], wanted, rtol=1e-6)


def test_what_it_runs_on() -> None:
    net = model([helper.make_node("Relu", ["x"], ["y"])], {"x": ([3], 1)}, ["y"])
    late = model([helper.make_node("Reshape", ["x", "s"], ["y"])], {"x": ([3], 1), "s": ([1], 7)}, ["y"])
    alien = model([helper.make_node("ImageDecoder", ["x"], ["y"])], {"x": ([3], 2)}, ["y"])
    assert [backend.is_compatible(one) for one in (net, late, alien)] == [True, True, False]
    assert [backend.supports_device(one) for one in ("CPU", "CUDA", "CUDA:1", "")] == [True, False, False, False]


@pytest.mark.parametrize(
    "wrong",
    [
        lambda net: backend.prepare(net, "CUDA"),
        lambda net: backend.prepare(net, speed=3),
        lambda net: backend.run_model(net, []),
        lambda net: backend.run_model(net, [floats(3), floats(3)]),
        lambda net: backend.run_model(net, {"z": floats(3)}),
        lambda net: backend.run_model(net, ["text"]),
        lambda net: backend.run_model(net, [floats(4)]),
        lambda net: backend.run_model(net, [[floats(3)]]),
        lambda net: backend.run_model(net, [None]),
        lambda net: backend.run_node(net.graph.node[0], [None]),
    ],
)
def test_misuse_is_refused(wrong) -> None:
    net = model([helper.make_node("Relu", ["x"], ["y"])], {"x": ([3], 1)}, ["y"])
    with pytest.raises(RefmlcError) as refused:
        wrong(net)
    assert refused.value.code.id == "RM111"
