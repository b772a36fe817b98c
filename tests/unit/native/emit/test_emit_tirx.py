"""Of TIRx, C is made of kernels that are plain launches of threads; of what else is refused the reason names it."""

import pytest

from refmlc.lang.script import read
from refmlc.native.emit.function import emit_function
from refmlc.native.emit.state import Unsuited
from refmlc.native.options import Options

HEAD = "@T.prim_func\ndef f(A: T.Buffer((4,), 'float32'{layout})):\n"
CASES = {
    "T.thread_id": "tx = T.thread_id([4])\n    A[tx] = T.float32(1)",
    "T.device_entry": "T.device_entry()\n    w = T.warp_id()\n    A[w] = T.float32(1)",
    "T.warp.copy": "T.warp.copy(A, A)",
    "T.TileLayout": "B = T.alloc_local((4,), layout=T.TileLayout(T.S[4:2]))\n    A[0] = B[0]",
    "T.ComposeLayout": "B = T.decl_buffer((4,), data=A.data, layout=T.ComposeLayout(1, 1, 1, T.TileLayout(T.S[4:1])))",
}


@pytest.mark.parametrize("name", CASES)
def test_the_reason_is_the_name(name):
    func = read(f"{HEAD.format(layout='')}    {CASES[name]}", "f.py")["f"]
    with pytest.raises(Unsuited) as caught:
        emit_function(func, "f", "f", Options())
    assert f"`{name}`" in caught.value.reason


def test_the_reason_is_one_sentence():
    """Tables of checks cut a reason at its first colon."""
    func = read(f"{HEAD.format(layout='')}    {CASES['T.device_entry']}", "f.py")["f"]
    with pytest.raises(Unsuited) as caught:
        emit_function(func, "f", "f", Options())
    assert caught.value.reason == "its threads are launched by `T.device_entry`, and the launch fails with RM214"


def test_a_kernel_that_is_a_launch_of_threads_is_made_c():
    body = "T.device_entry()\n    b = T.cta_id([2])\n    t = T.thread_id([2])\n    A[b * 2 + t] = T.float32(1)"
    emitted = emit_function(read(f"{HEAD.format(layout='')}    {body}", "f.py")["f"], "f", "f", Options())
    assert any("for (" in str(line) for line in emitted.lines)


def test_a_parameter_with_a_layout_is_named():
    text = HEAD.format(layout=", layout=T.TileLayout(T.S[4:2])") + "    A[0] = T.float32(1)"
    with pytest.raises(Unsuited, match=r"`T\.TileLayout` of `A`"):
        emit_function(read(text, "f.py")["f"], "f", "f", Options())
