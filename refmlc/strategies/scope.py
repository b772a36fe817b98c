"""The scope of a graph under construction: values with types, and the symbols of dimensions.

| kind      | of a value                                          |
|-----------|-----------------------------------------------------|
| `Tensors` | a tensor: its dtype and dimensions (`kernels`)      |
| `Shapes`  | a shape: its dimensions                             |
| `Ints`    | a primitive value of int64                          |
| `Tuples`  | a tuple: the kinds of its fields                    |
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

from refmlc.lang.dtypes import INT64, DType
from refmlc.lang.ir import relax, tir
from refmlc.lang.ir.types import PrimType, ShapeType, TensorType, TupleType, Type
from refmlc.strategies.choices import Choices
from refmlc.strategies.kernels import Dim, Tensors, constant_dim


@dataclass(frozen=True)
class Shapes:
    """The kind of shapes."""

    dims: tuple[Dim, ...]


@dataclass(frozen=True)
class Ints:
    """The kind of primitive values."""


@dataclass(frozen=True)
class Tuples:
    """The kind of tuples."""

    fields: tuple["Kind", ...]


Kind: TypeAlias = Tensors | Shapes | Ints | Tuples


@dataclass(eq=False)
class ScopeValue:
    """A value in scope. `fresh`: a tensor that no other value shares, so that it may be written in place."""

    expr: relax.Var
    kind: Kind
    fresh: bool = False


def type_of(kind: Kind) -> Type:
    """The type of a kind."""
    match kind:
        case Tensors(dtype, dims):
            return TensorType(tuple(dim.expr for dim in dims), dtype)
        case Shapes(dims):
            return ShapeType(tuple(dim.expr for dim in dims))
        case Ints():
            return PrimType(INT64)
        case Tuples(fields):
            return TupleType(tuple(type_of(field) for field in fields))


def dims_of(kind: Kind) -> tuple[Dim, ...]:
    """All dimensions in a kind."""
    match kind:
        case Tensors(_, dims) | Shapes(dims):
            return dims
        case Ints():
            return ()
        case Tuples(fields):
            return tuple(dim for field in fields for dim in dims_of(field))


def rename_dims(kind: Kind, table: dict[str, Dim]) -> Kind:
    """The kind with other dimensions by name; constants stay. Fails: KeyError for a name not in the table."""

    def rename(dim: Dim) -> Dim:
        return dim if dim.is_constant else table[dim.name]

    match kind:
        case Tensors(dtype, dims):
            return Tensors(dtype, tuple(map(rename, dims)))
        case Shapes(dims):
            return Shapes(tuple(map(rename, dims)))
        case Ints():
            return kind
        case Tuples(fields):
            return Tuples(tuple(rename_dims(field, table) for field in fields))


class Scope:
    """The values, symbols and names of one function under construction."""

    def __init__(self, choices: Choices, counter: list[int]) -> None:
        """An empty scope; `counter` numbers the variables of the module."""
        self.choices = choices
        self.counter = counter
        self.values: list[ScopeValue] = []
        self.symbols: list[Dim] = []

    def name(self, stem: str) -> str:
        """A fresh name that begins with `stem`."""
        self.counter[0] += 1
        return f"{stem}{self.counter[0]}"

    def symbol(self, stem: str, value: int) -> Dim:
        name = self.name(stem)
        return Dim(name, tir.Var(name, INT64), value)

    def tensors(self, *, fresh: bool = False) -> list[ScopeValue]:
        return [value for value in self.values if isinstance(value.kind, Tensors) and (value.fresh or not fresh)]

    def dim(self) -> Dim:
        """A dimension: a symbol of the scope, a number, or the sum of both."""
        if self.symbols and self.choices.chance(60):
            dim = self.choices.pick(self.symbols)
            if not self.choices.chance(15):
                return dim
            more = 1 + self.choices.below(2)
            expr = tir.Apply("add", (dim.expr, tir.IntImm(INT64, more)), INT64)
            return Dim(f"{dim.name} + {more}", expr, dim.value + more)
        return constant_dim(self.choices.pick((2, 1, 3, 4)))

    def dims(self) -> tuple[Dim, ...]:
        return tuple(self.dim() for _ in range(self.choices.pick((1, 2, 0, 2, 3))))

    def pick_values(self, candidates: Sequence[ScopeValue], most: int) -> list[ScopeValue]:
        """One to `most` different candidates, or all of fewer."""
        remaining = list(candidates)
        count = min(1 + self.choices.below(most), len(remaining))
        return [remaining.pop(self.choices.below(len(remaining))) for _ in range(count)]


def scalar(dtype: DType) -> Tensors:
    """A tensor without dimensions."""
    return Tensors(dtype, ())
