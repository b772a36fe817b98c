"""`refmlc replay` and `refmlc report` of models; the script is executed with TVM and the framework alone."""

import json
import re
import subprocess
from contextlib import nullcontext
from pathlib import Path

import jsonschema
import needs
import numpy as np
import pytest
from click.testing import CliRunner

import refmlc
from refmlc.cli import main
from refmlc.oracle.fuzz.finding_file import finding_text
from refmlc.oracle.fuzz.result import FindingRecord
from refmlc.oracle.fuzz.settings import CampaignSettings
from refmlc.oracle.fuzz.subjects.imports import imported_model, importers, torch_imports
from refmlc.oracle.fuzz.subjects.imports.imported_model import ModelFindingFile, paths_of, read_model
from refmlc.oracle.fuzz.subjects.imports.torch_operators import TorchProgram
from refmlc.oracle.issue import ModelReport, html, markdown
from refmlc.oracle.issue.case_model import graph_data
from refmlc.oracle.issue.report import NeighbourRow
from refmlc.oracle.issue.versions import VersionVerdict

ROI = {
    "opset": 16,
    "nodes": [["RoiAlign", ["x", "r", "b"], ["y"], {"spatial_scale": 0.5, "sampling_ratio": 1}]],
    "constants": {"b": ["int64", [1], [0]]},
    "arguments": {
        "x": ["float32", [1, 1, 4, 4], [float(each) for each in range(16)]],
        "r": ["float32", [1, 4], [0.0, 0.0, 4.0, 4.0]],
    },
    "outputs": ["y"],
}
"""ONNX subtracts half a pixel from scaled coordinates: the box is read at 1 - 0.5 in both axes, 2.5; TVM gives 3.75."""


HARD = {
    "calls": [["neg", ["x"], {}], ["F.hardsigmoid", ["y0"], {}], ["mul", ["y1", "w"], {}]],
    "constants": {"w": ["float32", [], [2.0]]},
    "arguments": {"x": ["float32", [3], [float("nan"), 1.0, 2.0]]},
}
"""PyTorch keeps NaN; TVM's importer clips it."""
DATA = {importers.KIND: ("graph", ROI), torch_imports.KIND: ("program", HARD)}
BOTH = pytest.mark.parametrize("kind", [importers.KIND, torch_imports.KIND])


def finding(folder, path="tvm-importer:/a/python", data=None, kind=importers.KIND, specs=("tvm:/a/python", "tvm:/b@2")):
    """A file as a campaign writes it."""
    key, usual = DATA.get(kind, DATA[importers.KIND])
    case = {"text": "<ir_version: 10>\ngraph", key: data or usual, "cause": ["RoiAlign", "spatial_scale", "value"]}
    settings = CampaignSettings(kinds=(kind,), implementations=specs)
    record = FindingRecord("0123456789ab", "RM706", path, "value", "wrong", 0, 0, kind, case)
    file = folder / "f.toml"
    file.write_text(finding_text(settings, record, None))
    return file


def run(*words):
    return CliRunner().invoke(main, list(map(str, words)))


@pytest.mark.parametrize(
    ("path", "specs", "asked"),
    [
        ("tvm-importer:/a/python", ("tvm:/a/python",), ("tvm-importer:/a/python",)),
        ("refmlc-importer", (), ("refmlc-importer",)),
        ("onnx", ("tvm:/a/python", "tvm:/b"), ("refmlc-importer", "tvm-importer:/a/python", "tvm-importer:/b")),
    ],
)
def test_the_importers_of_the_finding_are_asked(tmp_path, path, specs, asked):
    file = read_model(finding(tmp_path, path).read_text())
    assert (file.specs, paths_of(file, file.specs)) == (specs, asked)
    assert file.program == ROI


def test_another_tvm_is_asked_in_place_of_that_of_the_file():
    file = ModelFindingFile("0", "refmlc-importer", "RM706", (), ROI, ())
    assert paths_of(file, ("tvm:/c,opt=0",)) == ("tvm-importer:/c",)


@BOTH
@pytest.mark.parametrize("command", ["replay", "report"])
def test_an_external_program_that_only_the_file_names_is_not_started(tmp_path, command, kind):
    done = run(command, finding(tmp_path, kind=kind))
    assert (done.exit_code, "--trust" in done.stderr) == (2, True)


@BOTH
@pytest.mark.parametrize("command", ["replay", "report"])
def test_a_model_needs_tvm(tmp_path, command, kind):
    done = run(command, finding(tmp_path, kind=kind), "--impl", "native")
    assert (done.exit_code, "--impl tvm:PYTHON" in done.stderr) == (2, True)


