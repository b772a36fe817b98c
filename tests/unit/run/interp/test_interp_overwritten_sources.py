"""A source of an open operation is not written before it was read, with the same value neither (TIA-002).

Each kernel writes each byte of a source again as it is: `early`, while the operation that reads it is open, or `late`,
when its wait is over. What it leaves in B does not depend on that.
"""

import numpy as np
import pytest

from refmlc.diag import RefmlcError
from refmlc.lang.script import read
from refmlc.observe.sanitize import sanitize
from refmlc.run.interp.machine import Machine

HEAD = """@T.prim_func
def f(A: T.Buffer(({size},), "{dtype}"), B: T.Buffer(({size},), "{dtype}")):
    T.device_entry()
    T.cta_id([1])
    w = T.warp_id([4])
    t = T.thread_id([128])
    S = T.alloc_buffer(({size},), "{dtype}", scope="shared", align=1024)
    bar = T.alloc_shared((1,), "uint64")
    at = T.alloc_shared((1,), "uint32")
    m = T.alloc_local((1,), "uint64")
    r = T.alloc_local((4,), "uint32")
    d = T.alloc_local((4,), "uint32")
"""
BAR = """    if t == 0:
        T.ptx.mbarrier.init.shared.b64(T.address_of(bar[0]), T.uint32(1))
        T.ptx.fence.proxy.async_.shared__cta()
    T.cuda.cta_sync()
"""
FILL = """    for i in range({size} // 128):
        S[t * ({size} // 128) + i] = A[t * ({size} // 128) + i]
    T.ptx.fence.proxy.async_.shared__cta()
    T.cuda.cta_sync()
"""
LEAVE = """    T.cuda.cta_sync()
    for i in range({size} // 128):
        B[t * ({size} // 128) + i] = S[t * ({size} // 128) + i]
"""
COLUMNS = """    if w == 0:
        T.ptx["tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32"](T.address_of(at[0]), T.uint32(32))
    T.cuda.cta_sync()
"""
FREE = """    T.cuda.cta_sync()
    if w == 0:
        T.ptx["tcgen05.dealloc.cta_group::1.sync.aligned.b32"](at[0], T.uint32(32))
"""
COMMIT = '        T.ptx["tcgen05.commit.cta_group::1.mbarrier::arrive::one.b64"](T.address_of(bar[0]))\n'
WAIT = "    T.cuda.mbarrier_wait(T.address_of(bar[0]), 0)\n"
AGAIN_A = "    A[t] = A[t]\n"
SUMS = "d[0], d[1], d[2], d[3]"
KERNELS = {
    "cp.async": (
        512,
        "int32",
        "    T.ptx.cp.async_.ca.shared.global_(T.address_of(S[t * 4]), T.address_of(A[t * 4]), 16)\n",
        "    A[t * 4 + 3] = A[t * 4 + 3]\n",
        "    T.ptx.cp.async_.wait_all()\n" + LEAVE,
    ),
    "cp.async of a part of an element": (
        128,
        "int64",
        "    S[t] = A[t]\n    T.ptx.cp.async_.ca.shared.global_(T.address_of(S[t]), T.address_of(A[t]), 4)\n",
        AGAIN_A,
        "    T.ptx.cp.async_.wait_all()\n" + LEAVE,
    ),
    "bulk copy by phase": (
        128,
        "int32",
        BAR
        + "    if t == 0:\n"
        + "        T.ptx.mbarrier.arrive.expect_tx.shared.b64(T.address_of(bar[0]), T.uint32(512))\n"
        + "        T.ptx.cp.async_.bulk.shared__cta.global_.mbarrier__complete_tx__bytes"
        + "(S.data, A.data, T.uint32(512), bar.data)\n",
        "    if t == 0:\n        A[77] = A[77]\n",
        WAIT + LEAVE,
    ),
    "bulk store": (
        128,
        "int32",
        FILL
        + "    if t == 0:\n"
        + "        T.ptx.cp.async_.bulk.global_.shared__cta.bulk_group(B.data, S.data, T.uint32(512))\n"
        + "        T.ptx.cp.async_.bulk.commit_group()\n",
        "    if t == 0:\n        S[127] = S[127]\n",
        "    if t == 0:\n        T.ptx.cp.async_.bulk.wait_group.read(0)\n",
    ),
    "product of a warpgroup": (
        2048,
        "int8",
        "    for i in range(4):\n        d[i] = T.uint32(0)\n"
        + FILL
        + "    T.cuda.wgmma.encode_matrix_descriptor(T.address_of(m[0]), S.data, 1, 16, 1)\n"
        + "    T.ptx.wgmma.fence.sync.aligned()\n"
        + f"    T.ptx.wgmma.mma_async.sync.aligned.m64n8k32.s32.s8.s8({SUMS}, m[0], m[0], 1)\n"
        + "    T.ptx.wgmma.commit_group.sync.aligned()\n",
        "    if t % 32 == 0:\n        for i in range(2048 // 4):\n            S[w * 512 + i] = S[w * 512 + i]\n",
        "    T.ptx.wgmma.wait_group.sync.aligned(0)\n    T.cuda.cta_sync()\n" + LEAVE,
    ),
    "registers of a product of a warpgroup": (
        2048,
        "int8",
        "    for i in range(4):\n        d[i] = T.uint32(0)\n        r[i] = T.uint32(i)\n"
        + FILL
        + "    T.cuda.wgmma.encode_matrix_descriptor(T.address_of(m[0]), S.data, 1, 16, 1)\n"
        + "    T.ptx.wgmma.fence.sync.aligned()\n"
        + "    T.ptx.wgmma.mma_async.sync.aligned.m64n8k32.s32.s8.s8"
        + f"({SUMS}, r[0], r[1], r[2], r[3], m[0], 1)\n"
        + "    T.ptx.wgmma.commit_group.sync.aligned()\n",
        "    r[2] = r[2]\n",
        "    T.ptx.wgmma.wait_group.sync.aligned(0)\n" + LEAVE,
    ),
    "tcgen05.mma": (
        4096,
        "int8",
        COLUMNS
        + BAR
        + FILL
        + "    if t == 0:\n"
        + "        T.cuda.tcgen05.encode_matrix_descriptor(T.address_of(m[0]), S.data, 1, 16, 1)\n"
        + '        T.ptx["tcgen05.mma.cta_group::1.kind::i8"](at[0], m[0], m[0], T.uint32(134481056), T.uint32(0), '
        + "T.uint32(0), T.uint32(0), T.uint32(0), T.ptx.pred(T.bool(False)))\n"
        + COMMIT,
        "    if t == 0:\n        S[4095] = S[4095]\n",
        WAIT + LEAVE + FREE,
    ),
    "tcgen05.cp": (
        1024,
        "uint32",
        COLUMNS
        + BAR
        + FILL
        + "    if t == 0:\n"
        + "        T.cuda.tcgen05.encode_matrix_descriptor(T.address_of(m[0]), S.data, 8, 16, 0)\n"
        + '        T.ptx["tcgen05.cp.cta_group::1.128x256b"](at[0], m[0])\n'
        + COMMIT,
        "    if t == 0:\n        S[1023] = S[1023]\n",
        WAIT + LEAVE + FREE,
    ),
}


