"""The programs of the benchmark are what TVM 0.27 prints, to the letter; and TVM takes part in the table."""

import json
import os
import subprocess
from pathlib import Path

import pytest
from click.testing import CliRunner

from refmlc.cli import main
from refmlc.tools.bench import texts
from refmlc.tools.bench.workloads import conv2d, elementwise, exp, layernorm, matmul, matmul_int8, softmax

PYTHON = os.environ.get("REFMLC_TVM_PYTHON", "")
PRINT = Path(__file__).parent / "tvm_side" / "bench_texts.py"
MLP = Path(texts.__file__).parent / "mlp.tvmscript"

pytestmark = pytest.mark.needs("tvm")

OURS = {
    "matmul": lambda: matmul(512, 512, 512).text,
    "matmul_nt": lambda: texts.program("matmul_nt", m=512, n=512, k=512, dtype="float32"),
    "matmul_int8": lambda: matmul_int8(512, 512, 512).text,
    "elementwise": lambda: elementwise(1 << 22).text,
    "softmax": lambda: softmax(1024, 1024).text,
    "layernorm": lambda: layernorm(1024, 1024).text,
    "conv2d": lambda: conv2d(64, 64, 56, 56).text,
    "exp": lambda: exp(1 << 22).text,
    "mlp": lambda: texts.program("mlp"),
}


@pytest.fixture(scope="module")
def printed():
    done = subprocess.run([PYTHON, str(PRINT), str(MLP)], capture_output=True, text=True, check=True, timeout=300)
    return json.loads(done.stdout)


@pytest.mark.parametrize(
    ("name", "script", "printed_file"),
    [
        ("softmax_cuda", "gpu_stages.py", "softmax-*-StorageRewrite.py"),
        ("paged_decode_cuda", "kv_kernels.py", "cuda/decode.py"),
    ],
)
def test_kernels_with_barriers_are_what_tvm_prints(tmp_path, name, script, printed_file):
    targets = ["cuda"] if script == "kv_kernels.py" else []
    command = [PYTHON, str(PRINT.parent / script), str(tmp_path), *targets]
    subprocess.run(command, capture_output=True, check=True, timeout=300)
    (path,) = tmp_path.glob(printed_file)
    assert texts.program(name).strip() == path.read_text("utf-8").strip()


@pytest.mark.parametrize("name", OURS)
def test_the_text_is_what_tvm_prints(printed, name):
    assert OURS[name]().strip() == printed[name].strip()


def test_tvm_takes_part():
    done = CliRunner().invoke(
        main, ["bench", "native", "--tiny", "--rounds", "1", "--only", "3,4", "--tvm", PYTHON, "--json"]
    )
    rows = json.loads(done.stdout)["rows"]
    assert [row["failed"] for row in rows] == [""] * len(rows)
    assert sum("tvm" in row["nanoseconds"] for row in rows) == 4
