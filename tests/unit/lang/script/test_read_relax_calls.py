"""Calls: the one form that every spelling takes (the table at the head of `refmlc.lang.ir.relax`)."""

import math

import numpy as np
import pytest

from refmlc.diag import RefmlcError
from refmlc.lang.dtypes import BOOL, FLOAT32, FLOAT64, INT8, INT64
from refmlc.lang.dtypes.storage import storage_dtype
from refmlc.lang.ir import relax, tir
from refmlc.lang.ir.attrs import IndexMap
from refmlc.lang.ir.types import AnyType, TensorType, TupleType
from refmlc.lang.script.reader.text import read

PROGRAM = """
@I.ir_module
class Module:
    @R.function
    def f(a: R.Tensor((2,), "float32")):
        return a

    @R.function
    def main(x: R.Tensor((2, 3), "float32"), y: R.Tensor((2, 3), "float32"), p: R.Prim("int64"),
             t: R.Tuple(R.Tensor, R.Tensor), c: R.Callable):
        cls = Module
        z = {value}
        return z
"""


def main(value: str) -> relax.Function:
    return read(PROGRAM.format(value=value))["main"]


def bound(value: str):
    """What `z = value` binds z to."""
    return main(value).body.blocks[-1].bindings[-1].value


def code_of(value: str) -> str:
    with pytest.raises(RefmlcError) as caught:
        main(value)
    assert caught.value.diagnostic.span is not None
    return caught.value.code.id


def brief(node) -> object:
    """A node as plain data, short enough to write by hand."""
    match node:
        case relax.Var(name) | tir.GlobalVar(name) | tir.Var(name):
            return name
        case relax.ExternFunc(symbol):
            return f"extern {symbol}"
        case relax.Op(name):
            return f"op {name}"
        case relax.PrimValue(tir.IntImm(dtype, value)):
            return (str(dtype), value)
        case relax.PrimValue(tir.FloatImm(dtype, value)):
            return (str(dtype), value)
        case relax.PrimValue(value):
            return ("prim", brief(value))
        case relax.StringImm(value):
            return f"str {value}"
        case relax.DataTypeImm(value):
            return f"dtype {value}"
        case relax.ShapeExpr(values):
            return ["shape", *map(brief, values)]
        case relax.Tuple(fields):
            return tuple(map(brief, fields))
        case relax.TupleGetItem(value, index):
            return f"{brief(value)}[{index}]"
        case tir.IntImm(_, value):
            return value
        case relax.Call(op, args):
            return [brief(op), *map(brief, args)]
        case relax.Constant(data, dtype):
            return (f"const {dtype}", data.tolist())
        case _:
            return type(node).__name__


