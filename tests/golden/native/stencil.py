from tvm.script import tirx as T

@T.prim_func(s_tir=True)
def stencil(A: T.Buffer((16,), "float32"), P: T.Buffer((16,), "int32"), O: T.Buffer((16,), "float32")):
    padded = T.sblock_alloc_buffer((18,), "float32")
    for i in range(18):
        with T.sblock("pad"):
            v = T.axis.spatial(18, i)
            padded[v] = T.if_then_else(1 <= v and v < 17, A[v - 1], T.float32(0))
    for i, r in T.grid(16, 3):
        with T.sblock("sum"):
            v, k = T.axis.remap("SR", [i, r])
            with T.init():
                O[v] = T.float32(0)
            O[v] = O[v] + padded[v + k]
    for i in range(16):
        with T.sblock("gather"):
            v = T.axis.spatial(16, i)
            O[v] = T.max(O[v], A[P[v]]) * T.exp(A[v])
