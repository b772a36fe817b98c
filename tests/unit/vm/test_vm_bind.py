"""Bound parameters: constants of the module, dimensions that become known, what does not fit."""

import numpy as np
import pytest

from refmlc.diag import Malformed
from refmlc.lang.ir import relax, tir
from refmlc.lang.ir.visit import walk
from refmlc.lang.wellformed.reader_checks import read
from refmlc.run.memory.registry import FunctionRegistry
from refmlc.run.memory.tensor import tensor
from refmlc.vm import VirtualMachine, bind_params, build

# The printed result of TVM 0.27's BindParams on this module with w0 of shape (4, 8): x (1, 8), y (16,), returns
# (8, 8), lv0 (8, 9), the shape argument [4, 4], lv1 (8, 8).
TEXT = """
from tvm.script import ir as I, relax as R, tir as T

@I.ir_module
class Module:
    @R.function
    def main(
        x: R.Tensor((1, "m"), "float32"), w0: R.Tensor(("n", "m"), "float32"), y: R.Tensor(("m * 2",), "float32")
    ) -> R.Tensor(("n * 2", "m"), "float32"):
        m, n = T.int64(), T.int64()
        with R.dataflow():
            lv0 = R.call_dps_packed("env.first", (x, w0), out_sinfo=R.Tensor((n * 2, m + 1), "float32"))
            lv1 = R.call_dps_packed("env.second", (lv0, R.shape([n, m - n])), out_sinfo=R.Tensor((n * 2, m), "float32"))
            R.output(lv1)
        return lv1

    @R.function
    def other(s: R.Shape(["k"]), x: R.Tensor(("k",), "int8")) -> R.Tensor(("k",), "int8"):
        k = T.int64()
        return x
"""


@pytest.fixture
def module():
    return read(TEXT)


def numbers(shape):
    return tuple(extent.value if isinstance(extent, tir.IntImm) else None for extent in shape)


def refused(module, name, params, code, words):
    with pytest.raises(Malformed) as failure:
        bind_params(module, name, params)
    assert failure.value.code.id == code
    assert words in str(failure.value)


def test_dimensions_become_numbers_as_in_tvm(module):
    w0 = np.arange(32, dtype=np.float32).reshape(4, 8)
    bound = bind_params(module, "main", {"w0": w0})
    main = bound["main"]
    assert [(var.name, numbers(var.ty.shape)) for var in main.params] == [("x", (1, 8)), ("y", (16,))]
    assert numbers(main.ret_ty.shape) == (8, 8)
    calls = [node for node in walk(main.body) if isinstance(node, relax.Call)]
    assert [numbers(call.ty_args[0].shape) for call in calls] == [(8, 9), (8, 8)]
    shapes = [node for node in walk(main.body) if isinstance(node, relax.ShapeExpr)]
    assert (4, 4) in [numbers(shape.values) for shape in shapes]
    assert not [node for node in walk(main) if isinstance(node, tir.Var)]


def test_the_constant_is_a_read_only_copy(module):
    w0 = np.zeros((4, 8), np.float32)
    bound = bind_params(module, "main", {"w0": w0})
    constants = [node for node in walk(bound["main"]) if isinstance(node, relax.Constant)]
    w0[0, 0] = 5
    assert len(constants) == 1
    assert constants[0].data[0, 0] == 0
    assert not constants[0].data.flags.writeable


def test_the_rest_of_the_module_stays(module):
    bound = bind_params(module, "main", {"w0": np.zeros((4, 8), np.float32)})
    assert bound["other"] is module["other"]
    assert list(bound.functions) == ["main", "other"]
    assert [var.name for var in module["main"].params] == ["x", "w0", "y"]
    assert bound.source is module.source


def test_no_parameters(module):
    bound = bind_params(module, "main", {})
    assert [var.name for var in bound["main"].params] == ["x", "w0", "y"]


def test_dimensions_that_stay_open(module):
    main = bind_params(module, "main", {"x": np.zeros((1, 8), np.float32)})["main"]
    assert [(var.name, numbers(var.ty.shape)) for var in main.params] == [("w0", (None, 8)), ("y", (16,))]


def test_the_bound_module_runs(module):
    seen = []
    registry = FunctionRegistry()
    registry.register("env.first", lambda x, w, out: (seen.append((x.shape, w.numpy()[1, 0])), out.numpy().fill(1))[2:])
    registry.register("env.second", lambda x, s, out: (seen.append((x.shape, tuple(s))), out.numpy().fill(2))[2:])
    w0 = np.arange(32, dtype=np.float32).reshape(4, 8)
    for given in (w0, tensor(w0), np.asfortranarray(w0)):
        seen.clear()
        bound = bind_params(module, "main", {"w0": given})
        result = VirtualMachine(build(bound, registry=registry))["main"](
            np.zeros((1, 8), np.float32), np.zeros(16, np.float32)
        )
        assert result.numpy().tolist() == [[2.0] * 8] * 8
        assert seen == [((1, 8), 8.0), ((8, 9), (4, 4))]


def test_what_does_not_fit(module):
    w0 = np.zeros((4, 8), np.float32)
    refused(module, "missing", {}, "RM112", "no Relax function `missing`")
    refused(module, "main", {"w1": w0}, "RM111", "`main` has no parameter `w1`")
    refused(module, "main", {"w0": w0.astype(np.float64)}, "RM111", "`w0` of `main` has elements of float32")
    refused(module, "main", {"w0": w0[0]}, "RM111", "`w0` of `main` has shape (n, m), shape (8,)")
    refused(
        module,
        "main",
        {"w0": w0, "x": np.zeros((1, 9), np.float32)},
        "RM111",
        "`w0` of `main` has shape (n = 4, m = 9)",
    )
    refused(module, "main", {"w0": w0, "y": np.zeros(15, np.float32)}, "RM111", "`y` of `main` has shape")
    refused(module, "main", {"x": 3}, "RM111", "`x` of `main` is a tensor")
    refused(module, "other", {"s": (1,)}, "RM111", "`s` of `other` is not a tensor")
