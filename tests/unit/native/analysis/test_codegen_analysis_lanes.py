"""Lanes of warps in C: what they give each other has the interpreter's bits, and the rest is refused by name."""

import itertools
from dataclasses import replace

import numpy as np
import pytest

from refmlc.diag import RefmlcError
from refmlc.lang.dtypes import FLOAT32
from refmlc.lang.ir import IRModule
from refmlc.lang.wellformed.reader_checks import read
from refmlc.native.analysis import lanes, registers
from refmlc.native.analysis.turns import turns
from refmlc.run.memory.tensor import Tensor
from refmlc.vm import VirtualMachine, build

HEAD = """# from tvm.script import tirx as T
@T.prim_func(s_tir=True)
def main(A: T.Buffer((128,), "float32"), X: T.Buffer((128,), "float32"), n: T.int32):
"""
LAUNCHES = {
    "32": ('tx = T.launch_thread("threadIdx.x", 32)', "t: T.let = tx"),
    "64": ('tx = T.launch_thread("threadIdx.x", 64)', "t: T.let = tx"),
    "8": ('tx = T.launch_thread("threadIdx.x", 8)', "t: T.let = tx"),
    "40": ('tx = T.launch_thread("threadIdx.x", 40)', "t: T.let = tx"),
    "8 x 4 x 2": (
        'tx = T.launch_thread("threadIdx.x", 8)',
        'tz = T.launch_thread("threadIdx.z", 2)',
        'ty = T.launch_thread("threadIdx.y", 4)',
        "t: T.let = tx + ty * 8 + tz * 32",
    ),
}
REGISTERS = ('L = T.alloc_buffer((1,), "float32", scope="local")', 'M = T.alloc_buffer((1,), "float32", scope="local")')
WAYS = ("", "_up", "_down", "_xor")
STARTS = ("L[0] = A[t]",)
NINE = 'T.Cast("int32", A[t] * T.float32(9))'


def shuffle(way, place, width, value="L[0]", mask="T.tvm_warp_activemask()"):
    return f"T.tvm_warp_shuffle{way}({mask}, {value}, {place}, {width}, 32)"


def function(launch, *lines):
    body = (*LAUNCHES[launch], *REGISTERS, *lines)
    return read(HEAD + "".join(f"    {line}\n" for line in body), "kernel.py")["main"]


def outcome(func, tier):
    """The bits that a call leaves, or the code of its failure; and how many calls ended in C."""
    args = [np.random.default_rng(3).standard_normal(128).astype(np.float32), Tensor.empty((128,), FLOAT32), 3]
    machine = VirtualMachine(build(IRModule({"main": func}), tier=tier))
    try:
        machine["main"](*args)
    except RefmlcError as failure:
        return failure.code.id, 0
    return (args[1].array.tobytes(), args[1].shadow.tobytes()), machine.native.counts.native if machine.native else 0


def check_in_c(func):
    loops, reason = turns(func)
    assert (loops is not func, reason) == (True, "")
    expected, _ = outcome(func, "interp")
    assert outcome(func, "native") == (expected, 1)


@pytest.mark.needs("compiler")
@pytest.mark.parametrize("launch", LAUNCHES)
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("width", [1, 4, 32])
def test_a_shuffle_in_c_gives_what_the_interpreter_gives(launch, way, width):
    distances = [f"M[0] = {shuffle(way, place, width)}" for place in (0, 3, 17)]
    stores = [f"if t % 32 < 2:\n        X[t * 3 + {at}] = M[0]" for at in range(3)]
    func = function(launch, *STARTS, *itertools.chain(*zip(distances, stores, strict=True)))
    if launch in ("8", "40") and width == 32 and way != "_up":  # a lane is used that is not there
        assert outcome(func, "native") == outcome(func, "interp") == ("RM305", 0)
    else:
        check_in_c(func)


TAKEN = {
    "a sum of a warp, step by step": [
        f"L[0] = L[0] + {shuffle('_xor', distance, 32)}" for distance in (16, 8, 4, 2, 1)
    ],
    "two shuffles in one statement": [f"L[0] = {shuffle('_xor', 1, 32)} - {shuffle('_xor', 2, 32)}"],
    "one shuffle of what another one gives": [f"L[0] = {shuffle('_xor', 1, 32, shuffle('_xor', 2, 32))}"],
    "the same shuffle in each iteration": [f"for k in range(3):\n        L[0] = L[0] * {shuffle('', 't + k', 8)}"],
    "a lane that memory says": [f"L[0] = {shuffle('', NINE, 32)}"],
    "a value that is bound": [f"v: T.let = {shuffle('_down', 1, 32)}", "L[0] = v + v"],
    "a barrier of the warp": ['T.tvm_storage_sync("warp")', "T.cuda.warp_sync()"],
    "CUDA's names": ["L[0] = T.cuda.__shfl_xor_sync(T.cuda.__activemask(), L[0], 5, 32)"],
    "a mask that is written out": [f"L[0] = {shuffle('_xor', 1, 32, mask='T.uint32(0xFFFFFFFF)')}"],
    "a mask in a register": [
        'W = T.alloc_buffer((1,), "uint32", scope="local")',
        "W[0] = T.tvm_warp_activemask()",
        f"L[0] = {shuffle('_xor', 1, 32, mask='W[0]')}",
    ],
    "shared memory, written by all and read after a barrier of the warp": [
        'S = T.alloc_buffer((64,), "float32", scope="shared")',
        "S[t] = L[0]",
        "T.cuda.warp_sync()",
        "L[0] = S[t // 32 * 32 + 31 - t % 32]",
    ],
}


