"""Arguments against parameters, calls between functions, values that come back."""

import numpy as np
import pytest

from refmlc.diag import RefmlcError
from refmlc.lang.dtypes import FLOAT32
from refmlc.lang.script import read
from refmlc.run.interp.hooks import Hooks
from refmlc.run.interp.machine import Machine
from refmlc.run.memory.budget import Budget
from refmlc.run.memory.tensor import Tensor

SYMBOLIC = """
@T.prim_func(s_tir=True)
def f(a: T.handle, b: T.handle):
    n = T.int64()
    m = T.int64()
    A = T.match_buffer(a, (n, m), "float32")
    B = T.match_buffer(b, (m * 2, n), "float32")
    for i, j in T.grid(n, m):
        B[j, i] = A[i, j]
        B[j + m, i] = A[i, j] + A[i, j]
"""


def zeros(*shape, dtype="float32"):
    return np.zeros(shape, dtype)


def test_shape_variables_are_bound(run):
    a = np.arange(6, dtype="float32").reshape(2, 3)
    b = zeros(6, 2)
    run(SYMBOLIC, a, b)
    assert np.array_equal(b, np.concatenate([a.T, 2 * a.T]))


def test_variable_bound_to_two_values(failing):
    found = failing(SYMBOLIC, zeros(2, 3), zeros(6, 4))
    assert found.code.id == "RM111"
    assert found.message == "extent 1 of `B` is 4, declared is n = 2 (in `f`)"
    found = failing(SYMBOLIC, zeros(2, 3), zeros(5, 2))
    assert found.message == "extent 0 of `B` is 5, declared is 6 (in `f`)"


@pytest.mark.parametrize(
    ("args", "part"),
    [
        ((zeros(2, 3),), "`f` takes 2 arguments, 1 are given"),
        ((zeros(2, 3), 3), "`B` of `f` is a tensor, the int 3 is given"),
        ((zeros(2, 3), None), "`B` of `f` is a tensor, null is given"),
        ((zeros(2, 3), zeros(6, 2, dtype="int32")), "has elements of float32, the tensor given of int32"),
        ((zeros(2, 3), zeros(6)), "`B` has 2 axes, what it is matched with has 1: (6,)"),
        ((zeros(3, 2).T, zeros(6, 2)), "`A` of `f` is compact, the tensor given is not"),
    ],
)
def test_arguments_that_do_not_fit(failing, args, part):
    found = failing(SYMBOLIC, *args)
    assert found.code.id == "RM111"
    assert part in found.message


def test_empty_dimensions(run):
    run(SYMBOLIC, zeros(0, 3), zeros(6, 0))


def test_shape_variable_beyond_its_dtype(failing):
    text = """
@T.prim_func(s_tir=True)
def f(a: T.handle):
    n = T.int8()
    A = T.match_buffer(a, (n,), "int8")
    T.evaluate(0)
"""
    assert "is 128, beyond int8" in failing(text, zeros(128, dtype="int8")).message


STRIDED = """
@T.prim_func(s_tir=True)
def f(a: T.handle, B: T.Buffer((2, 3), "float32")):
    s = T.int64()
    t = T.int64()
    e = T.int64()
    A = T.match_buffer(a, (2, 3), "float32", strides=[s, t], elem_offset=e)
    for i, j in T.grid(2, 3):
        B[i, j] = A[i, j] + T.Cast("float32", e * 1000 + s * 100 + t * 10)
"""


def test_strides_and_offset_are_bound(run):
    a = np.arange(6, dtype="float32").reshape(3, 2).T
    b = zeros(2, 3)
    run(STRIDED, a, b)
    assert np.array_equal(b, a + 120)
    whole = Tensor.from_numpy(np.arange(8, dtype="float32"))
    part = Tensor(whole.storage, FLOAT32, (2, 3), None, 8)
    run(STRIDED, part, b)
    assert np.array_equal(b, np.arange(2, 8, dtype="float32").reshape(2, 3) + 2310)


SCALARS = """
@T.prim_func(s_tir=True)
def f(A: T.Buffer((4,), "float64"), i: T.int8, u: T.uint8, x: T.float32, b: T.bool):
    A[0] = T.Cast("float64", i)
    A[1] = T.Cast("float64", u)
    A[2] = T.Cast("float64", x)
    A[3] = T.Cast("float64", b)
"""


