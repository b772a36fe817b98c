"""Which iterations of a loop touch elements that others write: the one question behind `reorder` and `parallel`.

A loop *separates* a buffer that is written in its body, when two iterations never touch the same element of it. That
holds when some dimension of the buffer is indexed, in every access, by

    factor · loop variable + what does not change + inner          (the same factor ≠ 0, the same unchanging part)

where the inner parts, over all accesses and all values of the loops inside, lie in an interval shorter than |factor|;
or when two dimensions are, one with the quotient of the loop variable in its place, the other with the remainder, by
one divisor; or when the dimensions are digits of such a sum (`digits`).

Refused altogether: bodies with effects other than stores (calls, assertions, `while`, early ends), and functions in
which two buffers may be one piece of memory (views).
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from refmlc.lang.arith.interval import ANY, EMPTY, Interval
from refmlc.lang.ir import tir
from refmlc.lang.ir.visit import walk
from refmlc.lang.ops.intrinsics import Effect, intrinsic
from refmlc.rewrite.schedule.digits import digits_tell_apart
from refmlc.rewrite.schedule.linear import Sum, atoms, sum_of

QUIET = (
    tir.For,
    tir.SeqStmt,
    tir.IfThenElse,
    tir.BufferStore,
    tir.SBlockRealize,
    tir.Bind,
    tir.AllocBuffer,
    tir.Evaluate,
)
LOUD = (tir.While, tir.AttrStmt, tir.AssertStmt, tir.Break, tir.Continue, tir.Return, tir.DeclBuffer)


@dataclass(frozen=True)
class Accesses:
    """What a statement reads and writes, by buffer; `axes` what axes are bound to, `inner` what is bound inside.

    Buffers that the statement allocates itself are left out: they are new each time.
    """

    indices: Mapping[tir.Buffer, Sequence[tuple[tir.Expr, ...]]]
    written: frozenset[tir.Buffer]
    axes: Mapping[tir.Var, tir.Expr]
    inner: Mapping[tir.Var, Interval]


def problem(func: tir.PrimFunc, body: tir.Stmt, *, inside: bool = False) -> str | None:
    """Why the iterations of a loop around `body` may not be looked at one by one; None: they may.

    `inside`: nothing outside of `body` is looked at, so that views matter only where `body` can name them.
    """
    for node in walk(func):
        names = not inside or isinstance(node, tir.DeclBuffer)
        if names and isinstance(node, tir.DeclBuffer | tir.BufferData | tir.MatchBufferRegion):
            return "two buffers may be one piece of memory"
        if isinstance(node, tir.SBlock) and node.match_buffers and any(part is body for part in walk(node)):
            return "two buffers may be one piece of memory"
    for node in walk(body):
        if isinstance(node, tir.BufferData | tir.MatchBufferRegion):
            return "two buffers may be one piece of memory"
        if isinstance(node, LOUD):
            return "the body does more than to write buffers"
        if isinstance(node, tir.Call) and not _is_pure(node):
            return "the body calls something that may have an effect"
    return None


def _is_pure(call: tir.Call) -> bool:
    row = intrinsic(call.callee) if isinstance(call.callee, str) else None
    return row is not None and row.effect is Effect.PURE


def accesses(body: tir.Stmt) -> Accesses:
    """All accesses at or below `body`."""
    indices: dict[tir.Buffer, list[tuple[tir.Expr, ...]]] = {}
    written: set[tir.Buffer] = set()
    axes: dict[tir.Var, tir.Expr] = {}
    inner: dict[tir.Var, Interval] = {}
    allocated: set[tir.Buffer] = set()
    for node in walk(body):
        match node:
            case tir.BufferStore(buffer, _, at):
                indices.setdefault(buffer, []).append(at)
                written.add(buffer)
            case tir.BufferLoad(buffer, at):
                indices.setdefault(buffer, []).append(at)
            case tir.For():
                inner[node.loop_var] = interval(node)
            case tir.Bind(var) | tir.Let(var):
                inner[var] = ANY
            case tir.AllocBuffer(buffer):
                allocated.add(buffer)
            case tir.SBlockRealize(values, _, block):
                axes.update((axis.var, value) for axis, value in zip(block.iter_vars, values, strict=True))
                allocated.update(block.alloc_buffers)
            case _:
                pass
    outer = {buffer: at for buffer, at in indices.items() if buffer not in allocated}
    return Accesses(outer, frozenset(written - allocated), axes, inner)


def interval(loop: tir.For) -> Interval:
    """The values of a loop variable, where constants say them; else `ANY`."""
    match loop.min, loop.extent:
        case tir.IntImm(_, low), tir.IntImm(_, extent) if loop.step is None:
            return Interval(low, low + max(extent, 1) - 1)
        case _:
            return ANY


def separates(loop: tir.Var, uses: Accesses, buffer: tir.Buffer, agreed: Collection[tir.Var] = ()) -> bool:
    """Whether iterations of `loop` that differ touch different elements of `buffer`.

    `uses` are the accesses of a statement that changes with `loop`; variables in `agreed` have the same value in the
    iterations that are compared.
    """
    indices = uses.indices[buffer]
    sums = [[sum_of(index, uses.axes) for index in at] for at in indices]
    varying = {var: bounds for var, bounds in uses.inner.items() if var not in agreed and var is not loop}
    columns = [list(column) for column in zip(*sums, strict=True)]
    return (
        any(_separated_in(loop, column, varying) for column in columns)
        or _digits(loop, columns, varying)
        or digits_tell_apart(loop, indices, uses.axes, varying)
    )


def _separated_in(
    loop: tir.Var, column: list[Sum | None], varying: Mapping[tir.Var, Interval], op: str = "", by: int = 0
) -> bool:
    """Whether one dimension tells the iterations apart; with `op`, those whose quotient or remainder differs."""
    parts: set[tuple[int, frozenset[tuple[object, int]]]] = set()
    spread = EMPTY
    for index_sum in column:
        if index_sum is None:
            return False
        shares = _split((loop, op, by), index_sum, varying)
        if shares is None:
            return False
        factor, fixed, rest = shares
        parts.add((factor, fixed))
        spread = spread.join(rest)
    if len(parts) != 1:
        return False
    ((factor, _),) = parts
    return factor != 0 and spread.low is not None and spread.high is not None and spread.high - spread.low < abs(factor)


def _split(
    moving: tuple[tir.Var, str, int], index_sum: Sum, varying: Mapping[tir.Var, Interval]
) -> tuple[int, frozenset[tuple[object, int]], Interval] | None:
    """The factor of the loop variable, what does not change, and the interval of the rest; None: not known."""
    factor, rest = 0, Interval(index_sum.constant, index_sum.constant)
    fixed: set[tuple[object, int]] = set()
    for atom, times in atoms(index_sum).items():
        var, op, divisor = atom
        if var is moving[0]:
            if atom[1:] != moving[1:]:
                return None
            factor = times
        elif var not in varying:
            fixed.add((atom, times))
        else:
            values = varying[var]
            if values == ANY:
                return None
            if op:
                by = Interval(divisor, divisor)
                values = values.floordiv(by) if op == "floordiv" else values.floormod(by)
            rest = rest.plus(values.scaled(times))
    return factor, frozenset(fixed), rest


def _digits(loop: tir.Var, columns: list[list[Sum | None]], varying: Mapping[tir.Var, Interval]) -> bool:
    """Whether one dimension tells quotients of the variable apart, another one remainders, by the same divisor."""
    divisors = {
        (op, by)
        for column in columns
        for var, op, by in ([] if column[0] is None else atoms(column[0]))
        if var is loop and op and _separated_in(loop, column, varying, op, by)
    }
    return any(op == "floordiv" and ("floormod", by) in divisors for op, by in divisors)


def separated_by(loop: tir.Var, uses: Accesses, agreed: Collection[tir.Var] = ()) -> bool:
    """Whether iterations of `loop` that differ touch nothing that the other writes."""
    return all(separates(loop, uses, buffer, agreed) for buffer in uses.written)
