"""Graphs of ONNX: drawn again from a seed, judged, one guilty node made small; importers are stand-ins with a fault."""

import json
from contextlib import closing
from dataclasses import replace

import numpy as np
import pytest
from needs import imported, need

from refmlc.diag import RefmlcError
from refmlc.oracle.fuzz.settings import CampaignSettings
from refmlc.oracle.fuzz.subjects.imports import answer_difference, evaluator_faults, imported_model, importers
from refmlc.oracle.fuzz.subjects.imports.array_data import array_data, array_of
from refmlc.oracle.fuzz.subjects.imports.caged_judge import CagedJudge
from refmlc.oracle.fuzz.subjects.imports.importers import refusal_like
from refmlc.oracle.fuzz.subjects.imports.onnx_reduction import simpler
from refmlc.oracle.fuzz.subjects.imports.tensor_reduction import reduced
from refmlc.oracle.record import known_nodes

SETTINGS = CampaignSettings(
    kinds=(importers.KIND,), implementations=("tvm:/a/python,opt=0", "native", "tvm:/b/python@4")
)
TVM = {"name": "tvm 0.27.0.post1 importer"}


def graphs():
    need("onnx")
    from refmlc.oracle.fuzz.subjects.imports import onnx_graphs  # noqa: PLC0415 - ONNX is optional

    return onnx_graphs


def graph(*nodes, opset=13, constants=None, **arguments):
    """A graph of nodes `(operator, inputs, output, attributes)`; the last output is the result."""
    module = graphs()
    made = tuple(
        module.OnnxNode(op, tuple(inputs.split()), (output,), attributes) for op, inputs, output, attributes in nodes
    )
    return module.OnnxGraph(opset, made, constants or {}, arguments, (nodes[-1][2],))


class Deaf(importers.Judge):
    """An importer that does not hear of some attributes."""

    def __init__(self, *names):
        super().__init__((), 1.0)
        self.names = names

    def of(self, _path, drawn):
        kept = [
            replace(node, attributes={name: value for name, value in node.attributes.items() if name not in self.names})
            for node in drawn.nodes
        ]
        return self.evaluated(replace(drawn, nodes=tuple(kept)))


def test_the_pythons_of_a_campaign_are_named_once_without_options():
    assert importers.pythons_of(SETTINGS) == ("/a/python", "/b/python")


@pytest.mark.parametrize(
    ("found", "how"),
    [
        ([np.array([1.0, np.nan], "float32")], ""),
        ([np.array([1.0 + 1e-5, np.nan], "float32")], ""),
        ([np.array([1.1, np.nan], "float32")], "value"),
        ([np.array([1.0, np.inf], "float32")], "nan"),
        ([np.array([1.0, np.nan], "float64")], "dtype"),
        ([np.array([[1.0, np.nan]], "float32")], "shape"),
        ([], "count"),
        ("failed: TypeError: no", "failed"),
    ],
)
def test_how_results_differ(found, how):
    assert answer_difference.how_wrong([np.array([1.0, np.nan], "float32")], found) == how


def test_a_seed_gives_its_graph_and_data_give_it_back():
    module = graphs()
    first = [module.drawn_graph(seed) for seed in range(40)]
    texts = [json.dumps(each.to_json()) for each in first]
    assert texts == [json.dumps(module.drawn_graph(seed).to_json()) for seed in range(40)]
    assert len(set(texts)) == len(texts)
    for each, text in zip(first, texts, strict=True):
        again = module.OnnxGraph.from_json(json.loads(text))
        assert again.model() == each.model()
        assert not isinstance(importers.Judge((), 1.0).evaluated(again), str)
    assert len({each.opset for each in first}) > 3
    assert max(len(each.nodes) for each in first) > 1


def test_excluded_operators_are_not_drawn():
    module, names = graphs(), set(importers.operator_names())
    kept = {"Relu", "Add", "ReduceMax"}
    drawn = [module.drawn_graph(seed, exclude=names - kept) for seed in range(20)]
    assert {node.op for each in drawn for node in each.nodes} <= kept


