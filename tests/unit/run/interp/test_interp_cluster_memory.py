"""Memory of other blocks of a cluster (TIX-030 … TIX-034): values and orders worked out by hand."""

import numpy as np
import pytest

from refmlc.diag import RefmlcError
from refmlc.lang.script import read
from refmlc.lang.wellformed import check_module
from refmlc.observe.sanitize import sanitize
from refmlc.run.interp.machine import Machine

IDS = "b = T.cta_id([4])\nr = T.cta_id_in_cluster([2])\nt = T.thread_id([32])"
MEMORY = (
    "S = T.alloc_shared((32,), 'int32')\nbar = T.alloc_shared((1,), 'uint64')\na = T.alloc_local((2,), 'uint64')\n"
    "s = T.alloc_local((2,), 'uint32')\nx = T.alloc_local((1,), 'int32')\nq = T.alloc_local((1,), 'uint32')\n"
)
SYNC = "T.cuda.cluster_sync()\n"
OTHER = "T.ptx.mapa.u64(a[0], S.ptr_to([0]), T.Cast('uint32', 1 - r))\n"
OTHER_BAR = "T.ptx.mapa.u64(a[1], bar.ptr_to([0]), T.Cast('uint32', 1 - r))\n"
NARROW = "T.ptx.mapa.shared__cluster.u32(s[0], T.cuda.cvta_generic_to_shared(S.ptr_to([0])), T.Cast('uint32', 1 - r))\n"
OUT = "A[b * 32 + t] = x[0]\n"
BLOCKS, THREADS = np.arange(128) // 32, np.arange(128) % 32


def module(body, ids=IDS):
    """A kernel of four blocks of 32 threads, two to a cluster."""
    lines = "".join(f"    {line}\n" for line in ("T.device_entry()\n" + ids + "\n" + MEMORY + body).split("\n"))
    text = read(f"@T.prim_func\ndef f(A: T.Buffer((128,), 'int32'), B: T.Buffer((128,), 'int32')):\n{lines}", "f.py")
    assert not check_module(text)
    return text


def run(body, **more):
    """What the kernel leaves in its first argument; the second one is 0, 1, …."""
    arrays = [np.full(128, -1, "int32"), np.arange(128, dtype="int32")]
    Machine(module(body, **more)).call("f", arrays)
    return arrays[0]


def failure(body, **more):
    with pytest.raises(RefmlcError) as caught:
        run(body, **more)
    return caught.value.diagnostic


def alarms(body, **more):
    report = sanitize(module(body, **more), "f", [np.zeros(128, "int32"), np.arange(128, dtype="int32")])
    return {code for code, count in report.counts.items() if count}


def found(body, **more):
    """The message of the only alarm."""
    report = sanitize(module(body, **more), "f", [np.zeros(128, "int32"), np.arange(128, dtype="int32")])
    [finding] = report.findings
    return finding.diagnostic.code.id, finding.diagnostic.message


# ------------------------------------------------------------------------------------------ addresses (TIX-030, 031)

WRITTEN = "S[t] = 100 * b + t\n" + SYNC
READS = [
    OTHER + "T.ptx.ld.shared__cluster.s32(x[0], T.ptx.addr(a[0], 4 * t))\n",
    OTHER + "T.ptx.ld.s32(x[0], T.ptx.addr(a[0], 4 * t))\n",
    NARROW + "T.ptx.ld.shared__cluster.s32(x[0], T.ptx.addr(s[0], 4 * t))\n",
    OTHER + "T.ptx.ld.shared__cluster.s32(x[0], T.ptx.addr(T.Cast('uint32', a[0]), 4 * t))\n",
    OTHER + "p: T.let[T.handle('int32', 'shared')] = T.reinterpret(T.handle('int32', 'shared').ty, a[0])\n"
    "R = T.decl_buffer((32,), 'int32', data=p, scope='shared')\nx[0] = R[t]\n",
    OTHER + "a[1] = a[0]\nT.ptx.ld.shared__cluster.s32(x[0], T.ptx.addr(a[1], 4 * t))\n",
    "T.ptx.mapa.u64(a[0], T.address_of(S[t]), T.Cast('uint32', 1 - r))\nT.ptx.ld.s32(x[0], a[0])\n",
]