@pytest.mark.parametrize("command", ["replay", "report"])
def test_a_kind_that_is_unknown_is_refused_by_name(tmp_path, command):
    done = run(command, finding(tmp_path, kind="planets"), "--impl", "native")
    assert done.exit_code == 2
    assert "is a finding of the kind `planets`, which is not made again" in " ".join(done.stderr.split())


@pytest.mark.needs("onnx")
@pytest.mark.parametrize(
    "change",
    [
        {"arguments": {"x": ["object", [1], [0]]}},
        {"arguments": {"x": ["float32", [7], [0]]}},
        {"constants": 3},
        {"nodes": [["RoiAlign"]]},
    ],
)
def test_a_graph_that_is_none_is_refused(tmp_path, change):
    done = run("replay", finding(tmp_path, importers.OURS, ROI | change))
    assert (done.exit_code, "RM109" in done.stderr) == (2, True), done.output


@pytest.mark.needs("torch")
@pytest.mark.parametrize(
    "change",
    [
        {"calls": [["load", ["x"], {}]]},
        {"calls": [["neg", ["x); import os; (x"], {}]]},
        {"calls": [["neg", ["x"], {"out=__import__('os')": 1}]]},
        {"arguments": {"x y": ["float32", [1], [0]]}},
    ],
)
def test_a_program_that_is_none_of_the_table_is_refused(tmp_path, change):
    done = run("replay", finding(tmp_path, importers.OURS, HARD | change, torch_imports.KIND))
    assert (done.exit_code, "RM109" in done.stderr) == (2, True), done.output


class WrongImporter(importers.Judge):
    """The judge of ONNX in this process, with answers of refmlc's importer that a test gives."""

    kind = importers.KIND

    def __init__(self, answers):
        super().__init__((), 20.0)
        self.answers = answers

    def ours(self, _graph):
        return self.answers


@pytest.mark.needs("onnx")
def test_a_finding_on_our_importer_is_replayed_without_tvm(tmp_path, monkeypatch):
    file = finding(tmp_path, importers.OURS)
    right = run("replay", file)
    assert (right.exit_code, right.stdout) == (0, "refmlc's importer: equal\n"), right.output
    wrong_judge = nullcontext(WrongImporter([np.array([[[[3.75]]]], "float32")]))
    monkeypatch.setattr(imported_model, "judge_of", lambda *_: wrong_judge)
    wrong = run("replay", file, "--json")
    data = json.loads(wrong.stdout)
    assert (wrong.exit_code, [each["code"] for each in data["findings"]]) == (1, ["RM706"])
    verdict = "wrong, value: float32[1, 1, 1, 1] [3.75], meant float32[1, 1, 1, 1] [2.5]"
    assert data["verdicts"] == {"refmlc's importer": [verdict]}
    refusing = nullcontext(WrongImporter("refused: RoiAlign is not supported"))
    monkeypatch.setattr(imported_model, "judge_of", lambda *_: refusing)
    assert "RM504" in run("replay", file).stderr


@pytest.mark.needs("torch")
def test_a_finding_on_our_importer_of_pytorch_is_replayed_without_tvm(tmp_path):
    done = run("replay", finding(tmp_path, "pytorch", kind=torch_imports.KIND, specs=()))
    assert (done.exit_code, done.stdout) == (0, "refmlc's importer: equal\n"), done.output


def test_the_text_of_a_model_shows_hostile_text_as_text():
    file = ModelFindingFile("0123456789ab", "tvm-importer:/a", "RM706", (), ROI, ())
    report = ModelReport(
        file, "graph\x1b[31m <b>", "Neg", "shape", "RM706", "int8[1] [2]", "int8[2] [2, 2]", "tvm 0.27", ("x: int8",),
        (NeighbourRow("Neg without `a`", right=True, word="as ONNX's evaluator"),),
        (VersionVerdict("0.27", affected=True, word="shape"),),
        script="print()",
    )  # fmt: skip
    text, page = markdown(report), html(report)
    title = (
        "# [Bug][wrong-code] The importer of ONNX has a result of another shape for `Neg`: int8[2] [2, 2], where ONNX"
    )
    assert text.startswith(f"{title} has int8[1] [2]\n")
    for heading in ("## Model", "## Reproduce with TVM and ONNX alone", "## Expected", "## Versions", "## Duplicates"):
        assert heading in text
    assert "| Neg without `a` | ok | as ONNX's evaluator |" in text
    assert "\x1b" not in text + page
    assert "<b>" not in page


