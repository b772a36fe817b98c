"""Resampling, quantisation and recurrent layers of ONNX against PyTorch and values worked by hand."""

import numpy as np
import pytest
from needs import imported

import refmlc
from refmlc.diag import RefmlcError

onnx = imported("onnx")

from onnx import TensorProto, helper, numpy_helper  # noqa: E402 - ONNX may be missing

from refmlc.frontends.onnx import from_onnx  # noqa: E402

RANDOM = np.random.default_rng(3)


def floats(*shape):
    return RANDOM.normal(size=shape).astype(np.float32)


def results(kind, x, others, outputs=("y",), **attributes):
    """What a model of one node gives in both tiers; `others`: its further inputs, which are constants."""
    names = ["" if one is None else f"c{place}" for place, one in enumerate(others)]
    node = helper.make_node(kind, ["x", *names], list(outputs), **attributes)
    held = [numpy_helper.from_array(one, name) for name, one in zip(names, others, strict=True) if one is not None]
    given = [helper.make_tensor_value_info("x", helper.np_dtype_to_tensor_dtype(x.dtype), x.shape)]
    said = [helper.make_value_info(name, onnx.TypeProto()) for name in outputs]
    graph = helper.make_graph([node], "graph", given, said, held)
    module = from_onnx(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10))
    runs = []
    for tier in ("interp", "native"):
        values = refmlc.VirtualMachine(refmlc.build(module, tier))["main"](x)
        runs.append([one.numpy() for one in (values if isinstance(values, tuple) else (values,))])
    for ours, theirs in zip(*runs, strict=True):
        np.testing.assert_array_equal(ours, theirs)
    return runs[0]


def sizes(*values):
    return np.array(values, np.int64)


@pytest.mark.parametrize("antialias", [0, 1])
@pytest.mark.parametrize("extents", [(7, 3), (2, 9), (5, 4)])
@pytest.mark.parametrize("mode", ["linear", "cubic"])
def test_resize_is_pytorchs(mode, extents, antialias) -> None:
    functional = imported("torch").nn.functional
    x = floats(2, 3, 5, 6)
    attributes = {"mode": mode, "antialias": antialias, "coordinate_transformation_mode": "half_pixel"}
    if antialias:  # PyTorch's cubic has another coefficient there, and leaves elements outside out
        attributes |= {"cubic_coeff_a": -0.5, "exclude_outside": 1}
    (ours,) = results("Resize", x, [None, None, sizes(2, 3, *extents)], **attributes)
    named = {"linear": "bilinear", "cubic": "bicubic"}[mode]
    theirs = functional.interpolate(imported("torch").tensor(x), extents, mode=named, antialias=bool(antialias))
    np.testing.assert_allclose(ours, theirs.numpy(), rtol=2e-5, atol=2e-5)


@pytest.mark.parametrize(
    ("attributes", "expected"),
    [
        ({"coordinate_transformation_mode": "asymmetric", "nearest_mode": "floor"}, [1, 1, 2, 2, 3, 3]),
        ({"coordinate_transformation_mode": "asymmetric", "nearest_mode": "ceil"}, [1, 2, 2, 3, 3, 3]),
        ({"coordinate_transformation_mode": "align_corners"}, [1, 1, 2, 2, 3, 3]),
        ({"mode": "linear"}, [1, 1.25, 1.75, 2.25, 2.75, 3]),
    ],
)
def test_resize_of_three_elements_to_six(attributes, expected) -> None:
    (ours,) = results("Resize", np.array([1, 2, 3], np.float32), [None, np.array([2], np.float32)], **attributes)
    assert ours.tolist() == expected


def test_resize_outside_of_the_part_gives_the_value() -> None:
    roi, x = np.array([-0.5, 1.0], np.float32), np.array([1, 2, 3], np.float32)
    options = {"coordinate_transformation_mode": "tf_crop_and_resize", "mode": "linear", "extrapolation_value": 9.0}
    (ours,) = results("Resize", x, [roi, None, sizes(4)], **options)
    assert ours.tolist() == [9.0, 1.0, 2.0, 3.0]


def test_resize_of_integers_between_elements_is_refused() -> None:
    with pytest.raises(RefmlcError, match="leaves its rounding open"):
        results("Resize", np.arange(4, dtype=np.int32), [None, np.array([2], np.float32)], mode="linear")


def test_quantisation_rounds_ties_to_even_and_saturates() -> None:
    x = np.array([0.25, 0.75, 1.25, -0.25, 200, -200], np.float32)
    (ours,) = results("QuantizeLinear", x, [np.array(0.5, np.float32), np.array(10, np.uint8)])
    assert ours.tolist() == [10, 12, 12, 10, 255, 0]
    assert ours.dtype == np.uint8


