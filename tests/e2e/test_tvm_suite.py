"""The command that puts TVM's own tests to refmlc, on a file of tests written here."""

import json
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

PYTHON = os.environ.get("REFMLC_TVM_PYTHON", "")
COMMAND = Path(__file__).parent / "tvm_suite.py"

pytestmark = pytest.mark.needs("tvm")

TESTS = """
import ctypes

import pytest
import tvm
from tvm.script.parser import ir as I
from tvm.script.parser import relax as R
from tvm.script.parser import tirx as T


@T.prim_func(s_tir=True)
def at_import(a: T.Buffer((4,), "int32")):
    a[0] = 1


@pytest.mark.skip(reason="no device")
def test_skipped():
    @I.ir_module
    class Module:
        @R.function
        def main(x: R.Tensor((4,), "float32")):
            return R.add(x, x)

    tvm.compile(Module, "llvm")
    raise AssertionError


def test_fault():
    ctypes.string_at(0)


def test_after_the_fault():
    @T.prim_func(s_tir=True)
    def wrong(a: T.Buffer((4,), "int32")):
        a[0] = T.int32(2)

    @I.ir_module
    class OnMeshes:
        I.module_attrs({"device_num": 2})
        I.module_global_infos({"mesh": [R.device_mesh((2,), I.Range(0, 2))]})

        @R.function
        def main(x: R.DTensor((4,), "float32", "mesh[0]", "R")) -> R.DTensor((4,), "float32", "mesh[0]", "R"):
            y: R.DTensor((4,), "float32", "mesh[0]", "R") = R.add(x, x)
            return y
"""


@pytest.fixture(scope="module")
def has_pytest():
    done = subprocess.run([PYTHON, "-c", "import pytest"], check=False, capture_output=True)
    if done.returncode:
        pytest.skip("the Python with apache-tvm has no pytest")


@pytest.mark.usefixtures("has_pytest")
def test_texts_of_a_file_of_tests_get_their_verdicts(tmp_path):
    tests = tmp_path / "tests" / "tirx"
    tests.mkdir(parents=True)
    (tests / "test_here.py").write_text(TESTS)
    command = [sys.executable, str(COMMAND), "--tvm", PYTHON, "--tests", str(tests.parent)]
    command += ["--corpus", str(tmp_path / "corpus"), "--verdicts", str(tmp_path / "verdicts.jsonl")]
    for _ in range(2):  # the second run finds all done
        done = subprocess.run(command, check=False, capture_output=True, text=True, timeout=300)
        assert done.returncode == 0, done.stdout + done.stderr
        outcomes = [json.loads(line) for line in (tmp_path / "verdicts.jsonl").read_text().splitlines()]
        assert Counter(outcome["verdict"] for outcome in outcomes) == {"right": 4}
    texts = "".join(path.read_text() for path in (tmp_path / "corpus").glob("*.py"))
    assert all(word in texts for word in ("def at_import", "R.add(x, x)", "def wrong", "device_mesh"))
