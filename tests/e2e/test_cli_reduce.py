"""`refmlc reduce` as people use it: real shell commands, interrupts, commands that hang or never hold."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from click.testing import CliRunner

import refmlc
from refmlc.cli import main

REFMLC = [sys.executable, "-m", "refmlc"]
PROGRAM = """\
@I.ir_module
class Module:
    @T.prim_func
    def unused(A: T.Buffer((4,), "int32")):
        A[0] = 0
    @T.prim_func
    def main(A: T.Buffer((8, 16), "float32"), B: T.Buffer((8, 16), "float32")):
        P = T.alloc_buffer((8, 16), "float32")
        for i, j in T.grid(8, 16):
            with T.sblock("P"):
                vi, vj = T.axis.remap("SS", [i, j])
                P[vi, vj] = A[vi, vj] * T.float32(3)
        for i in T.parallel(8):
            for j in range(16):
                B[i, j] = T.exp(P[i, j] + T.float32(1))
"""
SMALL = """\
@T.prim_func
def main(A: T.Buffer((1,), "float32")):
    for i in range(4):
        A[0] = T.exp(A[0] + T.float32(1))
"""
# An implementation that is wrong about `T.exp` of what is computed, in a language of its own choice; it starts quickly.
CHECKER = """\
import re
import sys
with open(sys.argv[1]) as file:
    wrong = re.search(r"T\\.exp\\((T\\.Add|.*\\+)", file.read())
sys.exit(not wrong)
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    (tmp_path / "prog.py").write_text(PROGRAM)
    (tmp_path / "wrong.py").write_text(CHECKER)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(*arguments):
    return CliRunner().invoke(main, ["reduce", *map(str, arguments)])


def function(text):
    return text[text.index("    def ") :].splitlines()


def test_grep(folder):
    done = run("prog.py", "--while", "grep -q T.exp {}")
    assert done.exit_code == 0
    assert function(done.stdout) == ["    def main():", "        T.evaluate(T.exp(T.float32(0.0)))"]
    assert (folder / "prog.reduced.py").read_text().split() == done.stdout.split()
    assert "2 → 1 functions, 14 → 1 statements" in done.stderr
    assert sorted(path.name for path in folder.iterdir()) == ["prog.py", "prog.reduced.py", "wrong.py"]


def test_a_script_that_knows_what_is_wrong(folder):
    command = f'{sys.executable} -I -S wrong.py "$1"'
    Path("prog.py").write_text(SMALL)
    done = run("prog.py", "--while", command, "--out", "small.py", "--jobs", "2")
    assert done.exit_code == 0
    assert function(done.stdout)[-1].strip() == "T.evaluate(T.exp(T.Add(T.float32(0.0), T.float32(0.0))))"
    small = refmlc.read_file("small.py")
    assert list(small.functions) == ["main"]
    assert subprocess.run(["/bin/sh", "-c", command, "sh", "small.py"], check=False).returncode == 0


def test_json(folder):
    done = run("prog.py", "--while", 'grep -q T.exp "$REFMLC_FILE"', "--json")
    found = json.loads(done.stdout)
    assert found["functions"] == {"before": 2, "after": 1}
    assert found["statements"]["after"] == 1
    assert found["finished"] is True
    assert found["tries"] > found["steps"] > 0
    assert found["text"] == (folder / found["out"]).read_text()


def test_a_function_that_stays(folder):
    done = run("prog.py", "--while", "true", "--func", "main")
    assert list(refmlc.read(done.stdout).functions) == ["main"]
    assert "the module has no function `f`" in run("prog.py", "--while", "true", "--func", "f").stderr


def test_a_command_that_never_holds_is_told_with_what_it_printed(folder):
    done = run("prog.py", "--while", "echo not here; exit 3")
    assert done.exit_code == 2
    assert "RM112" in done.stderr
    assert "ends with 3, not 0" in done.stderr
    assert "not here" in done.stderr
    assert not (folder / "prog.reduced.py").exists()


def test_a_command_that_hangs_at_first_is_told(folder):
    done = run("prog.py", "--while", "sleep 100", "--limit", "0.3")
    assert done.exit_code == 2
    assert "does not end within 0.3 s" in done.stderr


def test_a_command_that_hangs_on_some_candidates_goes_on(folder):
    command = "grep -q T.exp {} && { grep -q A {} || sleep 100; }"
    done = run("prog.py", "--while", command, "--limit", "0.3", "--jobs", "4")
    assert done.exit_code == 0
    assert "T.exp" in done.stdout
    assert " A" in done.stdout or "A:" in done.stdout


def test_the_time_is_a_limit(folder):
    done = run("prog.py", "--while", "sleep 0.2; grep -q T.exp {}", "--time", "0.5s")
    assert done.exit_code == 0
    assert "the time is up" in done.stderr
    assert "T.exp" in (folder / "prog.reduced.py").read_text()


@pytest.mark.parametrize("value", ["0", "5 apples", "-3s", "s"])
def test_a_bad_duration_is_a_usage_error(folder, value):
    assert run("prog.py", "--while", "true", "--time", value).exit_code == 2


