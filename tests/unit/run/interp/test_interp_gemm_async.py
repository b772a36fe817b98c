"""`gemm_async` on logical tiles (TIP-052): expected values are NumPy's."""

import numpy as np
import pytest

from refmlc.diag import RefmlcError
from refmlc.lang.dtypes import dtype
from refmlc.lang.dtypes.storage import storage_dtype
from refmlc.lang.script import read
from refmlc.run.interp.machine import Machine
from refmlc.run.memory.tensor import Tensor

RNG = np.random.default_rng(3)
COMMIT = 'T.ptx["tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64"](T.address_of(done[0]))'
M, N, K = 128, 16, 32
LANES = "T.TileLayout(T.S[({m}, {n}):(1 @ Axis.TLane, 1 @ Axis.TCol)])"


def kernel(body, *, a="float16", c="float32", shape_a=(M, K), shape_b=(N, K), scope="thread", more="", wait=True):
    """Threads bring A, B and C to their memories, `body` multiplies, all threads bring C back to O."""
    return f"""
from tvm.script import tirx as T
from tvm.tirx.layout import Axis

@T.prim_func
def f(A: T.Buffer({shape_a}, "{a}"), B: T.Buffer({shape_b}, "{a}"), C: T.Buffer(({M}, {N}), "{c}"),
      F: T.Buffer(({M}, 1), "float32"), O: T.Buffer(({M}, {N}), "{c}")):
    T.device_entry()
    T.cta_id([1])
    w = T.warp_id([4])
    wg = T.warpgroup_id([1])
    lane = T.lane_id([32])
    t = T.thread_id([128])
    tid_in_wg = T.thread_id_in_wg([128])
    SA = T.alloc_shared({shape_a}, "{a}")
    SB = T.alloc_shared({shape_b}, "{a}")
    at = T.alloc_shared((1,), "uint32")
    done = T.alloc_shared((1,), "uint64")
    if t == 0:
        T.ptx.mbarrier.init.shared.b64(T.address_of(done[0]), T.uint32(1))
    if w == 0:
        T.ptx["tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32"](T.address_of(at[0]), T.uint32(64))
    T.cta.copy(SA[0:{shape_a[0]}, 0:{shape_a[1]}], A[0:{shape_a[0]}, 0:{shape_a[1]}])
    T.cta.copy(SB[0:{shape_b[0]}, 0:{shape_b[1]}], B[0:{shape_b[0]}, 0:{shape_b[1]}])
    T.cuda.cta_sync()
    D = T.decl_buffer(({M}, {N}), "{c}", scope="tmem", layout={LANES.format(m=M, n=N)}, allocated_addr=at[0])
{more}    R = T.alloc_local(({N},), "{c}")
    V = R.view({M}, {N}, layout=T.TileLayout(T.S[({M}, {N}):(1 @ Axis.tid_in_wg, 1)]))
    for j in range({N}):
        R[j] = C[t, j]
    T.wg.copy_async(D[0:{M}, 0:{N}], V[0:{M}, 0:{N}])
    T.ptx["tcgen05.wait::st.sync.aligned"]()
    T.cuda.cta_sync()
    if {"w" if scope == "warp" else "t"} == 0:
        {body}
        {COMMIT if scope == "thread" else f"if lane == 0:{chr(10)}            {COMMIT}"}
    {"T.cuda.mbarrier_wait(T.address_of(done[0]), 0)" if wait else "T.cuda.cta_sync()"}
    T.wg.copy_async(V[0:{M}, 0:{N}], D[0:{M}, 0:{N}])
    T.ptx["tcgen05.wait::ld.sync.aligned"]()
    for j in range({N}):
        O[t, j] = R[j]
    T.cuda.cta_sync()
    if w == 0:
        T.ptx["tcgen05.dealloc.cta_group::1.sync.aligned.b32"](at[0], T.uint32(64))
"""


def drawn(kind, shape):
    return RNG.integers(-3, 4, shape).astype(storage_dtype(dtype(kind)))


def run(text, a, b, c, factors=None):
    out = np.zeros_like(c)
    factors = np.ones((M, 1), "float32") if factors is None else factors
    Machine(read(text, "f.py")).call("f", [Tensor.from_numpy(array) for array in (a, b, c, factors, out)])
    return out


def gemm(*flags, extra="", scope="T.tile", a=f"SA[0:{M}, 0:{K}]", b=f"SB[0:{N}, 0:{K}]"):
    listed = ", ".join(map(str, flags))
    return f'{scope}.gemm_async(D[0:{M}, 0:{N}], {a}, {b}, {listed}, dispatch="tcgen05"{extra})'


