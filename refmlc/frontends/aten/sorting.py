"""Orders of elements. Equal elements keep their order; a NaN is above every number, as in PyTorch."""

from collections.abc import Mapping

from refmlc.frontends.aten.arithmetic import brought, result_dtype
from refmlc.frontends.emitter import Emitter, Operand
from refmlc.frontends.rule import Rule, whole
from refmlc.lang.ir import relax

Tensor = relax.Expr


def with_axis(e: Emitter, x: Tensor) -> tuple[Tensor, bool]:
    """The tensor with at least one axis, and whether it was added."""
    return (x, False) if e.rank(x) else (e.reshape(x, [1]), True)


def without_axis(e: Emitter, x: Tensor, *, added: bool) -> Tensor:
    """The tensor without the axis that was added."""
    return e.reshape(x, []) if added else x


def comparable(e: Emitter, x: Tensor) -> Tensor:
    """The tensor in a dtype that has an order: truth as integers."""
    return e.astype(x, "int32") if e.dtype(x) == "bool" else x


def order(e: Emitter, x: Tensor, dim: int = -1, descending: Operand = False, *, stable: Operand = False) -> Operand:
    """The elements in ascending or descending order along an axis, and their places."""
    del stable  # the order here always is
    line, added = with_axis(e, x)
    keys, axis = comparable(e, line), int(dim) % e.rank(line)
    places = e.call("argsort", keys, axis=axis, descending=bool(descending), dtype="int64")
    values = e.call("gather_elements", line, places, axis=axis)
    return relax.Tuple(tuple(without_axis(e, item, added=added) for item in (values, places)))


def argsort(e: Emitter, x: Tensor, dim: int = -1, descending: Operand = False, *, stable: Operand = False) -> Operand:
    """The places of the elements in their order along an axis."""
    result = order(e, x, dim, descending, stable=stable)
    return e.item(result, 1) if isinstance(result, relax.Expr) else result


def topk(
    e: Emitter,
    x: Tensor,
    k: Operand,
    dim: int = -1,
    largest: Operand = True,
    sorted: Operand = True,  # noqa: A002 - PyTorch's
) -> Operand:
    """The first `k` elements in their order along an axis, and their places.

    Of a scalar it is the scalar, whatever `k` is. Decision: not `sorted` they are in order too, which PyTorch leaves
    open; of equal ones the first is taken.
    """
    del sorted
    line, added = with_axis(e, x)
    keys, axis, count = comparable(e, line), int(dim) % e.rank(line), 1 if added else whole(k)
    places = e.call("argsort", keys, axis=axis, descending=bool(largest), dtype="int64")
    places = e.call("strided_slice", places, [axis], [0], [count], [1])
    values = e.call("gather_elements", line, places, axis=axis)
    return relax.Tuple(tuple(without_axis(e, item, added=added) for item in (values, places)))


def bucketize(
    e: Emitter, x: Operand, boundaries: Tensor, *, out_int32: Operand = False, right: Operand = False
) -> Operand:
    """How many boundaries are below the number, or not above it. NaN is above them all."""
    if not isinstance(x, relax.Expr):
        x = e.scalar(x, e.dtype(boundaries))
    apart = e.call("expand_dims", x, axis=-1)
    rank = e.rank(apart)
    row = e.reshape(boundaries, [*(1,) * (rank - 1), *e.shape(boundaries)])
    return _count_before(e, apart, row, right=bool(right), dtype="int32" if out_int32 else "int64")


def _count_before(e: Emitter, x: Tensor, row: Tensor, *, right: bool, dtype: str) -> Tensor:
    """How many of the last axis of `row` are below `x`; not above it where `right`."""
    common = result_dtype(e, x, row)
    a, b = brought(e, row, common), brought(e, x, common)
    stops = e.call("greater" if right else "greater_equal", a, b)  # NaN stops nothing
    before = e.call("logical_not", stops)
    return e.call("sum", e.astype(before, dtype), axis=(-1,))


SORTING: Mapping[str, Rule] = {
    "sort": order,
    "argsort": argsort,
    "topk": topk,
    "bucketize": bucketize,
}
