"""Symbolic dimensions: values from types, and expressions over them."""

from dataclasses import dataclass, field

import numpy as np

from refmlc.lang.ir import tir
from refmlc.lang.ir.types import FuncType, PrimType, ShapeType, TensorType, TupleType, Type
from refmlc.lang.ir.visit import walk
from refmlc.oracle.implementations.loops.compiler import define
from refmlc.oracle.implementations.loops.expressions import source
from refmlc.oracle.implementations.loops.memory import Array, Meaningless
from refmlc.oracle.implementations.loops.operators import NotTaken
from refmlc.oracle.implementations.loops.writer import Names, Writer
from refmlc.run.memory.values import Shape

Dims = dict[tir.Var, object]


def dim(expr: tir.Expr, dims: Dims) -> object:
    """The value of an expression over dimensions: its source, compiled as that of a function is. Fails: `NotTaken`."""
    match expr:
        case tir.IntImm(value=value, dtype=kind):
            return bool(value) if kind.kind == "bool" else value
        case tir.Var() if expr in dims:
            return dims[expr]
        case _:
            pass
    variables = [node for node in walk(expr) if isinstance(node, tir.Var) and node in dims]
    writer = Writer(Names(), {})
    names = [writer.declare(var, "n") for var in variables]
    name = writer.names.fresh("dimension")
    define(f"{name} = lambda {', '.join(names)}: {source(writer, expr)}", writer.names.objects)
    compute = writer.names.objects[name]
    assert callable(compute)  # noqa: S101 - a lambda
    extent = compute(*(dims[var] for var in variables))
    return extent.item() if isinstance(extent, np.generic) else extent


def extents(values: tuple[tir.Expr, ...], dims: Dims) -> tuple[int, ...]:
    return tuple(int(dim(value, dims)) for value in values)  # type: ignore[call-overload]  # an integer


@dataclass
class Match:
    """Values matched against types: a variable that is a whole dimension takes what it meets, the rest is compared."""

    dims: Dims
    _later: list[tuple[tir.Expr, object]] = field(default_factory=list)

    def add(self, value: object, ty: Type | None) -> None:
        """Match `value`. Fails: `Meaningless`."""
        match ty, value:
            case TensorType(shape_var=str()), _:
                raise NotTaken("a tensor whose shape is a variable")
            case TensorType(), Array():
                if ty.dtype is not None and ty.dtype != value.dtype:
                    raise Meaningless(f"a tensor of {value.dtype} where {ty.dtype} is declared")
                self._shape(value.shape, ty.shape, ty.ndim)
            case ShapeType(), Shape():
                self._shape(tuple(value), ty.values, ty.ndim)
            case PrimType(value=expr), bool() | int() | float():
                if isinstance(value, float) != ty.dtype.is_float:
                    raise Meaningless(f"a {type(value).__name__} where {ty.dtype} is declared")
                if expr is not None:
                    self._part(expr, value)
            case TupleType(fields=fields), tuple() if not isinstance(value, Shape) and len(value) == len(fields):
                for item, inner in zip(value, fields, strict=True):
                    self.add(item, inner)
            case TupleType(fields=()), None:
                pass
            case FuncType(), Array() | tuple() | bool() | int() | float() | None:
                raise Meaningless(f"a value of type {type(value).__name__} where a function is declared")
            case TensorType() | ShapeType() | PrimType() | TupleType(), _:
                raise Meaningless(f"a value of type {type(value).__name__} where {type(ty).__name__} is declared")
            case _:
                pass

    def close(self) -> None:
        """Compare the deferred dimensions. Fails: `Meaningless`."""
        for expr, actual in self._later:
            if dim(expr, self.dims) != actual:
                raise Meaningless(f"a dimension is {actual}, declared is another")

    def _shape(self, actual: tuple[int, ...], declared: tuple[tir.Expr, ...] | None, rank: int) -> None:
        if declared is None:
            if rank not in (-1, len(actual)):
                raise Meaningless(f"a shape of {len(actual)} extents where {rank} are declared")
            return
        if len(declared) != len(actual):
            raise Meaningless(f"a shape of {len(actual)} extents where {len(declared)} are declared")
        for expr, extent in zip(declared, actual, strict=True):
            self._part(expr, extent)

    def _part(self, expr: tir.Expr, actual: object) -> None:
        if isinstance(expr, tir.Var) and expr not in self.dims:
            self.dims[expr] = actual
        else:
            self._later.append((expr, actual))


def bound(value: object, ty: Type | None, dims: Dims) -> None:
    """Match `value` where a type casts. Fails: `Meaningless`."""
    match = Match(dims)
    match.add(value, ty)
    match.close()
