"""Arguments that do not fit: one message that names the parameter, what was given, what was expected."""

import ml_dtypes
import numpy as np
import pytest

from refmlc.diag import Malformed, Unsupported
from refmlc.lang.dtypes import HANDLE, INT64, dtype
from refmlc.lang.ir import tir
from refmlc.lang.ir.types import FuncType, PrimType
from refmlc.lang.ops.evaluate import known
from refmlc.lang.wellformed.reader_checks import read
from refmlc.run.dims import bind_dims
from refmlc.run.memory.registry import python_func
from refmlc.run.memory.values import Closure, Shape
from refmlc.vm import VirtualMachine, build
from refmlc.vm.arguments import Parameter, accept

TEXT = """
from tvm.script import ir as I, relax as R, tir as T

@I.ir_module
class Module:
    @R.function
    def linear(x: R.Tensor((1, "m"), "float32"), w: R.Tensor(("n", "m"), "float32")) -> R.Tensor((1, "m"), "float32"):
        m, n = T.int64(), T.int64()
        return x

    @R.function
    def early(x: R.Tensor(("n + 1",), "float32"), y: R.Tensor(("n",), "float32")) -> R.Tensor(("n",), "float32"):
        n = T.int64()
        return y

    @R.function
    def shape(s: R.Shape(["a", 4]), x: R.Tensor(("a",), "int8")) -> R.Shape(["a", 4]):
        a = T.int64()
        return s

    @R.function
    def loose(x: R.Tensor(ndim=2), s: R.Shape(ndim=1), t: R.Tuple(R.Tensor((2,), "int8"), R.Shape([2]))) -> R.Object:
        return x

    @R.function
    def anything(x: R.Object) -> R.Object:
        return x

    @R.function
    def number(k: R.Prim("int64"), f: R.Prim("float32"), b: R.Prim("bool")) -> R.Prim("int64"):
        return k

    @R.function
    def known(k: R.Prim(value="k1"), x: R.Tensor(("k1",), "int8")) -> R.Tensor(("k1",), "int8"):
        k1 = T.int64()
        return x

    @R.function
    def caller(f: R.Callable((R.Object,), R.Object)) -> R.Object:
        return f

    @T.prim_func
    def scale(a: T.handle, k: T.int8, f: T.float32):
        n = T.int64()
        A = T.match_buffer(a, (n, 2), "float32")
        for i in range(n):
            A[i, 0] = A[i, 0] * f
"""


def f32(*shape):
    return np.zeros(shape, np.float32)


@pytest.fixture(scope="module")
def vm():
    return VirtualMachine(build(read(TEXT), check=False))


def refused(vm, name, args, words, *, notes=(), named=None):
    with pytest.raises(Malformed) as failure:
        vm[name](*args, **(named or {}))
    assert failure.value.code.id == "RM111"
    assert failure.value.diagnostic.message == words
    assert failure.value.diagnostic.notes == notes


def test_the_number_of_arguments(vm):
    notes = ("its parameters: x, w",)
    refused(vm, "linear", [], "`linear` takes 2 arguments, 0 are given", notes=notes)
    refused(vm, "linear", [f32(1, 2)], "`linear` takes 2 arguments, 1 is given", notes=notes)
    refused(vm, "linear", [1, 2, 3], "`linear` takes 2 arguments, 3 are given", notes=notes)
    refused(vm, "anything", [], "`anything` takes 1 argument, 0 are given", notes=("its parameters: x",))


def test_names(vm):
    refused(vm, "linear", [f32(1, 2)], "`linear` has no parameter `v`", named={"v": 1}, notes=("its parameters: x, w",))
    refused(vm, "linear", [f32(1, 2)], "`x` of `linear` is given twice", named={"x": 1})
    refused(vm, "scale", [f32(3, 2), 1], "`A` of `scale` is given twice", named={"a": f32(3, 2)})


def test_kinds(vm):
    x = f32(1, 2)
    refused(vm, "linear", [3, x], "`x` of `linear` is a tensor (1, m) of float32, the int 3 is given")
    refused(vm, "linear", [None, x], "`x` of `linear` is a tensor (1, m) of float32, null is given")
    refused(vm, "linear", [(x,), x], "`x` of `linear` is a tensor (1, m) of float32, a tuple of 1 is given")
    refused(vm, "shape", [x, x], "`s` of `shape` is the shape (a, 4), a tensor (1, 2) of float32 is given")
    refused(vm, "loose", [x, "s", ()], "`s` of `loose` is a shape, the string 's' is given")
    refused(vm, "loose", [3, (1,), ()], "`x` of `loose` is a tensor, the int 3 is given")
    refused(vm, "loose", [x, (1,), x], "`t` of `loose` is a tuple of 2, a tensor (1, 2) of float32 is given")
    refused(vm, "number", [x, 1, 1], "`k` of `number` is a number of int64, a tensor (1, 2) of float32 is given")
    refused(vm, "caller", [4], "`f` of `caller` is a function, the int 4 is given")