def test_a_scale_for_each_block() -> None:
    x = np.array([[2, 4, 6, 8, 10]], np.int8)
    scales, zeros = np.array([[0.5, 1, 2]], np.float32), np.array([[0, 2, 4]], np.int8)
    (ours,) = results("DequantizeLinear", x, [scales, zeros], axis=1, block_size=2)
    assert ours.tolist() == [[1, 2, 4, 6, 12]]


def order(weights, gates):
    """Gates of PyTorch in ONNX's order."""
    return np.concatenate([np.split(weights, len(gates))[gate] for gate in gates])


CASES = {
    "RNN": ("RNN", (0,), {}),
    "GRU": ("GRU", (1, 0, 2), {"linear_before_reset": 1}),
    "LSTM": ("LSTM", (0, 3, 1, 2), {}),
}


@pytest.mark.parametrize("both", [False, True])
@pytest.mark.parametrize("kind", CASES)
def test_recurrent_layers_are_pytorchs(kind, both) -> None:
    torch = imported("torch")
    name, gates, attributes = CASES[kind]
    layer = getattr(torch.nn, name)(3, 4, bidirectional=both)
    parameters = [{key: one.detach().numpy() for key, one in layer.named_parameters() if key.endswith("reverse") == way}
                  for way in ((False, True) if both else (False,))]  # fmt: skip
    rows = [[order(next(v for k, v in way.items() if k.startswith(part)), gates)
             for part in ("weight_ih", "weight_hh", "bias_ih", "bias_hh")] for way in parameters]  # fmt: skip
    w, r = (np.stack([row[at] for row in rows]) for at in (0, 1))
    b = np.stack([np.concatenate(row[2:]) for row in rows])
    x = floats(5, 2, 3)
    options = attributes | {"hidden_size": 4} | ({"direction": "bidirectional"} if both else {})
    outputs = ("y", "h", "c") if kind == "LSTM" else ("y", "h")
    y, h, *cell = results(kind, x, [w, r, b], outputs, **options)
    theirs, last = layer(torch.tensor(x))
    h_theirs, *cell_theirs = last if kind == "LSTM" else (last,)
    joined = np.concatenate([y[:, way] for way in range(y.shape[1])], axis=-1)
    for ours, expected in zip((joined, h, *cell), (theirs, h_theirs, *cell_theirs), strict=True):
        np.testing.assert_allclose(ours, expected.detach().numpy(), rtol=1e-5, atol=1e-6)


def test_the_reset_gate_before_the_weights() -> None:
    """One unit with weights 1 and biases 0, by hand: z = r = s(1 + 2); n = tanh(1 + 2 r)."""
    x, h = np.ones((1, 1, 1), np.float32), np.full((1, 1, 1), 2, np.float32)
    ones = np.ones((1, 3, 1), np.float32)
    (_, last) = results("GRU", x, [ones, ones, None, None, h], ("y", "h"), hidden_size=1)
    gate = 1 / (1 + np.exp(-3.0))
    assert last.item() == pytest.approx((1 - gate) * np.tanh(1 + 2 * gate) + gate * 2, rel=1e-6)


def test_other_activations_are_refused() -> None:
    ones = np.ones((1, 3, 1), np.float32)
    with pytest.raises(RefmlcError, match="activations"):
        results("GRU", np.ones((1, 1, 1), np.float32), [ones, ones], ("y",), activations=["Relu", "Tanh"])


def test_a_hostile_size_is_refused() -> None:
    with pytest.raises(RefmlcError, match="Resize"):
        results("Resize", np.ones(4, np.float32), [None, np.array([1e12], np.float32)])


# ------------------------------------------------------------------------------------------- graphs within nodes


def value(name, kind=TensorProto.FLOAT, shape=()):
    return helper.make_tensor_value_info(name, kind, shape)


def import_nodes(nodes, inputs, outputs, weights=()):
    held = [numpy_helper.from_array(one, name) for name, one in weights]
    graph = helper.make_graph(
        nodes, "graph", inputs, [helper.make_value_info(one, onnx.TypeProto()) for one in outputs], held
    )
    return from_onnx(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10))


def call(module, *args):
    found = refmlc.VirtualMachine(refmlc.build(module, "interp"))["main"](*args)
    return [one.numpy().tolist() for one in (found if isinstance(found, tuple) else (found,))]


def test_scan_adds_up_from_the_right_where_it_goes_backwards() -> None:
    add = [helper.make_node("Add", ["sum", "x"], ["next"]), helper.make_node("Identity", ["next"], ["row"])]
    body = helper.make_graph(add, "body", [value("sum"), value("x")], [value("next"), value("row")])
    for way, rows in ((0, [1, 3, 6]), (1, [6, 5, 3])):
        options = {"scan_input_directions": [way], "scan_output_directions": [way]}
        node = helper.make_node("Scan", ["start", "xs"], ["last", "rows"], body=body, num_scan_inputs=1, **options)
        start = ("start", np.float32(0).reshape(()))
        module = import_nodes([node], [value("xs", shape=(3,))], ["last", "rows"], [start])
        assert call(module, np.array([1, 2, 3], np.float32)) == [6.0, rows]