@pytest.mark.parametrize(("kind", "result"), [("float16", "float32"), ("float8_e4m3fn", "float32"), ("int8", "int32")])
def test_c_is_the_product_and_what_was_there(kind, result):
    a, b, c = drawn(kind, (M, K)), drawn(kind, (N, K)), drawn(result, (M, N))
    out = run(kernel(gemm(False, False, True), a=kind, c=result), a, b, c)
    assert out.tolist() == (a.astype("float64") @ b.astype("float64").T + c).tolist()


def test_operands_are_given_the_other_way_round():
    a, b, c = drawn("float16", (K, M)), drawn("float16", (K, N)), drawn("float32", (M, N))
    body = gemm(True, True, False, a=f"SA[0:{K}, 0:{M}]", b=f"SB[0:{K}, 0:{N}]")
    out = run(kernel(body, shape_a=(K, M), shape_b=(K, N)), a, b, c)
    assert out.tolist() == (a.astype("float64").T @ b.astype("float64")).tolist()


def test_a_warp_issues_it_once_and_products_continue():
    a, b, c = drawn("float16", (M, K)), drawn("float16", (N, K)), drawn("float32", (M, N))
    halves = [(f"SA[0:{M}, {k}:{k + 16}]", f"SB[0:{N}, {k}:{k + 16}]") for k in (0, 16)]
    calls = [gemm(False, False, k > 0, scope="T.warp", a=one, b=other) for k, (one, other) in enumerate(halves)]
    out = run(kernel(f"{calls[0]}\n        {calls[1]}", scope="warp"), a, b, c)
    assert out.tolist() == (a.astype("float64") @ b.astype("float64").T).tolist()


def test_sums_are_of_float32_in_the_order_of_k():
    a, b, c = (
        RNG.standard_normal(shape).astype(kind)
        for shape, kind in (((M, K), "float16"), ((N, K), "float16"), ((M, N), "float32"))
    )
    total = c.copy()
    for k in range(K):
        total += a[:, k : k + 1].astype("float32") * b[:, k].astype("float32")
    assert run(kernel(gemm(False, False, True)), a, b, c).tolist() == total.tolist()


def test_a_in_tensor_memory():
    a, b, c = drawn("float16", (M, K)), drawn("float16", (N, K)), drawn("float32", (M, N))
    at = f'scope="tmem", layout={LANES.format(m=M, n=K)}, allocated_addr=at[0] + T.uint32(32)'
    more = f"""    E = T.decl_buffer(({M}, {K}), "float16", {at})
    P = T.alloc_local(({K},), "float16")
    Q = P.view({M}, {K}, layout=T.TileLayout(T.S[({M}, {K}):(1 @ Axis.tid_in_wg, 1)]))
    for j in range({K}):
        P[j] = A[t, j]
    T.wg.copy_async(E[0:{M}, 0:{K}], Q[0:{M}, 0:{K}])
"""
    out = run(kernel(gemm(False, False, True, a=f"E[0:{M}, 0:{K}]"), more=more), a, b, c)
    assert out.tolist() == (a.astype("float64") @ b.astype("float64").T + c).tolist()


BAD = [
    ({"body": gemm(False, False, False, extra=", cta_group=2")}, "RM504", "a cluster of 1 blocks"),
    ({"body": gemm(False, False, False, extra=", cta_group=3")}, "RM504", "the setting `cta_group`"),
    ({"body": gemm(False, False, False, a=f"SA[0:{M}, 0:16]")}, "RM202", "multiplies (128, 16) by (32, 16)"),
    ({"body": gemm(False, False, False, b=f"D[0:{N}, 0:{N}]", a=f"SA[0:{M}, 0:16]")}, "RM504", "`B` in another memory"),
    ({"body": gemm(False, False, False), "wait": False}, "RM341", "reads `D[0, 0]` before"),
    ({"body": f"{gemm(False, False, False)}\n        SA[0, 0] = T.float16(9)"}, "RM341", "a statement writes memory"),
    ({"body": gemm(False, False, False), "a": "float32", "c": "int32"}, "RM504", "elements of float32 and float32"),
]


@pytest.mark.parametrize(("changes", "code", "says"), BAD)
def test_what_is_no_product_is_refused(changes, code, says):
    kind, result = changes.get("a", "float16"), changes.get("c", "float32")
    with pytest.raises(RefmlcError) as caught:
        run(kernel(**changes), drawn(kind, (M, K)), drawn(kind, (N, K)), drawn(result, (M, N)))
    diagnostic = caught.value.diagnostic
    assert (diagnostic.code.id, says in diagnostic.message) == (code, True), diagnostic.message


