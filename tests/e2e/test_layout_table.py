"""The command that asks TVM about random layouts, on a small sample."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

COMMAND = Path(__file__).parent / "layout_table.py"


@pytest.mark.needs("tvm")
def test_tvm_places_a_sample_in_the_same_way():
    command = [sys.executable, str(COMMAND), "--tvm", os.environ["REFMLC_TVM_PYTHON"], "--count", "150", "--seed", "7"]
    done = subprocess.run(command, check=False, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.splitlines()[-1].endswith(" 0 wrong")
