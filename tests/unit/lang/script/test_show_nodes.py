"""Nodes built by hand, and the text that TVM 0.27 prints for them (expressions printed by it, one by one)."""

import numpy as np
import pytest

from refmlc.diag import Exhausted, RefmlcError, Unsupported
from refmlc.lang.dtypes import BOOL, FLOAT32, HANDLE, INT32, INT64, VOID, dtype
from refmlc.lang.dtypes.storage import storage_dtype
from refmlc.lang.ir import relax, tir, types
from refmlc.lang.ir.attrs import CommReducer, IndexMap, Target, VDevice
from refmlc.lang.ir.equal import structural_equal
from refmlc.lang.ir.kinds import ForKind, IterKind, PointerType
from refmlc.lang.script import read, show

FLOAT64 = dtype("float64")
X, Y = tir.Var("x", INT32), tir.Var("y", INT32)
F, G = tir.Var("f", FLOAT32), tir.Var("g", FLOAT32)
P, Q = tir.Var("p", BOOL), tir.Var("q", BOOL)
ZERO, ONE, TWO = (tir.IntImm(INT32, value) for value in (0, 1, 2))
FLAG = tir.IntImm(BOOL, 1)
NOUGHT = tir.FloatImm(FLOAT32, 0.0)
A = tir.Buffer("A", FLOAT32, (tir.IntImm(INT32, 4), X))
B = tir.Buffer("B", FLOAT32, ())


def ap(op, *args, result=None):
    comparison = op in ("eq", "ne", "lt", "le", "gt", "ge")
    return tir.Apply(op, args, result or (BOOL if comparison else args[0].dtype))


def number(value, name="float32"):
    return tir.FloatImm(dtype(name), value)


