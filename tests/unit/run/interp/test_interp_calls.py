"""Intrinsics, packed and C functions, lowered calls."""

import math

import numpy as np
import pytest

from refmlc.lang.ops.intrinsics import INTRINSICS, intrinsic
from refmlc.lang.spec import clauses
from refmlc.run.interp.tensorir.calls import EXECUTED
from refmlc.run.memory.pointer import Pointer
from refmlc.run.memory.registry import FunctionRegistry, python_func
from refmlc.run.memory.tensor import Tensor


def body(text, params='A: T.Buffer((8,), "float32"), n: T.int32'):
    lines = "\n".join("    " + line for line in text.strip("\n").split("\n"))
    return f"\n@T.prim_func(s_tir=True)\ndef f({params}):\n{lines}\n"


def eight():
    return np.arange(8, dtype="float32")


def registry(**functions):
    found = FunctionRegistry()
    for name, function in functions.items():
        found.add(python_func(name, function))
    return found


def test_every_supported_row_is_executed_and_the_others_are_not():
    assert {row.name for row in INTRINSICS.values() if row.supported} == set(EXECUTED)
    assert {row.clause for row in INTRINSICS.values()} <= set(clauses())
    assert intrinsic("tvm_call_packed") is INTRINSICS["call_packed"]
    assert intrinsic("ptx.spcompress").missing
    assert intrinsic("nothing") is None


@pytest.mark.parametrize(
    ("statement", "part"),
    [
        ("T.evaluate(T.tvm_warp_activemask())", "tvm_warp_activemask"),
        ('T.ptx.cp("async", "commit_group", "")', "ptx"),
    ],
)
def test_unsupported_is_said_when_it_is_reached(run, failing, statement, part):
    text = body(f"if n > 0:\n    {statement}")
    run(text, eight(), 0)
    found = failing(text, eight(), 1)
    assert found.code.id == "RM502"
    assert part in found.message


def test_packed_function(run):
    seen = []

    def record(array, number, text, other):
        seen.append((array.numpy().tolist(), number, text))
        other.numpy()[0] = 42

    params = 'A: T.Buffer((2,), "float32"), B: T.Buffer((2,), "float32"), n: T.int32'
    text = body('T.call_packed("record", A, n + 1, "word", B)', params)
    b = np.zeros(2, "float32")
    run(text, np.ones(2, "float32"), b, 4, registry=registry(record=record))
    assert seen == [([1.0, 1.0], 5, "word")]
    assert b[0] == 42


def test_packed_function_initialises_what_it_is_given(run, failing):
    text = body('C = T.alloc_buffer((2,), "float32")\nT.call_packed("fill", C)\nA[0] = C[1]')
    a = eight()
    run(text, a, 0, registry=registry(fill=lambda c: c.numpy().fill(7)))
    assert a[0] == 7

    def broken(_):
        raise ValueError("no")

    found = failing(text, a, 0, registry=registry(fill=broken))
    assert (found.code.id, found.notes) == ("RM403", ("in `f`, step 1",))


def test_packed_function_that_is_not_there(failing):
    assert failing(body('T.evaluate(T.call_packed("seven", n))'), eight(), 0).code.id == "RM402"


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        ('T.call_pure_extern("float32", "sqrtf", T.float32(9))', 3.0),
        ('T.call_pure_extern("float32", "fabsf", T.float32(-2))', 2.0),
        ('T.call_extern("float32", "powf", T.float32(2), T.float32(5))', 32.0),
        ('T.call_llvm_pure_intrin("float32", "llvm.floor.f32", T.float32(2.5))', 2.0),
        ('T.call_llvm_pure_intrin("float32", "llvm.rint.f32", T.float32(2.5))', 2.0),
    ],
)
def test_functions_of_c(run, call, expected):
    a = eight()
    run(body(f"A[0] = {call}"), a, 0)
    assert a[0] == expected


@pytest.mark.parametrize(
    "call",
    [
        'T.call_pure_extern("float32", "roundf", T.float32(0.5))',  # C rounds half away from zero: no operator does
        'T.call_pure_extern("float32", "sqrt", T.float32(4))',  # a function of double
        'T.call_extern("float32", "my_own", T.float32(4))',
        'T.call_llvm_pure_intrin("float32", "llvm.x86.something", T.float32(4))',
    ],
)
def test_functions_of_c_that_are_not_known(failing, call):
    assert failing(body(f"A[0] = {call}"), eight(), 0).code.id == "RM502"


