"""Products in tensor memory (TIM-016 … TIM-019): expected values are NumPy's, layouts those of PTX's figures."""

import numpy as np
import pytest
from shared_matrices import across_k, along_k, distances, packed

from refmlc.diag import RefmlcError
from refmlc.lang.dtypes import dtype
from refmlc.lang.dtypes.storage import storage_dtype
from refmlc.lang.script import read
from refmlc.observe.sanitize import sanitize
from refmlc.run.interp.machine import Machine
from refmlc.run.memory.tensor import Tensor

RNG = np.random.default_rng(5)
SIZE, HALF = 32768, 16384
FORMATS = {"float16": 0, "bfloat16": 1, "float32": 2, "float8_e4m3fn": 0, "float8_e5m2": 1, "uint8": 0, "int8": 1}
KINDS = {"float16": "f16", "bfloat16": "f16", "float32": "tf32", "uint8": "i8", "int8": "i8"}
LOADED = 32
"""How many columns of its lane a thread loads at once."""
REGISTERS = ", ".join(f"r[{i}]" for i in range(LOADED))
BULK = "cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes"


def numbers(kind, shape):
    low, high = {"uint8": (0, 9)}.get(kind, (-3, 4))
    return RNG.integers(low, high, shape).astype(storage_dtype(dtype(kind)))


def descriptor(a, b, m, n, *, turned=(0, 0), negative=(0, 0), saturates=0):
    """The descriptor of 32 bits, by PTX's table."""
    sums = 2 if KINDS.get(a) == "i8" else 1
    code = saturates << 3 | sums << 4 | FORMATS[a] << 7 | FORMATS[b] << 10 | negative[0] << 13 | negative[1] << 14
    return code | turned[0] << 15 | turned[1] << 16 | n // 8 << 17 | m // 16 << 24