def test_a_young_operator_alone_is_drawn_in_the_versions_that_have_it():
    module, names = graphs(), set(importers.operator_names())
    drawn = [module.drawn_graph(seed, exclude=names - {"Celu"}) for seed in range(8)]
    assert {node.op for each in drawn for node in each.nodes} == {"Celu"}
    assert min(each.opset for each in drawn) >= 12


def test_where_no_operator_is_left_a_campaign_says_so():
    graphs()
    result = importers.run_graphs(replace(SETTINGS, exclude=tuple(importers.operator_names())), 0, [0])
    assert result.verdicts == {"onnx": {"unsupported": 1}}
    assert "no graph" in next(iter(result.reasons["onnx"]))


def test_operators_of_the_table_exist():
    onnx = imported("onnx")
    known = {schema.name for schema in onnx.defs.get_all_schemas() if not schema.domain}
    assert set(importers.operator_names()) <= known


def test_the_first_wrong_node_is_guilty_and_keeps_what_its_fault_needs():
    drawn = graph(
        ("Abs", "x", "a", {}),
        ("ReduceSum", "a axes", "b", {"keepdims": 0, "noop_with_empty_axes": 0}),
        ("Identity", "b", "c", {}),
        constants={"axes": np.array([0])},
        x=np.ones((2, 3), "float32"),
    )
    finding = importers.finding_of(Deaf("keepdims"), importers.OURS, drawn)
    assert finding.cause == ("ReduceSum", "axes_absent", "keepdims", "opset13", "shape")
    assert importers.brief(finding.cause) == ("ReduceSum", "keepdims", "shape")
    assert [node.op for node in finding.graph.nodes] == ["ReduceSum"]
    assert finding.code == "RM706"
    assert "refmlc's importer" in finding.message
    assert importers.finding_of(Deaf(), importers.OURS, drawn) is None


def test_where_each_output_is_wrong_alone_the_reduction_keeps_one_and_ends():
    module = graphs()
    node = module.OnnxNode("MaxPool", ("x",), ("y", "places"), {"kernel_shape": [1, 2]})
    drawn = module.OnnxGraph(13, (node,), {}, {"x": np.ones((1, 1, 1, 3), "float32")}, node.outputs)
    few = [True] * 5 + [False] * 5
    assert reduced(drawn, simpler, lambda _candidate: few.pop(0)).outputs == ("y",)
    assert few[0]  # otherwise it took one output for the other, on and on


class Partial(Deaf):
    """An importer that gives other values at some places of the results, or that takes no node with several."""

    def __init__(self, *places, most=9):
        super().__init__()
        self.places, self.most = places, most

    def of(self, _path, drawn):
        (node,) = drawn.nodes
        if len(node.outputs) > self.most:
            return "failed: AssertionError: Missing outputs during conversion."
        wrong = {node.outputs[place] for place in self.places if place < len(node.outputs)}
        results = zip(drawn.outputs, self.evaluated(drawn), strict=True)
        return [array + 1 if name in wrong else array for name, array in results]


@pytest.mark.parametrize(
    ("judge", "word", "kept"),
    [
        (Partial(0), "", ("y",)),
        (Partial(1), "out1", ("y", "places")),
        (Partial(0, 1), "", ("y",)),
        (Partial(most=1), "out1", ("y", "places")),
        (Partial(most=0), "", ("y",)),
    ],
)
def test_of_several_outputs_the_one_that_is_wrong_is_kept(judge, word, kept):
    node = graphs().OnnxNode("MaxPool", ("x",), ("y", "places"), {"kernel_shape": [1, 2]})
    x = np.array([[[[1.0, 3.0, 2.0]]]], "float32")
    finding = importers.finding_of(judge, importers.OURS, graphs().OnnxGraph(13, (node,), {}, {"x": x}, node.outputs))
    (small,) = finding.graph.nodes
    assert (small.outputs, finding.graph.outputs) == (kept, kept[1:] or kept)
    assert [each for each in finding.cause if each.startswith("out")] == [word] * bool(word)


