# from tvm.script import ir as I
# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis

@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def main(self_handle: T.handle, args: T.handle, num_args: T.int32, result: T.handle) -> T.int32:
        T.func_attr({"calling_conv": 1, "global_symbol": "__tvm_ffi_main", "target": T.target({"keys": ["cpu"], "kind": "llvm", "mtriple": "x86_64-conda-linux-gnu", "tag": ""}), "tirx.is_entry_func": True, "tirx.noalias": True})
        assert num_args == 2, ("TypeError", ["Expected ", "2", " arguments", metadata["ir.StringImm"][0], "main(V: Tensor([n, 8], float32), T_softmax_norm: Tensor([n, 8], float32))", "`"])
        assert not T.isnullptr(args), ("TypeError", ["args pointer is NULL", metadata["ir.StringImm"][0], "main(V: Tensor([n, 8], float32), T_softmax_norm: Tensor([n, 8], float32))", "`"])
        V_type_index: T.let[T.int32] = T.tvm_struct_get(args, 0, 13, "int32")
        assert V_type_index == 0 or V_type_index == 4 or V_type_index == 7 or V_type_index >= 64, ("TypeError", ["Mismatched type on argument #", "0", metadata["ir.StringImm"][0], "main(V: Tensor([n, 8], float32), T_softmax_norm: Tensor([n, 8], float32))", metadata["ir.StringImm"][1], "Tensor"])
        V_handle: T.let[T.handle] = T.if_then_else(V_type_index == 70, T.handle_add_byte_offset(T.tvm_struct_get(args, 0, 15, T.handle().ty), 24), T.tvm_struct_get(args, 0, 15, T.handle().ty))
        T_softmax_norm_type_index: T.let[T.int32] = T.tvm_struct_get(args, 1, 13, "int32")
        assert T_softmax_norm_type_index == 0 or T_softmax_norm_type_index == 4 or T_softmax_norm_type_index == 7 or T_softmax_norm_type_index >= 64, ("TypeError", ["Mismatched type on argument #", "1", metadata["ir.StringImm"][0], "main(V: Tensor([n, 8], float32), T_softmax_norm: Tensor([n, 8], float32))", metadata["ir.StringImm"][2], "Tensor"])
        T_softmax_norm_handle: T.let[T.handle] = T.if_then_else(T_softmax_norm_type_index == 70, T.handle_add_byte_offset(T.tvm_struct_get(args, 1, 15, T.handle().ty), 24), T.tvm_struct_get(args, 1, 15, T.handle().ty))
        assert not T.isnullptr(V_handle), ("TypeError", ["Mismatched type on argument #", "0", metadata["ir.StringImm"][0], "main(V: Tensor([n, 8], float32), T_softmax_norm: Tensor([n, 8], float32))", metadata["ir.StringImm"][3], "Tensor"])
        assert 2 == T.tvm_struct_get(V_handle, 0, 4, "int32"), ("ValueError", ["Mismatched ", "V", ".ndim on argument #", "0", metadata["ir.StringImm"][0], "main(V: Tensor([n, 8], float32), T_softmax_norm: Tensor([n, 8], float32))", metadata["ir.StringImm"][4], "2"])
        assert T.tvm_struct_get(V_handle, 0, 5, "uint8") == T.uint8(2) and T.tvm_struct_get(V_handle, 0, 6, "uint8") == T.uint8(32) and T.tvm_struct_get(V_handle, 0, 7, "uint16") == T.uint16(1), ("TypeError", ["Mismatched ", "V", ".dtype on argument #", "0", metadata["ir.StringImm"][0], "main(V: Tensor([n, 8], float32), T_softmax_norm: Tensor([n, 8], float32))", metadata["ir.StringImm"][5], "float32"])
        main_V_shape: T.let[T.handle("int64", "global")] = T.tvm_struct_get(V_handle, 0, 2, T.handle("int64", "global").ty)
        n: T.let[T.int32] = T.Cast("int32", T.tvm_struct_get(main_V_shape, 0, 17, "int64"))
        main_V_strides: T.let[T.handle("int64", "global")] = T.tvm_struct_get(V_handle, 0, 3, T.handle("int64", "global").ty)
        assert T.tvm_struct_get(V_handle, 0, 10, "int32") == 1, ("ValueError", ["Mismatched ", "V", ".device_type on argument #", "0", metadata["ir.StringImm"][0], "main(V: Tensor([n, 8], float32), T_softmax_norm: Tensor([n, 8], float32))", metadata["ir.StringImm"][6], "cpu"])
        dev_id: T.let[T.int32] = T.tvm_struct_get(V_handle, 0, 9, "int32")
        V = T.Buffer((n, 8))
        with T.attr(V, "storage_alignment", 64):
            assert not T.isnullptr(T_softmax_norm_handle), ("TypeError", ["Mismatched type on argument #", "1", metadata["ir.StringImm"][0], "main(V: Tensor([n, 8], float32), T_softmax_norm: Tensor([n, 8], float32))", metadata["ir.StringImm"][7], "Tensor"])
            assert 2 == T.tvm_struct_get(T_softmax_norm_handle, 0, 4, "int32"), ("ValueError", ["Mismatched ", "T_softmax_norm", ".ndim on argument #", "1", metadata["ir.StringImm"][0], "main(V: Tensor([n, 8], float32), T_softmax_norm: Tensor([n, 8], float32))", metadata["ir.StringImm"][8], "2"])
            assert T.tvm_struct_get(T_softmax_norm_handle, 0, 5, "uint8") == T.uint8(2) and T.tvm_struct_get(T_softmax_norm_handle, 0, 6, "uint8") == T.uint8(32) and T.tvm_struct_get(T_softmax_norm_handle, 0, 7, "uint16") == T.uint16(1), ("TypeError", ["Mismatched ", "T_softmax_norm", ".dtype on argument #", "1", metadata["ir.StringImm"][0], "main(V: Tensor([n, 8], float32), T_softmax_norm: Tensor([n, 8], float32))", metadata["ir.StringImm"][9], "float32"])
            main_T_softmax_norm_shape: T.let[T.handle("int64", "global")] = T.tvm_struct_get(T_softmax_norm_handle, 0, 2, T.handle("int64", "global").ty)
            main_T_softmax_norm_strides: T.let[T.handle("int64", "global")] = T.tvm_struct_get(T_softmax_norm_handle, 0, 3, T.handle("int64", "global").ty)
            assert T.tvm_struct_get(T_softmax_norm_handle, 0, 10, "int32") == 1, ("ValueError", ["Mismatched ", "T_softmax_norm", ".device_type on argument #", "1", metadata["ir.StringImm"][0], "main(V: Tensor([n, 8], float32), T_softmax_norm: Tensor([n, 8], float32))", metadata["ir.StringImm"][10], "cpu"])
            T_softmax_norm = T.Buffer((n, 8))
            with T.attr(T_softmax_norm, "storage_alignment", 64):
                if not T.isnullptr(main_V_strides):
                    assert 1 == T.Cast("int32", T.tvm_struct_get(main_V_strides, 1, 17, "int64")) and (n == 1 or 8 == T.Cast("int32", T.tvm_struct_get(main_V_strides, 0, 17, "int64"))), ("ValueError", ["Mismatched ", "V", ".strides on argument #", "0", metadata["ir.StringImm"][0], "main(V: Tensor([n, 8], float32), T_softmax_norm: Tensor([n, 8], float32))", metadata["ir.StringImm"][11]])
                assert n * 8 == 0 or not T.isnullptr(T.reinterpret(T.handle("float32", "global").ty, T.tvm_struct_get(V_handle, 0, 1, T.handle().ty))), ("ValueError", ["V", " data pointer is NULL on argument #", "0", metadata["ir.StringImm"][0], "main(V: Tensor([n, 8], float32), T_softmax_norm: Tensor([n, 8], float32))", metadata["ir.StringImm"][12]])
                assert n == T.Cast("int32", T.tvm_struct_get(main_T_softmax_norm_shape, 0, 17, "int64")), ("ValueError", ["Mismatched ", "T_softmax_norm.shape[0]", " on argument #", "1", metadata["ir.StringImm"][0], "main(V: Tensor([n, 8], float32), T_softmax_norm: Tensor([n, 8], float32))", metadata["ir.StringImm"][13], "V.shape[0]"])
                if not T.isnullptr(main_T_softmax_norm_strides):
                    assert 1 == T.Cast("int32", T.tvm_struct_get(main_T_softmax_norm_strides, 1, 17, "int64")) and (n == 1 or 8 == T.Cast("int32", T.tvm_struct_get(main_T_softmax_norm_strides, 0, 17, "int64"))), ("ValueError", ["Mismatched ", "T_softmax_norm", ".strides on argument #", "1", metadata["ir.StringImm"][0], "main(V: Tensor([n, 8], float32), T_softmax_norm: Tensor([n, 8], float32))", metadata["ir.StringImm"][14]])
                assert dev_id == T.tvm_struct_get(T_softmax_norm_handle, 0, 9, "int32"), ("ValueError", ["Mismatched ", "T_softmax_norm.device_id", " on argument #", "1", metadata["ir.StringImm"][0], "main(V: Tensor([n, 8], float32), T_softmax_norm: Tensor([n, 8], float32))", metadata["ir.StringImm"][15], "V.device_id"])
                assert n * 8 == 0 or not T.isnullptr(T.reinterpret(T.handle("float32", "global").ty, T.tvm_struct_get(T_softmax_norm_handle, 0, 1, T.handle().ty))), ("ValueError", ["T_softmax_norm", " data pointer is NULL on argument #", "1", metadata["ir.StringImm"][0], "main(V: Tensor([n, 8], float32), T_softmax_norm: Tensor([n, 8], float32))", metadata["ir.StringImm"][16]])
                assert T.Cast("int32", T.tvm_struct_get(main_V_shape, 1, 17, "int64")) == 8, ("ValueError", ["Invalid ", "V.shape[1]", " on argument #", "0", metadata["ir.StringImm"][0], "main(V: Tensor([n, 8], float32), T_softmax_norm: Tensor([n, 8], float32))", metadata["ir.StringImm"][17], "8"])
                assert T.uint64(0) == T.tvm_struct_get(V_handle, 0, 8, "uint64"), ("ValueError", ["Invalid ", "V.byte_offset", " on argument #", "0", metadata["ir.StringImm"][0], "main(V: Tensor([n, 8], float32), T_softmax_norm: Tensor([n, 8], float32))", metadata["ir.StringImm"][18], "0"])
                assert T.Cast("int32", T.tvm_struct_get(main_T_softmax_norm_shape, 1, 17, "int64")) == 8, ("ValueError", ["Invalid ", "T_softmax_norm.shape[1]", " on argument #", "1", metadata["ir.StringImm"][0], "main(V: Tensor([n, 8], float32), T_softmax_norm: Tensor([n, 8], float32))", metadata["ir.StringImm"][19], "8"])
                assert T.uint64(0) == T.tvm_struct_get(T_softmax_norm_handle, 0, 8, "uint64"), ("ValueError", ["Invalid ", "T_softmax_norm.byte_offset", " on argument #", "1", metadata["ir.StringImm"][0], "main(V: Tensor([n, 8], float32), T_softmax_norm: Tensor([n, 8], float32))", metadata["ir.StringImm"][20], "0"])
                V = T.decl_buffer((n, 8), data=T.reinterpret(T.handle("float32", "global").ty, T.tvm_struct_get(V_handle, 0, 1, T.handle().ty)))
                T_softmax_norm = T.decl_buffer((n, 8), data=T.reinterpret(T.handle("float32", "global").ty, T.tvm_struct_get(T_softmax_norm_handle, 0, 1, T.handle().ty)))
                with T.attr({"compute_scope": "main_compute_"}):
                    T_softmax_maxelem = T.decl_buffer((n,), data=T.TVMBackendAllocWorkspace(1, dev_id, T.uint64(4) * T.Cast("uint64", n), 2, 32))
                    if T.isnullptr(T_softmax_maxelem.data):
                        T.tvm_throw_last_error()
                    cse_v1: T.let[T.int32] = n * 8
                    T_softmax_exp = T.decl_buffer((cse_v1,), data=T.TVMBackendAllocWorkspace(1, dev_id, T.uint64(4) * T.Cast("uint64", cse_v1), 2, 32))
                    if T.isnullptr(T_softmax_exp.data):
                        T.tvm_throw_last_error()
                    V_1 = V.view(cse_v1)
                    T_softmax_norm_1 = T_softmax_norm.view(cse_v1)
                    T_softmax_maxelem_1 = T.decl_buffer((n,), data=T_softmax_maxelem.data)
                    for i0, k in T.grid(n, 8):
                        if k == 0:
                            T_softmax_maxelem[i0] = T.float32(-340282346638528859811704183484516925440.0)
                        T_softmax_maxelem[i0] = T.max(T_softmax_maxelem[i0], V_1[i0 * 8 + k])
                    for i0, i1 in T.grid(n, 8):
                        cse_v2: T.let[T.int32] = i0 * 8 + i1
                        T_softmax_exp[cse_v2] = T.exp(V_1[cse_v2] - T_softmax_maxelem[i0])
                    for i0, k in T.grid(n, 8):
                        if k == 0:
                            T_softmax_maxelem_1[i0] = T.float32(0.0)
                        T_softmax_maxelem_1[i0] = T_softmax_maxelem_1[i0] + T_softmax_exp[i0 * 8 + k]
                    for i0, i1 in T.grid(n, 8):
                        cse_v3: T.let[T.int32] = i0 * 8 + i1
                        T_softmax_norm_1[cse_v3] = T_softmax_exp[cse_v3] / T_softmax_maxelem_1[i0]
                    if T.TVMBackendFreeWorkspace(1, dev_id, T_softmax_exp.data) != 0:
                        T.tvm_throw_last_error()
                    if T.TVMBackendFreeWorkspace(1, dev_id, T_softmax_maxelem.data) != 0:
                        T.tvm_throw_last_error()
                return 0

# Metadata omitted. Use show_meta=True in script() method to show it.
