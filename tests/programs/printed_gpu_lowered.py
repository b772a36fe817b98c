# from tvm.script import ir as I
# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis

@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def main_kernel(A_ptr: T.handle("float32", "global"), B_ptr: T.handle("float32", "global"), C_ptr: T.handle("float32", "global")):
        T.func_attr({"calling_conv": 2, "target": T.target({"arch": "sm_80", "keys": ["cuda", "gpu"], "kind": "cuda", "max_num_threads": 1024, "max_shared_memory_per_block": 49152, "max_threads_per_block": 1024, "tag": "", "thread_warp_size": 32}), "tirx.is_global_func": True, "tirx.kernel_launch_params": ["blockIdx.x", "blockIdx.y", "threadIdx.y", "threadIdx.x"], "tirx.noalias": True})
        C = T.decl_buffer((4096,), data=C_ptr)
        B = T.decl_buffer((4096,), data=B_ptr)
        A = T.decl_buffer((4096,), data=A_ptr)
        with T.launch_thread("blockIdx.x", 4) as blockIdx_x:
            C_local = T.alloc_local((1,))
            A_shared = T.alloc_shared((256,))
            B_shared = T.alloc_shared((256,))
            with T.launch_thread("blockIdx.y", 4) as blockIdx_y:
                threadIdx_y = T.launch_thread("threadIdx.y", 16)
                threadIdx_x = T.launch_thread("threadIdx.x", 16)
                C_local[0] = T.float32(0.0)
                cse_v1: T.let[T.int32] = blockIdx_x * 1024
                cse_v2: T.let[T.int32] = blockIdx_y * 16
                for k_0 in range(4):
                    T.tvm_storage_sync("shared")
                    for ax0_ax1_fused_1 in range(64):
                        A_shared[ax0_ax1_fused_1 * 4:ax0_ax1_fused_1 * 4 + 4] = A[T.Ramp(cse_v1 + ax0_ax1_fused_1 // 4 * 64 + k_0 * 16 + ax0_ax1_fused_1 % 4 * 4, 1, 4)]
                    for ax0_ax1_fused_1 in range(64):
                        B_shared[ax0_ax1_fused_1 * 4:ax0_ax1_fused_1 * 4 + 4] = B[T.Ramp(k_0 * 1024 + ax0_ax1_fused_1 // 4 * 64 + cse_v2 + ax0_ax1_fused_1 % 4 * 4, 1, 4)]
                    T.tvm_storage_sync("shared")
                    for k_1 in range(16):
                        C_local[0] = C_local[0] + A_shared[threadIdx_y * 16 + k_1] * B_shared[k_1 * 16 + threadIdx_x]
                C[cse_v1 + threadIdx_y * 64 + cse_v2 + threadIdx_x] = C_local[0]

    @T.prim_func(s_tir=True)
    def main(A: T.Buffer((64, 64), "float32"), B: T.Buffer((64, 64), "float32"), C: T.Buffer((64, 64), "float32")):
        T.func_attr({"target": T.target({"arch": "sm_80", "host": {"keys": ["cpu"], "kind": "llvm", "mtriple": "x86_64-conda-linux-gnu", "tag": ""}, "keys": ["cuda", "gpu"], "kind": "cuda", "max_num_threads": 1024, "max_shared_memory_per_block": 49152, "max_threads_per_block": 1024, "tag": "", "thread_warp_size": 32}), "tirx.is_entry_func": True, "tirx.noalias": True})
        A_1 = A.view(4096)
        B_1 = B.view(4096)
        C_1 = C.view(4096)
        T.call_ffi_kernel("main_kernel", A_1.data, B_1.data, C_1.data, 4, 4, 16, 16, launch_params=["blockIdx.x", "blockIdx.y", "threadIdx.y", "threadIdx.x"], ret_ty="int32")
