"""Warps and barriers of a kernel (TIW-001 … TIW-005): values worked out from the lanes, by hand."""

import numpy as np
import pytest

from refmlc.diag import RefmlcError
from refmlc.lang.script import read
from refmlc.observe.sanitize import sanitize
from refmlc.run.interp.machine import Machine

IDS = "T.device_entry()\nb = T.cta_id([1])\nt = T.thread_id([{threads}])\n"
ALL = "T.uint32(0xFFFFFFFF)"
BITS = "d = T.alloc_local((2,), 'uint32')\n"


def run(body, *arrays, threads=64):
    """Call the kernel of this body on arrays A, B, …, which it changes; `l` is the lane, `w` the warp."""
    params = ", ".join(
        f"{name}: T.Buffer({item.shape}, '{item.dtype}')" for name, item in zip("ABCD", arrays, strict=False)
    )
    ids = IDS.format(threads=threads) + "l: T.let = t % 32\nw: T.let = t // 32\n"
    lines = "".join(f"    {line}\n" for line in (ids + body).split("\n"))
    Machine(read(f"@T.prim_func\ndef f({params}):\n{lines}", "f.py")).call("f", arrays)


def failure(body, *arrays, threads=64):
    with pytest.raises(RefmlcError) as caught:
        run(body, *arrays, threads=threads)
    return caught.value


def ints(count=64):
    return np.full(count, -1, "int32")


def uints(count=64):
    return np.full(count, 77, "uint32")


# ------------------------------------------------------------------------------------------------------ shuffles


