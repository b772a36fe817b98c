"""Where a condition just holds or just does not: loops that begin below zero, other dtypes, null handles."""

import math

import numpy as np
import pytest

from refmlc.diag import IllFormed, RefmlcError, Source, Span
from refmlc.lang.dtypes import BOOL, FLOAT32, FLOAT64, HANDLE, INT8, INT32, INT64, dtype
from refmlc.lang.ir import IRModule, tir
from refmlc.lang.ir.kinds import IterKind
from refmlc.lang.ir.types import PrimType, TensorType
from refmlc.lang.script import read
from refmlc.run.interp.graph.activation import Activation
from refmlc.run.interp.graph.call_site import Site
from refmlc.run.interp.graph.calls import result_of
from refmlc.run.interp.graph.type_match import eval_dim, mismatch
from refmlc.run.interp.machine import Machine
from refmlc.run.interp.tensorir.c_abi import dtype_of_code, extents
from refmlc.run.memory.pointer import Pointer
from refmlc.run.memory.registry import FunctionRegistry, python_func
from refmlc.run.memory.tensor import Tensor


def imm(value, kind=INT32):
    return tir.IntImm(kind, value)


def called(value):
    return Machine(IRModule({"f": tir.PrimFunc((), {}, tir.Return(value))})).call("f", ())


def code(value):
    with pytest.raises(RefmlcError) as caught:
        called(value)
    return caught.value.code.id


BELOW = """
@T.prim_func(s_tir=True)
def f(A: T.Buffer((4, 2), "float32"), B: T.Buffer((4, 2), "float32")):
    for i in T.serial({low}, {high}):
        {statement}
"""


@pytest.mark.parametrize("statement", ["B[0, 0] = A[i, 1]", "B[i, 1] = A[0, 0]"])
def test_a_loop_that_begins_below_the_first_element(failing, statement):
    """The last iterations are in bounds, and the loop has as many as the axis has elements."""
    zeros = np.zeros((4, 2), "float32")
    found = failing(BELOW.format(low=-1, high=3, statement=statement), zeros, zeros.copy())
    assert (found.code.id, found.label) == ("RM304", "index 0 is -1, extent is 4")


def test_a_loop_that_goes_beyond_the_last_element(failing):
    zeros = np.zeros((4, 2), "float32")
    found = failing(BELOW.format(low=1, high=5, statement="B[i, 1] = A[0, 0]"), zeros, zeros.copy())
    assert (found.code.id, found.label) == ("RM304", "index 0 is 4, extent is 4")


def test_an_intrinsic_of_llvm_on_another_dtype_is_not_executed():
    single, double = tir.FloatImm(FLOAT32, 9.0), tir.FloatImm(FLOAT64, 9.0)
    root = [tir.Call("call_llvm_pure_intrin", (tir.StringImm("llvm.sqrt"), arg), FLOAT32) for arg in (single, double)]
    assert called(root[0]) == 3.0
    assert code(root[1]) == "RM502"


@pytest.mark.parametrize(("a", "b", "c", "expected"), [(2, 3, math.inf, math.inf), (2, 3, -math.inf, -math.inf)])
def test_fma_with_an_infinite_addend(a, b, c, expected):
    args = tuple(tir.FloatImm(FLOAT32, float(value)) for value in (a, b, c))
    assert called(tir.Call("fma", args, FLOAT32)) == expected


def test_fma_of_opposite_infinities_is_nan():
    args = tuple(tir.FloatImm(FLOAT32, value) for value in (math.inf, 1.0, -math.inf))
    assert math.isnan(called(tir.Call("fma", args, FLOAT32)))


def test_fma_that_cancels_is_zero():
    args = tuple(tir.FloatImm(FLOAT32, value) for value in (2.0, 3.0, -6.0))
    result = called(tir.Call("fma", args, FLOAT32))
    assert (result, math.copysign(1, result)) == (0.0, 1.0)


