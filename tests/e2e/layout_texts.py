"""A text with layouts that it derives and names, and a function that it specialises: TVM is asked about each."""

TEXT = """\
from __future__ import annotations
import tvm
from tvm.ir import PrimType
from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx
from tvm.tirx.layout import F, P, S, TileLayout, laneid
from tvm.tirx.layout import tcgen05_atom_layout, tmem_datapath_layout, wg_local_layout
from tvm.tirx.cuda.tile_primitive.tma_utils import SwizzleMode, mma_atom_layout, mma_atom_shape, mma_shared_layout

ATOM = TileLayout(S[(8, 4):(4, 1)])
TILED = ATOM.tile(TileLayout(S[(2, 2):(2, 1)]), (2, 2), (8, 4))
SUM = ATOM.direct_sum(TileLayout(S[(2, 2):(32 @ laneid, 1 @ laneid)]), (2, 2), (8, 4)).canonicalize()
PART = TILED.slice((16, 8), [(0, 8), (4, 8)])
WIDE = ATOM.unpack(2).broadcast(3, 0).storage()
ROWS = wg_local_layout(16)
SWIZZLED = mma_shared_layout("float16", SwizzleMode.SWIZZLE_128B_ATOM, (64, 128))
PLAIN = mma_shared_layout("float16", 0, (2, 64, 128))
ATOM_16 = mma_atom_layout("float16", 2)
HAND = ATOM_16.tile_to((16, 64), mma_atom_shape("float16", 2)).tile_to((32, 64), (16, 64))
FRAGMENTS = [
    tcgen05_atom_layout(shape, (rows, 64), dtype)
    for shape in ("16x64b", "16x128b", "16x256b")
    for rows in (64, 128)
    for dtype in ("float32", "float16")
]
DATAPATHS = [
    tmem_datapath_layout("D", 128, 32),
    tmem_datapath_layout("F", 64, 32, sub_slab=1),
    tmem_datapath_layout("B", 64, 32),
    tmem_datapath_layout("G", 32, 32),
]
BANKED = TileLayout(S[(4, 128, 2, 128) : (256 @ F, 1 @ P, 128 @ F, 1 @ F)]).to_psum()


@T.prim_func
def tiled() -> None:
    T.device_entry()
    A = T.alloc_buffer((16, 8), "float32", scope="shared", layout=TILED)
    B = T.alloc_buffer((8, 4), "float32", scope="shared", layout=PART)
    C = T.alloc_buffer((3, 8, 4, 2), "float32", scope="shared", layout=WIDE)
    D = T.alloc_buffer((128, 16), "float32", scope="local", layout=ROWS)
    E = T.alloc_buffer((16, 8), "float32", scope="local", layout=SUM)
    T.evaluate(0)


@T.prim_func
def swizzled() -> None:
    T.device_entry()
    A = T.alloc_buffer((64, 128), "float16", scope="shared", layout=SWIZZLED)
    B = T.alloc_buffer((2, 64, 128), "float16", scope="shared", layout=PLAIN)
    C = T.alloc_buffer((32, 64), "float16", scope="shared", layout=HAND)
    T.evaluate(0)


@T.prim_func
def fragments() -> None:
    T.device_entry()
    A = T.alloc_buffer((64, 64), "float32", scope="local", layout=FRAGMENTS[0])
    B = T.alloc_buffer((64, 64), "float16", scope="local", layout=FRAGMENTS[1])
    C = T.alloc_buffer((128, 64), "float32", scope="local", layout=FRAGMENTS[2])
    D = T.alloc_buffer((128, 64), "float16", scope="local", layout=FRAGMENTS[3])
    E = T.alloc_buffer((64, 64), "float32", scope="local", layout=FRAGMENTS[4])
    G = T.alloc_buffer((128, 64), "float16", scope="local", layout=FRAGMENTS[7])
    H = T.alloc_buffer((64, 64), "float16", scope="local", layout=FRAGMENTS[9])
    I = T.alloc_buffer((128, 64), "float32", scope="local", layout=FRAGMENTS[10])
    J = T.alloc_buffer((64, 32), "float32", scope="local", layout=tcgen05_atom_layout("32x32b", (64, 32), "float32"))
    K = T.alloc_buffer((128, 32), "float16", scope="local", layout=tcgen05_atom_layout("32x32b", (128, 32), "float16"))
    T.evaluate(0)


@T.prim_func
def lanes() -> None:
    T.device_entry()
    A = T.alloc_buffer((128, 32), "float32", scope="local", layout=DATAPATHS[0])
    B = T.alloc_buffer((64, 32), "float32", scope="local", layout=DATAPATHS[1])
    C = T.alloc_buffer((64, 32), "float32", scope="local", layout=DATAPATHS[2])
    D = T.alloc_buffer((32, 32), "float32", scope="local", layout=DATAPATHS[3])
    T.evaluate(0)


@T.prim_func
def partitions() -> None:
    T.device_entry()
    A = T.alloc_buffer((128, 512), "float32", scope="trn.sbuf", layout="PF")
    B = T.alloc_buffer((2, 256, 512), "float32", scope="trn.sbuf", layout="FPF")
    C = T.alloc_buffer((8, 16, 64), "float32", scope="trn.sbuf", layout="PPF")
    D = T.alloc_buffer((128, 2048), "float32", scope="trn.psum", layout="PF")
    E = T.alloc_buffer((4, 128, 2, 128), "float32", scope="trn.psum", layout=BANKED)
    G = T.alloc_buffer((128, 4), "float32", scope="trn.sbuf")
    Tx.copy(C[0], C[1])
    Tx.add(B[1], B[0], B[1])


@T.jit(private=True)
def scaled(A: T.Buffer((N,), "int32"), a: T.Optional(T.handle), *, N: T.constexpr, SCALE: T.constexpr = 7):
    if a is not None:
        B = T.match_buffer(a, (N,), "int32")
        for i in range(N):
            A[i] = B[i] * SCALE
    else:
        for i in range(N):
            A[i] = SCALE


eight = scaled.specialize(N=8)
none = scaled.specialize(N=4, a=None, SCALE=1)
"""
