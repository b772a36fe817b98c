"""The table of the operators that TVM registers for PTX (`ptx_table.py`) counts what is executed."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

TABLE = Path(__file__).parent / "ptx_table.py"

pytestmark = pytest.mark.needs("tvm")


def test_operators_are_executed_or_unsupported():
    command = [sys.executable, str(TABLE), "--tvm", os.environ["REFMLC_TVM_PYTHON"], "--calls", "2"]
    done = subprocess.run(
        [*command, "--names", "^(add|sub_half|bfe|ld|ex2|cvt_rs_f8x4_f32)$", "--reasons"],
        check=False,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stdout
    assert "6 of 7 operators are executed" in done.stdout
    assert "0 are undefined, whatever their operands" in done.stdout
    assert "1 unsupported, of 1 families (cvt): " in done.stdout
    assert "cvt_rs_f8x4_f32: unsupported" in done.stdout