EXPRESSIONS = [
    (ONE, "1"),
    (tir.IntImm(INT64, 1), "T.int64(1)"),
    (tir.IntImm(INT32, -1), "-1"),
    (tir.IntImm(INT64, -5), "T.int64(-5)"),
    (tir.IntImm(dtype("uint8"), 3), "T.uint8(3)"),
    (FLAG, "T.bool(True)"),
    (number(0.1, "float64"), "T.float64(0.10000000000000001)"),
    (number(float("inf")), 'T.float32("inf")'),
    (number(float("-inf"), "float64"), 'T.float64("-inf")'),
    (number(float("nan")), 'T.float32("nan")'),
    (number(-0.0), "T.float32(-0.0)"),
    (number(2.0**100), "T.float32(1267650600228229401496703205376.0)"),
    (number(1.5, "bfloat16"), "T.bfloat16(1.5)"),
    (number(1.5, "float8_e4m3fn"), "T.float8_e4m3fn(1.5)"),
    (tir.StringImm('a"b\n\\c\té\u20ac\U0001f600'), r'"a\"b\n\\c\t\xe9\u20ac\U0001f600"'),
    (ap("add", X, Y), "x + y"),
    (ap("sub", X, ap("sub", Y, X)), "x - (y - x)"),
    (ap("sub", ap("sub", X, Y), X), "x - y - x"),
    (ap("mul", ap("add", X, Y), X), "(x + y) * x"),
    (ap("mul", X, tir.IntImm(INT32, -1)), "x * -1"),
    (ap("mul", ap("mul", X, Y), ap("mul", X, Y)), "x * y * (x * y)"),
    (ap("floordiv", X, ap("mul", Y, Y)), "x // (y * y)"),
    (ap("floormod", X, ap("add", Y, ONE)), "x % (y + 1)"),
    (ap("truncdiv", X, Y), "T.Div(x, y)"),
    (ap("truncmod", X, Y), "T.truncmod(x, y)"),
    (ap("div", F, G), "f / g"),
    (ap("add", X, ZERO), "T.Add(x, 0)"),
    (ap("add", ONE, TWO), "T.Add(1, 2)"),
    (ap("mul", X, ONE), "T.Mul(x, 1)"),
    (ap("mul", ZERO, X), "T.Mul(0, x)"),
    (ap("sub", X, ZERO), "T.Sub(x, 0)"),
    (ap("sub", ZERO, X), "0 - x"),
    (ap("floordiv", X, ONE), "T.FloorDiv(x, 1)"),
    (ap("floormod", X, ONE), "T.FloorMod(x, 1)"),
    (ap("mul", F, NOUGHT), "T.Mul(f, T.float32(0.0))"),
    (ap("div", NOUGHT, F), "T.Div(T.float32(0.0), f)"),
    (ap("lt", ONE, TWO), "T.LT(1, 2)"),
    (ap("eq", X, X), "x == x"),
    (ap("eq", ap("lt", X, Y), P), "(x < y) == p"),
    (ap("lt", X, ap("add", X, Y)), "x < x + y"),
    (ap("bitwise_and", ap("add", X, Y), X), "x + y & x"),
    (ap("add", ap("bitwise_and", X, Y), X), "(x & y) + x"),
    (ap("shift_left", X, Y), "x << y"),
    (ap("bitwise_not", X), "~x"),
    (ap("bitwise_not", ap("add", X, Y)), "~(x + y)"),
    (ap("bitwise_not", ONE), "T.bitwise_not(1)"),
    (ap("not", P), "not p"),
    (ap("not", ap("lt", X, Y)), "not x < y"),
    (ap("not", FLAG), "T.Not(T.bool(True))"),
    (ap("max", X, Y), "T.max(x, y)"),
    (ap("abs", F), "T.fabs(f)"),
    (ap("abs", X), "T.abs(x)"),
    (ap("exp", F), "T.exp(f)"),
    (ap("reinterpret", F, result=INT32), 'T.reinterpret("int32", f)'),
    (tir.And(P, Q), "p and q"),
    (tir.Or(tir.And(P, Q), P), "p and q or p"),
    (tir.And(tir.Or(P, Q), P), "(p or q) and p"),
    (tir.And(P, tir.And(Q, P)), "p and (q and p)"),
    (tir.And(tir.And(P, Q), P), "p and q and p"),
    (tir.And(P, FLAG), "T.And(p, T.bool(True))"),
    (ap("not", tir.And(P, Q)), "not (p and q)"),
    (tir.Cast(FLOAT32, X), 'T.Cast("float32", x)'),
    (tir.Select(P, X, Y), "T.Select(p, x, y)"),
    (tir.IfThenElseExpr(P, X, Y), "T.if_then_else(p, x, y)"),
    (tir.Let(X, ap("add", Y, ONE), ap("mul", X, X)), "T.Let(x * x, where={x: y + 1})"),
    (tir.Ramp(X, ONE, tir.IntImm(INT32, 4), INT32.with_lanes(4)), "T.Ramp(x, 1, 4)"),
    (tir.Broadcast(F, tir.IntImm(INT32, 4), FLOAT32.with_lanes(4)), "T.Broadcast(f, 4)"),
    (tir.Shuffle((F, G), (ONE, ZERO), FLOAT32.with_lanes(2)), "T.Shuffle([f, g], [1, 0])"),
    (tir.BufferLoad(A, (ONE, X)), "A[1, x]"),
    (tir.BufferLoad(B, ()), "B[()]"),
    (tir.BufferLoad(A, (ONE, X), FLAG), "A.vload([1, x], predicate=T.bool(True))"),
    (tir.BufferData(A), "A.data"),
    (tir.Call("call_extern", (tir.StringImm("foo"), X), FLOAT32), 'T.call_extern("float32", "foo", x)'),
    (tir.Call("call_packed", (tir.StringImm("f"), A), INT32), 'T.call_packed("f", A)'),
    (tir.Call("tvm_struct_get", (P, ZERO, ONE), INT32), 'T.tvm_struct_get(p, 0, 1, "int32")'),
    (tir.Call("tvm_struct_get", (P, ZERO, ONE), HANDLE), "T.tvm_struct_get(p, 0, 1, T.handle().ty)"),
    (
        tir.Call("tvm_struct_get", (P, ZERO, ONE), HANDLE, PointerType(INT64)),
        'T.tvm_struct_get(p, 0, 1, T.handle("int64", "global").ty)',
    ),
    (tir.Call("type_annotation", (), FLOAT32), 'T.type_annotation("float32")'),
    (tir.Call("undef", (), FLOAT32), 'T.call_intrin("float32", "tirx.undef")'),
    (tir.Call("tvm_warp_shuffle", (X, F, X, X, X), FLOAT32), "T.tvm_warp_shuffle(x, f, x, x, x)"),
    (tir.Call("tvm_storage_sync", (tir.StringImm("shared"),), VOID), 'T.tvm_storage_sync("shared")'),
    (tir.Call("ptx.wait", (), VOID, attrs={"n": 1}), "T.ptx.wait(n=1)"),
    (tir.Call(tir.GlobalVar("g"), (X,), INT32), "cls.g(x)"),
    (tir.Call("call_extern", (tir.StringImm("f"), (1, None), A), INT32), 'T.call_extern("int32", "f", [1, None], A)'),
]


