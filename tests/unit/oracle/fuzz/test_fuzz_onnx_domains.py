"""Nodes whose result ONNX's texts leave open, each beside a like one that is defined."""

import numpy as np
import pytest
from needs import need

NAN, INF = np.nan, np.inf


def floats(*values, dtype="float32"):
    return np.array(values, dtype)


def wholes(*values, dtype="int64"):
    return np.array(values, dtype)


def evaluated(op, inputs, attributes, opset):
    """All values of a graph of one node, or why it has none."""
    need("onnx")
    from refmlc.oracle.fuzz.subjects.imports import onnx_graphs  # noqa: PLC0415 - ONNX is optional

    names = tuple(f"x{at}" for at in range(len(inputs)))
    outputs = {"TopK": 2, "DynamicQuantizeLinear": 3}.get(op, 1)
    node = onnx_graphs.OnnxNode(op, names, tuple(f"y{at}" for at in range(outputs)), attributes)
    graph = onnx_graphs.OnnxGraph(opset, (node,), {}, dict(zip(names, inputs, strict=True)), ("y0",))
    try:
        return onnx_graphs.evaluated(graph)
    except onnx_graphs.NoResult as failure:
        return str(failure)


IMAGE = np.arange(16, dtype="float32").reshape(1, 1, 4, 4)
LINE = np.array([[[1.0, 2.0]]], "float32")
WINDOW = {"kernel_shape": [2], "pads": [2, 0]}
PADS = wholes(2, 0)

CASES = [
    # operator, opset, what is left open, what is not
    ("ArgMax", 10, ([np.ones((2, 3), "float32")], {"axis": -1}), ([np.ones((2, 3), "float32")], {"axis": 1})),
    ("ArgMin", 13, ([wholes(1)[0]], {}), ([wholes(1)], {})),
    ("LpNormalization", 13, ([np.ones((2, 3), "float32")], {"axis": -2}), ([np.ones((2, 3), "float32")], {"axis": -1})),
    ("ReduceSum", 9, ([np.ones((2, 3), "float32")], {"axes": [-1]}), ([np.ones((2, 3), "float32")], {"axes": [1]})),
    ("Div", 13, ([wholes(1), wholes(0)], {}), ([floats(1), floats(0)], {})),
    ("Mod", 13, ([floats(1), floats(1)], {}), ([floats(1), floats(1)], {"fmod": 1})),
    ("Pow", 13, ([wholes(3), wholes(2**62)], {}), ([wholes(-1), wholes(2**62)], {})),
    ("Pow", 13, ([wholes(46341, dtype="int32"), wholes(2)], {}), ([wholes(46340, dtype="int32"), wholes(2)], {})),
    (
        "BitShift",
        13,
        ([wholes(1, dtype="uint8"), wholes(8, dtype="uint8")], {"direction": "LEFT"}),
        ([wholes(1, dtype="uint8"), wholes(7, dtype="uint8")], {"direction": "LEFT"}),
    ),
    ("Cast", 13, ([floats(-1)], {"to": 2}), ([floats(-0.5)], {"to": 2})),
    ("Cast", 13, ([floats(NAN)], {"to": 6}), ([floats(NAN)], {"to": 9})),
    ("Cast", 13, ([floats(2.0**31)], {"to": 6}), ([floats(-(2.0**31))], {"to": 6})),
    ("Cast", 13, ([floats(2.0**63)], {"to": 7}), ([floats(-(2.0**63))], {"to": 7})),
    (
        "CastLike",
        19,
        ([floats(INF), wholes(1, dtype="int32")], {}),
        ([floats(INF), floats(1, dtype="float64")], {}),
    ),
    ("DynamicQuantizeLinear", 13, ([floats(INF, 0.5)], {}), ([floats(1, 0.5)], {})),
    ("DynamicQuantizeLinear", 13, ([floats(0, 0)], {}), ([floats(1, 0)], {})),
    ("Sign", 13, ([floats(NAN)], {}), ([floats(-INF)], {})),
    ("Unique", 13, ([floats(NAN, NAN)], {}), ([floats(INF, INF)], {})),
    ("TopK", 13, ([floats(1, 2), wholes(0)], {}), ([floats(1, 2), wholes(1)], {})),
    ("TopK", 13, ([floats(1, 2), wholes(2)], {"sorted": 0}), ([floats(1, 2), wholes(1)], {"sorted": 0})),
    ("TopK", 13, ([floats(1, NAN), wholes(2)], {}), ([floats(1, INF), wholes(2)], {})),
    (
        "ScatterElements",
        18,
        ([np.array([True]), wholes(0), np.array([True])], {"reduction": "add"}),
        ([floats(1), wholes(0), floats(1)], {"reduction": "add"}),
    ),
    (
        "ScatterElements",
        13,
        ([floats(1, 2), wholes(-1, 1), floats(5, 6)], {}),
        ([floats(1, 2), wholes(-1, 0), floats(5, 6)], {}),
    ),
    (
        "ScatterND",
        13,
        ([floats(1, 2), wholes([1], [-1]), floats(5, 6)], {}),
        ([floats(1, 2), wholes([1], [0]), floats(5, 6)], {}),
    ),
    ("SpaceToDepth", 13, ([np.ones((1, 1, 0, 3), "float32")], {"blocksize": 2}), ([IMAGE], {"blocksize": 2})),
    (
        "DepthToSpace",
        13,
        ([np.ones((1, 6, 0, 1), "float32")], {"blocksize": 2}),
        ([np.ones((1, 8, 0, 1), "float32")], {"blocksize": 2}),
    ),
    ("Clip", 12, ([floats(1), floats(2)[0], floats(1)[0]], {}), ([floats(1), floats(1)[0], floats(2)[0]], {})),
    ("Pad", 13, ([floats(1, 2), PADS], {"mode": "reflect"}), ([floats(1, 2, 3), PADS], {"mode": "reflect"})),
    ("Pad", 19, ([floats(1), PADS], {"mode": "wrap"}), ([floats(1, 2), PADS], {"mode": "wrap"})),
    ("Gather", 10, ([floats(1, 2), wholes(-1)], {}), ([floats(1, 2), wholes(1)], {})),
    (
        "OneHot",
        10,
        ([wholes(-1), wholes(2)[0], floats(0, 1)], {}),
        ([wholes(1), wholes(2)[0], floats(0, 1)], {}),
    ),
    ("ReduceMean", 13, ([np.ones((1, 0), "float32")], {}), ([np.ones((1, 1), "float32")], {})),
    ("AveragePool", 13, ([LINE], WINDOW), ([LINE], WINDOW | {"count_include_pad": 1})),
    (
        "MaxPool",
        13,
        ([LINE[..., :1]], {"kernel_shape": [2], "dilations": [2], "auto_pad": "SAME_UPPER"}),
        ([LINE[..., :1]], {"kernel_shape": [3], "dilations": [2], "auto_pad": "SAME_UPPER"}),
    ),
    ("MaxPool", 13, ([floats([[1, NAN]])], {"kernel_shape": [2]}), ([floats([[1, INF]])], {"kernel_shape": [2]})),
    ("LpPool", 13, ([floats([[1, NAN]])], {"kernel_shape": [1]}), ([floats([[1, 2]])], {"kernel_shape": [1]})),
    ("LRN", 13, ([np.ones((1, 3, 1, 1), "float32")], {"size": 2}), ([np.ones((3, 3, 1, 1), "float32")], {"size": 2})),
]


