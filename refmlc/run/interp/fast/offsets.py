"""Offsets of elements as sums over loop variables, most of each sum computed once per loop.

In `X[n, c, i + r, j + s]` of a compact buffer of fixed shape every index is a sum of variables. Where their domains
prove it to be in bounds, the offset of the element is one sum over the slots of the variables, without a check:

| part of the sum                             | computed                                                     |
|---------------------------------------------|--------------------------------------------------------------|
| the constant                                | while the function is prepared                               |
| variables that the innermost loop changes   | at the access                                                |
| all others                                  | at the entry of the innermost loop, into a slot (`LoopSums`) |
| the part of these that is older than a loop | at the entry of the loop around it, and so on outwards       |

An index that is not such a sum is evaluated and checked at the access.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from refmlc.lang.arith.interval import Interval
from refmlc.lang.ir import tir
from refmlc.run.interp.tensorir.frame import Slot
from refmlc.run.interp.tensorir.loop_sums import LoopSums, Terms
from refmlc.run.interp.tensorir.scope import Scope
from refmlc.run.memory.array_memory import compact_strides


@dataclass(frozen=True, slots=True)
class LinearIndex:
    """An index: `constant` + the sum of slot * factor; `interval` holds its values."""

    constant: int
    terms: Mapping[Slot[int], int]
    interval: Interval

    def plus(self, other: "LinearIndex", factor: int) -> "LinearIndex":
        """This index + `factor` * the other."""
        terms = dict(self.terms)
        for slot, own in other.terms.items():
            terms[slot] = terms.get(slot, 0) + factor * own
        interval = self.interval.plus(other.interval.scaled(factor))
        return LinearIndex(self.constant + factor * other.constant, terms, interval)


@dataclass(frozen=True, slots=True)
class OffsetSum:
    """The offset of an element: what `start` holds, and the sum of `terms`.

    `checked`: the axis whose index is evaluated and checked at the access, with its extent and stride.
    """

    start: Slot[int]
    terms: Terms
    checked: tuple[int, int, int] | None = None


def offset_sum(scope: Scope, node: tir.BufferLoad | tir.BufferStore) -> OffsetSum | None:
    """The offset of an element of a compact buffer of fixed shape, whose indices are sums, all but one at most.

    None: it is another access, or not worthwhile.
    """
    sums = scope.sums
    if sums is None or not sums.worthwhile:
        return None
    shape = _fixed(node.buffer)
    if shape is None or len(shape) != len(node.indices) or not shape or scope.buffer(node.buffer).form == "any":
        return None
    strides = compact_strides(shape)
    total, checked = LinearIndex(0, {}, Interval(0, 0)), None
    for axis, (index, extent, stride) in enumerate(zip(node.indices, shape, strides, strict=True)):
        linear = _linear(scope, index)
        if linear is not None and linear.interval.inside(0, extent - 1):
            total = total.plus(linear, stride)
        elif checked is None:
            checked = (axis, extent, stride)
        else:
            return None
    return _split(scope, sums, total, checked)


def _split(scope: Scope, sums: LoopSums, total: LinearIndex, checked: tuple[int, int, int] | None) -> OffsetSum:
    """The sum in two parts: what the innermost loop keeps, and what it changes."""
    terms = tuple((slot, factor) for slot, factor in total.terms.items() if factor)
    kept = tuple(term for term in terms if sums.keeps(term[0]))
    start = sums.slot(scope.layout, total.constant, kept)
    return OffsetSum(start, tuple(term for term in terms if term not in kept), checked)


def _fixed(buffer: tir.Buffer) -> tuple[int, ...] | None:
    """The shape as numbers; None: it is symbolic, or there are strides."""
    extents = [extent.value for extent in buffer.shape if isinstance(extent, tir.IntImm)]
    return None if buffer.strides or len(extents) < len(buffer.shape) else tuple(extents)


def _linear(scope: Scope, node: tir.Expr) -> LinearIndex | None:
    """An integer as a sum over slots, where no step on the way can leave its dtype."""
    match node:
        case tir.IntImm() if node.dtype.is_integer:
            return LinearIndex(node.value, {}, Interval(node.value, node.value))
        case tir.Var():
            return _variable(scope, node)
        case tir.Cast() if node.dtype.is_integer and node.value.dtype.is_integer:
            linear = _linear(scope, node.value)
            within = linear is not None and linear.interval.inside(node.dtype.minimum, node.dtype.maximum)
            return linear if within else None
        case tir.Apply(op="add" | "sub" | "mul", args=(left, right)) if node.dtype.is_integer:
            a, b = _linear(scope, left), _linear(scope, right)
            result = None if a is None or b is None else _applied(node.op, a, b)
            within = result is not None and result.interval.inside(node.dtype.minimum, node.dtype.maximum)
            return result if within else None
        case _:
            return None


def _applied(op: str, a: LinearIndex, b: LinearIndex) -> LinearIndex | None:
    if op != "mul":
        return a.plus(b, 1 if op == "add" else -1)
    if a.terms and b.terms:
        return None
    number, other = (b.constant, a) if not b.terms else (a.constant, b)
    return LinearIndex(0, {}, Interval(0, 0)).plus(other, number)


def _variable(scope: Scope, var: tir.Var) -> LinearIndex | None:
    """A variable of a loop or axis; of a single value it is that value."""
    match scope.domain(var):
        case (tir.IntImm(value=least), tir.IntImm(value=extent)) if extent == 1:
            return LinearIndex(least, {}, Interval(least, least))
        case (tir.IntImm(value=least), tir.IntImm(value=extent)) if extent > 0:
            return LinearIndex(0, {scope.slot(var): 1}, Interval(least, least + extent - 1))
        case _:
            return None
