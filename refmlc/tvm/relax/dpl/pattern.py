"""`tvm.relax.dpl.pattern`: what makes patterns, by TVM's names; they are those of `refmlc.rewrite.partition`."""

from collections.abc import Mapping, Sequence

from refmlc.lang.ir import relax, tir
from refmlc.rewrite.partition.patterns import (
    AndPattern,
    AttrPattern,
    CallPattern,
    ConstantPattern,
    DFPattern,
    DTypePattern,
    ExprPattern,
    ExternFuncPattern,
    FunctionPattern,
    GlobalVarPattern,
    NotPattern,
    OrPattern,
    ShapeExprPattern,
    ShapePattern,
    TupleGetItemPattern,
    TuplePattern,
    TypePattern,
    VarPattern,
    WildcardPattern,
    bias_activation,
    operator_pattern,
)
from refmlc.tvm.missing_names import refusal

Arguments = Sequence[DFPattern] | DFPattern | None
DataTypePattern, PrimArrPattern = DTypePattern, ShapeExprPattern


def is_var(name: str = "") -> VarPattern:
    """A variable without a known value."""
    return VarPattern(name)


def is_dfv(name: str = "") -> VarPattern:
    """A variable of a dataflow block without a known value."""
    return VarPattern(name, dataflow=True)


def is_gv(name: str = "") -> GlobalVarPattern:
    """A function of the module."""
    return GlobalVarPattern(name)


def is_const() -> ConstantPattern:
    """A tensor constant."""
    return ConstantPattern()


def is_expr(expr: relax.Expr) -> ExprPattern:
    """An expression that equals another."""
    return ExprPattern(expr)


def is_op(op_name: str) -> ExprPattern:
    """An operator."""
    return operator_pattern(op_name)


def is_tuple(fields: Sequence[DFPattern], unordered: bool = False) -> TuplePattern:
    """A tuple."""
    return TuplePattern(tuple(fields), unordered)


def is_tuple_get_item(tuple_value: DFPattern, index: int | None = None) -> TupleGetItemPattern:
    """A field of a tuple."""
    return TupleGetItemPattern(tuple_value, index)


def wildcard() -> WildcardPattern:
    """Anything."""
    return WildcardPattern()


def has_dtype(dtype: str, pattern: DFPattern | None = None) -> DTypePattern:
    """A tensor of a dtype."""
    return (pattern or wildcard()).has_dtype(dtype)


def has_attr(attrs: Mapping[str, tir.Attr], pattern: DFPattern | None = None) -> AttrPattern:
    """A call or function with attributes."""
    return (pattern or wildcard()).has_attr(attrs)


def is_shape(shape: Sequence[int | tir.Expr]) -> ShapeExprPattern:
    """A shape as a value."""
    return ShapeExprPattern(tuple(shape))


def _destination_passing(op: str, func: DFPattern, args: Arguments) -> CallPattern:
    fields = args if isinstance(args, DFPattern) else wildcard() if args is None else is_tuple(args)
    return is_op(op)(func, fields)


def is_call_tir(func_name: str, args: Arguments = None) -> CallPattern:
    """`R.call_tir` of a function of the module, on arguments or on any."""
    return _destination_passing("call_tir", is_gv(func_name), args)


def is_call_dps_packed(func_name: str, args: Arguments = None) -> CallPattern:
    """`R.call_dps_packed` of a packed function, on arguments or on any."""
    return _destination_passing("call_dps_packed", ExternFuncPattern(func_name), args)


def is_call_packed(func_name: str, args: Sequence[DFPattern] | None = None) -> CallPattern:
    """A call of a packed function, on arguments or on any."""
    return ExternFuncPattern(func_name)(*(args or ()), varg_default_wildcard=args is None)


def reject(pattern: DFPattern) -> NotPattern:
    """Anything but that."""
    return ~pattern


def make_fused_bias_activation_pattern(
    op_name: str, with_bias: bool = False, activation: str | None = None, allow_reshape: bool = False
) -> DFPattern:
    """A binary operator, perhaps with a bias added and an activation after it."""
    return bias_activation(op_name, with_bias=with_bias, activation=activation, allow_reshape=allow_reshape)


_GRAPHS = "it describes a graph of bindings; refmlc matches one expression at a time"
MISSING: Mapping[str, str] = {
    **dict.fromkeys(("PatternSeq", "PatternContext", "DFConstraint", "SameShapeConstraint"), _GRAPHS),
    **dict.fromkeys(
        ("rewrite_call", "rewrite_bindings", "PatternMatchingRewriter", "ExprPatternRewriter", "OrRewriter"),
        "rewriting by patterns is not there; `relax.PyExprMutator` changes functions",
    ),
}

__all__ = [
    "AndPattern",
    "AttrPattern",
    "CallPattern",
    "ConstantPattern",
    "DFPattern",
    "DataTypePattern",
    "ExprPattern",
    "ExternFuncPattern",
    "FunctionPattern",
    "GlobalVarPattern",
    "NotPattern",
    "OrPattern",
    "PrimArrPattern",
    "ShapePattern",
    "TupleGetItemPattern",
    "TuplePattern",
    "TypePattern",
    "VarPattern",
    "WildcardPattern",
    "has_attr",
    "has_dtype",
    "is_call_dps_packed",
    "is_call_packed",
    "is_call_tir",
    "is_const",
    "is_dfv",
    "is_expr",
    "is_gv",
    "is_op",
    "is_shape",
    "is_tuple",
    "is_tuple_get_item",
    "is_var",
    "make_fused_bias_activation_pattern",
    "reject",
    "wildcard",
]

__getattr__ = refusal(__name__, __all__, reasons=MISSING)
