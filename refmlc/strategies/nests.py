"""Loop nests of generated programs: loops, and blocks whose axes are bound to them in many ways.

| axis     | loops and binding                                                             |
|----------|-------------------------------------------------------------------------------|
| plain    | `for i in range(n)`, bound to `i`                                             |
| split    | `for i0, i1`, bound to `i0 * f + i1`, with `T.where` where it does not divide |
| shifted  | `for i in range(2, n + 2)`, bound to `i - 2`                                  |
| mirrored | bound to `n - 1 - i` (spatial axes)                                           |

Loops stand in any order; those of spatial axes may be of any kind. Some blocks declare their accesses.

| aim   | what is done                            | aim   | what is done                         |
|-------|-----------------------------------------|-------|--------------------------------------|
| RM312 | an axis is bound beyond its domain      | RM320 | each term of a reduction comes twice |
| RM315 | a loop has a negative extent            | RM321 | a reduction in a parallel loop       |
| RM318 | the declaration of a block is too small | RM325 | a loop ends too early                |
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import reduce
from typing import TypeAlias

from refmlc.lang.dtypes import BOOL, INT32, INT64, DType
from refmlc.lang.ir import tir
from refmlc.lang.ir.kinds import ForKind, IterKind
from refmlc.strategies.choices import Choices
from refmlc.strategies.indices import Indices
from refmlc.strategies.ranges import RangedBuffer, RangedExpr, number
from refmlc.strategies.regions import DeclaredRegions, declared_regions, first_element

KINDS = (ForKind.SERIAL, ForKind.SERIAL, ForKind.PARALLEL, ForKind.UNROLLED, ForKind.VECTORIZED, ForKind.THREAD_BINDING)
TAGS = ("threadIdx.x", "blockIdx.x", "threadIdx.y", "blockIdx.y", "vthread.x")


@dataclass(frozen=True)
class Axis:
    """A future axis of a block: its extent in this call, the expression of the extent, its kind."""

    extent: int
    size: tir.Expr
    kind: IterKind = IterKind.SPATIAL


@dataclass(frozen=True)
class Loop:
    """A future loop; `free`: its iterations may be executed in any order."""

    var: tir.Var
    first: tir.Expr
    size: tir.Expr
    kind: ForKind = ForKind.SERIAL
    step: tir.Expr | None = None
    free: bool = True


LoopBinding: TypeAlias = tuple[list[Loop], tir.Expr, tir.Expr | None]


def true() -> tir.IntImm:
    """A predicate that always holds."""
    return tir.IntImm(BOOL, 1)


class Nests(Indices):
    """Makes loops and blocks. `tags`: the thread axes without a loop; `regular`: loops are mostly plain."""

    regular = False

    def __init__(self, choices: Choices, aim: str = "") -> None:
        super().__init__(choices, aim)
        self.tags = list(TAGS)

    @contextmanager
    def scope(self, *variables: RangedExpr) -> Iterator[None]:
        """Put variables in scope inside of the `with`."""
        outer = len(self.numbers)
        self.numbers += variables
        try:
            yield
        finally:
            del self.numbers[outer:]

    def loops_for(self, axis: Axis, name: str) -> LoopBinding:
        """The loops of an axis, the value of its binding, and the predicate if not all instances run."""
        kind = axis.size.dtype
        var = tir.Var(name, kind)
        plain = [Loop(var, number(kind, 0), axis.size)]
        forms = ("plain", "plain", "plain", "split", "shifted", "mirrored")
        form = self.choices.pick(forms)
        spatial = axis.kind is IterKind.SPATIAL
        if self.spoil("RM312", 40):
            return self._out_of_domain(plain, var, axis)
        if self.spoil("RM325", 40) and axis.extent > 1:
            return [replace(plain[0], size=tir.Apply("sub", (axis.size, number(kind, 1)), kind))], var, None
        if not spatial and self.spoil("RM320", 60):
            twice = tir.Apply("mul", (axis.size, number(kind, 2)), kind)
            return [replace(plain[0], size=twice)], tir.Apply("floordiv", (var, number(kind, 2)), kind), None
        if self.spoil("RM315", 25):
            return [Loop(var, number(kind, 0), tir.Apply("sub", (axis.size, number(kind, 9)), kind))], var, None
        if self.choices.chance(60 if self.regular else 0):
            return plain, var, None
        if form == "split" and axis.extent > 1:
            return self._split(axis, name, spatial=spatial)
        if form == "shifted":
            by = number(kind, self.choices.pick((2, 5, -1)))
            return [Loop(var, by, axis.size)], tir.Apply("sub", (var, by), kind), None
        if form == "mirrored" and spatial:
            last = tir.Apply("sub", (axis.size, number(kind, 1)), kind)
            return plain, tir.Apply("sub", (last, var), kind), None
        return plain, var, None

    def _out_of_domain(self, plain: list[Loop], var: tir.Var, axis: Axis) -> LoopBinding:
        """A binding that leaves the domain at one end."""
        if self.choices.chance(50):
            return plain, tir.Apply("add", (var, number(var.dtype, 1)), var.dtype), None
        more = tir.Apply("add", (axis.size, number(var.dtype, 1)), var.dtype)
        return [replace(plain[0], size=more)], var, None

    def _split(self, axis: Axis, name: str, *, spatial: bool) -> LoopBinding:
        kind = axis.size.dtype
        factor = self.choices.pick((2, 3, 4, 8))
        outer, inner = tir.Var(f"{name}_0", kind), tir.Var(f"{name}_1", kind)
        count: tir.Expr = number(kind, -(-axis.extent // factor))
        if not isinstance(axis.size, tir.IntImm):
            padded = tir.Apply("add", (axis.size, number(kind, factor - 1)), kind)
            count = tir.Apply("floordiv", (padded, number(kind, factor)), kind)
        value = tir.Apply("add", (tir.Apply("mul", (outer, number(kind, factor)), kind), inner), kind)
        where = None
        if axis.extent % factor or not isinstance(axis.size, tir.IntImm):
            where = tir.Apply("lt", (value, axis.size), BOOL)
            if self.spoil("RM312", 50):
                where = None
        loops = [Loop(outer, number(kind, 0), count), Loop(inner, number(kind, 0), number(kind, factor))]
        return (list(reversed(loops)) if spatial and self.choices.chance(20) else loops), value, where

    def block(
        self,
        name: str,
        axes: Sequence[Axis],
        body: Callable[[], tir.Stmt],
        *,
        init: Callable[[], tir.Stmt] | None = None,
        matches: Callable[[], list[tir.MatchBufferRegion]] | None = None,
    ) -> tir.Stmt:
        """Loops around one block; `body`, `init` and `matches` make its parts with the axes in scope."""
        groups, values, conditions, iter_vars, numbers = [], [], [], [], []
        for place, axis in enumerate(axes):
            loops, value, where = self.loops_for(axis, f"i{place}")
            groups.append(loops if axis.kind is IterKind.SPATIAL else self._keep_order(loops))
            conditions += [where] if where is not None else []
            var = tir.Var(f"v{place}", axis.size.dtype)
            if axis.size.dtype == INT32 and not self.regular and self.choices.chance(5):
                var, value = tir.Var(f"v{place}", INT64), tir.Cast(INT64, value)
            values.append(value)
            domain = tir.Range(number(var.dtype, 0), self._as_dtype(axis.size, var.dtype))
            iter_vars.append(tir.IterVar(var, domain, axis.kind))
            numbers.append(RangedExpr(var, 0, max(axis.extent - 1, 0)))
        predicate = reduce(tir.And, conditions) if conditions else true()
        with self.scope(*numbers):
            regions = tuple(matches() if matches else ())
            init_stmt = init() if init else None
            body_stmt = body()
        reads, writes = None, None
        if not regions and self.choices.chance(90 if self.aim == "RM318" else 15):
            reads, writes = self._declared_regions(body_stmt, init_stmt, iter_vars)
        block = tir.SBlock(name, tuple(iter_vars), reads, writes, body_stmt, init_stmt, (), regions)
        realize = tir.SBlockRealize(tuple(values), predicate, block)
        return self.wrap(self.order_loops(groups), realize)

    def _keep_order(self, loops: list[Loop]) -> list[Loop]:
        """Serial loops, as one iteration depends on another; parallel if the program aims at a race."""
        kind = ForKind.PARALLEL if self.spoil("RM321", 60) else ForKind.SERIAL
        return [replace(loop, kind=kind, free=False) for loop in loops]

    def _declared_regions(self, body: tir.Stmt, init: tir.Stmt | None, axes: Sequence[tir.IterVar]) -> DeclaredRegions:
        """`T.reads` and `T.writes`; incomplete if the program aims at RM318."""
        reads, writes = declared_regions(body, init, axes)
        if reads is None or writes is None or not self.spoil("RM318"):
            return reads, writes
        if len(reads) > 0 and self.choices.chance(70):
            return reads[:-1], writes
        return reads, tuple(first_element(region) for region in writes)

    def _as_dtype(self, size: tir.Expr, kind: DType) -> tir.Expr:
        if size.dtype == kind:
            return size
        return number(kind, size.value) if isinstance(size, tir.IntImm) else tir.Cast(kind, size)

    def order_loops(self, groups: Sequence[Sequence[Loop]]) -> list[Loop]:
        """The loops in the order of the axes, or (the loops of one axis in their order) in another."""
        loops = [loop for group in groups for loop in group]
        if not self.choices.chance(10 if self.regular else 25):
            return loops
        order = self.choices.permutation([place for place, group in enumerate(groups) for _ in group])
        remaining = [list(group) for group in groups]
        return [remaining[place].pop(0) for place in order]

    def wrap(self, loops: Sequence[Loop], body: tir.Stmt) -> tir.Stmt:
        """`body` in `loops`, outermost first, some of which get another kind."""
        for loop in reversed(loops):
            kind = loop.kind
            if kind is ForKind.SERIAL and loop.step is None and self.choices.chance(5 if self.regular else 12):
                kind = self.choices.pick(KINDS if loop.free else (ForKind.SERIAL, ForKind.UNROLLED))
            thread = tir.ThreadVar(self.tags.pop(0)) if kind is ForKind.THREAD_BINDING and self.tags else None
            kind = ForKind.SERIAL if kind is ForKind.THREAD_BINDING and thread is None else kind
            body = tir.For(loop.var, loop.first, loop.size, kind, body, thread, {}, loop.step)
        return body

    def axes_of(self, buffer: RangedBuffer, kind: IterKind = IterKind.SPATIAL) -> list[Axis]:
        """One axis for each dimension of a buffer."""
        return [Axis(extent, size, kind) for extent, size in zip(buffer.shape, buffer.buffer.shape, strict=True)]

    def grid(self, buffer: RangedBuffer, body: Callable[[list[tir.Expr]], tir.Stmt]) -> tir.Stmt:
        """Loops over the elements of a buffer, without a block; `body` is made from the indices."""
        loops, numbers = [], []
        for place, (extent, size) in enumerate(zip(buffer.shape, buffer.buffer.shape, strict=True)):
            var = tir.Var("ijk"[place % 3], size.dtype)
            loops.append(Loop(var, number(size.dtype, 0), size))
            numbers.append(RangedExpr(var, 0, max(extent - 1, 0)))
        with self.scope(*numbers):
            body_stmt = body([expr.expr for expr in numbers])
        return self.wrap(loops, body_stmt)
