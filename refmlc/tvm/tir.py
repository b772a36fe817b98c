"""`tvm.tir`: nodes of TensorIR by their names, and `Schedule`."""

from refmlc.lang.dtypes import dtype as dtype_named
from refmlc.lang.ir import tir as nodes
from refmlc.lang.te import (
    abs as abs,  # noqa: A004, PLC0414 - TVM's name
    all as all,  # noqa: A004, PLC0414 - TVM's names, handed on
    any as any,  # noqa: A004, PLC0414 - TVM's names, handed on
    ceil,
    const,
    cos,
    erf,
    exp,
    floor,
    floordiv,
    floormod,
    if_then_else,
    isnan,
    log,
    max_value,
    min_value,
    power,
    rsqrt,
    sigmoid,
    sin,
    sqrt,
    tan,
    tanh,
    trunc,
    truncdiv,
    truncmod,
)
from refmlc.tvm.missing_names import refusal
from refmlc.tvm.nodes import NodeClass, of


def _var(name: str, dtype: str = "int32", span: object = None) -> nodes.Var:
    """A variable."""
    del span
    return nodes.Var(name, dtype_named(dtype))


def _int(dtype: str, value: int, span: object = None) -> nodes.IntImm:
    """An integer constant."""
    del span
    return nodes.IntImm(dtype_named(dtype), value)


def _float(dtype: str, value: float, span: object = None) -> nodes.FloatImm:
    """A float constant."""
    del span
    return nodes.FloatImm(dtype_named(dtype), value)


Var = of("tir.Var", nodes.Var, make=_var)
SizeVar = of("tir.SizeVar", nodes.Var, make=_var)
IntImm = of("tir.IntImm", nodes.IntImm, make=_int)
FloatImm = of("tir.FloatImm", nodes.FloatImm, make=_float)
StringImm = of("tir.StringImm", nodes.StringImm, make=nodes.StringImm)
PrimFunc = of("tir.PrimFunc", nodes.PrimFunc)
Buffer = of("tir.Buffer", nodes.Buffer)
BufferLoad = of("tir.BufferLoad", nodes.BufferLoad)
BufferStore = of("tir.BufferStore", nodes.BufferStore)
For = of("tir.For", nodes.For)
SeqStmt = of("tir.SeqStmt", nodes.SeqStmt)
IfThenElse = of("tir.IfThenElse", nodes.IfThenElse)
Evaluate = of("tir.Evaluate", nodes.Evaluate)
Block = SBlock = of("tir.Block", nodes.SBlock)
BlockRealize = SBlockRealize = of("tir.BlockRealize", nodes.SBlockRealize)
PrimExpr = NodeClass("tir.PrimExpr", lambda value: isinstance(value, nodes.Expr))

__all__ = [
    "Block",
    "BlockRealize",
    "Buffer",
    "BufferLoad",
    "BufferStore",
    "Evaluate",
    "FloatImm",
    "For",
    "IfThenElse",
    "IntImm",
    "PrimExpr",
    "PrimFunc",
    "SBlock",
    "SBlockRealize",
    "SeqStmt",
    "SizeVar",
    "StringImm",
    "Var",
    "abs",
    "all",
    "any",
    "ceil",
    "const",
    "cos",
    "erf",
    "exp",
    "floor",
    "floordiv",
    "floormod",
    "if_then_else",
    "isnan",
    "log",
    "max_value",
    "min_value",
    "power",
    "rsqrt",
    "sigmoid",
    "sin",
    "sqrt",
    "tan",
    "tanh",
    "trunc",
    "truncdiv",
    "truncmod",
]

__getattr__ = refusal(
    __name__,
    __all__,
    {
        **{name: f"refmlc.rewrite.schedule:{name}" for name in ("Schedule", "TensorIntrin")},
        "build": "refmlc.tvm.build_functions:build",
    },
)