@pytest.mark.parametrize(("node", "text"), EXPRESSIONS, ids=lambda item: item if isinstance(item, str) else "")
def test_an_expression_is_shown_as_tvm_prints_it(node, text):
    assert show(node) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [(1.0, "T.float32(1)"), (0.5, "T.float32(0.5)"), (1e30, "T.float32(1.0000000000000000199e+30)"), (-0.0, "-0.0")],
)
def test_older_texts_write_floats_without_a_point(value, text):
    shown = show(number(value), dialect="2023")
    assert shown == (text if text.startswith("T") else f"T.float32({text})") or float(shown[10:-1]) == value


ATTRIBUTES = [
    ({"a": (1, 2.5, True, None)}, '{"a": [1, 2.5, True, None]}'),
    ({"a": (float("inf"), float("-inf"))}, '{"a": [1e999, -1e999]}'),
    ({"a": float("nan")}, '{"a": 1e999 - 1e999}'),
    ({"a": ONE, "b": tir.IntImm(INT64, 2)}, '{"a": T.int32(1), "b": T.int64(2)}'),
    ({"a": FLOAT32, "b": tir.StringImm("s")}, '{"a": T.float32, "b": T.StringImm("s")}'),
    ({"a": tir.Range(ZERO, X), "b": tir.Range(ONE, TWO)}, '{"a": T.Range(0, x), "b": T.Range(1, 3)}'),
    ({"a": tir.Range(X, Y)}, '{"a": T.Range(x, x + y)}'),
    ({"a": tir.GlobalVar("f"), "b": A}, '{"a": cls.f, "b": A}'),
    ({"a": tir.BufferRegion(A, (tir.Range(ONE, ONE), tir.Range(ZERO, X)))}, '{"a": A[1, 0:x]}'),
    ({"a": tir.BufferRegion(B, ())}, '{"a": B[()]}'),
    ({"a": Target({"kind": "llvm", "keys": ("cpu",)})}, '{"a": T.target({"kind": "llvm", "keys": ["cpu"]})}'),
    ({"a": VDevice({"kind": "llvm"}, 1)}, '{"a": I.vdevice({"kind": "llvm"}, 1, "global")}'),
    ({"a": CommReducer((X,), (Y,), (ap("add", X, Y),), (ZERO,))}, '{"a": T.comm_reducer(lambda x, y: x + y, [0])}'),
    (
        {"a": CommReducer((X, F), (Y, G), (X, F), (ZERO, NOUGHT))},
        '{"a": T.comm_reducer(lambda x, f, y, g: (x, f), [0, T.float32(0.0)])}',
    ),
    ({"a": IndexMap((X, Y), (Y, X))}, '{"a": T.index_map(lambda x, y: (y, x))}'),
    (
        {"a": IndexMap((X,), (X,), IndexMap((Y,), (Y,)))},
        '{"a": T.index_map(lambda x: (x,), inverse_index_map=lambda y: (y,))}',
    ),
    ({"a": tir.ThreadVar("threadIdx.x")}, '{"a": T.iter_var("threadIdx_x", None, "ThreadIndex", "threadIdx.x")}'),
]


@pytest.mark.parametrize(("attrs", "text"), ATTRIBUTES, ids=lambda item: item if isinstance(item, str) else "")
def test_attributes(attrs, text):
    shown = show(tir.PrimFunc((), {}, tir.Evaluate(ZERO), attrs))
    found = [line.strip() for line in shown.split("\n") if "func_attr" in line]
    assert [line.replace('"threadIdx.x", None', '"threadIdx_x", None') for line in found] == [f"T.func_attr({text})"]


LOOP = tir.For(X, ZERO, TWO, ForKind.SERIAL, tir.Evaluate(X))
AXIS = tir.IterVar(Y, tir.Range(ZERO, TWO), IterKind.SPATIAL)
BLOCK = tir.SBlock("b", (AXIS,), None, (), tir.Evaluate(Y))
TENSOR = types.TensorType((tir.IntImm(INT64, 3),), FLOAT32)
R1 = relax.Var("r", TENSOR)