def test_a_text_that_is_no_module_is_reduced_by_lines(folder):
    Path("other.txt").write_text("first line\nif so:\n    keep = 100\n    drop = 1\nlast\n")
    done = run("other.txt", "--while", "grep -q keep {}")
    assert done.exit_code == 0
    assert done.stdout == "keep = 0\n"
    assert "reducing lines instead" in done.stderr
    assert Path("other.reduced.txt").read_text() == "keep = 0\n"


def test_a_module_with_a_static_mistake_is_reduced_by_lines(folder):
    Path("bad.py").write_text(PROGRAM + "                break\n            break\n        break\n")
    done = run("bad.py", "--while", "grep -q '^        break' {} && grep -q 'def main' {}")
    assert done.exit_code == 0
    assert "RM213" in done.stderr
    assert len(done.stdout.splitlines()) == 2


def test_a_text_that_matters_as_it_is_written_is_reduced_by_lines(folder):
    done = run(
        "prog.py", "--while", "grep -q 'remap(\"SS\", \\[i, j\\])' {} && grep -qv '# from' {} && ! grep -q '^#' {}"
    )
    assert done.exit_code == 0
    assert "the command fails on the module" in done.stderr
    assert len(done.stdout.splitlines()) == 1


def test_files_that_are_not_there_or_no_text(folder):
    assert "RM109" in run("nothing.py", "--while", "true").stderr
    Path("binary").write_bytes(b"\xff\xfe\x00")
    assert "not UTF-8" in run("binary", "--while", "true").stderr


def children_of(pid):
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rsplit(")", 1)[1].split()
        except OSError:
            continue
        if int(fields[1]) == pid and fields[0] != "Z":
            found.append(int(stat.parent.name))
    return found


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=["interrupt", "terminate"])
@pytest.mark.parametrize("jobs", ["1", "3"])
def test_an_interrupt_keeps_the_best_so_far_and_leaves_nothing_running(folder, number, jobs):
    command = "grep -q T.exp {} && { grep -q parallel {} || { touch waiting; sleep 1000; }; }"
    started = subprocess.Popen(
        [*REFMLC, "reduce", "prog.py", "--while", command, "--jobs", jobs],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "TMPDIR": str(folder)},
    )
    for _ in range(600):
        time.sleep(0.05)
        if Path("waiting").exists() or started.poll() is not None:
            break
    assert Path("waiting").exists()
    running = children_of(started.pid)
    assert running
    started.send_signal(number)
    _, told = started.communicate(timeout=30)
    assert (started.returncode, told.split()[-1]) == (130, "interrupted")
    assert "T.exp" in Path("prog.reduced.py").read_text()
    assert list(refmlc.read_file("prog.reduced.py").functions) == ["main"]
    time.sleep(0.1)
    assert not [pid for pid in running if Path(f"/proc/{pid}").exists()]
    assert not list(folder.glob("refmlc-reduce-*"))


BAD = PROGRAM.replace("P[i, j] +", "P[i, j + 1] +")
SQUARE = """\
@T.prim_func
def main(A: T.Buffer((4, 4), "float32"), B: T.Buffer((4, 4), "float32")):
    for i, j in T.grid(4, 4):
        B[i, j] = T.exp(A[i, j]) + T.float32(1)
"""


def test_a_code_is_kept(folder):
    Path("bad.py").write_text(BAD)
    done = run("bad.py", "--code", "RM304")
    assert done.exit_code == 0
    assert function(done.stdout) == [
        "    def main():",
        "        A = T.alloc_buffer((1,))",
        "        T.evaluate(A[1])",
        "",
        "# `main` is called with no arguments",
    ]
    assert refmlc.read_file("bad.reduced.py")["main"].params == ()


def test_a_code_that_is_not_met_is_told_with_those_that_are(folder):
    Path("bad.py").write_text(BAD)
    done = run("bad.py", "--code", "RM305")
    assert done.exit_code == 2
    assert "no call ends in RM305" in done.stderr
    assert "met: RM304" in done.stderr
    assert "there is no code `RM000`" in run("bad.py", "--code", "RM000").stderr


def test_a_code_of_a_static_rule_is_kept_by_lines(folder):
    Path("bad.py").write_text(PROGRAM + "        break\n")
    done = run("bad.py", "--code", "RM213")
    assert done.exit_code == 0
    assert [line.strip() for line in done.stdout.splitlines()][-1] == "break"
    assert len(done.stdout.splitlines()) <= 5


def test_a_wrong_implementation_is_kept_wrong_with_its_arguments(folder):
    Path("square.py").write_text(SQUARE)
    done = run("square.py", "--impl", "py:planted:transposed_implementation")
    assert done.exit_code == 0
    assert function(done.stdout) == [
        '    def main(A: T.Buffer((2, 2), "float32"), B: T.Buffer((), "float32")):',
        "        B[()] = A[0, 1]",
        "",
        "# `main` is called with",
        "#   float32[2, 2] compact, [[0.0, 1.0], [2.0, 3.0]]",
        "#   float32[] compact, 0.0",
    ]


def test_an_implementation_that_is_right_leaves_nothing_to_keep(folder):
    done = run("prog.py", "--impl", "interp")
    assert done.exit_code == 2
    assert "there is nothing to keep" in done.stderr


@pytest.mark.parametrize("options", [(), ("--while", "true", "--code", "RM304")])
def test_one_thing_is_to_be_kept(folder, options):
    done = run("prog.py", *options)
    assert done.exit_code == 2
    assert "say what to keep" in done.stderr
