"""Operations that compute tensors.

| function      | the tensor is                                                             |
|---------------|---------------------------------------------------------------------------|
| `placeholder` | given from outside                                                        |
| `compute`     | at each index the value of an expression, or a reduction of its terms     |
| `extern`      | written by a statement that the caller builds                             |
"""

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from refmlc.diag import fail
from refmlc.diag.catalogue import BAD_ARGUMENTS, TYPE_MISMATCH
from refmlc.diag.entry import entry_point
from refmlc.lang.ir import tir
from refmlc.lang.ir.visit import walk
from refmlc.lang.te.reducer import Reduce
from refmlc.lang.te.tensor import Axis, Load, Tensor, shape_of
from refmlc.lang.te.value import Value, dtype_of, expr_of

Shape: TypeAlias = "Sequence[Value | int] | Value | int"


@dataclass(frozen=True, eq=False)
class Placeholder:
    """A tensor that is given."""

    name: str
    outputs: tuple[tir.Buffer, ...]
    input_tensors: tuple[Tensor, ...] = ()


@dataclass(frozen=True, eq=False)
class Compute:
    """Values at each point of `axis`: expressions, or the results of one reduction."""

    name: str
    axis: tuple[Axis, ...]
    body: "tuple[tir.Expr, ...] | tuple[Reduce, ...]"
    outputs: tuple[tir.Buffer, ...]
    attrs: Mapping[str, tir.Attr] = field(default_factory=dict)

    @property
    def reduce_axis(self) -> tuple[Axis, ...]:
        """The axes of the reduction, none where there is none."""
        first = self.body[0]
        return first.axis if isinstance(first, Reduce) else ()

    @property
    def input_tensors(self) -> tuple[Tensor, ...]:
        """The tensors that it reads, in the order in which it does."""
        tensors = [node.tensor for part in _parts(self) for node in walk(part) if isinstance(node, Load)]
        return tuple(tensor for tensor in dict.fromkeys(tensors) if tensor is not None)


@dataclass(frozen=True, eq=False)
class Extern:
    """Tensors that `body` writes; `in_buffers` and `outputs` are the buffers that stand in it."""

    name: str
    input_tensors: tuple[Tensor, ...]
    in_buffers: tuple[tir.Buffer, ...]
    outputs: tuple[tir.Buffer, ...]
    body: tir.Stmt
    attrs: Mapping[str, tir.Attr] = field(default_factory=dict)


Operation: TypeAlias = Placeholder | Compute | Extern


@entry_point
def placeholder(shape: Shape, dtype: str | None = None, name: str = "placeholder") -> Tensor:
    """A tensor of `shape` that is given. `dtype` is float32 where it is not said."""
    buffer = tir.Buffer(name, dtype_of(dtype or "float32"), shape_of(shape))
    return Tensor(buffer, Placeholder(name, (buffer,)))


@entry_point
def compute(
    shape: Shape,
    fcompute: Callable[..., object],
    name: str = "compute",
    tag: str = "",
    attrs: Mapping[str, tir.Attr] | None = None,
    varargs_names: Sequence[str] | None = None,
) -> "Tensor | tuple[Tensor, ...]":
    """The tensor whose element at (i, j, …) is `fcompute(i, j, …)`.

    Several tensors where it gives a tuple: expressions, or the results of one reducer of several terms. Axes are named
    as the parameters of `fcompute`, or `i0`, `i1` … for `*i`. Fails: RM105 for a result that is not an expression.
    """
    extents = shape_of(shape)
    names = _axis_names(fcompute, len(extents), varargs_names)
    axis = tuple(
        Axis(tir.Var(label, extent.dtype), Value(tir.IntImm(extent.dtype, 0)), Value(extent), reduce=False)
        for label, extent in zip(names, extents, strict=True)
    )
    result = fcompute(*axis)
    parts = tuple(result) if isinstance(result, tuple | list) else (result,)
    if any(isinstance(part, Tensor) for part in parts):
        raise fail(BAD_ARGUMENTS, f"`{name}` computes a tensor at each point: give its element, as A(i, j)")
    body = _body(parts, name)
    outputs = tuple(
        tir.Buffer(f"{name}_v{place}" if len(body) > 1 else name, dtype_of(part.dtype), extents)
        for place, part in enumerate(body)
    )
    op = Compute(name, axis, body, outputs, {**({"tag": tag} if tag else {}), **(attrs or {})})
    tensors = tuple(Tensor(buffer, op, place) for place, buffer in enumerate(outputs))
    return tensors if len(tensors) > 1 else tensors[0]


