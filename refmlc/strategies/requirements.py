"""Requirements of a TensorIR function on its buffers, as far as a cheap analysis of the text shows them.

| use of a loaded value                            | permitted values           |
|--------------------------------------------------|----------------------------|
| as an index of an axis of n elements             | 0 … n - 1                  |
| somewhere in such an index, in a loop's extent   | 0                          |
| as a divisor                                     | 1 and more                 |
| as a shift count of a dtype of b bits            | 0 … b - 1                  |

The caller fills a buffer if its first access in the text is a load; others are outputs.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from refmlc.lang.ir import tir
from refmlc.lang.ir.node import Node
from refmlc.lang.ir.visit import children, walk

DIVISIONS = frozenset(("floordiv", "floormod", "truncdiv", "truncmod", "div", "ceildiv"))
SHIFTS = frozenset(("shift_left", "shift_right"))
PASSING = frozenset(("likely", "tvm_thread_invariant", "ignore_loop_partition"))


@dataclass
class Need:
    """Requirements on one buffer: whether the caller fills it, and the limits of its integers.

    `below`: the extents of axes that the values are indices of, as expressions of the call.
    """

    filled: bool = False
    stored: bool = False
    low: int | None = None
    high: int | None = None
    below: list[tir.Expr] = field(default_factory=list)

    def within(self, low: int, high: int | None) -> None:
        """Narrow the limits."""
        self.low = low if self.low is None else max(self.low, low)
        if high is not None:
            self.high = high if self.high is None else min(self.high, high)


Access: TypeAlias = tir.BufferLoad | tir.BufferStore
Needs: TypeAlias = Callable[[tir.Buffer], Need]


def needs_of(func: tir.PrimFunc) -> Mapping[tir.Buffer, Need]:
    """The requirements of the function on each buffer parameter."""
    needs = {buffer: Need() for buffer in func.buffer_map.values()}
    sources = view_sources(func)

    def need(buffer: tir.Buffer) -> Need:
        while buffer in sources:
            buffer = sources[buffer]
        return needs.setdefault(buffer, Need())

    for access, stores in _accesses(func.body):
        requirement = need(access.buffer)
        requirement.filled |= not stores and not requirement.stored
        requirement.stored |= stores
    for node in walk(func.body):
        _note_limits(node, need)
    return needs


def view_sources(func: tir.PrimFunc) -> dict[tir.Buffer, tir.Buffer]:
    """The buffer that each view of a function shows."""
    sources: dict[tir.Buffer, tir.Buffer] = {}
    for node in walk(func.body):
        match node:
            case tir.MatchBufferRegion(buffer=buffer, source=source) if buffer is not source.buffer:
                sources[buffer] = source.buffer
            case tir.DeclBuffer(buffer=buffer, data=tir.BufferData(buffer=source)) if buffer is not source:
                sources[buffer] = source
    return sources


def _accesses(body: tir.Stmt) -> Iterator[tuple[Access, bool]]:
    """Each load and store, and True for a store, in the order of the text; the init of a block before its body.

    A pointer (`A.data`, `T.address_of`) counts as a load: its receiver may read.
    """
    stack: list[object] = [body]
    while stack:
        node = stack.pop()
        match node:
            case tuple():
                yield node[0], True
            case tir.SBlock(body=block_body, init=init):
                stack += [block_body] if init is None else [block_body, init]
            case tir.BufferStore():
                stack += [(node,), *reversed(tuple(child for child in children(node) if child is not node.buffer))]
            case tir.BufferLoad():
                yield node, False
                stack += reversed(node.indices)
            case tir.BufferData(buffer=buffer):
                yield tir.BufferLoad(buffer, ()), False
            case tir.DeclBuffer() | tir.Buffer():
                pass
            case _ if isinstance(node, Node):
                stack += reversed(tuple(children(node)))


def _note_limits(node: Node, need: Needs) -> None:
    """Note the requirements of the uses of loaded values in `node`."""
    match node:
        case tir.BufferLoad(buffer=buffer, indices=indices) | tir.BufferStore(buffer=buffer, indices=indices):
            for index, extent in zip(indices, buffer.shape, strict=False):
                _limit_index(index, extent, need)
        case tir.For(min=first, extent=extent):
            for load in (*_loads(first), *_loads(extent)):
                need(load.buffer).within(0, 0)
        case tir.Apply(op=op, args=(_, divisor)) if op in DIVISIONS and node.dtype.is_integer:
            _limit_operand(divisor, 1, None, need)
        case tir.Apply(op=op, args=(_, count)) if op in SHIFTS:
            _limit_operand(count, 0, node.dtype.bits - 1, need)


def _limit_operand(operand: tir.Expr, low: int, high: int | None, need: Needs) -> None:
    load = _plain_load(operand)
    if load is not None:
        need(load.buffer).within(low, high)


def _limit_index(index: tir.Expr, extent: tir.Expr, need: Needs) -> None:
    load = _plain_load(index)
    if load is not None:
        need(load.buffer).within(0, None)
        need(load.buffer).below.append(extent)
        return
    for inner in _loads(index):
        need(inner.buffer).within(0, 0)


def _plain_load(expr: tir.Expr) -> tir.BufferLoad | None:
    """The load within conversions and hints; None for any other expression."""
    while True:
        match expr:
            case tir.Cast(value=value):
                expr = value
            case tir.Apply(op=name, args=(inner,)) if name in PASSING:
                expr = inner
            case tir.BufferLoad():
                return expr
            case _:
                return None


def _loads(expr: tir.Expr) -> Iterator[tir.BufferLoad]:
    """The loads of integers in an expression, except in clamped or wrapped operands."""
    stack: list[Node] = [expr]
    while stack:
        node = stack.pop()
        if isinstance(node, tir.Apply) and node.op in ("max", "min", "floormod"):
            continue
        if isinstance(node, tir.BufferLoad) and node.dtype.is_integer:
            yield node
        stack += [child for child in children(node) if not isinstance(child, tir.Buffer)]
