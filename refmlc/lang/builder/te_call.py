"""A function on tensor expressions, called on expressions of Relax: the TensorIR function, and the call of it.

| argument                              | the function gets                             |
|---------------------------------------|-----------------------------------------------|
| expression of tensor type             | a placeholder, called as the variable is, or  |
|                                       | by its place: `A`, `B`, …                     |
| tuple, list of them                   | a tuple of placeholders                       |
| shape, primitive value                | its values                                    |
| anything else                         | the argument itself                           |
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count

from refmlc.diag import fail
from refmlc.diag.catalogue import BAD_ARGUMENTS, TYPE_MISMATCH
from refmlc.lang.ir import relax, tir
from refmlc.lang.ir.types import PrimType, ShapeType, TensorType, TupleType, Type
from refmlc.lang.te import Tensor, Value, closed_prim_func, placeholder

TypeOf = Callable[[relax.Expr], Type | None]


@dataclass(frozen=True)
class TeCall:
    """The function, the tensors it is called on, its result's type, and the sizes that no tensor binds."""

    func: tir.PrimFunc
    args: tuple[relax.Expr, ...]
    result: Type
    sizes: tuple[tir.Expr, ...]

    def call(self, callee: tir.GlobalVar) -> relax.Call:
        """The call of the function under its name in the module."""
        sizes = (relax.ShapeExpr(self.sizes),) if self.sizes else ()
        return relax.Call(relax.Op("call_tir"), (callee, relax.Tuple(self.args), *sizes), {}, (self.result,))


@dataclass
class _Inputs:
    """The placeholders made so far, with the expressions that they stand for."""

    type_of: TypeOf
    tensors: list[Tensor] = field(default_factory=list)
    exprs: list[relax.Expr] = field(default_factory=list)

    def converted(self, value: object) -> object:
        """An argument as the function gets it. Fails: RM201 for a tensor of unknown shape or dtype."""
        match value:
            case list() | tuple():
                return type(value)(self.converted(item) for item in value)
            case dict():
                return {key: self.converted(item) for key, item in value.items()}
            case relax.Tuple(fields):
                return tuple(self.converted(item) for item in fields)
            case relax.ShapeExpr(values):
                return tuple(Value(item) for item in values)
            case relax.PrimValue(inner):
                return Value(inner)
            case relax.Var() | relax.Constant() | relax.Call() | relax.TupleGetItem():
                return self.expression(value)
            case tir.Var() | tir.IntImm() | tir.FloatImm() | tir.Apply():
                return Value(value)
            case _:
                return value

    def fresh(self, name: str) -> str:
        """`name`, with a number where a placeholder has it."""
        names = {candidate.name for candidate in self.tensors}
        return next(
            candidate for number in count() if (candidate := f"{name}_{number}" if number else name) not in names
        )

    def expression(self, expr: relax.Expr) -> object:
        match self.type_of(expr):
            case TensorType(shape=shape, dtype=dtype) if shape is not None and dtype is not None:
                number = len(self.tensors)
                other = chr(ord("A") + number) if number < 26 else f"input{number}"
                name = self.fresh(expr.name if isinstance(expr, relax.Var) else other)
                self.tensors.append(placeholder([Value(extent) for extent in shape], str(dtype), name))
                self.exprs.append(expr)
                return self.tensors[-1]
            case TupleType(fields=fields):
                return tuple(self.expression(relax.TupleGetItem(expr, place)) for place in range(len(fields)))
            case ShapeType(values=values) if values is not None:
                return tuple(Value(extent) for extent in values)
            case PrimType(value=known) if known is not None:
                return Value(known)
        name = expr.name if isinstance(expr, relax.Var) else "an argument"
        raise fail(TYPE_MISMATCH, f"the shape or the dtype of `{name}` is not known: it cannot be a tensor expression")


def te_call(
    function: Callable[..., object], args: Sequence[object], kwargs: Mapping[str, object], type_of: TypeOf
) -> TeCall:
    """`function(*args, **kwargs)` on tensor expressions, as a function of TensorIR and a call of it.

    Fails: RM105 where the function gives no tensors, RM201 where an argument's type says too little.
    """
    inputs = _Inputs(type_of)
    arguments = [inputs.converted(value) for value in args]
    named = {key: inputs.converted(value) for key, value in kwargs.items()}
    output = function(*arguments, **named)
    outputs = list(output) if isinstance(output, tuple | list) else [output]
    tensors = [value for value in outputs if isinstance(value, Tensor)]
    if len(tensors) != len(outputs) or not tensors:
        raise fail(
            BAD_ARGUMENTS, f"the function gives {type(output).__name__}: a tensor, or a tuple of tensors, is needed"
        )
    types = tuple(TensorType(value.buffer.shape, value.buffer.dtype) for value in tensors)
    func, sizes = closed_prim_func([*inputs.tensors, *tensors])
    result: Type = TupleType(types) if isinstance(output, tuple | list) else types[0]
    return TeCall(func, tuple(inputs.exprs), result, sizes)