PIECES = [
    (LOOP, "for x in range(2):\n    T.evaluate(x)"),
    (tir.For(X, ZERO, TWO, ForKind.UNROLLED, tir.Break()), "for x in T.unroll(2):\n    T.break_loop()"),
    (tir.For(X, ONE, TWO, ForKind.SERIAL, tir.Continue(), step=TWO), "for x in range(1, 3, 2):\n    T.continue_loop()"),
    (
        tir.For(X, ZERO, TWO, ForKind.PARALLEL, tir.Evaluate(X), annotations={"a": 1}, step=TWO),
        'for x in T.parallel(0, 2, annotations={"a": 1}, step=2):\n    T.evaluate(x)',
    ),
    (tir.SeqStmt(()), ""),
    (tir.While(P, tir.SeqStmt(())), "while p:\n    pass"),
    (tir.BufferStore(A, F, (ONE, X), FLAG), "A.vstore([1, x], f, predicate=T.bool(True))"),
    (
        tir.BufferStore(B, F, (tir.Ramp(X, ONE, tir.IntImm(INT32, 4), INT32.with_lanes(4)),)),
        "B[x:x + 4] = f",
    ),
    (tir.AssertStmt(P, ("a", "b")), 'assert p, ("RuntimeError", ["a", "b"])'),
    (tir.Bind(X, ONE), "x: T.let[T.int32] = 1"),
    (tir.AttrStmt(None, "k", "v", tir.Evaluate(X)), 'with T.attr({"k": "v"}):\n    T.evaluate(x)'),
    (
        tir.AttrStmt(tir.ThreadVar("vthread", X, tir.Range(ZERO, TWO)), "virtual_thread", TWO, tir.Evaluate(X)),
        """x = T.int32()
with T.attr(T.iter_var(x, T.Range(0, 2), "ThreadIndex", "vthread"), "virtual_thread", T.int32(2)):
    T.evaluate(x)""",
    ),
    (
        tir.IfThenElse(P, tir.Evaluate(X), tir.IfThenElse(Q, tir.Evaluate(Y))),
        "if p:\n    T.evaluate(x)\nelse:\n    if q:\n        T.evaluate(y)",
    ),
    (tir.DeclBuffer(B, tir.BufferData(A)), "B = T.decl_buffer((), data=A.data)"),
    (tir.DeclBuffer(B, None), "B = T.decl_buffer(())"),
    (tir.AllocBuffer(tir.Buffer("C", FLOAT32, (TWO,), scope="wmma")), 'C = T.alloc_buffer((2,), scope="wmma")'),
    (
        tir.AllocBuffer(tir.Buffer("C", INT32, (TWO,), (ONE,), X, "local", 128, 4)),
        'C = T.alloc_local((2,), "int32", strides=(1,), elem_offset=x, align=128, offset_factor=4)',
    ),
    (
        tir.AllocBuffer(tir.Buffer("C", INT32, (TWO, TWO), axis_separators=(1,))),
        'C = T.alloc_buffer((2, 2), "int32", axis_separators=[1])',
    ),
    (tir.Return(ONE), "return 1"),
    (BLOCK, 'with T.sblock("b"):\n    y = T.axis.spatial(2, y)\n    T.writes()\n    T.evaluate(y)'),
    (A, "A: T.Buffer((4, x))"),
    (tir.BufferRegion(A, (tir.Range(ONE, ONE), tir.Range(X, TWO))), "A[1, x:x + 2]"),
    (tir.MatchBufferRegion(B, tir.BufferRegion(A, (tir.Range(ZERO, TWO),))), "B = T.match_buffer(A[0:2], ())"),
    (AXIS, "y = T.axis.spatial(T.Range(0, 2))"),
    (tir.GlobalVar("f"), "f"),
    (tir.Range(ZERO, TWO), "T.Range(0, 2)"),
    (types.AnyType(), "R.Any"),
    (TENSOR, 'R.Tensor((3,), dtype="float32")'),
    (relax.VarBinding(R1, relax.Call(relax.Op("add"), (R1, R1))), 'r: R.Tensor((3,), dtype="float32") = R.add(r, r)'),
    (relax.MatchCast(relax.Var("s", None), R1, types.ShapeType(None, 2)), "s = R.match_cast(r, R.Shape(ndim=2))"),
    (relax.BindingBlock(()), ""),
    (relax.DataflowBlock(()), "with R.dataflow():\n    R.output()"),
    (relax.Tuple((R1, R1)), "(r, r)"),
]


