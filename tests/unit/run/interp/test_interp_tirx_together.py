"""What threads of a kernel do together (TIX-005 … TIX-007): tile primitives, barriers of parts, shuffles, elections."""

import numpy as np
import pytest

from refmlc.diag import RefmlcError
from refmlc.lang.script import read
from refmlc.run.interp.machine import Machine
from refmlc.run.memory.budget import Budget

IDS = "T.device_entry()\nb = T.cta_id([1])\nt = T.thread_id([{threads}])\nw = T.warp_id()\nl = T.lane_id([32])\n"
LAYOUT = "T.TileLayout(T.S[(2, 32, 2) : (1 @ Axis.warpid, 1 @ Axis.laneid, 1)])"
OWNED = f"R = T.alloc_local((64, 2), 'int32', layout={LAYOUT})\n"


def run(body, *arrays, threads=64):
    """Call the kernel of this body on arrays A, B, …, which it changes."""
    params = ", ".join(
        f"{name}: T.Buffer({item.shape}, '{item.dtype}')" for name, item in zip("ABCD", arrays, strict=False)
    )
    lines = "".join(f"    {line}\n" for line in (IDS.format(threads=threads) + body).split("\n"))
    Machine(read(f"@T.prim_func\ndef f({params}):\n{lines}", "f.py")).call("f", arrays)


def failure(body, *arrays, threads=64):
    with pytest.raises(RefmlcError) as caught:
        run(body, *arrays, threads=threads)
    return caught.value


def ints(*shape):
    return np.full(shape, -1, "int32")


# ------------------------------------------------------------------------------------------- tile primitives


def test_a_primitive_of_a_block_is_executed_once():
    out = np.zeros((4,), "int32")
    run("Tx.cta.add(A, A, T.int32(1))", out)
    assert out.tolist() == [1] * 4


def test_a_primitive_of_a_warp_is_executed_by_each_warp_and_one_of_a_thread_by_each_thread():
    out, each = np.zeros((4,), "int32"), np.zeros((64, 1), "int32")
    run("Tx.warp.add(A, A, T.int32(1))\nTx.fill(B[t : t + 1, 0:1], T.int32(t))", out, each)
    assert out.tolist() == [2] * 4
    assert each[:, 0].tolist() == list(range(64))


def test_a_filter_leaves_out_whole_warps():
    out = np.zeros((2, 4), "int32")
    run("if w == 1:\n    Tx.warp.fill(A[1:2, :], T.int32(7))", out)
    assert out.tolist() == [[0] * 4, [7] * 4]


