"""`from_onnx` against the reference evaluator of the `onnx` package; models are written node by node."""

import numpy as np
import pytest
from needs import imported

import refmlc
from refmlc.diag import RefmlcError

onnx = imported("onnx")

from onnx import TensorProto, helper, numpy_helper  # noqa: E402 - ONNX may be missing
from onnx.reference import ReferenceEvaluator  # noqa: E402

from refmlc.frontends.onnx import from_onnx, params_of  # noqa: E402

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


def test_old_operators_are_converted_by_onnx_or_refused() -> None:
    agree(model([("Relu", ["x"], ["y"], {})], {"x": [3]}, ["y"], {}, version=9), floats(3))
    made = model([("ATen", ["x"], ["y"], {})], {"x": [3]}, ["y"], {}, version=9)
    with pytest.raises(RefmlcError, match="RM501"):
        from_onnx(made)


def one_node(kind, inputs, version=21, outputs=("y",), **attributes):
    """A model of one node whose inputs are arrays."""
    names = [f"x{place}" for place in range(len(inputs))]
    node = helper.make_node(kind, names, list(outputs), **attributes)
    given = [
        helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(one.dtype), one.shape)
        for name, one in zip(names, inputs, strict=True)
    ]
    results = [helper.make_value_info(name, onnx.TypeProto()) for name in outputs if name]
    graph = helper.make_graph([node], "graph", given, results)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", version)], ir_version=10)


INTS = np.array([-7, -4, 3, 8], np.int32)
DIVISORS = np.array([3, -3, -5, 5], np.int32)
FLOATS = np.array([-4.3, 7.2, 5.0, 4.3], np.float32)
OTHERS = np.array([2.1, -3.4, 8.0, -2.1], np.float32)
ONCE_WRONG = {
    "an attribute that changes the remainder": ("Mod", [FLOATS, OTHERS], {"fmod": 1}, ()),
    "the remainder of integers by C's rule": ("Mod", [INTS, DIVISORS], {"fmod": 1}, ()),
    "the remainder of integers by Python's rule": ("Mod", [INTS, DIVISORS], {}, ()),
    "the quotient of integers stays one": ("Div", [INTS, DIVISORS], {}, ()),
    "the last of equal elements": (
        "ArgMax",
        [np.array([[2, 2, 1], [0, 5, 5]], np.float32)],
        {"select_last_index": 1},
        (),
    ),
    "the last of equal elements, for the least": (
        "ArgMin",
        [np.array([[2, 1, 1]], np.float32)],
        {"select_last_index": 1, "axis": -1, "keepdims": 0},
        (),
    ),
    "sums without the own element": ("CumSum", [FLOATS, np.array(0)], {"exclusive": 1}, (1,)),
    "sums from the end": ("CumSum", [INTS, np.array(-1)], {"reverse": 1}, (1,)),
    "both": ("CumSum", [FLOATS, np.array(0)], {"reverse": 1, "exclusive": 1}, (1,)),
    "no axes: all of them": ("ReduceSum", [floats(2, 3), np.array([], np.int64)], {}, (1,)),
    "no axes: none": ("ReduceSum", [floats(2, 3), np.array([], np.int64)], {"noop_with_empty_axes": 1}, (1,)),
    "a mean of all axes": ("ReduceMean", [floats(2, 3), np.array([], np.int64)], {"keepdims": 0}, (1,)),
    "a power has the dtype of the base": (
        "Pow",
        [np.array([1, 2, 3], np.int32), np.array([2, 0.5, 3], np.float32)],
        {},
        (),
    ),
    "a part of the shape, as a tensor": ("Shape", [floats(2, 3, 4)], {"start": 1, "end": -1}, ()),
    "no part of the shape": ("Shape", [floats(2, 3, 4)], {"start": 2, "end": 1}, ()),
    "places from the end, at run time": ("Gather", [floats(4, 3), np.array([-1, 0, -4])], {"axis": 0}, ()),
    "a slope that is broadcast": ("PRelu", [floats(2, 3, 4), floats(3, 1)], {}, ()),
}


@pytest.mark.parametrize("name", ONCE_WRONG)
def test_what_was_silently_wrong(name) -> None:
    kind, inputs, attributes, fixed = ONCE_WRONG[name]
    made = one_node(kind, inputs, **attributes)
    (wanted,) = ReferenceEvaluator(made).run(None, {f"x{at}": one for at, one in enumerate(inputs)})
    module = from_onnx(made, known={f"x{at}": inputs[at] for at in fixed})
    args = [one for at, one in enumerate(inputs) if at not in fixed]
    found = refmlc.VirtualMachine(refmlc.build(module, "interp"))["main"](*args).numpy()
    assert found.dtype == wanted.dtype
    assert found.shape == wanted.shape
    np.testing.assert_allclose(found, wanted, rtol=1e-6)


