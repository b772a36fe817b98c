"""`refmlc report`: of an implementation that is wrong; of real TVM, whose script is executed with TVM alone."""

import json
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

import jsonschema
import needs
import numpy as np
import pytest
from click.testing import CliRunner

import refmlc
from refmlc.cli import main
from refmlc.lang.dtypes import INT32
from refmlc.oracle.difference import Difference
from refmlc.oracle.issue.script import ScriptBuild, WrongElement, pair_script
from refmlc.oracle.pairs.equivalents import Variant
from refmlc.strategies.arguments import Array
from refmlc.strategies.case import Case

ANSWERS = str(Path(__file__).parent / "check_answers.py")
COPY = """
@T.prim_func
def copy(A: T.Buffer((3, 3), "float32"), B: T.Buffer((3, 3), "float32")):
    for i, j in T.grid(3, 3):
        B[i, j] = A[i, j]
"""
MODULO = """
@T.prim_func(s_tir=True)
def main(A: T.Buffer((2,), "float32"), B: T.Buffer((8,), "float32"), R: T.Buffer((9,), "float32")):
    for i in range(9):
        R[i] = A[(1 - i) % 2]
    for i in range(8):
        B[i] = T.float32(1)
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(*words):
    return CliRunner().invoke(main, list(map(str, words)))


def recorded(folder, text, spec):
    """A case of `refmlc check`, of which `report` is asked."""
    (folder / "x.py").write_text(text)
    assert run("check", "x.py", "--impl", spec, "--calls", "2", "--no-pairs", "--case", "c.toml").exit_code == 1
    return folder / "c.toml"


class Page(HTMLParser):
    """The tags of a page, and its text."""

    def __init__(self):
        super().__init__()
        self.tags, self.text = [], []

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data):
        self.text.append(data)


def test_the_report_of_a_command_has_what_is_known_without_tvm(folder):
    spec = f"cmd:{sys.executable} {ANSWERS} transposes"
    case = recorded(folder, COPY, spec)
    told = run("report", case, "--impl", spec, "-o", "issue.md", "--json", "--time", "20s")
    assert told.exit_code == 0, told.output
    data = json.loads(told.stdout)
    schema = json.loads((Path(refmlc.__file__).parent / "cli" / "schema.json").read_text(encoding="utf-8"))
    jsonschema.validate(data, {"$ref": "#/$defs/report", "$defs": schema["$defs"]})
    assert data["title"].startswith("[Bug][wrong-code] ")
    assert data["script"] is None
    assert data["pass"] is None
    assert len(data["module"].split("\n")) <= 12
    assert data["numpy"].startswith("NumPy, executing the same loops with its own arithmetic, gives the expected")
    words = {row["name"]: row["ok"] for row in data["neighbours"]}
    assert words.pop("1 for 2", True) is True  # a copy of one element is no transposition
    assert words
    text = (folder / "issue.md").read_text()
    for heading in ("## Module", "## Expected", "## What passes and what fails", "## Versions", "## Duplicates"):
        assert heading in text
    assert "No row of `conformance/known` explains it." in text
    assert not (folder / "issue.py").exists()
    page = Page()
    page.feed((folder / "issue.html").read_text())
    assert not [tag for tag, attributes in page.tags if tag == "script" or "src" in attributes or "href" in attributes]


def test_text_of_a_program_stays_text(folder):
    spec = f"cmd:{sys.executable} {ANSWERS} transposes"
    evil = '"<script>alert(1)</script>```\\x1b[31m](http://evil.example)"'
    text = COPY.replace("    for i", f'    T.func_attr({{"evil": {evil}}})\n    for i')
    case = recorded(folder, text, spec)
    told = run("report", case, "--impl", spec, "-o", "issue.md", "--time", "1s")
    assert told.exit_code == 0, told.output
    page = Page()
    page.feed((folder / "issue.html").read_text())
    assert "script" not in [tag for tag, _ in page.tags]
    assert "\x1b" not in (folder / "issue.md").read_text()


def test_a_finding_that_is_gone_is_one_message(folder):
    case = recorded(folder, COPY, f"cmd:{sys.executable} {ANSWERS} transposes")
    told = run("report", case, "--impl", f"cmd:{sys.executable} {ANSWERS} copies")
    assert (told.exit_code, "has no finding on" in told.stderr) == (2, True)


def test_an_external_program_that_only_the_file_names_is_not_started(folder):
    case = recorded(folder, COPY, f"cmd:{sys.executable} {ANSWERS} transposes")
    told = run("report", case)
    assert (told.exit_code, "--trust" in told.stderr) == (2, True)


@pytest.mark.parametrize("text", ["", "x = 1", "\x00", 'id = "rm304-0"'])
def test_what_is_no_finding_is_refused(folder, text):
    (folder / "c.toml").write_text(text)
    assert run("report", "c.toml", "--impl", "interp").exit_code == 2


def test_a_pair_is_reported_with_both_programs(folder, monkeypatch):
    monkeypatch.syspath_prepend(str(Path(__file__).parent))
    (folder / "x.py").write_text(COPY)
    spec = "py:replayed_ways:contradicts"
    assert run("check", "x.py", "--impl", spec, "--case", "c.toml").exit_code == 1
    told = run("report", "c.toml", "--impl", spec, "-o", "issue.md", "--json", "--time", "20s")
    assert told.exit_code == 0, told.output
    data = json.loads(told.stdout)
    assert data["code"] == "RM705"
    assert data["title"].startswith(f"[Bug][wrong-code] {spec} has two results for one program: ")
    assert "parallel" in data["title"]
    assert "parallel" not in data["module"]
    assert (data["pass"], data["script"]) == (None, None)
    text = (folder / "issue.md").read_text()
    assert "T.parallel" in text.partition("## The same program, parallel")[2].partition("## Expected")[0]
    assert any(not row["ok"] and "contradicts itself" in row["verdict"] for row in data["neighbours"])


@pytest.mark.needs("tvm")
@pytest.mark.parametrize(("factor", "status"), [(2, 0), (3, 1)])
def test_the_script_of_a_pair_with_tvm_alone(folder, factor, status):
    """The other program has an argument more, and the same result or another one."""
    text = """@T.prim_func(s_tir=True)
