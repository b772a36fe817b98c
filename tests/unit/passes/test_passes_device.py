"""Host and device lowered apart; what lowered modules call of TVM's runtime."""

import numpy as np
import pytest

from refmlc.diag import RefmlcError
from refmlc.interp.machine import Machine
from refmlc.passes import Stage, Trace, check
from refmlc.passes.linking import Linker
from refmlc.passes.runtime import runtime
from refmlc.passes.verdicts import Said
from refmlc.runtime.tensor import Tensor
from refmlc.script import read

HEAD = """
@I.ir_module
class Module:
"""
HOST = """
    @T.prim_func(s_tir=True)
    def main(A: T.Buffer((4,), "int32")):
        T.call_packed("__tvm_set_device", 2, 0)
        T.call_packed("kernel", A.data, 4)
"""
KERNEL = """
    @T.prim_func(s_tir=True)
    def kernel(a: T.handle("int32"), n: T.int32):
        T.func_attr({"calling_conv": 2, "tirx.kernel_launch_params": ["threadIdx.x"]})
        A = T.decl_buffer((4,), "int32", data=a)
        t = T.launch_thread("threadIdx.x", 4)
        A[t] = A[t] + 1
"""
WRONG = KERNEL.replace("+ 1", "- 1")
DONE = HOST.replace("2, 0", "2, 1")


def test_parts_are_checked_as_the_whole():
    texts = [HEAD + HOST + KERNEL, HEAD + DONE, HEAD + KERNEL, HEAD + WRONG]
    found = check(Trace(tuple(Stage(f"pass {number}", text) for number, text in enumerate(texts))))
    assert [row.said for row in found.rows] == [Said.SAME, Said.SAME, Said.BROKEN]
    assert found.broken.func == "main"


def test_without_kernels_parts_are_modules_of_their_own():
    plain = KERNEL.replace(', "tirx.kernel_launch_params": ["threadIdx.x"]', "")
    for kernel, names in ((plain, {"main"}), (KERNEL, {"main", "kernel"})):
        assert set(Linker(read(HEAD + HOST + kernel)).linked(read(HEAD + HOST)).functions) == names


def tensor(*values, kind="float32"):
    return Tensor.from_numpy(np.array(values, kind))


def called(name, *args):
    return runtime().get_func(f"tvm.contrib.sort.{name}")(args, None)


@pytest.mark.parametrize(
    ("ascending", "places", "values"), [(1, [1, 3, 0, 2], [1, 1, 3, 7]), (0, [2, 0, 1, 3], [7, 3, 1, 1])]
)
def test_the_runtime_sorts_and_keeps_the_order_of_equal_ones(ascending, places, values):
    data, out, where = tensor(3, 1, 7, 1), tensor(0, 0, 0, 0), tensor(0, 0, 0, 0, kind="int32")
    called("sort", data, out, -1, ascending)
    called("argsort", data, where, 0, ascending)
    assert (out.numpy().tolist(), where.numpy().tolist()) == (values, places)
    first, at = tensor(0, 0), tensor(0, 0, kind="int64")
    called("topk", data, first, at, 2, 0, "both", ascending)
    assert (first.numpy().tolist(), at.numpy().tolist()) == (values[:2], places[:2])


def test_nan_is_in_no_order():
    with pytest.raises(RefmlcError) as caught:
        called("sort", tensor(1, np.nan), tensor(0, 0), 0, 1)
    assert caught.value.code.id == "RM504"


UNIQUE = """
@R.function
def main(x: R.Tensor((2, 4), "int32")):
    a = CALL
    b = NONZERO
    return (a, b)
"""
TYPES = ", ".join(['R.Tensor(dtype="int32", ndim=2)', *['R.Tensor(dtype="int64", ndim=1)'] * 3])
LOWERED = (
    UNIQUE.replace(
        "CALL", f'R.call_pure_packed("relax.run.unique", x, ORDERED, True, True, True, 1, ty_args=({TYPES}))'
    ),
    'R.call_pure_packed("relax.run.nonzero", x, ty_args=(R.Tensor(dtype="int64", ndim=2),))',
)


@pytest.mark.parametrize(
    ("ordered", "wanted"),  # what TVM 0.27's virtual machine gives
    [
        ("False", [[[3, 1, 0], [2, 5, 0]], [0, 1, 3], [0, 1, 0, 2], [2, 1, 1]]),
        ("True", [[[0, 1, 3], [0, 5, 2]], [3, 1, 0], [2, 1, 2, 0], [1, 1, 2]]),
    ],
)
def test_unique_and_nonzero_as_they_are_legalized(ordered, wanted):
    text = LOWERED[0].replace("ORDERED", ordered).replace("NONZERO", LOWERED[1])
    x = Tensor.from_numpy(np.array([[3, 1, 3, 0], [2, 5, 2, 0]], "int32"))
    several, places = Machine(read(text), registry=runtime()).call("main", [x])
    assert [one.numpy().tolist() for one in several] == wanted
    assert places.numpy().tolist() == [[0, 0, 0, 1, 1, 1], [0, 1, 2, 0, 1, 2]]


def test_unique_of_all_elements_alone():
    found = runtime().get_func("relax.run.unique")
    assert found((tensor(3, 1, 3), 0, 0, 0, 0), None).numpy().tolist() == [3, 1]
    with pytest.raises(RefmlcError, match="NaN"):
        found((tensor(3, np.nan), 1, 0, 0, 0), None)


def test_a_pass_that_legalizes_unique_is_compared():
    before = UNIQUE.replace("CALL", "R.unique(x, True, True, True, True, 1)").replace("NONZERO", "R.nonzero(x)")
    after = LOWERED[0].replace("ORDERED", "True").replace("NONZERO", LOWERED[1])
    found = check(Trace((Stage("start", before), Stage("LegalizeOps", after))))
    assert [row.said for row in found.rows] == [Said.SAME]
