"""`tvm.relax.dpl`: the language of dataflow patterns; `pattern` has the names.

Sequences of patterns and contexts (`used_by`, `>>`, `PatternContext`, `rewrite_call`) are refused by name: refmlc
matches one expression at a time (`refmlc.rewrite.partition`).
"""

from refmlc.tvm.missing_names import refusal
from refmlc.tvm.relax.dpl import pattern
from refmlc.tvm.relax.dpl.pattern import (
    DFPattern,
    has_attr,
    has_dtype,
    is_call_dps_packed,
    is_call_packed,
    is_call_tir,
    is_const,
    is_dfv,
    is_expr,
    is_gv,
    is_op,
    is_shape,
    is_tuple,
    is_tuple_get_item,
    is_var,
    make_fused_bias_activation_pattern,
    reject,
    wildcard,
)

__all__ = [
    "DFPattern",
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
    "pattern",
    "reject",
    "wildcard",
]

__getattr__ = refusal(__name__, __all__, reasons=pattern.MISSING)
