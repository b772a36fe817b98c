"""One instance of every kind of node, built by hand; copies with other names, made without the IR's tools."""

import dataclasses
import inspect
from collections.abc import Mapping

import numpy as np

from refmlc.diag import Source, Span
from refmlc.lang.dtypes import BOOL, FLOAT32, HANDLE, INT32, INT64
from refmlc.lang.ir import attrs, module, relax, tir, tirx, types
from refmlc.lang.ir.kinds import ForKind, IterKind, PointerType
from refmlc.lang.ir.node import Node

KINDS = {
    cls
    for part in (attrs, module, relax, tir, tirx, types)
    for _, cls in inspect.getmembers(part, inspect.isclass)
    if issubclass(cls, Node) and cls is not Node
}

ONE, TWO = tir.IntImm(INT32, 1), tir.IntImm(INT32, 2)
X, J = tir.Var("x", INT32), tir.Var("i", INT32)
N = tir.Var("n", INT64)
P = tir.Var("p", HANDLE, PointerType(FLOAT32))
TRUE = tir.IntImm(BOOL, 1)
A = tir.Buffer("A", FLOAT32, (TWO, X), (X, ONE), X, "global", 64, 1, (1,))
B = tir.Buffer("B", FLOAT32, (TWO,))
RANGE = tir.Range(ONE, X)
REGION = tir.BufferRegion(A, (RANGE,))
VECTOR = FLOAT32.with_lanes(2)
HALF = tir.FloatImm(FLOAT32, 0.5)
STORE = tir.BufferStore(A, HALF, (ONE, X), TRUE)
AXIS = tir.IterVar(X, tir.Range(ONE, J), IterKind.SPATIAL)
THREAD = tir.ThreadVar("threadIdx.x", X, RANGE)
TENSOR = types.TensorType((N, N), FLOAT32, 2, "llvm:0")
SHAPED = types.TensorType(None, FLOAT32, 2, None, "s")
Y = relax.Var("y", TENSOR, dataflow=True)
Z = relax.Var("z", types.AnyType())
OP = relax.Op("add")
CALL = relax.Call(OP, (Y, Z), {"axis": 1}, (TENSOR,))
BINDING = relax.VarBinding(Z, CALL)
SEQ = relax.SeqExpr((relax.DataflowBlock((BINDING,)), relax.BindingBlock(())), Z)
FUNCTION = relax.Function((Y,), SEQ, types.AnyType(), attrs={"a": 1})
BLOCK = tir.SBlock(
    "block",
    (AXIS,),
    (REGION,),
    (REGION,),
    STORE,
    tir.Evaluate(X),
    (B,),
    (tir.MatchBufferRegion(A, REGION),),
    {"k": "v"},
)
PRIM = tir.PrimFunc(
    (P, X), {P: A}, tir.SeqStmt((STORE, tir.Return(X))), {"a": 1.0}, INT32, private=True, check_well_formed=False
)

ITER = tirx.Iter(TWO, ONE, "laneid")
LAYOUT = tirx.TileLayout((ITER,), (tirx.Iter(ONE, X),), {"warpid": X})

MESH = attrs.DeviceMesh((2,), (0, 1), consecutive=True)