@pytest.mark.parametrize("read_", READS)
def test_a_thread_reads_memory_of_the_other_block(read_):
    body = WRITTEN + read_ + OUT + SYNC
    assert (run(body) == 100 * (BLOCKS ^ 1) + THREADS).all()
    assert alarms(body) == set()


def test_a_block_may_be_the_first_to_reach_memory_of_a_later_one():
    body = SYNC + OTHER + "T.ptx.st.shared__cluster.s32(T.ptx.addr(a[0], 4 * t), 100 * b + t)\n" + SYNC
    body += "A[b * 32 + t] = S[31 - t]"
    assert (run(body) == 100 * (BLOCKS ^ 1) + 31 - THREADS).all()
    assert alarms(body) == set()


def test_an_atomic_operation_reaches_the_other_block():
    for call in (
        "T.ptx.red.relaxed.cluster.shared__cluster.add.s32(T.ptx.addr(a[0], 4 * t), b + 1)",
        "T.ptx.atom.relaxed.cluster.shared__cluster.add.s32(x[0], T.ptx.addr(a[0], 4 * t), b + 1)",
        "T.ptx.atom.relaxed.cluster.add.s32(T.ptx.addr(a[0], 4 * t), b + 1)",
    ):
        body = "S[t] = 0\n" + SYNC + OTHER + f"{call}\n" + SYNC + "A[b * 32 + t] = S[t]"
        assert (run(body) == (BLOCKS ^ 1) + 1).all()
        assert alarms(body) == set()


def test_the_rank_of_an_address_is_that_of_the_block_whose_memory_it_is_in():
    rank = "T.ptx.getctarank.u64(q[0], {})\nA[b * 32 + t] = T.Cast('int32', q[0])"
    assert (run(OTHER + rank.format("a[0]")) == (BLOCKS % 2 ^ 1)).all()
    assert (run(OTHER + rank.format("S.ptr_to([0])")) == BLOCKS % 2).all()
    back = "T.ptx.mapa.u64(a[1], a[0], T.Cast('uint32', r))\n"
    assert (run(OTHER + back + rank.format("a[1]")) == BLOCKS % 2).all()


@pytest.mark.parametrize("threads", [1, 48])
def test_blocks_need_not_be_whole_warps(threads):
    ids = f"b = T.cta_id([2])\nr = T.cta_id_in_cluster([2])\nt = T.thread_id([{threads}])"
    body = "S[t % 32] = 100 * b\n" + SYNC + READS[1] + "A[b * 64 + t] = x[0]\n" + SYNC
    body = body.replace("4 * t", "4 * (t % 32)")
    if threads > 32:
        body += "A[b * 64 + t] += T.cuda.__shfl_sync(T.uint32(0xFFFF), t, 3, 32) if t >= 32 else 0\n"
        body = body.replace(" if t >= 32 else 0", "").replace("A[b * 64 + t] +=", "if t >= 32:\n    A[b * 64 + t] +=")
    out = run(body, ids=ids)
    assert out[0] == 100
    assert out[64] == 0
    if threads > 32:
        assert out[40] == 100 + 35
        assert out[64 + 40] == 35


