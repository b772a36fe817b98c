"""`refmlc report` of steps of TVM's schedule; the script is executed with TVM alone."""

import json
import subprocess
from html.parser import HTMLParser
from pathlib import Path

import jsonschema
import needs
import pytest
from click.testing import CliRunner

import refmlc
from refmlc.cli import main
from refmlc.oracle.fuzz.subjects.primitives import staged
from refmlc.oracle.fuzz.subjects.primitives.step_pattern import parsed
from refmlc.oracle.issue.steps_script import ARGUMENTS, INDICES, MAPS, step_line, steps_script
from refmlc.oracle.passes.run import TvmPrimitives

SIDE = Path(refmlc.__file__).parent / "oracle" / "implementations" / "tvm_side"
PROGRAM = """@T.prim_func(s_tir=True)
def main(A: T.Buffer((6,), "float32"), X: T.Buffer((6,), "float32"), R: T.Buffer((1,), "float32")):
    for i in range(6):
        with T.sblock("copy"):
            v = T.axis.spatial(6, i)
            X[v] = A[v]
    for i, k in T.grid(1, 6):
        with T.sblock("sum"):
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                R[vi] = T.float32(0)
            R[vi] = R[vi] + A[vk]
"""
STEPS = ["split('copy', 0, (None, 2))", "loop_partition('sum', 1, (2, None))"]
COMPARED = """
import json, random, sys
sys.path.insert(0, {side!r})
import tvm, run_primitives
from tvm import relax, s_tir, tirx
from tvm.script import from_source
for text, names, lines in json.load(open(sys.argv[1])):
    module = from_source(text, check_well_formed=False)
    module = module if isinstance(module, tvm.IRModule) else tvm.IRModule({{"main": module}})
    expected = s_tir.Schedule(module)
    for name in names:
        expected = run_primitives.applied(expected, name)
    scope = {{}}
    exec("schedule = s_tir.Schedule(module)", globals(), scope)
    schedule = scope["schedule"]
    def block(name):
        return schedule.get_sblock(name)
    def loop(name, at):
        return schedule.get_loops(block(name))[at]
    def dtype_of(region):
        return str((region.source if hasattr(region, "source") else region.buffer).dtype)
    for line in lines:
        exec(line)
    assert schedule.mod.script() == expected.mod.script(), (names, lines)
print("ok")
"""


class Page(HTMLParser):
    """The tags of a page."""

    def __init__(self):
        super().__init__()
        self.tags = []

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))


def finding(folder, steps, program=PROGRAM, kind="primitives"):
    """A file as a campaign writes it."""
    spec = json.dumps(f"tvm:{needs.TVM_PYTHON}")
    head = f'signature = "0123456789ab"\npath = {spec}\nkind = "{kind}"\ncode = "RM705"\nimplementations = [{spec}]\n'
    file = folder / "f.toml"
    file.write_text(f"{head}[case]\ntext = '''\n{program}'''\nsteps = {json.dumps(steps)}\n")
    return file


def report(*words):
    return CliRunner().invoke(main, ["report", *map(str, words)])


def test_every_primitive_has_a_line():
    assert {*ARGUMENTS} == {*staged.PRIMITIVES}


@pytest.mark.parametrize("step", ["nothing('B')", "split()", "split('B'", "split(__import__('os'))", "reindex('B')"])
def test_what_is_no_step_has_no_line(step):
    with pytest.raises(ValueError, match="is no step"):
        step_line(step)


def test_there_is_no_script_for_steps_that_are_none():
    assert steps_script(PROGRAM, ("evil();import os",), None, "x") is None


def test_a_hostile_name_stays_a_text():
    line = step_line("compute_inline('x\"); import os; (\"')")
    assert line == "schedule.compute_inline(block('x\"); import os; (\"'))"
    compile(line, "script.py", "eval")


def test_an_external_program_that_only_the_file_names_is_not_started(tmp_path):
    done = report(finding(tmp_path, STEPS))
    assert (done.exit_code, "--trust" in done.stderr) == (2, True)


def test_a_report_on_steps_needs_tvm(tmp_path):
    done = report(finding(tmp_path, STEPS), "--impl", "native")
    assert (done.exit_code, "--impl tvm:PYTHON" in done.stderr) == (2, True)