def test_scalars(run):
    a = zeros(4, dtype="float64")
    run(SCALARS, a, np.int8(-128), 255, 0.1, True)
    assert a.tolist() == [-128.0, 255.0, float(np.float32(0.1)), 1.0]
    run(SCALARS, a, 0, 0, 3, 0)
    assert a.tolist() == [0.0, 0.0, 3.0, 0.0]


@pytest.mark.parametrize(
    "scalars", [(128, 0, 0.0, True), (0, -1, 0.0, True), (0, 0, "x", True), (0, 0, 0.0, 2), (1.5, 0, 0.0, True)]
)
def test_scalars_that_do_not_fit(failing, scalars):
    assert failing(SCALARS, zeros(4, dtype="float64"), *scalars).code.id == "RM111"


MODULE = """
from tvm.script import ir as I

@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def main(A: T.Buffer((4,), "int32"), n: T.int32):
        Module.add(A.data, n)

    @T.prim_func(s_tir=True)
    def add(p: T.handle("int32"), n: T.int32):
        A = T.decl_buffer((4,), "int32", data=p)
        for i in range(4):
            A[i] = A[i] + n

    @T.prim_func(s_tir=True)
    def forever(n: T.int32):
        Module.forever(n + 1)

    @T.prim_func(s_tir=True)
    def wrong(A: T.Buffer((4,), "int32")):
        Module.taking_two(T.tvm_stack_make_array(A.data, T.tvm_stack_make_shape(4), 0, 1, T.int32(0), 0))

    @T.prim_func(s_tir=True)
    def taking_two(A: T.Buffer((2,), "int32")):
        A[0] = 0

    @T.prim_func(s_tir=True)
    def missing(n: T.int32):
        T.call_packed("nowhere", n)
"""


def test_a_function_calls_another(run):
    a = np.arange(4, dtype="int32")
    run(MODULE, a, 5)
    assert a.tolist() == [5, 6, 7, 8]


def test_endless_recursion(failing):
    assert failing(MODULE, 0, func="forever", budget=Budget(max_depth=20)).code.id == "RM602"
    assert failing(MODULE, 0, func="forever", budget=Budget(max_depth=100_000)).code.id == "RM602"


def test_arguments_from_inside_are_undefined_behaviour(failing):
    found = failing(MODULE, zeros(4, dtype="int32"), func="wrong")
    assert (found.code.id, found.message) == (
        "RM314",
        "extent 0 of `A` is 4, declared is 2 (in `taking_two`)",
    )


def test_functions_that_are_not_there(run, failing):
    assert failing(MODULE, func="nothing").code.id == "RM207"
    found = failing(MODULE, 1, func="missing")
    assert found.code.id == "RM402"
    assert found.notes == ("in `missing`, step 1",)


class Calls(Hooks):
    def __init__(self):
        self.seen = []

    def enter_function(self, name, args):
        self.seen.append((">", name, len(args)))

    def leave_function(self, name, result):
        self.seen.append(("<", name, result))


def test_hooks_see_calls():
    machine = Machine(read("from tvm.script import tirx as T\n" + MODULE), hooks=(calls := Calls()))
    machine.call("main", [np.arange(4, dtype="int32"), 1])
    assert calls.seen == [(">", "main", 2), (">", "add", 2), ("<", "add", None), ("<", "main", None)]


def test_only_the_innermost_function_is_noted():
    machine = Machine(read("from tvm.script import tirx as T\n" + MODULE))
    with pytest.raises(RefmlcError) as caught:
        machine.call("main", [np.full(4, 2**31 - 1, "int32"), 1])
    assert caught.value.code.id == "RM306"
    assert caught.value.diagnostic.notes == ("i = 0 in `add`, step 3",)


def test_allowed_overflow_wraps():
    machine = Machine(read("from tvm.script import tirx as T\n" + MODULE), allow=frozenset({"RM306"}))
    a = np.full(4, 2**31 - 1, "int32")
    machine.call("main", [a, 1])
    assert a.tolist() == [-(2**31)] * 4


def test_the_result_of_a_scalar_function_is_used(run):
    text = """
from tvm.script import ir as I

@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def main(n: T.int64) -> T.int64:
        T.ret(Module.double(n) + T.int64(1))

    @T.prim_func(s_tir=True)
    def double(n: T.int64) -> T.int64:
        T.ret(n * T.int64(2))
"""
    assert run(text, 20) == 41
