# The forms of TensorIR that people met in 2022.
import tvm
from tvm.script import tir as T


@tvm.script.ir_module
class MyModule:
    @T.prim_func
    def mm_relu(A: T.Buffer[(128, 128), "float32"], B: T.Buffer[(128, 128), "float32"], C: T.Buffer[(128, 128), "float32"]):
        T.func_attr({"global_symbol": "mm_relu", "tir.noalias": True})
        Y = T.alloc_buffer((128, 128), dtype="float32")
        for i, j, k in T.grid(128, 128, 128):
            with T.block("Y"):
                vi = T.axis.spatial(128, i)
                vj = T.axis.spatial(128, j)
                vk = T.axis.reduce(128, k)
                with T.init():
                    Y[vi, vj] = T.float32(0)
                Y[vi, vj] = Y[vi, vj] + A[vi, vk] * B[vk, vj]
        for i, j in T.grid(128, 128):
            with T.block("C"):
                vi, vj = T.axis.remap("SS", [i, j])
                C[vi, vj] = T.max(Y[vi, vj], T.float32(0))

    @T.prim_func
    def lowered(a: T.handle, b: T.handle, n: T.int32) -> None:
        T.func_attr({"tir.noalias": True})
        A = T.match_buffer(a, [128], dtype="float32")
        B = T.match_buffer(b, [16, 8], dtype="float32", offset_factor=1)
        T.preflattened_buffer(A, [16, 8], dtype="float32", data=A.data)
        s = T.var("int32")
        D = T.allocate([128], "float32", "global")
        with T.let(s, n * 2):
            for i in T.serial(0, 16):
                for j in T.vectorized(0, 8):
                    D[i * 8 + j] = A[i * 8 + j] + T.cast(s, "float32")
        C = T.buffer_decl([128], dtype="float32", data=D)
        with T.allocate([8], "int8", "shared") as E:
            T.attr(E, "storage_alignment", 64)
            T.evaluate(T.call_extern("touch", E, dtype="int32"))
            for i, j in T.grid(16, 8):
                with T.block():
                    vi = T.axis.S(16, i)
                    vj = T.axis.S(8, j)
                    T.where(i * 8 + j < 100)
                    T.reads([C[vi * 8 + vj]])
                    T.writes([B[vi, vj]])
                    T.block_attr({"note": [1, "two"]})
                    B[vi, vj] = T.Select(C[vi * 8 + vj] > T.float32(0), C[vi * 8 + vj], T.float32("-inf"))

    @T.prim_func
    def launched(A: T.Buffer[(64,), "float16"], B: T.Buffer[64, "float16"]) -> None:
        bx = T.env_thread("blockIdx.x")
        tx = T.env_thread("threadIdx.x")
        T.launch_thread(bx, 2)
        T.launch_thread(tx, 32)
        x: T.float16 = A[bx * 32 + tx]
        if bx == 0:
            B[bx * 32 + tx] = x * T.float16(2)
        elif tx % 2 == 0:
            B[bx * 32 + tx] = -x
        else:
            B[bx * 32 + tx] = T.if_then_else(tx > 1, x, T.float16(0), dtype="float16")
