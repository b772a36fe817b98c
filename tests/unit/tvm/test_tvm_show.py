"""`python -m refmlc.tvm --show FILE`: a file is executed, and its modules are printed as a text that refmlc reads."""

import subprocess
import sys

from refmlc.diag import Source
from refmlc.lang.script import program_of

TEXT = """
from tvm.script import ir as I, tirx as T

print("hello")
N = 4
N *= 2

def make(n):
    @T.prim_func(s_tir=True)
    def fill(A: T.Buffer((n,), "float32")):
        for i in range(n):
            A[i] = T.float32(1)
    return fill

small = make(N)
large = again = make(N * 2)

@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def main(A: T.Buffer((N,), "float32")):
        A[0] = T.float32(N)
"""


def run(*arguments):
    command = [sys.executable, "-m", "refmlc.tvm", *arguments]
    return subprocess.run(command, check=False, capture_output=True, text=True, timeout=100)


def test_modules_are_printed_and_read_again(tmp_path):
    file = tmp_path / "made.py"
    file.write_text(TEXT)
    done = run("--show", str(file))
    assert (done.returncode, done.stderr) == (0, "hello\n")
    program = program_of(Source("shown", done.stdout))
    assert {name: list(module.functions) for name, module in program.named.items()} == {
        "Module": ["main"],
        "Functions": ["small", "large"],
    }


def test_a_file_without_modules_says_so(tmp_path):
    file = tmp_path / "empty.py"
    file.write_text("x = 3\n")
    done = run("--show", str(file))
    assert (done.returncode, done.stdout) == (2, "")
    assert "leaves no module" in done.stderr


def test_help_is_printed():
    assert "--show" in run("--help").stdout
