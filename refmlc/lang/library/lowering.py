"""An operator on arguments of known types: the TensorIR function that computes it, and the type of the result.

| type of an argument                    | the operator's function gets                                   |
|----------------------------------------|----------------------------------------------------------------|
| tensor of known shape and dtype        | a placeholder                                                  |
| tuple of those, or of numbers          | a tuple of placeholders, or of values                          |
| shape of known values                  | its values                                                     |
| number, known                          | its value                                                      |
| number, not known                      | a variable, which the function takes as an argument            |
| anything else                          | nothing follows: the call is lowered when it is executed       |

The function takes the tensors in the order of the arguments, then its outputs, then the variables of shapes that no
tensor binds.
"""

from collections.abc import Iterator, Mapping, Sequence, Set as AbstractSet
from dataclasses import dataclass

from refmlc.diag import RefmlcError, fail
from refmlc.diag.catalogue import ARITY, TYPE_MISMATCH, UNSUPPORTED_OP
from refmlc.lang.dtypes import INT64
from refmlc.lang.ir import tir
from refmlc.lang.ir.types import PrimType, ShapeType, TensorType, TupleType, Type
from refmlc.lang.ir.visit import walk
from refmlc.lang.library.attributes import attributes_of
from refmlc.lang.library.definition import WANTED, Argument, Operator, Result, computed, fits
from refmlc.lang.library.instances import instance, numbers, symbols
from refmlc.lang.library.shapes import EITHER, RANK, UNSURE
from refmlc.lang.te import Tensor, Value, closed_prim_func, const, placeholder


@dataclass(frozen=True)
class Lowered:
    """The function of a call. `result` is its type; `sizes`: what it takes after its outputs, in terms of the call."""

    func: tir.PrimFunc
    result: Type
    sizes: tuple[tir.Expr, ...]

    @property
    def outputs(self) -> tuple[TensorType, ...]:
        """The types of the tensors that the call allocates."""
        fields = self.result.fields if isinstance(self.result, TupleType) else (self.result,)
        return tuple(field for field in fields if isinstance(field, TensorType))


def type_of(op: Operator, types: Sequence[Type | None], attrs: Mapping[str, tir.Attr]) -> Type | None:
    """The type of a call; None where it does not follow. Fails: as the operator does."""
    arguments = _arguments(op, types)
    if arguments is None:
        return None
    if op.counting is None:
        return _without(_type(_computed(op, arguments, attrs)), {EITHER.expr})
    counted = _type(_computed(op.counting, arguments, attrs))
    length = counted.shape[0] if isinstance(counted, TensorType) and counted.shape else None
    number = length.value if isinstance(length, tir.IntImm) else 0
    counts = tuple(Value(tir.Var("count", INT64)) for _ in range(number))
    return _without(_type(_computed(op, arguments, attrs, counts)), {EITHER.expr, *(count.expr for count in counts)})


def lowered(
    op: Operator,
    types: Sequence[Type | None],
    attrs: Mapping[str, tir.Attr],
    counts: "Sequence[int | tir.Var] | None" = None,
) -> Lowered | None:
    """The function of a call; None where the types do not say enough, nor `counts`, which stand for what is counted.

    Nor do they where an operand is broadcast or not, dimensions are there or not, or the call is refused (`instances`),
    as its extents turn out.

    Fails: as the operator does.
    """
    arguments = _arguments(op, types)
    if arguments is None or (op.counting is not None and counts is None):
        return None
    given_counts = [const(item, "int64") if isinstance(item, int) else Value(item) for item in counts or ()]
    result = _computed(op, arguments, attrs, given_counts)
    inputs = list(_tensors(arguments))
    outputs = result if isinstance(result, tuple) else (result,)
    parameters = [*inputs, *(_own(item, inputs) for item in outputs)]
    func, sizes = closed_prim_func(parameters)
    if UNSURE.expr in sizes or _may_be_refused(op, types, attrs, counts):
        return None
    return Lowered(func, _type(result), sizes)


