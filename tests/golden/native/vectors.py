from tvm.script import tirx as T

@T.prim_func(s_tir=True)
def vectors(A: T.Buffer((8, 4), "float32"), B: T.Buffer((8, 4), "float32"), k: T.int8):
    for i in range(8):
        B[i, 0:4] = A[i, 0:4] * T.Broadcast(T.float32(2), 4)
    for i in T.serial(8):
        with T.sblock("row"):
            v = T.axis.spatial(8, i)
            row = T.match_buffer(B[v, 0:4], (4,), "float32")
            for j in range(4):
                if row[j] < T.float32(0):
                    row[j] = row[j] / T.Cast("float32", k)
    s = T.int32(0)
    while A[0, 0] < B[0, 0]:
        B[0, 0] = B[0, 0] - T.float32(1)
