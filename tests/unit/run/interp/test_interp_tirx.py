"""What of TIRx is not executed ends by its name (TIR-299), where it is reached; what is not reached does not matter."""

import numpy as np
import pytest

import refmlc
from refmlc.diag import Unsupported
from refmlc.lang.ir.unexecuted import refusal
from refmlc.lang.script import read

HEAD = "@T.prim_func\ndef f(A: T.Buffer((4,), 'float32'{layout}), n: T.int32):\n"
CASES = {
    "T.thread_id": "tx = T.thread_id([4])\nA[tx] = T.float32(1)",
    "T.warp.copy": "T.warp.copy(A, A)",
    "T.wg.fill": "T.wg.fill(A, 0)",
    "T.tile.zero": "T.tile.zero(A)",
    "B": "B = T.alloc_local((4,), layout=T.TileLayout(T.S[4 : 1 @ Axis.TCol]))\nA[0] = B[0]",
    "allocated_addr": "B = T.decl_buffer((4,), scope='tmem', allocated_addr=0)\nA[0] = B[0]",
}


def call(body, *, n=1, layout=""):
    """The function with this body under `if n`, called."""
    lines = "".join(f"        {line}\n" for line in body.split("\n"))
    text = HEAD.format(layout=layout) + "    if n > 0:\n" + lines
    array = np.zeros(4, np.float32)
    refmlc.VirtualMachine(refmlc.build(read(text, "f.py")))["f"](array, n)


@pytest.mark.parametrize("name", CASES)
def test_what_is_reached_ends_as_unsupported(name):
    with pytest.raises(Unsupported, match=f"RM504.*`{name}`") as caught:
        call(CASES[name])
    assert caught.value.diagnostic.span is not None


@pytest.mark.parametrize("name", CASES)
def test_what_is_not_reached_does_not_matter(name):
    call(CASES[name], n=0)


def test_a_parameter_with_a_layout_that_is_not_executed_ends_the_call():
    with pytest.raises(Unsupported, match=r"the layout of `A` is not executed: it has the axis `P`"):
        call("A[0] = T.float32(1)", layout=", layout=T.TileLayout(T.S[4 : 1 @ Axis.P])")


def test_what_is_executed_is_not_refused():
    func = read(HEAD.format(layout="") + "    A[0] = T.float32(1)", "f.py")["f"]
    assert refusal(func.body) == ""
    assert all(refusal(buffer) == "" for buffer in func.buffer_map.values())
