"""Types: every spelling of every generation, against nodes written by hand."""

import pytest

from refmlc.diag import RefmlcError
from refmlc.lang.dtypes import BOOL, FLOAT16, FLOAT32, INT64
from refmlc.lang.ir import tir
from refmlc.lang.ir.types import AnyType, FuncType, PrimType, ShapeType, TensorType, TupleType
from refmlc.lang.script.reader.text import read


def type_of(text: str, more: str = ""):
    """The type of the first parameter when it is annotated with `text`."""
    return read(f"@R.function\ndef f(x: {text}{more}):\n    return x\n")["f"].params[0].ty


def code_of(text: str, more: str = "") -> str:
    with pytest.raises(RefmlcError) as caught:
        type_of(text, more)
    return caught.value.code.id


def ints(values):
    return [value.value for value in values]


@pytest.mark.parametrize(
    "text",
    [
        'R.Tensor((1, 784), "float32")',
        'R.Tensor((1, 784), dtype="float32")',
        'R.Tensor([1, 784], "float32")',
        'R.Tensor((1, 784), "float32", ndim=2)',
        'Tensor((1, 784), "float32")',
        'Tensor[(1, 784), "float32"]',
        'relax.Tensor((1, 784), "float32")',
        "R.Tensor((1, 784), T.float32)",
        'R.Tensor((T.int64(1), T.int64(784)), "float32")',
        'R.Tensor(shape=(1, 784), dtype="float32")',
        'R.Tensor(("1", "28 * 28"), "float32")',
    ],
)
def test_a_tensor_of_known_shape(text):
    ty = type_of(text)
    assert isinstance(ty, TensorType)
    assert ty.dtype == FLOAT32
    assert ints(ty.shape) == [1, 784]
    assert all(dim.dtype == INT64 for dim in ty.shape)
    assert ty.ndim == -1


@pytest.mark.parametrize(
    ("text", "dtype", "ndim"),
    [
        ("R.Tensor", None, -1),
        ("R.Tensor()", None, -1),
        ('R.Tensor("float16")', FLOAT16, -1),
        ('R.Tensor(dtype="float16")', FLOAT16, -1),
        ("R.Tensor(ndim=3)", None, 3),
        ('Tensor(None, "float32", ndim = 2)', FLOAT32, 2),
        ('R.Tensor(dtype="float32", ndim=2)', FLOAT32, 2),
        ('R.Tensor(None, dtype="")', None, -1),
        ('R.Tensor(None, dtype="void")', None, -1),
    ],
)
def test_a_tensor_of_unknown_shape(text, dtype, ndim):
    ty = type_of(text)
    assert (ty.shape, ty.dtype, ty.ndim) == (None, dtype, ndim)


def test_a_scalar_tensor_has_no_dimensions():
    assert type_of('R.Tensor((), "bool")').shape == ()
    assert type_of('R.Tensor((), "bool")').dtype == BOOL


def test_a_virtual_device_is_kept():
    assert type_of('R.Tensor((2,), "float32", vdevice="llvm:0:global")').vdevice == "llvm:0:global"


def test_a_shape_may_be_a_variable():
    function = read("@R.function\ndef f(s: R.Shape(ndim=2), x: R.Tensor(s, 'float32')):\n    return x\n")["f"]
    assert function.params[1].ty.shape_var == "s"


def test_strings_name_one_variable_per_function():
    text = """
@R.function
def f(x: R.Tensor(("n", "m"), "float32"), y: R.Tensor(("m", "n * 2"), "float32")) -> R.Tensor(("n",), "float32"):
    n = T.int64()
    z: R.Tensor((n,), "float32") = R.foo(x)
    return z
"""
    function = read(text)["f"]
    (n, m), (m2, twice) = function.params[0].ty.shape, function.params[1].ty.shape
    assert isinstance(n, tir.Var)
    assert n.dtype == INT64
    assert m is m2
    assert isinstance(twice, tir.Apply)
    assert (twice.op, twice.args[0], twice.args[1].value) == ("mul", n, 2)
    assert function.ret_ty.shape == (n,)
    assert function.body.blocks[0].bindings[0].var.ty.shape == (n,)


def test_functions_do_not_share_their_shape_variables():
    text = """
n = TypeVar("n")
@I.ir_module
class Module:
    @R.function
    def f(x: R.Tensor((n, "m"), "float32")):
        return x
    @R.function
    def g(x: R.Tensor((n, "m"), "float32")):
        return x
"""
    module = read(text)
    for mine, other in zip(module["f"].params[0].ty.shape, module["g"].params[0].ty.shape, strict=True):
        assert mine is not other
        assert mine.name == other.name


def test_names_of_the_language_in_strings_declare_nothing():
    shape = type_of('R.Tensor(("n", "T.max(n, m)"), "float32")').shape
    assert (shape[1].op, shape[1].args[0]) == ("max", shape[0])


def test_names_in_shapes_of_2022_are_declared_by_the_signature():
    shape = type_of('Tensor((n, 4), "float32")').shape
    assert isinstance(shape[0], tir.Var)


