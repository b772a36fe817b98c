"""Host and device lowered apart; graphs that are legalized to what TVM's runtime has."""

import numpy as np
import pytest

from refmlc.lang.script import read
from refmlc.oracle.passes import PassTrace, Stage, check
from refmlc.oracle.passes.baseline import Linker
from refmlc.oracle.passes.stages import StageVerdict
from refmlc.run.interp.machine import Machine
from refmlc.run.memory.tensor import Tensor

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
    found = check(PassTrace(tuple(Stage(f"pass {number}", text) for number, text in enumerate(texts))))
    assert [row.verdict for row in found.rows] == [StageVerdict.SAME, StageVerdict.SAME, StageVerdict.BROKEN]
    assert found.broken.func == "main"


def test_without_kernels_parts_are_modules_of_their_own():
    plain = KERNEL.replace(', "tirx.kernel_launch_params": ["threadIdx.x"]', "")
    for kernel, names in ((plain, {"main"}), (KERNEL, {"main", "kernel"})):
        assert set(Linker(read(HEAD + HOST + kernel)).linked(read(HEAD + HOST)).functions) == names


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
    several, places = Machine(read(text)).call("main", [x])
    assert [one.numpy().tolist() for one in several] == wanted
    assert places.numpy().tolist() == [[0, 0, 0, 1, 1, 1], [0, 1, 2, 0, 1, 2]]


def test_a_pass_that_legalizes_unique_is_compared():
    before = UNIQUE.replace("CALL", "R.unique(x, True, True, True, True, 1)").replace("NONZERO", "R.nonzero(x)")
    after = LOWERED[0].replace("ORDERED", "True").replace("NONZERO", LOWERED[1])
    found = check(PassTrace((Stage("start", before), Stage("LegalizeOps", after))))
    assert [row.verdict for row in found.rows] == [StageVerdict.SAME]
