"""The table of operators of devices is that of the TVM at hand."""

import json
import os
import subprocess
from pathlib import Path

import pytest

from refmlc.lang.ops.intrinsics.device import NAMED_OPERATORS, PTX_FAMILIES

SIDE = Path(__file__).parent / "tvm_side" / "device_operators.py"

pytestmark = pytest.mark.needs("tvm")


def test_the_table_is_that_of_tvm():
    command = [os.environ["REFMLC_TVM_PYTHON"], str(SIDE)]
    done = subprocess.run(command, check=True, capture_output=True, text=True, timeout=300)
    theirs = json.loads(done.stdout)
    assert {name: row.registered for name, row in NAMED_OPERATORS.items()} == theirs["named"]
    counts = {name: [row.least, row.most] for name, row in NAMED_OPERATORS.items() if row.least or row.most is not None}
    assert counts == theirs["operands"]
    ours = {name: [row.least, row.most, sorted(row.modifiers)] for name, row in PTX_FAMILIES.items()}
    assert ours == theirs["ptx"]
