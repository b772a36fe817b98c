"""A compiler of somebody else, in a program of its own: its passes by lines of JSON."""

import json
import shlex
import sys

import pytest
from click.testing import CliRunner

from refmlc.cli import main
from refmlc.diag import RefmlcError
from refmlc.oracle.passes import CompilerProcess, Stage, check, read_trace
from refmlc.oracle.passes.stages import ENDED

MODULE = """from tvm.script import tirx as T

@T.prim_func(s_tir=True)
def f(A: T.Buffer((3,), "float32"), B: T.Buffer((3,), "float32"), C: T.Buffer((3,), "float32")):
    for i in range(3):
        C[i] = A[i] - B[i]
"""

COMPILER = '''"""A compiler whose passes are edits of the text."""
import json, os, sys

def snapshot(lines, **values):
    lines.write(json.dumps(values) + "\\n")
    lines.flush()

EDITS = {
    "mine.Rename": lambda text: text.replace("range(3)", "range(0, 3)"),
    "mine.Swap": lambda text: text.replace("A[i] - B[i]", "B[i] - A[i]"),
    "mine.Dies": lambda text: os._exit(7),
    "mine.Refuses": None,
}
for line in sys.stdin:
    request = json.loads(line)
    if request["do"] == "close":
        break
    answer = {"ok": True}
    if request["do"] == "hello":
        folder, answer = request["folder"], {"name": "mine", "version": "0.1", "passes": True}
    elif set(request["passes"] or ()) - set(EDITS):
        answer = {"stop": "rejected", "message": "there is no such pass"}
    elif request["module"] == "rubbish":
        answer = {"who": "knows"}
    else:
        text = request["module"]
        with open(os.path.join(folder, request["file"]), "w") as lines:
            snapshot(lines, name="input", text=text)
            for name in request["passes"] or ["mine.Rename", "mine.Swap"]:
                if EDITS[name] is None:
                    snapshot(lines, refused="a loop it does not take")
                    break
                text = EDITS[name](text)
                snapshot(lines, name=name, text=text)
            else:
                snapshot(lines, done=True)
    print(json.dumps(answer), flush=True)
'''


@pytest.fixture
def command(tmp_path):
    path = tmp_path / "compiler.py"
    path.write_text(COMPILER, encoding="utf-8")
    return [sys.executable, str(path)]


def test_its_pipeline_and_passes_by_name(command):
    with CompilerProcess(command) as mine:
        assert (mine.name, mine.version) == ("mine", "0.1")
        assert [stage.name for stage in mine(MODULE).stages] == ["input", "mine.Rename", "mine.Swap"]
        found = check(mine(MODULE), calls=2)
        assert found.broken.name == "mine.Swap"
    with CompilerProcess(command, passes=["mine.Rename"]) as mine:
        assert check(mine(MODULE), calls=2).broken is None


def test_it_gives_the_verdict_that_its_lines_give(command, tmp_path):
    with CompilerProcess(command) as mine:
        trace = mine(MODULE)
    lines = [json.dumps({"name": stage.name, "text": stage.text}) for stage in trace.stages]
    assert read_trace([*lines, json.dumps({"done": True})]) == trace


def test_it_refuses_dies_and_writes_rubbish_and_goes_on(command):
    first = (Stage("input", MODULE),)
    for name, stopped in {
        "mine.Dies": f"{ENDED}: the process ended with status 7",
        "mine.Refuses": "a loop it does not take",
    }.items():
        with CompilerProcess(command, passes=[name]) as mine:
            for _ in range(2):
                trace = mine(MODULE)
                assert (trace.stages, trace.stopped) == (first, stopped)
    with CompilerProcess(command) as mine:
        with pytest.raises(RefmlcError) as caught:
            mine("rubbish")
        assert (caught.value.code.id, "knows" in caught.value.diagnostic.message) == ("RM109", True)
        assert mine(MODULE).stopped == ""


def test_a_pass_that_it_does_not_have(command):
    with CompilerProcess(command, passes=["mine.Nothing"]) as mine, pytest.raises(RefmlcError) as caught:
        mine(MODULE)
    assert (caught.value.code.id, caught.value.diagnostic.message) == ("RM112", "there is no such pass")


def test_a_program_without_passes_is_no_compiler(tmp_path):
    path = tmp_path / "silent.py"
    path.write_text('import sys\nsys.stdin.readline()\nprint(\'{"name": "x"}\', flush=True)\nsys.stdin.read()\n')
    with pytest.raises(RefmlcError) as caught:
        CompilerProcess([sys.executable, str(path)])
    assert caught.value.code.id == "RM112"
    assert "does not support `passes`" in caught.value.diagnostic.message


def asked(*options):
    return CliRunner().invoke(main, ["passes", *map(str, options)])


def test_from_the_shell(command, tmp_path):
    file, report = tmp_path / "f.py", tmp_path / "finding.md"
    file.write_text(MODULE, encoding="utf-8")
    impl = f"cmd:{shlex.join(command)}"
    done = asked(file, "--impl", impl, "--json", "--report", report)
    assert done.exit_code == 1
    said = json.loads(done.stdout)
    assert {"pass": "mine.Swap"}.items() <= said["broken"].items()
    assert [row["pass"] for row in said["stages"]] == ["mine.Rename", "mine.Swap"]
    assert "mine 0.1" in report.read_text(encoding="utf-8")
    assert asked(file, "--impl", impl, "--passes", "mine.Rename").exit_code == 0


@pytest.mark.parametrize("options", [(), ("--impl", "cmd:x", "--tvm", "y"), ("--impl", "native"), ("--impl", "cmd: ")])
def test_which_compiler_is_said_once(options, tmp_path):
    file = tmp_path / "f.py"
    file.write_text(MODULE, encoding="utf-8")
    done = asked(file, *options)
    assert done.exit_code == 2
    assert "`--impl cmd:COMMAND`" in done.stderr or "write `cmd:COMMAND`" in done.stderr


@pytest.mark.parametrize("options", [("--impl", "cmd:x"), ("--tvm", "x", "--passes", "relax.Normalize")])
def test_a_named_pipeline_is_one_of_tvm_and_whole(options, tmp_path):
    file = tmp_path / "f.py"
    file.write_text(MODULE, encoding="utf-8")
    done = asked(file, *options, "--pipeline", "tirx")
    assert (done.exit_code, "`--pipeline` is one of TVM" in done.stderr) == (2, True)


@pytest.mark.parametrize("option", [("--pipeline", "tirx"), ("--passes", "relax.Normalize")])
def test_snapshots_have_no_passes_to_choose(option, tmp_path):
    file = tmp_path / "stages.jsonl"
    file.write_text(json.dumps({"name": "input", "text": MODULE}) + "\n", encoding="utf-8")
    assert asked(file).exit_code in (0, 3)
    done = asked(file, *option)
    assert (done.exit_code, "change nothing" in done.stderr.replace("\n", " ")) == (2, True)
