"""Intrinsics: every name that a `Call` of TensorIR may have, one row each; families of hardware by their prefix."""

from refmlc.lang.ops.intrinsics.rows import Effect, Intrinsic, Result, Written
from refmlc.lang.ops.intrinsics.signatures import call_problem
from refmlc.lang.ops.intrinsics.table import ALIASES, FAMILIES, INTRINSICS, intrinsic, registered

__all__ = [
    "ALIASES",
    "FAMILIES",
    "INTRINSICS",
    "Effect",
    "Intrinsic",
    "Result",
    "Written",
    "call_problem",
    "intrinsic",
    "registered",
]