@pytest.mark.filterwarnings("ignore:Mean of empty slice", "ignore:invalid value")
@pytest.mark.parametrize(("op", "opset", "left_open", "defined"), CASES)
def test_a_result_that_onnx_leaves_open_is_nobody_s(op, opset, left_open, defined):
    assert isinstance(evaluated(op, *left_open, opset), str)
    assert isinstance(evaluated(op, *defined, opset), dict)


@pytest.mark.parametrize(
    ("op", "inputs"), [("ArgMax", [np.ones((2, 3), "float32")]), ("Gather", [floats(1, 2), wholes(-1)])]
)
def test_axes_and_indices_from_the_back_are_of_the_versions_whose_text_has_them(op, inputs):
    attributes = {"axis": -1}
    assert isinstance(evaluated(op, inputs, attributes, 11), dict)
    assert isinstance(evaluated(op, inputs, attributes, 10), str)


@pytest.mark.parametrize(
    ("op", "inputs", "attributes", "why"),
    [
        ("ReduceSumSquare", [wholes([2, 3], dtype="int32")], {}, "dtype"),
        ("MaxPool", [np.ones((1, 1, 7), "float32")], {"kernel_shape": [2], "pads": [1, 1], "ceil_mode": 1}, "shape"),
    ],
)
def test_an_evaluator_that_contradicts_onnx_s_inference_is_no_witness(op, inputs, attributes, why):
    assert evaluated(op, inputs, attributes, 13) == f"{op}: the evaluator gives another {why} than ONNX infers"


def test_reductions_of_scattered_elements_have_their_versions():
    inputs = [floats(1), wholes([0]), floats(2)]
    assert isinstance(evaluated("ScatterND", inputs, {"reduction": "max"}, 16), str)
    assert isinstance(evaluated("ScatterND", inputs, {"reduction": "max"}, 18), dict)
    assert isinstance(evaluated("ScatterND", inputs, {"reduction": "add"}, 16), dict)


def test_an_axis_between_two_axes_may_stand_behind_the_last():
    assert isinstance(evaluated("Flatten", [np.ones((2, 3), "float32")], {"axis": 2}, 9), dict)


def test_every_rule_is_of_operators_that_are_drawn():
    need("onnx")
    from refmlc.oracle.fuzz.subjects.imports import onnx_domains  # noqa: PLC0415 - ONNX is optional
    from refmlc.oracle.fuzz.subjects.imports.onnx_operators import OPERATORS  # noqa: PLC0415 - beside it

    named = {name for names, _, _ in (*onnx_domains.OPEN, *onnx_domains.UNWITNESSED) for name in names}
    assert named <= set(OPERATORS)
    assert named - {case[0] for case in CASES} <= {f"Reduce{name}" for name in onnx_domains.REDUCTIONS}


def test_an_answer_says_why_there_is_none():
    need("onnx")
    from refmlc.oracle.fuzz.subjects.imports import importers, onnx_graphs  # noqa: PLC0415 - ONNX is optional

    node = onnx_graphs.OnnxNode("Sign", ("x",), ("y",))
    graph = onnx_graphs.OnnxGraph(13, (node,), {}, {"x": floats(NAN)}, ("y",))
    assert importers.Judge((), 1.0).evaluated(graph) == "refused: Sign: nothing is said of NaN"
