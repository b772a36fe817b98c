"""`from_onnx` against the reference evaluator of the `onnx` package; models are written node by node."""

import numpy as np
import pytest
from needs import imported

import refmlc
from refmlc.diag import RefmlcError

onnx = imported("onnx")

from onnx import TensorProto, helper, numpy_helper  # noqa: E402 - ONNX may be missing
from onnx.reference import ReferenceEvaluator  # noqa: E402

from refmlc.frontends.onnx_import import from_onnx, params_of  # noqa: E402

RANDOM = np.random.default_rng(5)


def floats(*shape):
    return RANDOM.normal(size=shape).astype(np.float32)


def model(nodes, inputs, outputs, weights, version=17):
    """A model of nodes `(type, inputs, outputs, attributes)`; shapes of the inputs by name."""
    made = [helper.make_node(kind, into, out, **attributes) for kind, into, out, attributes in nodes]
    given = [helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name, shape in inputs.items()]
    results = [helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in outputs]
    held = [numpy_helper.from_array(value, name) for name, value in weights.items()]
    graph = helper.make_graph(made, "graph", given, results, held)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", version)], ir_version=8)


def agree(made, *args, rtol=1e-5):
    module = from_onnx(made)
    assert refmlc.structural_equal(refmlc.read(module.script(show_meta=True)), module)
    names = [one.name for one in made.graph.input]
    wanted = ReferenceEvaluator(made).run(None, dict(zip(names, args, strict=True)))
    for tier in ("interp", "native"):
        found = refmlc.VirtualMachine(refmlc.build(module, tier))["main"](*args)
        for ours, theirs in zip(found if isinstance(found, tuple) else (found,), wanted, strict=True):
            np.testing.assert_allclose(ours.numpy(), theirs, rtol=rtol, atol=rtol)
    return module


def ints(*values):
    return np.array(values, np.int64)


def test_a_convolutional_net() -> None:
    made = model(
        [
            ("Conv", ["x", "w", "b"], ["c"], {"pads": [1, 1, 1, 1], "strides": [2, 2]}),
            ("BatchNormalization", ["c", "s", "o", "m", "v"], ["n"], {}),
            ("Relu", ["n"], ["r"], {}),
            ("MaxPool", ["r"], ["p"], {"kernel_shape": [2, 2], "strides": [1, 1]}),
            ("GlobalAveragePool", ["p"], ["g"], {}),
            ("Flatten", ["g"], ["f"], {}),
            ("Gemm", ["f", "d", "e"], ["l"], {"transB": 1}),
            ("LogSoftmax", ["l"], ["y"], {}),
        ],
        {"x": [2, 3, 6, 6]},
        ["y"],
        {"w": floats(4, 3, 3, 3), "b": floats(4), "s": floats(4), "o": floats(4), "m": floats(4)}
        | {"v": np.abs(floats(4)) + 1, "d": floats(5, 4), "e": floats(5)},
    )
    agree(made, floats(2, 3, 6, 6))


def test_attention_with_shapes_that_the_graph_computes() -> None:
    made = model(
        [
            ("LayerNormalization", ["x", "s", "o"], ["n"], {}),
            ("MatMul", ["n", "w"], ["qkv"], {}),
            ("Split", ["qkv", "thirds"], ["q", "k", "v"], {"axis": 2}),
            ("Shape", ["x"], ["size"], {}),
            ("Gather", ["size", "one"], ["steps"], {}),
            ("Concat", ["minus", "steps", "heads"], ["wanted"], {"axis": 0}),
            ("Reshape", ["q", "wanted"], ["q4"], {}),
            ("Reshape", ["k", "wanted"], ["k4"], {}),
            ("Reshape", ["v", "wanted"], ["v4"], {}),
            ("Transpose", ["q4"], ["qh"], {"perm": [0, 2, 1, 3]}),
            ("Transpose", ["k4"], ["kh"], {"perm": [0, 2, 3, 1]}),
            ("Transpose", ["v4"], ["vh"], {"perm": [0, 2, 1, 3]}),
            ("MatMul", ["qh", "kh"], ["a"], {}),
            ("Div", ["a", "root"], ["b"], {}),
            ("Where", ["seen", "b", "hidden"], ["c"], {}),
            ("Softmax", ["c"], ["p"], {}),
            ("MatMul", ["p", "vh"], ["h"], {}),
            ("Transpose", ["h"], ["t"], {"perm": [0, 2, 1, 3]}),
            ("Reshape", ["t", "whole"], ["y"], {}),
            ("Slice", ["y", "minus", "end", "one"], ["last"], {}),
        ],
        {"x": [1, 3, 4]},
        ["y", "last"],
        {"s": floats(4), "o": floats(4), "w": floats(4, 12), "thirds": ints(4, 4, 4), "one": ints(1)}
        | {"minus": ints(-1), "heads": ints(2, 2), "root": np.float32(1.4142), "whole": ints(0, 0, 4)}
        | {"seen": np.tril(np.ones((3, 3), bool)), "hidden": np.float32(-np.inf), "end": ints(9)},
    )
    agree(made, floats(1, 3, 4))


