"""What a host function does to run a kernel: arguments, extents behind them, the status, the device it asks for."""

import numpy as np
import pytest

import refmlc
from refmlc.lang.ir.equal import structural_equal
from refmlc.lang.script import show

MODULE = """
@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def kernel(a: T.handle("float32")):
        T.func_attr({{"calling_conv": 2, "tirx.kernel_launch_params": ["threadIdx.x"]}})
        A = T.decl_buffer((4,), data=a)
        t = T.launch_thread("threadIdx.x", 4)
        A[t] = A[t] + T.float32(1)

    @T.prim_func(s_tir=True)
    def main(self_handle: T.handle, args: T.handle, num_args: T.int32, result: T.handle) -> T.int32:
        T.func_attr({{"calling_conv": 1}})
        handle: T.let[T.handle] = T.tvm_struct_get(args, 0, 15, "handle")
        assert T.tvm_struct_get(handle, 0, 10, "int32") == 2, "it is not on the GPU"
        A = T.decl_buffer((4,), "float32", data=T.tvm_struct_get(handle, 0, 1, "handle"))
        stack: T.let[T.handle] = T.tvm_stack_alloca("tvm_ffi_any", 3)
        T.tvm_struct_set(stack, 0, 13, 4)
        T.tvm_struct_set(stack, 0, 15, A.data)
        T.tvm_struct_set(stack, 1, 13, 1)
        T.tvm_struct_set(stack, 1, 15, T.Cast("int64", 4))
        status: T.let[T.int32] = {launch}
        assert status == 0, "the kernel failed"
        T.ret(0)
"""
LAUNCHES = {
    "by name and tags": 'T.call_ffi_kernel("kernel", A.data, 4, launch_params=["threadIdx.x"], ret_ty="int32")',
    "lowered": 'T.call_packed_lowered("kernel", stack, 0, 2)',
    "packed, with extents": 'T.call_packed("kernel", A.data, 4)',
}


@pytest.mark.parametrize("launch", LAUNCHES.values(), ids=LAUNCHES)
def test_a_kernel_is_launched_and_has_a_status(launch):
    module = refmlc.read(MODULE.format(launch=launch))
    given = np.array([1, 2, 3, 4], "float32")
    refmlc.VirtualMachine(refmlc.build(module))["main"](given)
    assert given.tolist() == [2, 3, 4, 5]
    text = show(module)
    assert launch in text
    assert structural_equal(refmlc.read(text), module)


def test_too_few_arguments_are_too_few():
    text = MODULE.format(launch=LAUNCHES["lowered"].replace("0, 2", "0, 0"))
    with pytest.raises(refmlc.RefmlcError) as caught:
        refmlc.VirtualMachine(refmlc.build(refmlc.read(text)))["main"](np.zeros(4, "float32"))
    assert caught.value.code.id == "RM314"


ENTRY = """
from tvm.script import ir as I
from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def main(self_handle: T.handle, args: T.handle, num_args: T.int32, result: T.handle) -> T.int32:
        T.func_attr({{"calling_conv": 1}})
        handle: T.let[T.handle] = T.tvm_struct_get(args, 0, 15, "handle")
        assert {device} == 2, "it is not on the GPU"
        lengths: T.let[T.handle("int64")] = T.tvm_struct_get(handle, 0, 2, "handle")
        Lengths = T.decl_buffer((1,), "int64", data=lengths)
        strides: T.let[T.handle("int64")] = T.reinterpret("handle", T.uint64(0))
        Strides = T.decl_buffer((1,), "int64", data=strides)
        A = T.decl_buffer((4,), "int64", data=T.tvm_struct_get(handle, 0, 1, "handle"))
        steps: T.let[T.handle("int64")] = T.tvm_struct_get(handle, 0, 3, "handle")
        Steps = T.decl_buffer((1,), "int64", data=steps)
        A[0] = Lengths[0] + T.int64(10) * Steps[0]
        A[1] = T.if_then_else(T.isnullptr(strides), T.int64(7), Strides[0])
        {more}
        T.ret(0)
"""
DEVICE = 'T.tvm_struct_get(handle, 0, 10, "int32")'


def run_entry(device=DEVICE, more="T.evaluate(0)"):
    given = np.zeros(4, "int64")
    refmlc.VirtualMachine(refmlc.build(refmlc.read(ENTRY.format(device=device, more=more))))["main"](given)
    return given.tolist()


@pytest.mark.parametrize("device", [DEVICE, f"T.if_then_else(T.bool(True), {DEVICE}, 0)"])
def test_shape_and_strides_of_a_tensor_are_memory_and_null_strides_are_not_read(device):
    assert run_entry(device) == [14, 7, 0, 0]


@pytest.mark.parametrize(
    ("more", "code"), [("A[2] = Strides[0]", "RM304"), ("Strides[0] = A[0]", "RM304"), ("Lengths[0] = A[0]", "RM313")]
)
def test_null_has_no_element_and_a_shape_is_not_written(more, code):
    with pytest.raises(refmlc.RefmlcError) as caught:
        run_entry(more=more)
    assert caught.value.code.id == code
