# from tvm.script import ir as I
# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis

@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def main(A: T.Buffer((64, 64), "float32"), B: T.Buffer((64, 64), "float32"), C: T.Buffer((64, 64), "float32")):
        T.func_attr({"tirx.noalias": True})
        # with T.sblock("root"):
        A_shared = T.sblock_alloc_buffer((64, 64), scope="shared")
        B_shared = T.sblock_alloc_buffer((64, 64), scope="shared")
        C_local = T.sblock_alloc_buffer((64, 64), scope="local")
        for i_0 in T.thread_binding(4, thread="blockIdx.x"):
            for j_0 in T.thread_binding(4, thread="blockIdx.y"):
                for i_1 in T.thread_binding(16, thread="threadIdx.y"):
                    for j_1 in T.thread_binding(16, thread="threadIdx.x"):
                        with T.sblock("C_init"):
                            v_i = T.axis.spatial(64, i_0 * 16 + i_1)
                            v_j = T.axis.spatial(64, j_0 * 16 + j_1)
                            T.reads()
                            T.writes(C_local[v_i, v_j])
                            C_local[v_i, v_j] = T.float32(0.0)
                        for k_0 in range(4):
                            for ax0_ax1_fused_0, ax0_ax1_fused_1 in T.grid(1, 64):
                                for ax0_ax1_fused_2 in T.vectorized(4):
                                    with T.sblock("A_shared"):
                                        v0 = T.axis.spatial(64, i_0 * 16 + (ax0_ax1_fused_0 * 256 + ax0_ax1_fused_1 * 4 + ax0_ax1_fused_2) // 16)
                                        v1 = T.axis.spatial(64, k_0 * 16 + (ax0_ax1_fused_0 * 256 + ax0_ax1_fused_1 * 4 + ax0_ax1_fused_2) % 16)
                                        T.reads(A[v0, v1])
                                        T.writes(A_shared[v0, v1])
                                        A_shared[v0, v1] = A[v0, v1]
                            for ax0_ax1_fused_0, ax0_ax1_fused_1 in T.grid(1, 64):
                                for ax0_ax1_fused_2 in T.vectorized(4):
                                    with T.sblock("B_shared"):
                                        v0 = T.axis.spatial(64, k_0 * 16 + (ax0_ax1_fused_0 * 256 + ax0_ax1_fused_1 * 4 + ax0_ax1_fused_2) // 16)
                                        v1 = T.axis.spatial(64, j_0 * 16 + (ax0_ax1_fused_0 * 256 + ax0_ax1_fused_1 * 4 + ax0_ax1_fused_2) % 16)
                                        T.reads(B[v0, v1])
                                        T.writes(B_shared[v0, v1])
                                        B_shared[v0, v1] = B[v0, v1]
                            for k_1 in range(16):
                                with T.sblock("C_update"):
                                    v_i = T.axis.spatial(64, i_0 * 16 + i_1)
                                    v_j = T.axis.spatial(64, j_0 * 16 + j_1)
                                    v_k = T.axis.reduce(64, k_0 * 16 + k_1)
                                    T.reads(C_local[v_i, v_j], A_shared[v_i, v_k], B_shared[v_k, v_j])
                                    T.writes(C_local[v_i, v_j])
                                    C_local[v_i, v_j] = C_local[v_i, v_j] + A_shared[v_i, v_k] * B_shared[v_k, v_j]
                        with T.sblock("C_local"):
                            v0 = T.axis.spatial(64, i_0 * 16 + i_1)
                            v1 = T.axis.spatial(64, j_0 * 16 + j_1)
                            T.reads(C_local[v0, v1])
                            T.writes(C[v0, v1])
                            C[v0, v1] = C_local[v0, v1]
