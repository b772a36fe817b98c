"""Steps that leave the order of iterations as it is.

| step             | before                   | after                                                                |
|------------------|--------------------------|----------------------------------------------------------------------|
| `split`          | `for i in n`             | `for i_0: for i_1 in f`, `i` = `i_0 * f + i_1`; guarded where needed |
| `fuse`           | `for i in n: for j in m` | `for f in n*m`, `i` = `f // m`, `j` = `f % m`                        |

The guard is a condition of each block inside (`T.where`), or an `if` where something stands outside of blocks.

Legal because the iterations are the same, one after the other as before; those that the last incomplete round has too
many are guarded. Loops that are parallel, vectorised or unrolled become serial, which is what all of them mean; loops
that are bound to threads are refused.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import ClassVar

from refmlc.diag import fail
from refmlc.diag.catalogue import BAD_USAGE
from refmlc.diag.entry import entry_point, entry_points
from refmlc.lang.dtypes import BOOL
from refmlc.lang.ir import tir
from refmlc.lang.ir.kinds import ForKind
from refmlc.lang.ir.node import Node
from refmlc.lang.ir.visit import substitute, walk
from refmlc.rewrite.schedule.draws import Choices, Draw, Drawn, loops as loops_of
from refmlc.rewrite.schedule.handles import ExprRV, LoopRV, numbers
from refmlc.rewrite.schedule.places import (
    fresh_name,
    get_loop,
    integer,
    refused,
    with_stmt,
)
from refmlc.rewrite.schedule.session import Session

LARGEST = 1 << 30  # of the extents that are computed: their arithmetic stays within int32


@entry_point
def split(func: tir.PrimFunc, loop: tir.Var, factors: Sequence[int | None]) -> tuple[tir.PrimFunc, tuple[tir.Var, ...]]:
    """The loop as several, the extents being `factors`, of which the first is what is needed (None, or any number).

    Returns the function and the new variables, outermost first. Fails: RM112, RM504.
    """
    first, *inner_factors = factors
    inner = [inner_factor for inner_factor in inner_factors if inner_factor is not None and inner_factor > 0]
    if not inner or len(inner) != len(inner_factors):
        raise fail(BAD_USAGE, "a loop is split by positive factors, of which the first may be None", func.span)
    node = get_loop(func, loop)
    plain(node, "split")
    volume = 1
    for inner_factor in inner:
        volume *= inner_factor
    count, exact = _count(node, volume)
    if first is not None:
        minimum = count.value if isinstance(count, tir.IntImm) else None
        if minimum is None or first < minimum or first * volume > LARGEST:
            raise refused("split", f"{first} rounds of {volume} may be too few", node.span)
        count, exact = integer(first, loop.dtype), exact and first == minimum
    variables = tuple(tir.Var(fresh_name(func, f"{loop.name}_{number}"), loop.dtype) for number in range(len(factors)))
    value: tir.Expr = variables[0]
    for var, factor in zip(variables[1:], inner, strict=True):
        value = tir.Apply("add", (tir.Apply("mul", (value, integer(factor, loop.dtype)), loop.dtype), var), loop.dtype)
    condition = None if exact else tir.Apply("lt", (value, node.extent), BOOL)
    shifted = value if is_constant(node.min, 0) else tir.Apply("add", (value, node.min), loop.dtype)
    body = guard(substitute(node.body, {loop: shifted}), condition, variables)
    extents = (count, *(integer(inner_factor, loop.dtype) for inner_factor in inner))
    for var, extent in zip(reversed(variables), reversed(extents), strict=True):
        body = serial_loop(var, extent, body)
    return with_stmt(func, node, body), variables


def _count(node: tir.For, volume: int) -> tuple[tir.Expr, bool]:
    """How many rounds of `volume` a loop needs, and whether they are all complete."""
    dtype = node.extent.dtype
    if isinstance(node.extent, tir.IntImm):
        extent = max(node.extent.value, 0)
        if extent + volume > LARGEST:
            raise refused("split", f"an extent of {extent} is too large", node.span)
        return integer(-(-extent // volume), dtype), extent % volume == 0
    if any(isinstance(part, tir.BufferLoad | tir.Call) for part in walk(node.extent)):
        raise refused("split", "the extent is more than arithmetic", node.span)
    rounded = tir.Apply("add", (node.extent, integer(volume - 1, dtype)), dtype)
    return tir.Apply("floordiv", (rounded, integer(volume, dtype)), dtype), False


def plain(node: tir.For, step: str, *, threads: bool = False) -> None:
    """Refuse loops that are not counted by one, or that belong to threads unless `threads`. Fails: RM504."""
    if not threads and (node.kind is ForKind.THREAD_BINDING or node.thread is not None):
        raise refused(step, f"the loop over `{node.loop_var.name}` is bound to a thread axis", node.span)
    if node.step is not None:
        raise refused(step, f"the loop over `{node.loop_var.name}` has a step", node.span)
    if node.annotations:
        raise refused(step, f"the loop over `{node.loop_var.name}` has annotations", node.span)
    for part in walk(node.body):
        if isinstance(part, tir.Break | tir.Continue):
            raise refused(step, f"the loop over `{node.loop_var.name}` may be left early", node.span)


def is_constant(expr: tir.Expr, value: int) -> bool:
    """Whether the expression is the constant `value`."""
    return isinstance(expr, tir.IntImm) and expr.value == value


def serial_loop(var: tir.Var, extent: tir.Expr, body: tir.Stmt) -> tir.For:
    """`for var in range(extent)`."""
    return tir.For(var, integer(0, var.dtype), extent, ForKind.SERIAL, body)


def guard(body: tir.Stmt, condition: tir.Expr | None, changing: Sequence[tir.Var]) -> tir.Stmt:
    """The body where `condition` holds: the blocks in it, or all of it where it has other statements."""
    if condition is None:
        return body
    blocks = _blocks(body, set(changing))
    if blocks is None:
        return tir.IfThenElse(condition, body)
    table: dict[Node, Node] = {
        block: replace(block, predicate=conjunction(block.predicate, condition)) for block in blocks
    }
    return substitute(body, table)


def _blocks(body: tir.Stmt, changing: set[tir.Var]) -> list[tir.SBlockRealize] | None:
    """The outermost blocks, where nothing but loops is around them, whose bounds do not change."""
    match body:
        case tir.SBlockRealize():
            return [body]
        case tir.SeqStmt(seq):
            by_part = [_blocks(part, changing) for part in seq]
            return None if None in by_part else [block for part in by_part for block in part or ()]
        case tir.For(_, first, extent):
            bounds = [*walk(first), *walk(extent)]
            simple = not any(part in changing or isinstance(part, tir.BufferLoad | tir.Call) for part in bounds)
            return _blocks(body.body, changing) if simple and body.step is None else None
        case _:
            return None


def conjunction(a: tir.Expr, b: tir.Expr) -> tir.Expr:
    """The condition that both hold."""
    return b if is_constant(a, 1) else tir.And(a, b)


@entry_point
def fuse(func: tir.PrimFunc, outer: tir.Var, inner: tir.Var) -> tuple[tir.PrimFunc, tir.Var]:
    """Two loops, the second being all that the first contains, as one.

    Returns the function and the new variable. Fails: RM112, RM504.
    """
    first, second = get_loop(func, outer), get_loop(func, inner)
    plain(first, "fuse")
    plain(second, "fuse")
    if first.body is not second:
        raise refused("fuse", f"`{inner.name}` is not the only thing in the loop over `{outer.name}`", second.span)
    if not (is_constant(first.min, 0) and is_constant(second.min, 0)):
        raise refused("fuse", "a loop does not start at 0", first.span)
    if outer.dtype != inner.dtype:
        raise refused("fuse", f"`{outer.name}` is {outer.dtype}, `{inner.name}` is {inner.dtype}", first.span)
    if any(part is outer or isinstance(part, tir.BufferLoad | tir.Call) for part in walk(second.extent)):
        raise refused("fuse", f"the extent of `{inner.name}` is not the same in all iterations", second.span)
    dtype = outer.dtype
    extent: tir.Expr = tir.Apply("mul", (first.extent, second.extent), dtype)
    if isinstance(first.extent, tir.IntImm) and isinstance(second.extent, tir.IntImm):
        if min(first.extent.value, second.extent.value) < 0 or first.extent.value * second.extent.value > LARGEST:
            raise refused("fuse", "the extents are negative or too large", first.span)
        extent = integer(first.extent.value * second.extent.value, dtype)
    var = tir.Var(fresh_name(func, f"{outer.name}_{inner.name}_fused"), dtype)
    table: dict[Node, Node] = {
        outer: tir.Apply("floordiv", (var, second.extent), dtype),
        inner: tir.Apply("floormod", (var, second.extent), dtype),
    }
    return with_stmt(func, first, serial_loop(var, extent, substitute(second.body, table))), var


def _draw_split(func: tir.PrimFunc, choices: Choices) -> Drawn:
    loop = choices.pick(loops_of(func)).loop_var
    factors = choices.pick(((2,), (3,), (4,), (8,), (2, 2), (1,)))
    return f"split {loop.name} by {', '.join(map(str, factors))}", split(func, loop, (None, *factors))[0]


def _draw_fuse(func: tir.PrimFunc, choices: Choices) -> Drawn:
    pairs = [(loop.loop_var, loop.body.loop_var) for loop in loops_of(func) if isinstance(loop.body, tir.For)]
    if not pairs:
        return None
    outer, inner = choices.pick(pairs)
    return f"fuse {outer.name}, {inner.name}", fuse(func, outer, inner)[0]


@entry_points
class LoopSteps(Session):
    """The methods that keep the order of iterations."""

    draws: ClassVar[Mapping[str, Draw]] = {"split": _draw_split, "fuse": _draw_fuse}

    def split(
        self, loop: LoopRV, factors: Sequence[int | ExprRV | None], *, preserve_unit_iters: bool = True
    ) -> list[LoopRV]:
        """Split the loop into several, outermost first; one of the factors may be None."""
        del preserve_unit_iters
        full_factors = self._factors(loop, numbers(factors))

        def change(func: tir.PrimFunc) -> tuple[tir.PrimFunc, tuple[LoopRV, ...]]:
            after, variables = split(func, loop.var, full_factors)
            return after, tuple(self._loop(loop.func, var) for var in variables)

        return list(self._apply("split", (loop,), change, {"factors": list(factors)}))

    def _factors(self, loop: LoopRV, factors: Sequence[int | None]) -> list[int | None]:
        """The factors, with what None stands for where it is not the first."""
        full_factors = list(factors)
        if None not in full_factors[1:]:
            return full_factors
        extent = get_loop(self._function(loop.func), loop.var).extent
        if not isinstance(extent, tir.IntImm) or full_factors.count(None) > 1:
            raise fail(BAD_USAGE, "one factor may be None; of a loop of unknown extent the first only")
        volume = 1
        for factor in full_factors:
            volume *= factor or 1
        return [-(-extent.value // volume) if factor is None else factor for factor in full_factors]

    def fuse(self, *loops: LoopRV, preserve_unit_iters: bool = True) -> LoopRV:
        """Fuse loops into one; each is all that the one before contains."""
        del preserve_unit_iters
        first, *inner_loops = loops

        def change(func: tir.PrimFunc) -> tuple[tir.PrimFunc, tuple[LoopRV]]:
            var = first.var
            for inner in inner_loops:
                func, var = fuse(func, var, inner.var)
            return func, (self._loop(first.func, var),)

        return self._apply("fuse", loops, change)[0]
