"""Warps in C: drawn kernels whose lanes give each other values come to what the interpreter comes to, to the bit.

Races, lanes that are not there and registers without a value are drawn too: there C has the same bits, or stops.
"""

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from refmlc.diag import RefmlcError
from refmlc.lang.dtypes import FLOAT32
from refmlc.lang.ir import IRModule
from refmlc.lang.wellformed.module import check_module
from refmlc.lang.wellformed.reader_checks import read
from refmlc.native.analysis.rounds import Rounds
from refmlc.native.analysis.turns import in_turns
from refmlc.run.memory.tensor import Tensor
from refmlc.vm import VirtualMachine, build

HEAD = """# from tvm.script import tirx as T
@T.prim_func(s_tir=True)
def main(A: T.Buffer((64,), "float32"), X: T.Buffer((64,), "float32")):
"""
LAUNCHES = {
    "64": ('bx = T.launch_thread("blockIdx.x", 2)', 'x = T.launch_thread("threadIdx.x", 64)', "t: T.let = x"),
    "16": ('x = T.launch_thread("threadIdx.x", 16)', "t: T.let = x"),
    "16 x 4": (
        'x = T.launch_thread("threadIdx.x", 16)',
        'y = T.launch_thread("threadIdx.y", 4)',
        "t: T.let = x + y * 16",
    ),
}
MEMORY = (
    'S = T.alloc_buffer((64,), "float32", scope="shared")',
    'L = T.alloc_buffer((2,), "float32", scope="local")',
    "S[t] = A[t]",
    'T.tvm_storage_sync("shared")',
    "L[0] = A[t]",
)
PLACES = ("t", "63 - t", "(t + 1) % 64", "t // 32 * 32 + 31 - t % 32", "x", "0")
FEW = ("x < 4", "x < 16", "t < 16", "x < 32", "t % 2 == 0", "A[t] < T.float32(0)")
WARP, BLOCK = 'T.tvm_storage_sync("warp")', 'T.tvm_storage_sync("shared")'


@st.composite
def shuffles(draw):
    way = draw(st.sampled_from(("", "_up", "_down", "_xor")))
    place = draw(st.sampled_from(("0", "1", "5", "16", "t % 4", "31")))
    width = draw(st.sampled_from((4, 16, 32)))
    mask = draw(st.sampled_from(("T.tvm_warp_activemask()", "T.uint32(0xFFFFFFFF)")))
    return f"T.tvm_warp_shuffle{way}({mask}, L[{draw(st.integers(0, 1))}], {place}, {width}, 32)"


@st.composite
def lines(draw, depth=2, name="k"):
    """Statements of a thread."""
    out = []
    for at in range(draw(st.integers(1, 4))):
        place, other = draw(st.sampled_from(PLACES)), draw(st.sampled_from(PLACES))
        one, two = draw(st.integers(0, 1)), draw(st.integers(0, 1))
        kinds = ["shuffle"] * 3 + ["shared", "local", "global", "bind", "warp", "block"] + ["for", "if"] * (depth > 0)
        match draw(st.sampled_from(kinds)):
            case "shuffle":
                out.append(f"L[{one}] = {draw(st.sampled_from(('', 'L[0] + ', 'A[t] * ')))}{draw(shuffles())}")
            case "shared":
                out.append(f"S[{place}] = S[{other}] + L[{one}]")
            case "local":
                out.append(f"L[{one}] = {draw(st.sampled_from((f'L[{two}]', f'S[{other}]', 'A[t]')))}")
            case "global":
                out.append(f"X[{place}] = L[{one}]")
            case "bind":
                out += [f"v_{name}{at}: T.let = {draw(shuffles())}", f"L[0] = v_{name}{at}"]
            case "warp":
                out += [f"S[{place}] = L[0]", WARP, f"L[1] = S[{other}]"]
            case "block":
                out.append(BLOCK)
            case "for":
                out.append(f"for {name}{at} in range({draw(st.integers(1, 3))}):")
                out += [f"    {line}" for line in draw(lines(depth - 1, f"{name}{at}"))]
            case "if":
                out.append(f"if {draw(st.sampled_from(FEW))}:")
                out += [f"    {line}" for line in draw(lines(depth - 1, f"{name}{at}"))]
    return out


def program(launch, body):
    text = (*LAUNCHES[launch], *MEMORY, *body, "X[t] = L[0]")
    return read(HEAD + "".join(f"    {line}\n" for line in text), "kernel.py")["main"]


def outcome(func, tier="interp"):
    """The bits that a call leaves, or the code of its failure; and the calls that C did not stop."""
    args = [np.random.default_rng(3).standard_normal(64).astype(np.float32), Tensor.empty((64,), FLOAT32)]
    machine = VirtualMachine(build(IRModule({"main": func}), tier=tier))
    try:
        machine["main"](*args)
    except RefmlcError as failure:
        return failure.code.id, 0
    return (args[1].array.tobytes(), args[1].shadow.tobytes()), machine.native.counts.native if machine.native else 0


@settings(max_examples=60, deadline=None)
@given(st.sampled_from(sorted(LAUNCHES)), lines())
def test_lanes_are_the_same_in_c(launch, body):
    func = program(launch, body)
    expected, _ = outcome(func)
    assert outcome(func, "native")[0] == expected
    serial = in_turns(func)
    if serial is not func:
        assert check_module(IRModule({"main": serial})) == (), serial.script()


FIXED = {
    "a sum, shared with the next warp": [
        *(
            f"L[0] = L[0] + T.tvm_warp_shuffle_xor(T.tvm_warp_activemask(), L[0], {distance}, 32, 32)"
            for distance in (8, 1)
        ),
        "S[t] = L[0]",
        BLOCK,
        "L[0] = S[(t + 1) % 64]",
    ],
    "a branch of some lanes": ["if x < 16:", "    S[x] = L[0] * T.float32(2)", f"    {WARP}", "    L[0] = S[15 - x]"],
    "the same in a loop": [
        "for k in range(3):",
        "    L[0] = T.tvm_warp_shuffle_down(T.tvm_warp_activemask(), L[0], k, 8, 32)",
    ],
}


@pytest.mark.needs("compiler")
@pytest.mark.parametrize("name", FIXED)
def test_lanes_as_written_by_hand(name):
    func = program("64", FIXED[name])
    expected, _ = outcome(func)
    assert isinstance(expected, tuple)
    assert outcome(func, "native") == (expected, 1)


@pytest.mark.parametrize(
    ("name", "guard", "fault"),
    [
        ("a sum, shared with the next warp", "_meet_in_part", lambda _rounds, *, whole: None),
        ("a branch of some lanes", "_meet_in_part", lambda _rounds, *, whole: None),
        ("the same in a loop", "_meet_in_part", lambda _rounds, *, whole: None),
    ],
)
def test_each_guard_is_needed(monkeypatch, name, guard, fault):
    func = program("64", FIXED[name])
    expected, _ = outcome(func)
    assert outcome(in_turns(func))[0] == expected
    monkeypatch.setattr(Rounds, guard, fault)
    serial = in_turns(func)
    assert serial is not func
    assert outcome(serial)[0] != expected


def test_a_branch_that_others_disturb_is_left():
    body = [*FIXED["a branch of some lanes"], "S[15 - x % 16] = A[t]"]
    func = program("64", body)
    assert in_turns(func) is func
    assert outcome(func, "native")[0] == outcome(func)[0]