def test_the_first_block_of_a_pair_leads():
    for leader in (
        "lead: T.uint32 = T.cuda.cvta_generic_to_shared(S.ptr_to([0])) & T.uint32(0xFEFFFFFF)\n",
        OTHER + "lead: T.uint32 = T.cuda.smem_addr_from_uint64(a[0]) & T.uint32(0xFEFFFFFF)\n",
        "lead: T.uint32 = T.cuda.sm100_2sm_leader_smem_addr(S.ptr_to([0]))\n",
    ):
        body = WRITTEN + leader + "T.ptx.ld.shared__cluster.s32(x[0], T.ptx.addr(lead, 4 * t))\n" + OUT + SYNC
        if "mapa" not in body:
            body += OTHER
        assert (run(body) == 100 * (BLOCKS // 2 * 2) + THREADS).all()


@pytest.mark.parametrize(
    ("body", "part"),
    [
        ("T.ptx.mapa.u64(a[0], S.ptr_to([0]), T.uint32(2))", "`mapa` into block 2 of a cluster of 2 blocks"),
        (OTHER + "T.ptx.ld.shared.s32(x[0], a[0])", "`S` is of block 1 of the cluster, the access is to"),
        (OTHER + "T.ptx.st.shared__cta.s32(a[0], 1)", "`S` is of block 1 of the cluster, the access is to"),
        (OTHER + "T.ptx.red.shared.add.s32(a[0], 1)", "`S` is of block 1 of the cluster, the access is to"),
        ("T.ptx.cvta.to.global_.u64(a[0], B.ptr_to([0]))\nT.ptx.ld.shared__cluster.s32(x[0], T.Cast('uint32', a[0]))",
         "the low 32 bits of an address in `global`"),
        (OTHER_BAR + "T.ptx.mbarrier.init.b64(a[1], T.uint32(1))", "is for memory of the own block"),
        (OTHER_BAR + "T.ptx.mbarrier.inval.b64(a[1])", "is for memory of the own block"),
        (OTHER_BAR + "T.ptx.mbarrier.arrive.shared.b64(a[1])", "is for memory of the own block"),
        (OTHER_BAR + "T.cuda.mbarrier_wait(a[1], 0)", "is for memory of the own block"),
        (OTHER_BAR + "T.ptx.mbarrier.arrive.b64(a[0], a[1], T.uint32(1))", "is for memory of the own block"),
        (OTHER_BAR + "T.ptx.mbarrier.expect_tx.relaxed.cta.shared__cta.b64(a[1], T.uint32(4))", "of the own block"),
    ],
)  # fmt: skip
def test_what_is_no_place_for_an_instruction_is_undefined(body, part):
    caught = failure(body + "\n" + OTHER)
    assert caught.code.id == "RM313"
    assert part in caught.message


# --------------------------------------------------------------------------------------------- barriers (TIX-032)

INIT = "if t == 0:\n    T.ptx.mbarrier.init.shared.b64(bar.ptr_to([0]), T.uint32({count}))\n    T.ptx.fence.mbarrier_init.release.cluster()\n"  # noqa: E501 - one text
EXPECT = "if t == 0:\n    T.ptx.mbarrier.arrive.expect_tx.shared.b64(bar.ptr_to([0]), T.uint32({nbytes}))\n"
COPY = "    T.ptx['cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes'](T.Cast('uint32', a[0]), S.ptr_to([0]), T.uint32(128), T.Cast('uint32', a[1]))\n"  # noqa: E501 - one text
ARRIVE = "T.ptx.mbarrier.arrive.release.cluster.shared__cluster.b64(T.Cast('uint32', a[1]))\n"
WAIT = "T.cuda.mbarrier_wait(bar.ptr_to([0]), 0)\n"


def pushed(count=1, sync=SYNC, nbytes=128, wait=WAIT, last=SYNC):
    """Each block sends its 32 numbers to the other one."""
    memory = "D = T.alloc_shared((32,), 'int32')\nS[t] = 100 * b + t\nT.ptx.fence.proxy.async_.shared__cta()\n"
    there = OTHER.replace("S.ptr", "D.ptr") + OTHER_BAR
    expect = EXPECT.format(nbytes=nbytes)
    return (
        memory
        + INIT.format(count=count)
        + sync
        + expect
        + there
        + "if t == 0:\n"
        + COPY
        + wait
        + "A[b * 32 + t] = D[t]\n"
        + last
    )


def test_a_bulk_copy_fills_memory_of_the_other_block():
    assert (run(pushed()) == 100 * (BLOCKS ^ 1) + THREADS).all()
    assert alarms(pushed(last="")) == set()
    assert alarms(pushed()) == set()


@pytest.mark.parametrize(
    ("fault", "codes"),
    [
        ({"sync": "T.cuda.cta_sync()\n"}, {"RM321"}),
        ({"nbytes": 112}, {"RM342", "RM343"}),
        ({"nbytes": 144}, {"RM343"}),
        ({"wait": WAIT.replace("0)\n", "1)\n")}, {"RM341", "RM343", "RM305"}),
        ({"wait": ""}, {"RM305"}),
        ({"count": 2}, {"RM343"}),
    ],
)
def test_faults_of_a_copy_to_the_other_block_are_found(fault, codes):
    assert alarms(pushed(**fault)) & codes
    assert len(alarms(pushed(**fault))) == 1


def test_the_barrier_of_a_copy_is_in_the_block_of_its_destination():
    caught = failure(pushed().replace(OTHER_BAR, OTHER_BAR.replace("1 - r", "r")))
    assert (caught.code.id, "destination is in block 1 of the cluster, the barrier in block 0" in caught.message) == (
        "RM313",
        True,
    )


def test_an_arrival_at_the_barrier_of_the_other_block_orders():
    body = INIT.format(count=32) + SYNC + OTHER + OTHER_BAR
    body += "T.ptx.st.shared__cluster.s32(T.ptx.addr(a[0], 4 * t), 100 * b + t)\n" + ARRIVE
    body += WAIT + "A[b * 32 + t] = S[31 - t]"
    assert (run(body) == 100 * (BLOCKS ^ 1) + 31 - THREADS).all()
    assert alarms(body) == set()
    assert alarms(body.replace("arrive.release", "arrive.relaxed")) == {"RM321"}
    assert alarms(body.replace(WAIT, "")) == {"RM305"}


def test_a_store_of_registers_goes_to_the_other_block():
    body = INIT.format(count=1) + SYNC + EXPECT.format(nbytes=128) + OTHER + OTHER_BAR
    body += (
        "T.ptx.st_async.shared__cluster.mbarrier__complete_tx__bytes.s32(T.ptx.addr(a[0], 4 * t), 100 * b + t, a[1])\n"
    )
    body += WAIT + "A[b * 32 + t] = S[31 - t]"
    assert (run(body) == 100 * (BLOCKS ^ 1) + 31 - THREADS).all()
    assert alarms(body) == set()


# ------------------------------------------------------------------------------------------- lifetimes (TIX-034)


def test_an_access_before_the_other_block_has_begun_is_found():
    body = "x[0] = 0\n" + OTHER + "T.ptx.st.shared__cluster.s32(T.ptx.addr(a[0], 4 * t), 1)\n" + SYNC
    assert found(body) == (
        "RM321",
        "thread 0 of block 0 of the cluster writes `memory[0]` of block 1, and nothing puts that after the beginning of this block",  # noqa: E501
    )


def test_an_access_that_may_come_after_the_end_of_the_other_block_is_found():
    body = WRITTEN + OTHER + "if r == 0:\n    T.ptx.ld.s32(x[0], a[0])\nT.cuda.cta_sync()\n"
    assert found(body) == (
        "RM321",
        "thread 0 of block 0 of the cluster reads `memory[0]` of block 1, and nothing puts that before the end of this block",  # noqa: E501
    )


@pytest.mark.parametrize(
    "access",
    [READS[0], INIT.format(count=1).split("\n", maxsplit=1)[0] + "\n    T.evaluate(0)\n" + ARRIVE],
)
def test_memory_ends_with_its_block(access):
    body = INIT.format(count=64) + WRITTEN + OTHER + OTHER_BAR
    body += "if r == 1:\n    T.cuda.cta_sync()\n    T.cuda.cta_sync()\n"
    body += "".join(f"    {line}\n" for line in access.splitlines())
    caught = failure(body)
    assert (caught.code.id, "of block 0 of the cluster, which has ended" in caught.message) == ("RM313", True)


def test_threads_that_have_ended_are_not_waited_for():
    assert (run("if t < 8:\n    T.cuda.cluster_sync()\n    A[b * 32 + t] = t")[:9] == [*range(8), -1]).all()
    assert (run("if r == 0:\n    T.cuda.cluster_sync()\n    A[b * 32 + t] = t") >= 0).sum() == 64
