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
        return tuple(one for one in fields if isinstance(one, TensorType))


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
    return _without(_type(_computed(op, arguments, attrs, counts)), {EITHER.expr, *(one.expr for one in counts)})


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
    given_counts = [const(one, "int64") if isinstance(one, int) else Value(one) for one in counts or ()]
    made = _computed(op, arguments, attrs, given_counts)
    inputs = list(_tensors(arguments))
    outputs = made if isinstance(made, tuple) else (made,)
    given = [*inputs, *(_own(one, inputs) for one in outputs)]
    func, sizes = closed_prim_func(given)
    if UNSURE.expr in sizes or _may_be_refused(op, types, attrs, counts):
        return None
    return Lowered(func, _type(made), sizes)


def _may_be_refused(
    op: Operator,
    types: Sequence[Type | None],
    attrs: Mapping[str, tir.Attr],
    counts: "Sequence[int | tir.Var] | None",
) -> bool:
    """Whether there are sizes for which the operator refuses the call."""
    found = symbols(types)
    if not found:
        return False
    table = numbers(found)
    given = [Value(one) if isinstance(one, tir.Var) else const(one, "int64") for one in counts or ()]
    try:
        arguments = _arguments(op, [instance(ty, table) for ty in types])
        if arguments is not None:
            _computed(op, arguments, attrs, given)
    except RefmlcError:
        return True
    return False


def _arguments(op: Operator, types: Sequence[Type | None]) -> list[Argument] | None:
    """The arguments of the operator's function; None if a type is not known well enough. Fails: RM206, RM501."""
    if op.reason:
        raise fail(UNSUPPORTED_OP, f"operator `{op.name}` is not supported: {op.reason}")
    least = sum(op.parameters[name].default is op.parameters[name].empty for name in op.arguments)
    if not least <= len(types) <= len(op.arguments):
        wanted = str(least) if least == len(op.arguments) else f"{least} to {len(op.arguments)}"
        raise fail(ARITY, f"`{op.name}` takes {wanted} arguments, {len(types)} are given")
    found = [_argument(name, ty) for name, ty in zip(op.arguments, types, strict=False)]
    if any(one is UNKNOWN for one in found):
        return None
    arguments = [one for one in found if not isinstance(one, _Unknown)]
    for name, one in zip(op.arguments, arguments, strict=False):
        if not fits(op.parameters[name].annotation, one):
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
            tensors = tuple(one for one in parts if isinstance(one, Tensor))
            numbers = tuple(one for one in parts if isinstance(one, Value))
            whole = [one for one in (tensors, numbers) if len(one) == len(parts)]
            return whole[0] if whole else UNKNOWN
        case _:
            return UNKNOWN


def _computed(
    op: Operator, arguments: Sequence[Argument], attrs: Mapping[str, tir.Attr], counts: Sequence[Value] = ()
) -> Result:
    given = attributes_of(op, attrs)
    return op.compute(*arguments, **given) if op.counted is None else op.compute(*arguments, **given, counts=[*counts])


def _tensors(arguments: Sequence[Argument]) -> Iterator[Tensor]:
    for one in arguments:
        if isinstance(one, Tensor):
            yield one
        elif isinstance(one, tuple):
            yield from (part for part in one if isinstance(part, Tensor))


def _own(output: Tensor, inputs: Sequence[Tensor]) -> Tensor:
    """The output; a copy where it is an input."""
    return computed(output.shape, output, output.name) if any(output is one for one in inputs) else output


def _type(made: Result) -> Type:
    if isinstance(made, tuple):
        return TupleType(tuple(TensorType(one.buffer.shape, one.buffer.dtype) for one in made))
    return TensorType(made.buffer.shape, made.buffer.dtype)


def _without(ty: Type, counts: AbstractSet[tir.Expr]) -> Type:
    """The type, the shapes that depend on what is counted being unknown."""
    match ty:
        case TupleType(fields=fields):
            return TupleType(tuple(_without(one, counts) for one in fields))
        case TensorType(shape=(tir.Var() as only,)) if only is RANK.expr:
            return TensorType(None, ty.dtype)
        case TensorType(shape=shape) if shape is not None:
            known = not any(node in counts for extent in shape for node in walk(extent))
            return ty if known else TensorType(None, ty.dtype, len(shape))
        case _:
            return ty