def test_shapes():
    assert type_of("R.Shape").values is None
    assert type_of("R.Shape(ndim=2)").ndim == 2
    ty = type_of('R.Shape(["n", 4])')
    assert isinstance(ty, ShapeType)
    assert (ty.values[0].name, ty.values[1].value) == ("n", 4)
    assert type_of("R.Shape([])").values == ()


def test_a_primitive_type_without_value_names_a_variable_of_its_own():
    for text in ('R.Prim("int64")', 'R.Prim(dtype="int64")', "T.int64"):
        ty = type_of(text)
        assert isinstance(ty, PrimType)
        assert (ty.dtype, ty.value.name, ty.value.dtype) == (INT64, "x", INT64)


def test_a_primitive_type_may_have_a_value():
    function = read('@R.function\ndef f(a: R.Tensor(("n",), "int8"), x: R.Prim(value="n")):\n    return x\n')["f"]
    assert function.params[1].ty.value is function.params[0].ty.shape[0]
    assert type_of("R.Prim(value=3)").value.value == 3


def test_a_primitive_parameter_is_a_dimension():
    function = read('@R.function\ndef f(x: R.Tensor(("n",), "int8"), n: R.Prim("int64")):\n    return R.shape([n])\n')[
        "f"
    ]
    assert function.params[0].ty.shape[0] is function.params[1].ty.value
    assert function.body.body.values[0] is function.params[1].ty.value


def test_tuples():
    for text in (
        "R.Tuple(R.Tensor, R.Shape(ndim=2))",
        "R.Tuple([R.Tensor, R.Shape(ndim=2)])",
        "R.Tuple[R.Tensor, R.Shape]",
    ):
        ty = type_of(text)
        assert isinstance(ty, TupleType)
        assert [type(field) for field in ty.fields] == [TensorType, ShapeType]
    assert type_of("R.Tuple").fields == ()
    assert type_of("None").fields == ()
    assert type_of("R.Tuple(T.int64, R.Any)").fields[0].dtype == INT64


@pytest.mark.parametrize("text", ["R.Any", "R.Object", "Object", "R.Any()", "R.Object()", "I.StringType()"])
def test_any(text):
    assert isinstance(type_of(text), AnyType)


@pytest.mark.parametrize(
    ("text", "params", "has_ret", "pure"),
    [
        ("R.Callable", None, False, False),
        ("R.Callable()", None, False, False),
        ("R.Callable(ret=R.Tensor, purity=True)", None, True, True),
        ("R.Callable((R.Tensor, R.Any), R.Tensor)", 2, True, True),
        ("R.Callable((R.Tensor,), R.Tensor, False)", 1, True, False),
        ("R.Callable((), R.Tensor, True)", 0, True, True),
        ("R.Callable(R.Tensor, R.Tensor, True)", 1, True, True),
    ],
)
def test_functions(text, params, has_ret, pure):
    ty = type_of(text)
    assert isinstance(ty, FuncType)
    assert (None if ty.params is None else len(ty.params)) == params
    assert (ty.ret is not None, ty.pure) == (has_ret, pure)


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ('R.Tensor((1, 2), "float33")', "RM106"),
        ("R.Tensor((1, 2), 3)", "RM105"),
        ('R.Tensor("float32", "float32")', "RM105"),
        ('R.Tensor((1, 2), "float32", ndim=3)', "RM105"),
        ('R.Tensor((1, 2), "float32", ndim=True)', "RM105"),
        ('R.Tensor(ndim="2")', "RM105"),
        ("R.Tensor(3)", "RM105"),
        ("R.Tensor((1.5,))", "RM105"),
        ("R.Tensor((n,))", "RM104"),
        ("R.Tensor((99999999999999999999,))", "RM107"),
        ('R.Tensor(("n +",))', "RM101"),
        ('R.Tensor(("' + "(" * 5000 + '",))', "RM101"),
        ('R.Tensor((1,), "float32", vdevice=3)', "RM105"),
        ("R.Tensor((1,), size=3)", "RM105"),
        ("R.Shape(3)", "RM105"),
        ("R.Prim()", "RM105"),
        ("R.Prim(value=1.5)", "RM105"),
        ("R.Tuple(3)", "RM105"),
        ("R.Callable((R.Any,), R.Any, 3)", "RM105"),
        ('R.Callable(derive_func="f")', "RM504"),
        ('R.DTensor((1,), "float32", "mesh[0]", "R")', "RM105"),
        ("3", "RM105"),
        ('"float32"', "RM105"),
        ("R.Any(3)", "RM105"),
    ],
)
def test_what_is_no_type(text, code):
    assert code_of(text) == code


def test_findings_in_strings_stand_where_the_string_stands():
    with pytest.raises(RefmlcError) as caught:
        read('@R.function\ndef f(x: R.Any):\n    y: R.Tensor((1, "k * 2"), "float32") = R.foo(x)\n    return y\n')
    span = caught.value.diagnostic.span
    assert (caught.value.code.id, span.line, span.column) == ("RM104", 3, 20)
