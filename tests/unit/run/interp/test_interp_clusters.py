"""Clusters whose blocks wait for each other (TIX-022): values and orders worked out by hand."""

import numpy as np
import pytest

from refmlc.diag import RefmlcError
from refmlc.lang.script import read
from refmlc.observe.sanitize import sanitize
from refmlc.run.interp.machine import Machine
from refmlc.run.interp.threads.schedule import ThreadSchedule

SYNC = "T.cuda.cluster_sync()"
SPLIT = "T.ptx.barrier.cluster.arrive()\nT.ptx.barrier.cluster.wait()"
EXCHANGE = "A[b * 64 + t] = 100 * b + t\n{sync}\nB[b * 64 + t] = A[(b - r + 1 - r) * 64 + 63 - t]"


def module(body, ids="b = T.cta_id([4])\nr = T.cta_id_in_cluster([2])\nt = T.thread_id([64])"):
    """A kernel of four blocks of 64 threads, two to a cluster."""
    lines = "".join(f"    {line}\n" for line in ("T.device_entry()\n" + ids + "\n" + body).split("\n"))
    return read(f"@T.prim_func\ndef f(A: T.Buffer((256,), 'int32'), B: T.Buffer((256,), 'int32')):\n{lines}", "f.py")


def run(body, **more):
    """What the kernel leaves in its arguments."""
    arrays = [np.full(256, -1, "int32"), np.full(256, -1, "int32")]
    Machine(module(body, **more)).call("f", arrays)
    return arrays


def failure(body, **more):
    with pytest.raises(RefmlcError) as caught:
        run(body, **more)
    return caught.value


def races(body):
    report = sanitize(module(body), "f", [np.zeros(256, "int32"), np.zeros(256, "int32")])
    return {code for code, count in report.counts.items() if count}


BLOCKS, THREADS = np.arange(256) // 64, np.arange(256) % 64


@pytest.mark.parametrize("sync", [SYNC, SPLIT, SPLIT.replace("arrive", "arrive.release.aligned")])
def test_blocks_of_a_cluster_read_what_the_others_wrote_before_the_barrier(sync):
    body = EXCHANGE.format(sync=sync)
    assert (run(body)[1] == 100 * (BLOCKS ^ 1) + 63 - THREADS).all()
    assert races(body) == set()


@pytest.mark.parametrize("sync", ["T.cuda.cta_sync()", SPLIT.replace("arrive", "arrive.relaxed")])
def test_what_orders_nothing_between_blocks_leaves_a_race(sync):
    assert races(EXCHANGE.format(sync=sync)) == {"RM321"}


def test_each_block_has_its_own_shared_memory_and_barriers():
    body = (
        "S = T.alloc_buffer((64,), 'int32', scope='shared')\nS[t] = t + 1000 * b\n"
        "if r == 0:\n    T.cuda.cta_sync()\nelse:\n    T.ptx.bar.sync(0, 64)\n"
        "A[b * 64 + t] = S[63 - t]\nT.cuda.cluster_sync()\nB[b * 64 + t] = T.cuda.thread_rank()"
    )
    a, b = run(body)
    assert (a == 63 - THREADS + 1000 * BLOCKS).all()
    assert (b == THREADS).all()
    assert races(body) == set()