@pytest.mark.parametrize(
    ("text", "form"),
    [
        ("cls.f(x)", ["f", "x"]),
        ("f(x)", ["f", "x"]),
        ("Module.f(x)", ["f", "x"]),
        ("c(x, 3)", ["c", "x", ("int64", 3)]),
        ('R.ExternFunc("g")(x)', ["extern g", "x"]),
        ('R.call_packed("g", x, 3, 4.5, "s", R.dtype("int8"), True)',
         ["extern g", "x", ("int64", 3), ("float64", 4.5), "str s", "dtype int8", ("bool", 1)]),
        ("R.call_packed(R.ExternFunc('g'), x)", ["extern g", "x"]),
        ("R.call_packed(R.str('g'))", ["extern g"]),
        ("R.call_tir(cls.f, (x,), R.Tensor((2,), 'int8'))", ["op call_tir", "f", ("x",)]),
        ("R.call_tir(cls.f, [x, y], out_ty=R.Tensor((2,), 'int8'))", ["op call_tir", "f", ("x", "y")]),
        ("R.call_tir(f, x, out_sinfo=R.Tensor((2,), 'int8'))", ["op call_tir", "f", ("x",)]),
        ("R.call_tir(f, t, R.Tensor((2,), 'int8'))", ["op call_tir", "f", "t"]),
        ("R.call_tir(f, R.tuple(x), R.Tensor((2,), 'int8'))", ["op call_tir", "f", ("x",)]),
        ("R.call_tir(f, (), R.Tensor((2,), 'int8'))", ["op call_tir", "f", ()]),
        ("R.call_tir(f, (x, 3), R.Tensor((2,), 'int8'))", ["op call_tir", "f", ("x", ("int64", 3))]),
        ("R.call_tir(f, (x, p), R.Tensor((2,), 'int8'))", ["op call_tir", "f", ("x", "p")]),
        ("R.call_tir(f, x, R.Tensor((2,), 'int8'), tir_vars=R.shape([3, p]))",
         ["op call_tir", "f", ("x",), ["shape", 3, "p"]]),
        ("R.call_tir(f, x, R.Tensor((2,), 'int8'), (3,))", ["op call_tir", "f", ("x",), ["shape", 3]]),
        ('R.call_tir("g", (x,), (2, 3), dtype="float32")', ["op call_dps_packed", "extern g", ("x",)]),
        ('R.call_dps_packed("g", (x,), R.Tensor((2,), "int8"))', ["op call_dps_packed", "extern g", ("x",)]),
        ('R.call_dps_packed("g", x, out_sinfo=R.Tensor((2,), "int8"))', ["op call_dps_packed", "extern g", ("x",)]),
        ("R.call_dps_packed(f, x, out_sinfo=R.Tensor((2,), 'int8'))", ["op call_dps_packed", "f", ("x",)]),
        ('R.call_pure_packed("g", x, ty_args=R.Any)', ["op call_pure_packed", "extern g", "x"]),
        ('R.call_inplace_packed("g", x, inplace_indices=[0], ty_args=R.Any)',
         ["op call_inplace_packed", "extern g", "x"]),
        ('R.call_builtin_with_ctx("g", (x, R.prim_value(3)), sinfo_args=(R.Object,))',
         ["op call_builtin_with_ctx", "extern g", ("x", ("int64", 3))]),
        ("R.make_closure(cls.f, (x,))", ["op make_closure", "f", ("x",)]),
        ("R.invoke_closure(c, (x,), ty_args=R.Any)", ["op invoke_closure", "c", ("x",)]),
        ("R.invoke_pure_closure(c, x, ty_args=R.Any)", ["op invoke_pure_closure", "c", ("x",)]),
        ('R.vm.call_tir_dyn("g", (x,))', ["op vm.call_tir_dyn", "extern g", ("x",)]),
        ('R.call_py_func("g", x, y, out_ty=R.Any)', ["op call_py_func", "str g", ("x", "y")]),
        ('R.call_py_func(R.str("g"), (x, y), ty_args=(R.Any,))', ["op call_py_func", "str g", ("x", "y")]),
        ('R.print(x, y, format="{} {}")', ["op print", "str {} {}", "x", "y"]),
        ('R.print(x, format=R.str("{}"))', ["op print", "str {}", "x"]),
        ("R.print(x)", ["op print", "str ", "x"]),
        ('R.assert_op(x, y, format="{}")', ["op assert_op", "x", "str {}", "y"]),
        ('R.assert_op(x, (y, p), format=R.str(""))', ["op assert_op", "x", "str ", "y", "p"]),
        ("R.add(x, y)", ["op add", "x", "y"]),
        ("relax.add(x, y)", ["op add", "x", "y"]),
        ("relax.op.add(x, y)", ["op add", "x", "y"]),
        ("relax.nn.dense(x, y)", ["op nn.dense", "x", "y"]),
        ("x + y", ["op add", "x", "y"]),
        ("x - R.const(1.0)", ["op subtract", "x", ("const float32", 1.0)]),
        ("x >= y", ["op greater_equal", "x", "y"]),
        ("-x", ["op negative", "x"]),
        ("t[1]", "t[1]"),
        ("R.TupleGetItem(t, 1)", "t[1]"),
        ("t[T.int64(1)]", "t[1]"),
        ("((x, y), x)", (("x", "y"), "x")),
        ("R.tuple(x, 1)", ("x", ("int64", 1))),
        ("x, y", ("x", "y")),
        ("()", ()),
        ("cls.f", "f"),
        ("R.shape([2, p])", ["shape", 2, "p"]),
        ("R.shape([])", ["shape"]),
        ("R.prim_value(3)", ("int64", 3)),
        ("R.prim_value(T.int64(3))", ("int64", 3)),
        ("R.prim_value(1.5)", ("float64", 1.5)),
        ("R.prim_value(True)", ("bool", 1)),
        ("p", "p"),
        ('R.str("a")', "str a"),
        ('R.dtype("float8_e4m3fn")', "dtype float8_e4m3fn"),
        ('R.dtype("void")', "dtype void"),
        ("R.dtype(T.float32)", "dtype float32"),
        ("R.null_value()", ["op null_value"]),
        ("R.some.thing.new(x, 1, 2.5, 'a', [x, 1])", ["op some.thing.new", "x", ("int64", 1), ("float64", 2.5), "str a",
                                                      ("x", ("int64", 1))]),
        ("R.some.thing(x, weight=y)", ["op some.thing", "x", "y"]),
        ("R.reshape(x, (6,))", ["op reshape", "x", ["shape", 6]]),
        ("R.reshape(x, shape=R.shape([6]))", ["op reshape", "x", ["shape", 6]]),
        ("R.alloc_tensor((1, 128), dtype='float32')",
         ["op builtin.alloc_tensor", ["shape", 1, 128], "dtype float32", ("int64", 0), "str global"]),
        ("R.builtin.alloc_tensor(R.shape([2]), R.dtype('int8'), 0, R.str('local'))",
         ["op builtin.alloc_tensor", ["shape", 2], "dtype int8", ("int64", 0), "str local"]),
        ("R.builtin.alloc_tensor((2,), runtime_device_index=1, dtype='int8')",
         ["op builtin.alloc_tensor", ["shape", 2], "dtype int8", ("int64", 1), "str global"]),
        ("R.memory.alloc_storage(R.shape([24]), 0, 'global', 'uint8')",
         ["op memory.alloc_storage", ["shape", 24], ("int64", 0), "str global", "dtype uint8"]),
        ("R.memory.alloc_tensor(c, 0, (2, 3), 'float32')",
         ["op memory.alloc_tensor", "c", ("int64", 0), ["shape", 2, 3], "dtype float32", ("int64", 0)]),
    ],
)  # fmt: skip
def test_forms(text, form):
    assert brief(bound(text)) == form