def test_prefetch_does_nothing(run):
    run(body('T.evaluate(T.call_llvm_intrin("int32", "llvm.prefetch", T.address_of(A[0]), 0, 3, 1))'), eight(), 0)


def test_extern_function_gets_pointers(run):
    def negate(data, count):
        assert isinstance(data, Pointer)
        floats = data.storage.array[data.byte_offset :].view("float32")
        floats[:count] *= -1
        return 0

    a = eight()
    text = body('T.evaluate(T.call_extern("int32", "negate", T.address_of(A[2]), 3))')
    run(text, a, 0, registry=registry(negate=negate))
    assert a.tolist() == [0, 1, -2, -3, -4, 5, 6, 7]


def test_extern_of_the_module(run):
    text = """
from tvm.script import ir as I

@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def main(A: T.Buffer((8,), "float32")):
        T.call_extern("int32", "other", A.data)

    @T.prim_func(s_tir=True)
    def other(p: T.handle("float32")):
        A = T.decl_buffer((8,), "float32", data=p)
        A[1] = T.float32(5)
"""
    a = eight()
    run(text, a)
    assert a[1] == 5


def test_extern_is_found_by_the_symbol_that_it_is_linked_by(run):
    text = """
from tvm.script import ir as I

@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def main(A: T.Buffer((8,), "float32")):
        A[0] = T.call_pure_extern("float32", "expf", A[0])
        T.call_extern("int32", "linked", A.data)

    @T.prim_func(s_tir=True)
    def expf(p: T.handle("float32")):
        T.func_attr({"global_symbol": "linked"})
        A = T.decl_buffer((8,), "float32", data=p)
        A[1] = T.float32(5)
"""
    a = eight()
    run(text, a)
    assert a[:2].tolist() == [1, 5]


def test_pointers(run, failing):
    text = body(
        """
B = T.decl_buffer((2,), "float32", data=T.handle_add_byte_offset(A.data, 8))
C = T.decl_buffer((2,), "float32", data=T.tvm_access_ptr(T.type_annotation("float32"), A.data, 4, 2, 3))
D = T.decl_buffer((2,), "float32", data=T.address_of(A[n]))
if not T.isnullptr(A.data):
    A[0] = B[0] * T.float32(100) + C[0] * T.float32(10) + D[0]
"""
    )
    a = eight()
    run(text, a, 7)
    assert a[0] == 247
    assert failing(text, a, 8).code.id == "RM304"


def test_workspaces(run, failing):
    text = body(
        """
W = T.decl_buffer((2,), "float32", data=T.TVMBackendAllocWorkspace(1, 0, T.uint64(8), 2, 32))
W[0] = T.float32(3)
A[0] = W[0]
if n == 1:
    A[1] = W[1]
if T.TVMBackendFreeWorkspace(1, 0, W.data) != 0:
    T.tvm_throw_last_error()
if n == 2:
    A[1] = W[0]
if n == 3:
    T.evaluate(T.TVMBackendFreeWorkspace(1, 0, W.data))
if n == 4:
    T.tvm_throw_last_error()
if n == 5:
    W[0] = T.float32(1)
if n == 6:
    W[T.Ramp(0, 1, 2)] = T.Broadcast(T.float32(1), 2)
"""
    )
    a = eight()
    run(text, a, 0)
    assert a[0] == 3
    assert [failing(text, a, n).code.id for n in range(1, 7)] == [
        *("RM305", "RM316", "RM313", "RM406", "RM316", "RM316")
    ]


def test_assume_and_undef(run, failing):
    text = body("T.evaluate(T.assume(n < 4))\nA[0] = T.float32(n)".replace("T.float32(n)", 'T.Cast("float32", n)'))
    run(text, eight(), 3)
    assert failing(text, eight(), 4).code.id == "RM310"
    assert failing(body("A[0] = A[1] + T.undef()"), eight(), 0).code.id == "RM305"


def test_fma_rounds_once(run):
    """(1 + 2^-23)^2 - (1 + 2^-22) is exactly 2^-46."""
    a = np.array([1 + 2.0**-23, -(1 + 2.0**-22), math.inf, 0, 0, 0, 0, 0], "float32")
    text = body("A[3] = T.fma(A[0], A[0], A[1])\nA[4] = T.fma(A[2], A[0], A[1])")
    run(text, a, 0)
    assert a[3] == np.float32(2.0**-46)
    assert a[4] == math.inf