@pytest.mark.parametrize(("node", "text"), PIECES, ids=lambda item: item if isinstance(item, str) else "")
def test_a_piece_is_shown_alone(node, text):
    assert show(node) == text


def test_a_long_chain_goes_on_by_elif():
    chain = tir.Evaluate(X)
    for _ in range(500):
        chain = tir.IfThenElse(P, tir.Evaluate(X), chain)
    lines = show(chain).split("\n")
    assert max(len(line) - len(line.lstrip()) for line in lines) <= 40
    assert sum("if p:" in line for line in lines) == 500


def test_a_chain_that_leans_left_may_be_long_and_others_end_in_a_finding():
    left = right = X
    for _ in range(20_000):
        left = ap("add", left, X)
        right = ap("add", X, right)
    assert show(left) == " + ".join(["x"] * 20_001)
    with pytest.raises(Exhausted) as caught:
        show(right)
    assert caught.value.code.id == "RM602"


@pytest.mark.parametrize(
    ("node", "dialect"),
    [
        (tir.PrimFunc((), {}, tir.Evaluate(ZERO), s_tir=False), "2023"),
        (tir.AllocBuffer(tir.Buffer("C", FLOAT32, (TWO,), align=128), {"a": 1}), "2023"),
        (tir.SeqStmt((tir.AllocBuffer(B, {"a": 1}), tir.AttrStmt(B, "k", 1, tir.Evaluate(X)))), "2022"),
        (relax.Tuple((relax.If(R1, relax.SeqExpr((), R1), relax.SeqExpr((), R1)),)), "0.27"),
    ],
)
def test_what_has_no_text_is_unsupported(node, dialect):
    with pytest.raises(Unsupported) as caught:
        show(node, dialect=dialect)
    assert caught.value.code.id == "RM504"


def test_a_dialect_that_there_is_not_is_named(monkeypatch):
    monkeypatch.setenv("REFMLC_DIALECT", "1999")
    with pytest.raises(RefmlcError, match="there is no dialect `1999`") as caught:
        ONE.script()
    assert caught.value.code.id == "RM112"


def test_what_is_no_node_is_our_mistake():
    for node in (tir.Evaluate(LOOP), tir.SeqStmt((ONE,)), tir.PrimFunc((), {}, tir.Evaluate(ONE), {"a": object()})):
        with pytest.raises(RefmlcError) as caught:
            show(node)
        assert caught.value.code.id == "RM901"


RELAX = [
    (types.TensorType(None, None), "R.Tensor", "Tensor(None, None)"),
    (types.TensorType(None, FLOAT32, 2), 'R.Tensor(dtype="float32", ndim=2)', 'Tensor(None, "float32", ndim = 2)'),
    (types.TensorType(None, None, -1, "llvm:0", "s"), 'R.Tensor(s, vdevice="llvm:0")', "Tensor(s, None)"),
    (types.ShapeType(None), "R.Shape(ndim=-1)", "Shape(ndim=-1)"),
    (types.PrimType(INT64), "T.int64", 'R.Prim("int64")'),
    (types.PrimType(INT64, tir.Var("n", INT64)), "R.Prim(value=n)", "R.Prim(value=n)"),
    (types.TupleType(()), "R.Tuple", "Tuple"),
    (types.TupleType((TENSOR,)), 'R.Tuple(R.Tensor((3,), dtype="float32"))', 'Tuple(Tensor((3,), "float32"))'),
    (types.FuncType(None, None, pure=False), "R.Callable", "Callable"),
    (types.FuncType(None, types.AnyType()), "R.Callable(ret=R.Any, purity=True)", None),
    (types.FuncType((), None), "R.Callable((), purity=True)", None),
    (types.FuncType((TENSOR,), types.AnyType()), 'R.Callable((R.Tensor((3,), dtype="float32"),), R.Any, True)', None),
    (relax.PrimValue(tir.IntImm(INT64, 3)), "3", "R.prim_value(3)"),
    (relax.PrimValue(tir.FloatImm(FLOAT64, 0.5)), "T.float64(0.5)", "R.prim_value(T.float64(0.5))"),
    (relax.DataTypeImm(VOID), 'R.dtype("void")', 'R.dtype("void")'),
    (relax.ShapeExpr((tir.IntImm(INT64, 3), ap("add", X, ONE))), "R.shape([3, x + T.int32(1)])", None),
    (relax.TupleGetItem(relax.Tuple((R1, R1)), 1), "R.TupleGetItem((r, r), 1)", None),
    (relax.TupleGetItem(relax.TupleGetItem(R1, 1), 0), "r[1][0]", None),
    (relax.ExternFunc("f"), 'R.ExternFunc("f")', None),
    (relax.Op("add"), "R.add", None),
    (relax.Call(relax.Call(relax.Op("f"), ()), (R1,)), "R.f()(r)", None),
    (relax.MetadataRef("k", 1), 'metadata["k"][1]', 'metadata["k"][1]'),
    (relax.MetadataRef("relay.Constant", 1), 'metadata["relay.Constant"][1]', "meta[relay.Constant][1]"),
    (relax.Constant(np.array(1.5, "float32"), FLOAT32), 'R.const(1.5, "float32")', "meta[relay.Constant][0]"),
    (relax.Constant(np.array(2.0, "float32"), FLOAT32), 'R.const(2.0, "float32")', None),
    (relax.Constant(np.array(float("inf"), "float32"), FLOAT32), 'metadata["ir.GenericConst"][0]', None),
    (relax.Constant(np.array([True]), BOOL), 'metadata["ir.GenericConst"][0]', None),
]


