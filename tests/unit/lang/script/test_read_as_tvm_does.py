"""What TVM 0.27 takes and prints of its own tests, and what it means: each expectation was measured on it."""

import ml_dtypes
import numpy as np
import pytest

from refmlc.diag import IllFormed, Malformed, Unsupported
from refmlc.lang.dtypes import BFLOAT16
from refmlc.lang.ir import tir
from refmlc.lang.script import read, show
from refmlc.lang.wellformed import check_module
from refmlc.lang.wellformed.reader_checks import checked
from refmlc.vm import VirtualMachine, build

TENSORIR = "@T.prim_func(s_tir=True)\ndef f({0}):\n    {1}\n"
PAIR = "A: T.Buffer((5,), 'int32'), B: T.Buffer((5,), '{0}')"


def called(text, tier, *arrays):
    VirtualMachine(build(checked(read(text)), tier=tier))["f"](*arrays)
    return arrays


@pytest.mark.parametrize("tier", ["interp", "native"])
@pytest.mark.parametrize("dtype", ["int32", "int64", "uint8"])
@pytest.mark.parametrize("form", ["if", "elif", "If"])
def test_an_integer_is_a_condition_that_holds_where_it_is_not_0(tier, dtype, form):
    arms = "A[i] = 7\n        else:\n            A[i] = 1"
    frames = "with T.Then():\n                A[i] = 7\n            with T.Else():\n                A[i] = 1"
    bodies = {
        "if": f"if B[i]:\n            {arms}",
        "elif": f"if i > 9:\n            A[i] = 3\n        elif B[i]:\n            {arms}",
        "If": f"with T.If(B[i]):\n            {frames}",
    }
    text = TENSORIR.format(PAIR.format(dtype), f"for i in range(5):\n        {bodies[form]}")
    given = np.array([0, 1, 2, 64, 128], dtype)
    a, _ = called(text, tier, np.zeros(5, "int32"), given)
    assert a.tolist() == [1, 7, 7, 7, 7]


@pytest.mark.parametrize("tier", ["interp", "native"])
def test_while_ends_where_the_integer_is_0(tier):
    body = (
        "for i in range(5):\n        A[i] = 0\n        while B[i]:\n            A[i] += 1\n            B[i] = B[i] // 2"
    )
    a, _ = called(
        TENSORIR.format(PAIR.format("int32"), body), tier, np.zeros(5, "int32"), np.array([0, 1, 2, 4, 9], "int32")
    )
    assert a.tolist() == [0, 1, 2, 3, 4]


@pytest.mark.parametrize("use", ["T.Select(B[0], 1, 2)", "T.if_then_else(B[0], 1, 2)", "T.Cast('int32', T.Not(B[0]))"])
def test_an_integer_is_no_operand_where_tvm_wants_a_bool(use):
    with pytest.raises(IllFormed):
        read(TENSORIR.format(PAIR.format("int32"), f"A[0] = {use}"))


@pytest.mark.parametrize("condition", ["B[0] and B[1]", "not B[0]"])
def test_connectives_want_bools(condition):
    with pytest.raises(IllFormed):
        read(TENSORIR.format(PAIR.format("int32"), f"if {condition}:\n        A[0] = 1"))


def test_a_float_is_no_condition():
    with pytest.raises(IllFormed, match="a condition is bool; this is float32"):
        read(TENSORIR.format(PAIR.format("float32"), "if B[0]:\n        A[0] = 1"))


@pytest.mark.parametrize("tier", ["interp", "native"])
@pytest.mark.parametrize(
    ("literal", "value"), [("-3.4028234663852886e+38", -np.inf), ("3.38953139e38", 3.3895313892515355e38)]
)
def test_a_constant_of_bfloat16_is_rounded(tier, literal, value):
    text = TENSORIR.format("A: T.Buffer((2,), 'bfloat16')", f"for i in range(2):\n        A[i] = T.bfloat16({literal})")
    (a,) = called(text, tier, np.zeros(2, ml_dtypes.bfloat16))
    assert a.astype("float64").tolist() == [value, value]
    assert show(read(show(read(text)))) == show(read(text))


@pytest.mark.parametrize(
    "text", ["T.bfloat16(3.9e38)", "T.float32(1e39)", "T.float16(70000.0)", "T.float8_e4m3fn(500.0)"]
)
def test_a_constant_that_tvm_refuses_is_refused(text):
    with pytest.raises(Malformed, match="is not in the range of"):
        read(TENSORIR.format("A: T.Buffer((2,), 'bfloat16')", f"T.evaluate({text})"))


def test_the_largest_number_of_bfloat16_is_a_constant():
    (store,) = [read(TENSORIR.format("A: T.Buffer((1,), 'bfloat16')", "A[0] = T.max_value('bfloat16')"))["f"].body]
    assert store.value.value == BFLOAT16.format.maximum


