"""`refmlc replay` and `refmlc report` of builds of TVM: the build of the finding is asked, with its options."""

import json
import subprocess
from pathlib import Path

import jsonschema
import needs
import pytest
from click.testing import CliRunner

import refmlc
from refmlc.cli import main
from refmlc.lang.dtypes import INT32
from refmlc.lang.wellformed.reader_checks import read
from refmlc.oracle.difference import Difference
from refmlc.oracle.fuzz.finding_file import finding_text, read_finding, with_options
from refmlc.oracle.fuzz.result import FindingRecord
from refmlc.oracle.fuzz.settings import CampaignSettings
from refmlc.oracle.fuzz.subjects import builds
from refmlc.oracle.issue.script import ScriptBuild, WrongElement, tvm_script
from refmlc.strategies.arguments import Array
from refmlc.strategies.case import Case

MOVED = """@T.prim_func(s_tir=True)
def main(A: T.Buffer((4,), "int32"), R: T.Buffer((4,), "int32")):
    S = T.sblock_alloc_buffer((4,), "int32")
    for i in range(4):
        with T.sblock("S"):
            v = T.axis.spatial(4, i)
            S[v] = A[v]
        with T.sblock("R"):
            v = T.axis.spatial(4, i)
            R[v] = S[v] + S[v // 2]
"""
GRAPH = """@R.function
def main(x: R.Tensor((2,), "int32")) -> R.Tensor((2,), "int32"):
    y = R.add(x, x)
    return y
"""


def finding(folder, build, python="/a/python"):
    """A file as a campaign writes it: the campaign names TVM without options."""
    pool = Array(INT32, (4,), "cycle", pool=(3, 1, 2, 5))
    case = Case(read(MOVED), "main", ((pool, Array(INT32, (4,), form="fresh")),))
    data = {**json.loads(case.to_json()), "builds": [build]}
    settings = CampaignSettings(kinds=(builds.KIND,), implementations=(f"tvm:{python}",))
    record = FindingRecord(
        "0123456789ab", "RM701", f"tvm:{python},{build}", "wrong", f"wrong with {build}", 0, 0, builds.KIND, data
    )
    file = folder / "f.toml"
    file.write_text(finding_text(settings, record, None))
    return file


def run(*words):
    return CliRunner().invoke(main, list(map(str, words)))


def script_of(text, build, wrong):
    case = Case(read(text), "main", ((Array(INT32, (2,), "cycle", pool=(3, 5)),),))
    return tvm_script(case, wrong, build)


def test_the_build_that_the_finding_names_is_asked(tmp_path):
    file = finding(tmp_path, "target=c,opt=0")
    read_again = read_finding(file.read_text(), file.name)
    assert read_again.specs == ("tvm:/a/python,target=c,opt=0",)
    assert read_again.build == "target=c,opt=0"
    asked = [with_options(spec, read_again.build) for spec in ("tvm:/b", "tvm:/b,opt=3", "native")]
    assert asked == ["tvm:/b,target=c,opt=0", "tvm:/b,opt=3", "native"]


@pytest.mark.parametrize("command", ["replay", "report"])
def test_an_external_program_that_only_the_file_names_is_not_started(tmp_path, command):
    done = run(command, finding(tmp_path, "opt=3"))
    assert (done.exit_code, "--trust" in done.stderr) == (2, True)


@pytest.mark.parametrize("command", ["replay", "report"])
def test_code_for_another_processor_is_refused(tmp_path, command, monkeypatch):
    monkeypatch.setattr(builds, "CPU", tmp_path / "none")
    done = run(command, finding(tmp_path, "target=llvm -mcpu=haswell"), "--impl", "native")
    assert done.exit_code == 2
    assert "RM112" in done.stderr
    assert "-mcpu=haswell" in done.stderr


@pytest.mark.parametrize(
    ("options", "flags", "runs"),
    [
        ("opt=3", "", True),
        ("target=llvm -mcpu=haswell", "avx2 bmi2 fma", True),
        ("target=llvm -mcpu=haswell,opt=0", "avx2 bmi2 fma", True),
        ("target=llvm -mcpu=haswell", "avx2 bmi2", False),
        ("target=llvm -mcpu=unknown", "avx2 bmi2 fma", False),
    ],
)
def test_a_build_for_a_processor_runs_where_that_has_what_it_needs(options, flags, runs):
    assert builds.runs_here(options, flags) is runs


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({}, ["executable = tvm.compile(module, target)", "PassContext()"]),
        ({"opt": 3}, ["executable = tvm.compile(module, target)", "PassContext(opt_level=3)"]),
        ({"mode": "compiled"}, ["executable = relax.build(module, target, exec_mode='compiled')"]),
        ({"target": "c", "opt": 0}, ["executable = loaded(tvm.compile(module, target))", "def loaded", "opt_level=0"]),
    ],
)
def test_the_script_compiles_with_the_options_of_the_build(options, words):
    text = script_of(GRAPH, ScriptBuild.of(options), None)
    compile(text, "script.py", "exec")
    assert [word for word in words if word not in text] == []
    assert ("def loaded" in text) == ("target" in options)
    assert "refmlc" not in text


@pytest.mark.needs("tvm")
@pytest.mark.parametrize("options", [{"mode": "compiled"}, {"target": "c", "opt": 0}])
def test_the_script_of_a_graph_runs_with_tvm_alone(tmp_path, options):
    wrong = WrongElement(Difference((1,), 11, 10, None, None, 1, 2))
    (tmp_path / "script.py").write_text(script_of(GRAPH, ScriptBuild.of(options), wrong))
    done = subprocess.run(
        [needs.TVM_PYTHON, "-I", "script.py"], cwd=tmp_path, capture_output=True, text=True, check=False, timeout=120
    )
    assert (done.returncode, done.stdout.strip().endswith(": 10, expected: 10")) == (0, True), done.stderr


@pytest.mark.needs("tvm")
def test_a_finding_on_a_build_is_replayed_and_reported_with_its_options(tmp_path):
    file, output = finding(tmp_path, "target=c", needs.TVM_PYTHON), tmp_path / "issue.md"
    again = run("replay", file, "--trust", "--seconds", "60")
    assert again.exit_code == 1, again.output
    assert f"tvm:{needs.TVM_PYTHON},target=c, call 1: wrong" in again.stdout
    told = run("report", file, "--impl", f"tvm:{needs.TVM_PYTHON}", "-o", output, "--json", "--time", "5s")
    assert told.exit_code == 0, told.output
    data = json.loads(told.stdout)
    schema = json.loads((Path(refmlc.__file__).parent / "cli" / "schema.json").read_text(encoding="utf-8"))
    jsonschema.validate(data, {"$ref": "#/$defs/report", "$defs": schema["$defs"]})
    assert data["version"].endswith(" with target=c")
    others = {row["name"]: row["ok"] for row in data["neighbours"] if "=" in row["name"]}
    assert {"opt=0", "opt=1", "opt=2", "opt=3", "mode=compiled", "target=c,opt=0"} <= set(others)
    assert "target=c" not in others
    assert not any(others.values())
    assert needs.TVM_PYTHON not in output.read_text()
    done = subprocess.run(
        [needs.TVM_PYTHON, "-I", "issue.py"], cwd=tmp_path, capture_output=True, text=True, check=False, timeout=120
    )
    assert (done.returncode, ", expected: " in done.stdout) == (1, True), done.stderr
