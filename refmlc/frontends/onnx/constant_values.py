"""Numbers that are known while a graph is imported: they say shapes, axes, counts, limits.

| value            | is                                                                                            |
|------------------|-----------------------------------------------------------------------------------------------|
| `relax.Constant` | a tensor of the model                                                                         |
| `SymbolicArray`  | integers of rank 0 or 1, numbers or symbolic extents: `Shape` gives one, `Gather` … one again |
| `Foreseen`       | a tensor that the module computes, whose elements are known now as well                       |

Everything else is computed when the module runs; `ComputedFromData` names the inputs that it is computed from.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from refmlc.diag import Diagnostic, Unsupported
from refmlc.diag.catalogue import UNSUPPORTED_OP
from refmlc.frontends.arrays import constant
from refmlc.frontends.emitter import Emitter, Operand, Size
from refmlc.lang.dtypes import INT64, DType
from refmlc.lang.ir import relax
from refmlc.lang.te import Value


class ComputedFromData(Unsupported):
    """A number is needed while the model is imported, and `value` is computed when it runs, from `inputs` of it."""

    def __init__(self, diagnostic: Diagnostic, value: Operand = None, inputs: frozenset[str] = frozenset()) -> None:
        super().__init__(diagnostic)
        self.value = value
        self.inputs = inputs


def late(value: Operand, message: str) -> ComputedFromData:
    """The refusal of a value whose elements are known only when the module runs."""
    return ComputedFromData(Diagnostic(UNSUPPORTED_OP, message), value)


@dataclass(frozen=True)
class SymbolicArray:
    """An array of objects: `int`, or `Value` for a symbolic extent."""

    items: np.ndarray
    dtype: DType = INT64


@dataclass(frozen=True)
class Foreseen:
    """The elements, and how the module computes the tensor: `write` is called where it needs that."""

    array: np.ndarray
    write: Callable[[], relax.Expr]
    depth: int = 1


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


def elements(value: Operand) -> np.ndarray | None:
    """The elements of a value; None where they are symbolic, or computed from data."""
    match value:
        case relax.Constant(data=data):
            return data
        case Foreseen(array=array):
            return array
        case SymbolicArray() if not is_symbolic(value):
            return value.items.astype(np.int64)
        case _:
            return None


def known(value: Operand) -> np.ndarray | None:
    """The array of objects that a value holds; None where it is computed from data, or holds no integers."""
    if isinstance(value, SymbolicArray):
        return value.items
    array = elements(value)
    return None if array is None or array.dtype.kind not in "iu" else array.astype(object)


def numbers_of(value: Operand) -> tuple[Size, ...]:
    """The integers that a value holds. Fails: RM501 where they are known only when the graph runs."""
    items = known(value)
    if items is None:
        raise late(value, "a shape or an axis that is computed from data is not supported")
    return tuple(items.ravel().tolist())


def as_tensor(e: Emitter, value: Operand) -> relax.Expr:
    """A value as a tensor."""
    if isinstance(value, relax.Expr):
        return value
    if isinstance(value, Foreseen):
        return value.write()
    if not isinstance(value, SymbolicArray):
        return e.expr(value)
    if all(isinstance(item, int) for item in value.items.ravel()):
        return constant(value.items.astype(np.int64), value.dtype)
    parts = [e.scalar(item, str(value.dtype)) for item in value.items.ravel()]
    if value.items.ndim == 0:
        return parts[0]
    return e.call("stack", relax.Tuple(tuple(parts)), axis=0)


def is_symbolic(value: Operand) -> bool:
    """Whether a value holds a symbolic extent."""
    return isinstance(value, SymbolicArray) and any(isinstance(item, Value) for item in value.items.ravel())
