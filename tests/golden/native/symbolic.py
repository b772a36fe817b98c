from tvm.script import tirx as T

@T.prim_func(s_tir=True)
def scale(a: T.handle, b: T.handle, factor: T.float16):
    n = T.int64()
    A = T.match_buffer(a, (n, 4), "float16")
    B = T.match_buffer(b, (n, 4), "float16")
    for i, j in T.grid(n, 4):
        with T.sblock("B"):
            vi, vj = T.axis.remap("SS", [i, j])
            T.where(i * 4 + j < n * 4 - 1)
            B[vi, vj] = A[vi, vj] * factor
