"""Registers from and to tensor memory (TMM-003, TMM-004): expected values are by the tables of PTX's fragments."""

import numpy as np
import pytest

from refmlc.diag import RefmlcError
from refmlc.lang.script import read
from refmlc.observe.sanitize import sanitize
from refmlc.run.interp.machine import Machine

COLUMNS = 32
TEXT = """@T.prim_func
def f(A: T.Buffer((128, 32), "uint32"), B: T.Buffer((128, {registers}), "uint32")):
    T.device_entry()
    T.cta_id([1])
    w = T.warp_id([4])
    t = T.thread_id([128])
    at = T.alloc_shared((1,), "uint32")
    r = T.alloc_local((32,), "uint32")
    s = T.alloc_local(({registers},), "uint32")
    if w == 0:
        T.ptx["tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32"](T.address_of(at[0]), T.uint32(32))
    T.cuda.cta_sync()
    for i in range(32):
        r[i] = A[t, i]
    {fill}
    {wait_st}
    {load}
    {wait_ld}
    for i in range({registers}):
        B[t, i] = s[i]
    T.cuda.cta_sync()
    if w == 0:
        T.ptx["tcgen05.dealloc.cta_group::1.sync.aligned.b32"](at[0], T.uint32(32))
"""
FILL = f'T.ptx["tcgen05.st.sync.aligned.32x32b.x32.b32"](at[0], {", ".join(f"r[{i}]" for i in range(32))})'
WAIT_ST = 'T.ptx["tcgen05.wait::st.sync.aligned"]()'
WAIT_LD = 'T.ptx["tcgen05.wait::ld.sync.aligned"]()'
A = np.random.default_rng(5).integers(0, 1 << 32, (128, COLUMNS), np.uint32)


def load(shape, count, registers, *, packs="", address="at[0]", distance=""):
    into = ", ".join(f"s[{i}]" for i in range(registers))
    return f'T.ptx["tcgen05.ld.sync.aligned.{shape}.x{count}{packs}.b32"]({into}, {address}{distance})'


def text_of(line, registers, *, fill=FILL, wait_st=WAIT_ST, wait_ld=WAIT_LD):
    return TEXT.format(load=line, registers=registers, fill=fill, wait_st=wait_st, wait_ld=wait_ld)


def run(text, registers):
    b = np.zeros((128, registers), np.uint32)
    Machine(read(text, "f.py")).call("f", [A, b])
    return b


def caught(text, registers=1):
    with pytest.raises(RefmlcError) as error:
        run(text, registers)
    return error.value.diagnostic