@pytest.mark.parametrize(
    "kind", ["Relu", "Transpose", "Softmax", "ReduceMax", "Conv", "LSTM", "Shape", "Cast", "Attention"]
)
def test_an_attribute_that_no_rule_takes_is_refused_by_name(kind) -> None:
    arrays = {"Conv": [floats(1, 1, 3, 3), floats(1, 1, 2, 2)], "Attention": [floats(1, 1, 2, 4)] * 3}
    arrays["LSTM"] = [floats(1, 1, 2), floats(1, 8, 2), floats(1, 8, 2)]
    extra = {"Cast": {"to": 1}, "LSTM": {"hidden_size": 2}}.get(kind, {})
    made = one_node(kind, arrays.get(kind, [floats(1, 4)]), version=23, colour=7, **extra)
    with pytest.raises(RefmlcError, match="RM501") as refused:
        from_onnx(made)
    assert "attribute `colour`" in str(refused.value)


def test_an_input_or_output_that_no_rule_takes_is_refused_by_name() -> None:
    with pytest.raises(RefmlcError, match="input 1 of `Softmax`"):
        from_onnx(one_node("Softmax", [floats(2), floats(2)]))
    with pytest.raises(RefmlcError, match="output 1 of `AveragePool`"):
        from_onnx(one_node("AveragePool", [floats(1, 1, 4)], outputs=("y", "places"), kernel_shape=[2]))


@pytest.mark.parametrize(("mode", "wanted"), [("SAME_LOWER", [0, 2, 4]), ("SAME_UPPER", [1, 3, 4])])
def test_padding_that_depends_on_the_extent(mode, wanted) -> None:
    """Five elements by windows of two, two apart: three windows, of which one reaches over an end."""
    x = np.arange(5, dtype=np.float32).reshape(1, 1, 5)
    made = one_node("MaxPool", [x], kernel_shape=[2], strides=[2], auto_pad=mode)
    found = refmlc.VirtualMachine(refmlc.build(from_onnx(made), "interp"))["main"](x)
    assert found.numpy().ravel().tolist() == wanted


def test_a_function_body_gets_the_default_of_an_attribute() -> None:
    """`axes` of MeanVarianceNormalization is [0, 2, 3] where nothing is said, worked by NumPy."""
    x = floats(2, 3, 2, 2)
    found = refmlc.VirtualMachine(refmlc.build(from_onnx(one_node("MeanVarianceNormalization", [x])), "interp"))[
        "main"
    ](x)
    wanted = (x - x.mean((0, 2, 3), keepdims=True)) / (x.std((0, 2, 3), keepdims=True) + 1e-9)
    np.testing.assert_allclose(found.numpy(), wanted, rtol=1e-4, atol=1e-5)


def test_a_layer_norm_with_several_outputs_is_what_onnx_defines() -> None:
    inputs = [floats(2, 3, 4), floats(4), floats(4)]
    made = one_node("LayerNormalization", inputs, outputs=("y", "mean", "deviation"))
    wanted = ReferenceEvaluator(made).run(None, {f"x{at}": one for at, one in enumerate(inputs)})
    found = refmlc.VirtualMachine(refmlc.build(from_onnx(made), "interp"))["main"](*inputs)
    for ours, theirs in zip(found, wanted, strict=True):
        np.testing.assert_allclose(ours.numpy(), theirs, rtol=1e-5, atol=1e-6)


def test_the_scale_of_a_layer_norm_broadcasts() -> None:
    """Two axes are normalised; the scale has the last one alone, the bias the one before it."""
    inputs = [np.array([[[0, 0], [0, 2]]], np.float32), np.array([1, 2], np.float32), np.array([[0], [1]], np.float32)]
    made = one_node("LayerNormalization", inputs, axis=-2, epsilon=0.0)
    found = refmlc.VirtualMachine(refmlc.build(from_onnx(made), "interp"))["main"](*inputs)
    third = 3**-0.5  # the mean is 1 / 2, the deviation 3 ** 0.5 / 2
    np.testing.assert_allclose(found.numpy(), [[[-third, -2 * third], [1 - third, 1 + 6 * third]]], rtol=1e-6)


@pytest.mark.parametrize(("version", "axis"), [(9, 1), (12, 1), (12, -2), (13, 2)])
def test_before_version_13_hardmax_takes_all_axes_from_its_own_on_for_one(version, axis) -> None:
    x = np.array([[[1, 2], [3, 0]]], np.float32)
    made = one_node("Hardmax", [x], version, axis=axis)
    found = refmlc.VirtualMachine(refmlc.build(from_onnx(made), "interp"))["main"](x).numpy()
    assert found.tolist() == ([[[0, 1], [1, 0]]] if version == 13 else [[[0, 0], [1, 0]]])


