"""`tvm.arith`: refused by name.

Decision: what an `Analyzer` answers is TVM's own canonical form, and bounds that are as tight as its rules happen to
be; code that asks it depends on both. refmlc decides equality of dimensions and ranges of indices where it needs them
(`refmlc.lang.arith`, `refmlc.native.analysis`), by conditions of its own: another form or a tighter bound
under TVM's name would not be exact.
"""

from refmlc.tvm.missing_names import refusal

REASON = "its results are TVM's own canonical forms and bounds, which refmlc does not reproduce"
NAMES = (
    "Analyzer",
    "ConstIntBound",
    "IntervalSet",
    "IntSet",
    "ModularSet",
    "IterMapExpr",
    "deduce_bound",
    "detect_iter_map",
    "detect_linear_equation",
    "estimate_region_lower_bound",
    "estimate_region_upper_bound",
    "normalize_iter_map_to_expr",
    "normalize_to_iter_sum",
    "solve_linear_equations",
    "solve_linear_inequalities",
)

__getattr__ = refusal(__name__, (), reasons=dict.fromkeys(NAMES, REASON))
