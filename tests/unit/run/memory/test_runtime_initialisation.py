"""Results with elements that were never written: whoever takes the values is told, and may refuse them."""

import warnings

import numpy as np
import pytest
from needs import imported

import refmlc
from refmlc import UninitialisedWarning
from refmlc.diag import Undefined
from refmlc.lang.dtypes import FLOAT32, dtype
from refmlc.run.memory.registry import FunctionRegistry, python_func
from refmlc.run.memory.tensor import Tensor

HALF = """
from tvm.script import ir as I, relax as R, tirx as T
@I.ir_module
class Module:
    @T.prim_func(s_tir=True, private=True)
    def half(A: T.Buffer((4,), "float32"), B: T.Buffer((4,), "float32")):
        for i in range(COUNT):
            B[i] = A[i]
    @R.function
    def main(x: R.Tensor((4,), "float32")):
        cls = Module
        return R.call_tir(cls.half, (x,), out_ty=R.Tensor((4,), "float32"))
"""


@pytest.fixture(params=["interp", "native"])
def result(request):
    """`result(count)`: a tensor of four elements of which so many were written."""

    def run(count):
        module = refmlc.read(HALF.replace("COUNT", str(count)))
        return refmlc.VirtualMachine(refmlc.build(module, tier=request.param))["main"](np.arange(4, dtype="float32"))

    return run


def test_the_number_and_the_mask_are_told(result):
    half = result(3)
    with pytest.warns(UninitialisedWarning, match="1 of the 4 elements of this tensor was never written") as caught:
        values = half.numpy()
    assert caught[0].filename == __file__
    assert values[:3].tolist() == [0, 1, 2]
    assert half.written.tolist() == [True, True, True, False]


def test_strict_refuses(result):
    with pytest.raises(Undefined, match="3 of the 4 elements of this tensor were never written") as caught:
        result(1).numpy(strict=True)
    assert caught.value.code.id == "RM305"


def test_nothing_is_said_where_all_is_written(result):
    whole = result(4)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert whole.numpy(strict=True).tolist() == np.asarray(whole).tolist() == [0, 1, 2, 3]
    assert whole.written.all()


@pytest.mark.parametrize(
    "take",
    [np.asarray, np.array, np.from_dlpack, lambda tensor: tensor.numpy(), lambda tensor: np.add(tensor, 1)],
    ids=["asarray", "array", "from_dlpack", "numpy", "add"],
)
def test_every_conversion_says_it(result, take):
    with pytest.warns(UninitialisedWarning, match="2 of the 4 elements"):
        take(result(2))


def test_torch_is_told(result):
    torch = imported("torch")
    with pytest.warns(UninitialisedWarning, match="2 of the 4 elements"):
        torch.from_dlpack(result(2))


def test_showing_says_it_without_a_warning(result):
    assert "(2 of 4 elements were never written)" in repr(result(2))
    assert "(2 of 4 elements were never written)" in str(result(2))


def test_a_function_that_is_to_fill_memory_is_not_warned():
    out = Tensor.empty((4,), FLOAT32)
    registry = FunctionRegistry()

    def fill(one, pair):
        one.numpy()[:] = 1
        np.from_dlpack(pair[0])[:] = 2

    registry.add(python_func("fill", fill))
    other = Tensor.empty((4,), FLOAT32)
    registry.get_func("fill").call([out, (other,)], None)
    assert (out.numpy().tolist(), other.numpy().tolist()) == ([1] * 4, [2] * 4)


def test_after_a_function_that_failed_it_is_said_again():
    out = Tensor.empty((4,), FLOAT32)
    registry = FunctionRegistry()
    registry.add(python_func("fail", lambda _out: 1 // 0))
    with pytest.raises(refmlc.Trap):
        registry.get_func("fail").call([out], None)
    with pytest.warns(UninitialisedWarning):
        out.numpy()


@pytest.mark.parametrize("name", ["float32", "int8", "int4", "float32x4"])
def test_the_mask_of_a_strided_view(name):
    kind = dtype(name)
    whole = Tensor.empty((2, 3), kind)
    lanes = kind.lanes
    for place in (0, 4):
        for lane in range(lanes):
            whole.shadow[place * lanes + lane] = 1
    turned = Tensor(whole.storage, kind, (3, 2), (1, 3))
    mask = turned.written.all(axis=-1) if lanes > 1 else turned.written
    assert mask.tolist() == [[True, False], [False, True], [False, False]]
    assert turned.written.shape == turned.array.shape
