"""Ranges of integer accumulators: `C[i] = C[i] + x`, executed K times after C[i] was set by init, overflows nowhere.

With C[i] in a … b after init and x in l … h, C[i] is before the step number j in a + j * l … b + j * h, 0 <= j < K.
"""

from math import prod

from refmlc.lang.arith.interval import Interval
from refmlc.lang.ir import tir
from refmlc.native.analysis.binding import BlockLoops
from refmlc.native.analysis.body import Body, parts_of
from refmlc.native.analysis.facts import Facts


def with_accumulators(facts: Facts, block_loops: BlockLoops, body: Body) -> Facts:
    """`facts` with the range of each load of an accumulator. All loads of stored buffers are of the stored element."""
    steps = prod(axis.extent for axis in block_loops.reduce)
    for store in body.stores:
        starts = [init.value for init in body.init if init.buffer is store.buffer]
        other_values = [other.value for other in body.stores if other is not store] + [let.value for let in body.lets]
        stored_once = sum(other.buffer is store.buffer for other in body.stores) == 1
        parts = _sum(store) if store.buffer.dtype.is_integer else None
        if parts is None or len(starts) != 1 or not stored_once:
            continue
        load, addend, sign = parts
        if _reads(store.buffer, (addend, *starts)) or any(load in parts_of(other) for other in other_values):
            continue
        step, start = facts.bounds(addend).scaled(sign), facts.bounds(starts[0])
        accumulated = step.times(Interval(0, steps - 1)).plus(start)
        if accumulated.plus(step).inside(store.buffer.dtype.minimum, store.buffer.dtype.maximum):
            facts = facts.bind_load(load, accumulated)
    return facts


def _sum(store: tir.BufferStore) -> tuple[tir.BufferLoad, tir.Expr, int] | None:
    """The load of the stored buffer and what is added to it, if the value is their sum; -1 if their difference."""
    match store.value:
        case tir.Apply("add" | "sub" as op, (tir.BufferLoad(buffer) as load, addend)) if buffer is store.buffer:
            return load, addend, 1 if op == "add" else -1
        case tir.Apply("add", (addend, tir.BufferLoad(buffer) as load)) if buffer is store.buffer:
            return load, addend, 1
        case _:
            return None


def _reads(buffer: tir.Buffer, exprs: tuple[tir.Expr, ...]) -> bool:
    return any(isinstance(part, tir.BufferLoad) and part.buffer is buffer for expr in exprs for part in parts_of(expr))