@pytest.mark.parametrize(
    ("text", "attrs"),
    [
        ("R.nn.softmax(x, axis=-1)", {"axis": -1}),
        ("R.nn.softmax(x, 1)", {"axis": 1}),
        ("R.mean(x, axis=[1, 0], keepdims=False)", {"axis": (1, 0), "keepdims": False}),
        ("R.matmul(x, y, out_dtype=None)", {"out_dtype": None}),
        ("R.zeros((2, 3), 'int8')", {"dtype": "int8"}),
        ("R.astype(x, dtype=R.dtype('int8'))", {"dtype": INT8}),
        ("R.op_unknown(x, a={'b': (1, 2.5)}, c='s', d=R.prim_value(1.5) if False else 2)",
         {"a": {"b": (1, 2.5)}, "c": "s", "d": 2}),
        ("R.call_packed('g', x, attrs_type_key='ir.DictAttrs', k=1)", {"k": 1}),
        ("R.call_packed('g', x, attrs_type_key='Other', k=1)", {"attrs_type_key": "Other", "k": 1}),
        ("R.call_tir_inplace(f, x, inplace_indices=[0, -1], out_ty=[R.Tensor, R.Tensor])",
         {"inplace_indices": (0, -1)}),
        ("R.call_tir_inplace(f, x, 0, R.Tensor((2,), 'int8'))", {"inplace_indices": (0,)}),
        ("R.call_tir_with_grad(f, x, out_ty=R.Tensor, te_grad_name='g', te_grad_kwargs={'k': 1.0})",
         {"te_grad_name": "g", "te_grad_kwargs": {"k": 1.0}}),
        ("R.call_inplace_packed('g', x, inplace_indices=[0], ty_args=R.Any)", {"inplace_indices": (0,)}),
        ("R.to_vdevice(x, 'llvm:0')", {"dst_vdevice": "llvm:0"}),
    ],
)  # fmt: skip
def test_attributes(text, attrs):
    assert dict(bound(text).attrs) == attrs


