"""The number of statements and iterations of a loop or a block, where the text gives it.

| part                          | statements, each time                                                          |
|-------------------------------|--------------------------------------------------------------------------------|
| a loop of `n` iterations       | 1, and `n` times its body                                                       |
| a block                       | 1, its body, and its init where all axes of reductions stand at their beginnings |
| a sequence                    | its parts                                                                       |
| a store, a declaration, …     | 1                                                                              |
| `if`, `while`, jumps, calls, launches of threads, a predicate | unknown                                        |
"""

from collections.abc import Mapping
from dataclasses import dataclass
from math import prod

from refmlc.lang.ir import tir
from refmlc.lang.ir.kinds import IterKind
from refmlc.lang.ir.visit import walk

Values = Mapping[tir.Var, object]


class LengthUnknown(Exception):
    """The text does not give the length."""


@dataclass(slots=True)
class LoopLength:
    """The number of statements, as moments count them, and of iterations, as the budget counts them."""

    statements: int = 0
    iterations: int = 0


def counted(loop: tir.Stmt, values: Values) -> LoopLength | None:
    """The length of `loop` for these values of the variables around it; None where the text does not give it."""
    length = LoopLength()
    try:
        _count(loop, 1, {}, values, length)
    except LengthUnknown:
        return None
    return length


def _count(
    stmt: tir.Stmt, times: int, loops: Mapping[tir.Var, tuple[int, int]], values: Values, into: LoopLength
) -> None:
    """Add `times` executions of `stmt`. `loops`: first value and extent of the loops around it."""
    match stmt:
        case tir.SeqStmt(seq=parts):
            for part in parts:
                _count(part, times, loops, values, into)
            return
        case tir.For(thread=None, step=None):
            extent, first = _int(stmt.extent, values), _int(stmt.min, values)
            into.iterations += times * extent
            _count(stmt.body, times * extent, {**loops, stmt.loop_var: (first, extent)}, values, into)
        case tir.SBlockRealize(block=block, predicate=tir.IntImm(value=value)) if value:
            if block.init is not None:
                _count(block.init, _inits(stmt, times, loops, values), loops, values, into)
            _count(block.body, times, loops, values, into)
        case tir.BufferStore() | tir.Bind() | tir.AllocBuffer() | tir.DeclBuffer() | tir.AssertStmt() | tir.Evaluate():
            if any(isinstance(node, tir.Call) for node in walk(stmt)):
                raise LengthUnknown
        case _:
            raise LengthUnknown
    into.statements += times


def _inits(node: tir.SBlockRealize, times: int, loops: Mapping[tir.Var, tuple[int, int]], values: Values) -> int:
    """How often the init of a block is executed when the block is executed `times` times."""
    inner: dict[tir.Var, int] = {}
    for axis, value in zip(node.block.iter_vars, node.iter_values, strict=True):
        if axis.kind is not IterKind.REDUCE:
            continue
        least = _int(axis.dom.min, values)
        if isinstance(value, tir.Var) and value in loops:
            first, extent = loops[value]
            if not first <= least < first + extent:
                return 0
            inner[value] = extent
        elif _int(value, values) != least:
            return 0
    return times // prod(inner.values())


def _int(expr: tir.Expr, values: Values) -> int:
    match expr:
        case tir.IntImm(value=value):
            return value
        case tir.Var() if isinstance(number := values.get(expr), int):
            return number
        case _:
            raise LengthUnknown
