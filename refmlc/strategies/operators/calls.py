"""A program of operator calls under construction, and the draws of a plan: tensors, axes, numbers.

A `Plan` is the arguments and the attributes of one call.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from refmlc.lang.dtypes import INT64, SCALARS, DType
from refmlc.lang.dtypes.storage import storage_dtype
from refmlc.lang.ir import relax, tir
from refmlc.lang.ir.types import PrimType, ShapeType, TensorType, TupleType, Type
from refmlc.lang.library import OPERATORS, type_of
from refmlc.strategies.arguments import Array
from refmlc.strategies.choices import Choices
from refmlc.strategies.ranges import limits

FLOATS = tuple(SCALARS[name] for name in ("float32", "float32", "float32", "float16", "float64", "bfloat16"))
INTEGERS = tuple(SCALARS[name] for name in ("int32", "int64", "int8", "uint8", "int16", "uint32", "uint64"))
NUMBERS = (*FLOATS, *INTEGERS[:4])
EVERY = (*NUMBERS, SCALARS["bool"])
INDICES = (SCALARS["int64"], SCALARS["int32"])
EXTENTS = (2, 3, 1, 4, 2, 3, 5, 1, 2, 3, 4, 2, 3, 0)
FLOAT_WAYS = ("edges", "few", "small", "few", "edges", "tame", "any")
INTEGER_WAYS = ("small", "small", "few", "steps", "edges")
BOUND = 100  # of ordinary integers: sums and products of some stay in 32 bits

Attrs = Mapping[str, tir.Attr]
Plan = tuple[Sequence[relax.Expr], Attrs]


@dataclass(frozen=True)
class DrawnTensor:
    """A tensor of the program."""

    expr: relax.Expr
    shape: tuple[int, ...]
    dtype: DType

    @property
    def rank(self) -> int:
        """The number of dimensions."""
        return len(self.shape)


class Calls:
    """The program so far; the methods draw parameters, attributes and calls."""

    def __init__(self, choices: Choices) -> None:
        self.choices = choices
        self.params: list[relax.Var] = []
        self.recipes: list[Array] = []
        self.bindings: list[relax.Binding] = []
        self.last: DrawnTensor | None = None  # the last result, until it is used

    # ------------------------------------------------------------------------------------------------ tensors

    def parameter(
        self, dtype: DType, shape: Sequence[int], low: int | None = None, high: int | None = None, way: str = ""
    ) -> DrawnTensor:
        """A new parameter; `low` … `high` limit its integers; `way`: the kind of its values."""
        shape = tuple(shape)
        pick = self.choices.pick
        if way:
            recipe = Array(dtype, shape, way)
        elif low is not None and high is not None:
            recipe = Array(dtype, shape, pick(("any", "steps", "edges")), self.choices.below(1000), low, max(low, high))
        elif dtype.is_float:
            recipe = Array(dtype, shape, pick(FLOAT_WAYS), self.choices.below(1000))
        else:
            bottom, top = limits(dtype)
            way = pick(INTEGER_WAYS)
            if way != "edges" and dtype.is_integer:
                bottom, top = max(bottom, -BOUND), min(top, BOUND)
            recipe = Array(dtype, shape, way, self.choices.below(1000), bottom, top)
        size = tuple(tir.IntImm(INT64, extent) for extent in shape)
        var = relax.Var(f"x{len(self.params)}", TensorType(size, dtype))
        self.params.append(var)
        self.recipes.append(recipe)
        return DrawnTensor(var, shape, dtype)

    def data(self, dtypes: Sequence[DType] = FLOATS, ranks: Sequence[int] = (1, 2, 3)) -> DrawnTensor:
        """An operand: the last result if its dtype and rank fit, else a new parameter."""
        last, self.last = self.last, None
        if last is not None and last.dtype in dtypes and last.rank in ranks:
            return last
        return self.parameter(self.choices.pick(dtypes), self.shape(self.choices.pick(ranks)))

    def shape(self, rank: int) -> tuple[int, ...]:
        """`rank` extents."""
        return tuple(self.choices.pick(EXTENTS) for _ in range(rank))

    def broadcastable(self, tensor: DrawnTensor) -> DrawnTensor:
        """A new parameter of the same dtype, whose shape broadcasts with that of `tensor`."""
        shape = tensor.shape[self.choices.below(tensor.rank + 1) :] if self.choices.chance(40) else tensor.shape
        return self.parameter(tensor.dtype, [1 if self.choices.chance(20) else extent for extent in shape])

    def like(self, tensor: DrawnTensor, shape: Sequence[int] | None = None) -> DrawnTensor:
        """A new parameter of the dtype of `tensor`, and of its shape if `shape` is None."""
        return self.parameter(tensor.dtype, tensor.shape if shape is None else shape)

    def constant(self, dtype: DType, value: float) -> relax.Constant:
        """A scalar constant."""
        return relax.Constant(np.array(value, storage_dtype(dtype)), dtype)

    # ------------------------------------------------------------------------------------------------ attributes

    def axis(self, rank: int) -> int:
        """An axis, counted from either end."""
        return self.choices.below(2 * rank) - rank

    def axes(self, rank: int, *, least: int = 1) -> tuple[int, ...]:
        """At least `least` different axes in any order, counted from either end."""
        order = self.choices.permutation(range(rank))
        axes = order[: least + self.choices.below(max(1, rank - least + 1))]
        return tuple(axis - rank if self.choices.chance(30) else axis for axis in axes)

    def flag(self) -> bool:
        """A bool, evenly."""
        return self.choices.below(2) == 1

    # ------------------------------------------------------------------------------------------------ calls

    def call(self, name: str, plan: Plan) -> None:
        """Add a call. Fails: as the operator for arguments that it refuses."""
        args, attrs = plan
        result_type = type_of(OPERATORS[name], [kind_of(arg) for arg in args], attrs)
        var = relax.Var(f"y{len(self.bindings)}", result_type)
        self.bindings.append(relax.VarBinding(var, relax.Call(relax.Op(name), tuple(args), attrs)))
        self.last = self._result_tensor(var, result_type)

    def _result_tensor(self, var: relax.Var, ty: Type | None) -> DrawnTensor | None:
        """The result, or one field of a tuple, as a tensor for further calls; None for any other type."""
        if isinstance(ty, TupleType) and ty.fields:
            place = self.choices.below(len(ty.fields))
            field, field_type = relax.Var(f"y{len(self.bindings)}", ty.fields[place]), ty.fields[place]
            self.bindings.append(relax.VarBinding(field, relax.TupleGetItem(var, place)))
            return self._result_tensor(field, field_type)
        if not isinstance(ty, TensorType) or ty.shape is None or ty.dtype is None:
            return None
        sizes = [extent.value for extent in ty.shape if isinstance(extent, tir.IntImm)]
        return DrawnTensor(var, tuple(sizes), ty.dtype) if len(sizes) == len(ty.shape) else None


def same_plan(names: str, plan: Callable[[Calls], Plan]) -> dict[str, Callable[[Calls], Plan]]:
    """One plan for several operators."""
    return dict.fromkeys(names.split(), plan)


def whole(value: int) -> relax.PrimValue:
    """A number as an argument."""
    return relax.PrimValue(tir.IntImm(INT64, value))


def number(value: float) -> relax.PrimValue:
    """A float as an argument."""
    return relax.PrimValue(tir.FloatImm(FLOATS[0], value))


def wholes(*values: int) -> relax.Tuple:
    """Numbers as an argument."""
    return relax.Tuple(tuple(whole(value) for value in values))


def sizes(*values: int) -> relax.ShapeExpr:
    """A shape as an argument."""
    return relax.ShapeExpr(tuple(tir.IntImm(INT64, value) for value in values))


def kind_of(expr: relax.Expr) -> Type | None:
    """The type of an argument."""
    match expr:
        case relax.Var(ty=ty):
            return ty
        case relax.Constant(data=data, dtype=dtype):
            return TensorType(tuple(tir.IntImm(INT64, extent) for extent in data.shape), dtype)
        case relax.PrimValue(value=value):
            return PrimType(value.dtype, value)
        case relax.ShapeExpr(values=values):
            return ShapeType(values)
        case relax.Tuple(fields=fields):
            kinds = [kind_of(field) for field in fields]
            return TupleType(tuple(field for field in kinds if field is not None))
        case _:
            return None