@pytest.mark.parametrize(("judge", "words"), [(Partial(most=3), ["out3"]), (Partial(2), ["out2"]), (Partial(0), [])])
def test_outputs_that_a_node_may_lack_are_taken_from_it_from_the_last_on(judge, words):
    node = graphs().OnnxNode("Unique", ("x",), ("y", "first", "inverse", "counts"), {})
    x = np.array([2.0, 1.0, 2.0], "float32")
    finding = importers.finding_of(judge, importers.OURS, graphs().OnnxGraph(11, (node,), {}, {"x": x}, node.outputs))
    assert [each for each in finding.cause if each.startswith("out")] == words


def test_an_output_that_a_node_must_have_stays():
    constants, x = {"k": np.array([1])}, np.array([2.0, 1.0], "float32")
    node = graphs().OnnxNode("TopK", ("x", "k"), ("y", "places"), {})
    drawn = graphs().OnnxGraph(11, (node,), constants, {"x": x}, node.outputs)
    finding = importers.finding_of(Partial(0), importers.OURS, drawn)
    assert (finding.graph.nodes[0].outputs, finding.graph.outputs) == (node.outputs, ("y",))


class Alike(Deaf):
    """Two importers with one fault."""

    def others(self, _path):
        return ("tvm-importer:another",)


def test_two_importers_that_agree_are_not_accused_by_the_evaluator():
    drawn = graph(("Flatten", "x", "y", {"axis": 2}), x=np.ones((2, 3, 1), "float32"))
    finding = importers.finding_of(Alike("axis"), importers.OURS, drawn)
    assert finding.path == importers.FRAMEWORK
    assert importers.finding_of(Deaf("axis"), importers.OURS, drawn).path == importers.OURS


class Fickle(Alike):
    """Two importers, of which one is wrong now and then."""

    def of(self, path, drawn):
        self.names = ("axis",) if path == importers.OURS and self.calls < 3 else ()
        self.calls += 1
        return super().of(path, drawn)

    calls = 0


def test_a_result_that_is_wrong_now_and_then_does_not_accuse_the_evaluator():
    drawn = graph(("Flatten", "x", "y", {"axis": 2}), x=np.ones((2, 3, 1), "float32"))
    assert importers.finding_of(Fickle(), importers.OURS, drawn).path == importers.OURS


def test_a_value_that_numpy_turned_around_is_an_argument_as_any_other():
    drawn = graph(("Transpose", "x", "y", {"perm": [1, 0]}), x=np.ones((2, 3), "float32"))
    assert graphs().evaluated(drawn)["y"].flags.c_contiguous
    assert graphs().evaluated(graph(("Neg", "x", "y", {}), x=np.ones((), "float32")))["y"].shape == ()


def test_where_the_evaluator_is_no_witness_there_is_no_finding():
    drawn = graph(("Softmax", "x", "y", {"axis": 1}), opset=11, x=np.array([[[1, 2], [3, 0]]], "float32"))
    verdict, why, finding = importers.judged(Deaf(), importers.OURS, drawn)
    assert (verdict, finding) == ("equal", None)
    assert evaluator_faults.excluded(("Softmax", "axis", "opset11", "value"))
    assert not evaluator_faults.excluded(("Softmax", "axis", "opset13", "value"))
    assert why == ""


def test_the_planted_fault_is_found_each_time_a_process_begins(monkeypatch):
    graphs()
    importers.prove_power.cache_clear()
    importers.prove_power()
    importers.prove_power.cache_clear()
    monkeypatch.setattr(importers, "finding_of", lambda *_: None)
    with pytest.raises(RuntimeError, match="planted"):
        importers.prove_power()