@pytest.mark.needs("compiler")
@pytest.mark.parametrize("launch", ["64", "8 x 4 x 2"])
@pytest.mark.parametrize("title", TAKEN)
def test_lanes_in_c_give_what_the_interpreter_gives(title, launch):
    check_in_c(function(launch, *STARTS, *TAKEN[title], "X[t] = L[0]"))


@pytest.mark.needs("compiler")
def test_a_branch_of_the_first_warp():
    check_in_c(function("64", *STARTS, f"if tx < 32:\n        L[0] = {shuffle('_xor', 1, 32)}", "X[t] = L[0]"))


STOPPED = {
    "a lane that is not there, used": ("40", [f"L[0] = {shuffle('_down', 16, 32)}", "X[t] = L[0]"], "RM305"),
    "a register that was never written, used": (
        "32", ["if t < 4:\n        M[0] = L[0]", f"L[0] = {shuffle('_down', 1, 32, 'M[0]')}", "X[t] = L[0]"], "RM305"
    ),
    "a distance beyond the warp": ("32", [f"L[0] = {shuffle('_down', 32, 32)}"], "RM502"),
    "a mask that leaves lanes out": ("32", [f"L[0] = {shuffle('_xor', 1, 32, mask='T.uint32(0xFFFF)')}"], "RM327"),
}  # fmt: skip


@pytest.mark.needs("compiler")
@pytest.mark.parametrize("title", STOPPED)
def test_where_the_interpreter_says_more_c_stops(title):
    launch, lines, code = STOPPED[title]
    func = function(launch, *STARTS, *lines)
    assert turns(func)[1] == ""
    expected, _ = outcome(func, "interp")
    assert expected == code
    assert outcome(func, "native") == (expected, 0)


@pytest.mark.needs("compiler")
def test_registers_without_a_value_that_nobody_uses_do_not_stop_c():
    lines = ["if t < 4:\n        M[0] = L[0]", f"M[0] = T.max(M[0], {shuffle('_down', 1, 32, 'M[0]')})"]
    check_in_c(function("32", *STARTS, *lines, "if t < 3:\n        X[t] = M[0]"))


VOTE = 'T.Cast("float32", T.cuda.any_sync(T.uint32(0xFFFFFFFF), t < 4))'
LEFT = {
    "a width that is no constant": (f"L[0] = {shuffle('_xor', 1, 'n')}", "is not a constant power of two"),
    "a vote": (f"L[0] = {VOTE}", "`T.cuda.any_sync` together"),
    "a call on a condition": (f"L[0] = T.if_then_else(n > 2, {shuffle('_xor', 1, 32)}, L[0])", "on a condition"),
    "a branch that lanes of all warps take": (
        f"if A[t] < T.float32(0):\n        {shuffle('', 1, 32)}",
        "take a branch",
    ),
    "a branch with a loop": (
        f"if tx < 32:\n        for k in range(2):\n            L[0] = {shuffle('', 1, 32)}",
        "in which they meet in a loop",
    ),
    "a branch of half a warp": (f"if tx < 16:\n        L[0] = {shuffle('', 1, 16)}", "that the others do not take"),
}


@pytest.mark.parametrize("title", LEFT)
def test_what_lanes_do_otherwise_is_refused_by_name(title):
    line, reason = LEFT[title]
    func = function("64", *STARTS, line, "X[t] = L[0]")
    loops, why = turns(func)
    assert loops is func
    assert reason in why
    assert outcome(func, "native") == (outcome(func, "interp")[0], 0)


def test_threads_of_several_loops_are_left():
    text = HEAD + (
        '    for y in T.thread_binding(4, thread="threadIdx.y"):\n'
        '        for x in T.thread_binding(8, thread="threadIdx.x"):\n'
        "            X[y * 8 + x] = T.tvm_warp_shuffle(T.uint32(0xFFFFFFFF), A[y * 8 + x], 1, 32, 32)\n"
    )
    func = read(text, "kernel.py")["main"]
    assert turns(func) == (func, "threads of a warp are those of several loops")
    assert outcome(func, "native") == outcome(func, "interp")


def test_an_extent_that_depends_on_another_launch_is_left():
    text = HEAD + (
        '    bx = T.launch_thread("blockIdx.x", 2)\n'
        '    by = T.launch_thread("blockIdx.y", bx + 1)\n'
        '    tx = T.launch_thread("threadIdx.x", 32)\n'
        "    X[bx * 64 + by * 32 + tx] = T.tvm_warp_shuffle(T.uint32(0xFFFFFFFF), A[tx], 1, 32, 32)\n"
    )
    func = read(text, "kernel.py")["main"]
    assert turns(func) == (func, "the extent of a launch depends on another one")
    assert outcome(func, "native") == outcome(func, "interp")


@pytest.mark.needs("compiler")
@pytest.mark.parametrize("launch", ["64", "8 x 4 x 2"])
def test_a_wrong_lane_is_seen(monkeypatch, launch):
    func = function(launch, *STARTS, f"L[0] = {shuffle('_xor', 1, 32)}", "X[t] = L[0]")
    right = lanes.Lane.source
    monkeypatch.setattr(lanes.Lane, "source", lambda self, asked: right(self, replace(asked, way="down")))
    assert outcome(func, "native")[0] != outcome(func, "interp")[0]


@pytest.mark.needs("compiler")
def test_a_flag_that_is_not_asked_is_seen(monkeypatch):
    launch, lines, code = STOPPED["a register that was never written, used"]
    monkeypatch.setattr(registers.Registers, "asserted", lambda *_: [])
    assert outcome(function(launch, *STARTS, *lines), "native")[0] != code
