"""Kernels of `T.device_entry()` in C: drawn ones come to what the interpreter comes to, to the bit.

Races and reads of memory without a value are drawn too: there C has the same bits, or stops.
"""

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from refmlc.diag import RefmlcError
from refmlc.lang.dtypes import FLOAT32
from refmlc.lang.ir import IRModule
from refmlc.lang.wellformed.module import check_module
from refmlc.lang.wellformed.reader_checks import read
from refmlc.native.analysis.turns import in_turns, turns
from refmlc.rewrite.launches import entries
from refmlc.run.memory.tensor import Tensor
from refmlc.vm import VirtualMachine, build

HEAD = """# from tvm.script import tirx as T
@T.prim_func
def main(A: T.Buffer((64,), "float32"), X: T.Buffer((256,), "float32")):
    T.device_entry()
"""
LAUNCHES = {
    "blocks and threads": ("b = T.cta_id([4])", "t = T.thread_id([64])"),
    "blocks on two axes": ("c, d = T.cta_id([2, 2])", "t = T.thread_id([64])", "b: T.let = c + d * 2"),
    "threads on two axes": ("b = T.cta_id([4])", "u, v = T.thread_id([16, 4])", "t: T.let = u + v * 16"),
    "warps and lanes": ("b = T.cta_id([4])", "w = T.warp_id([2])", "l = T.lane_id([32])", "t: T.let = w * 32 + l"),
    "blocks of clusters": (
        "p = T.cluster_id([2])",
        "q = T.cta_id_in_cluster([2])",
        "t = T.thread_id([64])",
        "b: T.let = p * 2 + q",
    ),
}
MEMORY = (
    'S = T.alloc_shared((64,), "float32")',
    'L = T.alloc_local((2,), "float32")',
    "S[t] = A[t]",
    "T.cuda.cta_sync()",
    "L[0] = A[63 - t]",
)
PLACES = ("t", "63 - t", "(t + 1) % 64", "t // 32 * 32 + 31 - t % 32", "t // 16", "0")
SOME = ("t < 16", "t % 2 == 0", "b == 1", "b % 2 == 0", "A[t] < T.float32(0)")
BLOCK, WARP = "T.cuda.cta_sync()", "T.cuda.warp_sync()"


@st.composite
def lines(draw, depth=2, name="k"):
    """Statements of a thread."""
    out = []
    for at in range(draw(st.integers(1, 4))):
        place, other = draw(st.sampled_from(PLACES)), draw(st.sampled_from(PLACES))
        one, two = draw(st.integers(0, 1)), draw(st.integers(0, 1))
        kinds = ["shared", "shared", "local", "global", "block", "block", "warp", "shuffle"]
        match draw(st.sampled_from(kinds + ["for", "if"] * (depth > 0))):
            case "shared":
                out.append(f"S[{place}] = S[{other}] + L[{one}]")
            case "local":
                out.append(f"L[{one}] = {draw(st.sampled_from((f'L[{two}]', f'S[{other}]', 'A[t]')))}")
            case "global":
                out.append(f"X[{draw(st.sampled_from(('b * 64', 'b // 2 * 64', '0')))} + {place}] = L[{one}]")
            case "block":
                out.append(BLOCK)
            case "warp":
                out += [f"S[{place}] = L[0]", WARP, f"L[1] = S[{other}]"]
            case "shuffle":
                way = draw(st.sampled_from(("_xor", "_up", "_down", "")))
                lane = draw(st.integers(0, 31))
                out.append(f"L[{one}] = T.cuda.__shfl{way}_sync(T.uint32(0xFFFFFFFF), L[{two}], {lane}, 32)")
            case "for":
                out.append(f"for {name}{at} in range({draw(st.integers(1, 3))}):")
                out += [f"    {line}" for line in draw(lines(depth - 1, f"{name}{at}"))]
            case "if":
                out.append(f"if {draw(st.sampled_from(SOME))}:")
                out += [f"    {line}" for line in draw(lines(depth - 1, f"{name}{at}"))]
    return out


def program(launch, body):
    text = (*LAUNCHES[launch], *MEMORY, *body, "X[b * 64 + t] = L[0]")
    return read(HEAD + "".join(f"    {line}\n" for line in text), "kernel.py")["main"]


def outcome(func, tier="interp"):
    """The bits that a call leaves, or the code of its failure; and the calls that C did not stop."""
    args = [np.random.default_rng(3).standard_normal(64).astype(np.float32), Tensor.empty((256,), FLOAT32)]
    machine = VirtualMachine(build(IRModule({"main": func}), tier=tier))
    try:
        machine["main"](*args)
    except RefmlcError as failure:
        return failure.code.id, 0
    return (args[1].array.tobytes(), args[1].shadow.tobytes()), machine.native.counts.native if machine.native else 0


@settings(max_examples=60, deadline=None)
@given(st.sampled_from(sorted(LAUNCHES)), lines())
def test_kernels_are_the_same_in_c(launch, body):
    func = program(launch, body)
    expected, _ = outcome(func)
    assert outcome(func, "native")[0] == expected
    serial = in_turns(func)
    if serial is not func:
        assert check_module(IRModule({"main": serial})) == (), serial.script()


FIXED = [
    'L[0] = L[0] + T.Cast("float32", b)',
    "S[63 - t] = S[63 - t] * T.float32(2)",
    BLOCK,
    "for k in range(3):",
    "    L[0] = L[0] + S[(t + k) % 64]",
    f"    {BLOCK}",
    "    S[t] = L[0]",
    f"    {BLOCK}",
]


@pytest.mark.needs("compiler")
@pytest.mark.parametrize("launch", LAUNCHES)
def test_a_kernel_as_written_by_hand(launch):
    func = program(launch, FIXED)
    expected, _ = outcome(func)
    assert isinstance(expected, tuple)
    assert outcome(func, "native") == (expected, 1)


@pytest.mark.parametrize(
    ("launch", "name", "fault"),
    [
        ("blocks on two axes", "cta_id", lambda ids, count: ids.blocks[:1] * count),
        ("threads on two axes", "thread_id", lambda ids, _count: [ids.on_axis(1), ids.on_axis(0)]),
        ("warps and lanes", "lane_id", lambda ids, _count: [ids._apply("floordiv", ids.thread, 2)]),
    ],
)
def test_wrong_ids_are_seen(monkeypatch, launch, name, fault):
    func = program(launch, FIXED)
    expected, _ = outcome(func)
    values = entries.Ids.values

    def planted(ids, kind, count):
        return fault(ids, count) if kind == name else values(ids, kind, count)

    monkeypatch.setattr(entries.Ids, "values", planted)
    serial = in_turns(func)
    assert serial is not func
    assert outcome(serial)[0] != expected


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        (["T.ptx.bar.sync(0)"], "T.ptx.bar"),
        (["T.cuda.cluster_sync()"], "blocks of a cluster"),
    ],
)
def test_what_is_not_plain_stays_with_the_interpreter(lines, words):
    func = program("blocks of clusters", lines)
    left, reason = turns(func)
    assert left is func
    assert words in reason
    assert outcome(func, "native")[0] == outcome(func)[0]
