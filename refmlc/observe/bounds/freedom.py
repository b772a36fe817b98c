"""Permitted deviations of an implementation from the written program.

| freedom   | permits                                                                      | clause           |
|-----------|------------------------------------------------------------------------------|------------------|
| always    | a product is not rounded before it is added (FMA)                            | NUM-101          |
| `reorder` | the terms of a reduction (a block with reduce axes) are combined in any tree | TIR-218          |
| `wide`    | intermediate results are kept in, or rounded to, the next wider format       | NUM-101          |
| `ulps`    | functions with an ULP contract are this much farther off than it says        | NUM-506          |
| `narrow`  | numbers of a wider dtype are rounded to this one besides, inputs too         | none             |
| `ties`    | of equal terms any one is taken for the extreme of a reduction (argmax)      | TIR-218          |

Decision: `narrow` is a pass that is documented to lower the precision (`ToMixedPrecision`); which numbers it rounds is
not documented, so that each may be.

A cast has none of them: `T.Cast` and `astype` round once, to their dtype (NUM-704).

Decision: `reorder` and `wide` are on, `ties` is off (only a schedule that reorders terms has it), `ulps` is 0. NumPy
and PyTorch sum float16 in float32, TVM keeps bfloat16 in float32 within an expression; a loop outside reduction
blocks keeps the written order.
"""

from dataclasses import dataclass

from refmlc.lang.dtypes import DType


@dataclass(frozen=True, slots=True)
class Freedom:
    """The freedoms that a certificate grants an implementation. Units: `ulps` of the dtype of the result."""

    reorder: bool = True
    wide: bool = True
    ulps: float = 0.0
    ties: bool = False
    narrow: DType | None = None
