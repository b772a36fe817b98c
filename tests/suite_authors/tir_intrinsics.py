"""TensorIR by hand: intrinsics."""

import numpy as np
from hand import K, ask, f32, i32, new, tir, trap, undefined
from tir_usual import AR, FOUR, INTS, IOUT, IR, ONE, OUT, simple

INTRINSICS = [
    ("hints", "TIR-301", 'T.evaluate(T.type_annotation("float32"))\nfor i in range(4):\n    R[i] = A[i]', [1, 2, 3, 4]),
    (
        "thread-invariant",
        "TIR-302",
        "for i in range(4):\n    R[i] = T.if_then_else(T.ignore_loop_partition(A[i] > T.float32(2)), T.tvm_thread_invariant(A[i]), A[0])",
        [1, 1, 3, 4],
    ),
    (
        "vscale",
        "TIR-303",
        'for i in range(4):\n    R[i] = A[i] + T.Cast("float32", T.vscale() - T.vscale())',
        [1, 2, 3, 4],
    ),
    (
        "vector-halves",
        "TIR-304",
        'R[0:4] = T.vectorcombine("float32x4", T.vectorhigh("float32x2", A.vload([T.Ramp(0, 1, 4)])), T.vectorlow("float32x2", A.vload([T.Ramp(0, 1, 4)])))',
        [3, 4, 1, 2],
    ),
    (
        "lane-mask",
        "TIR-305",
        'R[0:4] = T.Select(T.get_active_lane_mask("boolx4", 5, 7), A[0:4], T.Broadcast(T.float32(0), 4))',
        [1, 2, 0, 0],
    ),
    (
        "assume",
        "TIR-306",
        "T.evaluate(T.assume(A[0] > T.float32(0)))\nfor i in range(4):\n    R[i] = A[i]",
        [1, 2, 3, 4],
    ),
    (
        "undef-stored",
        "TIR-307",
        "for i in range(4):\n    R[i] = A[i]\nR[0] = T.undef()\nR[0] = T.float32(9)",
        [9, 2, 3, 4],
    ),
    ("fma", "TIR-309", "for i in range(4):\n    R[i] = T.fma(A[i], A[i], T.float32(1))", [2, 5, 10, 17]),
    (
        "address-of",
        "TIR-321",
        'B = T.decl_buffer((2,), "float32", data=T.address_of(A[2]))\nfor i in range(4):\n    R[i] = B[i % 2]',
        [3, 4, 3, 4],
    ),
    (
        "access-ptr",
        "TIR-322",
        'B = T.decl_buffer((2,), "float32", data=T.tvm_access_ptr(T.type_annotation("float32"), A.data, 1, 2, 1))\nfor i in range(4):\n    R[i] = B[i % 2]',
        [2, 3, 2, 3],
    ),
    (
        "byte-offset",
        "TIR-323",
        'B = T.decl_buffer((2,), "float32", data=T.handle_add_byte_offset(A.data, 8))\nfor i in range(4):\n    R[i] = B[i % 2]',
        [3, 4, 3, 4],
    ),
    (
        "isnullptr",
        "TIR-324",
        "for i in range(4):\n    R[i] = T.float32(0)\nif not T.isnullptr(A.data):\n    R[0] = A[0]",
        [1, 0, 0, 0],
    ),
    (
        "null-handle",
        "TIR-332 TIR-324",
        'for i in range(4):\n    R[i] = T.float32(0)\nif T.isnullptr(T.reinterpret("handle", T.uint64(0))):\n    R[0] = A[0]',
        [1, 0, 0, 0],
    ),
    (
        "workspace",
        "TIR-325",
        'W = T.decl_buffer((2,), "float32", data=T.TVMBackendAllocWorkspace(1, 0, T.uint64(8), 2, 32))\nW[0] = A[0]\nW[1] = A[1]\nfor i in range(4):\n    R[i] = W[i % 2]\nT.evaluate(T.TVMBackendFreeWorkspace(1, 0, W.data))',
        [1, 2, 1, 2],
    ),
    (
        "extern-of-c",
        "TIR-342",
        'R[0] = T.call_pure_extern("float32", "sqrtf", A[3])\nR[1] = T.call_pure_extern("float32", "fabsf", T.float32(0) - A[1])\nR[2] = T.call_extern("float32", "powf", A[1], A[2])\nR[3] = T.call_pure_extern("float32", "floorf", A[3] / T.float32(3))',
        [2, 2, 8, 1],
    ),
    (
        "llvm-intrin",
        "TIR-343",
        'R[0] = T.call_llvm_pure_intrin("float32", "llvm.floor.f32", T.float32(2.5))\nR[1] = T.call_llvm_pure_intrin("float32", "llvm.rint.f32", T.float32(2.5))\nR[2] = T.call_llvm_pure_intrin("float32", "llvm.fmuladd.f32", A[1], A[2], A[3])\nR[3] = T.call_llvm_pure_intrin("float32", "llvm.ceil.f32", T.float32(2.5))',
        [2, 2, 10, 3],
    ),
    (
        "struct-shape",
        "TIR-330 TIR-329",
        'shape = T.decl_buffer((2,), "int64", data=T.tvm_stack_alloca("shape", 2))\nshape[0] = T.int64(2)\nshape[1] = T.int64(3)\nfor i in range(4):\n    R[i] = T.Cast("float32", T.tvm_struct_get(shape.data, 1, 17, "int64"))',
        [3, 3, 3, 3],
    ),
    (
        "struct-values",
        "TIR-330 TIR-329",
        'stack: T.let[T.handle] = T.tvm_stack_alloca("tvm_ffi_any", 3)\nT.tvm_struct_set(stack, 1, 15, T.int64(5))\nfor i in range(4):\n    R[i] = A[i] + T.Cast("float32", T.tvm_struct_get(stack, 1, 15, "int64"))',
        [6, 7, 8, 9],
    ),
    (
        "never-reached",
        "TIR-399",
        "for i in range(4):\n    R[i] = A[i]\nif R[0] < T.float32(0):\n    T.evaluate(T.tvm_warp_activemask())",
        [1, 2, 3, 4],
    ),
]
ARRAY = """
@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def main(A: T.Buffer((4,), "float32"), R: T.Buffer((4,), "float32")):
        T.evaluate(T.call_packed("copy", T.tvm_stack_make_array(A.data, T.tvm_stack_make_shape(2), 0, 1, T.float32(0), 1), T.tvm_stack_make_array(R.data, T.tvm_stack_make_shape(2), 0, 1, T.float32(0), 2)))
        R[0] = A[0]
        R[1] = A[1]

    @T.prim_func(s_tir=True)
    def copy(A: T.Buffer((2,), "float32"), B: T.Buffer((2,), "float32")):
        T.func_attr({"global_symbol": "copy"})
        for i in range(2):
            B[i] = A[i] * T.float32(10)
"""
LOWERED = """
@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def main(A: T.Buffer((4,), "float32"), R: T.Buffer((4,), "float32")):
        stack: T.let[T.handle] = T.tvm_stack_alloca("tvm_ffi_any", 3)
        T.tvm_struct_set(stack, 0, 13, 1)
        T.tvm_struct_set(stack, 0, 15, T.int64(40))
        T.call_packed_lowered("plus", stack, 0, 1)
        for i in range(4):
            R[i] = A[i] + T.Cast("float32", T.tvm_struct_get(stack, 1, 15, "int64"))

    @T.prim_func(s_tir=True)
    def plus(n: T.int64) -> T.int64:
        T.func_attr({"global_symbol": "plus"})
        T.ret(n + T.int64(2))
"""
EXTERN = """
@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def main(A: T.Buffer((4,), "float32"), R: T.Buffer((4,), "float32")):
        for i in range(4):
            R[i] = A[i]
        T.call_extern("int32", "other", R.data)

    @T.prim_func(s_tir=True)
    def other(p: T.handle("float32")):
        B = T.decl_buffer((4,), "float32", data=p)
        B[1] = T.float32(5)
"""


