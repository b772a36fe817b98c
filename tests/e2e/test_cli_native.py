"""`refmlc native`: the C of a module, piped and for machines, and what is said of each block."""

import importlib
import json
import shutil
import subprocess

import pytest
from click.testing import CliRunner
from needs import COMPILERS, need

from refmlc.cli import main
from refmlc.cli.console import Terminal
from refmlc.native.compile.compiler import HEADERS

native = importlib.import_module("refmlc.cli.native")  # the package has the command under this name

GEMM = """
@T.prim_func
def gemm(A: T.Buffer((4, 8), "float32"), B: T.Buffer((8, 4), "float32"), C: T.Buffer((4, 4), "float32")):
    for i, j, k in T.grid(4, 4, 8):
        with T.block("C"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                C[vi, vj] = T.float32(0)
            C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]
"""
OPEN = """
@T.prim_func
def twice(a: T.handle, b: T.handle):
    n = T.int64()
    A = T.match_buffer(a, (n,), "float32")
    B = T.match_buffer(b, (n,), "float32")
    for i in range(n):
        with T.block("B"):
            vi = T.axis.spatial(n, i)
            B[vi] = A[vi] * T.float32(2)
"""
GATHER = """
@I.ir_module
class Module:
    @T.prim_func
    def gather(A: T.Buffer((8,), "float32"), I: T.Buffer((4,), "int32"), B: T.Buffer((4,), "float32")):
        for i in range(4):
            with T.block("B"):
                vi = T.axis.spatial(4, i)
                B[vi] = A[I[vi]]

    @T.prim_func
    def calls(A: T.Buffer((8,), "float32")):
        T.evaluate(T.call_packed("env.somebody", A.data))
"""


def refmlc(*args):
    return CliRunner().invoke(main, [str(arg) for arg in args])


@pytest.fixture
def folder(tmp_path):
    for name, text in (("gemm", GEMM), ("gather", GATHER), ("open", OPEN)):
        (tmp_path / f"{name}.py").write_text(text)
    return tmp_path


def blocks(folder, *args):
    done = refmlc("native", *args, "--json")
    assert done.exit_code == 0, done.output
    return {block["name"]: block for unit in json.loads(done.stdout)["functions"] for block in unit["blocks"]}


def test_what_is_piped_is_c(folder):
    done = refmlc("native", folder / "gemm.py")
    assert done.exit_code == 0, done.output
    source = folder / "gemm.c"
    source.write_text(done.stdout)
    need("compiler")
    compiler = next(filter(None, map(shutil.which, COMPILERS)))
    isa = json.loads(refmlc("native", folder / "gemm.py", "--json").stdout)["isa"]
    flags = {"avx512": ["-march=skylake-avx512"], "avx2": ["-mavx2", "-mf16c"]}.get(isa, [])
    checked = [compiler, "-std=c11", *flags, f"-I{HEADERS}", "-fsyntax-only", str(source)]
    assert subprocess.run(checked, capture_output=True, text=True, check=False).stderr == ""
    assert "gemm.py:" in done.stdout  # the place of each statement


@pytest.mark.parametrize(("best", "grade"), [("guarded", "guarded"), ("unchecked", "unchecked")])
def test_the_best_grade_is_the_one_asked_for(folder, best, grade):
    found = blocks(folder, folder / "gemm.py", "--best", best)["C"]
    assert found["grade"] == grade
    assert (found["checks"] > 0) == (grade == "guarded")
    assert found["place"].startswith("gemm.py:5") or ":5:" in found["place"]


def test_what_cannot_be_proved_is_checked_and_why_says_it(folder):
    assert blocks(folder, folder / "gather.py", "--func", "gather")["B"]["grade"] == "guarded"
    done = refmlc("native", folder / "gather.py", "--why")
    assert "checked at run time, needs a proof: " in done.stdout
    assert "#include" not in done.stdout


def test_declined_functions_are_named_with_reason_and_place(folder):
    data = json.loads(refmlc("native", folder / "gather.py", "--json").stdout)
    (declined,) = data["declined"]
    assert declined["name"] == "calls"
    assert declined["reason"]
    assert ":1" in declined["place"]
    assert "calls" in refmlc("native", folder / "gather.py").stdout
    assert f"interpreted, because {declined['reason']}" in refmlc("native", folder / "gather.py", "--why").stdout


def test_another_instruction_set(folder):
    data = json.loads(refmlc("native", folder / "gemm.py", "--isa", "none", "--json").stdout)
    assert data["isa"] == "none"
    assert "vector_size" not in data["text"]


def test_a_function_that_is_not_there(folder):
    done = refmlc("native", folder / "gather.py", "--func", "scatter", "--json")
    assert done.exit_code == 2
    error = json.loads(done.stdout)["error"]
    assert error["code"] == "RM112"
    assert "gather, calls" in json.dumps(error)


def test_an_open_dimension_keeps_the_order_and_a_known_one_frees_it(folder):
    path = folder / "open.py"
    assert blocks(path, path)["B"]["grade"] == "unchecked"
    assert "`n`" in " ".join(blocks(path, path)["B"]["wanting"])
    assert blocks(path, path, "--func", "twice", "--dim", "n=64")["B"]["grade"] == "reordered"


@pytest.mark.parametrize(
    ("arguments", "part"),
    [
        (("--dim", "n=64"), "--func"),
        (("--func", "twice", "--dim", "m=64"), "it has n"),
        (("--func", "twice", "--dim", "n=many"), "natural number"),
    ],
)
def test_dimensions_that_make_no_sense_are_bad_usage(folder, arguments, part):
    done = refmlc("native", folder / "open.py", *arguments, "--json")
    assert done.exit_code == 2
    assert part in done.stdout


def test_what_is_said_on_a_terminal_is_coloured(folder, monkeypatch):
    monkeypatch.setattr(native, "out", Terminal(force_terminal=True, width=100, color_system="truecolor"))
    done = refmlc("native", folder / "gemm.py")
    assert "\x1b[" in done.stdout
    assert "reordered" in done.stdout
    assert "/*\n * gemm" not in done.stdout
