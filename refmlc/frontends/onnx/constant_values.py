"""Integers that are known while a graph is imported: they say shapes and axes.

`SymbolicArray` is an integer tensor of rank 0 or 1 whose elements are numbers or symbolic extents; `Shape` gives one,
and what computes with such (`Gather`, `Concat`, `Add`, …) gives one again. A constant of integers is known as well.
"""

from dataclasses import dataclass

import numpy as np

from refmlc.diag import fail
from refmlc.diag.catalogue import UNSUPPORTED_OP
from refmlc.frontends.arrays import constant
from refmlc.frontends.emitter import Emitter, Operand, Size
from refmlc.lang.dtypes import INT64, DType
from refmlc.lang.ir import relax
from refmlc.lang.te import Value


@dataclass(frozen=True)
class SymbolicArray:
    """An array of objects: `int`, or `Value` for a symbolic extent."""

    items: np.ndarray
    dtype: DType = INT64


def of_sizes(sizes: tuple[Size, ...] | list[Size]) -> SymbolicArray:
    """A vector of sizes."""
    items = np.empty(len(sizes), object)
    items[:] = list(sizes)
    return SymbolicArray(items)


def scalar(size: Size) -> SymbolicArray:
    """One size, without a dimension."""
    items = np.empty((), object)
    items[()] = size
    return SymbolicArray(items)


def known(value: Operand) -> np.ndarray | None:
    """The array of objects that a value holds; None where it is computed from data, or holds no integers."""
    if isinstance(value, SymbolicArray):
        return value.items
    if isinstance(value, relax.Constant) and value.data.dtype.kind in "iu":
        return value.data.astype(object)
    return None


def numbers_of(value: Operand) -> tuple[Size, ...]:
    """The integers that a value holds. Fails: RM501 where they are known only when the graph runs."""
    items = known(value)
    if items is None:
        raise fail(UNSUPPORTED_OP, "a shape or an axis that is computed from data is not supported")
    return tuple(items.ravel().tolist())


def as_tensor(e: Emitter, value: Operand) -> relax.Expr:
    """A value as a tensor."""
    if isinstance(value, relax.Expr):
        return value
    if not isinstance(value, SymbolicArray):
        return e.expr(value)
    if all(isinstance(one, int) for one in value.items.ravel()):
        return constant(value.items.astype(np.int64), value.dtype)
    parts = [e.scalar(one, str(value.dtype)) for one in value.items.ravel()]
    if value.items.ndim == 0:
        return parts[0]
    return e.call("stack", relax.Tuple(tuple(parts)), axis=0)


def is_symbolic(value: Operand) -> bool:
    """Whether a value holds a symbolic extent."""
    return isinstance(value, SymbolicArray) and any(isinstance(one, Value) for one in value.items.ravel())
