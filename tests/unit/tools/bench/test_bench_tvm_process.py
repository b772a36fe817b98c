"""The other process: what goes there and back, by a Python script that speaks as `tvm_side` does."""

import sys

import numpy as np
import pytest

from refmlc.diag import RefmlcError
from refmlc.tools.bench.session import BenchSession
from refmlc.tools.bench.tvm_process import TvmCandidate, TvmFailed, TvmProcess
from refmlc.tools.bench.workloads import matmul

STAND_IN = """#!{python}
import json, sys
import numpy as np
for line in sys.stdin:
    request = json.loads(line)
    match request["do"]:
        case "version":
            reply = {{"version": "0.0"}}
        case "load" if "refuse" in request["text"]:
            reply = {{"error": "not this one"}}
        case "load":
            a, b = (np.fromfile(s["path"], s["dtype"]).reshape(s["shape"]) for s in request["arrays"])
            sum((a[:, k, None] * b[k] for k in range(a.shape[1])), np.float32(0)).tofile(request["output"]["path"])
            reply = {{}}
        case "run":
            reply = {{"ns": 1000 * request["calls"]}}
        case "compile":
            reply = {{"ns": 7}}
        case "die":
            break
    print(json.dumps(reply), flush=True)
"""


@pytest.fixture
def python(tmp_path):
    path = tmp_path / "python"
    path.write_text(STAND_IN.format(python=sys.executable))
    path.chmod(0o755)
    return str(path)


def test_a_program_goes_there_and_its_result_comes_back(python):
    workload = matmul(3, 4, 5)
    with TvmProcess(python) as process:
        assert process.version == "0.0"
        result = process.load("p", workload.text, workload.func, workload.inputs, workload.output)
        assert TvmCandidate("tvm", process, "p").take(3) == 3000
        assert TvmCandidate("tvm", process, "p", "compile").take(3) == 21
    assert result.dtype == np.float32
    assert np.array_equal(result, workload.expected())


def test_it_takes_part(python):
    with TvmProcess(python) as process:
        found = BenchSession(1, tier="interp", tvm=process, sample=1).compare(matmul(3, 4, 5), ("tvm",))
    assert found.times("tvm") == {"tvm": 1000.0}
    assert found.row(2, "tvm", 120).measured == pytest.approx(1000 / found.times("refmlc")["refmlc"])


def test_what_it_refuses_is_not_measured(python):
    workload = matmul(3, 4, 5)
    object.__setattr__(workload, "text", workload.text + "# refuse")
    with TvmProcess(python) as process:
        found = BenchSession(1, tier="interp", tvm=process, sample=1).compare(workload, ("tvm",))
    assert found.row(2, "tvm", 120).note == "not this one"


def test_a_process_that_ends_says_so(python):
    with TvmProcess(python) as process, pytest.raises(TvmFailed, match="ended"):
        process.ask({"do": "die"})


@pytest.mark.parametrize("wrong", [sys.executable, "/does/not/exist"])
def test_a_python_without_tvm_is_bad_usage(wrong):
    with pytest.raises(RefmlcError) as caught:
        TvmProcess(wrong)
    assert caught.value.code.id == "RM112"
