"""Kernels as TVM lowers them for a GPU: every stage gives what NumPy does, and no detector objects, without a GPU.

Not run are the last stages: shuffles within a warp, and entries that ask for memory of the device. The matrix product,
which takes longest, runs at some stages only.
"""

import os
import subprocess
from pathlib import Path

import numpy as np
import pytest

from refmlc.lang.wellformed.reader_checks import read
from refmlc.observe.sanitize import LINTS, sanitize

PYTHON = os.environ.get("REFMLC_TVM_PYTHON", "")
PRINT = Path(__file__).parent / "tvm_side" / "gpu_stages.py"
SOME = ("ApplyDefaultSchedule", "UnifyThreadBinding", "LowerOpaqueBlock", "ThreadSync")
UNSUPPORTED = ("tvm_warp_", "device_type", "call_ffi_kernel")

pytestmark = pytest.mark.needs("tvm")


def softmax(x):
    exponents = np.exp(x - x.max(axis=1, keepdims=True))
    return exponents / exponents.sum(axis=1, keepdims=True)


MEANS = {"softmax": softmax, "rowsum": lambda x: x.sum(axis=1), "matmul": lambda a, b: a @ b}
SHAPES = {"softmax": ((2, 40),), "rowsum": ((2, 40),), "matmul": ((16, 16), (16, 16))}


@pytest.fixture(scope="module")
def stages(tmp_path_factory):
    directory = tmp_path_factory.mktemp("stages")
    subprocess.run([PYTHON, str(PRINT), str(directory)], check=True, stdout=subprocess.DEVNULL)
    return sorted(directory.glob("*.py"))


@pytest.mark.parametrize("kernel", sorted(MEANS))
def test_every_stage_means_the_same_and_is_defined(stages, kernel):
    rng = np.random.default_rng(3)
    given = [rng.standard_normal(shape).astype("float32") for shape in SHAPES[kernel]]
    expected = MEANS[kernel](*given)
    ran = []
    for path in stages:
        text = path.read_text(encoding="utf-8")
        if not path.name.startswith(kernel) or any(word in text for word in UNSUPPORTED):
            continue
        if kernel == "matmul" and not any(stage in path.name for stage in SOME):
            continue
        out = np.zeros_like(expected)
        report = sanitize(read(text, path.name), "main", [*given, out])
        found = {finding.diagnostic.code.id for finding in report.findings}
        assert (report.verdict, found - LINTS) == ("defined", set()), path.name
        assert np.allclose(out, expected, atol=1e-5), path.name
        ran.append(path.name)
    assert len(ran) >= (3 if kernel == "matmul" else 8)
    assert any("ThreadSync" in name for name in ran) == (kernel != "rowsum")