@pytest.mark.parametrize("number", [4, 17])
@pytest.mark.parametrize("handle", [imm(5), tir.Call("reinterpret", (imm(0, INT64),), HANDLE)], ids=["int", "null"])
def test_a_field_of_what_has_no_fields(handle, number):
    """Also where the value is not used."""
    get = tir.Evaluate(tir.Call("tvm_struct_get", (handle, imm(0), imm(number)), HANDLE))
    with pytest.raises(RefmlcError) as caught:
        Machine(IRModule({"f": tir.PrimFunc((), {}, get)})).call("f", ())
    assert caught.value.code.id == "RM313"
    assert f"has no field {number} at 0" in str(caught.value)


def test_extents_that_a_handle_stands_for():
    stored = Tensor.from_numpy(np.array([7, 8, 9], "int64"))
    assert extents(Pointer(stored.storage, 8), 2) == (8, 9)
    assert extents((2, 3), 2) == (2, 3)
    assert extents(None, 2) is None
    assert extents(0, 2) is None


@pytest.mark.parametrize(
    ("value", "fits"), [(-128, True), (127, True), (-129, False), (128, False)], ids=["least", "most", "below", "above"]
)
def test_the_ends_of_a_primitive_type(value, fits):
    assert (mismatch("it", value, PrimType(INT8), Activation("f"), binds=True) is None) is fits


def test_the_type_of_a_call_binds_nothing():
    """What a function from outside returned is compared with what is known; an extent that nobody gave is not."""
    n = tir.Var("n", INT64)
    result, env = Tensor.from_numpy(np.zeros((2, 3), "float32")), Activation("f")
    site = Site(Machine(IRModule({})), "outside", None)
    shapes = [(n, imm(3, INT64)), (imm(2, INT64), tir.Apply("add", (n, imm(1, INT64)), INT64))]
    for shape in shapes:
        assert result_of(site, result, (TensorType(shape, FLOAT32),), env) is result
    assert env.dims == {}
    env.dims[n] = 5
    with pytest.raises(RefmlcError) as caught:
        result_of(site, result, (TensorType(shapes[0], FLOAT32),), env)
    assert caught.value.code.id == "RM404"


ARITH = """
@T.prim_func(s_tir=True)
def f(A: T.Buffer((7,), "int32"), n: T.int32, m: T.int32):
    A[0] = (n + 1) + (m - 1)
    A[1] = (n + 1) - (m - 1)
    A[2] = (n + 1) * (m - 1)
    A[3] = (n + 1) // (m - 1)
    A[4] = (n + 1) % (m - 1)
    A[5] = n // m
    A[6] = n % m
"""


@pytest.mark.parametrize(
    ("n", "m", "expected"),
    [
        (16, 6, [22, 12, 85, 3, 2, 2, 4]),  # 17 and 5; 16 and 6
        (-18, 6, [-12, -22, -85, -4, 3, -3, 0]),  # -17 and 5; -18 and 6
        (16, -4, [12, 22, -85, -4, -3, -4, 0]),  # 17 and -5; 16 and -4
        (6, 2, [8, 6, 7, 7, 0, 3, 0]),  # 7 and 1; 6 and 2
    ],
)
def test_integer_operators_on_values_and_on_variables(run, n, m, expected):
    found = np.zeros(7, "int32")
    run(ARITH, found, n, m)
    assert found.tolist() == expected


OPEN_RESULT = """
from tvm.script import relax as R

@R.function
def main(x: R.Tensor(ndim=1, dtype="float32")) -> R.Tensor(("n + 1",), "float32"):
    n = T.int64()
    return x
"""


def test_the_type_of_a_result_binds_nothing(run):
    x = np.array([1, 2], "float32")
    assert run(OPEN_RESULT, x, func="main").numpy().tolist() == [1, 2]


@pytest.mark.parametrize(
    ("numbers", "name"),
    [((0, 8, 1), "int8"), ((1, 16, 1), "uint16"), ((2, 32, 1), "float32"), ((2, 32, 4), "float32x4")],
)
def test_dtypes_by_the_numbers_of_dlpack(numbers, name):
    assert dtype_of_code(*numbers) == dtype(name)