def test_warps_and_collective_barriers_are_those_of_a_block():
    body = (
        "S = T.alloc_buffer((2,), 'int32', scope='shared')\n"
        "A[b * 64 + t] = T.cuda.cta_sum(t + 64 * b, 2, S.ptr_to([0]))\nT.cuda.cluster_sync()\n"
        "T.tvm_storage_sync('shared')\nB[b * 64 + t] = T.cuda.__shfl_sync(T.uint32(0xFFFFFFFF), t, 3, 32)"
    )
    a, b = run(body)
    assert (a == 2016 + 64 * 64 * BLOCKS).all()
    assert (b == THREADS // 32 * 32 + 3).all()


def test_threads_of_a_cluster_may_take_turns_in_an_order_that_is_chosen():
    class Last(ThreadSchedule):
        def choose(self, ready):
            return ready[-1]

    machine = Machine(module(EXCHANGE.format(sync=SYNC)))
    machine.schedule = Last()
    arrays = [np.zeros(256, "int32"), np.zeros(256, "int32")]
    machine.call("f", arrays)
    assert (arrays[1] == 100 * (BLOCKS ^ 1) + 63 - THREADS).all()


def test_a_cluster_may_have_several_axes_and_more_of_them_than_the_grid():
    ids = "bx, by = T.cta_id([2, 2])\nrx, ry = T.cta_id_in_cluster([2, 2])\nc, d = T.cluster_id([1, 1])\n"
    ids += "t = T.thread_id([64])"
    a, b = run(
        "b: T.let = by * 2 + bx\nA[b * 64 + t] = ry * 2 + rx\nT.cuda.cluster_sync()\nB[b * 64 + t] = A[255 - t] + c",
        ids=ids,
    )
    assert (a == BLOCKS).all()
    assert (b == 3).all()
    ids = "b = T.cta_id([4])\nr, s = T.cta_id_in_cluster([2, 1])\nt = T.thread_id([64])"
    assert (run("A[b * 64 + t] = r + 10 * s", ids=ids)[0] == BLOCKS % 2).all()
    assert (run("T.cuda.cluster_sync()\nA[b * 64 + t] = r + 10 * s", ids=ids)[0] == BLOCKS % 2).all()
    wrong = failure("T.evaluate(0)", ids=ids.replace("[2, 1]", "[2, 2]"))
    assert (wrong.code.id, wrong.diagnostic.message) == ("RM214", "an axis of 1 block has no clusters of 2")


def test_the_barrier_of_a_kernel_without_clusters_is_one_of_the_block():
    ids = "b = T.cta_id([4])\nt = T.thread_id([64])"
    body = (
        "S = T.alloc_buffer((64,), 'int32', scope='shared')\nS[t] = t\nT.cuda.cluster_sync()\nA[b * 64 + t] = S[63 - t]"
    )
    assert (run(body, ids=ids)[0] == 63 - THREADS).all()


def test_launched_threads_have_clusters_too():
    text = """@T.prim_func(s_tir=True)
def f(A: T.Buffer((128,), 'int32'), B: T.Buffer((128,), 'int32')):
    bx = T.launch_thread('blockIdx.x', 4)
    r = T.launch_thread('clusterCtaIdx.x', 2)
    x = T.launch_thread('threadIdx.x', 8)
    y = T.launch_thread('threadIdx.y', 4)
    A[bx * 32 + y * 8 + x] = bx * 10 + r
    T.cuda.cluster_sync()
    B[bx * 32 + y * 8 + x] = A[(bx + 1 - 2 * r) * 32]
"""
    arrays = [np.zeros(128, "int32"), np.zeros(128, "int32")]
    Machine(read(text, "f.py")).call("f", arrays)
    assert arrays[1].tolist() == [11] * 32 + [0] * 32 + [31] * 32 + [20] * 32


def test_threads_that_do_not_arrive_are_waited_for_forever():
    body = "if r == 0:\n    T.cuda.cluster_sync()\nelse:\n    T.ptx.bar.sync(1, 96)"
    error = failure(body)
    assert error.code.id == "RM343"
    assert error.diagnostic.notes[:2] == (
        "thread of the cluster 0-63: waits, and the barrier of the cluster lacks 64 of 128 threads",
        "thread of the cluster 64-127: waits at barrier 1 for 96 threads",
    )
    body = (
        "if r == 0:\n    T.cuda.cluster_sync()\nelif t == 0:\n    T.cuda.cta_sync()\nelse:\n    T.cuda.cluster_sync()"
    )
    error = failure(body)
    assert "thread of the cluster 64: waits for all threads of its block" in error.diagnostic.notes
    assert "the cycle: thread of the cluster 64 waits for 65-127, 65-127 waits for 64" in error.diagnostic.notes, (
        error.diagnostic.notes
    )


def test_threads_at_a_barrier_of_their_block_wait_for_those_at_the_barrier_of_the_cluster():
    error = failure("if t < 32:\n    T.cuda.cta_sync()\nelse:\n    T.cuda.cluster_sync()")
    assert error.code.id == "RM343"
    assert any("lacks 64 of 128 threads" in note for note in error.diagnostic.notes)


def test_a_barrier_of_a_block_counts_the_threads_of_this_block():
    error = failure("T.cuda.cluster_sync()\nif r == 0 or t < 32:\n    T.cuda.cta_sync()")
    assert error.code.id == "RM327"
    assert "thread of the cluster 64 waits for all threads of its block" in error.diagnostic.message


ARRIVE, WAIT = SPLIT.split("\n")
MANY = "b = T.cta_id([4])\nr = T.cta_id_in_cluster([2])\nt = T.thread_id([{}])"


@pytest.mark.parametrize(
    ("body", "ids", "message"),
    [
        (f"{ARRIVE}\n{ARRIVE}", MANY.format(64), "arrives at the barrier of its cluster again"),
        (WAIT, MANY.format(64), "waits at the barrier of its cluster and has not arrived"),
        ("T.ptx.barrier.cluster.arrive(pred=T.uint32(1))", MANY.format(64), "is not executed here"),
        (
            f"x = T.alloc_local((1,), 'int32')\nT.tvm_thread_allreduce(T.uint32(1), t, True, x.data, t)\n{SYNC}",
            MANY.format(64),
            "blocks wait for each other",
        ),
    ],
)
def test_other_uses_are_unsupported_by_name(body, ids, message):
    error = failure(body, ids=ids)
    assert error.code.id in ("RM502", "RM504")
    assert message in error.diagnostic.message


def test_shared_memory_around_such_blocks_is_unsupported():
    text = """@T.prim_func(s_tir=True)
def f(A: T.Buffer((64,), 'int32')):
    S = T.alloc_buffer((32,), 'int32', scope='shared')
    bx = T.launch_thread('blockIdx.x', 2)
    r = T.launch_thread('clusterCtaIdx.x', 2)
    x = T.launch_thread('threadIdx.x', 32)
    S[x] = r
    T.cuda.cluster_sync()
    A[bx * 32 + x] = S[x]
"""
    with pytest.raises(RefmlcError, match="allocated around blocks that wait for each other"):
        Machine(read(text, "f.py")).call("f", [np.zeros(64, "int32")])


def test_a_tile_primitive_of_a_cluster_is_executed_once_by_all_its_threads():
    body = "A[b * 64 + t] = b\nT.cuda.cluster_sync()\nTx.cluster.copy(B[64 * (b - r):64 * (b - r) + 128], A[64 * (b - r):64 * (b - r) + 128])"  # noqa: E501 - one text
    assert run(body)[1].tolist() == BLOCKS.tolist()
    error = failure("if r == 0:\n    Tx.cluster.fill(A[0:4], T.int32(1))")
    assert error.code.id == "RM327"
    assert "waits for all threads of its cluster" in error.diagnostic.message
    error = failure("Tx.cluster.fill(A[r:r + 4], T.int32(1))")
    assert error.code.id == "RM329"
    error = failure("Tx.cluster.copy_async(B[0:4], A[0:4])")
    assert "which threads of a cluster issue it is not known" in error.diagnostic.message


def test_tiles_of_registers_belong_to_the_threads_of_each_block():
    layout = "T.TileLayout(T.S[(2, 32):(1 @ Axis.warpid, 1 @ Axis.laneid)])"
    body = (
        f"L = T.alloc_buffer((64,), 'int32', scope='local', layout={layout})\nTx.cta.copy(L, A[b * 64:b * 64 + 64])\n"
        "T.cuda.cluster_sync()\nTx.cta.add(B[b * 64:b * 64 + 64], L, T.int32(5))"
    )
    arrays = [np.arange(256, dtype="int32"), np.zeros(256, "int32")]
    Machine(module(body)).call("f", arrays)
    assert (arrays[1] == np.arange(256) + 5).all()


# ------------------------------------------------------------------------------------------------------- filters


@pytest.mark.parametrize(
    ("condition", "holds"),
    [
        ("T.filter(t, t % 3 == 0)", THREADS % 3 == 0),
        ("T.filter(t, t % 2)", THREADS % 2 == 1),
        ("b < 2 and T.filter(t, T.filter(r, r == 1) and t < 5)", (BLOCKS == 1) & (THREADS < 5)),
        ("T.bitwise_and(T.filter(t, t < 5), r == 0)", (BLOCKS % 2 == 0) & (THREADS < 5)),
        ("T.filter(t, T.cuda.elect_sync())", THREADS % 32 == 0),
    ],
)
def test_a_filter_is_its_predicate(condition, holds):
    assert ((run(f"if {condition}:\n    A[b * 64 + t] = 1")[0] == 1) == holds).all()


@pytest.mark.parametrize(
    "body",
    [
        "if not T.filter(t, t < 5):\n    A[b * 64 + t] = 1",
        "if T.filter(t + 1, t < 5):\n    A[b * 64 + t] = 1",
        "A[b * 64 + t] = T.Cast('int32', T.filter(t, t < 5))",
    ],
)
def test_a_filter_elsewhere_and_a_selector_are_unsupported(body):
    error = failure(body)
    assert error.code.id == "RM502"
    assert "in the condition of an `if` of a kernel only" in error.diagnostic.message
    selector = failure("A[b * 64 + t] = T.selector(t, t == 5)")
    assert "it is for the metadata of a compiler" in selector.diagnostic.message