@pytest.mark.needs("tvm")
def test_the_report_of_a_primitive_and_its_script_with_tvm_alone(tmp_path):
    output = tmp_path / "issue.md"
    spec = f"tvm:{needs.TVM_PYTHON}"
    told = report(finding(tmp_path, STEPS), "--impl", spec, "-o", output, "--json", "--time", "30s")
    assert told.exit_code == 0, told.output
    data = json.loads(told.stdout)
    schema = json.loads((Path(refmlc.__file__).parent / "cli" / "schema.json").read_text(encoding="utf-8"))
    jsonschema.validate(data, {"$ref": "#/$defs/report", "$defs": schema["$defs"]})
    assert data["title"].startswith("[Bug][wrong-code] `loop_partition` changes a result: ")
    assert "ulp" not in data["title"]
    assert (data["pass"], data["pass_note"]) == ("loop_partition", "")
    assert data["steps"] == STEPS[1:]
    assert len(data["module"].strip().split("\n")) <= 12
    assert data["known"] == "loop-partition-reduction"
    assert [row["affected"] for row in data["versions"]] == [True]
    assert data["numpy"].endswith("gets different results from them.")
    assert any(not row["ok"] for row in data["neighbours"])
    text = output.read_text()
    for heading in (
        "## Module and steps",
        "## Expected",
        "## Cause: ",
        "## What passes and what fails",
        "## Duplicates",
    ):
        assert heading in text
    assert "+++ loop_partition('sum', 1, (2, None))" in text
    assert needs.TVM_PYTHON not in text
    page = Page()
    page.feed((tmp_path / "issue.html").read_text())
    assert not [tag for tag, attributes in page.tags if tag == "script" or "src" in attributes or "href" in attributes]
    done = subprocess.run(
        [needs.TVM_PYTHON, "-I", "issue.py"], cwd=tmp_path, capture_output=True, text=True, check=False, timeout=120
    )
    assert done.returncode == 1, done.stderr
    before, after = done.stdout.partition("before the last step:")[2].split("after it:")
    assert before.splitlines()[1:-1] != after.splitlines()[1:]


@pytest.mark.needs("tvm")
def test_steps_that_keep_the_meaning_are_one_message(tmp_path):
    done = report(finding(tmp_path, STEPS[:1]), "--impl", f"tvm:{needs.TVM_PYTHON}")
    assert (done.exit_code, "keeps the meaning" in done.stderr) == (2, True)


MODULO = """@T.prim_func(s_tir=True)
def main(A: T.Buffer((2,), "float32"), R: T.Buffer((9,), "float32")):
    for i in range(9):
        R[i] = A[(1 - i) % 2]
"""


@pytest.mark.needs("tvm")
def test_a_finding_on_passes_is_replayed_and_reported(tmp_path):
    file = finding(tmp_path, ["tirx.FlattenBuffer()"], MODULO, "passes")
    spec = f"tvm:{needs.TVM_PYTHON}"
    done = CliRunner().invoke(main, ["replay", str(file), "--impl", spec])
    assert (done.exit_code, "`tirx.FlattenBuffer()` changes the meaning" in done.stderr) == (1, True)
    told = report(file, "--impl", spec, "-o", tmp_path / "issue.md", "--json", "--time", "5s")
    assert told.exit_code == 0, told.output
    data = json.loads(told.stdout)
    assert data["title"].startswith("[Bug][wrong-code] `tirx.FlattenBuffer` changes a result: ")
    assert data["steps"] == ["tirx.FlattenBuffer()"]
    ran = subprocess.run(
        [needs.TVM_PYTHON, "-I", "issue.py"], cwd=tmp_path, capture_output=True, text=True, check=False, timeout=120
    )
    assert "without the passes:" in ran.stdout, ran.stderr
    assert "meant:" in ran.stdout


@pytest.mark.needs("tvm")
def test_lines_of_a_script_do_what_the_steps_do(tmp_path):
    """Drawn traces, applied by the script and by the process that draws them."""
    traces, seen = [], set()
    with TvmPrimitives(needs.TVM_PYTHON) as tvm:
        for number in range(60):
            trace = tvm("" if number % 2 else staged.aimed_program(number), seed=number)
            steps = [stage.name for stage in trace.stages[1:]]
            seen |= {parsed(step)[0] for step in steps}
            traces.append((trace.stages[0].text, steps, [step_line(step) for step in steps]))
    assert len(seen) >= 20
    (tmp_path / "traces.json").write_text(json.dumps(traces))
    (tmp_path / "run.py").write_text(COMPARED.format(side=str(SIDE)))
    done = subprocess.run(
        [needs.TVM_PYTHON, "run.py", "traces.json"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.stdout.strip() == "ok", done.stderr[-2000:]


def test_the_maps_are_those_that_are_drawn():
    text = (SIDE / "run_primitives.py").read_text()
    for head, maps in (("MAPS = {", MAPS), ("INDICES = {", INDICES)):
        table = text.partition(head)[2].partition("\n}")[0]
        for name, source in maps.items():
            assert f'"{name}": ' in table
            assert source in table
        assert table.count("lambda") == len(maps)
