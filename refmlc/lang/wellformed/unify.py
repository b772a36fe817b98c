"""Whether a value of one type can stand where another is declared; shape variables of the declaration take values.

Only what is certain counts. A declaration `(n, n + 1)` given `(4, 6)` is certainly wrong: `n` is 4, and 5 is not 6.
Given `(k, m)` it may be right. An unknown type, shape, rank or dtype fits everything.

Decision: a constant fits every integer dtype, because TVM prints an int32 `1` and an int64 `1` alike.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TypeAlias

from refmlc.diag.catalogue import SHAPE_MISMATCH, TYPE_MISMATCH, Code
from refmlc.lang.arith.extents import certainly_different, polynomial
from refmlc.lang.arith.polynomial import Poly
from refmlc.lang.ir import tir
from refmlc.lang.ir.node import Node
from refmlc.lang.ir.types import AnyType, DTensorType, FuncType, PrimType, ShapeType, TensorType, TupleType, Type
from refmlc.lang.ir.visit import substitute, walk
from refmlc.lang.wellformed.type_text import shape_text, type_text

Conflict: TypeAlias = tuple[Code, str]
Shape: TypeAlias = tuple[tir.Expr, ...]


@dataclass(slots=True)
class Unifier:
    """The values of a declaration's shape variables so far. Empty and `closed`: each stands for itself."""

    closed: bool = False
    known: dict[tir.Var, Poly] = field(default_factory=dict)
    values: dict[Node, Node] = field(default_factory=dict)

    def bind(self, declared: Shape, actual: Shape) -> None:
        """Take the values of the variables that are whole dimensions of `declared`."""
        if not self.closed and len(declared) == len(actual):
            for dim, value in zip(declared, actual, strict=True):
                if isinstance(dim, tir.Var) and dim not in self.known:
                    self.known[dim] = polynomial(value, {})
                    self.values[dim] = value

    def bind_type(self, declared: Type | None, actual: Type | None) -> None:
        """`bind` for the shapes in types."""
        match declared, actual:
            case TensorType(shape=mine), TensorType(shape=other) if mine is not None and other is not None:
                self.bind(mine, other)
            case ShapeType(values=mine), ShapeType(values=other) if mine is not None and other is not None:
                self.bind(mine, other)
            case PrimType(_, mine), PrimType(_, other) if mine is not None and other is not None:
                self.bind((mine,), (other,))
            case TupleType(mine), TupleType(other) if len(mine) == len(other):
                for left, right in zip(mine, other, strict=True):
                    self.bind_type(left, right)
            case _:
                pass

    def decided(self, expr: tir.Expr) -> bool:
        """Whether all variables of `expr` have values."""
        return self.closed or all(node in self.known for node in walk(expr) if isinstance(node, tir.Var))

    def shapes_differ(self, declared: Shape, actual: Shape) -> bool:
        """Whether the shapes are certainly different."""
        if len(declared) != len(actual):
            return True
        pairs = [(a, b) for a, b in zip(declared, actual, strict=True) if self.decided(a)]
        return any(certainly_different(polynomial(a, self.known), polynomial(b, {})) for a, b in pairs)

    def conflict(self, declared: Type | None, actual: Type | None) -> Conflict | None:
        """Why `given` certainly does not fit, as a code and `declared …, given …`."""
        match declared, actual:
            case (None | AnyType(), _) | (_, None | AnyType()):
                return None
            case TensorType(), TensorType():
                return self.tensor_conflict(declared, actual)
            case ShapeType(), ShapeType():
                return self._ranked(declared.values, declared.ndim, actual.values, actual.ndim)
            case PrimType(dtype), PrimType(other, value):
                fits = dtype == other or (dtype.is_integer and isinstance(value, tir.IntImm))
                return None if fits else (TYPE_MISMATCH, f"declared {dtype}, given {other}")
            case TupleType(mine), TupleType(other):
                if len(mine) != len(other):
                    return _kinds(declared, actual)
                return first(self.conflict(left, right) for left, right in zip(mine, other, strict=True))
            case DTensorType(tensor=mine), DTensorType(tensor=other):
                return self.tensor_conflict(mine, other)
            case (FuncType(), FuncType()) | (DTensorType(), TensorType()) | (TensorType(), DTensorType()):
                return None
            case _:
                return _kinds(declared, actual)

    def tensor_conflict(self, declared: TensorType, actual: TensorType) -> Conflict | None:
        """`conflict` of two tensor types: the shapes first."""
        shapes = self._ranked(declared.shape, declared.ndim, actual.shape, actual.ndim)
        if shapes is not None or declared.dtype is None or actual.dtype is None or declared.dtype == actual.dtype:
            return shapes
        return TYPE_MISMATCH, f"declared {declared.dtype}, given {actual.dtype}"

    def _ranked(self, mine: Shape | None, rank: int, other: Shape | None, other_rank: int) -> Conflict | None:
        """`conflict` of two shapes that may be known by their rank only."""
        if mine is not None and other is not None:
            if not self.shapes_differ(mine, other):
                return None
            return SHAPE_MISMATCH, f"declared {shape_text(mine)}, given {shape_text(other)}"
        rank = rank if mine is None else len(mine)
        other_rank = other_rank if other is None else len(other)
        if rank < 0 or other_rank < 0 or rank == other_rank:
            return None
        return SHAPE_MISMATCH, f"declared of rank {rank}, given of rank {other_rank}"


def replaced(ty: Type, unifier: Unifier) -> Type:
    """`ty` with the values that `unifier` found; a shape that is not decided is forgotten, its rank kept."""
    match ty:
        case TensorType(shape, dtype) if shape is not None:
            dims = _replaced_dims(shape, unifier)
            return TensorType(dims, dtype, len(shape))
        case ShapeType(values) if values is not None:
            return ShapeType(_replaced_dims(values, unifier), len(values))
        case PrimType(dtype):
            return PrimType(dtype)
        case TupleType(fields):
            return TupleType(tuple(replaced(field, unifier) for field in fields))
        case _:
            return ty


def _replaced_dims(dims: Shape, unifier: Unifier) -> Shape | None:
    """`dims` with values for variables, None unless all are decided."""
    if not all(unifier.decided(dim) for dim in dims):
        return None
    return tuple(substitute(dim, unifier.values) for dim in dims)


def first(conflicts: Iterable[Conflict | None]) -> Conflict | None:
    """The first conflict there is."""
    return next((conflict for conflict in conflicts if conflict is not None), None)


def _kinds(declared: Type, actual: Type) -> Conflict:
    """Types of different kinds."""
    return TYPE_MISMATCH, f"declared {type_text(declared)}, given {type_text(actual)}"