LOWERED = """
@T.prim_func(s_tir=True)
def f(self_handle: T.handle, args: T.handle, num_args: T.int32, result: T.handle) -> T.int32:
    T.func_attr({"calling_conv": 1})
    assert num_args == 2, "two"
    stack: T.let[T.handle] = T.tvm_stack_alloca("tvm_ffi_any", 3)
    arrays: T.let[T.handle] = T.tvm_stack_alloca("array", 1)
    shape = T.decl_buffer((2,), "int64", data=T.tvm_stack_alloca("shape", 2))
    kind: T.let[T.int32] = T.tvm_struct_get(args, 0, 13, "int32")
    assert kind == 7, "a tensor"
    A_handle: T.let[T.handle] = T.tvm_struct_get(args, 0, 15, "handle")
    n: T.let[T.int32] = T.Cast("int32", T.tvm_struct_get(args, 1, 15, "int64"))
    A_shape: T.let[T.handle] = T.tvm_struct_get(A_handle, 0, 2, "handle")
    assert T.tvm_struct_get(A_handle, 0, 4, "int32") == 1, "rank"
    assert T.tvm_struct_get(A_handle, 0, 5, "uint8") == T.uint8(2), "code"
    assert T.tvm_struct_get(A_handle, 0, 6, "uint8") == T.uint8(32), "bits"
    assert T.tvm_struct_get(T.tvm_struct_get(A_handle, 0, 3, "handle"), 0, 17, "int64") == T.int64(1), "compact"
    assert T.tvm_struct_get(A_shape, 0, 17, "int64") == T.int64(8), "extent"
    A = T.decl_buffer((8,), "float32", data=T.tvm_struct_get(A_handle, 0, 1, "handle"))
    shape[0] = T.int64(2)
    shape[1] = T.int64(3)
    assert T.tvm_struct_get(shape.data, 1, 17, "int64") == T.int64(3), "element"
    T.tvm_struct_set(arrays, 0, 1, A.data)
    T.tvm_struct_set(arrays, 0, 2, shape.data)
    T.tvm_struct_set(arrays, 0, 3, T.reinterpret("handle", T.uint64(0)))
    T.tvm_struct_set(arrays, 0, 4, 2)
    T.tvm_struct_set(arrays, 0, 5, T.uint8(2))
    T.tvm_struct_set(arrays, 0, 6, T.uint8(32))
    T.tvm_struct_set(arrays, 0, 7, T.uint16(1))
    T.tvm_struct_set(arrays, 0, 8, T.uint64(4))
    T.tvm_struct_set(stack, 0, 13, 7)
    T.tvm_struct_set(stack, 0, 14, 0)
    T.tvm_struct_set(stack, 0, 15, T.tvm_struct_get(arrays, 0, 0, "handle"))
    T.tvm_struct_set(stack, 1, 13, 1)
    T.tvm_struct_set(stack, 1, 15, T.Cast("int64", n))
    T.call_packed_lowered("outer", stack, 0, 2)
    T.tvm_struct_set(result, 0, 13, 1)
    T.tvm_struct_set(result, 0, 15, T.int64(11))
    T.ret(0)
"""


def test_lowered_calls_and_the_packed_entry(run):
    seen = []

    def outer(array, number):
        seen.append((array.numpy().tolist(), number))

    result = run(LOWERED, eight(), 3, registry=registry(outer=outer))
    assert seen == [([[1, 2, 3], [4, 5, 6]], 3)]
    assert result == 11


FLOAT_OR_INT = """
@T.prim_func(s_tir=True)
def f(self_handle: T.handle, args: T.handle, num_args: T.int32, result: T.handle) -> T.int32:
    T.func_attr({"calling_conv": 1})
    real: T.let[T.float64] = T.tvm_struct_get(args, 0, 15, "float64")
    whole: T.let[T.int64] = T.tvm_struct_get(args, 0, 15, "int64")
    T.tvm_struct_set(result, 0, 13, 3)
    kind: T.let[T.int32] = T.tvm_struct_get(args, 0, 13, "int32")
    T.tvm_struct_set(result, 0, 15, T.Select(kind == 3, real, T.Cast("float64", whole)))
    T.ret(0)
"""