def main(A: T.Buffer((2,), "int32"), B: T.Buffer((2,), "int32")):
    for i in range(2):
        B[i] = A[i] * 2
"""
    array = Array(INT32, (2,), "cycle", pool=(5, 7))
    base = Case(refmlc.read(text), "main", ((array, Array(INT32, (2,), form="fresh")),))
    other = text.replace('2,), "int32"))', '2,), "int32"), C: T.Buffer((1,), "int32"))').replace("* 2", "* C[0]")
    more = refmlc.Tensor.from_numpy(np.array([factor], "int32"), INT32)
    pair = Variant(base, refmlc.read(other), "loaded", lambda: [more], base.calls)
    wrong = WrongElement(Difference((1,), 21, 14, None, None, 1, 2), 1)
    (folder / "pair.py").write_text(pair_script(base, pair, wrong, ScriptBuild()))
    done = subprocess.run(
        [needs.TVM_PYTHON, "-I", "pair.py"], cwd=folder, capture_output=True, text=True, check=False, timeout=120
    )
    assert done.returncode == status, done.stderr
    assert done.stdout.strip().endswith(f": 14, loaded: {7 * factor}")


@pytest.mark.needs("tvm")
def test_the_report_of_tvm_and_its_script_with_tvm_alone(folder):
    spec = f"tvm:{needs.TVM_PYTHON}"
    case = recorded(folder, MODULO, spec)
    told = run("report", case, "--impl", spec, "-o", "issue.md", "--json", "--time", "60s")
    assert told.exit_code == 0, told.output
    data = json.loads(told.stdout)
    assert data["title"].startswith("[Bug][wrong-code] `tirx.FlattenBuffer` changes a result: ")
    assert len(data["module"].split("\n")) <= 12
    assert (data["pass"], data["pass_note"]) == ("tirx.FlattenBuffer", "")
    assert [row["affected"] for row in data["versions"]] == [True]
    rows = {row["name"]: row["ok"] for row in data["neighbours"]}
    assert rows["opt=0"] is False
    assert True in rows.values()
    assert "reversed-modulo" in [data["known"], *data["alike"]]
    text = (folder / "issue.md").read_text()
    assert "+++ tirx.FlattenBuffer" in text
    assert needs.TVM_PYTHON not in text
    done = subprocess.run(
        [needs.TVM_PYTHON, "-I", "issue.py"], cwd=folder, capture_output=True, text=True, check=False, timeout=120
    )
    assert done.returncode == 1, done.stderr
    actual, expected = done.stdout.split(": ", 1)[1].split(", expected: ")
    assert float(actual) != float(expected)