def test_things_that_are_no_values(vm):
    refused(vm, "anything", [{"a": 1}], "`x` of `anything`: an object of type dict is no array and has no `__dlpack__`")
    refused(
        vm, "anything", [np.zeros(2, complex)], "`x` of `anything`: the array's dtype is not one of TVM's: complex128"
    )


def test_dtypes(vm):
    refused(
        vm,
        "linear",
        [np.zeros((1, 2)), f32(3, 2)],
        "`x` of `linear` has elements of float32, a tensor (1, 2) of float64 is given",
    )


def test_shapes(vm):
    refused(vm, "linear", [f32(2), f32(3, 2)], "`x` of `linear` has shape (1, m), shape (2,) is given")
    refused(
        vm,
        "linear",
        [f32(2, 2), f32(3, 2)],
        "`x` of `linear` has shape (1, m), shape (2, 2) is given",
        notes=("axis 0 is 2 and should be 1",),
    )
    refused(vm, "loose", [f32(2), (1,), ()], "`x` of `loose` has 2 axes, shape (2,) is given")


def test_a_symbolic_dimension_has_one_value(vm):
    refused(
        vm,
        "linear",
        [f32(1, 784), f32(128, 783)],
        "`w` of `linear` has shape (n = 128, m = 784), shape (128, 783) is given",
        notes=("axis 1 is 783 and should be 784",),
    )
    refused(
        vm,
        "shape",
        [Shape((3, 4)), np.zeros(2, np.int8)],
        "`x` of `shape` has shape (a = 3,), shape (2,) is given",
        notes=("axis 0 is 2 and should be 3",),
    )


def test_expressions_of_dimensions_known_later(vm):
    assert vm["early"](f32(3), f32(2)).shape == (2,)
    refused(
        vm,
        "early",
        [f32(4), f32(2)],
        "`x` of `early` has shape (n + 1 = 3,), shape (4,) is given",
        notes=("axis 0 is 4 and should be 3",),
    )


def test_shapes_from_tuples(vm):
    for given in ((3, 4), [3, 4], [np.int64(3), 4], Shape((3, 4))):
        assert tuple(vm["shape"](given, np.zeros(3, np.int8))) == (3, 4)
    refused(
        vm,
        "shape",
        [(3, 5), np.zeros(3, np.int8)],
        "`s` of `shape` has shape (a = 3, 4), shape (3, 5) is given",
        notes=("axis 1 is 5 and should be 4",),
    )


def test_tuples(vm):
    good = (np.zeros(2, np.int8), (2,))
    assert vm["loose"](f32(1, 2), [5], good).shape == (1, 2)
    refused(vm, "loose", [f32(1, 2), [5], good[:1]], "`t` of `loose` has 2 fields, a tuple of 1 is given")
    refused(
        vm,
        "loose",
        [f32(1, 2), [5], (f32(2), (2,))],
        "`t` of `loose`, field 0, has elements of int8, a tensor (2,) of float32 is given",
    )
    assert [item.shape for item in vm["anything"]([f32(1), (f32(2),)])[1]] == [(2,)]


def test_numbers(vm):
    assert vm["number"](5, 2.5, True) == 5
    assert vm["number"](np.int64(5), np.float32(2), np.bool_(1)) == 5
    assert vm["number"](5, 2, 1) == 5
    assert vm["number"](b=1, f=2**1023, k=5) == 5
    refused(vm, "number", [1, 2**1024, True], f"`f` of `number` is a number of float32, the int {2**1024} is given")
    refused(vm, "number", [2**63, 1, True], f"`k` of `number` is a number of int64, the int {2**63} is given")
    refused(vm, "number", [1.5, 1, True], "`k` of `number` is a number of int64, the float 1.5 is given")
    refused(vm, "number", [1, True, True], "`f` of `number` is a number of float32, the bool True is given")
    refused(vm, "number", [1, 1, 2], "`b` of `number` is a number of bool, the int 2 is given")
    refused(vm, "scale", [f32(3, 2), 200, 1], "`k` of `scale` is a number of int8, the int 200 is given")


