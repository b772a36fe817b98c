"""The programs: their text is read, and the interpreter gives what their witness in NumPy says."""

import json
from dataclasses import replace

import numpy as np
import pytest
import threadpoolctl

from refmlc.tools.bench import numpy_peer, witness
from refmlc.tools.bench.session import OURS, TINY, BenchSession, BenchSubject
from refmlc.tools.bench.timing import LocalCandidate
from refmlc.tools.bench.witness import complaint
from refmlc.tools.bench.workloads import (
    conv2d,
    elementwise,
    exp,
    extents,
    layernorm,
    matmul,
    matmul_int8,
    mlp,
    softmax,
)

WORKLOADS = [
    matmul(3, 4, 5),
    matmul(3, 4, 5, "float16"),
    matmul(3, 4, 5, "bfloat16"),
    matmul(2, 3, 4, "float64"),
    matmul_int8(3, 4, 5),
    conv2d(2, 3, 4, 5),
    softmax(3, 4),
    layernorm(3, 5),
    elementwise(17),
    exp(23),
    mlp(6, 4, 3),
]


@pytest.mark.parametrize("workload", WORKLOADS, ids=lambda workload: workload.name)
def test_interpreter_and_witness_agree_to_the_bit(workload):
    subject = BenchSubject(workload, "interp")
    subject.run()
    assert complaint(OURS, subject.result(), workload.expected()) == ""


@pytest.mark.parametrize("workload", WORKLOADS, ids=lambda workload: workload.name)
def test_numpy_is_within_its_bound(workload):
    out = np.zeros_like(workload.output)
    workload.numpy(out)()
    assert complaint("numpy", out, workload.expected(), workload.numpy_bound) == ""


def test_witnesses_by_hand():
    a, b = np.array([[1, 2]], np.float32), np.array([[3], [4]], np.float32)
    assert witness.matmul(a, b, np.dtype(np.float32)).tolist() == [[11.0]]
    assert witness.elementwise(np.array([1, -1], np.float32)).tolist() == [1.3125, 0.0]
    assert witness.exp(np.array([0, 200, -200], np.float32)).tolist() == [1.0, np.inf, 0.0]
    ones = np.ones((1, 1, 2, 2), np.float32)
    assert witness.conv2d(ones, np.ones((1, 1, 3, 3), np.float32)).tolist() == [[[[4.0, 4.0], [4.0, 4.0]]]]
    assert witness.softmax(np.array([[5, 5]], np.float32)).tolist() == [[0.5, 0.5]]
    sums = np.array([[1, 2.0**-24, 2.0**-24]], np.float32)
    assert witness.row_sums(sums).tolist() == [1.0]  # from the left: each half step is lost


def test_extents_in_short():
    assert [extents(512, 512, 512), extents(56, 56), extents(3, 5), extents(1, 2, 3)] == ["512³", "56²", "3x5", "1x2x3"]


def test_a_wrong_result_makes_the_row_fail_and_nothing_is_timed():
    workload = replace(matmul(3, 4, 5), expected=lambda: np.ones((3, 4), np.float32))
    found = BenchSession(1, tier="interp").compare(workload, ("tvm", "numpy"))
    row = found.row(2, "numpy", 2)
    assert row.verdict.value == "failed"
    assert row.measured is None
    assert "refmlc: 12 of 12 elements differ" in row.failed


def test_a_wrong_peer_makes_the_row_fail():
    workload = replace(matmul(3, 4, 5), numpy=lambda out: lambda: out.fill(1))
    found = BenchSession(1, tier="interp", blas="some").compare(workload, ("numpy",))
    assert found.row(2, "numpy", 2).failed.startswith("numpy: 12 of 12")


def test_all_who_take_part_are_timed():
    found = BenchSession(1, tier="interp", blas="some", sample=1).compare(
        matmul(2, 2, 2), ("numpy",), LocalCandidate("more", int)
    )
    assert set(found.timings) == {"refmlc", "numpy", "more"}
    row = found.row(2, "numpy", 2)
    assert row.measured == pytest.approx(found.timings["numpy"].nanoseconds / found.timings["refmlc"].nanoseconds)
    assert json.dumps(row.as_data())


def test_who_is_absent_is_not_measured_and_why():
    found = BenchSession(1, tier="interp", sample=1).compare(matmul(2, 2, 2), ("numpy", "tvm"))
    assert found.row(2, "numpy", 2).verdict.value == "not measured"
    assert "threadpoolctl" in found.row(2, "numpy", 2).note
    assert "--tvm" in found.row(2, "tvm", 2).note


def test_the_blas_of_numpy_is_named_and_held_to_one_thread():
    with threadpoolctl.threadpool_limits(None):
        assert numpy_peer.blas()
        assert {e["num_threads"] for e in threadpoolctl.threadpool_info() if e["user_api"] == "blas"} == {1}


def test_tiny_sizes_are_tiny():
    assert max(*TINY.matmul, TINY.rows, TINY.elementwise, TINY.exp) <= 64
