"""Contracts at work: what `check` calls programs with, what it says of planted faults, and whose fault a call is."""

import json
from importlib.resources import files

import jsonschema
import numpy as np
import pytest

import refmlc
from refmlc.diag import RefmlcError
from refmlc.oracle.check import check
from refmlc.oracle.contracts.assumptions import assumed_beside

HEAD = """
from tvm.script import ir as I, tirx as T
@I.ir_module
class Module:
    @T.prim_func
    def main(indptr: T.Buffer(("n + 1",), "int32"), idx: T.Buffer(("nnz",), "int32"),
             A: T.Buffer(("m",), "float32"), B: T.Buffer(("n",), "float32")):
        n, nnz, m = T.int32(), T.int32(), T.int32()
        for i in range(n):
            B[i] = T.float32(0)
            for j in range(indptr[i + 1] - indptr[i]{more}):
                B[i] = B[i] + A[idx[indptr[i] + j]{shift}]
"""
TAIL = """
from tvm.script import ir as I, tirx as T
@I.ir_module
class Module:
    @T.prim_func
    def main(idx: T.Buffer(("n",), "int32"), A: T.Buffer(("n",), "float32"), B: T.Buffer(("n",), "float32")):
        n = T.int32()
        for o, i in T.grid((n + 15) // 16, 16):
            B[o * 16 + i] = A[idx[o * 16 + i]]
"""


def checked(text, **options):
    return check(text, implementations=["interp"], pairs=False, budget=0.5, **options)


def codes(report):
    return {finding.code.id for finding in report.findings}


def test_a_right_program_is_not_accused_and_says_its_contracts():
    report = checked(HEAD.format(more="", shift=""))
    assert report.ok
    assert [line for line in report.contracts if "<text>" in line][:2] == [
        "main: contract: indptr: ascending (from <text>:11)",
        "main: contract: 0 <= indptr <= nnz (from <text>:12)",
    ]
    assert "main: 3 contracts inferred from 5 uses of values" in report.contracts


@pytest.mark.parametrize(
    "text",
    [HEAD.format(more=" + 1", shift=""), HEAD.format(more="", shift=" + 1"), HEAD.format(more="", shift=" - 1"), TAIL],
    ids=["a segment too long", "idx + 1", "idx - 1", "no guard of the tail"],
)
def test_a_planted_fault_is_found_inside_of_its_contracts(text):
    assert "RM304" in codes(checked(text))


ROIS = """
from tvm.script import ir as I, tirx as T
@I.ir_module
class Module:
    @T.prim_func
    def main(rois: T.Buffer((6, 5), "{dtype}"), A: T.Buffer((3,), "float32"), B: T.Buffer((6,), "float32")):
        for i in range(6):
            B[i] = A[T.Cast("int32", rois[i, 0]){shift}] + T.Cast("float32", rois[i, 1])
"""


@pytest.mark.parametrize("dtype", ["float32", "float16", "float64"])
def test_a_float_that_is_an_index_stays_inside_and_a_shift_of_it_is_found(dtype):
    report = checked(ROIS.format(dtype=dtype, shift=""))
    assert report.ok
    assert "main: contract: -1 < rois[:, 0] < 3 (from <text>:8)" in report.contracts
    assert "RM304" in codes(checked(ROIS.format(dtype=dtype, shift=" + 1")))
    assert "RM304" in codes(checked(ROIS.format(dtype=dtype, shift=" - 1")))


def test_a_relation_of_sizes_is_a_contract_only_if_it_is_written():
    report = checked(TAIL, assume=["n % 16 == 0"])
    assert report.ok
    assert all(call.sizes["n"] % 16 == 0 for row in report.rows for call in row.program.calls)


def test_what_is_undefined_outside_is_information_unless_strict():
    text = HEAD.format(more="", shift="")
    report = check(text, implementations=["interp"], pairs=False)
    assert report.status == 0
    assert report.outside
    assert any("undefined outside the contract" in remark for remark in report.remarks)
    assert check(text, implementations=["interp"], pairs=False, strict=True).status == 1


def test_arguments_that_violate_a_written_contract_are_the_fault_of_the_caller():
    indptr = np.array([3, 1, 2], "int32")
    text = HEAD.format(more="", shift="")
    with pytest.raises(RefmlcError) as failure:
        checked(text, func="main", inputs={"indptr": indptr}, assume=["indptr: ascending"])
    assert failure.value.diagnostic.code.id == "RM115"
    assert "`ascending` does not hold for indptr = [3, 1, 2]" in failure.value.diagnostic.message


def test_a_contract_of_no_function_is_refused():
    with pytest.raises(RefmlcError, match="speaks of q"):
        checked(TAIL, assume=["q < 3"])


FILE = """
assume = ["indptr: ascending"]
[functions.main]
assume = ["n % 16 == 0"]
"""


def test_the_file_beside_a_module(tmp_path):
    (tmp_path / "gemm.contract.toml").write_text(FILE, encoding="utf-8")
    rows = assumed_beside(tmp_path / "gemm.py")
    assert [(row.text, row.func, row.source) for row in rows] == [
        ("indptr: ascending", "", "gemm.contract.toml"),
        ("n % 16 == 0", "main", "gemm.contract.toml"),
    ]
    schema = json.loads((files("refmlc.oracle.contracts") / "schema.json").read_text(encoding="utf-8"))
    jsonschema.validate({"assume": ["a < b"], "functions": {"main": {"assume": []}}}, schema)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({"asume": []}, schema)


@pytest.mark.parametrize(
    "text", ["assume = 3", "asume = []", "[functions]\nmain = 3", "[functions.main]\nx = 1", "a = ["]
)
def test_another_file_is_refused(tmp_path, text):
    (tmp_path / "m.contract.toml").write_text(text, encoding="utf-8")
    with pytest.raises(RefmlcError) as failure:
        assumed_beside(tmp_path / "m.py")
    assert failure.value.diagnostic.code.id == "RM109"


def test_an_equivalent_program_that_needs_more_is_no_equivalent():
    before = HEAD.format(more="", shift="")
    refmlc.testing.assert_equivalent(before, before, calls=8)
    with pytest.raises(RefmlcError):
        refmlc.testing.assert_equivalent(before, HEAD.format(more="", shift=" + 1"), calls=8)
