"""`refmlc replay`: what `check --case` writes of each kind of finding is read and has the same verdict."""

import os
import re
from pathlib import Path

import pytest
from click.testing import CliRunner

from refmlc.cli import main

HALVE = """
@T.prim_func
def halve(A: T.Buffer((3,), "float32"), B: T.Buffer((3,), "float32")):
    for i in range(3):
        B[i] = A[i] * T.float32(0.5)
"""
BEYOND = HALVE.replace("A[i]", "A[i + 1]")
INFINITE = HALVE.replace("A[i] * T.float32(0.5)", "T.float32(1) / (A[i] - A[i])")
SHARED = """
@T.prim_func
def turn(A: T.Buffer((4,), "float32"), B: T.Buffer((4,), "float32")):
    shared = T.alloc_buffer((4,), "float32", scope="shared")
    for t in T.thread_binding(4, "threadIdx.x"):
        shared[t] = A[t]
        B[t] = shared[3 - t]
"""
OVERFLOWS = """
@T.prim_func
def add(A: T.Buffer((1,), "int32"), B: T.Buffer((1,), "int32")):
    for i in range(1):
        B[i] = A[i] * 0 + 2147483647 + 1
"""
MEAN = """
@R.function
def main(x: R.Tensor((2,), "float32")) -> R.Tensor((2,), "float32"):
    y = R.add(x, x)
    return y
"""
KINDS = {
    "RM701": (HALVE, ["--impl", "py:replayed_ways:wrong"]),
    "RM702": (HALVE, ["--impl", "py:replayed_ways:promises"]),
    "RM703": (HALVE, ["--impl", "py:replayed_ways:crashes"]),
    "RM704": (HALVE, ["--impl", "py:replayed_ways:hangs"]),
    "RM705": (HALVE, ["--impl", "py:replayed_ways:contradicts"]),
    "RM707": (HALVE, ["--impl", "py:replayed_ways:refuses"]),
    "RM708": (HALVE, ["--impl", "py:replayed_ways:fails"]),
    "RM709": (MEAN, ["--impl", "py:replayed_ways:wrong", "--against", "reference"]),
    "RM710": (INFINITE, ["--impl", "interp", "--finite"]),
    "RM304": (BEYOND, ["--impl", "interp"]),
    "RM321": (SHARED, ["--impl", "interp", "--as-written"]),
    "RM701 after RM306": (OVERFLOWS, ["--impl", "py:replayed_ways:goes_on", "--allow", "RM306"]),
}


@pytest.fixture
def written(tmp_path, monkeypatch):
    """Checks a text and gives the case of the finding with a code."""
    monkeypatch.syspath_prepend(str(Path(__file__).parent))

    def write(text, code, options):
        source = tmp_path / "module.py"
        source.write_text(text, encoding="utf-8")
        words = ["check", str(source), "--case", str(tmp_path / "found.toml"), *options]
        done = CliRunner().invoke(main, [*words, "--report", str(tmp_path / "found.html")])
        assert done.exit_code == 1, done.output
        cases = [path for path in tmp_path.glob("found*.toml") if path.read_text().startswith(f'id = "{code.lower()}-')]
        assert cases, done.output
        page = cases[0].with_suffix(".html")
        assert code in page.read_text(encoding="utf-8")
        return cases[0], done.output

    return write


@pytest.mark.parametrize("kind", KINDS)
def test_a_finding_of_each_kind_is_replayed(kind, written):
    text, options = KINDS[kind]
    code = kind.partition(" ")[0]
    case, told = written(text, code, options)
    (message,) = set(re.findall(rf"^error\[{code}\]: (.*)$", told, re.MULTILINE))
    done = CliRunner().invoke(main, ["replay", str(case), "--trust"])
    assert done.exit_code == 1, done.output
    assert f"error[{code}]: {message}" in done.stderr


def test_a_finding_on_an_importer_needs_the_model(written, tmp_path):
    case, _ = written(HALVE, "RM701", ["--impl", "py:replayed_ways:wrong"])
    other = tmp_path / "importer.toml"
    other.write_text(case.read_text().replace('id = "rm701-', 'id = "rm706-'), encoding="utf-8")
    done = CliRunner().invoke(main, ["replay", str(other), "--impl", "interp"])
    assert done.exit_code == 2
    assert "of which the case has the module alone" in done.stderr


def test_a_pipe_is_no_file_to_wait_for(tmp_path):
    os.mkfifo(tmp_path / "case.toml")
    done = CliRunner().invoke(main, ["replay", str(tmp_path / "case.toml")])
    assert done.exit_code == 2
    assert "it is a pipe" in done.stderr
