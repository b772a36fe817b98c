"""Tensors of tensor expressions: a name, a shape, a dtype, and the operation that makes them.

A tensor owns the buffer that stands for it in the expressions of others; `create_prim_func` puts buffers of the
function in their place. `A[i, j]`, `A(i, j)` and `A[i][j]` are the same element.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

from refmlc.diag import fail
from refmlc.diag.catalogue import BAD_ARGUMENTS, RANK_MISMATCH
from refmlc.lang.ir import tir
from refmlc.lang.ir.node import node
from refmlc.lang.te.value import Value, expr_of

if TYPE_CHECKING:
    from refmlc.lang.te.operation import Operation

Index: TypeAlias = Value | int


class Axis(Value):
    """An axis of a computation: its variable, the first value and how many. `reduce`: its terms are combined."""

    __slots__ = ("extent", "min", "reduce")

    def __init__(self, var: tir.Var, first: Value, extent: Value, *, reduce: bool) -> None:
        """The axis of `var` from `first` on."""
        super().__init__(var)
        self.min = first
        self.extent = extent
        self.reduce = reduce

    @property
    def var(self) -> tir.Var:
        """The variable."""
        if not isinstance(self.expr, tir.Var):
            raise TypeError(self.expr)
        return self.expr

    @property
    def dom(self) -> tuple[Value, Value]:
        """The first value, and how many."""
        return self.min, self.extent


@node
class Load(tir.BufferLoad):
    """An element of a tensor, by the buffer that stands for it."""

    tensor: "Tensor | None" = None


@dataclass(frozen=True, eq=False)
class Slice:
    """A tensor with some of its indices."""

    tensor: "Tensor"
    indices: tuple[tir.Expr, ...]

    def __getitem__(self, index: "Index | tuple[Index, ...]") -> "Value | Slice":
        return self.tensor.at(self.indices, index if isinstance(index, tuple) else (index,))


@dataclass(frozen=True, eq=False)
class Tensor:
    """Output `value_index` of the operation `op`."""

    buffer: tir.Buffer
    op: "Operation" = field(repr=False)
    value_index: int = 0

    @property
    def name(self) -> str:
        """Its name."""
        return self.buffer.name

    @property
    def shape(self) -> tuple[Value, ...]:
        """The extents."""
        return tuple(Value(extent) for extent in self.buffer.shape)

    @property
    def dtype(self) -> str:
        """The name of the dtype."""
        return str(self.buffer.dtype)

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return len(self.buffer.shape)

    def __len__(self) -> int:
        return self.ndim

    def at(self, before: tuple[tir.Expr, ...], indices: Sequence[Index]) -> "Value | Slice":
        """The element if all indices are present. Fails: RM208 too many, RM105 for an invalid index."""
        place = (*before, *(_index(index) for index in indices))
        if len(place) > self.ndim:
            raise fail(RANK_MISMATCH, f"`{self.name}` has {self.ndim} dimensions, {len(place)} indices are given")
        return Value(Load(self.buffer, place, None, self)) if len(place) == self.ndim else Slice(self, place)

    def __getitem__(self, index: "Index | tuple[Index, ...]") -> "Value | Slice":
        """An element, or a slice that waits for more indices."""
        return self.at((), index if isinstance(index, tuple) else (index,))

    def __call__(self, *indices: Index) -> Value:
        """An element. Fails: RM208 where the indices are not as many as the dimensions."""
        element = self.at((), indices)
        if isinstance(element, Slice):
            raise fail(RANK_MISMATCH, f"`{self.name}` has {self.ndim} dimensions, {len(indices)} indices are given")
        return element

    def __repr__(self) -> str:
        shape = ", ".join(repr(extent) for extent in self.shape)
        return f"Tensor(shape=[{shape}], op.name={self.op.name}, dtype={self.dtype})"


def _index(index: object) -> tir.Expr:
    number = expr_of(index)
    if not number.dtype.is_integer and number.dtype.kind != "bool":
        raise fail(BAD_ARGUMENTS, f"an index is an integer; this is {number.dtype}")
    return number


def shape_of(shape: "Sequence[Value | int] | Value | int | Tensor") -> tuple[tir.Expr, ...]:
    """A shape as expressions; one extent alone is a shape of one dimension."""
    if isinstance(shape, Value | int):
        shape = (shape,)
    if isinstance(shape, Tensor):
        shape = shape.shape
    return tuple(_index(extent) for extent in shape)