def test_a_recorded_deviation_is_known_by_the_words_of_its_cause():
    assert known_nodes(TVM, ("IsInf", "detect_negative", "opset10", "value")) == "onnx-isinf-signs"
    assert known_nodes(TVM, ("IsInf", "opset10", "value")) == ""
    resize = ("Resize", "mode", "scales", "sizes_absent", "opset18", "value")
    assert known_nodes(TVM, resize) == "onnx-resize-scale"
    assert known_nodes(TVM, (*resize, "antialias")) == "onnx-resize-antialias"  # it has more of the words
    divide = "InternalError: Check failed: fb->value != 0 (0 vs. 0) : Divide by zero"
    assert known_nodes(TVM, ("Resize", "mode", "sizes", "opset13", "failed"), divide) == "onnx-resize-to-nothing"
    assert known_nodes(TVM, ("TopK", "opset10", "shape")) == "onnx-top-k-10"
    assert known_nodes(TVM, ("TopK", "opset11", "shape")) == ""
    cut = "InternalError: CodeGenVM cannot emit this Relax operator directly. Run the appropriate lowering pass"
    assert known_nodes(TVM, ("Mod", "B", "empty", "opset13", "failed"), cut) == "onnx-extent-zero"
    assert known_nodes(TVM, ("Mod", "B", "opset13", "failed"), cut) == ""  # no argument is without elements
    assert known_nodes(TVM, ("Mod", "B", "empty", "opset13", "failed"), "InternalError: another") == ""
    shape = "ValueError: Node cannot handle ShapeExpr inputs."
    assert known_nodes(TVM, ("Shape+Shrink", "failed"), shape) == "onnx-shape-arithmetic"
    assert known_nodes(TVM, ("ReduceMax", "axes", "empty", "opset13", "value")) == "max-of-nothing"
    assert known_nodes(TVM, ("ReduceMax", "axes", "opset13", "value")) == ""
    assert known_nodes(TVM, ("Mod", "B", "opset13", "crashed")) == "division-by-zero"  # a row on the compiler
    unknown = "AttributeError: 'Var' object has no attribute 'value'"
    assert known_nodes(TVM, ("NonZero+Neg+Expand", "failed"), unknown) == "onnx-expand-unknown"
    assert known_nodes(TVM, ("NonZero+Neg+Expand", "failed"), "ValueError: another") == ""
    assert known_nodes(TVM, ("NonZero+Neg", "failed"), unknown) == ""
    assert known_nodes({"name": "tvm 9.9 importer"}, ("IsInf", "detect_negative", "opset10", "value")) == ""


RESHAPE = "ValueError: Reshape expects the new shape to be convertible from the old shape. However, the old shape is"
BINARY = "TypeError: Binary operators must have the same datatype for both operands."
OUTPUTS = "AssertionError: Missing outputs during conversion. Expected 2 but Got 1 in MaxPool."


@pytest.mark.parametrize(
    ("action", "words", "refusal", "row"),
    [
        ("import", "MaxPool empty kernel_shape opset11 failed", OUTPUTS, "onnx-max-pool-indices"),
        ("import", "MaxPool kernel_shape opset11 failed", "AssertionError: another", ""),
        ("import", "ReduceL2 empty opset11 value", "", "max-of-nothing"),
        ("import", "ReduceL2 opset11 value", "", ""),
        ("import", "NonZero opset13 shape", "", "onnx-non-zero-scalar"),
        ("import", "Unique opset11 out2 failed", "RuntimeError: Check failed: input_shape", "unique-inverse"),
        ("import", "Unique opset11 out3 failed", "RuntimeError: Check failed: input_shape", ""),
        ("import", "Pow opset13 failed", BINARY, "onnx-pow-dtypes"),
        ("import", "Pow opset13 failed", "InternalError: Check failed: (e", "onnx-pow-integers"),
        ("torch", "movedim destination empty source uint8 failed", RESHAPE, "torch-linear-of-nothing"),
        ("torch", "permute dims uint8 failed", RESHAPE, ""),
        ("torch", "select dim index int32 value", "", "torch-select-negative"),
    ],
)
def test_operators_that_share_a_cause_share_its_row(action, words, refusal, row):
    assert known_nodes(TVM, tuple(words.split()), refusal, action) == row


