"""A ring of two tiles between a producer (thread 0) and 32 consumers (threads 32 to 63), for tests of the debugger.

The producer waits for an empty tile, and issues a bulk copy into it; the consumers wait until it is full.
"""

import numpy as np

import refmlc
from refmlc.debug import Program

RING = """from tvm.script import tirx as T

@T.prim_func
def ring(A: T.Buffer((4, 32), "int32"), B: T.Buffer((4, 32), "int32")):
    T.device_entry()
    bx = T.cta_id([1])
    tx = T.thread_id([64])
    tile = T.alloc_shared((2, 32), "int32")
    full = T.alloc_shared((2,), "uint64")
    empty = T.alloc_shared((2,), "uint64")
    if tx == 0:
        for s in range(2):
            T.ptx.mbarrier.init.shared.b64(T.address_of(full[s]), T.uint32(1))
            T.ptx.mbarrier.init.shared.b64(T.address_of(empty[s]), T.uint32(32))
    T.cuda.cta_sync()
    if tx < 32:
        if tx == 0:
            for i in range(4):
                T.cuda.mbarrier_wait(T.address_of(empty[i % 2]), i // 2 % 2 ^ 1)
                T.ptx.mbarrier.arrive.expect_tx.shared.b64(T.address_of(full[i % 2]), T.uint32(128))
                T.ptx.cp.async_.bulk.shared__cta.global_.mbarrier__complete_tx__bytes(
                    T.address_of(tile[i % 2, 0]), T.address_of(A[i, 0]), T.uint32(128), T.address_of(full[i % 2])
                )
    else:
        for i in range(4):
            T.cuda.mbarrier_wait(T.address_of(full[i % 2]), i // 2 % 2)
            B[i, tx - 32] = tile[i % 2, tx - 32] * 10
            T.ptx.mbarrier.arrive.shared.b64(T.address_of(empty[i % 2]))
"""
SYNC, PRODUCER_WAIT, EXPECT, COPY, CONSUMER_WAIT, STORE, ARRIVE = 15, 19, 20, 21, 26, 27, 28
FIRST, REST, CONSUMERS = (0,), tuple(range(1, 32)), tuple(range(32, 64))


def program(text: str = RING, **more: object) -> Program:
    """The ring with A = 0, 1, 2, …; or another kernel of two matrices, of which B is 0."""
    func = text.split("def ", 1)[1].split("(", 1)[0]
    a = np.arange(128, dtype="int32").reshape(4, 32)
    return Program(refmlc.read(text, "ring.py"), func, [a, np.zeros_like(a)], **more)  # type: ignore[arg-type]


def changed(*pairs: tuple[str, str]) -> str:
    """The ring with these parts of its text replaced."""
    text = RING
    for old, new in pairs:
        assert old in text
        text = text.replace(old, new)
    return text
