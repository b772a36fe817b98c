"""What a text of TVM 0.27 may name and refmlc does not read: unsupported by name, with a reason."""

import pytest

from refmlc.diag import Unsupported
from refmlc.lang.ir.equal import structural_equal
from refmlc.lang.script import read

HEAD = "# from tvm.script import tirx as T\n# from tvm.script.tirx import tile as Tx\n\n@T.prim_func\n"
HEAD += 'def main(A: T.Buffer((4, 8), "float32")):\n    {0}\n'
NAMES = {
    "pool = T.SMEMPool()": "`T.SMEMPool` is not supported: it gives out memory",
    "pool = T.TMEMPool(1)": "`T.TMEMPool` is not supported: it gives out memory",
    "x = T.alloc_tcgen05_ldst_frag('32x32b', (128, 64), 'float32')": "TVM computes its layout",
    "x = T.wg_reg_tile(4)": "TVM computes its layout",
    "T.static_assert(True)": "it is executed while TVM reads",
    "x = A.sub[0, 2:4]": "`sub` of a buffer is not supported",
    "x = A.tile(0, (2, -1))[1, :]": "`tile` of a buffer is not supported",
    "x = A.rearrange('a b -> b a')": "`rearrange` of a buffer is not supported",
    "T.tile.compose_op(A, A)": "`T.tile.compose_op` is not supported",
}


@pytest.mark.parametrize("text", NAMES)
def test_a_name_is_refused_with_its_reason(text):
    with pytest.raises(Unsupported, match=NAMES[text]) as caught:
        read(HEAD.format(text))
    assert caught.value.code.id == "RM504"


def test_emit_te_is_refused_with_its_reason():
    head = "# from tvm.script import relax as R\n@R.function\ndef main(x: R.Tensor((4,), 'float32')):\n"
    with pytest.raises(Unsupported, match="it executes a function of Python"):
        read(head + "    y = R.emit_te(f, x)\n    return y\n")


def test_another_name_of_shared_memory():
    text = HEAD.format("x = T.NAME((4,), 'float32')\n    x[0] = A[0, 0]")
    assert structural_equal(*(read(text.replace("NAME", name)) for name in ("smem", "alloc_shared")))
