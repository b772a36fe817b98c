"""The command that lets TVM's own tests for a GPU judge refmlc, on a file of tests written here."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

PYTHON = os.environ.get("REFMLC_TVM_PYTHON", "")
COMMAND = Path(__file__).parent / "device_kernels.py"

pytestmark = pytest.mark.needs("tvm")

TESTS = """
import numpy as np
import pytest
import tvm
from tvm.arith import Analyzer
from tvm.script import tirx as T
from tvm.testing import env


def compiled(add):
    @T.prim_func
    def main(A: T.Buffer((32,), "float16"), B: T.Buffer((32,), "float16")):
        T.device_entry()
        T.cta_id([1])
        t = T.thread_id([32])
        if t < 30:
            B[t] = A[t] + T.float16(add)

    return tvm.compile(tvm.IRModule({"main": main}), target=tvm.target.Target("cuda"), tir_pipeline="tirx")


def called(add, *names):
    executable = compiled(add)
    a = np.random.rand(32).astype("float16")
    A, B = (tvm.runtime.tensor(array, tvm.cuda(0)) for array in (a, np.zeros_like(a)))
    (executable[names[0]] if names else executable)(A, B)
    return a[:30], B.numpy()[:30]


@pytest.mark.gpu
@pytest.mark.skipif(not env.has_cuda_compute(9), reason="need cuda compute >= 9.0")
@pytest.mark.parametrize("add", [1, 2])
def test_right(add):
    a, b = called(add, "main")
    np.testing.assert_allclose(b, a + np.float16(add), rtol=1e-3)


def test_right_in_the_first_element_alone():
    a, b = called(3)
    assert abs(b[0] - a[0] - 3) < 0.01


def test_whatever():
    called(3)


def test_wrong():
    a, b = called(1)
    np.testing.assert_allclose(b, a, rtol=1e-3)


def test_race():
    @T.prim_func
    def main(B: T.Buffer((1,), "int32")):
        T.device_entry()
        T.cta_id([1])
        t = T.thread_id([32])
        B[0] = B[0] + t

    executable = tvm.compile(tvm.IRModule({"main": main}), target=tvm.target.Target("cuda"), tir_pipeline="tirx")
    b = tvm.runtime.tensor(np.zeros(1, "int32"), tvm.cuda(0))
    executable(b)
    assert b.numpy()[0] == 31


def test_not_compiled():
    @T.prim_func
    def main(B: T.Buffer((32,), "float32")):
        T.device_entry()
        T.cta_id([1])
        B[T.thread_id([32])] = T.float32(1)

    target = tvm.target.Target("cuda")
    executable = tvm.compile(tvm.IRModule({"main": main}), target=target, tir_pipeline="nonesuch")
    b = tvm.runtime.tensor(np.zeros(32, "float32"), tvm.cuda(0))
    executable(b)
    assert (b.numpy() == 1).all()


def test_refused():
    with pytest.raises(ValueError, match="nonesuch"):
        tvm.compile(tvm.IRModule({}), target=tvm.target.Target("cuda"), tir_pipeline="nonesuch")


def test_source():
    assert "__global__" in compiled(1).mod.imports[0].inspect_source()


def test_other_failure():
    raise ValueError("of its own")


def test_skipped():
    pytest.skip("not here")


def test_uninitialised():
    @T.prim_func
    def main(B: T.Buffer((32,), "float32")):
        T.device_entry()
        T.cta_id([1])
        t = T.thread_id([32])
        S = T.alloc_shared((32,), "float32")
        B[t] = S[t]

    executable = tvm.compile(tvm.IRModule({"main": main}), target=tvm.target.Target("cuda"), tir_pipeline="tirx")
    try:
        executable(tvm.runtime.tensor(np.zeros(32, "float32"), tvm.cuda(0)))
    except Exception:
        pass
"""
EXPECTED = {
    **{("test_right[1]", way): "right" for way in ("tiles", "lowered")},
    **{("test_right[2]", way): "right" for way in ("tiles", "lowered")},
    **{("test_right_in_the_first_element_alone", way): "coarse" for way in ("tiles", "lowered")},
    **{("test_whatever", way): "blind" for way in ("tiles", "lowered")},
    **{("test_wrong", way): "wrong" for way in ("tiles", "lowered")},
    **{("test_uninitialised", way): "undefined" for way in ("tiles", "lowered")},
    **{("test_race", way): "undefined" for way in ("tiles", "lowered")},
    **{("test_not_compiled", way): "right" for way in ("tiles", "lowered")},
    ("test_refused", "tiles"): "uncalled",
    ("test_source", "tiles"): "uncalled",
    ("test_other_failure", "tiles"): "elsewhere",
    ("test_skipped", "tiles"): "skipped",
}


@pytest.fixture(scope="module")
def tests(tmp_path_factory):
    done = subprocess.run([PYTHON, "-c", "import pytest"], check=False, capture_output=True)
    if done.returncode:
        pytest.skip("the Python with apache-tvm has no pytest")
    folder = tmp_path_factory.mktemp("tests")
    (folder / "test_here.py").write_text(TESTS)
    return folder


def judged(tests, verdicts, *options):
    command = [sys.executable, str(COMMAND), "--tests", str(tests), "--tvm", PYTHON, "--verdicts", str(verdicts)]
    done = subprocess.run([*command, *options], check=False, capture_output=True, text=True, timeout=300)
    rows = [row for row in map(json.loads, verdicts.read_text().splitlines()) if row["way"] != "done"]
    return done, {(row["test"].partition("::")[2], row["way"]): row["verdict"] for row in rows}


def test_the_assertion_of_a_test_is_the_judge(tests, tmp_path):
    verdicts = tmp_path / "verdicts.jsonl"
    done, seen = judged(tests, verdicts, "--only", "test_right|test_whatever|test_not")
    assert done.returncode == 0, done.stdout + done.stderr
    assert seen == {key: verdict for key, verdict in EXPECTED.items() if verdict in ("right", "coarse", "blind")}
    done, seen = judged(tests, verdicts)  # the rest
    assert done.returncode == 1, done.stdout + done.stderr
    assert seen == EXPECTED
    before = verdicts.read_bytes()
    done, _ = judged(tests, verdicts)
    assert verdicts.read_bytes() == before
    assert "what 10 tests accept: 6 see it in one element, 2 in all, 2 never" in " ".join(done.stdout.split())