def lanes(m, n, *, stationary=False):
    """The lane and the column of each element of D: (m, n, 2)."""
    places = np.zeros((m, n, 2), int)
    for row in range(m):
        for column in range(n):
            if m == 128:
                places[row, column] = row, column
            elif not stationary:
                places[row, column] = row // 16 * 32 + row % 16, column
            else:
                width = n * m // 128
                places[row, column] = row + m * (column // width), column % width
    return places


def kernel(product, *, count=1, columns=64, between="", where=((1, 64), (1, 64)), mode=3, first=""):
    """One thread multiplies what is in SA and SB and adds it to C, which is D before; all write D to O."""
    return f"""
@T.prim_func
def f(A: T.Buffer(({SIZE},), "uint8"), B: T.Buffer(({SIZE},), "uint8"), C: T.Buffer((128, {columns}), "uint32"),
      O: T.Buffer((128, {columns}), "uint32")):
    T.device_entry()
    T.cta_id([1])
    w = T.warp_id([4])
    lane = T.lane_id([32])
    t = T.thread_id([128])
    SA = T.alloc_buffer(({SIZE},), "uint8", scope="shared")
    SB = T.alloc_buffer(({SIZE},), "uint8", scope="shared")
    at = T.alloc_shared((1,), "uint32")
    loaded = T.alloc_shared((1,), "uint64")
    done = T.alloc_shared((1,), "uint64")
    da = T.alloc_local((1,), "uint64")
    db = T.alloc_local((1,), "uint64")
    r = T.alloc_local(({LOADED},), "uint32")
    if t == 0:
        T.ptx.mbarrier.init.shared.b64(T.address_of(loaded[0]), T.uint32(1))
        T.ptx.mbarrier.init.shared.b64(T.address_of(done[0]), T.uint32(1))
        T.ptx.fence.proxy.async_.shared__cta()
        T.ptx.mbarrier.arrive.expect_tx.shared.b64(T.address_of(loaded[0]), T.uint32({2 * SIZE}))
        T.ptx["{BULK}"](SA.data, A.data, {SIZE}, T.address_of(loaded[0]))
        T.ptx["{BULK}"](SB.data, B.data, {SIZE}, T.address_of(loaded[0]))
    if w == 0:
        T.ptx["tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32"](T.address_of(at[0]), T.uint32(256))
    T.cuda.cta_sync()
    T.cuda.mbarrier_wait(T.address_of(loaded[0]), 0)
    T.cuda.tcgen05.encode_matrix_descriptor(T.address_of(da[0]), SA.data, {where[0][0]}, {where[0][1]}, {mode})
    T.cuda.tcgen05.encode_matrix_descriptor(T.address_of(db[0]), SB.data, {where[1][0]}, {where[1][1]}, {mode})
    for c in range({columns // LOADED}):
        for i in range({LOADED}):
            r[i] = C[t, {LOADED} * c + i]
        T.ptx["tcgen05.st.sync.aligned.32x32b.x{LOADED}.b32"](
            at[0] + T.Cast("uint32", 2097152 * w + {LOADED} * c), {REGISTERS})
    T.ptx["tcgen05.wait::st.sync.aligned"]()
{first}    T.ptx["tcgen05.fence::before_thread_sync"]()
    T.cuda.cta_sync()
    T.ptx["tcgen05.fence::after_thread_sync"]()
    if t == 0:
        for k in range({count}):
            {product}
        T.ptx["tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64"](T.address_of(done[0]))
{between}    T.cuda.mbarrier_wait(T.address_of(done[0]), 0)
    T.ptx["tcgen05.fence::after_thread_sync"]()
    for c in range({columns // LOADED}):
        T.ptx["tcgen05.ld.sync.aligned.32x32b.x{LOADED}.b32"](
            {REGISTERS}, at[0] + T.Cast("uint32", 2097152 * w + {LOADED} * c))
        T.ptx["tcgen05.wait::ld.sync.aligned"]()
        for i in range({LOADED}):
            O[t, {LOADED} * c + i] = r[i]
    T.cuda.cta_sync()
    if w == 0:
        T.ptx["tcgen05.dealloc.cta_group::1.sync.aligned.b32"](at[0], T.uint32(256))
"""


def mma(kind, code, *, a="da[0]", b="db[0]", adds="1", masks=(0, 0, 0, 0), stationary=False):
    """The call of a product."""
    if stationary:
        return (
            f'T.ptx["tcgen05.mma.ws.cta_group::1.kind::{kind}"](at[0], {a}, {b}, T.uint32({code}), {adds}, T.uint64(0))'
        )
    words = ", ".join(f"T.uint32({mask})" for mask in masks)
    return f'T.ptx["tcgen05.mma.cta_group::1.kind::{kind}"](at[0], {a}, {b}, T.uint32({code}), {words}, {adds})'


def multiplied(text, a, b, c):
    """The kernel's O, which is D as its 128 lanes hold it."""
    out = np.zeros_like(c)
    Machine(read(text, "f.py")).call("f", [Tensor.from_numpy(array) for array in (a, b, c, out)])
    return out


def image(places, d, before):
    """D in its lanes; the other cells are as they were."""
    cells = before.copy()
    cells[places[..., 0], places[..., 1]] = d.view("uint32")
    return cells


def taken(places, cells, result):
    return np.ascontiguousarray(cells[places[..., 0], places[..., 1]]).view(result)


def product_of(a, b, c, result):
    wide = "int64" if result == "int32" else "float64"
    return (a.astype(wide) @ b.astype(wide).T + c.astype(wide)).astype(result)


def before(places, result, columns=64):
    """Tensor memory before the product: numbers where D is."""
    m, n = places.shape[:2]
    c = RNG.integers(-9, 9, (m, n)).astype(result)
    return c, image(places, c, RNG.integers(0, 99, (128, columns)).astype("uint32"))


CASES = [
    ("float16", "float16", 128, 32, 8, False),
    ("float16", "bfloat16", 64, 8, 4, False),
    ("float32", "float32", 128, 16, 8, False),
    ("float8_e4m3fn", "float8_e5m2", 64, 24, 2, False),
    ("int8", "uint8", 128, 48, 8, False),
    ("uint8", "uint8", 64, 24, 1, False),
    ("float16", "float16", 64, 64, 8, True),
    ("bfloat16", "bfloat16", 32, 64, 8, True),
    ("int8", "int8", 128, 64, 4, True),
]


@pytest.mark.parametrize(("kind_a", "kind_b", "m", "n", "chunks", "stationary"), CASES)
def test_products_of_matrices_in_shared_memory(kind_a, kind_b, m, n, chunks, stationary):
    nbytes = storage_dtype(dtype(kind_a)).itemsize
    k, result = 32 // nbytes, "int32" if "int" in kind_a else "float32"
    a, b = numbers(kind_a, (m, k)), numbers(kind_b, (n, k))
    memories = [packed(part, along_k(len(part), k, nbytes, chunks), SIZE) for part in (a, b)]
    places = lanes(m, n, stationary=stationary)
    c, cells = before(places, result)
    call = mma(KINDS.get(kind_a, "f8f6f4"), descriptor(kind_a, kind_b, m, n), stationary=stationary)
    where = distances(m, k, nbytes, chunks, turned=False)
    out = multiplied(kernel(call, where=(where, where), mode=chunks.bit_length() - 1), *memories, cells)
    assert out.tolist() == image(places, product_of(a, b, c, result), cells).tolist()


@pytest.mark.parametrize("chunks", [1, 4, 8])
def test_matrices_across_k_and_signs(chunks):
    m, n, k = 64, 64, 16
    a, b = numbers("float16", (m, k)), numbers("float16", (n, k))
    memories = [packed(part, across_k(64, k, 2, chunks), SIZE) for part in (a, b)]
    where = distances(64, k, 2, chunks, turned=True)
    code = descriptor("float16", "float16", m, n, turned=(1, 1), negative=(1, 0))
    places = lanes(m, n)
    c, cells = before(places, "float32")
    text = kernel(mma("f16", code), where=(where, where), mode=chunks.bit_length() - 1)
    out = multiplied(text, *memories, cells)
    assert out.tolist() == image(places, product_of(-a, b, c, "float32"), cells).tolist()


def test_products_of_one_thread_continue_in_order():
    m, n, k = 128, 32, 64
    a, b = numbers("float16", (m, k)), numbers("float16", (n, k))
    memories = [packed(part, along_k(len(part), k, 2, 8), SIZE) for part in (a, b)]
    code = descriptor("float16", "float16", m, n)
    step = 'T.Cast("uint64", 2 * k)'
    call = mma("f16", code, a=f"da[0] + {step}", b=f"db[0] + {step}", adds="T.ptx.pred(k != 0)")
    places = lanes(m, n)
    _, cells = before(places, "float32")
    out = multiplied(kernel(call, count=4), *memories, cells)
    assert out.tolist() == image(places, product_of(a, b, np.zeros((m, n)), "float32"), cells).tolist()


def test_lanes_with_a_mask_stay_as_they_are():
    m, n, k = 128, 16, 16
    a, b = numbers("float16", (m, k)), numbers("float16", (n, k))
    memories = [packed(part, along_k(len(part), k, 2, 8), SIZE) for part in (a, b)]
    places = lanes(m, n)
    c, cells = before(places, "float32")
    call = mma("f16", descriptor("float16", "float16", m, n), masks=(1, 0, 0, 1 << 31))
    d = product_of(a, b, c, "float32")
    d[0], d[127] = c[0], c[127]
    assert multiplied(kernel(call), *memories, cells).tolist() == image(places, d, cells).tolist()


def test_a_in_tensor_memory():
    m, n, k = 128, 16, 16
    a, b = numbers("float16", (m, k)), numbers("float16", (n, k))
    memory = packed(b, along_k(n, k, 2, 8), SIZE)
    places = lanes(m, n)
    c, cells = before(places, "float32")
    cells[:, 32:40] = a.view("uint32")
    call = mma("f16", descriptor("float16", "float16", m, n), a="at[0] + T.uint32(32)")
    out = multiplied(kernel(call), memory, memory, cells)
    assert out.tolist() == image(places, product_of(a, b, c, "float32"), cells).tolist()


@pytest.mark.parametrize(
    ("kind", "vector", "scales", "first"),
    [("mxf8f6f4", 1, "e8m0", 2), ("mxf4", 2, "e8m0", 2), ("mxf4nvf4", 4, "e4m3", 0), ("mxf4nvf4", 2, "e8m0", 0)],
)
def test_scaled_products(kind, vector, scales, first):
    m, n, narrow = 128, 32, kind != "mxf8f6f4"
    k = 64 if narrow else 32
    if narrow:
        values = np.array([0, 0.5, 1, 1.5, 2, 3, 4, 6, 0, -0.5, -1, -1.5, -2, -3, -4, -6])
        codes = [RNG.integers(0, 16, (count, k), "uint8") * (RNG.random((count, k)) < 0.2) for count in (m, n)]
        wide = [values[part] for part in codes]
        rows = [part[:, 0::2] | part[:, 1::2] << 4 for part in codes]
    else:
        rows = [numbers("float8_e4m3fn", (count, k)) for count in (m, n)]
        wide = [part.astype("float64") for part in rows]
    memories = [packed(part, along_k(len(part), 32, 1, 8), SIZE) for part in rows]
    factors = [RNG.integers(0, 2, (count, vector)) for count in (m, n)]  # powers of two
    bytes_of = {"e8m0": 127, "e4m3": 7}
    cells = np.zeros((128, 64), "uint32")
    for number, part in enumerate(factors):
        for row, own in enumerate(part):
            codes_of = [exponent + bytes_of[scales] << 3 * (scales == "e4m3") for exponent in own]
            word = sum(code << 8 * (first + i) for i, code in enumerate(codes_of))
            for quarter in range(4):
                cells[32 * quarter + row % 32, 32 + 8 * number + row // 32] = word
    code = descriptor("float8_e4m3fn", "float8_e4m3fn", m, n) & ~(3 << 4) | first << 4 | first << 29
    code |= (1 << 7 | 1 << 10 if narrow else 0) | (scales == "e8m0") << 23
    spelling = f'"tcgen05.mma.cta_group::1.kind::{kind}.block_scale.scale_vec::{vector}X"'
    places = "at[0] + T.uint32(32), at[0] + T.uint32(40)"
    out = multiplied(kernel(f"T.ptx[{spelling}](at[0], da[0], db[0], T.uint32({code}), {places}, 0)"), *memories, cells)
    scaled = [part * np.repeat(2.0**own, k // vector, axis=1) for part, own in zip(wide, factors, strict=True)]
    expected = (scaled[0] @ scaled[1].T).astype("float32")
    assert out.tolist() == image(lanes(m, n), expected, cells).tolist()


PAIR = """
from tvm.script import tirx as T

@T.prim_func
def f(A: T.Buffer((2, {size}), "uint8"), B: T.Buffer((2, {size}), "uint8"), O: T.Buffer((2, 128, 32), "uint32")):
    T.device_entry()
    rank = T.cta_id_in_cluster([2])
    T.cta_id([2])
    w = T.warp_id([4])
    t = T.thread_id([128])
    SA = T.alloc_buffer(({size},), "uint8", scope="shared")
    SB = T.alloc_buffer(({size},), "uint8", scope="shared")
    at = T.alloc_shared((1,), "uint32")
    loaded = T.alloc_shared((1,), "uint64")
    done = T.alloc_shared((1,), "uint64")
    da = T.alloc_local((1,), "uint64")
    db = T.alloc_local((1,), "uint64")
    r = T.alloc_local((32,), "uint32")
    if t == 0:
        T.ptx.mbarrier.init.shared.b64(T.address_of(loaded[0]), T.uint32(1))
        T.ptx.mbarrier.init.shared.b64(T.address_of(done[0]), T.uint32(1))
        T.ptx.fence.proxy.async_.shared__cta()
        T.ptx.mbarrier.arrive.expect_tx.shared.b64(T.address_of(loaded[0]), T.uint32({both}))
        T.ptx["{copy}"](SA.data, T.address_of(A[rank, 0]), {size}, T.address_of(loaded[0]))
        T.ptx["{copy}"](SB.data, T.address_of(B[rank, 0]), {size}, T.address_of(loaded[0]))
    if w == 0:
        T.ptx["tcgen05.alloc.cta_group::2.sync.aligned.shared::cta.b32"](T.address_of(at[0]), T.uint32(32))
    T.cuda.cluster_sync()
    T.cuda.mbarrier_wait(T.address_of(loaded[0]), 0)
    T.cuda.cluster_sync()
    if rank == 0:
        if t == 0:
            T.cuda.tcgen05.encode_matrix_descriptor(T.address_of(da[0]), SA.data, {where[0]}, {where[1]}, 3)
            T.cuda.tcgen05.encode_matrix_descriptor(T.address_of(db[0]), SB.data, {where[0]}, {where[1]}, 3)
            T.ptx["tcgen05.mma.cta_group::2.kind::f16"](at[0], da[0], db[0], T.uint32({code}), {masks}, 0)
            T.ptx["tcgen05.commit.cta_group::2.{one}.shared::cluster.multicast::cluster.b64"](
                T.address_of(done[0]), T.uint16(3))
    T.cuda.mbarrier_wait(T.address_of(done[0]), 0)
    T.ptx["tcgen05.fence::after_thread_sync"]()
    T.ptx["tcgen05.ld.sync.aligned.32x32b.x32.b32"]({registers}, at[0] + T.Cast("uint32", 2097152 * w))
    T.ptx["tcgen05.wait::ld.sync.aligned"]()
    for i in range(32):
        O[rank, t, i] = r[i]
    T.cuda.cluster_sync()
    if w == 0:
        T.ptx["tcgen05.dealloc.cta_group::2.sync.aligned.b32"](at[0], T.uint32(32))
"""


def pair_text(m, masks=(0,) * 8):
    """The text of a kernel of two blocks."""
    n = 32 if m == 256 else 64
    return PAIR.format(
        size=HALF,
        both=2 * HALF,
        copy=BULK,
        one="mbarrier::arrive::one",
        where=distances(m // 2, 16, 2, 8, turned=False),
        code=descriptor("float16", "float16", m, n),
        masks=", ".join(f"T.uint32({mask})" for mask in masks),
        registers=REGISTERS,
    )


def pair(m, masks=(0,) * 8):
    """A kernel of two blocks, its memories, and the product."""
    n, k = 32 if m == 256 else 64, 16
    a, b = numbers("float16", (m, k)), numbers("float16", (n, k))
    memories = [
        np.stack([packed(half, along_k(len(half), k, 2, 8), HALF) for half in np.split(part, 2)]) for part in (a, b)
    ]
    return read(pair_text(m, masks), "f.py"), memories, product_of(a, b, np.zeros((m, n)), "float32")


@pytest.mark.parametrize("m", [256, 128])
def test_a_pair_of_blocks_multiplies(m):
    module, memories, d = pair(m)
    out = np.zeros((2, 128, 32), "uint32")
    given = [Tensor.from_numpy(array) for array in (*memories, out)]
    assert sanitize(module, "f", given).verdict == "defined"
    for rank, half in enumerate(np.split(d, 2)):
        lanes_of = half if m == 256 else np.concatenate(np.split(half, 2, axis=1))  # columns in two halves of the lanes
        assert out[rank].view("float32").tolist() == lanes_of.tolist()


def test_each_block_of_a_pair_has_masks_of_its_own():
    module, memories, _ = pair(256, (0, 0, 0, 0, 0, 0, 0, 1 << 31))
    with pytest.raises(RefmlcError) as caught:
        Machine(module).call("f", [Tensor.from_numpy(array) for array in (*memories, np.zeros((2, 128, 32), "uint32"))])
    assert caught.value.diagnostic.code.id == "RM305"
    assert "`tmem[127, 0]` is read" in caught.value.diagnostic.message


MISPLACED = [
    mma("f16", 0).replace("mma.cta_group::1.kind::f16", "mma.cta_group::1.ws.kind::f16"),
    mma("f16", 0).replace("mma.cta_group::1", "mma.ws.ws.cta_group::1"),
]


@pytest.mark.parametrize("call", MISPLACED)
def test_words_out_of_their_place_are_not_ignored(call):
    memory, cells = np.zeros(SIZE, "uint8"), np.zeros((128, 64), "uint32")
    with pytest.raises(RefmlcError) as caught:
        multiplied(kernel(call), memory, memory, cells)
    assert (caught.value.diagnostic.code.id, "the modifiers" in caught.value.diagnostic.message) == ("RM502", True)


COMMIT = "commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64"


@pytest.mark.parametrize(
    "words",
    [
        COMMIT.replace("shared::cluster.", "shared::cluster.shared::cluster."),
        COMMIT.replace("one.shared::cluster.b64", "one.b64.shared::cluster"),
    ],
)
def test_commits_with_other_words_are_not_executed(words):
    memory, cells = np.zeros(SIZE, "uint8"), np.zeros((128, 64), "uint32")
    with pytest.raises(RefmlcError) as caught:
        multiplied(kernel("T.evaluate(0)").replace(COMMIT, words), memory, memory, cells)
    assert (caught.value.diagnostic.code.id, "the modifiers" in caught.value.diagnostic.message) == ("RM502", True)


def test_a_kernel_has_one_number_of_blocks():
    _, memories, _ = pair(256)
    text = pair_text(256).replace("commit.cta_group::2", "commit.cta_group::1")
    with pytest.raises(RefmlcError) as caught:
        Machine(read(text, "f.py")).call(
            "f", [Tensor.from_numpy(array) for array in (*memories, np.zeros((2, 128, 32), "uint32"))]
        )
    assert "with `cta_group::1` beside others with `cta_group::2`" in caught.value.diagnostic.message