def test_loop_sees_names_around_it_and_its_own_number() -> None:
    nodes = [
        helper.make_node("Cast", ["i"], ["f"], to=TensorProto.FLOAT),
        helper.make_node("Mul", ["f", "a"], ["part"]),
        helper.make_node("Add", ["sum", "part"], ["next"]),
        helper.make_node("Identity", ["going"], ["on"]),
    ]
    inputs = [value("i", TensorProto.INT64), value("going", TensorProto.BOOL), value("sum")]
    body = helper.make_graph(nodes, "body", inputs, [value("on", TensorProto.BOOL), value("next")])
    node = helper.make_node("Loop", ["count", "", "start"], ["last"], body=body)
    weights = [("count", np.array(4, np.int64)), ("start", np.array(10, np.float32))]
    assert call(import_nodes([node], [value("a")], ["last"], weights), np.array(2, np.float32)) == [22.0]


def test_a_condition_that_data_decides_is_refused() -> None:
    graphs = [helper.make_graph([helper.make_node("Identity", ["x"], [way])], way, [], [value(way)]) for way in "ab"]
    node = helper.make_node("If", ["c"], ["y"], then_branch=graphs[0], else_branch=graphs[1])
    with pytest.raises(RefmlcError, match="condition is computed from data"):
        import_nodes([node], [value("c", TensorProto.BOOL), value("x")], ["y"])


def test_a_loop_without_end_is_refused() -> None:
    nodes = [helper.make_node("Identity", ["going"], ["on"]), helper.make_node("Neg", ["x"], ["y"])]
    inputs = [value("i", TensorProto.INT64), value("going", TensorProto.BOOL), value("x")]
    body = helper.make_graph(nodes, "body", inputs, [value("on", TensorProto.BOOL), value("y")])
    node = helper.make_node("Loop", ["", "yes", "x"], ["last"], body=body)
    with pytest.raises(RefmlcError, match="more than 2048 steps"):
        import_nodes([node], [value("x")], ["last"], [("yes", np.array(True))])


# ------------------------------------------------------------------------------------------- what contradicts itself

ONES = np.ones((1, 3, 1), np.float32)
TWICE = np.ones((2, 3, 1), np.float32)
X = np.ones((1, 1, 1), np.float32)
ROW = np.array([[2, 4, 6]], np.int8)


def numbers(*values):
    return np.array(values, np.float32)


CONTRADICTIONS = {
    "a scale that is no number": ("Resize", ROW.astype("float32"), [None, numbers(1, np.nan)], {}),
    "an infinite scale": ("Resize", ROW.astype("float32"), [None, numbers(1, np.inf)], {}),
    "an axis outside": ("Resize", ROW.astype("float32"), [None, numbers(2)], {"axes": [7]}),
    "an axis twice": ("Resize", ROW.astype("float32"), [None, numbers(2, 2)], {"axes": [1, 1]}),
    "scales and sizes": ("Resize", ROW.astype("float32"), [None, numbers(1, 2), sizes(1, 6)], {}),
    "more blocks than there are": ("DequantizeLinear", ROW, [numbers(*range(1, 7))[None]], {"block_size": 2}),
    "a negative block": ("DequantizeLinear", ROW, [numbers(1, 2)[None]], {"block_size": -2}),
    "more scales than places": ("DequantizeLinear", ROW[:, :1], [numbers(1, 2, 3)], {}),
    "weights for two directions": ("GRU", X, [TWICE, TWICE], {"hidden_size": 1}),
    "another number of hidden units": ("GRU", X, [ONES, ONES], {"hidden_size": 9}),
    "a state for another batch": ("GRU", X, [ONES, ONES, None, None, np.ones((1, 5, 1), np.float32)], {}),
}


@pytest.mark.parametrize("what", CONTRADICTIONS)
def test_a_node_that_contradicts_itself_is_refused(what) -> None:
    kind, x, others, attributes = CONTRADICTIONS[what]
    with pytest.raises(RefmlcError) as caught:
        results(kind, x, others, **attributes)
    assert caught.value.code.id in ("RM111", "RM501")
    assert kind in str(caught.value)


def test_one_result_of_very_many_elements_is_refused() -> None:
    shape = (1, 1 << 20)
    x = np.broadcast_to(np.float32(1), shape)
    with pytest.raises(RefmlcError, match="too large"):
        results("Resize", x, [None, None, sizes(1, 2)], mode="linear", antialias=1)


def test_a_zero_point_of_small_floats_is_not_ignored() -> None:
    zero = onnx.numpy_helper.to_array(helper.make_tensor("z", TensorProto.FLOAT8E4M3FN, (), [1.0]))
    with pytest.raises(RefmlcError, match="zero point"):
        results("QuantizeLinear", numbers(1, 2), [np.array(1, np.float32), zero])