@pytest.mark.parametrize(
    ("call", "lane"),
    [
        (f"T.cuda.__shfl_sync({ALL}, t, 5, 32)", lambda lane: 5),
        (f"T.cuda.__shfl_sync({ALL}, t, 13, 8)", lambda lane: lane // 8 * 8 + 5),
        (f"T.cuda.__shfl_up_sync({ALL}, t, 3, 16)", lambda lane: lane - 3 if lane % 16 >= 3 else lane),
        (f"T.cuda.__shfl_down_sync({ALL}, t, 3, 32)", lambda lane: lane + 3 if lane < 29 else lane),
        (f"T.cuda.__shfl_xor_sync({ALL}, t, 16, 32)", lambda lane: lane ^ 16),
        (f"T.cuda.__shfl_xor_sync({ALL}, t, 4, 4)", lambda lane: lane if lane ^ 4 > lane else lane - 4),
    ],
)
def test_a_shuffle_of_cuda_gives_the_value_of_another_lane(call, lane):
    out = ints()
    run(f"A[t] = {call}", out)
    assert out.tolist() == [t // 32 * 32 + lane(t % 32) for t in range(64)]


@pytest.mark.parametrize(
    ("mode", "b", "c", "lane", "within"),
    [
        ("idx", 7, 31, lambda lane: 7, lambda lane: 1),
        ("idx", 7, 0x1803, lambda lane: lane, lambda lane: 0),
        ("idx", 2, 0x1807, lambda lane: lane // 8 * 8 + 2, lambda lane: 1),
        ("up", 2, 0, lambda lane: lane - 2 if lane >= 2 else lane, lambda lane: int(lane >= 2)),
        ("down", 30, 31, lambda lane: lane + 30 if lane < 2 else lane, lambda lane: int(lane < 2)),
        ("bfly", 1, 31, lambda lane: lane ^ 1, lambda lane: 1),
        ("bfly", 16, 0x100F, lambda lane: lane if lane < 16 else lane - 16, lambda lane: int(lane >= 16)),
    ],
)
def test_a_shuffle_of_ptx_says_whether_the_lane_is_within(mode, b, c, lane, within):
    out, holds = ints(), ints()
    d = "d = T.alloc_local((1,), 'int32')\np = T.alloc_local((1,), 'uint32')\n"
    run(
        f"{d}T.ptx.shfl_sync.{mode}.b32(d[0], p[0], t, T.uint32({b}), T.uint32({c}), {ALL})\n"
        "A[t] = d[0]\nB[t] = T.int32(p[0])",
        out,
        holds,
    )
    assert out.tolist() == [t // 32 * 32 + lane(t % 32) for t in range(64)]
    assert holds.tolist() == [within(t % 32) for t in range(64)]


def test_the_printed_form_of_an_instruction_is_the_same():
    out = ints()
    d = "d = T.alloc_local((1,), 'int32')\n"
    run(f'{d}T.ptx.shfl_sync(d[0], t, T.uint32(3), T.uint32(31), {ALL}, "bfly", "b32", "")\nA[t] = d[0]', out)
    assert out.tolist() == [t ^ 3 for t in range(64)]


def test_a_shuffle_is_an_operand_of_another_one():
    out = ints()
    run(f"A[t] = T.cuda.__shfl_xor_sync({ALL}, T.cuda.__shfl_sync({ALL}, t * 2, l + 1, 32), 1, 32)", out)
    assert out.tolist() == [2 * (t // 32 * 32 + (t % 32 ^ 1) % 32 + 1 - 32 * (t % 32 == 30)) for t in range(64)]


def test_lanes_of_a_mask_meet_without_the_others():
    out = ints(32)
    run("if l < 8:\n    A[t] = T.cuda.__shfl_sync(T.uint32(0xFF), l * 10, 7 - l, 32)", out, threads=32)
    assert out.tolist() == [70 - 10 * lane for lane in range(8)] + [-1] * 24


def test_lanes_with_different_masks_shuffle_in_both_branches():
    out = ints(32)
    shuffle = "A[t] = T.cuda.__shfl_xor_sync(T.uint32({}), l, {}, 32)"
    run(
        f"if l < 16:\n    {shuffle.format('0xFFFF', 1)}\nelse:\n    {shuffle.format('0xFFFF0000', 2)}",
        out,
        threads=32,
    )
    assert out.tolist() == [lane ^ (1 if lane < 16 else 2) for lane in range(32)]


def test_lanes_meet_from_different_places_by_one_operation():
    out = ints(32)
    shuffle = f"A[t] = T.cuda.__shfl_xor_sync({ALL}, l{{more}}, 1, 32)"
    run(f"if l % 2 == 0:\n    {shuffle.format(more='')}\nelse:\n    {shuffle.format(more=' + 100')}", out, threads=32)
    assert out.tolist() == [lane + 101 if lane % 2 == 0 else lane - 1 for lane in range(32)]


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("T.if_then_else(w == 1, {s}, -5)", lambda t: t ^ 1 if t >= 32 else -5),
        ("T.if_then_else(w == 1, T.if_then_else(l < 40, {s}, 0), -5)", lambda t: t ^ 1 if t >= 32 else -5),
        ("T.Select(w == 1, {s}, -5)", lambda t: t ^ 1 if t >= 32 else -5),
        ("T.Let({s} + y, where={{y: t * 100}})", lambda t: (t ^ 1) + 100 * t),
    ],
)
def test_a_shuffle_is_evaluated_on_a_condition_that_holds_for_whole_warps(value, expected):
    out = ints()
    shuffle = f"T.cuda.__shfl_xor_sync({ALL}, t, 1, 32)"
    run(
        f"y = T.int32()\nA[t] = {value.format(s=shuffle)}" if "where" in value else f"A[t] = {value.format(s=shuffle)}",
        out,
    )
    assert out.tolist() == [expected(t) for t in range(64)]


def test_a_junction_stops_before_a_vote():
    out = ints()
    run(f"if w == 0 or T.cuda.any_sync({ALL}, l == 31) == 1:\n    A[t] = 1", out)
    assert out.tolist() == [1] * 64
    out = ints()
    run(f"if w == 0 and T.cuda.any_sync({ALL}, l == 99) == 0:\n    A[t] = 1", out)
    assert out.tolist() == [1] * 32 + [-1] * 32


def test_a_shuffle_that_some_lanes_of_its_mask_never_reach_diverges():
    caught = failure(f"A[t] = T.if_then_else(l < 3, T.cuda.__shfl_sync({ALL}, t, 0, 32), 1)", ints())
    assert (
        caught.code.id,
        "waits for all threads of its warp, threadIdx.x 3 has ended" in caught.diagnostic.message,
    ) == (
        "RM327",
        True,
    )
    caught = failure("if l < 9:\n    A[t] = T.cuda.__shfl_sync(T.uint32(0x1FF) - T.uint32(l == 4), t, 0, 32)", ints())
    assert caught.code.id == "RM327"
    caught = failure("A[t] = T.cuda.__shfl_sync(T.uint32(0xFE), t, 1, 32)", ints(32), threads=32)
    assert "threadIdx.x 0 waits for the lanes 0xfe of its warp, which leave it out" in caught.diagnostic.message


def test_a_lane_outside_of_the_mask_is_not_read():
    caught = failure("if l < 8:\n    A[t] = T.cuda.__shfl_sync(T.uint32(0xFF), t, 8, 32)", ints())
    assert caught.code.id == "RM502"
    assert "`T.cuda.__shfl_sync` reads lane 8, which is not among the 8 that came" in caught.diagnostic.message


# --------------------------------------------------------------------------------------- votes and reductions


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        (f"T.uint32(T.cuda.any_sync({ALL}, t == 40))", lambda t: int(t >= 32)),
        (f"T.cuda.ballot_sync({ALL}, T.Select(l % 3 == 0, 1, 0))", lambda t: sum(1 << k for k in range(0, 32, 3))),
        (
            f"T.cuda.reduce_add_sync_u32({ALL}, T.uint32(0xF0000000) + T.uint32(t))",
            lambda t: (32 * 0xF0000000 + 496 + 1024 * (t // 32)) % 2**32,
        ),
        (f"T.cuda.reduce_min_sync_u32({ALL}, T.uint32(t + 5))", lambda t: t // 32 * 32 + 5),
        ("T.cuda.__activemask()", lambda t: 2**32 - 1),
        ("T.tvm_warp_activemask()", lambda t: 2**32 - 1),
        ("T.uint32(T.cuda.ffs_u32(T.uint32(t) << T.uint32(2)))", lambda t: 0 if t == 0 else (t & -t).bit_length() + 2),
        ("T.uint32(T.cuda.thread_rank())", lambda t: t),
    ],
)
def test_a_vote_gives_every_lane_the_same(call, expected):
    out = uints()
    run(f"A[t] = {call}", out)
    assert out.tolist() == [expected(t) for t in range(64)]


@pytest.mark.parametrize(
    ("instruction", "expected"),
    [
        (f"vote_sync.all.pred(d[0], T.ptx.pred(t < 32), {ALL})", lambda t: int(t < 32)),
        (f"vote_sync.any.pred(d[0], T.ptx.pred(t == 9), {ALL})", lambda t: int(t < 32)),
        (f"vote_sync.uni.pred(d[0], T.ptx.pred(t < 40), {ALL})", lambda t: int(t < 32)),
        (f"vote_sync.ballot.b32(d[0], T.ptx.pred(l >= 30), {ALL})", lambda t: 3 << 30),
        (f"match.any.sync.b32(d[0], l // 16, {ALL})", lambda t: 0xFFFF << t % 32 // 16 * 16),
        (f"match.all.sync.b32(d[0], T.Select(t < 32, 4, t), {ALL})", lambda t: 0xFFFFFFFF if t < 32 else 0),
        (f"redux_sync.add.s32(d[0], -l, {ALL})", lambda t: 2**32 - 496),
        (f"redux_sync.max.s32(d[0], -t, {ALL})", lambda t: -(t // 32 * 32) % 2**32),
        (f"redux_sync.and_.b32(d[0], T.uint32(l + 32), {ALL})", lambda t: 32),
        (f"redux_sync.or_.b32(d[0], T.uint32(l), {ALL})", lambda t: 31),
        (f"redux_sync.xor.b32(d[0], T.uint32(t + l // 31), {ALL})", None),
        ("activemask.b32(d[0])", lambda t: 2**32 - 1),
        (f"elect_sync(d[1], d[0], {ALL})", lambda t: int(t % 32 == 0)),
    ],
)
def test_an_instruction_of_a_warp_writes_its_result(instruction, expected):
    out = uints()
    if "xor" in instruction:
        lanes = [[t + t % 32 // 31 for t in range(warp, warp + 32)] for warp in (0, 32)]
        totals = [int(np.bitwise_xor.reduce(values)) for values in lanes]
        expected = lambda t: totals[t // 32]  # noqa: E731
    run(f"{BITS}T.ptx.{instruction}\nA[t] = d[0]", out)
    assert out.tolist() == [expected(t) for t in range(64)]


@pytest.mark.parametrize(
    ("words", "values", "expected"),
    [
        ("max", {3: 7.5, 4: np.nan}, 7.5),
        ("min", {3: -7.5, 9: 2.0}, -7.5),
        ("min.abs", {3: -0.25}, 0.25),
        ("max.abs", {3: -9.0}, 9.0),
        ("max.NaN", {30: np.nan}, np.nan),
        ("max", dict.fromkeys(range(32), np.nan), np.nan),
        ("min", {5: -0.0} | dict.fromkeys({*range(32)} - {5}, 0.0), -0.0),
    ],
)
def test_a_reduction_of_floats_leaves_nan_out(words, values, expected):
    data, out = np.ones(32, "float32"), np.zeros(32, "float32")
    data[list(values)] = list(values.values())
    run(f"T.ptx.redux_sync.{words}.f32(B[t], A[t], {ALL})", data, out, threads=32)
    np.testing.assert_array_equal(out, np.full(32, expected, "float32"))
    assert (np.signbit(out) == np.signbit(np.float32(expected))).all() or np.isnan(expected)


def test_a_match_of_all_says_whether_they_agree():
    out, agreed = uints(), uints()
    run(f"{BITS}T.ptx.match.all.sync.b32(d[0], d[1], l * w, {ALL})\nA[t] = d[0]\nB[t] = d[1]", out, agreed)
    assert out.tolist() == [0xFFFFFFFF] * 32 + [0] * 32
    assert agreed.tolist() == [1] * 32 + [0] * 32


def test_a_reduction_over_lanes_rounds_at_each_step():
    values = np.float32(np.linspace(0.1, 7.7, 64) ** 3)
    out = np.zeros(64, "float32")
    run('B[t] = T.cuda.warp_reduce(A[t], "sum", 8)', values, out)
    expected = values.copy()
    for bit in (4, 2, 1):
        expected = expected + expected[np.arange(64) ^ bit]
    assert out.tobytes() == expected.tobytes()


@pytest.mark.parametrize(("op", "fold"), [("max", np.maximum), ("min", np.minimum)])
def test_the_extreme_of_lanes_leaves_out_nan(op, fold):
    values = np.float32(np.sin(np.arange(64) * 9.0))
    values[5] = np.nan
    values[33:64] = np.nan
    out = np.zeros(64, "float32")
    run(f'B[t] = T.cuda.warp_reduce(A[t], "{op}", 32)', values, out)
    clean = np.delete(values[:32], 5)
    assert out.tolist() == [float(fold.reduce(clean))] * 32 + [float(values[32])] * 32
    zeros = np.float32([0.0, -0.0] * 32)
    run(f'B[t] = T.cuda.warp_reduce(A[t], "{op}", 2)', zeros, out)
    assert np.signbit(out).tolist() == [op == "min"] * 64


def test_lanes_that_diverge_are_not_active_together():
    out = uints(32)
    run("if l < 4:\n    A[t] = T.cuda.__activemask()\nelse:\n    A[t] = T.cuda.__activemask()", out, threads=32)
    assert out.tolist() == [0xF] * 4 + [0xFFFFFFF0] * 28


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (f"{BITS}T.ptx.match.any.sync.b32(d[0], T.float32(1), {ALL})", "`T.ptx.match` on a float is not executed"),
        (
            f"{BITS}T.ptx.redux_sync.add.f32(d[0], T.float32(l), {ALL})",
            "`T.ptx.redux_sync` on float32 is not executed",
        ),
        (f"{BITS}T.ptx.vote_sync.all.pred(d[0], t < 1, {ALL}, pred=True)", "with a predicate, keywords or an operand"),
        ('A[t] = T.cuda.warp_reduce(t, "sum", 12)', 'as "sum" over 12 lanes is not executed'),
        ("T.ptx.bar.sync(16)", "at barrier 16 of 16 is not executed"),
        ("T.ptx.bar.sync(1, 40)", "for 40 threads, no multiple of 32, is not executed"),
    ],
)
def test_other_forms_are_unsupported_by_name(body, message):
    caught = failure(body, ints())
    assert caught.code.id in ("RM502", "RM504")
    assert message in caught.diagnostic.message


# ------------------------------------------------------------------------------------------------------ barriers

SHARED = "S = T.alloc_shared((64,), 'int32')\n"


@pytest.mark.parametrize("barrier", ["T.ptx.bar.sync(0)", "T.ptx.barrier.sync(5)", "T.ptx.bar.sync(3, 64)"])
def test_a_numbered_barrier_is_one_of_all_threads(barrier):
    out = ints()
    run(f"{SHARED}S[t] = t\n{barrier}\nA[t] = S[63 - t]", out)
    assert out.tolist() == [63 - t for t in range(64)]


def test_warps_meet_at_one_barrier_from_different_places():
    out = ints()
    run(
        f"{SHARED}S[t] = t\nif w == 0:\n    T.cuda.cta_sync()\n    A[t] = S[63 - t]\n"
        "else:\n    T.ptx.bar.sync(0)\n    A[t] = S[63 - t] + 100",
        out,
    )
    assert out.tolist() == [63 - t + (100 if t >= 32 else 0) for t in range(64)]


def test_threads_of_one_warp_do_not_meet_from_different_places():
    caught = failure("if l < 9:\n    T.cuda.cta_sync()\nelse:\n    T.cuda.cta_sync()", ints())
    assert caught.code.id == "RM327"
    assert (
        "threadIdx.x 9 waits for all threads of its block, threadIdx.x 0 waits elsewhere" in caught.diagnostic.message
    )
    run("if l < 9:\n    T.ptx.barrier.sync(0)\nelse:\n    T.ptx.barrier.sync(0)", ints())


def test_a_barrier_of_some_warps_leaves_the_others():
    out = ints(96)
    run(
        "S = T.alloc_shared((96,), 'int32')\nS[t] = t\nif w < 2:\n    T.ptx.bar.sync(1, 64)\n    A[t] = S[63 - t]",
        out,
        threads=96,
    )
    assert out.tolist() == [63 - t for t in range(64)] + [-1] * 32


def test_a_producer_arrives_and_a_consumer_waits():
    out = ints()
    run(
        f"{SHARED}if w == 1:\n    S[l] = l * l\n    T.ptx.bar.arrive(2, 64)\nelse:\n"
        "    T.ptx.bar.sync(2, 64)\n    A[t] = S[31 - l]",
        out,
    )
    assert out.tolist() == [(31 - t) ** 2 for t in range(32)] + [-1] * 32


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        ("B[t] = T.int32(T.cuda.syncthreads_and(l < {n}))", lambda n: int(n >= 32)),
        ("B[t] = T.int32(T.cuda.syncthreads_or(l == {n}))", lambda n: int(n < 32)),
        ("T.ptx.bar.red.popc.u32(d[0], 0, T.ptx.pred(l < {n}))\nB[t] = T.int32(d[0])", lambda n: 2 * min(n, 32)),
        ("T.ptx.bar.red.and_.pred(d[0], 1, 64, T.ptx.pred(l < {n}))\nB[t] = T.int32(d[0])", lambda n: int(n >= 32)),
        ("T.ptx.barrier.red.or_.pred(d[0], 1, T.ptx.pred(l == {n}))\nB[t] = T.int32(d[0])", lambda n: int(n < 32)),
    ],
)
@pytest.mark.parametrize("n", [5, 32])
def test_a_barrier_reduces_what_threads_say(call, expected, n):
    out = ints()
    run(f"{BITS}{call.format(n=n).replace('B[', 'A[')}", out)
    assert out.tolist() == [expected(n)] * 64


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("if w == 0:\n    T.ptx.bar.sync(1, 64)", "threadIdx.x 0 waits at barrier 1 for 64 threads, 32 have come"),
        ("T.ptx.bar.sync(1, 32)", "threadIdx.x 0 waits at barrier 1 for 32 threads, 64 have come"),
        ("T.cuda.warpgroup_sync(1)", "threadIdx.x 0 waits at barrier 1 for 128 threads, 64 have come"),
        ("T.ptx.bar.arrive(1, 96)\nT.ptx.bar.arrive(1, 96)", "arrives at barrier 1 again, which has not opened"),
        ("if w == 0:\n    T.ptx.bar.sync(1, 64)\nelse:\n    T.ptx.bar.sync(2, 64)", "barrier 1 for 64 threads"),
        ("if w == 0:\n    T.cuda.cta_sync()\nelse:\n    A[t] = T.int32(T.cuda.syncthreads_or(1))", "waits elsewhere"),
    ],
)
def test_a_barrier_to_which_too_few_or_too_many_come_diverges(body, message):
    caught = failure(body, ints())
    assert caught.code.id == "RM327"
    assert message in caught.diagnostic.message


# ----------------------------------------------------------------------------------- what TVM lowers reductions to


def reduction(threads, body, result):
    """A kernel as LowerThreadAllreduce writes it, of axes by `T.launch_thread`."""
    return (
        '@T.prim_func\ndef f(A: T.Buffer(({0},), "int32"), B: T.Buffer(({0},), "int32")):\n'
        '    bx = T.launch_thread("blockIdx.x", 1)\n    ty = T.launch_thread("threadIdx.y", 1)\n'
        '    tx = T.launch_thread("threadIdx.x", {0})\n{1}    B[tx] = {2}\n'
    ).format(threads, "".join(f"    {line}\n" for line in body.splitlines()), result)


STEPS = """
r[0] = A[tx]
m[0] = T.tvm_warp_activemask()
"""


def steps(register, first):
    lines = []
    while first:
        lines.append(f"s[0] = T.tvm_warp_shuffle_down(m[0], {register}[0], {first}, 32, 32)")
        lines.append(f"{register}[0] = {register}[0] + s[0]")
        first //= 2
    return "\n".join(lines)


REGISTERS = 'r = T.alloc_local((1,), "int32")\ns = T.alloc_local((1,), "int32")\nm = T.alloc_local((1,), "uint32")\n'


@pytest.mark.parametrize("threads", [8, 32])
def test_a_sum_by_shuffles_uses_no_value_of_lanes_that_are_not_there(threads):
    body = f"{REGISTERS}{STEPS.strip()}\n{steps('r', threads // 2)}\nr[0] = T.tvm_warp_shuffle(m[0], r[0], 0, 32, 32)"
    values, out = np.arange(threads, dtype="int32") ** 2, ints(threads)
    Machine(read(reduction(threads, body, "r[0]"), "f.py")).call("f", [values, out])
    assert out.tolist() == [int(values.sum())] * threads


TWO_WARPS = f"""{REGISTERS}q = T.alloc_local((1,), "int32")
S = T.alloc_shared((2,), "int32")
{STEPS.strip()}
{steps("r", 16)}
if tx % 32 == 0:
    S[tx // 32] = r[0]
T.tvm_storage_sync("shared")
if tx < 2:
    q[0] = S[tx]
m[0] = T.tvm_warp_activemask()
{steps("q", 1)}"""


def test_registers_that_were_never_written_are_shuffled():
    values, out = np.arange(64, dtype="int32"), ints()
    body = f"{TWO_WARPS}\nR = T.alloc_shared((1,), 'int32')\nif tx == 0:\n    R[0] = q[0]\nT.tvm_storage_sync('shared')"
    Machine(read(reduction(64, body, "R[0]"), "f.py")).call("f", [values, out])
    assert out.tolist() == [2016] * 64


def test_a_register_without_a_value_is_not_used():
    with pytest.raises(RefmlcError) as caught:
        Machine(read(reduction(64, TWO_WARPS, "q[0]"), "f.py")).call("f", [ints(), ints()])
    assert caught.value.code.id == "RM305"
    assert "`q[0]` is read but was never written" in caught.value.diagnostic.message


def test_lanes_that_come_together_meet_at_a_barrier_of_a_warp():
    body = (
        'S = T.alloc_shared((32,), "int32")\nS[tx] = A[tx]\nT.tvm_storage_sync("shared")\nif tx < 16:\n'
        '    x: T.let = S[tx] + S[31 - tx]\n    T.tvm_storage_sync("warp")\n    S[tx] = x * tx\n'
        '    T.tvm_storage_sync("warp")\n    y: T.let = S[15 - tx]\n    S[tx + 16] = y\nT.tvm_storage_sync("shared")'
    )
    values, out = np.arange(32, dtype="int32"), ints(32)
    report = sanitize(read(reduction(32, body, "S[tx]"), "f.py"), "f", [values, out])
    assert not any(report.counts.values())
    assert out.tolist() == [31 * t for t in range(16)] + [31 * (15 - t) for t in range(16)]
    unordered = body.replace('    S[tx] = x * tx\n    T.tvm_storage_sync("warp")\n', "    S[tx] = x * tx\n")
    report = sanitize(read(reduction(32, unordered, "S[tx]"), "f.py"), "f", [values, ints(32)])
    assert report.counts["RM321"]
