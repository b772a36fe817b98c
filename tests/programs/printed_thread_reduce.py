# from tvm.script import ir as I
# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis

@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def main(A: T.Buffer((64, 64), "float32"), B: T.Buffer((64, 64), "float32"), C: T.Buffer((64, 64), "float32")):
        T.func_attr({"target": T.target({"arch": "sm_80", "host": {"keys": ["cpu"], "kind": "llvm", "mtriple": "x86_64-conda-linux-gnu", "tag": ""}, "keys": ["cuda", "gpu"], "kind": "cuda", "max_num_threads": 1024, "max_shared_memory_per_block": 49152, "max_threads_per_block": 1024, "tag": "", "thread_warp_size": 32}), "tirx.is_entry_func": True, "tirx.noalias": True})
        A_1 = A.view(4096)
        B_1 = B.view(4096)
        C_1 = C.view(4096)
        with T.launch_thread("blockIdx.x", 64) as blockIdx_x:
            in_thread_C = T.alloc_local((1,))
            red_buf0 = T.alloc_local((1,))
            with T.launch_thread("blockIdx.y", 64) as blockIdx_y:
                threadIdx_x = T.launch_thread("threadIdx.x", 32)
                in_thread_C[0] = T.float32(0.0)
                cse_v1: T.let[T.int32] = blockIdx_x * 64
                for k_0 in range(2):
                    in_thread_C[0] = in_thread_C[0] + A_1[cse_v1 + k_0 * 32 + threadIdx_x] * B_1[k_0 * 2048 + threadIdx_x * 64 + blockIdx_y]
                with T.attr(T.comm_reducer(lambda x0, y0: x0 + y0, [T.float32(0.0)]), "reduce_scope", 0):
                    t0 = T.alloc_local((1,))
                    mask = T.alloc_local((1,), "uint32")
                    red_buf0[0] = in_thread_C[0]
                    mask[0] = T.tvm_warp_activemask()
                    t0[0] = T.tvm_warp_shuffle_down(mask[0], red_buf0[0], 16, 32, 32)
                    red_buf0[0] = red_buf0[0] + t0[0]
                    t0[0] = T.tvm_warp_shuffle_down(mask[0], red_buf0[0], 8, 32, 32)
                    red_buf0[0] = red_buf0[0] + t0[0]
                    t0[0] = T.tvm_warp_shuffle_down(mask[0], red_buf0[0], 4, 32, 32)
                    red_buf0[0] = red_buf0[0] + t0[0]
                    t0[0] = T.tvm_warp_shuffle_down(mask[0], red_buf0[0], 2, 32, 32)
                    red_buf0[0] = red_buf0[0] + t0[0]
                    t0[0] = T.tvm_warp_shuffle_down(mask[0], red_buf0[0], 1, 32, 32)
                    red_buf0[0] = red_buf0[0] + t0[0]
                    red_buf0[0] = T.tvm_warp_shuffle(mask[0], red_buf0[0], 0, 32, 32)
                if threadIdx_x == 0:
                    C_1[cse_v1 + blockIdx_y] = red_buf0[0]