def test_a_primitive_moves_through_memory_of_owners():
    source, out = np.arange(128, dtype="int32").reshape(64, 2), ints(64, 2)
    run(
        f"{OWNED}Tx.cta.copy(R, A)\nr = R.local()\nr[1] = r[0] * 1000 + w * 100 + l\n"
        "Tx.warp.copy(B[w * 32 : w * 32 + 32, :], R[w * 32 : w * 32 + 32, :])",
        source,
        out,
    )
    assert out.tolist() == [[2 * t, 2000 * t + t // 32 * 100 + t % 32] for t in range(64)]


def test_an_element_of_another_warp_is_not_accessed():
    caught = failure(f"{OWNED}Tx.warp.fill(R, T.int32(1))", ints(1))
    assert caught.code.id == "RM330"
    assert "`R[32, 0]`" in caught.diagnostic.message
    assert "warpid = 1, laneid = 0" in caught.diagnostic.message


def test_replicas_are_all_written_and_have_to_agree():
    layout = "T.TileLayout(T.S[(32,) : (1 @ Axis.laneid,)] + T.R[2 : 1 @ Axis.warpid])"
    body = f"R = T.alloc_local((32,), 'int32', layout={layout})\nTx.cta.copy(R, A)\nr = R.local(1)\n"
    source, out = np.arange(32, dtype="int32"), ints(32)
    run(f"{body}if t < 0:\n    r[0] = 1\nTx.cta.copy(B, R)", source, out)
    assert out.tolist() == source.tolist()
    caught = failure(f"{body}if t == 40:\n    r[0] = 77\nTx.cta.copy(B, R)", source, ints(32))
    assert caught.code.id == "RM504"
    assert "`R[8]`, whose copies differ" in caught.diagnostic.message


def test_operands_are_the_same_in_all_threads():
    caught = failure("Tx.warp.fill(A[l : l + 1], T.int32(1))", ints(64))
    assert caught.code.id == "RM329"
    assert "from (0,) with the extents (1,), and from (1,) with (1,), in threads 0, 1" in caught.diagnostic.message
    caught = failure("Tx.warp.fill(A, T.int32(l))", ints(64))
    assert (caught.code.id, "0 and 1" in caught.diagnostic.message) == ("RM329", True)


def test_copies_that_are_zeros_of_different_signs_differ():
    layout = "T.TileLayout(T.S[(32,) : (1 @ Axis.laneid,)] + T.R[2 : 1 @ Axis.warpid])"
    caught = failure(
        f"R = T.alloc_local((32,), 'float32', layout={layout})\nr = R.local(1)\n"
        "r[0] = T.if_then_else(w == 0, T.float32(0.0), T.float32(-0.0))\nTx.cta.copy(A, R)",
        np.zeros(32, "float32"),
    )
    assert (caught.code.id, "`R[0]`, whose copies differ" in caught.diagnostic.message) == ("RM504", True)


def test_a_predicate_is_the_same_in_all_threads():
    select = "Tx.warp.select(A[w * 32 : w * 32 + 32], 1, 2, lambda i: i < {0})"
    caught = failure(select.format("l"), ints(64))
    assert caught.code.id == "RM329"
    assert "operand 3 of `T.warp.select` is a function of `l`, 0 and 1, in threads 0, 1" in caught.diagnostic.message
    caught = failure("R = T.alloc_local((1,), 'int32')\nR[0] = l\n" + select.format("R[0]"), ints(64))
    assert (caught.code.id, "a function of `R`" in caught.diagnostic.message) == ("RM504", True)
    caught = failure("Tx.cta.select(A, 1, 2, lambda i: A[63 - i] < 0)", ints(64))
    assert (caught.code.id, "`A`, whose memory it writes" in caught.diagnostic.message) == ("RM504", True)
    out = ints(64)
    run(select.format("w + 1"), out)
    assert out.tolist() == [1, *[2] * 31, 1, 1, *[2] * 30]


def test_a_region_has_no_negative_extent():
    caught = failure("n: T.let[T.int32] = A[0]\nTx.cta.fill(A[0:n], T.int32(1))", ints(4))
    assert (caught.code.id, caught.diagnostic.message) == ("RM315", "a region of `A` has the extents (-1,)")


def test_a_primitive_that_some_threads_never_reach_diverges():
    caught = failure("if l < 31:\n    Tx.warp.fill(A, T.int32(1))", ints(4))
    assert caught.code.id == "RM327"
    assert "threadIdx.x 0 waits for all threads of its warp, threadIdx.x 31 has ended" in caught.diagnostic.message
    caught = failure("if w == 0:\n    Tx.cta.fill(A, T.int32(1))\nelse:\n    T.cuda.cta_sync()", ints(4))
    assert caught.code.id == "RM327"
    assert caught.diagnostic.related[0].message == "threadIdx.x 32 waits here"


@pytest.mark.parametrize(
    ("body", "threads", "message"),
    [
        (
            "L = T.alloc_local((4,), 'int32')\nTx.warp.fill(L, T.int32(1))",
            64,
            "`L` in scope `local` is of one thread each",
        ),
        ("Tx.wg.fill(A, T.int32(1))", 64, "`T.wg.fill` is not executed by 64 threads"),
        (
            "S = T.alloc_buffer((4,), 'int32', scope='shared')\nTx.cluster.fill(S, T.int32(1))",
            64,
            "`T.cluster.fill` on `S`, of which each block has its own, is not executed",
        ),
        ("Tx.warp.copy_async(A, A)", 64, "`tirx.tile.copy_async` is not executed"),
    ],
)
def test_what_is_not_executed_is_unsupported_by_name(body, threads, message):
    caught = failure(body, ints(4), threads=threads)
    assert caught.code.id == "RM504"
    assert message in caught.diagnostic.message
    assert caught.diagnostic.span is not None


def test_bounds_and_initialisation_are_those_of_each_element():
    caught = failure("Tx.cta.fill(A[2:6], T.int32(1))", ints(4))
    assert (caught.code.id, caught.diagnostic.label) == ("RM304", "index 0 is 4, extent is 4")
    caught = failure("S = T.alloc_shared((4,), 'int32')\nTx.cta.copy(A, S)", ints(4))
    assert (caught.code.id, "`S[0]`, which was never written" in caught.diagnostic.message) == ("RM305", True)


def test_a_workspace_holds_nothing_afterwards():
    body = "S = T.alloc_shared((4,), 'int32')\nTx.cta.fill(S, T.int32(1))\n"
    body += "Tx.cta.fill(A, T.int32(2), workspace={'s': S})\n"
    out = ints(4)
    run(body, out)
    assert out.tolist() == [2] * 4
    assert failure(f"{body}A[0] = S[0]", ints(4)).code.id == "RM305"
    caught = failure(f"{body}Tx.cta.copy(A, S, workspace={{'s': S}})", ints(4))
    assert (caught.code.id, "the memory of `S` as its workspace" in caught.diagnostic.message) == ("RM504", True)


@pytest.mark.parametrize(
    ("statement", "limits", "code"),
    [
        ("Tx.cta.fill(S, T.int32(1))", {"max_bytes": 500_000}, "RM603"),  # as much is held of each element
        ("Tx.cta.gemm(M, M, M, M)", {"max_steps": 10_000}, "RM601"),
    ],
)
def test_a_primitive_stops_within_the_limits(statement, limits, code):
    body = "S = T.alloc_shared((2000,), 'int32')\nM = T.alloc_shared((40, 40), 'int32')\n"
    lines = "".join(f"    {line}\n" for line in (IDS.format(threads=32) + body + statement).split("\n"))
    module = read(f"@T.prim_func\ndef f(A: T.Buffer((4,), 'int32')):\n{lines}", "f.py")
    with pytest.raises(RefmlcError) as caught:
        Machine(module, budget=Budget(**limits)).call("f", [ints(4)])
    assert caught.value.code.id == code
    assert caught.value.diagnostic.span.line == len(lines.splitlines()) + 2


def test_the_clock_is_looked_at_within_a_primitive():
    """Not only where a statement is counted: one primitive may take as long as a loop."""
    looks = []

    class Watched(Budget):
        def look(self, span=None):
            looks.append(span.line)

    lines = "".join(f"    {line}\n" for line in (IDS.format(threads=32) + "Tx.cta.fill(A, T.int32(1))").split("\n"))
    module = read(f"@T.prim_func\ndef f(A: T.Buffer((2000,), 'int32')):\n{lines}", "f.py")
    Machine(module, budget=Watched(max_seconds=60.0)).call("f", [ints(2000)])
    assert looks.count(8) >= 2000 // 256


def test_a_primitive_outside_of_a_kernel_is_unsupported():
    module = read("@T.prim_func\ndef f(A: T.Buffer((4,), 'int32')):\n    Tx.fill(A, T.int32(1))\n", "f.py")
    with pytest.raises(RefmlcError, match="is executed by the threads of a kernel only"):
        Machine(module).call("f", [ints(4)])


# ----------------------------------------------------------------------------------------- meetings of a part


@pytest.mark.parametrize("barrier", ["T.cuda.cta_sync()", "T.cuda.warp_sync()", 'T.tvm_storage_sync("shared")'])
def test_threads_meet_at_a_barrier(barrier):
    out = ints(64)
    run(f"S = T.alloc_shared((64,), 'int32')\nS[t] = t\n{barrier}\nA[t] = S[w * 32 + 31 - l]", out)
    assert out.tolist() == [t // 32 * 32 + 31 - t % 32 for t in range(64)]


def test_warps_do_not_wait_for_each_other_at_a_barrier_of_a_warp():
    body = (
        "S = T.alloc_shared((64,), 'int32')\nif w == 1:\n    S[t] = t\nT.cuda.warp_sync()\nif w == 0:\n    S[t] = t\n"
    )
    out = ints(64)
    run(f"{body}T.cuda.warp_sync()\nA[t] = S[w * 32 + 31 - l]", out)
    assert out.tolist() == [t // 32 * 32 + 31 - t % 32 for t in range(64)]


def test_a_warpgroup_meets_without_the_other_one():
    out = ints(256)
    run(
        "S = T.alloc_shared((256,), 'int32')\nif t >= 128:\n    S[t] = t\n"
        "    T.cuda.warpgroup_sync(1)\n    A[t] = S[383 - t]\n"
        "T.cuda.cta_sync()",
        out,
        threads=256,
    )
    assert out.tolist() == [-1] * 128 + [383 - t for t in range(128, 256)]


@pytest.mark.parametrize(
    ("call", "lane"),
    [
        ("tvm_warp_shuffle(0xFFFFFFFF, t, 5, 32, 32)", lambda lane: 5),
        ("tvm_warp_shuffle(0xFFFFFFFF, t, l + 1, 8, 32)", lambda lane: lane // 8 * 8 + (lane + 1) % 8),
        ("tvm_warp_shuffle_up(0xFFFFFFFF, t, 3, 32, 32)", lambda lane: lane - 3 if lane >= 3 else lane),
        ("tvm_warp_shuffle_down(0xFFFFFFFF, t, 3, 16, 32)", lambda lane: lane + 3 if lane % 16 < 13 else lane),
        ("tvm_warp_shuffle_xor(0xFFFFFFFF, t, 16, 32, 32)", lambda lane: lane ^ 16),
    ],
)
def test_a_shuffle_gives_the_value_of_another_lane(call, lane):
    out = ints(64)
    run(f"A[t] = T.{call}", out)
    assert out.tolist() == [t // 32 * 32 + lane(t % 32) for t in range(64)]


def test_a_sum_over_a_warp_by_shuffles_in_a_loop():
    out = np.zeros(64, "float32")
    run(
        "v = T.alloc_local((1,), 'float32')\ni = T.alloc_local((1,), 'int32')\nv[0] = T.float32(t)\n"
        "i[0] = 16\nwhile i[0] >= 1:\n"
        "    v[0] += T.tvm_warp_shuffle_xor(0xFFFFFFFF, v[0], i[0], 32, 32)\n    i[0] = i[0] // 2\nA[t] = v[0]",
        out,
    )
    assert out.tolist() == [496.0] * 32 + [496.0 + 32 * 32] * 32


def test_one_thread_of_a_warp_is_elected():
    out = np.zeros(64, "int32")
    run("if w == 1 and T.cuda.elect_sync() != T.uint32(0):\n    A[t] = 1", out)
    assert sorted(out.tolist()) == [0] * 63 + [1]
    assert out[32:].sum() == 1


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("A[t] = T.tvm_warp_shuffle(T.int64(1) << 40, t, 0, 32, 32)", "has no mask of 32 bits"),
        ("A[t] = T.tvm_warp_shuffle(0xFFFFFFFF, t, 0, 12, 32)", "of the width 12 is not executed"),
        ("A[t] = T.tvm_warp_shuffle_up(0xFFFFFFFF, t, -1, 32, 32)", "over -1 lanes is not executed"),
        ("A[t] = T.tvm_warp_shuffle_down(0xFFFFFFFF, t, 33, 32, 32)", "over 33 lanes is not executed"),
        ("A[t] = T.tvm_warp_shuffle_xor(0xFFFFFFFF, t, 8, 32, 32)", "reads lane 8, which is not among the 8 that came"),
    ],
)
def test_other_shuffles_are_unsupported(body, message):
    threads = 40 if "the 8 that" in message else 64
    lines = IDS.format(threads=threads).replace("l = T.lane_id([32])\n", "").replace("w = T.warp_id()\n", "")
    text = "@T.prim_func\ndef f(A: T.Buffer((64,), 'int32')):\n" + "".join(
        f"    {line}\n" for line in f"{lines}l: T.let = t % 32\n{body}".split("\n")
    )
    with pytest.raises(RefmlcError) as caught:
        Machine(read(text, "f.py")).call("f", [ints(64)])
    assert caught.value.code.id in ("RM502", "RM504")
    assert message in caught.value.diagnostic.message


def test_launched_threads_meet_as_those_of_a_kernel():
    """A kernel as TVM lowers it: axes by `T.launch_thread`, the number of the warp by a shuffle."""
    text = """
@T.prim_func
def f(A: T.Buffer((2, 64, 2), "int32")):
    with T.launch_thread("blockIdx.x", 2) as bx:
        tx = T.launch_thread("threadIdx.x", 16)
        ty = T.launch_thread("threadIdx.y", 4)
        warp: T.let[T.int32] = T.tvm_warp_shuffle(T.uint32(4294967295), (tx + ty * 16) // 32, 0, 32, 32)
        S = T.alloc_buffer((64,), "int32", scope="shared")
        S[tx + ty * 16] = tx + ty * 100
        T.cuda.cta_sync()
        A[bx, tx + ty * 16, 0] = warp
        A[bx, tx + ty * 16, 1] = S[63 - tx - ty * 16] + 1000 * bx
"""
    out = ints(2, 64, 2)
    Machine(read(text, "f.py")).call("f", [out])
    numbers = [[t // 32, (63 - t) % 16 + (63 - t) // 16 * 100] for t in range(64)]
    assert out.tolist() == [[[warp, value + 1000 * block] for warp, value in numbers] for block in range(2)]