def test_rows_of_one_importer_are_none_of_another():
    assert known_nodes(TVM, ("sub", "alpha", "float32", "value"), action="torch") == "torch-add-alpha"
    assert known_nodes(TVM, ("sub", "alpha", "float32", "value")) == ""
    assert known_nodes(TVM, ("sub", "float32", "value"), action="torch") == ""
    integers = "RuntimeError: Cannot convert infinity to BigInt"
    assert known_nodes(TVM, ("clamp", "min", "int32", "failed"), integers, "torch") == "torch-clamp-integers"
    assert known_nodes(TVM, ("clamp", "min", "int32", "failed"), "another", "torch") == ""
    assert known_nodes(TVM, ("F.interpolate", "trilinear", "failed"), integers, "torch") == "torch-interpolate-linear"
    assert known_nodes(TVM, ("F.interpolate", "trilinear", "failed"), "another", "torch") == ""


def test_without_onnx_a_campaign_says_what_it_leaves_out(monkeypatch):
    monkeypatch.setattr(importers, "missing", lambda: "onnx")
    result = importers.run_graphs(SETTINGS, 0, [0, 1])
    (reason,) = result.reasons["onnx"]
    assert "`onnx` is not installed" in reason
    assert result.verdicts == {"onnx": {"unsupported": 2}}
    assert not result.findings


def test_without_tvm_refmlc_alone_is_held_to_the_evaluator():
    graphs()
    result = importers.run_graphs(replace(SETTINGS, implementations=()), 0, range(12))
    assert set(result.verdicts) == {importers.OURS}
    assert sum(result.verdicts[importers.OURS].values()) == 12
    assert result.verdicts[importers.OURS]["equal"] > 8
    assert result.coverage["ONNX operators"]
    (digests,) = result.bases.values()
    assert 8 < len({*digests}) <= len(digests) <= 12


def test_a_program_of_a_file_has_the_memory_and_the_time_of_a_worker_and_no_more():
    """The evaluator would fill 3 GiB, or take 9 million samples one by one in Python."""
    large = {"opset": 13, "nodes": [["ConstantOfShape", ["s"], ["y"], {}]], "constants": {}, "outputs": ["y"]}
    large["arguments"] = {"s": ["int64", [1], [3 << 28]]}
    long = {
        "opset": 16,
        "nodes": [["RoiAlign", ["x", "r", "b"], ["y"], {"sampling_ratio": 3000}]],
        "constants": {"b": ["int64", [1], [0]]},
        "arguments": {"x": ["float32", [1, 1, 1, 1], [1.0]], "r": ["float32", [1, 4], [0.0, 0.0, 1.0, 1.0]]},
        "outputs": ["y"],
    }
    OnnxGraph = graphs().OnnxGraph  # noqa: N806 - a class
    small = OnnxGraph.from_json(importers.PLANTED)
    with closing(CagedJudge(importers.KIND, 1.0, memory=2048)) as judge:
        assert judge.evaluated(OnnxGraph.from_json(large)).endswith(
            "an array with shape (805306368,) and data type float32"
        )
        late = judge.evaluated(OnnxGraph.from_json(long))
        assert late.startswith("refused: ")
        assert "2" in late
        (expected,) = judge.evaluated(small)
        (found,) = judge.of(importers.OURS, small)
    assert expected.tolist() == found.tolist() == [[-1.0, -2.0], [-3.0, -4.0]]


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "int8", "uint64", "bool"])
def test_arrays_are_data_of_json_whatever_they_hold(dtype):
    elements = [np.nan, np.inf, -np.inf, -0.0, 0.1] if dtype.startswith("float") else [0, 1, 1, 0, 1]
    array = np.array([elements], dtype)
    again = array_of(json.loads(json.dumps(array_data(array), allow_nan=False)))
    assert (again.dtype, again.shape, again.tobytes()) == (array.dtype, array.shape, array.tobytes())


def test_a_finding_on_a_graph_with_nan_is_data_of_json():
    """What a worker answers is read strictly."""
    negated = graph(("Neg", "x", "a", {}), x=np.array([np.nan, 1], "float32"))
    again = graphs().OnnxGraph.from_json(json.loads(json.dumps(negated.to_json(), allow_nan=False)))
    assert np.array_equal(again.arguments["x"], negated.arguments["x"], equal_nan=True)