@pytest.mark.parametrize("ways", [1, 2])
def test_an_lstm(ways) -> None:
    hidden, inputs = 3, 2
    made = model(
        [
            (
                "LSTM",
                ["x", "w", "r", "b"],
                ["y", "h", "c"],
                {"hidden_size": hidden, "direction": "bidirectional" if ways == 2 else "forward"},
            ),
        ],
        {"x": [4, 1, inputs]},
        ["y", "h", "c"],
        {"w": floats(ways, 4 * hidden, inputs), "r": floats(ways, 4 * hidden, hidden), "b": floats(ways, 8 * hidden)},
    )
    module, x = from_onnx(made), floats(4, 1, inputs)
    found = refmlc.VirtualMachine(refmlc.build(module, "interp"))["main"](x)
    weights = {one.name: numpy_helper.to_array(one) for one in made.graph.initializer}
    y, h, c = reference_lstm(x, weights["w"], weights["r"], weights["b"])
    for ours, theirs in zip(found, (y, h, c), strict=True):
        np.testing.assert_allclose(ours.numpy(), theirs, rtol=1e-5, atol=1e-6)


def reference_lstm(x, w, r, b):
    """The definition of ONNX's LSTM in NumPy: gates i, o, f, c; the second direction runs backwards."""
    ways, hidden = w.shape[0], r.shape[2]
    sigmoid = lambda v: 1 / (1 + np.exp(-v))  # noqa: E731 - a formula
    y = np.zeros((x.shape[0], ways, x.shape[1], hidden))
    ends = []
    for way in range(ways):
        h, c = np.zeros((x.shape[1], hidden)), np.zeros((x.shape[1], hidden))
        for at in reversed(range(x.shape[0])) if way else range(x.shape[0]):
            gates = x[at] @ w[way].T + h @ r[way].T + b[way][: 4 * hidden] + b[way][4 * hidden :]
            i, o, f, g = np.split(gates, 4, axis=1)
            c = sigmoid(f) * c + sigmoid(i) * np.tanh(g)
            h = sigmoid(o) * np.tanh(c)
            y[at, way] = h
        ends.append((h, c))
    return y, np.stack([h for h, _ in ends]), np.stack([c for _, c in ends])


def test_parameters_are_inputs_and_dimensions_have_names() -> None:
    made = model(
        [("Gemm", ["x", "w"], ["g"], {}), ("Reshape", ["g", "s"], ["y"], {})],
        {"x": ["batch", 3]},
        ["y"],
        {"w": floats(3, 4), "s": ints(0, 2, 2)},
    )
    module = from_onnx(made, keep_params_in_input=True)
    main, params = module.functions["main"], params_of(made)
    assert [one.name for one in main.params] == ["x", "w"] == ["x", *params]
    assert main.attrs["num_input"] == 1
    x = floats(5, 3)
    found = refmlc.VirtualMachine(refmlc.build(module, "interp"))["main"](x, params["w"])
    np.testing.assert_allclose(found.numpy(), (x @ params["w"]).reshape(5, 2, 2), rtol=1e-5, atol=1e-6)


def test_an_operator_without_a_rule_is_named() -> None:
    made = model([("Bernoulli", ["x"], ["y"], {})], {"x": [3]}, ["y"], {})
    with pytest.raises(RefmlcError) as refused:
        from_onnx(made)
    assert refused.value.code.id == "RM501"
    assert "`Bernoulli` of ONNX" in str(refused.value)


def test_old_operators_are_refused() -> None:
    made = model([("Relu", ["x"], ["y"], {})], {"x": [3]}, ["y"], {}, version=9)
    with pytest.raises(RefmlcError, match="version 9"):
        from_onnx(made)
