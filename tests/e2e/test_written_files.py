"""The command that reads files as people wrote them and compares with TVM, on a file written here."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from layout_texts import TEXT as LAYOUTS

COMMAND = Path(__file__).parent / "written_files.py"
TEXT = """
from tvm.script import ir as I, tirx as T

N = 16
SHAPE = (N, N // 2)


def make(n, dtype="float32"):
    width = f"{n * 2}"

    @T.prim_func(s_tir=True)
    def fill(A: T.Buffer((n, int(width)), dtype)):
        for i, j in T.grid(n, int(width)):
            with T.sblock("fill"):
                vi, vj = T.axis.remap("SS", [i, j])
                A[vi, vj] = T.Cast(dtype, vi)

    return fill


small = make(4)


@T.inline
def store(A, i, value):
    with T.sblock("store"):
        vi = T.axis.spatial(16, i)
        A[vi, 0] = value


def test_module():
    step = sum(x for x in SHAPE if x > 8)

    @I.ir_module
    class Module:
        @T.prim_func(s_tir=True)
        def main(A: T.Buffer(SHAPE, "int32")):
            for i in range(step):
                store(A, i, step)
            for i in range(min(SHAPE)):
                store(A, i, 1 if step > 3 else 2)

    assert Module


def test_unknown(n):
    @T.prim_func(s_tir=True)
    def unknown(A: T.Buffer((n,), "int32")):
        A[0] = 1
"""


def run(file, *options):
    command = [sys.executable, str(COMMAND), *options, str(file)]
    return subprocess.run(command, check=False, capture_output=True, text=True, timeout=300)


def test_what_is_read_and_refused_is_counted(tmp_path):
    file = tmp_path / "written.py"
    file.write_text(TEXT)
    verdicts = tmp_path / "verdicts.jsonl"
    expected = ["2 closed definitions: 2 read (100.0 %)", "1 files, 3 definitions: 2 read, 1 refused"]
    for _ in range(2):  # the second time it is known
        done = run(file, "--verdicts", str(verdicts))
        assert done.returncode == 0, done.stderr
        assert done.stdout.splitlines()[-2:] == expected
        assert len(verdicts.read_text().splitlines()) == 1
    (tmp_path / "other.py").write_text(TEXT)
    done = run(tmp_path, "--verdicts", str(verdicts), "--time", "-1")
    assert done.stdout.splitlines()[-3:] == [expected[0], "1 files are left", expected[1]]


@pytest.mark.needs("tvm")
def test_tvm_reads_the_same(tmp_path):
    file = tmp_path / "written.py"
    file.write_text(TEXT)
    done = run(file, "--tvm", os.environ["REFMLC_TVM_PYTHON"])
    assert done.returncode == 0, done.stdout
    assert done.stdout.splitlines()[-1] == "1 files, 3 definitions: 2 equal, 1 refused"


@pytest.mark.needs("tvm")
def test_tvm_derives_the_same_layouts_and_specialises_the_same(tmp_path):
    file = tmp_path / "layouts.py"
    file.write_text(LAYOUTS)
    done = run(file, "--tvm", os.environ["REFMLC_TVM_PYTHON"])
    assert done.returncode == 0, done.stdout
    assert done.stdout.splitlines()[-1] == "1 files, 7 definitions: 7 equal"


ARRAYS = """
import numpy as np
import tvm
from tvm.script import ir as I, relax as R, tirx as T


@I.ir_module
class Arrays:
    @R.function
    def main(x: R.Tensor((2, 2), "float32")):
        with R.dataflow():
            a = R.add(x, R.const(np.array([[1.5, -2], [3, 4]], np.float32)))
            b = R.multiply(a, R.const(np.eye(2, k=1, dtype="float32")))
            c = R.add(b, R.const(np.arange(4, dtype=np.float32).reshape((2, 2))))
            d = R.minimum(c, R.const(np.finfo(np.float32).max, "float32"))
            e = R.add(d, R.const(np.full((2, 1), np.pi)))
            f = R.take(e, R.const(np.array([1, 0])), axis=0)
            g = R.full(R.shape([2, 2]), R.const(np.iinfo(np.int64).max, "int64"), "int64")
            h = R.add(f, R.const(np.float32(0.1)))
            k = R.add(h, R.const(np.ones((2, 2)).astype("float16"), "float32"))
            m = R.hint_on_device(k, tvm.cuda(1))
            gv = (m, g)
            R.output(gv)
        return gv

    @T.prim_func(s_tir=True)
    def lengths(A: T.Buffer((4, 5, 6), "int32")):
        for i in range(len(A.shape)):
            A[i, 0, 0] = len(A.shape) + 1
"""


@pytest.mark.needs("tvm")
def test_tvm_makes_the_same_constants_of_arrays_and_devices(tmp_path):
    file = tmp_path / "arrays.py"
    file.write_text(ARRAYS)
    done = run(file, "--tvm", os.environ["REFMLC_TVM_PYTHON"])
    assert done.returncode == 0, done.stdout
    assert done.stdout.splitlines()[-1] == "1 files, 1 definitions: 1 equal"
