"""Tensor memory: what is allocated and freed (TMM-001, TMM-002)."""

import numpy as np
import pytest

from refmlc.diag import RefmlcError
from refmlc.lang.script import read
from refmlc.run.interp.machine import Machine
from refmlc.run.memory.budget import Budget
from refmlc.run.memory.tensor_memory import TensorMemory

HEAD = """@T.prim_func
def f(A: T.Buffer((4,), "uint32")):
    T.device_entry()
    T.cta_id([1])
    w = T.warp_id([2])
    lane = T.lane_id([32])
    t = T.thread_id([64])
    at = T.alloc_shared((4,), "uint32")
"""
ALLOC = 'T.ptx["tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32"]({}, T.uint32({}))\n'
FREE = 'T.ptx["tcgen05.dealloc.cta_group::1.sync.aligned.b32"]({}, T.uint32({}))\n'
GIVE_BACK = 'T.ptx["tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned"]()\n'


def alloc(place, columns):
    return ALLOC.format(f"T.address_of(at[{place}])", columns)


def free(place, columns):
    return FREE.format(f"at[{place}]", columns)


def run(*lines):
    a = np.zeros(4, "uint32")
    text = HEAD + "".join(f"    {line}" if line.endswith("\n") else f"    {line}\n" for line in lines)
    Machine(read(text, "f.py")).call("f", [a])
    return a


def caught(*lines):
    with pytest.raises(RefmlcError) as error:
        run(*lines)
    return error.value.diagnostic


def test_columns_are_allocated_one_after_the_other_and_again_once_they_are_free():
    lines = ["if w == 0:", "    " + alloc(0, 64), "    " + alloc(1, 32), "    " + free(0, 64), "    " + alloc(2, 32)]
    lines += ["    " + alloc(3, 128), "    " + GIVE_BACK, "    if lane == 0:"]
    lines += [f"        A[{place}] = at[{place}]" for place in range(4)]
    lines += ["    " + free(place, columns) for place, columns in ((1, 32), (2, 32), (3, 128))]
    assert run(*lines).tolist() == [0, 64, 0, 96]


def test_both_spellings_are_the_same_instruction():
    printed = (
        'T.ptx.tcgen05(T.cuda.cvta_generic_to_shared(T.address_of(at[0])), T.uint32(32), "alloc", "cta_group::1", '
    )
    printed += '"sync", "aligned", "", "b32", "")\n'
    last = 'T.ptx.tcgen05(at[0], T.uint32(32), "dealloc", "cta_group::1", "sync", "aligned", "b32", "")\n'
    assert (
        run("if w == 1:", "    " + printed, "    if lane == 3:", "        A[0] = at[0] + T.uint32(7)", "    " + last)[0]
        == 7
    )


def test_a_warp_waits_for_room():
    first = ["if w == 0:", "    " + alloc(0, 512), "T.cuda.cta_sync()", "if w == 1:", "    " + alloc(1, 32)]
    last = ["    " + free(1, 32), "    if lane == 0:", "        A[1] = at[1] + T.uint32(5)"]
    assert run(*first, *last, "else:", "    " + free(0, 512))[1] == 5
    diagnostic = caught(*first, "    " + free(1, 32))
    assert diagnostic.code.id == "RM343"
    assert "512 of 512 columns of tensor memory are allocated, 32 are requested" in str(diagnostic)


MISUSES = {
    "the block ends, and 32 columns": [alloc(0, 32)],
    "48 columns of tensor memory: 32, 64": [alloc(0, 48)],
    "16 columns of tensor memory: 32, 64": [alloc(0, 16)],
    "after the block gave its permit back": [GIVE_BACK, alloc(0, 32)],
    "no columns are allocated": [FREE.format("T.uint32(0)", 32)],
    "allocated are 64 from 0x0 on": [alloc(0, 64), free(0, 32)],
}


@pytest.mark.parametrize("said", MISUSES)
def test_a_misuse_is_found(said):
    diagnostic = caught("if w == 0:", *("    " + line for line in MISUSES[said]))
    assert (diagnostic.code.id, said in diagnostic.message) == ("RM351", True)


def test_the_lanes_of_a_warp_bring_the_same_operands():
    assert caught("if w == 0:", "    " + ALLOC.format("T.address_of(at[lane % 2])", 32)).code.id == "RM329"
    assert caught("if w == 0:", "    " + FREE.format("T.uint32(lane)", 32)).code.id == "RM329"


REFUSED = {
    "two blocks": alloc(0, 32).replace("group::1", "group::2"),
    "freed by two blocks": FREE.format("T.uint32(0)", 32).replace("group::1", "group::2"),
    "given back by two blocks": GIVE_BACK.replace("group::1", "group::2"),
    "an address that is none": 'T.ptx["tcgen05.alloc.cta_group::1.sync.aligned.b32"](T.float32(1), T.uint32(32))\n',
    "a predicate": alloc(0, 32).replace("))\n", "), pred=lane == 0)\n"),
    "one operand": 'T.ptx["tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned"](T.uint32(1))\n',
    "what is not known": 'T.ptx["tcgen05.shift.cta_group::1.down"](at[0])\n',
}


@pytest.mark.parametrize("what", REFUSED)
def test_what_is_not_executed_is_unsupported_by_name(what):
    diagnostic = caught("if w == 0:", "    " + REFUSED[what])
    assert diagnostic.code.kind in ("Unsupported", "IllFormed", "Malformed"), diagnostic


def test_the_memory_has_cells_and_a_price():
    budget = Budget()
    memory = TensorMemory(budget)
    assert budget.bytes == 128 * 512 * 4
    assert memory.place(3 << 16 | 5, 1, 2).byte_offset == 4 * 2048 + 7 * 4
    assert memory.place(127 << 16, 1) is None
    assert memory.place(511, 0, 1) is None
    start = memory.allocate(64)
    assert [memory.is_allocated(*columns) for columns in ((start, 64), (start + 63, 1), (start, 65), (64,))] == [
        True,
        True,
        False,
        False,
    ]
    memory.storage.initialise(0, 4)
    memory.free(start)
    assert not memory.storage.is_initialised(0, 4)
    assert memory.allocate(512) == 0
    assert memory.allocate(32) is None
