"""What the row `fma-twice` of `conformance/known` says of targets: with the instruction, T.fma is rounded once."""

from contextlib import closing
from pathlib import Path

import known
import needs
import numpy as np
import pytest

from refmlc.lang.dtypes import FLOAT32
from refmlc.lang.script import read
from refmlc.oracle.implementations.real_tvm import Tvm
from refmlc.run.memory.tensor import Tensor

ROW = next(row for row in known.ROWS if row["id"] == "fma-twice")
CPU = Path("/proc/cpuinfo")


def result(options):
    """What TVM with these options gives for the program of the row."""
    args = [Tensor.from_numpy(np.array(values, "float32"), FLOAT32) for _, values in ROW["input"]]
    with closing(Tvm(needs.TVM_PYTHON + options)) as tvm:
        prepared = tvm.prepare(read(ROW["module"]))
        return prepared.run("main", args).args[-1].array.tolist()


@pytest.mark.needs("tvm")
def test_the_default_target_rounds_twice():
    assert result("") == ROW["got"][1]


@pytest.mark.needs("tvm")
@pytest.mark.skipif(not CPU.exists() or " fma " not in CPU.read_text(), reason="the processor has no such instruction")
def test_a_target_with_the_instruction_rounds_once():
    assert "-mcpu=haswell" in ROW["why"]
    assert result(",target=llvm -mcpu=haswell") == ROW["expected"][1]