def fragment(shape, lane, register):
    """Row and column of a fragment, as the figures of PTX show them."""
    quad, in_quad = divmod(lane, 4)
    match shape:
        case "32x32b":
            return lane, register
        case "16x64b":
            return quad + 8 * (in_quad % 2), in_quad // 2 + 2 * register
        case "16x128b":
            return quad + 8 * (register % 2), in_quad + 4 * (register // 2)
        case "16x256b":
            return quad + 8 * (register % 4 // 2), register % 2 + 2 * in_quad + 8 * (register // 4)


FORMS = [("32x32b", 4, 4), ("16x64b", 2, 2), ("16x128b", 4, 8), ("16x256b", 1, 4), ("16x256b", 4, 16)]


@pytest.mark.parametrize(("shape", "count", "registers"), FORMS)
def test_a_load_gives_the_fragment(shape, count, registers):
    found = run(text_of(load(shape, count, registers, address="at[0] + T.uint32(0)"), registers), registers)
    for thread in range(128):
        for register in range(registers):
            row, column = fragment(shape, thread % 32, register)
            assert found[thread, register] == A[thread // 32 * 32 + row, column]


def test_the_upper_half_of_the_lanes_of_a_warp():
    line = load("16x64b", 1, 1, address="T.cuda.get_tmem_addr(at[0], 16, 4)")
    found = run(text_of(line, 1), 1)
    assert found[33, 0] == A[32 + 16 + 8, 4]
    assert found[7, 0] == A[16 + 1 + 8, 5]


def test_the_halves_of_a_split_form_have_columns_of_their_own():
    found = run(text_of(load("16x32bx2", 2, 2, distance=", 8"), 2), 2)
    for thread in range(128):
        lane = thread % 32
        assert found[thread].tolist() == A[thread - lane + lane % 16][[0, 1] if lane < 16 else [8, 9]].tolist()


def test_packed_halves_are_the_lower_ones_of_two_columns():
    found = run(text_of(load("16x128b", 1, 2, packs=".pack::16b"), 2), 2)
    for thread in range(128):
        for register in range(2):
            row, column = fragment("16x128b", thread % 32, register)
            low, high = A[thread // 32 * 32 + row, 2 * column : 2 * column + 2] & 0xFFFF
            assert found[thread, register] == low | high << 16


def test_a_packed_store_is_the_inverse_of_a_packed_load():
    fill = 'T.ptx["tcgen05.st.sync.aligned.32x32b.x2.unpack::16b.b32"](at[0], r[0], r[1])'
    packed = text_of(load("32x32b", 2, 2, packs=".pack::16b"), 2, fill=fill)
    assert (run(packed, 2) == A[:, :2]).all()
    whole = caught(text_of(load("32x32b", 1, 1), 1, fill=fill))
    assert (whole.code.id, "`tmem[0, 0]`" in whole.message) == ("RM305", True)


def test_the_columns_of_the_halves_of_a_split_store():
    fill = 'T.ptx["tcgen05.st.sync.aligned.16x32bx2.x2.b32"](at[0], 4, r[0], r[1])'
    found = run(text_of(load("16x32bx2", 2, 2, distance=", 4"), 2, fill=fill), 2)
    assert (found == A[:, :2]).all()
    overlapping = text_of(load("16x32bx2", 2, 2, distance=", 4"), 2, fill=fill.replace("4, r", "1, r"))
    assert "halves that are 1 columns apart and overlap" in caught(overlapping, 2).message


FAULTS = {
    "a register is read before the wait": (text_of(load("32x32b", 1, 1), 1, wait_ld=""), "RM341"),
    "a store is not waited for": (text_of(load("32x32b", 1, 1), 1, wait_st=""), "RM341"),
    "cells were never written": (text_of(load("32x32b", 1, 1), 1, fill=""), "RM305"),
    "columns of nobody": (text_of(load("32x32b", 1, 1, address="T.uint32(40)"), 1), "RM351"),
    "columns of two allocations": (text_of(load("32x32b", 2, 2, address="T.uint32(31)"), 2), "RM351"),
    "beyond the memory": (text_of(load("32x32b", 2, 2, address="T.uint32(511)"), 2), "RM304"),
    "before the memory": (text_of(load("16x32bx2", 1, 1, distance=", -8"), 1), "RM304"),
    "lanes of another warp": (text_of(load("32x32b", 1, 1, address="T.uint32(1 << 21)"), 1), "RM351"),
    "lanes of the next warp": (text_of(load("32x32b", 1, 1, address="T.uint32(16 << 16)"), 1), "RM351"),
    "a lane between": (text_of(load("16x64b", 1, 1, address="T.uint32(8 << 16)"), 1), "RM504"),
    "two addresses": (text_of(load("32x32b", 1, 1, address="T.uint32(t)"), 1), "RM329"),
    "a register twice": (text_of(load("32x32b", 2, 2).replace("s[1]", "s[0]"), 2), "RM504"),
    "a free of what is stored": (
        text_of(load("32x32b", 1, 1), 1, wait_st="", wait_ld="").split('    T.ptx["tcgen05.ld')[0]
        + '    if w == 0:\n        T.ptx["tcgen05.dealloc.cta_group::1.sync.aligned.b32"](at[0], T.uint32(32))\n',
        "RM341",
    ),
}


@pytest.mark.parametrize("what", FAULTS)
def test_a_fault_is_found(what):
    text, code = FAULTS[what]
    assert caught(text, 2 if "s[1]" in text or "(2,)" in text else 1).code.id == code


REFUSED = (
    load("32x32b", 1, 1).replace("x1.b32", "x1.f32"),
    load("32x32b", 1, 1).replace(".x1.", ".x3."),
    load("32x32b", 1, 1, packs=".unpack::16b"),
    load("16x32bx2", 1, 1, distance=", t"),
    load("32x32b", 1, 1).replace("s[0]", "B[t, 0]"),
    load("16x256b", 64, 1),
    'T.ptx["tcgen05.wait::ld.sync"]()',
    'T.ptx["tcgen05.fence::before_thread_sync.sync"]()',
)


@pytest.mark.parametrize("line", REFUSED)
def test_what_is_not_executed_is_unsupported_by_name(line):
    assert caught(text_of(line, 1)).code.kind in ("Unsupported", "Malformed", "IllFormed")


def test_fences_change_nothing():
    fenced = 'T.ptx["tcgen05.fence::before_thread_sync"]()\n    T.cuda.cta_sync()\n    '
    fenced += 'T.ptx["tcgen05.fence::after_thread_sync"]()'
    assert (run(text_of(load("32x32b", 1, 1), 1, wait_ld=f"{WAIT_LD}\n    {fenced}"), 1)[:, 0] == A[:, 0]).all()


MET = """@T.prim_func
def f(A: T.Buffer((128, 32), "uint32"), B: T.Buffer((128, 1), "uint32")):
    T.device_entry()
    T.cta_id([1])
    w = T.warp_id([8])
    t = T.thread_id([256])
    at = T.alloc_shared((1,), "uint32")
    r = T.alloc_local((1,), "uint32")
    if w == 0:
        T.ptx["tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32"](T.address_of(at[0]), T.uint32(32))
    T.cuda.cta_sync()
    if w < 4:
        r[0] = A[t, 3]
        T.ptx["tcgen05.st.sync.aligned.32x32b.x1.b32"](at[0], r[0])
        T.ptx["tcgen05.wait::st.sync.aligned"]()
    T.cuda.cta_sync()  # the cells are there
    if w > 3:
        T.ptx["tcgen05.ld.sync.aligned.32x32b.x1.b32"](r[0], at[0])
        T.ptx["tcgen05.wait::ld.sync.aligned"]()
        B[t % 128, 0] = r[0]
    T.cuda.cta_sync()
    if w == 0:
        T.ptx["tcgen05.dealloc.cta_group::1.sync.aligned.b32"](at[0], T.uint32(32))
"""


def found(text):
    b = np.zeros((128, 1), np.uint32)
    result = sanitize(read(text, "f.py"), "f", [A, b])
    return [finding.diagnostic.code.id for finding in result.findings], b


def test_warps_that_use_cells_of_each_other_meet():
    codes, b = found(MET)
    assert (codes, (b[:, 0] == A[:, 3]).all()) == ([], True)
    assert found(MET.replace("    T.cuda.cta_sync()  # the cells are there\n", ""))[0] == ["RM305"]


def test_the_message_names_the_operation_that_meets_an_open_one():
    twice = f"{load('32x32b', 1, 1)}\n    {load('32x32b', 1, 1)}"
    found = caught(text_of(twice, 1))
    assert found.code.id == "RM341"
    assert found.message.startswith("a load of tensor memory writes memory that a load of tensor memory into `s`")
