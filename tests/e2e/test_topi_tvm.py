"""`refmlc.tvm.topi` and `relax.op` against real TVM's: the signatures, and the results of calls as people write them.

The signatures are asked of real TVM in its own Python. What differs, or is not here, is listed with its reason: a name
that TVM gets, or a parameter, is found by this test.
"""

import inspect
import json
import os
import subprocess
import tomllib
from pathlib import Path

import numpy as np
import pytest

from refmlc import tvm
from refmlc.tvm import relax, te, topi
from refmlc.tvm.topi.missing_functions import absent

TVM = os.environ.get("REFMLC_TVM_PYTHON", "")
HERE = Path(__file__).parent
CALLS = tomllib.loads((HERE.parent / "programs" / "topi_calls.toml").read_text())

pytestmark = pytest.mark.needs("tvm")

# The parameters that TVM has for its tuners, at the end.
TUNERS = ("auto_scheduler_rewritten_layout", "meta_schedule_original_shape", "meta_schedule_origin_shape")
# Not functions of operators, or said otherwise: the last parameters are refmlc's own.
OTHERWISE = {
    "call_tir": "tir_vars, and the name of 2023, may be given",
    "call_tir_inplace": "the name of 2023 may be given",
    "call_dps_packed": "the name of 2023 may be given",
    "call_pure_packed": "the name of 2023 may be given",
    "call_inplace_packed": "the name of 2023 may be given",
    "call_builtin_with_ctx": "the name of 2023 may be given",
    "invoke_closure": "the name of 2023 may be given",
    "invoke_pure_closure": "the name of 2023 may be given",
    "grad.take_backward": "the mode of `take` may be given",
    "hamming_window": "the dtype is float32 where it is not given",
    "nn.layer_norm": "the last axis, where none is given",
    "zeros": "the dtype is float32 where it is not given",
    "ones": "the dtype is float32 where it is not given",
}
# Windows over one dimension: TVM's defaults are numbers, or pairs, which are one number for each side.
WINDOWS = ("strides", "padding", "dilation", "output_padding")
# Defaults that mean the same: the sum starts with the first element.
SAME = {("cumsum", "exclusive"), ("cumprod", "exclusive")}


@pytest.fixture(scope="module")
def theirs():
    script = HERE / "tvm_side" / "signatures.py"
    done = subprocess.run([TVM, str(script)], capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def of(function):
    empty = inspect.Parameter.empty
    found = inspect.signature(function).parameters.values()
    return [[one.name, "required" if one.default is empty else repr(one.default)] for one in found]


def lookup(root, path):
    for part in path.split("."):
        root = getattr(root, part)
    return root


def missing(root, path):
    """Why a name is not here; empty where it is."""
    try:
        lookup(root, path)
    except AttributeError as reason:
        return str(reason)
    return ""


def test_every_function_of_topi_is_here_or_has_a_reason(theirs):
    assert len(theirs["topi"]) > 250
    for name in theirs["topi"]:
        reason = missing(topi, name)
        assert not reason or absent(name) in reason, name
        assert not reason or absent(name), f"{name}: neither here nor absent for a reason"


def test_functions_of_topi_have_tvms_parameters(theirs):
    count = 0
    for name, parameters in theirs["topi"].items():
        if missing(topi, name):
            continue
        wanted = [one for one in parameters if one[0] not in TUNERS]
        mine = [one for one in of(lookup(topi, name)) if one[0] not in TUNERS]
        assert mine == wanted, name
        count += 1
    assert count > 140


def test_every_function_of_relax_op_is_here_or_has_a_reason(theirs):
    reasons = {name: missing(relax.op, name) for name in theirs["relax.op"]}
    absent_ones = {name: reason for name, reason in reasons.items() if reason}
    assert all("is not covered: refmlc reads" not in reason for reason in absent_ones.values()), absent_ones
    assert len(absent_ones) <= 22
    assert len(reasons) > 220


def test_functions_of_relax_op_have_tvms_parameters(theirs):
    for name, all_of_it in theirs["relax.op"].items():
        if missing(relax.op, name):
            continue
        parameters, mine = all_of_it, of(lookup(relax.op, name))
        if name in OTHERWISE:
            wanted = [one for one, _ in parameters]
            assert [one for one, _ in mine][: len(wanted)] == wanted, name
            continue
        if "1d" in name:
            parameters, mine = ([one for one in side if one[0] not in WINDOWS] for side in (parameters, mine))
        assert mine == parameters, name


class Inputs:
    """The inputs of a call, as `tvm_side/topi_results.py` makes them."""

    def __init__(self, arrays):
        self.arrays = iter(arrays)
        self.tensors = []

    def x(self, *shape):
        return self._next(shape)

    def i(self, below, *shape):
        return self._next(shape)

    def _next(self, shape):
        array = next(self.arrays)
        assert array.shape == shape
        self.tensors.append(te.placeholder(shape, dtype=str(array.dtype), name=f"p{len(self.tensors)}"))
        return self.tensors[-1]


# TVM 0.27 refuses these itself.
REFUSED = {"trilu", "strided_slice_axes"}


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    folder = tmp_path_factory.mktemp("topi")
    (folder / "calls.json").write_text(json.dumps(CALLS))
    script = HERE / "tvm_side" / "topi_results.py"
    command = [TVM, str(script), str(folder / "calls.json"), str(folder / "results.npz")]
    subprocess.run(command, capture_output=True, check=True)
    with np.load(folder / "results.npz") as archive:
        yield archive


def test_tvm_takes_the_calls(results):
    assert {name.partition("/")[0] for name in results.files if name.endswith("/error")} == REFUSED


@pytest.mark.parametrize("name", sorted(CALLS.keys() - REFUSED))
def test_the_result_is_tvms(name, results):
    count = sum(key.startswith(f"{name}/") for key in results.files) - 1
    arrays = [results[f"{name}/{number}"] for number in range(count)]
    inputs, wanted = Inputs(arrays), results[f"{name}/out"]
    made = eval(CALLS[name], {"topi": topi, "x": inputs.x, "i": inputs.i})  # noqa: S307 - our own file
    assert made.dtype == str(wanted.dtype)
    out = tvm.nd.empty(wanted.shape, made.dtype)
    func = te.create_prim_func([*inputs.tensors, made])
    tvm.build(tvm.IRModule({"main": func}))(*arrays, out)
    np.testing.assert_allclose(out.numpy(), wanted, rtol=1e-5, atol=1e-6)