def text(name, place):
    size, dtype, before, again, after = KERNELS[name]
    early, late = (again, "") if place == "early" else ("", again)
    return (HEAD + before + early + after.replace(LEAVE, late + LEAVE)).format(size=size, dtype=dtype) + (
        "" if LEAVE in after else late
    )


def arguments(name):
    size, dtype, *_ = KERNELS[name]
    a = (np.arange(size) % 5).astype(dtype)
    return a, np.zeros_like(a)


@pytest.mark.parametrize("name", KERNELS)
def test_a_source_is_written_with_its_own_value_too_early(name):
    with pytest.raises(RefmlcError) as caught:
        Machine(read(text(name, "early"), "f.py")).call("f", list(arguments(name)))
    assert caught.value.code.id == "RM341"
    assert "a statement writes memory that a " in caught.value.diagnostic.message
    assert caught.value.diagnostic.message.endswith("which is not complete, reads")


@pytest.mark.parametrize("name", KERNELS)
def test_after_its_wait_the_source_is_free(name):
    a, b = arguments(name)
    expected = a.copy()
    report = sanitize(read(text(name, "late"), "f.py"), "f", [a, b])
    assert [finding.diagnostic.code.id for finding in report.findings if not finding.is_lint] == []
    assert b.tolist() == expected.tolist()
