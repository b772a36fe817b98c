"""Modules that patterns divide are those of TVM 0.27: the programs of `tvm_partitions`."""

import json
import os
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest
import tvm_partitions

pytestmark = pytest.mark.needs("tvm")


@cache
def both():
    """What each side makes; refmlc in a process of its own, because `tvm` is its name there."""
    folder = Path(tvm_partitions.__file__).resolve().parent
    program = "import json, tvm_partitions as partitions; print(json.dumps(partitions.ours()))"
    path = os.pathsep.join([str(folder), str(folder.parents[1])])
    done = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYTHONPATH": path},
    )
    return json.loads(done.stdout), tvm_partitions.theirs()


def test_every_division_is_tvms():
    ours, real = both()
    assert {name: tvm_partitions.difference(ours[name], real[name]) for name in ours} == dict.fromkeys(real, "")


def test_the_divisions_are_no_refusals():
    ours, _ = both()
    assert [name for name, text in ours.items() if "@I.ir_module" not in text] == []