@pytest.mark.parametrize("number", [1.5, float("inf"), 2, -3])
def test_a_packed_entry_reads_a_number_both_ways_and_takes_one(run, number):
    """The arm that is not taken reads the bits of the other kind of number."""
    assert run(FLOAT_OR_INT, number) == number


def test_lowered_calls_check_their_fields(failing):
    text = body(
        """
stack: T.let[T.handle] = T.tvm_stack_alloca("tvm_ffi_any", 3)
A[0] = T.Cast("float32", T.tvm_struct_get(stack, n, 13, "int32"))
"""
    )
    assert failing(text, eight(), 5).code.id == "RM313"


def test_tensor_from_a_pointer(run):
    array = "T.tvm_stack_make_array(A.data, T.tvm_stack_make_shape(2, 3), 0, 2, T.float32(0), 1)"
    text = body(f'T.call_packed("look", {array})')
    seen = []
    run(text, eight(), 0, registry=registry(look=lambda t: seen.append(t.numpy().tolist())))
    assert seen == [[[1, 2, 3], [4, 5, 6]]]
    assert isinstance(Tensor.from_numpy(eight()), Tensor)


@pytest.mark.parametrize(
    ("result", "dtype", "seen"),
    [
        (0.1, "float32", float(np.float32(0.1))),
        (3, "float32", 3.0),
        (3, "int8", 3),
        (True, "int32", 1),
        (1, "bool", 1),
        (None, "float32", None),
        ("x", "float32", None),
        (1.5, "int32", None),
        (300, "int8", None),
        (-1, "uint8", None),
        (2, "bool", None),
        (10**400, "float32", None),
        (10**40, "float32", None),
    ],
)
@pytest.mark.parametrize("call", ["call_packed", "call_extern"])
def test_values_from_outside_are_of_the_declared_dtype(run, failing, call, result, dtype, seen):
    text = body(
        f'B[0] = T.Cast("float64", T.call_intrin("{dtype}", "tirx.{call}", "g"))', 'B: T.Buffer((1,), "float64")'
    )
    out, functions = np.zeros(1), registry(g=lambda: result)
    if seen is None:
        found = failing(text, Tensor.from_numpy(out), registry=functions)
        assert (found.code.id, "declared" in found.message) == ("RM404", True)
    else:
        run(text, Tensor.from_numpy(out), registry=functions)
        assert out[0] == seen


def test_what_is_not_used_may_be_anything(run):
    run(body('T.evaluate(T.call_packed("g"))', ""), registry=registry(g=lambda: "x"))


def test_a_view_beyond_its_storage_has_no_element(failing):
    params = 'A: T.Buffer((8,), "float32"), n: T.int32'
    for access in ("A[0] = V[0]", "V[0] = A[0]", "V[0] = T.undef()"):
        text = body(f'V = T.decl_buffer((4,), "float32", data=A.data, elem_offset=n)\n{access}', params)
        for offset in (8, -1, 100):
            found = failing(text, Tensor.from_numpy(eight()), offset)
            assert (found.code.id, "beyond its storage" in found.message) == ("RM304", True)


def test_bits_become_other_lanes_the_lowest_first(run):  # NUM-705
    params = 'A: T.Buffer((2,), "float32"), B: T.Buffer((1,), "uint64"), C: T.Buffer((8,), "int8")'
    text = 'A[0:2] = T.reinterpret("float32x2", T.float64(1.5))\nB[0] = T.reinterpret("uint64", A[0:2])'
    text += '\nC[0:8] = T.reinterpret("int8x8", A[0:2])'
    halves, whole, parts = np.zeros(2, "float32"), np.zeros(1, "uint64"), np.zeros(8, "int8")
    run(body(text, params), *(Tensor.from_numpy(array) for array in (halves, whole, parts)))
    expected = np.array([1.5])
    assert halves.tolist() == expected.view("float32").tolist()
    assert whole.tolist() == expected.view("uint64").tolist()
    assert parts.tolist() == expected.view("int8").tolist()


def test_vectors_from_outside_have_as_many_lanes(run, failing):
    params = 'B: T.Buffer((2,), "float32")'
    text = body('B[0:2] = T.call_intrin("float32x2", "tirx.call_extern", "g")', params)
    out = np.zeros(2, "float32")
    run(text, Tensor.from_numpy(out), registry=registry(g=lambda: (1.0, 2.0)))
    assert out.tolist() == [1.0, 2.0]
    assert failing(text, Tensor.from_numpy(out), registry=registry(g=lambda: 1.0)).code.id == "RM404"
