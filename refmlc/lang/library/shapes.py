"""Axes and shapes of arguments: what the functions of the library ask of them, in one wording each."""

from collections.abc import Sequence

from refmlc.diag import fail
from refmlc.diag.catalogue import BAD_ARGUMENTS, SHAPE_MISMATCH, TYPE_MISMATCH
from refmlc.lang.arith.extents import certainly_different, polynomial
from refmlc.lang.dtypes import INT64
from refmlc.lang.ir import tir
from refmlc.lang.te import Tensor, Value

EITHER = Value(tir.Var("either", INT64))
"""An extent that is known when it runs: that of the operand which is not 1."""
UNSURE = Value(tir.Var("unsure", INT64))
"""What an index is multiplied by where the run decides whether the operand is broadcast, or which axis it is of."""

RANK = Value(tir.Var("rank", INT64))
"""The extent of a tensor whose number of dimensions is known when it runs."""


def axis_of(axis: int, rank: int, what: str = "axis") -> int:
    """The axis that `axis` means: negative ones count from the end. Fails: RM105."""
    if not isinstance(axis, int) or isinstance(axis, bool):
        raise fail(BAD_ARGUMENTS, f"{what} is an integer; this is {axis!r}")
    if not -rank <= axis < rank:
        raise fail(BAD_ARGUMENTS, f"{what} {axis} is not in {-rank} … {rank - 1}: there are {rank} dimensions")
    return axis % rank


def axes_of(axis: "int | Sequence[int] | None", rank: int) -> tuple[int, ...]:
    """The axes that `axis` means, in their order; None: all. Fails: RM105, also where one is there twice."""
    if axis is None:
        return tuple(range(rank))
    numbers = (axis,) if isinstance(axis, int) else tuple(axis)
    axes = [axis_of(number, rank) for number in numbers]
    if len(set(axes)) != len(axes):
        raise fail(BAD_ARGUMENTS, f"{list(numbers)} has an axis twice")
    return tuple(sorted(axes))


def same(a: Value, b: Value) -> bool:
    """Whether two extents of tensors are certainly equal; none is below 0, so `max(n, 0)` is `n`."""
    pairs = ((a.expr, b.expr), (_not_below_zero(a.expr), b.expr), (a.expr, _not_below_zero(b.expr)))
    return any(polynomial(x, {}) == polynomial(y, {}) for x, y in pairs)


def _not_below_zero(extent: tir.Expr) -> tir.Expr:
    """`x`, where the extent is the greater one of `x` and 0."""
    match extent:
        case tir.Apply(op="max", args=(inner, tir.IntImm(value=0)) | (tir.IntImm(value=0), inner)):
            return inner
        case _:
            return extent


def must_agree(a: Value, b: Value, what: str) -> Value:
    """Two extents that have to be equal; the more certain one. Fails: RM202 where they certainly are not."""
    if certainly_different(polynomial(a.expr, {}), polynomial(b.expr, {})):
        raise fail(SHAPE_MISMATCH, f"{what}: {shown(a)} is not {shown(b)}")
    return b if known(b) is not None else a


def known(extent: Value) -> int | None:
    """The extent where it is a constant."""
    value = getattr(extent.expr, "value", None)
    return value if isinstance(value, int) else None


def shown(extent: Value) -> str:
    """The extent as messages have it: a number without its dtype."""
    value = known(extent)
    return repr(extent).splitlines()[-1] if value is None else str(value)


def broadcast_shape(*shapes: Sequence[Value]) -> tuple[Value, ...]:
    """The shape that several are brought to: aligned at the end, 1 stands for any extent.

    An extent is `EITHER` where the run decides it. Fails: RM202 where two numbers differ and neither is 1.
    """
    rank = max((len(shape) for shape in shapes), default=0)
    result: list[Value] = []
    for place in range(rank):
        extents = [shape[place - rank + len(shape)] for shape in shapes if place - rank + len(shape) >= 0]
        result.append(broadcast_extent(extents, f"dimension {place} of the operands"))
    return tuple(result)


def broadcast_extent(extents: Sequence[Value], what: str) -> Value:
    """What extents are brought to: a number that is not 1 if there is one, for the others are it, or 1."""
    wide = [extent for extent in extents if known(extent) != 1]
    if not wide:
        return extents[0]
    common = next((extent for extent in wide if known(extent) is not None), wide[0])
    for other in wide:
        if known(common) is not None and known(other) is not None:
            must_agree(common, other, what)
        elif known(common) is None and not same(common, other):
            return EITHER
    return common


def broadcast_indices(extents: Sequence[Value], indices: Sequence[Value], shape: Sequence[Value]) -> tuple[Value, ...]:
    """Where an element of the broadcast `shape` comes from in an operand of `extents`; 1 on both sides is no broadcast.

    `UNSURE` stands in an index where the run decides whether it is broadcast: such a function is never executed.
    """
    begin = len(indices) - len(extents)

    def own(index: Value, extent: Value, out: Value) -> Value:
        if known(extent) == 1:
            return index if known(out) == 1 else index * 0
        return index if same(extent, out) else index * UNSURE

    return tuple(map(own, indices[begin:], extents, shape[begin:]))


def require_float(tensor: Tensor, name: str) -> None:
    """Fails: RM201 where the elements of the argument are no floats."""
    if not tensor.buffer.dtype.is_float:
        raise fail(TYPE_MISMATCH, f"`{name}` takes floats; the argument is {tensor.dtype}")


def require_rank(tensor: Tensor, rank: int, name: str) -> None:
    """Fails: RM105 where the argument has another number of dimensions."""
    if tensor.ndim != rank:
        raise fail(BAD_ARGUMENTS, f"`{name}` takes a tensor of {rank} dimensions; the argument has {tensor.ndim}")
