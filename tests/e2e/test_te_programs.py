"""Tensor expressions become what TVM's `create_prim_func` makes of them."""

import json
import os
import subprocess
from functools import cache
from pathlib import Path

import pytest
from te_programs import PROGRAMS

import refmlc
from refmlc.lang import te
from refmlc.lang.ir.equal import first_difference

PYTHON = os.environ.get("REFMLC_TVM_PYTHON", "")
SIDE = Path(__file__).parent / "tvm_side" / "te_texts.py"

pytestmark = pytest.mark.needs("tvm")


@cache
def texts():
    return json.loads(subprocess.run([PYTHON, str(SIDE)], capture_output=True, check=True, text=True).stdout)


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_function_is_tvms(name):
    ours = te.create_prim_func(PROGRAMS[name](te))
    (theirs,) = refmlc.read(texts()[name]).functions.values()
    difference = first_difference(ours, theirs, map_free_vars=True)
    assert difference is None, f"{difference}\n{ours.script()}\n{theirs.script()}"