def test_attributes_that_are_nodes():
    call = bound("R.op(x, a=R.shape([2]), b=p, c=R.str('s'), d=T.float32, e=[R.prim_value(3)])")
    assert [value.value for value in call.attrs["a"]] == [2]
    assert [brief(arg) for arg in call.args] == ["x", "p"]
    assert call.attrs["c"] == "s"
    assert call.attrs["d"] == FLOAT32
    assert call.attrs["e"][0].value == 3


def test_a_lambda_is_an_index_map():
    found = bound("R.layout_transform(x, index_map=lambda i, j: (j, i))").attrs["index_map"]
    assert isinstance(found, IndexMap)
    assert [var.name for var in found.initial] == ["i", "j"]
    assert found.final == (found.initial[1], found.initial[0])
    assert bound("R.layout_transform(x, index_map=lambda i: i)").attrs["index_map"].final[0].name == "i"


def test_output_types():
    (one,) = bound("R.call_tir(f, x, out_ty=R.Tensor((2,), 'int8'))").ty_args
    assert isinstance(one, TensorType)
    (one,) = bound("R.call_tir(f, x, out_ty=[R.Tensor((2,), 'int8')])").ty_args
    assert isinstance(one, TensorType)
    (both,) = bound("R.call_tir(f, x, out_ty=[R.Tensor((2,), 'int8'), R.Tensor])").ty_args
    assert isinstance(both, TupleType)
    assert [type(field) for field in both.fields] == [TensorType, TensorType]
    first, second = bound("R.call_packed('g', x, ty_args=(R.Any, R.Tensor))").ty_args
    assert isinstance(first, AnyType)
    assert isinstance(second, TensorType)
    assert bound("R.call_packed('g', x, ty_args=None)").ty_args == ()
    assert isinstance(bound("R.op(x, ty_args=[R.Any])").ty_args[0], AnyType)


def test_output_shapes_of_2022():
    (one,) = bound('R.call_tir(f, (x,), (1, 128), dtype="float32")').ty_args
    assert ([dim.value for dim in one.shape], one.dtype) == ([1, 128], FLOAT32)
    (both,) = bound('R.call_tir(f, (x,), [(1, 128), (2,)], dtype=["float32", "int64"])').ty_args
    assert [[dim.value for dim in field.shape] for field in both.fields] == [[1, 128], [2]]
    assert [field.dtype for field in both.fields] == [FLOAT32, INT64]


@pytest.mark.parametrize(
    ("text", "dtype", "value"),
    [
        ("R.const(1)", "int32", 1),
        ("R.const(1.5)", "float32", 1.5),
        ("R.const(True)", "bool", True),
        ("R.const(0.1, 'float32')", "float32", float(np.float32(0.1))),
        ("R.const(1, 'float16')", "float16", 1.0),
        ("R.const(1.0, 'int8')", "int8", 1),
        ("R.const(2, 'bool')", "bool", True),
        ("R.const(-1, dtype='int64')", "int64", -1),
        ("R.const(18446744073709551615, 'uint64')", "uint64", 18446744073709551615),
        ("R.const('inf', 'float32')", "float32", math.inf),
        ("R.const('-inf', 'float16')", "float16", -math.inf),
        ("R.const([[1, 2], [3, 4]])", "int32", [[1, 2], [3, 4]]),
        ("R.const([1, 2.5])", "float32", [1.0, 2.5]),
        ("R.const([True, False])", "bool", [True, False]),
        ("R.const([], 'float32')", "float32", []),
        ("R.const([[], []], 'int8')", "int8", [[], []]),
        ("R.const((1, 2), 'uint8')", "uint8", [1, 2]),
        # 1 + 2**-9 + 2**-40 rounds up to 1 + 2**-7 only when rounded twice; once, to nearest, it is 1
        ("R.const(1.00195312500090949, 'bfloat16')", "bfloat16", 1.0),
        ("3", "int32", 3),
        ("3.5", "float32", 3.5),
        ("False", "bool", False),
    ],
)
def test_constants(text, dtype, value):
    found = bound(text)
    assert isinstance(found, relax.Constant)
    assert str(found.dtype) == dtype
    assert found.data.dtype == storage_dtype(found.dtype)
    assert found.data.tolist() == value
    assert not found.data.flags.writeable