def test_numbers_become_what_is_asked_for(vm):
    given = accept(
        "f",
        [Parameter("k", PrimType(dtype(name)), None) for name in ("float16", "bool", "int8", "handle")],
        [
            0.1,
            np.int8(1),
            True,
            None,
        ],
    )
    assert given == [0.0999755859375, True, True, None]
    assert type(given[1]) is bool
    assert vm["anything"](ml_dtypes.bfloat16(1.5)) == 1.5
    refused(
        vm,
        "anything",
        [np.complex64(1)],
        "`x` of `anything`: the array's dtype is not one of TVM's: complex64",
    )


def test_a_number_that_is_known():
    with pytest.raises(Malformed, match="`k` of `f` is 3, 4 is given"):
        accept("f", [Parameter("k", PrimType(INT64, tir.IntImm(INT64, 3)), None)], [4])
    assert accept("f", [Parameter("k", PrimType(HANDLE), None)], [4]) == [4]
    assert accept("f", [Parameter("k", FuncType(None, None), None)], [Closure("c", len)])


def test_dimensions_that_are_expressions():
    n = tir.Var("n", INT64)
    two = tir.IntImm(INT64, 2)
    zero = tir.IntImm(INT64, 0)
    dims = {n: 7}
    assert known(tir.Cast(INT64, n), dims) == 7
    assert known(tir.Apply("floordiv", (n, two), INT64), dims) == 3
    assert known(tir.Apply("floordiv", (n, zero), INT64), dims) is None
    assert known(tir.Apply("mul", (tir.Var("m", INT64), two), INT64), dims) is None
    assert known(tir.Apply("no such operator", (n,), INT64), dims) is None
    assert known(tir.StringImm("x"), dims) is None
    bind_dims((n, two), (9, 2), dims)
    bind_dims(None, (9,), dims)
    assert dims == {n: 7}


def test_numbers_that_dimensions_say(vm):
    assert vm["known"](2, np.zeros(2, np.int8)).shape == (2,)
    refused(
        vm,
        "known",
        [3, np.zeros(2, np.int8)],
        "`x` of `known` has shape (k1 = 3,), shape (2,) is given",
        notes=("axis 0 is 2 and should be 3",),
    )


def test_scalars_of_numpy_are_tensors_where_a_tensor_is_asked_for():
    text = TEXT.split("    @R.function", maxsplit=1)[0] + (
        '    @R.function\n    def main(x: R.Tensor((), "float32")) -> R.Tensor((), "float32"):\n        return x\n'
    )
    scalar = VirtualMachine(build(read(text)))["main"]
    assert scalar(np.float32(2.5)).numpy() == 2.5


def test_functions_and_strings_and_null(vm):
    function = Closure("c", len)
    assert vm["caller"](function) is function
    packed = python_func("p", len)
    assert vm["caller"](packed) is packed
    for value in (None, "text", function):
        assert vm["anything"](value) is value


def test_prim_funcs(vm):
    x = np.ones((3, 2), np.float32)
    vm["scale"](x, 1, 3)
    assert x.tolist() == [[3, 1]] * 3
    refused(
        vm,
        "scale",
        [f32(3, 3), 1, 1],
        "`A` of `scale` has shape (n = 3, 2), shape (3, 3) is given",
        notes=("axis 1 is 3 and should be 2",),
    )


def test_zero_extents(vm):
    assert vm["linear"](f32(1, 0), f32(0, 0)).shape == (1, 0)
    assert vm["scale"](f32(0, 2), 1, 1) is None


def test_other_devices_keep_their_code(vm):
    class Elsewhere:
        def __dlpack__(self):
            raise AssertionError

        def __dlpack_device__(self):
            return (2, 0)

    with pytest.raises(Unsupported) as failure:
        vm["anything"](Elsewhere())
    assert failure.value.code.id == "RM505"
    assert "`x` of `anything`: " in str(failure.value)


def test_an_argument_that_holds_itself(vm):
    inside = []
    inside.append(inside)
    refused(vm, "anything", [inside], "an argument of `anything` nests too deep, or holds itself")


def test_a_tensor_with_gaps_is_not_given_to_relax():
    text = '@R.function\ndef main(x: R.Tensor((2, 2), "float32")):\n    return x\n'
    main = VirtualMachine(build(read(text)))["main"]
    with pytest.raises(Malformed) as failure:
        main(np.zeros((2, 4), "float32")[:, ::2])
    assert failure.value.code.id == "RM111"
    assert "contiguous" in failure.value.diagnostic.message
    assert main(np.zeros((2, 2), "float32")).shape == (2, 2)


def test_a_conversion_in_a_dimension_converts():
    n = tir.Var("n", INT64)
    assert known(tir.Cast(dtype("int8"), n), {n: 300}) == 44
    assert known(tir.Cast(dtype("int8"), n), {}) is None
