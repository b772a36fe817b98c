"""One call in a run: what its callee declares against what the graph gives.

Every expression here is over the symbolic dimensions of the graph. What the interpreter would compare when it matches
arguments, and what is not a number yet, becomes a pair of `equal`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from refmlc.diag.source import Span
from refmlc.lang.dtypes import DType
from refmlc.lang.dtypes.rounding import rounder
from refmlc.lang.ir import relax, tir
from refmlc.lang.ir.node import Node
from refmlc.lang.ir.types import AnyType, TensorType, TupleType, Type
from refmlc.lang.ir.visit import substitute
from refmlc.native.fuse.sizes import folded, key_of
from refmlc.native.unit import BufferParam, ScalarParam, Unit

Pair: TypeAlias = tuple[tir.Expr, tir.Expr]


class Unfused(Exception):
    """A binding cannot be part of a run."""

    def __init__(self, reason: str, span: Span | None = None) -> None:
        """`reason` is a clause: it follows "because"."""
        super().__init__(reason)
        self.reason = reason
        self.span = span


@dataclass(frozen=True, slots=True, eq=False)
class Piece:
    """A compact tensor of the graph, an identity. `operand` is what it comes from where no call of the run makes it.

    `whole` is the tensor that it is another shape of.
    """

    name: str
    dtype: DType
    shape: tuple[tir.Expr, ...]
    operand: relax.Var | relax.Constant | None = None
    whole: "Piece | None" = None

    @property
    def memory(self) -> "Piece":
        """The tensor whose memory it has: itself, unless it is another shape of one."""
        return self if self.whole is None else self.whole.memory


Value: TypeAlias = Piece | tuple[Piece, ...]
Actual: TypeAlias = Piece | tir.Expr


@dataclass(frozen=True, slots=True, eq=False)
class Step:
    """One call: `actuals` for the parameters in order, `made` the fresh outputs among them, `dims` for the unit's."""

    unit: Unit
    actuals: tuple[Actual, ...]
    made: tuple[Piece, ...]
    dims: tuple[tir.Expr, ...]
    equal: tuple[Pair, ...]
    span: Span | None


def match_step(unit: Unit, actuals: Sequence[Actual], fresh: Sequence[Piece], span: Span | None) -> Step:
    """The call of `unit` with `actuals`, of which `fresh` are fresh. Raises `Unfused`."""
    if len(actuals) != len(unit.params):
        raise Unfused(f"`{unit.name}` takes {len(unit.params)} arguments, {len(actuals)} are given", span)
    table: dict[Node, Node] = {}
    parts: list[Pair] = []
    matched: list[Actual] = []
    for param, actual in zip(unit.params, actuals, strict=True):
        if isinstance(param, ScalarParam):
            number = _scalar(param, actual, span)
            matched.append(number)
            table[param.var] = _typed(number, param.var.dtype)
            continue
        _check_buffer(unit, param, actual, fresh, span)
        matched.append(actual)
        if isinstance(actual, Piece):
            parts.extend(zip(param.buffer.shape, actual.shape, strict=True))
    unbound = list(parts)
    for declared, extent in parts:  # as the interpreter: all variables first, then what is computed from them
        if isinstance(declared, tir.Var) and declared not in table:
            table[declared] = _typed(extent, declared.dtype)
            unbound.remove((declared, extent))
    if any(var not in table for var in unit.dims):
        raise Unfused(f"a dimension of `{unit.name}` is not one of an argument", span)
    equal = pairs([(substitute(declared, table), extent) for declared, extent in unbound])
    return Step(unit, tuple(matched), tuple(fresh), tuple(_dimension(table, var) for var in unit.dims), equal, span)


def _dimension(table: Mapping[Node, Node], var: tir.Var) -> tir.Expr:
    value = table[var]
    if not isinstance(value, tir.Expr):
        raise TypeError(f"`{var.name}` stands for a {type(value).__name__}")
    return folded(value)


