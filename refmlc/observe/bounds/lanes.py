"""Vectors lane by lane: a scalar expression for each lane, so that the other files have no vectors.

| vector expression             | lane l                                              |
|-------------------------------|-----------------------------------------------------|
| `Ramp(base, stride, n)`       | base + l * stride                                   |
| `Broadcast(value, n)`         | the value; of a vector value its lane l % its lanes |
| `Shuffle(vectors, indices)`   | lane indices[l] of the vectors one after the other  |
| a load at a vector of indices | the load at lane l of the index                     |
| a variable                    | the variable of lane l (`Lanes.of_var`)             |
| operators, casts, choices     | the same of lane l of each vector operand           |

Memory of vectors, predicates, calls, and lanes that are not known are not certified (RM504).
"""

from collections.abc import Sequence
from dataclasses import replace
from itertools import accumulate

from refmlc.diag.source import Span
from refmlc.lang.dtypes import DType
from refmlc.lang.ir import tir
from refmlc.observe.bounds.operators import not_certified


class Lanes:
    """The lanes of the expressions of one function."""

    def __init__(self) -> None:
        self._vars: dict[tir.Var, tuple[tir.Var, ...]] = {}

    def of_var(self, var: tir.Var) -> tuple[tir.Var, ...]:
        """The variables that stand for the lanes of `var`."""
        if var not in self._vars:
            count, element = lanes_of(var.dtype, var.span), scalar(var.dtype)
            self._vars[var] = tuple([tir.Var(f"{var.name}.{lane}", element) for lane in range(count)])
        return self._vars[var]

    def of(self, node: tir.Expr, lane: int) -> tir.Expr:
        """Lane `lane` of `node`; of a scalar the scalar. Fails: RM504."""
        if not node.dtype.is_vector:
            return node
        element = scalar(node.dtype)
        match node:
            case tir.Var():
                return self.of_var(node)[lane]
            case tir.Ramp(base, stride):
                step = tir.Apply("mul", (stride, tir.IntImm(stride.dtype, lane)), stride.dtype)
                return tir.Apply("add", (base, step), element)
            case tir.Broadcast(value):
                return self.of(value, lane % lanes_of(value.dtype, node.span))
            case tir.Shuffle():
                return self.shuffled(node, lane)
            case tir.Apply():
                return replace(node, args=self._each(node.args, lane), dtype=element)
            case tir.Cast(value=value):
                return replace(node, value=self.of(value, lane), dtype=element)
            case tir.And(a, b) | tir.Or(a, b):
                return replace(node, a=self.of(a, lane), b=self.of(b, lane))
            case tir.Select(condition, yes, no) | tir.IfThenElseExpr(condition, yes, no):
                parts = self._each((condition, yes, no), lane)
                return replace(node, condition=parts[0], true_value=parts[1], false_value=parts[2])
            case tir.Let(body=body):
                return self.let(node, self.of(body, lane))
            case tir.BufferLoad() if not node.buffer.dtype.is_vector and node.predicate is None:
                return replace(node, indices=self._each(node.indices, lane))
            case _:
                raise not_certified(f"a vector ({node.dtype}) of a {type(node).__name__}", node.span)

    def stores(self, node: tir.BufferStore) -> list[tir.BufferStore]:
        """The stores of the lanes, first to last, which count as made at once. Fails: RM504."""
        if node.buffer.dtype.is_vector or node.predicate is not None:
            raise not_certified(f"a store of a vector ({node.value.dtype}) to memory of vectors", node.span)
        lanes = range(lanes_of(node.value.dtype, node.span))
        return [replace(node, value=self.of(node.value, n), indices=self._each(node.indices, n)) for n in lanes]

    def _each(self, nodes: Sequence[tir.Expr], lane: int) -> tuple[tir.Expr, ...]:
        return tuple([self.of(node, lane) for node in nodes])

    def let(self, node: tir.Let, body: tir.Expr) -> tir.Expr:
        """`body` in the scope of the variable of `node`: of all its lanes, as a shuffle may take any."""
        if not node.var.dtype.is_vector:
            return replace(node, body=body)
        for lane, lane_var in enumerate(self.of_var(node.var)):
            body = tir.Let(lane_var, self.of(node.value, lane), body, span=node.span)
        return body

    def shuffled(self, node: tir.Shuffle, lane: int) -> tir.Expr:
        """Lane `lane` of a shuffle. Fails: RM504."""
        index = node.indices[lane]
        if not isinstance(index, tir.IntImm):
            raise not_certified("a shuffle by lanes that are computed", node.span)
        counts = [lanes_of(vector.dtype, node.span) for vector in node.vectors]
        for vector, count, end in zip(node.vectors, counts, accumulate(counts), strict=True):
            if index.value < end:
                return self.of(vector, index.value - (end - count))
        raise not_certified("a shuffle of a lane that does not exist", node.span)


def lanes_of(dtype: DType, span: Span | None) -> int:
    """The number of lanes. Fails: RM504 for a vector whose length the machine decides."""
    if dtype.scalable:
        raise not_certified(f"a vector ({dtype})", span)
    return dtype.lanes


def scalar(dtype: DType) -> DType:
    """The dtype of one lane."""
    return dtype.with_lanes(1)
