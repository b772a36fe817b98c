"""A Relax module means the same after every stage of TVM's pipeline: run on each, compared with TVM's virtual machine.

The models use only operations that TVM computes exactly as written, so the results agree to the bit.
"""

import json
import os
import subprocess
from pathlib import Path

import numpy as np
import pytest

from refmlc.lang.script import read
from refmlc.run.interp.machine import Machine
from refmlc.run.memory.tensor import Tensor
from refmlc.run.memory.values import Shape

TVM = os.environ.get("REFMLC_TVM_PYTHON")
WRITER = Path(__file__).parent / "tvm_side" / "relax_stages.py"
MODELS = ("network", "shapes", "branch", "branch_off", "recursion", "local", "tuples", "in_place", "services", "orders")

pytestmark = pytest.mark.needs("tvm")


@pytest.fixture(scope="module")
def printed(tmp_path_factory):
    """The directory that TVM wrote."""
    directory = tmp_path_factory.mktemp("stages")
    subprocess.run([TVM, str(WRITER), str(directory)], check=True, capture_output=True, timeout=300)
    return directory


def value(tree, arrays):
    """A tree of the index as a value."""
    match tree:
        case {"tensor": key}:
            return Tensor.from_numpy(arrays[key].copy())
        case {"shape": extents}:
            return Shape(extents)
        case {"prim": number}:
            return number
        case {"tuple": fields}:
            return tuple(value(field, arrays) for field in fields)


def same(mine, theirs):
    """Whether two values are equal to the bit."""
    if isinstance(theirs, Tensor):
        a, b = mine.numpy(), theirs.numpy()
        return a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()
    if isinstance(theirs, tuple) and not isinstance(theirs, Shape):
        return len(mine) == len(theirs) and all(map(same, mine, theirs))
    return type(mine) is type(theirs) and mine == theirs


@pytest.mark.parametrize("model", MODELS)
def test_every_stage_gives_what_tvm_gives(printed, model):
    entry = json.loads((printed / "index.json").read_text(encoding="utf-8"))[model]
    with np.load(printed / "arrays.npz") as held:
        arrays = dict(held)
    wanted = value(entry["result"], arrays)
    assert len(entry["texts"]) == 16
    for text in entry["texts"][1:]:
        machine = Machine(read((printed / text).read_text(encoding="utf-8"), text))
        result = machine.call("main", [value(tree, arrays) for tree in entry["inputs"]])
        assert same(result, wanted), text