@pytest.mark.needs("onnx")
def test_the_script_has_the_model_as_text_that_onnx_reads_alike():
    from refmlc.oracle.fuzz.subjects.imports.onnx_graphs import OnnxGraph  # noqa: PLC0415 - ONNX is optional
    from refmlc.oracle.issue.model_script import model_script, model_text, reads_alike  # noqa: PLC0415 - as above

    graph = OnnxGraph.from_json(ROI)
    text = model_text(graph)
    assert len(text.split("\n")) <= 12
    assert reads_alike(text, graph.model())
    assert not reads_alike(text.replace("0.5", "0.25"), graph.model())
    assert not reads_alike(text.replace("{0}", "{1}"), graph.model())
    assert not reads_alike("graph", graph.model())
    script = model_script(graph, "first\nimport os")
    compile(script, "script.py", "exec")
    assert f"parse_model('''\n{text}\n''')" in script
    assert "import os" not in script
    assert "refmlc" not in script


@pytest.mark.needs("torch")
def test_the_script_of_a_program_is_pytorch_of_its_own_names():
    from refmlc.oracle.issue.torch_script import torch_script, torch_text  # noqa: PLC0415 - PyTorch is optional

    data = {
        "calls": [["F.linear", ["self", "w", "b"], {}], ["sum", ["y0"], {"dtype": "float64"}]],
        "constants": {"w": ["float32", [1, 2], [1.0, 2.0]], "b": ["float32", [1], [0.5]]},
        "arguments": {"self": ["float32", [1, 2], [3.0, float("nan")]]},
    }
    program = TorchProgram.from_json(data)
    assert torch_text(program).splitlines()[-4:] == [
        "    def forward(self, x0):",
        "        y0 = F.linear(x0, self.c0, self.c1)",
        "        y1 = torch.sum(y0, dtype=torch.float64)",
        "        return y1",
    ]
    script = torch_script(program, "first\nimport os")
    compile(script, "script.py", "exec")
    assert "import os" not in script
    assert "refmlc" not in script


@pytest.mark.needs("importers", "torch")
def test_a_program_of_pytorch_is_reported_and_its_script_runs_with_tvm_and_pytorch_alone(tmp_path):
    spec = f"tvm:{needs.TVM_PYTHON}"
    x = {"x": ["float32", [1], [float("nan")]]}
    alone = {"calls": [["F.hardsigmoid", ["x"], {}]], "constants": {}, "arguments": x}
    file = finding(tmp_path, f"tvm-importer:{needs.TVM_PYTHON}", alone, torch_imports.KIND, (spec,))
    again = run("replay", file, "--trust")
    assert again.exit_code == 1, again.output
    assert "importer: wrong, nan: float32[1] " in again.stdout
    output = tmp_path / "issue.md"
    told = run("report", file, "--impl", spec, "-o", output, "--json", "--time", "5s")
    assert told.exit_code == 0, told.output
    data = json.loads(told.stdout)
    schema = json.loads((Path(refmlc.__file__).parent / "cli" / "schema.json").read_text(encoding="utf-8"))
    jsonschema.validate(data, {"$ref": "#/$defs/report", "$defs": schema["$defs"]})
    assert data["title"].startswith("[Bug][wrong-code] The importer of PyTorch has other NaN or infinities")
    assert data["arguments"] == ["x: float32[1] [nan]"]
    rows = {row["name"]: row["ok"] for row in data["neighbours"]}
    assert rows["refmlc's importer for TVM's"]
    assert rows["refmlc's module of the model, compiled by this TVM"]
    assert [row["affected"] for row in data["versions"]] == [True]
    assert needs.TVM_PYTHON not in output.read_text()
    done = subprocess.run(
        [needs.TVM_PYTHON, "-I", "issue.py"], cwd=tmp_path, capture_output=True, text=True, check=False, timeout=120
    )
    assert done.returncode == 1, done.stderr
    said = [line.split()[0] for line in done.stdout.splitlines() if line.startswith(("PyTorch", "TVM"))]
    assert said == ["PyTorch", "TVM"]


