"""Chains: the stores that made one cell, each reading the one before; and the result of a reduction.

A chain of one statement whose value is `self op term` (op add, mul, max or min; the terms may stand on either side and
there may be several) is folded: one line instead of a thousand.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import isfinite

from refmlc.lang.dtypes import FLOAT32
from refmlc.lang.ir import tir
from refmlc.observe.why.exactness import ulp
from refmlc.observe.why.memory import element_name
from refmlc.observe.why.records import Event, ExternalWrite
from refmlc.observe.why.trees import stored_value
from refmlc.observe.why.values import Cell, Kind, Slice, Value, Write

FOLDED = ("add", "mul", "max", "min")
LEAST = 3  # stores that are folded


def write_of(event: Event, cell: Cell) -> Write:
    """A recorded store as data."""
    if isinstance(event, ExternalWrite):
        value = Value(Kind.CALL, event.symbol, FLOAT32, None)
        return Write(
            event.number,
            cell,
            f"an output of `{event.symbol}`",
            value,
            event.symbol,
            -1,
            bindings=event.bindings,
            outside=True,
        )
    node = event.site.node
    tree = stored_value(event, cell)
    name = node.buffer.name if isinstance(node, tir.BufferStore) else node.var.name
    if tree is None:
        tree = Value(Kind.CALL, "bytes of another element", FLOAT32, None, node.span)
    block = event.site.block()
    return Write(
        event.number,
        cell,
        element_name(name, event.indices),
        tree,
        event.function,
        event.site.number,
        node.span,
        "" if block is None else block.name,
        event.axes,
        event.loops,
        event.site.guards(),
        event.bindings,
    )


@dataclass(frozen=True, slots=True)
class Fold:
    """A reduction: the operator, its stores first to last, a term for each operand that is not the running value.

    `start` is the load of what the first store began with. `exact` is the exact result from `start` and the terms, of
    sums of finite terms; `error` is value - exact in units of the last place of the value. `biggest_index` is the index
    of the term of greatest magnitude.
    """

    op: str
    stores: tuple[int, ...]
    terms: tuple[Value, ...]
    start: Value
    biggest_index: int
    exact: Fraction | None = None
    error: Fraction | None = None


def split(write: Write) -> tuple[str, Value, tuple[Value, ...]] | None:
    """The operator, the load of the written cell itself, and the other operands; None for any other store."""
    root = write.value
    if root.kind is not Kind.OPERATOR or root.text not in FOLDED:
        return None
    self_loads: list[Value] = []
    operands: list[Value] = []
    stack = [root]
    while stack:
        node = stack.pop()
        if (
            node.kind is Kind.OPERATOR
            and node.text == root.text
            and any(load.cell == write.cell for load in node.loads())
        ):
            stack.extend(reversed(node.parts))
        elif node.kind is Kind.LOAD and node.cell == write.cell:
            self_loads.append(node)
        else:
            operands.append(node)
    if len(self_loads) != 1 or any(load.cell == write.cell for operand in operands for load in operand.loads()):
        return None
    return root.text, self_loads[0], tuple(operands)


def fold(slice_: Slice, write: Write) -> Fold | None:
    """The reduction whose last store is `write`; None for fewer than three stores."""
    stores: list[int] = []
    terms: list[Value] = []
    start: Value | None = None
    op, current = "", write
    while (parts := split(current)) is not None and current.site == write.site and parts[0] == (op or parts[0]):
        op, start, operands = parts
        stores.append(current.number)
        terms.extend(reversed(operands))
        previous = slice_.source(start)
        if not isinstance(previous, Write):
            break
        current = previous
    if start is None or len(stores) < LEAST:
        return None
    terms.reverse()
    exact, error = _sum(write, start, terms) if op == "add" else (None, None)
    return Fold(op, tuple(reversed(stores)), tuple(terms), start, biggest_index(terms), exact, error)


def biggest_index(terms: Sequence[Value]) -> int:
    """The index of the term of greatest magnitude."""
    sizes = [abs(term.value) if term.value is not None and term.value == term.value else 0 for term in terms]
    return max(range(len(terms)), key=lambda number: sizes[number])


def _sum(write: Write, start: Value, terms: Sequence[Value]) -> tuple[Fraction | None, Fraction | None]:
    values = [start.value, write.value.value, *(term.value for term in terms)]
    finite = [value for value in values if value is not None and isfinite(value)]
    if len(finite) != len(values):
        return None, None
    exact = sum((Fraction(value) for value in finite[2:]), Fraction(finite[0]))
    dtype = write.value.dtype
    return exact, (Fraction(finite[1]) - exact) / ulp(finite[1], dtype) if dtype.is_float else None


def followed_positions(writes: Sequence[Write], width: int) -> frozenset[int]:
    """The positions in a chain whose loads are followed: all; of a long chain the first, the last, the biggest term."""
    if len(writes) <= width:
        return frozenset(range(len(writes)))
    splits = [split(write) for write in writes]
    sizes = [
        0 if parts is None else max((abs(term.value) for term in parts[2] if term.value is not None), default=0)
        for parts in splits
    ]
    starts = [position for position, parts in enumerate(splits) if parts is None]
    last = len(writes) - 1
    return frozenset({*starts[-2:], min(starts[-1] + 1 if starts else 0, last), last, sizes.index(max(sizes))})
