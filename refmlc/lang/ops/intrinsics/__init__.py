"""Intrinsics: every name that a `Call` of TensorIR may have, one row each; families of hardware by their prefix."""

from refmlc.lang.ops.intrinsics.rows import Effect, Intrinsic
from refmlc.lang.ops.intrinsics.signatures import call_problem
from refmlc.lang.ops.intrinsics.table import FAMILIES, INTRINSICS, intrinsic

__all__ = ["FAMILIES", "INTRINSICS", "Effect", "Intrinsic", "call_problem", "intrinsic"]
