"""Texts of TVM's modules with the scope of their shared scalars (`tvm_side/shared_scalars.py`)."""

import os
import subprocess
from pathlib import Path

import numpy as np
import pytest

from refmlc.lang.script import read
from refmlc.run.interp.machine import Machine

SIDE = Path(__file__).parent / "tvm_side"
SCRIPT = """
import tvm
from shared_scalars import with_scopes
from tvm.script import tirx as T

@T.prim_func
def main(A: T.Buffer((32,), "uint32")):
    T.device_entry()
    T.cta_id([1])
    t = T.thread_id([32])
    first = T.alloc_shared((1,), "uint32")
    given = T.alloc_shared((1,), "uint32")
    given[0] = T.uint32(5)
    if t == 0:
        first[0] = T.uint32(7)
        value = T.alloc_local((1,), "uint32")
        value[0] = given[0]
    else:
        value = T.alloc_shared((1,), "uint32")
        value[0] = given[0]
    T.cuda.cta_sync()
    A[t] = first[0] + given[0]

for module in (main, tvm.IRModule({"main": main})):
    text = with_scopes(module, module.script())
    tvm.ir.assert_structural_equal(tvm.script.from_source(text, s_tir=False), module)
print(with_scopes(main, main.script()))
"""


@pytest.mark.needs("tvm")
def test_each_scalar_has_its_scope_and_the_kernel_its_meaning(tmp_path):
    (tmp_path / "script.py").write_text(SCRIPT)
    command = [os.environ["REFMLC_TVM_PYTHON"], "script.py"]
    environment = {**os.environ, "PYTHONPATH": str(SIDE)}
    done = subprocess.run(
        command, cwd=tmp_path, env=environment, check=False, capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr
    lines = [line.strip() for line in done.stdout.splitlines()]
    assert [line for line in lines if line.startswith(("first", "given", "value"))] == [
        'first = T.shared_scalar("uint32")',
        'given = T.shared_scalar("uint32")',
        "given = T.uint32(5)",
        "first = T.uint32(7)",
        "value: T.uint32 = given",
        'value = T.shared_scalar("uint32")',
        "value = given",
    ]
    left = np.zeros(32, "uint32")
    Machine(read(done.stdout, "kernel.py")).call("main", [left])
    assert (left == 12).all()