@pytest.mark.needs("onnx_importer", "onnx")
def test_a_model_is_replayed_and_reported_and_its_script_runs_with_tvm_and_onnx_alone(tmp_path):
    spec = f"tvm:{needs.TVM_PYTHON}"
    file = finding(tmp_path, f"tvm-importer:{needs.TVM_PYTHON}", specs=(spec,))
    again = run("replay", file, "--trust")
    assert again.exit_code == 1, again.output
    assert "importer: wrong, value: float32[1, 1, 1, 1] [3.75], meant float32[1, 1, 1, 1] [2.5]" in again.stdout
    output = tmp_path / "issue.md"
    told = run("report", file, "--impl", spec, "-o", output, "--json", "--time", "5s")
    assert told.exit_code == 0, told.output
    data = json.loads(told.stdout)
    schema = json.loads((Path(refmlc.__file__).parent / "cli" / "schema.json").read_text(encoding="utf-8"))
    jsonschema.validate(data, {"$ref": "#/$defs/report", "$defs": schema["$defs"]})
    assert (data["code"], data["known"]) == ("RM706", "onnx-roi-align-scale")
    assert len(data["module"].split("\n")) <= 12
    rows = {row["name"]: row["ok"] for row in data["neighbours"]}
    assert rows["RoiAlign without `spatial_scale`"]
    assert rows["refmlc's importer for TVM's"]
    assert rows["refmlc's module of the model, compiled by this TVM"]
    assert [row["affected"] for row in data["versions"]] == [True]
    assert needs.TVM_PYTHON not in output.read_text()
    done = subprocess.run(
        [needs.TVM_PYTHON, "-I", "issue.py"], cwd=tmp_path, capture_output=True, text=True, check=False, timeout=120
    )
    assert done.returncode == 1, done.stderr
    assert [line.split()[0] for line in done.stdout.splitlines() if line.startswith(("ONNX", "TVM"))] == ["ONNX", "TVM"]


@pytest.mark.needs("onnx")
def test_a_model_of_a_file_is_the_graph_that_made_it():
    from refmlc.oracle.fuzz.subjects.imports.onnx_graphs import OnnxGraph, drawn_graph  # noqa: PLC0415 - as above

    for graph in map(drawn_graph, range(20)):
        data = json.loads(json.dumps(graph_data(graph.model(), list(graph.arguments.values()), "net.onnx")))
        again = OnnxGraph.from_json(data)
        assert again.model().SerializeToString() == graph.model().SerializeToString()
        assert list(again.to_json()["arguments"]) == list(graph.arguments)


@pytest.mark.needs("onnx")
@pytest.mark.parametrize(
    ("node", "told"),
    [
        (
            (
                "y = If<then_branch = a () => (float[2] b) {b = Neg(x)}, "
                "else_branch = e () => (float[2] b) {b = Abs(x)}>(c)"
            ),
            "`If`",
        ),
        ("y = ai.planets.Orbit(x)", "`ai.planets`"),
        ("y = ConstantOfShape<value = float[1] {2.0}>(s)", "`value`"),
        ('k = Constant<value_string = "2">() y = Mul(x, k)', "a value that a report does not have"),
        ("k = Constant() y = Mul(x, k)", "a value that a report does not have"),
    ],
)
def test_what_a_report_does_not_have_is_refused_by_name(node, told):
    onnx = needs.imported("onnx")
    inputs = "(float[2] x, bool c, int64[1] s) => (float[2] y)"
    text = f'<ir_version: 8, opset_import: ["": 17, "ai.planets": 1]> g {inputs} {{{node}}}'
    with pytest.raises(refmlc.RefmlcError, match=re.escape(told)) as refused:
        graph_data(onnx.parser.parse_model(text), [np.zeros(2, "float32")], "net.onnx")
    assert refused.value.code.id == "RM112"


@pytest.mark.needs("onnx")
@pytest.mark.parametrize(
    ("value", "constant"),
    [
        ("value_floats = [2.0]", ["float32", [1], [2.0]]),
        ("value_float = 2.0", ["float32", [], [2.0]]),
        ("value_ints = [2]", ["int64", [1], [2]]),
        ("value = float[1] {2.0}", ["float32", [1], [2.0]]),
    ],
)
def test_a_constant_that_a_node_has_is_a_constant_of_the_graph(value, constant):
    onnx = needs.imported("onnx")
    nodes = f"{{c = Constant<{value}>() y = Mul(x, c)}}"
    text = f'<ir_version: 8, opset_import: ["": 17]> g (float[1] x) => (float[1] y) {nodes}'
    data = graph_data(onnx.parser.parse_model(text), [np.ones(1, "float32")], "net.onnx")
    assert data["nodes"] == [["Mul", ["x", "c"], ["y"], {}]]
    assert data["constants"]["c"] == constant