def _axis_names(fcompute: Callable[..., object], count: int, names: Sequence[str] | None) -> list[str]:
    """A name for each axis. Fails: RM105 where the function takes another number of them."""
    parameters = list(inspect.signature(fcompute).parameters.values())
    fixed = [
        parameter.name
        for parameter in parameters
        if parameter.kind is parameter.POSITIONAL_OR_KEYWORD and parameter.default is parameter.empty
    ]
    many = any(parameter.kind is parameter.VAR_POSITIONAL for parameter in parameters)
    if len(fixed) > count or (len(fixed) < count and not many):
        raise fail(BAD_ARGUMENTS, f"the function takes {len(fixed)} indices; the shape has {count} dimensions")
    if names is not None:
        if len(names) != count - len(fixed):
            raise fail(BAD_ARGUMENTS, f"{count - len(fixed)} axes have no name yet, {len(names)} are given")
        return [*fixed, *names]
    first = next((parameter.name for parameter in parameters if parameter.kind is parameter.VAR_POSITIONAL), "i")
    return [*fixed, *(f"{first}{place}" for place in range(len(fixed), count))]


def _body(parts: tuple[object, ...], name: str) -> "tuple[tir.Expr, ...] | tuple[Reduce, ...]":
    reductions = tuple(part for part in parts if isinstance(part, Reduce))
    if not reductions:
        return tuple(expr_of(part) for part in parts)
    whole = reductions[0]
    if len(reductions) != len(parts) or any(part.terms is not whole.terms for part in reductions):
        raise fail(TYPE_MISMATCH, f"`{name}` mixes a reduction with other values: compute them apart")
    return tuple(sorted(reductions, key=lambda part: part.value_index)) if len(parts) > 1 else (whole,)


def _parts(op: Compute) -> tuple[tir.Expr, ...]:
    """The expressions of a computation."""
    first = op.body[0]
    if not isinstance(first, Reduce):
        return tuple(part for part in op.body if not isinstance(part, Reduce))
    condition = () if first.condition is None else (first.condition,)
    bounds = tuple(bound.expr for axis in first.axis for bound in axis.dom)
    return (*condition, *first.terms, *first.start, *bounds)


@entry_point
def extern(
    shape: "Shape | Sequence[Shape]",
    inputs: Sequence[Tensor],
    fcompute: Callable[[list[tir.Buffer], list[tir.Buffer]], object],
    name: str = "extern",
    dtype: "str | Sequence[str] | None" = None,
    attrs: Mapping[str, tir.Attr] | None = None,
) -> "Tensor | list[Tensor]":
    """Tensors that a statement writes: `fcompute(inputs, outputs)` gives it, from buffers.

    `dtype` is that of the inputs where it is not said and they agree. Fails: RM105.
    """
    shapes = _shapes(shape)
    kinds = [dtype] * len(shapes) if isinstance(dtype, str) else list(dtype or ())
    if not kinds:
        dtypes = {extents.dtype for extents in inputs}
        if len(dtypes) != 1:
            raise fail(BAD_ARGUMENTS, f"the dtype of `{name}` does not follow from its inputs: give dtype")
        kinds = [dtypes.pop()] * len(shapes)
    ins = [tir.Buffer(extents.name, extents.buffer.dtype, extents.buffer.shape) for extents in inputs]
    names = [f"{name}_{number}" if number else name for number in range(len(shapes))]
    outs = [tir.Buffer(own, dtype_of(kind), extents) for own, kind, extents in zip(names, kinds, shapes, strict=True)]
    body = fcompute(ins, outs)
    stmt = tir.Evaluate(body.expr) if isinstance(body, Value) else body
    if not isinstance(stmt, tir.Stmt):
        raise fail(BAD_ARGUMENTS, f"`{name}` is made by a statement or a call; this is {type(body).__name__}")
    op = Extern(name, tuple(inputs), tuple(ins), tuple(outs), stmt, attrs or {})
    tensors = [Tensor(buffer, op, place) for place, buffer in enumerate(outs)]
    return tensors[0] if len(tensors) == 1 else tensors


def _shapes(shape: "Shape | Sequence[Shape]") -> list[tuple[tir.Expr, ...]]:
    if isinstance(shape, tuple | list) and shape and isinstance(shape[0], tuple | list):
        return [shape_of(extent) for extent in shape if not isinstance(extent, Value | int)]
    return [shape_of(shape)]  # type: ignore[arg-type]
