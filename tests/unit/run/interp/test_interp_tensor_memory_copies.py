"""Shared memory to tensor memory, and copies of tiles (TMM-006, TMM-007): expected values are by the tables of PTX."""

import numpy as np
import pytest

from refmlc.diag import RefmlcError
from refmlc.lang.script import read
from refmlc.observe.sanitize import sanitize
from refmlc.run.interp.machine import Machine
from refmlc.run.memory.tensor import Tensor

ROWS = np.arange(128 * 8, dtype=np.uint32).reshape(128, 8) + 7
SHAPES = {
    "128x256b": (2, {row: (row,) for row in range(128)}),
    "128x128b": (1, {row: (row,) for row in range(128)}),
    "64x128b.warpx2::02_13": (1, {row: (row, row + 64) for row in range(64)}),
    "64x128b.warpx2::01_23": (
        1,
        {row: (row % 32 + row // 32 * 64, row % 32 + row // 32 * 64 + 32) for row in range(64)},
    ),
    "32x128b.warpx4": (1, {row: tuple(range(row, 128, 32)) for row in range(32)}),
}
"""Chunks of 16 bytes in a row, and the lanes of each row."""
HEAD = """@T.prim_func
def f(A: T.Buffer((1024,), "uint32"), B: T.Buffer((128, 8), "uint32")):
    T.device_entry()
    T.cta_id([1])
    w = T.warp_id([4])
    t = T.thread_id([128])
    at = T.alloc_shared((1,), "uint32")
    bar = T.alloc_shared((1,), "uint64")
    S = T.alloc_buffer((1024,), "uint32", scope="shared", align=1024)
    d = T.alloc_local((1,), "uint64")
    r = T.alloc_local((8,), "uint32")
    if w == 0:
        T.ptx["tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32"](T.address_of(at[0]), T.uint32(32))
    if t == 0:
        T.ptx.mbarrier.init.shared.b64(T.address_of(bar[0]), T.uint32(1))
    for i in range(8):
        S[t * 8 + i] = A[t * 8 + i]
    T.ptx.fence.proxy.async_.shared__cta()
    T.cuda.cta_sync()
"""
TEXT = (
    HEAD
    + """    if t == 0:
        T.cuda.tcgen05.encode_matrix_descriptor(T.address_of(d[0]), {start}, {leading}, {stride}, {mode})
        T.ptx["tcgen05.cp.cta_group::1.{shape}"](at[0], {operand})
        T.ptx["tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64"](T.address_of(bar[0]))
    T.cuda.mbarrier_wait(T.address_of(bar[0]), 0)
    T.ptx["tcgen05.fence::after_thread_sync"]()
    if w < {warps}:
        T.ptx["tcgen05.ld.sync.aligned.32x32b.x{count}.b32"]({registers}, at[0])
        T.ptx["tcgen05.wait::ld.sync.aligned"]()
        for i in range({count}):
            B[t, i] = r[i]
    T.cuda.cta_sync()
    if w == 0:
        T.ptx["tcgen05.dealloc.cta_group::1.sync.aligned.b32"](at[0], T.uint32(32))
"""
)
NULL = "T.reinterpret('handle', T.uint64(0))"
SET = "d[0] | T.Cast('uint64', T.cuda.cvta_generic_to_shared(T.address_of(S[0])) >> T.uint32(4) & T.uint32(16383))"


def text(shape, **changes):
    count = 4 * SHAPES[shape][0]
    parts = {"start": "S.data", "leading": 8, "stride": 8 * count // 4, "mode": 0, "operand": "d[0]", "warps": 4}
    parts |= {"count": count, "registers": ", ".join(f"r[{i}]" for i in range(count))}
    return TEXT.format(shape=shape, **{**parts, **changes})


def run(source, content):
    b = np.zeros((128, 8), np.uint32)
    Machine(read(source, "f.py")).call("f", [content.reshape(-1), b])
    return b


def caught(source):
    with pytest.raises(RefmlcError) as error:
        run(source, ROWS)
    return error.value.diagnostic


def in_shared(shape, *, chunks):
    """The words of shared memory: without a swizzle 8 rows of 16 bytes follow each other; then with one of 32 bytes."""
    memory, count = np.zeros(1024, np.uint32), SHAPES[shape][0]
    for row in SHAPES[shape][1]:
        for chunk in range(count):
            place = row // 8 * 128 * count + chunk * 128 + row % 8 * 16
            if chunks == 2:
                place = row * 32 + (chunk ^ (row * 32 >> 7 & 1)) * 16
            memory[place // 4 : place // 4 + 4] = ROWS[row, 4 * chunk : 4 * chunk + 4]
    return memory


def expected(shape):
    count, lanes = SHAPES[shape]
    cells = np.zeros((128, 8), np.uint32)
    for row, places in lanes.items():
        for lane in places:
            cells[lane, : 4 * count] = ROWS[row, : 4 * count]
    return cells


@pytest.mark.parametrize("shape", SHAPES)
def test_a_copy_puts_rows_into_lanes(shape):
    assert (run(text(shape), in_shared(shape, chunks=1)) == expected(shape)).all()


def test_a_swizzle_exchanges_chunks():
    source = text("128x256b", leading=1, stride=16, mode=1)
    assert (run(source, in_shared("128x256b", chunks=2)) == expected("128x256b")).all()


def test_a_text_may_put_the_address_into_the_descriptor():
    source = text("32x128b.warpx4", start=NULL, operand=SET)
    assert (run(source, in_shared("32x128b.warpx4", chunks=1)) == expected("32x128b.warpx4")).all()
    moved = SET.replace("T.address_of(S[0])", "T.ptr_byte_offset(T.address_of(S[0]), 128, T.type_annotation('uint32'))")
    found = run(text("32x128b.warpx4", start=NULL, operand=moved), in_shared("32x128b.warpx4", chunks=1))
    assert (found[:24, :4] == ROWS[8:32, :4]).all()


def test_four_rows_of_four_warps():
    source = text("128x256b").replace("cp.cta_group::1.128x256b", "cp.cta_group::1.4x256b").replace("w < 4", "w < 0")
    assert (run(source, in_shared("128x256b", chunks=1)) == 0).all()
    early = source.replace("w < 0", "w < 4")
    assert "`tmem[1, 0]` is read" in caught(early).message


FAULTS = {
    "no commit": (("T.cuda.mbarrier_wait(T.address_of(bar[0]), 0)\n", "T.cuda.cta_sync()\n"), "RM341"),
    "what is copied is written": (
        ('        T.ptx["tcgen05.commit', '        S[0] = T.uint32(1)\n        T.ptx["tcgen05.commit'),
        "RM341",
    ),
    "columns of nobody": (("(at[0], d[0])", "(T.uint32(64), d[0])"), "RM351"),
    "lanes beyond": (("(at[0], d[0])", "(T.uint32(1 << 16), d[0])"), "RM304"),
    "a column between": (("(at[0], d[0])", "(T.uint32(2), d[0])"), "RM504"),
    "chunks beyond": (("S.data, 8, 8, 0", "S.data, 8, 500, 0"), "RM304"),
    "another version": (("(at[0], d[0])", "(at[0], d[0] + (T.uint64(1) << T.uint64(47)))"), "RM504"),
    "another swizzle": (("S.data, 8, 8, 0", "S.data, 8, 8, 4"), "RM504"),
    "two blocks": (("cp.cta_group::1", "cp.cta_group::2"), "RM504"),
    "no multicast": (("32x128b.warpx4", "32x128b"), "RM502"),
    "one operand": (("(at[0], d[0])", "(at[0])"), "RM502"),
}


@pytest.mark.parametrize("what", FAULTS)
def test_a_fault_is_found(what):
    (old, new), code = FAULTS[what]
    assert old in text("32x128b.warpx4")
    assert caught(text("32x128b.warpx4").replace(old, new)).code.id == code


def test_shared_memory_is_read_through_the_async_proxy():
    source = text("32x128b.warpx4")
    arguments = [in_shared("32x128b.warpx4", chunks=1), np.zeros((128, 8), np.uint32)]
    assert sanitize(read(source, "f.py"), "f", arguments).findings == ()
    unfenced = source.replace("    T.ptx.fence.proxy.async_.shared__cta()\n", "")
    found = sanitize(read(unfenced, "f.py"), "f", arguments).findings
    assert [finding.diagnostic.code.id for finding in found] == ["RM344"]


# ----------------------------------------------------------------------------------------------------- a pair of blocks

ALONE = '"tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64"](T.address_of(bar[0]))'
BOTH = (
    '"tcgen05.commit.cta_group::2.mbarrier::arrive::one.shared::cluster.multicast::cluster.b64"]'
    "(T.address_of(bar[0]), T.uint16(3))"
)
PAIR = (
    ("A: T.Buffer((1024,)", "A: T.Buffer((2, 1024)"),
    ("B: T.Buffer((128, 8)", "B: T.Buffer((2, 128, 8)"),
    ("    T.cta_id([1])\n", "    c = T.cta_id_in_cluster([2])\n    T.cta_id([2])\n"),
    ("A[t * 8 + i]", "A[c, t * 8 + i]"),
    ("B[t, i]", "B[c, t, i]"),
    ("cta_sync", "cluster_sync"),
    ("if t == 0:\n        T.cuda.tcgen05", "if t == 0 and c == 0:\n        T.cuda.tcgen05"),
    (ALONE, BOTH),
    ("cta_group::1", "cta_group::2"),
)


def of_a_pair(shape):
    source = text(shape)
    for old, new in PAIR:
        assert old in source, old
        source = source.replace(old, new)
    return source


@pytest.mark.parametrize("shape", SHAPES)
def test_a_pair_copies_from_and_to_the_memory_of_each_block(shape):
    first = in_shared(shape, chunks=1)
    content, found = np.stack([first, first + np.uint32(5000)]), np.zeros((2, 128, 8), np.uint32)
    given = [Tensor.from_numpy(array) for array in (content, found)]
    assert sanitize(read(of_a_pair(shape), "f.py"), "f", given).findings == ()
    wanted = expected(shape)
    assert (found[0] == wanted).all()
    assert (found[1] == np.where(wanted > 0, wanted + np.uint32(5000), 0)).all()


def test_both_blocks_of_a_pair_issue_one_copy():
    twice = of_a_pair("32x128b.warpx4").replace("t == 0 and c == 0", "t == 0")
    with pytest.raises(RefmlcError) as error:
        Machine(read(twice, "f.py")).call("f", [np.zeros((2, 1024), np.uint32), np.zeros((2, 128, 8), np.uint32)])
    assert error.value.code.id == "RM341"


# ----------------------------------------------------------------------------------------------------- copies of tiles

TILES = """@T.prim_func
def f(A: T.Buffer((128, 8), "uint32"), B: T.Buffer((128, 8), "uint32")):
    T.device_entry()
    T.cta_id([1])
    T.warpgroup_id([1])
    w = T.warp_id([4])
    t = T.thread_id([128])
    at = T.alloc_shared((1,), "uint32")
    if w == 0:
        T.ptx["tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32"](T.address_of(at[0]), T.uint32(32))
    T.cuda.cta_sync()
    M = T.decl_buffer((128, 16), "uint32", scope="tmem", layout={layout}, allocated_addr=at[0])
    r = T.alloc_local((8,), "uint32")
    s = T.alloc_local((8,), "uint32")
    for i in range(8):
        r[i] = A[t, i]
    R = r.view(128, 8, layout=T.TileLayout(T.S[(128, 8) : (1 @ Axis.tid_in_wg, 1)]))
    Q = s.view(128, 8, layout=T.TileLayout(T.S[(128, 8) : (1 @ Axis.tid_in_wg, 1)]))
    T.wg.copy_async(M[0:128, 4:12], R[0:128, 0:8])
    T.ptx["tcgen05.wait::st.sync.aligned"]()
    {back}
    T.ptx["tcgen05.wait::ld.sync.aligned"]()
    for i in range(8):
        B[t, i] = s[i]
    T.cuda.cta_sync()
    if w == 0:
        T.ptx["tcgen05.dealloc.cta_group::1.sync.aligned.b32"](at[0], T.uint32(32))
"""
PLAIN = "T.TileLayout(T.S[(128, 16) : (1 @ Axis.TLane, 1 @ Axis.TCol)])"
BACK = "T.wg.copy_async(Q[0:128, 0:8], M[0:128, 4:12])"


def tiles(**changes):
    return TILES.format(**{"layout": PLAIN, "back": BACK, **changes})


def test_a_tile_goes_to_tensor_memory_and_back():
    assert (run_tiles(tiles()) == ROWS).all()


def test_a_tile_is_where_the_instruction_finds_it():
    registers = ", ".join(f"s[{i}]" for i in range(8))
    line = f'T.ptx["tcgen05.ld.sync.aligned.32x32b.x8.b32"]({registers}, T.cuda.get_tmem_addr(at[0], 0, 4))'
    assert (run_tiles(tiles(back=line)) == ROWS).all()


def run_tiles(source):
    b = np.zeros((128, 8), np.uint32)
    Machine(read(source, "f.py")).call("f", [ROWS, b])
    return b


OF_TILES = {
    "no wait for the store": (('    T.ptx["tcgen05.wait::st.sync.aligned"]()\n', ""), "RM341"),
    "no wait for the load": (('    T.ptx["tcgen05.wait::ld.sync.aligned"]()\n', ""), "RM341"),
    "columns of nobody": (("allocated_addr=at[0]", "allocated_addr=T.uint32(64)"), "RM351"),
    "an address beyond": (("allocated_addr=at[0]", "allocated_addr=T.uint32(512)"), "RM304"),
    "lanes beyond": (
        (PLAIN, "T.TileLayout(T.S[(128, 16) : (1 @ Axis.TLane, 1 @ Axis.TCol)] + T.R[2 : 128 @ Axis.TLane])"),
        "RM304",
    ),
    "lanes of other warps": (
        (PLAIN, "T.TileLayout(T.S[(4, 32, 16) : (32 @ Axis.TLane, 1 @ Axis.TLane, 1 @ Axis.TCol)])"),
        "",
    ),
    "lanes in another order": (
        (PLAIN, "T.TileLayout(T.S[(2, 64, 16) : (1 @ Axis.TLane, 2 @ Axis.TLane, 1 @ Axis.TCol)])"),
        "RM504",
    ),
    "two shapes": (("decl_buffer((128, 16)", "decl_buffer((128, 8)"), "RM504"),
    "no layout": ((PLAIN, "None"), "RM504"),
    "an element alone": ((BACK, "s[0] = M[t, 4]"), "RM504"),
    "another memory": ((BACK, "T.wg.copy_async(A[0:128, 0:8], M[0:128, 4:12])"), "RM504"),
}


@pytest.mark.parametrize("what", OF_TILES)
def test_a_fault_of_a_tile_is_found(what):
    (old, new), code = OF_TILES[what]
    assert old in tiles()
    try:
        found = run_tiles(tiles().replace(old, new))
    except RefmlcError as error:
        assert error.code.id == code  # noqa: PT017 - one of them is none
    else:
        assert (code, (found == ROWS).all()) == ("", True)


# ------------------------------------------------------------------------------------- a tile of one thread, predicates

ROW_LAYOUT = "T.TileLayout(T.S[(32, 4) : (1 @ Axis.TLane, 1 @ Axis.TCol)] + T.R[4 : 32 @ Axis.TLane])"
DECLARED = f'    M = T.decl_buffer((32, 4), "uint32", scope="tmem", layout={ROW_LAYOUT}, allocated_addr=at[0])\n'
COPIED = 'T.ptx["tcgen05.cp.cta_group::1.32x128b.warpx4"](at[0], d[0])'
ISSUING = "    if t == 0:\n        T.cuda.tcgen05"
ONE = text("32x128b.warpx4").replace(ISSUING, DECLARED + ISSUING)
ONE = ONE.replace(COPIED, "T.tile.copy_async(M[0:32, 0:4], W[0:32, 0:4])")
ONE = ONE.replace("    d = T.alloc", "    W = S.view(256, 4)\n    d = T.alloc")


def test_a_tile_of_one_thread_goes_to_every_copy_of_its_elements():
    assert "T.tile.copy_async" in ONE
    content = np.arange(1024, dtype=np.uint32)
    found = run(ONE, content)
    assert (found[:, :4] == np.tile(content[:128].reshape(32, 4), (4, 1))).all()
    early = ONE.replace("    T.cuda.mbarrier_wait(T.address_of(bar[0]), 0)\n", "    T.cuda.cta_sync()\n")
    assert caught(early).code.id == "RM341"
    assert caught(ONE.replace("W[0:32", "M[0:32")).code.id == "RM504"


def test_no_copy_of_an_element_is_in_a_lane_beyond():
    found = caught(ONE.replace("T.R[4 : 32", "T.R[5 : 32"))
    assert found.code.id == "RM304"
    assert "reaches lane 128 of tensor memory, which has 128" in found.message


def test_what_one_thread_executes_may_be_under_a_predicate():
    source = text("32x128b.warpx4")
    asked = source.replace("(at[0], d[0])", "(at[0], d[0], pred=A[0] == T.uint32({}))")
    content = in_shared("32x128b.warpx4", chunks=1)
    assert (run(asked.format(int(content[0])), content) == expected("32x128b.warpx4")).all()
    assert caught(asked.format(int(content[0]) + 1)).code.id == "RM305"
    loaded = source.replace("r[3], at[0])", "r[3], at[0], pred=t < 128)")
    assert "of a warp under a predicate" in caught(loaded).message