def test_a_python_without_tvm_is_refused():
    with pytest.raises(RefmlcError) as failure, imported_model.judge_of(importers.KIND, ["/not/here"], 5.0):
        pass
    assert failure.value.diagnostic.code.id == "RM112"


def test_what_stops_the_compiler_after_the_import_is_like_a_row_of_the_compiler():
    check = "InternalError: Check failed: (strides[i] < 0 ? (end_i <= begin_i) : (begin_i <= end_i)) is false: "
    refusal = f"{check}: Input [Begin=3, End=1] is invalid for axis=0"
    assert importers.refusal_like(TVM, refusal) == "slice-backwards"
    assert importers.refusal_like(TVM, refusal.replace("strides", "others")) == ""
    assert importers.refusal_like({"name": "tvm 9.9 importer"}, refusal) == ""


def test_a_finding_against_the_evaluator_is_made_smaller_with_refmlc_s_importer(monkeypatch):
    drawn = graph(("Flatten", "x", "y", {"axis": 2}), x=np.ones((2, 3, 1), "float32"))
    finding = importers.finding_of(Alike("axis"), importers.OURS, drawn)
    record = importers.record_of(SETTINGS, 0, Deaf(), finding)
    monkeypatch.setattr(importers, "Judge", lambda _pythons, _seconds: Deaf("axis"))
    small = importers.shrink_graph(SETTINGS, record, 5.0)
    assert record.path == importers.FRAMEWORK
    assert "problem" not in small
    assert small["elements"][1] <= small["elements"][0]


def test_padding_that_wraps_is_drawn_in_the_versions_that_have_it():
    names = set(importers.operator_names()) - {"Pad"}
    nodes = [
        (each.opset, node)
        for seed in range(120)
        for each in [graphs().drawn_graph(seed, exclude=names)]
        for node in each.nodes
    ]
    wraps = {opset for opset, node in nodes if node.attributes.get("mode") == "wrap"}
    assert wraps
    assert min(wraps) >= 19


def test_reductions_of_scattered_elements_are_drawn_in_the_versions_that_have_them():
    names = set(importers.operator_names()) - {"ScatterND", "ScatterElements"}
    drawn = [graphs().drawn_graph(seed, exclude=names) for seed in range(100)]
    found = [(each.opset, node.attributes.get("reduction")) for each in drawn for node in each.nodes]
    young = {opset for opset, reduction in found if reduction in ("max", "min")}
    assert young
    assert min(young) >= 18


def test_a_constant_without_elements_is_a_word_of_the_cause():
    need("onnx")
    from refmlc.oracle.fuzz.subjects.imports import onnx_graphs  # noqa: PLC0415 - ONNX is optional

    graph = {
        "opset": 13,
        "nodes": [["MatMul", ["x", "w"], ["y"], {}]],
        "arguments": {"x": ["float32", [1, 1], [1.0]]},
        "outputs": ["y"],
    }
    for shape, values in (([1, 1], [1.0]), ([1, 0], [])):
        data = {**graph, "constants": {"w": ["float32", shape, values]}}
        cause = importers.cause_of(onnx_graphs.OnnxGraph.from_json(data), "value")
        assert ("empty" in cause) == (not values)


def test_the_operator_of_a_cause_tells_rows_of_one_message_apart():
    intrinsic = (
        'InternalError: unknown intrinsic ir.Op(span=None, ty=ir.Type(span=None), name="tirx.atan2", num_inputs=2)'
    )
    compare = "InternalError: LLVM module verification failed with the following errors: Invalid operand types for FCmp"
    compare += " instruction %9 = fcmp oeq i1 %5, %8, !dbg !42"
    assert known_nodes(TVM, ("Equal", "B", "opset11", "failed"), compare) == "bool-comparison"
    assert refusal_like(TVM, intrinsic, ("atan2", "float16", "failed")) == "float16-functions"
    assert refusal_like(TVM, intrinsic.replace("tirx.atan2", "tirx.nothing"), ("nothing", "failed")) == ""