PAIR = """
from tvm.script import tirx as T
from tvm.tirx.layout import Axis

@T.prim_func
def f(A: T.Buffer((256, 32), "float16"), B: T.Buffer((32, 32), "float16"), O: T.Buffer((256, 32), "float32")):
    T.device_entry()
    rank = T.cta_id_in_cluster([2])
    T.cta_id([2])
    w = T.warp_id([4])
    wg = T.warpgroup_id([1])
    t = T.thread_id([128])
    tid_in_wg = T.thread_id_in_wg([128])
    SA = T.alloc_shared((128, 32), "float16")
    SB = T.alloc_shared((16, 32), "float16")
    at = T.alloc_shared((1,), "uint32")
    loaded = T.alloc_shared((1,), "uint64")
    done = T.alloc_shared((1,), "uint64")
    D = T.decl_buffer((128, 32), "float32", scope="tmem", layout=LAYOUT, allocated_addr=at[0])
    number: T.uint64
    T.ptx.mapa.u64(number, T.address_of(loaded[0]), T.uint32(LEADER))
    place: T.let[T.handle("uint64", "shared")] = T.reinterpret(T.handle("uint64", "shared").ty, number)
    bar = T.decl_buffer((1,), "uint64", data=place, scope="shared")
    if t == 0:
        T.ptx.mbarrier.init.shared.b64(T.address_of(loaded[0]), T.uint32(1))
        T.ptx.mbarrier.init.shared.b64(T.address_of(done[0]), T.uint32(1))
    if w == 0:
        T.ptx["tcgen05.alloc.cta_group::2.sync.aligned.shared::cta.b32"](T.address_of(at[0]), T.uint32(32))
    T.ptx.fence.mbarrier_init.release.cluster()
    T.cuda.cluster_sync()
    if t == 0:
        T.tile.copy_async(SA[0:128, 0:32], A[rank * 128:rank * 128 + 128, 0:32], GROUPmbar=T.address_of(bar[0]))
        T.tile.copy_async(SB[0:16, 0:32], B[rank * 16:rank * 16 + 16, 0:32], GROUPmbar=T.address_of(bar[0]))
        if rank == 0:
            T.ptx.mbarrier.arrive.expect_tx.shared.b64(T.address_of(loaded[0]), T.uint32(18432))
    if rank == 0:
        T.cuda.mbarrier_wait(T.address_of(loaded[0]), 0)
        if t == 0:
            T.tile.gemm_async(D[0:128, 0:32], SA[0:128, 0:32], SB[0:16, 0:32], False, False, False, cta_group=2)
            T.ptx["tcgen05.commit.cta_group::2.mbarrier::arrive::one.shared::cluster.multicast::cluster.b64"](
                T.address_of(done[0]), T.uint16(3))
    T.cuda.mbarrier_wait(T.address_of(done[0]), 0)
    R = T.alloc_local((32,), "float32")
    V = R.view(128, 32, layout=T.TileLayout(T.S[(128, 32):(1 @ Axis.tid_in_wg, 1)]))
    T.wg.copy_async(V[0:128, 0:32], D[0:128, 0:32])
    T.ptx["tcgen05.wait::ld.sync.aligned"]()
    for j in range(32):
        O[rank * 128 + t, j] = R[j]
    T.cuda.cluster_sync()
    if w == 0:
        T.ptx["tcgen05.dealloc.cta_group::2.sync.aligned.b32"](at[0], T.uint32(32))
"""


def pair(group="cta_group=2, ", leader="rank // 2 * 2"):
    text = PAIR.replace("LAYOUT", LANES.format(m=128, n=32)).replace("GROUP", group).replace("LEADER", leader)
    a, b, out = drawn("float16", (256, 32)), drawn("float16", (32, 32)), np.zeros((256, 32), "float32")
    Machine(read(text, "f.py")).call("f", [Tensor.from_numpy(array) for array in (a, b, out)])
    return a.astype("float64") @ b.astype("float64").T, out


def test_a_pair_of_blocks_loads_for_one_barrier_and_multiplies():
    expected, out = pair()
    assert out.tolist() == expected.tolist()


def test_the_barrier_of_another_block_is_none_of_a_copy_of_one_block():
    with pytest.raises(RefmlcError) as caught:
        pair(group="")
    assert caught.value.diagnostic.code.id == "RM313"
    assert "the copy is of block 1 of the cluster, its barrier is in block 0" in caught.value.diagnostic.message