KERNEL = """
@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def main(A: T.Buffer((4,), "float32"), R: T.Buffer((4,), "float32")):
        T.call_ffi_kernel("kernel", A.data, R.data, 4)

    @T.prim_func(s_tir=True)
    def kernel(a: T.handle("float32"), r: T.handle("float32")):
        T.func_attr({"global_symbol": "kernel", "calling_conv": 2})
        A = T.decl_buffer((4,), "float32", data=a)
        R = T.decl_buffer((4,), "float32", data=r)
        t = T.launch_thread("threadIdx.x", 4)
        R[t] = A[t] + T.float32(1)
"""


def intrinsics(book):
    for name, clauses, body, expected in INTRINSICS:
        simple(book, f"tir.intrinsic.{name}", clauses, body, f32(*expected), AR, FOUR, OUT)
    third = f32(1 + 2.0**-23, -(1 + 2.0**-22), 0, 0)
    simple(
        book,
        "tir.intrinsic.fma-rounds-once",
        "TIR-309",
        "for i in range(4):\n    R[i] = T.fma(A[0], A[0], A[1])",
        np.full(4, 2.0**-46, np.float32),
        AR,
        third,
        OUT,
    )
    ask(book, "tir.intrinsic.make-array", "TIR-328 TIR-327 TIR-341", ARRAY, ([FOUR, OUT], [K, f32(1, 2, 20, 30)]))
    ask(book, "tir.intrinsic.call-packed-lowered", "TIR-331 TIR-330", LOWERED, ([FOUR, OUT], [K, FOUR + 42]))
    ask(book, "tir.intrinsic.call-extern-of-the-module", "TIR-342", EXTERN, ([FOUR, OUT], [K, f32(1, 5, 3, 4)]))
    ask(
        book,
        "undefined.assume.false",
        "TIR-306",
        tir(ONE, "T.evaluate(«T.assume(A[0] > 0)»)\nR[0] = 1"),
        ([i32(0), new([1], "int32")], undefined("RM310")),
    )
    ask(
        book,
        "undefined.undef.used",
        "TIR-307",
        tir('R: T.Buffer((1,), "float32")', "R[0] = T.float32(1) + «T.undef()»"),
        ([new([1], "float32")], undefined("RM305")),
    )
    ask(
        book,
        "undefined.undef.read-again",
        "TIR-307",
        tir('R: T.Buffer((2,), "float32")', "R[0] = T.float32(1)\nR[0] = T.undef()\nR[1] = «R[0]»"),
        ([new([2], "float32")], undefined("RM305")),
    )
    ask(
        book,
        "undefined.address.outside",
        "TIR-321",
        tir(IR, 'B = T.decl_buffer((1,), "int32", data=T.address_of(«A[5]»))\nR[0] = B[0]'),
        ([INTS, IOUT], undefined("RM304")),
    )
    ask(
        book,
        "undefined.workspace.freed-twice",
        "TIR-325",
        tir(
            ONE,
            'W = T.decl_buffer((1,), "float32", data=T.TVMBackendAllocWorkspace(1, 0, T.uint64(4), 2, 32))\nT.evaluate(T.TVMBackendFreeWorkspace(1, 0, W.data))\nT.evaluate(«T.TVMBackendFreeWorkspace(1, 0, W.data)»)\nR[0] = A[0]',
        ),
        ([i32(1), new([1], "int32")], undefined("RM313")),
    )
    ask(
        book,
        "undefined.workspace.used-after",
        "TIR-325",
        tir(
            'R: T.Buffer((1,), "float32")',
            'W = T.decl_buffer((1,), "float32", data=T.TVMBackendAllocWorkspace(1, 0, T.uint64(4), 2, 32))\nW[0] = T.float32(1)\nT.evaluate(T.TVMBackendFreeWorkspace(1, 0, W.data))\nR[0] = «W[0]»',
        ),
        ([new([1], "float32")], undefined("RM316")),
    )
    ask(
        book,
        "undefined.workspace.uninitialised",
        "TIR-325",
        tir(
            'R: T.Buffer((1,), "float32")',
            'W = T.decl_buffer((1,), "float32", data=T.TVMBackendAllocWorkspace(1, 0, T.uint64(4), 2, 32))\nR[0] = «W[0]»',
        ),
        ([new([1], "float32")], undefined("RM305")),
    )
    ask(
        book,
        "trap.throw",
        "TIR-326",
        tir(ONE, "R[0] = A[0]\n«T.tvm_throw_last_error()»"),
        ([i32(1), new([1], "int32")], trap("RM406")),
    )
    ask(
        book,
        "undefined.struct.never-set",
        "TIR-330",
        tir(
            ONE,
            'stack: T.let[T.handle] = T.tvm_stack_alloca("tvm_ffi_any", 1)\nR[0] = T.Cast("int32", «T.tvm_struct_get(stack, 0, 15, "int64")»)',
        ),
        ([i32(1), new([1], "int32")], undefined("RM313")),
    )
    ask(
        book,
        "undefined.null-pointer",
        "TIR-207 TIR-332",
        tir(
            'R: T.Buffer((1,), "float32")',
            '«B = T.decl_buffer((1,), "float32", data=T.reinterpret("handle", T.uint64(0)))\nR[0] = B[0]',
        ),
        ([new([1], "float32")], undefined("RM313")),
    )
    ask(
        book,
        "undefined.handle-of-a-number",
        "TIR-332",
        tir(
            'R: T.Buffer((1,), "float32")',
            'R[0] = T.float32(1)\nif T.isnullptr(«T.reinterpret("handle", T.uint64(4096))»):\n    R[0] = T.float32(2)',
        ),
        ([new([1], "float32")], undefined("RM313")),
    )
    ask(
        book,
        "trap.packed.missing",
        "TIR-341",
        tir(ONE, 'T.evaluate(«T.call_packed("no.such.function", A[0])»)\nR[0] = A[0]'),
        ([i32(1), new([1], "int32")], trap("RM402")),
    )
    ask(book, "tir.intrinsic.call-ffi-kernel", "TIR-333", KERNEL, ([FOUR, OUT], [K, FOUR + 1]))
    book.write("intrinsics", "Intrinsics of TensorIR, family by family.")
