"""The element offset that a buffer has where the text gives none, as TVM 0.27 makes it."""

from refmlc.lang.dtypes import INT32, INT64, DType
from refmlc.lang.ir import tir


def default_offset(shape: tuple[tir.Expr, ...]) -> tir.IntImm:
    """The offset that a buffer of this shape has where none is given: zero, of the dtype of its indices."""
    return tir.IntImm(shape[0].dtype if shape else INT64, 0)


def own_index(shape: tuple[tir.Expr, ...]) -> DType:
    """The dtype of a variable offset for a buffer of this shape; TVM has int32 for rank 0."""
    return shape[0].dtype if shape else INT32


def is_default_offset(offset: tir.Expr, shape: tuple[tir.Expr, ...]) -> bool:
    """Whether `offset` is the one that a buffer of this shape has where none is given."""
    return isinstance(offset, tir.IntImm) and offset.value == 0 and offset.dtype == default_offset(shape).dtype