def lowered(result):
    """The value of a lowered call of a function that returns `result`, where an int32 is declared."""
    registry, stack = FunctionRegistry(), tir.Var("s", HANDLE)
    registry.add(python_func("give", lambda: result))
    made = tir.Bind(stack, tir.Call("tvm_stack_alloca", (tir.StringImm("tvm_ffi_any"), imm(1)), HANDLE))
    value = tir.Call("call_packed_lowered", (tir.StringImm("give"), stack, imm(0), imm(0)), INT32)
    body = tir.SeqStmt((made, tir.Return(tir.Apply("add", (value, imm(1)), INT32))))
    return Machine(IRModule({"f": tir.PrimFunc((), {}, body)}), registry=registry).call("f", ())


def test_the_result_of_a_lowered_call_is_of_the_declared_dtype():
    assert lowered(6) == 7
    for wrong in ("word", 0.5, 2**31):
        with pytest.raises(RefmlcError) as caught:
            lowered(wrong)
        assert caught.value.code.id == "RM404"


DECLARED = """
@T.prim_func(s_tir=True)
def f(A: T.Buffer((4,), "float32"), n: T.int32):
    B = T.decl_buffer((n,), "float32", data=A.data)
    for i in range(n):
        B[i] = 1.0
"""


def test_a_buffer_without_elements_is_declared(run, failing):
    a = np.zeros(4, "float32")
    run(DECLARED, a, 0)
    assert a.tolist() == [0, 0, 0, 0]
    run(DECLARED, a, 3)
    assert a.tolist() == [1, 1, 1, 0]
    found = failing(DECLARED, a, -1)
    assert (found.code.id, "`B` has the shape (-1,)" in found.message) == ("RM315", True)


def test_a_dimension_without_a_value_is_found_where_it_stands():
    source = Source("t.py", "a\nb\n")
    own, outer = Span(source, 1, 0, 1, 1), Span(source, 2, 0, 2, 1)
    for span, line in ((own, 1), (None, 2)):
        with pytest.raises(RefmlcError) as caught:
            eval_dim(tir.Var("n", INT64, span=span), {}, outer)
        assert (caught.value.code.id, caught.value.diagnostic.span.line) == ("RM211", line)


def test_a_lowered_call_on_what_holds_no_arguments():
    value = tir.Call("call_packed_lowered", (tir.StringImm("give"), imm(5), imm(0), imm(0)), INT32)
    with pytest.raises(RefmlcError) as caught:
        called(value)
    assert caught.value.code.id == "RM313"
    assert "holds no arguments 0 … 0" in str(caught.value)


def test_a_division_by_zero_in_a_dimension_is_found_where_it_stands():
    source = Source("t.py", "a\nb\n")
    own, outer = Span(source, 1, 0, 1, 1), Span(source, 2, 0, 2, 1)
    for span, line in ((own, 1), (None, 2)):
        with pytest.raises(RefmlcError) as caught:
            eval_dim(tir.Apply("floordiv", (imm(4, INT64), imm(0, INT64)), INT64, span=span), {}, outer)
        assert (caught.value.code.id, caught.value.diagnostic.span.line) == ("RM307", line)


def test_a_block_without_a_binding_is_a_finding_where_nobody_checked():
    domain = tir.Range(tir.IntImm(INT32, 0), tir.IntImm(INT32, 4))
    axis = tir.IterVar(tir.Var("v", INT32), domain, IterKind.SPATIAL)
    block = tir.SBlock("b", (axis,), None, None, tir.SeqStmt(()))
    func = tir.PrimFunc((), {}, tir.SBlockRealize((), tir.IntImm(BOOL, 1), block))
    with pytest.raises(IllFormed) as failure:
        Machine(IRModule({"main": func})).call("main", ())
    assert failure.value.diagnostic.message == "block `b` has 1 axes and 0 bindings"


def test_a_sum_of_600_terms_is_no_deep_nest():
    terms = " + ".join(["A[0]"] * 600)
    buffers = 'A: T.Buffer((1,), "float32"), B: T.Buffer((1,), "float32")'
    b = np.zeros(1, "float32")
    Machine(read(f"@T.prim_func\ndef f({buffers}):\n    B[0] = {terms}\n")).call("f", (np.ones(1, "float32"), b))
    assert b[0] == 600