def test_a_format_without_zero_makes_it_nan():
    store = read(TENSORIR.format("A: T.Buffer((1,), 'float8_e8m0fnu')", "A[0] = T.float8_e8m0fnu(0.0)"))["f"].body
    assert np.isnan(store.value.value)


@pytest.mark.parametrize("shape", ['(32, "n", n)', '("n", "n * 2", n + 1)', '("n", "m", n * m)', '("T.max(n, 1)", n)'])
@pytest.mark.parametrize("more", [", n: T.int32", ""])
def test_a_string_in_a_shape_names_variables_for_the_dimensions_after_it(shape, more):
    module = read(TENSORIR.format(f"A: T.Buffer({shape}, 'float32'){more}", "T.evaluate(0)"))
    (buffer,) = module["f"].buffer_map.values()
    names = {
        id(node) for size in buffer.shape for node in parts(size) if isinstance(node, tir.Var) and node.name == "n"
    }
    assert len(names) == 1
    assert show(read(show(module))) == show(module)


def parts(expr):
    yield expr
    for inner in getattr(expr, "args", ()):
        yield from parts(inner)


def test_a_dimension_before_the_string_is_not_defined():
    with pytest.raises(Malformed, match="`n` is not defined"):
        read(TENSORIR.format("A: T.Buffer((n, 'n'), 'float32')", "T.evaluate(0)"))


@pytest.mark.parametrize(
    "parameters", ["A: T.Buffer((2,), 'int32'), a: T.handle", "a: T.handle, A: T.Buffer((2,), 'int32')"]
)
def test_sizes_of_a_parameter_that_memory_holds_are_refused(parameters):
    with pytest.raises(Malformed, match="the sizes of `B` are loaded from `A`") as found:
        read(TENSORIR.format(parameters, "B = T.match_buffer(a, (T.truncdiv(A[0], A[1]),), 'int32')\n    B[0] = 1"))
    assert (found.value.code.id, found.value.diagnostic.span.line) == ("RM105", 3)


@pytest.mark.parametrize("op", ["exp", "exp2", "exp10", "log", "sqrt", "tanh", "sigmoid", "erf"])
@pytest.mark.parametrize("dtype", ["int32", "uint8"])
def test_a_float_operator_of_an_integer_is_read_and_unsupported(op, dtype):
    text = TENSORIR.format(PAIR.format(dtype), f"T.evaluate(T.{op}(B[0]))")
    module = read(text)
    assert module["f"].body.value.dtype == module["f"].body.value.args[0].dtype
    assert show(read(show(module))) == show(module)
    (found,) = check_module(module)
    assert (found.code.id, found.message) == ("RM504", f"`{op}` has no meaning on {dtype}")
    with pytest.raises(Unsupported):
        checked(module)


def test_a_float_operator_that_tvm_refuses_on_integers_is_ill_formed():
    (found,) = check_module(read(TENSORIR.format(PAIR.format("int32"), "T.evaluate(T.sin(B[0]))")))
    assert found.code.id == "RM201"


@pytest.mark.parametrize("tier", ["interp", "native"])
@pytest.mark.parametrize(
    ("annotation", "value", "number"), [("R.Tuple", "(x, x)", 2), ("R.Tuple()", "(x,)", 1), ("R.Tuple", "R.tuple()", 0)]
)
def test_a_bare_tuple_as_result_says_nothing(tier, annotation, value, number):
    text = f"@R.function\ndef f(x: R.Tensor((2,), 'float32')) -> {annotation}:\n    y = {value}\n    return y\n"
    module = checked(read(text))
    assert "-> R.Tuple:" in show(module)
    assert len(VirtualMachine(build(module, tier=tier))["f"](np.ones(2, "float32"))) == number


@pytest.mark.parametrize(("annotation", "value"), [("R.Tensor", "(x, x)"), ("R.Tuple(R.Tensor)", "(x, x)")])
def test_a_result_that_contradicts_its_type_is_ill_formed(annotation, value):
    text = f"@R.function\ndef f(x: R.Tensor((2,), 'float32')) -> {annotation}:\n    y = {value}\n    return y\n"
    (found,) = check_module(read(text))
    assert found.code.id == "RM201"


@pytest.mark.parametrize(
    "head",
    [
        "from tvm.script.parser import tirx as T\n",
        "from tvm.script.parser import tir as T, ir as I, relax as R\n",
        "import tvm\nfrom tvm.script.parser import relax as R, tirx as T\n",
    ],
)
def test_names_are_imported_from_the_parser(head):
    assert show(read(head + TENSORIR.format("a: T.int32", "T.evaluate(a)")))