def _may_be_refused(
    op: Operator,
    types: Sequence[Type | None],
    attrs: Mapping[str, tir.Attr],
    counts: "Sequence[int | tir.Var] | None",
) -> bool:
    """Whether there are sizes for which the operator refuses the call."""
    variables = symbols(types)
    if not variables:
        return False
    table = numbers(variables)
    count_values = [Value(count) if isinstance(count, tir.Var) else const(count, "int64") for count in counts or ()]
    try:
        arguments = _arguments(op, [instance(ty, table) for ty in types])
        if arguments is not None:
            _computed(op, arguments, attrs, count_values)
    except RefmlcError:
        return True
    return False


def _arguments(op: Operator, types: Sequence[Type | None]) -> list[Argument] | None:
    """The arguments of the operator's function; None if a type is not known well enough. Fails: RM206, RM501."""
    if op.reason:
        raise fail(UNSUPPORTED_OP, f"operator `{op.name}` is not supported: {op.reason}")
    least = sum(op.parameters[name].default is op.parameters[name].empty for name in op.arguments)
    if not least <= len(types) <= len(op.arguments):
        arity = str(least) if least == len(op.arguments) else f"{least} to {len(op.arguments)}"
        raise fail(ARITY, f"`{op.name}` takes {arity} arguments, {len(types)} are given")
    parsed = [_argument(name, ty) for name, ty in zip(op.arguments, types, strict=False)]
    if any(argument is UNKNOWN for argument in parsed):
        return None
    arguments = [argument for argument in parsed if not isinstance(argument, _Unknown)]
    for name, argument in zip(op.arguments, arguments, strict=False):
        if not fits(op.parameters[name].annotation, argument):
            raise fail(TYPE_MISMATCH, f"`{op.name}` takes {WANTED[op.parameters[name].annotation]} as `{name}`")
    return arguments


class _Unknown:
    """No argument: its type does not say enough."""


UNKNOWN = _Unknown()


def _argument(name: str, ty: Type | None) -> "Argument | _Unknown":
    match ty:
        case TensorType(shape=shape, dtype=dtype) if shape is not None and dtype is not None:
            return placeholder(tuple(Value(extent) for extent in shape), str(dtype), name)
        case ShapeType(values=values) if values is not None:
            return tuple(Value(extent) for extent in values)
        case PrimType(dtype=dtype, value=value):
            return Value(tir.Var(name, dtype) if value is None else value)
        case TupleType(fields=fields):
            parts = [_argument(f"{name}_{place}", field) for place, field in enumerate(fields)]
            tensors = tuple(part for part in parts if isinstance(part, Tensor))
            numbers = tuple(part for part in parts if isinstance(part, Value))
            whole = [part for part in (tensors, numbers) if len(part) == len(parts)]
            return whole[0] if whole else UNKNOWN
        case _:
            return UNKNOWN


def _computed(
    op: Operator, arguments: Sequence[Argument], attrs: Mapping[str, tir.Attr], counts: Sequence[Value] = ()
) -> Result:
    attributes = attributes_of(op, attrs)
    return (
        op.compute(*arguments, **attributes)
        if op.counted is None
        else op.compute(*arguments, **attributes, counts=[*counts])
    )


def _tensors(arguments: Sequence[Argument]) -> Iterator[Tensor]:
    for argument in arguments:
        if isinstance(argument, Tensor):
            yield argument
        elif isinstance(argument, tuple):
            yield from (part for part in argument if isinstance(part, Tensor))


def _own(output: Tensor, inputs: Sequence[Tensor]) -> Tensor:
    """The output; a copy where it is an input."""
    return computed(output.shape, output, output.name) if any(output is tensor for tensor in inputs) else output


def _type(result: Result) -> Type:
    if isinstance(result, tuple):
        return TupleType(tuple(TensorType(tensor.buffer.shape, tensor.buffer.dtype) for tensor in result))
    return TensorType(result.buffer.shape, result.buffer.dtype)


def _without(ty: Type, counts: AbstractSet[tir.Expr]) -> Type:
    """The type, the shapes that depend on what is counted being unknown."""
    match ty:
        case TupleType(fields=fields):
            return TupleType(tuple(_without(field, counts) for field in fields))
        case TensorType(shape=(tir.Var() as only,)) if only is RANK.expr:
            return TensorType(None, ty.dtype)
        case TensorType(shape=shape) if shape is not None:
            independent = not any(node in counts for extent in shape for node in walk(extent))
            return ty if independent else TensorType(None, ty.dtype, len(shape))
        case _:
            return ty