def test_a_nan_constant():
    assert math.isnan(bound("R.const('nan', 'float32')").data.item())


def test_primitive_values_compute_on_dimensions():
    function = main("R.prim_value(p * 2)")
    (value,) = [binding.value for binding in function.body.blocks[-1].bindings]
    assert isinstance(value.value, tir.Apply)
    assert value.value.args[0] is function.params[2].ty.value
    assert function.body.blocks[-1].bindings[0].var.ty.dtype == INT64
    assert isinstance(bound("p > 3").value, tir.Apply)
    assert bound("p > 3").value.dtype == BOOL
    assert bound("-p").value.dtype == INT64
    assert bound("p + R.prim_value(1.5)").value.dtype == FLOAT64


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("R.call_tir()", "RM105"),
        ("R.call_tir(f, x)", "RM105"),
        ("R.call_tir(3, x, R.Any)", "RM105"),
        ("R.call_tir(f, x, R.Any, bogus=1)", "RM105"),
        ("R.call_tir(f, x, (1, 2))", "RM105"),
        ("R.call_tir(f, x, 3, dtype='float32')", "RM105"),
        ("R.call_tir(f, x, [(1,), (2,)], dtype=['int8'])", "RM105"),
        ("R.call_tir(f, x, R.Any, tir_vars=3)", "RM105"),
        ("R.call_tir(f, x, R.Any, out_sinfo=R.Any)", "RM105"),
        ("R.call_packed()", "RM105"),
        ("R.make_closure()", "RM105"),
        ("R.call_py_func()", "RM105"),
        ("R.assert_op()", "RM105"),
        ("R.print(x, form='a')", "RM105"),
        ("R.print(x, format=3)", "RM105"),
        ("R.reshape(x, (2,), shape=(3,))", "RM105"),
        ("R.reshape(x, ('a',))", "RM105"),
        ("R.alloc_tensor((2,), 'float33')", "RM106"),
        ("R.const([[1], [1, 2]])", "RM107"),
        ("R.const([1, [2]])", "RM107"),
        ("R.const([[1], 2])", "RM107"),
        ("R.const(300, 'int8')", "RM107"),
        ("R.const(1.5, 'int8')", "RM107"),
        ("R.const('a')", "RM105"),
        ("R.const(x)", "RM105"),
        ("R.const(1, 'handle')", "RM106"),
        ("R.const(1, 'float32x4')", "RM106"),
        ("R.const(1, 3)", "RM105"),
        ("R.const(" + "[" * 40 + "]" * 40 + ")", "RM107"),
        ("R.shape(3)", "RM105"),
        ("R.shape([x])", "RM105"),
        ("R.shape([99999999999999999999])", "RM107"),
        ("R.str(3)", "RM105"),
        ("R.str('a', 'b')", "RM105"),
        ("R.dtype(x)", "RM105"),
        ("R.ExternFunc(3)", "RM105"),
        ("R.TupleGetItem(t, -1)", "RM105"),
        ("R.match_cast(x, 3)", "RM105"),
        ("R.dist.annotate_sharding(x)", "RM105"),
        ("R.emit_te(f, x)", "RM504"),
        ("t[-1]", "RM103"),
        ("t['a']", "RM103"),
        ("t[True]", "RM103"),
        ("x == y", "RM103"),
        ("x & y", "RM103"),
        ("not x", "RM103"),
        ("x.bogus", "RM103"),
        ("cls.nothing", "RM207"),
        ("f(x, k=1)", "RM105"),
        ("R.op(R.Any)", "RM105"),
        ("R.op(x, a=R.Any)", "RM105"),
        ("R.op(R)", "RM105"),
        ("f(lambda i: i)", "RM105"),
    ],
)
def test_what_does_not_fit(text, code):
    assert code_of(text) == code