EVERY: tuple[Node, ...] = (
    *(MESH, types.DTensorType(TENSOR, MESH, (0,))),
    *(tirx.ScopeIdDef((X,), "cta_id", (TWO,), (ONE,)), tirx.LambdaExpr((X,), X), ITER, LAYOUT),
    *(
        tirx.ComposeLayout(3, 2, 1, LAYOUT),
        tirx.TilePrimitiveCall("copy", (REGION,), {"w": B}, {"k": 1}, "tma", "warp"),
    ),
    *(X, ONE, HALF, tir.StringImm("s"), tir.Apply("add", (X, ONE), INT32), tir.Cast(FLOAT32, X), tir.And(TRUE, TRUE)),
    *(tir.Or(TRUE, TRUE), tir.Select(TRUE, X, ONE), tir.IfThenElseExpr(TRUE, X, ONE), tir.Let(X, ONE, X)),
    *(tir.BufferLoad(A, (ONE, X), TRUE), tir.BufferData(A), tir.Ramp(X, ONE, TWO, INT32.with_lanes(2))),
    *(tir.Broadcast(HALF, TWO, VECTOR), tir.Shuffle((HALF, HALF), (ONE, TWO), VECTOR)),
    tir.Call("call_extern", ("f", X), HANDLE, PointerType(FLOAT32), {"a": (1, 2)}),
    *(tir.GlobalVar("g"), A, RANGE, REGION, tir.MatchBufferRegion(B, REGION), AXIS, THREAD, tir.Bind(X, ONE)),
    *(tir.AssertStmt(TRUE, ("m",), "ValueError"), tir.While(TRUE, STORE), STORE, tir.AllocBuffer(B, {"a": True})),
    tir.For(J, ONE, TWO, ForKind.THREAD_BINDING, tir.Evaluate(J), THREAD, {"a": 1}, TWO),
    *(
        tir.DeclBuffer(B, P),
        tir.AttrStmt(A, "key", X, STORE),
        tir.SeqStmt((STORE,)),
        tir.IfThenElse(TRUE, STORE, STORE),
    ),
    *(tir.Evaluate(X), tir.Break(), tir.Continue(), tir.Return(X), BLOCK, tir.SBlockRealize((ONE,), TRUE, BLOCK), PRIM),
    *(Y, relax.Constant(np.arange(3, dtype="float32"), FLOAT32), relax.MetadataRef("c", 1), relax.PrimValue(N)),
    *(relax.StringImm("s"), relax.DataTypeImm(FLOAT32), relax.ShapeExpr((N, ONE)), relax.Tuple((Y, Z))),
    *(relax.TupleGetItem(Y, 1), relax.ExternFunc("f"), OP, CALL, relax.If(Y, SEQ, SEQ), SEQ, FUNCTION, BINDING),
    *(relax.MatchCast(Z, Y, TENSOR), relax.BindingBlock((BINDING,)), relax.DataflowBlock((BINDING,))),
    *(types.AnyType(), TENSOR, SHAPED, types.ShapeType((N,), 1), types.PrimType(INT64, N), types.TupleType((TENSOR,))),
    types.FuncType((TENSOR, types.ShapeType((N,))), TENSOR, pure=False),
    attrs.CommReducer((X,), (J,), (tir.Apply("add", (X, J), INT32),), (ONE,)),
    attrs.IndexMap((X,), (X, ONE), attrs.IndexMap((J,), (J,))),
    *(attrs.Target({"kind": "llvm"}), attrs.VDevice("llvm", 1, "global")),
    attrs.Device(2, 1),
    module.IRModule(
        {"main": FUNCTION, "f": PRIM, "e": relax.ExternFunc("e")},
        {"a": ({"b": None},)},
        {"vdevice": (attrs.VDevice("llvm"),)},
        "Name",
        Source("a.py", ""),
    ),
)

ELSEWHERE = Span(Source("elsewhere.py", "x"), 1, 0, 1, 1)


def renamed(value, memo=None):
    """A deep copy: fresh objects, all places and all names that mean nothing changed."""
    memo = {} if memo is None else memo
    if isinstance(value, tuple):
        return tuple(renamed(item, memo) for item in value)
    if isinstance(value, Mapping):
        return {renamed(key, memo): renamed(item, memo) for key, item in reversed(value.items())}
    if isinstance(value, np.ndarray):
        return value.copy()
    if not isinstance(value, Node):
        return value
    if id(value) not in memo:
        fields = {f.name: renamed(getattr(value, f.name), memo) for f in dataclasses.fields(value)}
        if isinstance(value, (tir.Var, tir.Buffer, relax.Var, tir.SBlock, module.IRModule)):
            fields["name"] += "_renamed"
        memo[id(value)] = type(value)(**{**fields, "span": ELSEWHERE})
    return memo[id(value)]
