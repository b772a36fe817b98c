"""`tvm.relax`: expressions, types and builder by their names; `op`, `transform`, `vm`, `frontend` are modules.

| name                                                       | generation |
|------------------------------------------------------------|------------|
| `Var(name, shape, DynTensorType(ndim, dtype))`             | 2022       |
| `Var(name, TensorStructInfo(shape, dtype))`                | 2023 on    |
| `TensorType`, `ShapeType`, … in the place of `…StructInfo` | 0.27       |
"""

from refmlc.lang.ir import relax as nodes
from refmlc.lang.ir.types import (
    AnyType,
    FuncType,
    PrimType,
    ShapeType as ShapeNode,
    TensorType as TensorNode,
    TupleType,
)
from refmlc.tvm.build_functions import Executable, VirtualMachine, build
from refmlc.tvm.missing_names import refusal
from refmlc.tvm.nodes import NodeClass, of
from refmlc.tvm.relax import analysis, expr, expr_functor, frontend, op, pipeline, transform, vm
from refmlc.tvm.relax.builder import BlockBuilder
from refmlc.tvm.relax.call_constructors import call_dps_packed, call_pure_packed, call_tir
from refmlc.tvm.relax.constructors import (
    call,
    const,
    dataflow_var,
    dyn_tensor_type,
    extern_func,
    prim_type,
    prim_value,
    shape_expr,
    shape_type,
    string_imm,
    tensor_type,
    tuple_expr,
    tuple_get_item,
    tuple_type,
    variable,
)
from refmlc.tvm.relax.expr_functor import PyExprMutator, PyExprVisitor
from refmlc.tvm.relax.pipeline import get_pipeline, register_pipeline

Var = of("relax.Var", nodes.Var, make=variable)
DataflowVar = NodeClass(
    "relax.DataflowVar", lambda value: isinstance(value, nodes.Var) and value.dataflow, dataflow_var
)
Constant = of("relax.Constant", nodes.Constant, make=const)
ShapeExpr = of("relax.ShapeExpr", nodes.ShapeExpr, make=shape_expr)
PrimValue = of("relax.PrimValue", nodes.PrimValue, make=prim_value)
StringImm = of("relax.StringImm", nodes.StringImm, make=string_imm)
Tuple = of("relax.Tuple", nodes.Tuple, make=tuple_expr)
TupleGetItem = of("relax.TupleGetItem", nodes.TupleGetItem, make=tuple_get_item)
ExternFunc = of("relax.ExternFunc", nodes.ExternFunc, make=extern_func)
Call = of("relax.Call", nodes.Call, make=call)
If = of("relax.If", nodes.If)
SeqExpr = of("relax.SeqExpr", nodes.SeqExpr)
Function = of("relax.Function", nodes.Function)
VarBinding = of("relax.VarBinding", nodes.VarBinding)
MatchCast = of("relax.MatchCast", nodes.MatchCast)
BindingBlock = of("relax.BindingBlock", nodes.BindingBlock, nodes.DataflowBlock)
DataflowBlock = of("relax.DataflowBlock", nodes.DataflowBlock)
Expr = NodeClass("relax.Expr", lambda value: isinstance(value, nodes.Expr))

DynTensorType = of("relax.DynTensorType", TensorNode, make=dyn_tensor_type)
TensorType = TensorStructInfo = of("relax.TensorStructInfo", TensorNode, make=tensor_type)
ShapeType = ShapeStructInfo = of("relax.ShapeStructInfo", ShapeNode, make=shape_type)
PrimStructInfo = of("relax.PrimStructInfo", PrimType, make=prim_type)
TupleStructInfo = of("relax.TupleStructInfo", TupleType, make=tuple_type)
ObjectStructInfo = of("relax.ObjectStructInfo", AnyType, make=AnyType)
FuncStructInfo = of("relax.FuncStructInfo", FuncType)

__all__ = [
    "BindingBlock",
    "BlockBuilder",
    "Call",
    "Constant",
    "DataflowBlock",
    "DataflowVar",
    "DynTensorType",
    "Executable",
    "Expr",
    "ExternFunc",
    "FuncStructInfo",
    "Function",
    "If",
    "MatchCast",
    "ObjectStructInfo",
    "PrimStructInfo",
    "PrimValue",
    "PyExprMutator",
    "PyExprVisitor",
    "SeqExpr",
    "ShapeExpr",
    "ShapeStructInfo",
    "ShapeType",
    "StringImm",
    "TensorStructInfo",
    "TensorType",
    "Tuple",
    "TupleGetItem",
    "TupleStructInfo",
    "Var",
    "VarBinding",
    "VirtualMachine",
    "analysis",
    "build",
    "call_dps_packed",
    "call_pure_packed",
    "call_tir",
    "const",
    "expr",
    "expr_functor",
    "frontend",
    "get_pipeline",
    "op",
    "pipeline",
    "register_pipeline",
    "transform",
    "vm",
]

__getattr__ = refusal(__name__, __all__, {name: f"refmlc.tvm.relax.{name}" for name in ("backend", "dpl")})