def test_a_tensor_without_elements_takes_another_shape() -> None:
    """An extent of 0 in `R.reshape` would be the extent of 3."""
    x = np.zeros((0, 3), np.float32)
    found = refmlc.VirtualMachine(refmlc.build(from_onnx(one_node("Flatten", [x], axis=0)), "interp"))["main"](x)
    assert found.numpy().shape == (1, 0)


@pytest.mark.parametrize(
    ("size", "pads", "wanted"),
    [
        (3, [0, 0], [3, 3]),  # the last window has one element
        (4, [1, 0], [1, 5, 4]),
        (2, [0, 2], [3]),  # a window that begins behind the data is none
    ],
)
def test_a_window_that_ceil_mode_cuts_has_the_norm_of_what_is_left(size, pads, wanted) -> None:
    x = np.arange(1, size + 1, dtype=np.float32).reshape(1, 1, size)
    made = one_node("LpPool", [x], kernel_shape=[2], strides=[2], pads=pads, ceil_mode=1, p=1)
    found = refmlc.VirtualMachine(refmlc.build(from_onnx(made), "interp"))["main"](x).numpy()
    assert found.ravel().tolist() == wanted


class TestHostileModels:
    def refused(self, made, code):
        with pytest.raises(RefmlcError) as refusal:
            from_onnx(made)
        assert refusal.value.code.id == code
        return str(refusal.value)

    def test_a_size_that_no_memory_holds_is_not_computed(self, monkeypatch) -> None:
        """The reference evaluator would make 2**40 elements while the model is read."""
        monkeypatch.setattr("refmlc.frontends.onnx.folding.ReferenceEvaluator", lambda _model: pytest.fail("computed"))
        made = model([("ConstantOfShape", ["s"], ["y"], {})], {}, ["y"], {"s": ints(1 << 20, 1 << 20)})
        assert "(1048576, 1048576)" in from_onnx(made).script()

    def test_a_cycle(self) -> None:
        made = model([("Add", ["x", "b"], ["a"], {}), ("Relu", ["a"], ["b"], {})], {"x": [3]}, ["b"], {})
        assert "`b`" in self.refused(made, "RM109")

    def test_dimensions_that_promise_more_than_is_there(self) -> None:
        made = model([("Add", ["x", "w"], ["y"], {})], {"x": [3]}, ["y"], {"w": floats(3)})
        made.graph.initializer[0].dims[:] = [1 << 40]
        assert "fewer elements" in self.refused(made, "RM109")

    def test_negative_dimensions(self) -> None:
        made = model([("Relu", ["x"], ["y"], {})], {"x": [-4]}, ["y"], {})
        assert "is -4" in self.refused(made, "RM109")
        made = model([("Add", ["x", "w"], ["y"], {})], {"x": [3]}, ["y"], {"w": floats(3)})
        made.graph.initializer[0].dims[:] = [-3]
        assert "negative" in self.refused(made, "RM109")

    def test_a_name_that_is_given_twice(self) -> None:
        made = model([("Relu", ["x"], ["y"], {}), ("Neg", ["x"], ["y"], {})], {"x": [3]}, ["y"], {})
        assert "same name" in self.refused(made, "RM109")

    def test_an_output_that_no_node_gives(self) -> None:
        made = model([("Relu", ["x"], ["y"], {})], {"x": [3]}, ["z"], {})
        assert "`z`" in self.refused(made, "RM109")

    def test_a_function_that_calls_itself(self) -> None:
        made = model([("Relu", ["x"], ["y"], {})], {"x": [3]}, ["y"], {})
        node = helper.make_node("Again", ["a"], ["b"], domain="own")
        opsets = [helper.make_opsetid("own", 1), helper.make_opsetid("", 17)]
        made.functions.append(helper.make_function("own", "Again", ["a"], ["b"], [node], opsets))
        made.opset_import.append(helper.make_opsetid("own", 1))
        made.graph.node[0].op_type, made.graph.node[0].domain = "Again", "own"
        assert "`Again`" in self.refused(made, "RM501")

    def test_data_in_another_file(self) -> None:
        made = model([("Add", ["x", "w"], ["y"], {})], {"x": [3]}, ["y"], {"w": floats(3)})
        tensor = made.graph.initializer[0]
        tensor.data_location = TensorProto.EXTERNAL
        tensor.external_data.add(key="location", value="../../etc/passwd")
        assert "another file" in self.refused(made, "RM501")

    def test_texts_and_sequences(self) -> None:
        made = one_node("Relu", [floats(3)])
        made.graph.input[0].type.tensor_type.elem_type = TensorProto.STRING
        assert "string" in self.refused(made, "RM501")
        made.graph.input[0].type.CopyFrom(helper.make_sequence_type_proto(helper.make_tensor_type_proto(1, [3])))
        assert "sequence" in self.refused(made, "RM501")
