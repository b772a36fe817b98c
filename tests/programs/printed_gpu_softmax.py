# from tvm.script import ir as I
# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis

@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def main(X: T.Buffer((4, 100), "float32"), T_softmax_norm: T.Buffer((4, 100), "float32")):
        T.func_attr({"target": T.target({"arch": "sm_80", "host": {"keys": ["cpu"], "kind": "llvm", "mtriple": "x86_64-conda-linux-gnu", "tag": ""}, "keys": ["cuda", "gpu"], "kind": "cuda", "max_num_threads": 1024, "tag": "", "thread_warp_size": 32}), "tirx.is_entry_func": True, "tirx.is_scheduled": True, "tirx.noalias": True})
        X_1 = X.view(400)
        T_softmax_norm_1 = T_softmax_norm.view(400)
        with T.launch_thread("blockIdx.x", 4) as blockIdx_x:
            in_thread_T_softmax_maxelem_shared = T.alloc_local((1,))
            cross_thread_T_softmax_maxelem_shared = T.alloc_local((1,))
            T_softmax_maxelem_shared = T.alloc_shared((1,))
            in_thread_T_softmax_expsum_shared = T.alloc_local((1,))
            cross_thread_T_softmax_expsum_shared = T.alloc_local((1,))
            T_softmax_expsum_shared = T.alloc_shared((1,))
            with T.launch_thread("threadIdx.x", 256) as threadIdx_x:
                in_thread_T_softmax_maxelem_shared[0] = T.float32(-340282346638528859811704183484516925440.0)
                cse_v1: T.let[T.int32] = blockIdx_x * 100 + threadIdx_x
                if threadIdx_x < 100:
                    in_thread_T_softmax_maxelem_shared[0] = T.max(in_thread_T_softmax_maxelem_shared[0], X_1[cse_v1])
                with T.attr(T.comm_reducer(lambda x0, y0: T.max(x0, y0), [T.float32(-340282346638528859811704183484516925440.0)]), "reduce_scope", 0):
                    T.tvm_thread_allreduce(T.uint32(1), in_thread_T_softmax_maxelem_shared[0], T.bool(True), cross_thread_T_softmax_maxelem_shared[0], threadIdx_x)
                if threadIdx_x == 0:
                    T_softmax_maxelem_shared[0] = cross_thread_T_softmax_maxelem_shared[0]
                in_thread_T_softmax_expsum_shared[0] = T.float32(0.0)
                T.tvm_storage_sync("shared")
                if threadIdx_x < 100:
                    in_thread_T_softmax_expsum_shared[0] = in_thread_T_softmax_expsum_shared[0] + T.exp(X_1[cse_v1] - T_softmax_maxelem_shared[0])
                with T.attr(T.comm_reducer(lambda x0, y0: x0 + y0, [T.float32(0.0)]), "reduce_scope", 0):
                    T.tvm_thread_allreduce(T.uint32(1), in_thread_T_softmax_expsum_shared[0], T.bool(True), cross_thread_T_softmax_expsum_shared[0], threadIdx_x)
                if threadIdx_x == 0:
                    T_softmax_expsum_shared[0] = cross_thread_T_softmax_expsum_shared[0]
                T.tvm_storage_sync("shared")
                if threadIdx_x < 100:
                    T_softmax_norm_1[cse_v1] = T.exp(X_1[cse_v1] - T_softmax_maxelem_shared[0]) / T_softmax_expsum_shared[0]