"""The meaning of each form, and why a form has none."""

from collections.abc import Mapping

from refmlc.lang.ops.ptx import floats, integers
from refmlc.lang.ops.ptx.approximations import APPROXIMATIONS
from refmlc.lang.ops.ptx.comparisons import COMPARISONS
from refmlc.lang.ops.ptx.conversions import CONVERSIONS
from refmlc.lang.ops.ptx.floats import FLOATS
from refmlc.lang.ops.ptx.integers import INTEGERS
from refmlc.lang.ops.ptx.logic import LOGIC
from refmlc.lang.ops.ptx.mixed import MIXED
from refmlc.lang.ops.ptx.narrow import NARROW
from refmlc.lang.ops.ptx.registers import Family, Meaning


def _least_or_greatest(name: str) -> Family:
    """`min` and `max`, of integers or of floats."""

    def family(m: Mapping[str, str]) -> Meaning:
        table = integers.EXTREMES if m["type"][0] in "us" else floats.EXTREMES
        return table[name](m)

    return family


MEANINGS: Mapping[str, Family] = {
    **INTEGERS,
    **LOGIC,
    **FLOATS,
    **APPROXIMATIONS,
    **COMPARISONS,
    **CONVERSIONS,
    **NARROW,
    **MIXED,
    "min": _least_or_greatest("min"),
    "max": _least_or_greatest("max"),
}
"""The forms that take and give registers only."""

LOADS = ("ld", "ld_vec", "ld_vec256", "ld_proxy_readonly", "ldu", "ldu_vec")
STORES = ("st", "st_vec", "st_vec256")
HINTS = ("prefetch", "prefetch_valid_addr", "prefetchu", "setmaxnreg", "griddepcontrol")
DISCARD, ZEROS, SPACE = "discard", "st_bulk", "isspacep"
CONVERTED = ("cvta", "cvta_generic")
POLICIES = ("createpolicy_cvt", "createpolicy_fraction", "createpolicy_fractional", "createpolicy_range")
MEMORY = (*LOADS, *STORES, *HINTS, *POLICIES, *CONVERTED, DISCARD, ZEROS, SPACE)
"""The forms on memory: the interpreter accesses it."""

WIDE = "there are no registers of 128 bits here"
RANDOM = "which random bits belong to which of four numbers is not said"
LATER = "refmlc does not define it yet"

MISSING: Mapping[str, str] = {
    **{f"cvt_rs_f{bits}x4_f32": RANDOM for bits in (8, 6, 4)},
    **{f"mov_{way}_b{lanes}": WIDE for way in ("pack", "unpack") for lanes in ("64x2", "32x4")},
}


_BY_CLAUSE = {
    "PTX-003": "add_int sub_int mul_int mul_wide mad_int mad_wide mul24 mad24 sad abs neg_int",
    "PTX-004": "div rem",
    "PTX-005": "popc clz bfind brev bfe bfi szext bmsk fns",
    "PTX-006": "and or xor not cnot lop3 lop3_bool lop3_bool_sink",
    "PTX-007": "shl shr shf",
    "PTX-008": """
    mov mov_pack_b16x2 mov_pack_b32x2 mov_pack_b16x4 mov_unpack_b16x2 mov_unpack_b32x2 mov_unpack_b16x4 prmt cvt_pack
    cvt_pack_c
    """,
    "PTX-009": "dp4a dp2a",
    "PTX-010": """
    add add_half sub sub_half mul mul_half fma fma_half mad_f div_f rcp sqrt add_mixed_vec_up sub_mixed_vec_up
    fma_mixed_vec
    """,
    "PTX-011": "abs_f abs_half neg neg_half copysign testp",
    "PTX-012": "min max min3 max3",
    "PTX-013": """
    set set_bool set_half set_half_bool setp setp_pq setp_bool setp_bool_pq setp_half setp_half_pq setp_half_bool
    setp_half_bool_pq selp slct
    """,
    "PTX-014": """
    cvt_f16x2_f32 cvt_bf16x2_f32 cvt_tf32_f32 cvt_ue8m0x2_f32 cvt_ue8m0x2_bf16x2 cvt_bf16x2_ue8m0x2 cvt_f8x2_f32
    cvt_f8x2_fp16x2 cvt_f16x2_f8x2 cvt_bf16x2_f8x2 cvt_f4x2_f32 cvt_f4x2_fp16x2 cvt_f16x2_f4x2 cvt_bf16x2_f4x2
    cvt_f6x2_f32 cvt_f6x2_fp16x2 cvt_f16x2_f6x2 cvt_bf16x2_f6x2 cvt_94_narrow_f32 cvt_94_narrow_fp16x2
    """,
    "PTX-015": "cvt",
    "PTX-018": " ".join(NARROW),
    "PTX-019": "ex2 ex2_half lg2 sin cos tanh tanh_half rsqrt",
    "PTX-020": " ".join(("set_packed", "clmad", *MIXED)),
    "PTX-016": " ".join((*LOADS, *STORES, DISCARD, ZEROS)),
    "PTX-017": " ".join(HINTS),
    "PTX-022": " ".join((*POLICIES, SPACE)),
    "PTX-024": " ".join(CONVERTED),
}
CLAUSES: Mapping[str, str] = {form: clause for clause, names in _BY_CLAUSE.items() for form in names.split()}
"""The clause of each form that is executed."""


def is_executed(form: str) -> bool:
    """Whether a form has a meaning."""
    return form in MEANINGS or form in MEMORY


def missing(form: str) -> str:
    """Why a form is not executed."""
    return MISSING.get(form, LATER)
