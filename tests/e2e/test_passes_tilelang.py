"""The passes of tilelang, executed stage by stage; a stage that is made wrong is noticed."""

import json
import subprocess
from pathlib import Path

import pytest
from click.testing import CliRunner
from needs import TILELANG_PYTHON

from refmlc.cli import main

pytestmark = [pytest.mark.needs("tilelang")]

ADAPTER = Path(__file__).parents[2] / "conformance/adapters/tilelang_passes.py"
PLAIN = """
from tvm.script import tirx as T

@T.prim_func
def main(A: T.Buffer((37,), "float32"), B: T.Buffer((37,), "float32")):
    for b in T.thread_binding(5, thread="blockIdx.x"):
        for t in T.thread_binding(8, thread="threadIdx.x"):
            if b * 8 + t < 37:
                for k in range(3):
                    B[b * 8 + t] = A[b * 8 + t] * T.float32(2) + T.Cast("float32", k)
"""
KERNEL = """
import tilelang.language as T

@T.prim_func
def scale(A: T.Tensor((64,), "float32"), B: T.Tensor((64,), "float32")):
    with T.Kernel(2, threads=32) as b:
        for i in T.Parallel(32):
            B[b * 32 + i] = A[b * 32 + i] * 2.0
"""


def test_a_module_goes_through_the_whole_pipeline(tmp_path):
    file = tmp_path / "plain.py"
    file.write_text(PLAIN, encoding="utf-8")
    command = ["passes", str(file), "--impl", f"cmd:{TILELANG_PYTHON} {ADAPTER}", "--json"]
    done = CliRunner().invoke(main, command)
    assert done.exit_code == 0, done.output
    rows = json.loads(done.stdout)["stages"]
    assert len(rows) > 10
    assert {row["verdict"] for row in rows} == {"same"}
    assert "tl.LowerDeviceKernelLaunch" in {row["pass"] for row in rows}


def stages_of(folder):
    """The snapshots of the kernel, as lines of JSON."""
    file = folder / "kernel.py"
    file.write_text(KERNEL, encoding="utf-8")
    command = [TILELANG_PYTHON, str(ADAPTER), str(file), "scale"]
    return subprocess.run(command, check=True, capture_output=True, text=True, timeout=300).stdout.splitlines()


@pytest.mark.parametrize("wrong", [False, True])
def test_a_kernel_is_compared_from_the_lowering_of_its_tiles_on(tmp_path, wrong):
    lines = stages_of(tmp_path)
    if wrong:  # the last stage but one with a text multiplies by 3
        last = max(number for number, line in enumerate(lines) if '"text"' in line)
        assert "T.float32(2.0)" in lines[last]
        lines[last] = lines[last].replace("T.float32(2.0)", "T.float32(3.0)")
    file = tmp_path / "stages.jsonl"
    file.write_text("\n".join(lines) + "\n", encoding="utf-8")
    done = CliRunner().invoke(main, ["passes", str(file), "--no-reduce"])
    assert done.exit_code == (1 if wrong else 0), done.output