@pytest.mark.parametrize(("node", "text", "old"), RELAX, ids=lambda item: item if isinstance(item, str) else "")
def test_types_and_values_of_relax(node, text, old):
    assert show(node) == text
    if old is not None:
        assert show(node, dialect="2022") == old


def test_tensors_that_metadata_cannot_hold_are_written_out():
    data = np.array([[1, -2], [3, 0]], "int8").astype(storage_dtype(dtype("int4")))
    node = relax.Constant(data, dtype("int4"))
    assert show(node, show_meta=True) == 'R.const([[1, -2], [3, 0]], "int4")'
    real = relax.Constant(np.array([0.5, 6.0]).astype(storage_dtype(dtype("float4_e2m1fn"))), dtype("float4_e2m1fn"))
    assert show(real, show_meta=True) == 'R.const([0.5, 6.0], "float4_e2m1fn")'


def test_one_constant_is_kept_once_and_shown_with_its_bytes():
    tensor = relax.Constant(np.array([1.5, 2.5], "float32"), FLOAT32)
    other = relax.Constant(np.array([1.5, 2.5], "float32"), FLOAT32)
    body = relax.SeqExpr((), relax.Tuple((tensor, other, tensor)))
    shown = show(relax.Function((), body, None), show_meta=True)
    key = 'metadata["ir.GenericConst"]'
    assert f"return ({key}[0], {key}[1], {key}[0])" in shown
    assert shown.count("ffi.Tensor") == 2
    assert "AADAPwAAIEA" in shown  # the two floats, in base64
    assert "# Metadata omitted" not in shown


def test_a_branch_that_binds_its_value_under_the_name_of_the_whole():
    call = relax.Call(relax.Op("f"), (R1,))
    inner, whole = relax.Var("a", None), relax.Var("a", TENSOR)
    then = relax.SeqExpr((relax.BindingBlock((relax.VarBinding(inner, call),)),), inner)
    block = relax.BindingBlock((relax.VarBinding(whole, relax.If(R1, then, relax.SeqExpr((), R1))),))
    assert show(block).split("\n") == [
        "if r:",
        "    a_then = R.f(r)",
        '    a: R.Tensor((3,), dtype="float32") = a_then',
        "else:",
        '    a: R.Tensor((3,), dtype="float32") = r',
    ]


def test_a_size_that_is_a_parameter_is_matched_in_the_body():
    size, pointer = tir.Var("k", INT64), tir.Var("a", HANDLE)
    buffer = tir.Buffer("A", FLOAT32, (tir.Apply("mul", (size, tir.IntImm(INT64, 2)), INT64),))
    body = tir.BufferStore(buffer, tir.FloatImm(FLOAT32, 0.0), (tir.IntImm(INT64, 0),))
    for params in ((pointer, size), (size, pointer)):
        func = tir.PrimFunc(params, {pointer: buffer}, body)
        (again,) = read(func.script()).functions.values()
        assert structural_equal(again, func)