def _check_buffer(unit: Unit, param: BufferParam, actual: Actual, fresh: Sequence[Piece], span: Span | None) -> None:
    """Whether a tensor can be handed over, and after the call counts as initialised. Raises `Unfused`."""
    buffer = param.buffer
    name = f"`{buffer.name}` of `{unit.name}`"
    if not isinstance(actual, Piece):
        raise Unfused(f"{name} is a tensor, a number is given", span)
    if buffer.dtype != actual.dtype or len(buffer.shape) != len(actual.shape):
        raise Unfused(f"{name} has another dtype or number of axes than the argument", span)
    if buffer.strides or (buffer.elem_offset is not None and not _is_zero(buffer.elem_offset)):
        raise Unfused(f"{name} has strides or an offset", span)
    if actual in fresh and not (param.stored and (param.covered or param.tracked)):
        raise Unfused(f"{name} is not certainly written", span)
    if actual.memory.operand is not None and param.stored:
        raise Unfused(f"{name} is written, and is no output", span)


def _is_zero(expr: tir.Expr) -> bool:
    return isinstance(expr, tir.IntImm) and expr.value == 0


def _scalar(param: ScalarParam, actual: Actual, span: Span | None) -> tir.Expr:
    """A number as the parameter takes it. Raises `Unfused`."""
    dtype = param.var.dtype
    match dtype.kind, actual:
        case "int" | "uint", tir.IntImm(value=value) if dtype.minimum <= value <= dtype.maximum:
            return tir.IntImm(dtype, value)
        case "int" | "uint", _ if not isinstance(actual, Piece | tir.IntImm) and actual.dtype.is_integer:
            return folded(actual)
        case "bool", tir.IntImm(value=0 | 1):
            return actual
        case "float", tir.IntImm(value=value) | tir.FloatImm(value=value):
            return tir.FloatImm(dtype, rounder(dtype)(float(value)))
        case _:
            raise Unfused(f"`{param.var.name}` is {dtype}, another kind of argument is given", span)


def _typed(expr: tir.Expr, dtype: DType) -> tir.Expr:
    """`expr` as a value of `dtype`; C checks whether it is one."""
    if isinstance(expr, tir.IntImm) and dtype.is_integer and dtype.minimum <= expr.value <= dtype.maximum:
        return tir.IntImm(dtype, expr.value)
    return expr if expr.dtype == dtype else tir.Cast(dtype, expr)


def pairs(candidates: Sequence[Pair]) -> tuple[Pair, ...]:
    """Those that are not equal in any case. Raises `Unfused` where two numbers differ."""
    open_pairs: dict[object, Pair] = {}
    for left, right in ((folded(left), folded(right)) for left, right in candidates):
        if key_of(left) == key_of(right):
            continue
        if isinstance(left, tir.IntImm) and isinstance(right, tir.IntImm):
            raise Unfused(f"a dimension is {left.value} and {right.value}")
        open_pairs[key_of(left), key_of(right)] = (left, right)
    return tuple(open_pairs.values())


def declared_pairs(ty: Type | None, value: Value, span: Span | None) -> tuple[Pair, ...]:
    """What must be equal for `value` to be of type `ty`. Raises `Unfused`."""
    match ty, value:
        case (None | AnyType(), _):
            return ()
        case TupleType(fields), tuple() if len(fields) == len(value):
            return tuple(
                pair for field, part in zip(fields, value, strict=True) for pair in declared_pairs(field, part, span)
            )
        case TensorType(), Piece() if ty.dtype in (None, value.dtype) and ty.shape_var is None:
            if ty.shape is None and ty.ndim in (-1, len(value.shape)):
                return ()
            if ty.shape is not None and len(ty.shape) == len(value.shape):
                return pairs(list(zip(ty.shape, value.shape, strict=True)))
        case _:
            pass
    raise Unfused("the variable is declared to be of another type", span)
