"""`refmlc why` and `refmlc replay`: what they print, what they exit with."""

import json
from pathlib import Path

import numpy as np
import planted
import pytest
from click.testing import CliRunner, Result

from refmlc.cli import main

GEMM = """
from tvm.script import tirx as T

@T.prim_func(s_tir=True)
def gemm(A: T.Buffer((2, 3), "float32"), B: T.Buffer((3, 2), "float32"), C: T.Buffer((2, 2), "float32")):
    for i, j, k in T.grid(2, 2, 3):
        with T.sblock("C"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                C[vi, vj] = T.float32(0)
            C[vi, vj] += A[vi, vk] * B[vk, vj]
"""


@pytest.fixture
def gemm(tmp_path: Path) -> Path:
    path = tmp_path / "gemm.py"
    path.write_text(GEMM)
    np.save(tmp_path / "a.npy", np.array([[1, 2, 3], [4, 5, 6]], "float32"))
    return path


def run(*args: object) -> Result:
    return CliRunner().invoke(main, [str(arg) for arg in args])


def test_why_prints_the_tree_back_to_the_arguments(gemm: Path) -> None:
    result = run("why", gemm, "--element", "C[1, 0]", "--input", f"A={gemm.parent / 'a.npy'}", "--input", "B=ones")
    assert result.exit_code == 0, result.output
    for part in (
        "C[1, 0] = 15.0",
        "block `C` (vi = 1, vj = 0, vk = 2)",
        "sum of 3 terms = 15.0  [exact 15, running error +0 ulp]",
        "first term (1 of 3): mul = 4.0  [exact]",
        "A[1, 2] = 6.0  [argument `A[1, 2]`]",
        "gemm.py:11:13",
    ):
        assert part in result.output, part


def test_why_gives_json(gemm: Path) -> None:
    args = ("why", gemm, "--element", "C[0,0]", "--input", "A=ones", "--input", "B=ones", "--json")
    data = json.loads(run(*args).output)
    assert (data["element"], data["value"], data["dtype"]) == ("C[0, 0]", 3.0, "float32")
    last = data["writes"][-1]
    assert (last["block"], last["axes"]) == ("C", {"vi": 0, "vj": 0, "vk": 2})
    load, product = last["value"]["parts"]
    assert load["from"] == {"write": data["writes"][-2]["number"]}
    assert product["parts"][0]["from"] == {"source": "argument", "name": "A[0, 2]"}
    assert product["rounding"] == {"rule": "rounded once", "exact": "1", "error_ulps": 0.0}


@pytest.mark.parametrize(
    ("element", "message"),
    [("C[9,9]", "there is no element"), ("C[", "is not an element"), ("", "is not an element"), ("X[0]", "no `X[0]`")],
)
def test_an_element_that_is_none_is_bad_usage(gemm: Path, element: str, message: str) -> None:
    result = run("why", gemm, "--element", element, "--input", "A=ones", "--input", "B=ones")
    assert result.exit_code == 2
    assert message in result.output


def test_a_program_without_meaning_is_told_as_such(gemm: Path) -> None:
    gemm.write_text(GEMM.replace("A[vi, vk]", "A[vi, vk + 1]"))
    result = run("why", gemm, "--element", "C[0,0]", "--input", "A=ones", "--input", "B=ones")
    assert result.exit_code == 1
    assert "RM304" in result.output


CASE = """
format = 1
id = "by-hand"
clauses = ["NUM-101"]
features = ["float32", "tensorir"]
dialect = "0.27"
provenance = "by hand"
implementation = "interp"
func = "main"
module = '''
from tvm.script import tirx as T

@T.prim_func
def main(A: T.Buffer((2,), "float32")):
    for i in range(2):
        A[i] = A[i] + T.float32(1)
'''

[[calls]]
args = [{ dtype = "float32", shape = [2], values = ["0x1p0", "nan"] }]

[calls.assert]
kind = "return"
parts = [{ label = "`A`", rule = "exact", dtype = "float32", shape = [2], values = ["0x1p1", "nan"] }]
"""


@pytest.mark.needs("compiler")
def test_a_case_written_by_hand_is_replayed(tmp_path: Path) -> None:
    path = tmp_path / "case.toml"
    path.write_text(CASE)
    result = run("replay", path)
    assert result.exit_code == 0, result.output
    assert result.output.splitlines() == ["by-hand: defined", "interp, call 1: equal"]
    data = json.loads(run("replay", path, "--impl", "native", "--json").output)
    assert (data["id"], data["meaning"], data["broken"], data["findings"]) == ("by-hand", ["defined"], [], [])
    assert list(data["verdicts"].values()) == [["equal"]]


def test_a_case_that_records_something_else_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "case.toml"
    path.write_text(CASE.replace('"0x1p1", "nan"', '"0x1p1", "inf"'))
    result = run("replay", path)
    assert result.exit_code == 2
    assert "`A`: element 1 is nan, recorded is inf" in result.output


def test_a_wrong_implementation_is_a_finding(tmp_path: Path) -> None:
    """One that leaves out the last iteration of a loop: what was 8 stays 8."""
    path = tmp_path / "case.toml"
    longer = CASE.replace("(2,)", "(3,)").replace("range(2)", "range(3)").replace("[2]", "[3]")
    path.write_text(longer.replace('"nan"]', '"nan", "0x1p3"]', 1).replace('"nan"] }', '"nan", "0x1.2p3"] }'))
    result = run("replay", path, "--impl", planted.spec(planted.off_by_one))
    assert result.exit_code == 1, result.output
    assert "wrong: [2] is 8.0, expected 9.0" in result.output
    assert "error[RM701]" in result.output


def test_what_is_no_case_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "case.toml"
    path.write_text("id = 1")
    assert run("replay", path).exit_code == 2
    assert run("replay", tmp_path / "none.toml").exit_code == 2
