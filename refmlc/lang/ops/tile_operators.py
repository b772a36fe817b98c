"""The tile primitives of TIRx, `tirx.tile.*`: their operands in order, each with its kind and its default.

| kind       | is                                                                  |
|------------|---------------------------------------------------------------------|
| `region`   | a region of a buffer; `=dst`: the destination where it is left out  |
| `value`    | a region, or an expression                                          |
| `number`   | an expression                                                       |
| `flag`     | `True` or `False`                                                   |
| `axes`     | axes; one alone is a list of one                                    |
| `operator` | the name of another tile primitive                                  |
| `lambda`   | an expression over the indices of the destination                   |

Source: the operators that TVM 0.27 registers, and the signatures of `tvm.script.tirx.tile`.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias

Default: TypeAlias = "bool | float | tuple[int, ...] | _Demanded | None"


class _Demanded:
    """Marks an operand without default."""


DEMANDED = _Demanded()


@dataclass(frozen=True, slots=True)
class TileOperand:
    """An operand of a tile primitive: its name, its kind, and what it is where a text leaves it out."""

    name: str
    kind: str
    default: Default = DEMANDED


_DST = TileOperand("dst", "region")
_BINARY = (_DST, TileOperand("src1", "value"), TileOperand("src2", "value"))
_COPY = (_DST, TileOperand("src", "region"))
_IN_PLACE = (_DST, TileOperand("src", "region", None))
_SCALED = (*_IN_PLACE, TileOperand("bias", "value", None), TileOperand("scale", "number", None))
_FILL = (_DST, TileOperand("value", "number"))
_AXES = TileOperand("axes", "axes", (-1,))
_REDUCE_AXES = TileOperand("reduce_axes", "axes", (-1,))
_ACCUM = TileOperand("accum", "flag", default=False)
_REDUCE = (*_COPY, _AXES, _ACCUM)
_FACTORS = (TileOperand("C", "region"), TileOperand("A", "region"), TileOperand("B", "region"))
_REDUCED = (TileOperand("reduce_output", "region"),)

TILE_OPERATORS: Mapping[str, tuple[TileOperand, ...]] = {
    **dict.fromkeys(("add", "sub", "mul", "fdiv", "maximum", "minimum"), _BINARY),
    **dict.fromkeys(("cast", "copy", "copy_async", "permute_layout", "silu"), _COPY),
    **dict.fromkeys(("zero", "reciprocal"), _IN_PLACE),
    **dict.fromkeys(("sqrt", "exp", "exp2", "log2"), _SCALED),
    **dict.fromkeys(("fill", "memset"), _FILL),
    **dict.fromkeys(("sum", "max", "min"), _REDUCE),
    "fma": (*_COPY, TileOperand("scale", "value"), TileOperand("bias", "value")),
    "gemm": (
        TileOperand("D", "region"),
        TileOperand("A", "region"),
        TileOperand("B", "region"),
        TileOperand("C", "region"),
        TileOperand("transpose_A", "flag", default=False),
        TileOperand("transpose_B", "flag", default=False),
        TileOperand("alpha", "number", 1.0),
        TileOperand("beta", "number", 0.0),
    ),
    "gemm_async": (
        *_FACTORS,
        TileOperand("transA", "flag", default=False),
        TileOperand("transB", "flag", default=False),
        TileOperand("accum", "flag", default=False),
    ),
    "binary_reduce": (
        TileOperand("binary_output", "region"),
        *_REDUCED,
        TileOperand("binary_input1", "value"),
        TileOperand("binary_input2", "value"),
        TileOperand("binary_op", "operator"),
        TileOperand("reduce_op", "operator"),
        _REDUCE_AXES,
    ),
    "unary_reduce": (
        TileOperand("unary_output", "region"),
        *_REDUCED,
        TileOperand("unary_input", "region"),
        TileOperand("unary_op", "operator"),
        TileOperand("reduce_op", "operator"),
        TileOperand("bias", "value", None),
        TileOperand("scale", "number", None),
        _REDUCE_AXES,
    ),
    "binary_chain": (
        TileOperand("output", "region"),
        TileOperand("data", "region"),
        TileOperand("operand0", "value"),
        TileOperand("operand1", "value"),
        TileOperand("op0", "operator"),
        TileOperand("op1", "operator"),
        TileOperand("reverse1", "flag", default=False),
    ),
    "reduce_negate": (
        TileOperand("output", "region"),
        TileOperand("input", "region"),
        TileOperand("reduce_op", "operator"),
        _REDUCE_AXES,
        _ACCUM,
    ),
    "select": (
        _DST,
        TileOperand("true_value", "value"),
        TileOperand("false_value", "value"),
        TileOperand("pred", "lambda"),
    ),
}
"""The operands of each tile primitive."""

SCALED_GEMM_ASYNC: tuple[TileOperand, ...] = (
    *_FACTORS,
    TileOperand("SFA", "region"),
    TileOperand("SFB", "region"),
    *TILE_OPERATORS["gemm_async"][3:],
)
"""The operands of `gemm_async` where it gets regions of scales."""


@dataclass(frozen=True, slots=True)
class TileMeaning:
    """What a tile primitive computes, in one line, and the clause that says it whole."""

    clause: str
    text: str


_ROWS: tuple[tuple[str, str, str], ...] = (
    ("copy", "TIP-011", "dst = src, of one dtype and the same extents other than 1"),
    ("permute_layout", "TIP-012", "dst = src; both may share memory in any way"),
    ("fill", "TIP-013", "dst = value"),
    ("memset", "TIP-013", "dst = value"),
    ("zero", "TIP-013", "dst = 0"),
    ("cast", "TIP-014", "dst = src, converted"),
    ("copy_async", "TIP-015", "dst = src from its completion on"),
    ("add", "TIP-021", "dst = src1 + src2"),
    ("sub", "TIP-021", "dst = src1 - src2"),
    ("mul", "TIP-021", "dst = src1 * src2"),
    ("fdiv", "TIP-021", "dst = src1 / src2, of floats"),
    ("maximum", "TIP-021", "dst = max(src1, src2)"),
    ("minimum", "TIP-021", "dst = min(src1, src2)"),
    ("fma", "TIP-022", "dst = src * scale + bias, rounded once"),
    ("sqrt", "TIP-023", "dst = sqrt(src * scale + bias)"),
    ("exp", "TIP-023", "dst = exp(src * scale + bias)"),
    ("exp2", "TIP-023", "dst = exp2(src * scale + bias)"),
    ("log2", "TIP-023", "dst = log2(src * scale + bias)"),
    ("reciprocal", "TIP-024", "dst = 1 / src"),
    ("silu", "TIP-025", "dst = src * sigmoid(src)"),
    ("select", "TIP-026", "dst = true_value where pred of the indices holds, else false_value"),
    ("sum", "TIP-031", "dst = the sum of src over axes, from 0; with accum from dst"),
    ("max", "TIP-031", "dst = the greatest of src over axes, from -inf; with accum from dst"),
    ("min", "TIP-031", "dst = the least of src over axes, from inf; with accum from dst"),
    ("binary_chain", "TIP-041", "output = (operand0 op0 data) op1 operand1; with reverse1 operand1 is on the left"),
    ("binary_reduce", "TIP-042", "binary_output = input1 op input2; reduce_output = its reduction over reduce_axes"),
    ("unary_reduce", "TIP-042", "unary_output = f(input * scale + bias); reduce_output = its reduction"),
    ("reduce_negate", "TIP-043", "output = the reduction of input, times -1"),
    ("gemm", "TIP-051", "D = alpha * A B + beta * C; narrow floats are summed in float32"),
    ("gemm_async", "TIP-052", "C = A B into tensor memory, from its completion on"),
)
TILE_MEANINGS: Mapping[str, TileMeaning] = {op: TileMeaning(clause, text) for op, clause, text in _ROWS}
"""What each tile primitive computes. Order: of the clauses."""
