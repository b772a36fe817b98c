"""Host and device lowered apart; what lowered modules call of TVM's runtime."""

import numpy as np
import pytest

from refmlc.diag import RefmlcError
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
