"""Operators of two tensors, element by element, the shapes being broadcast to each other.

Dtypes: both tensors have one dtype, but that a tensor without dimensions counts as a number and takes the dtype of the
other. Shapes are aligned at the end; an extent of 1 stands for any. Fails: RM202 shapes that do not fit, RM201 dtypes.
"""

from collections.abc import Callable

from refmlc.diag import fail
from refmlc.diag.catalogue import TYPE_MISMATCH
from refmlc.library.definition import Operator, computed
from refmlc.library.shapes import broadcast_indices, broadcast_shape
from refmlc.te import Tensor, Value

Function = Callable[[Value, Value], Value]


def combined(a: Tensor, b: Tensor, function: Function, name: str) -> Tensor:
    """The tensor whose elements are `function` of those of `a` and `b`."""
    if a.dtype != b.dtype:
        raise fail(TYPE_MISMATCH, f"`{name}` takes tensors of one dtype; these are {a.dtype} and {b.dtype}")
    shape = broadcast_shape(a.shape, b.shape)
    return computed(shape, lambda *i: function(a(*broadcast_indices(a, i)), b(*broadcast_indices(b, i))), name)


def add(a: Tensor, b: Tensor) -> Tensor:
    """The sums."""
    return combined(a, b, lambda x, y: x + y, "T_add")


def subtract(a: Tensor, b: Tensor) -> Tensor:
    """The differences."""
    return combined(a, b, lambda x, y: x - y, "T_subtract")


def multiply(a: Tensor, b: Tensor) -> Tensor:
    """The products."""
    return combined(a, b, lambda x, y: x * y, "T_multiply")


BINARY = (
    Operator("add", add, "LIB-201", ("add",)),
    Operator("subtract", subtract, "LIB-201", ("subtract",)),
    Operator("multiply", multiply, "LIB-201", ("multiply",)),
)
