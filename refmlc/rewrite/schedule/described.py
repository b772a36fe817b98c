"""A nest of a function held against the description of an intrinsic: the same loops, the same stores, at an offset.

| of the description                | must be in the nest                                                              |
|-----------------------------------|----------------------------------------------------------------------------------|
| a loop                            | a loop with the same bounds and kind                                             |
| a block                           | a block, always executed, with an init where the description has one             |
| `D[d0, …]`                        | `B[…, b0, …]`: each b is d plus what is fixed, the same in all accesses of D;    |
|                                   | dimensions that B has more of come first, and are fixed                          |
| a value                           | the same operators on the same operands                                          |

Indices are compared as sums of loops (`linear`), so that axes of blocks may be written in other ways. Fixed is what no
loop of the nest changes.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from refmlc.lang.ir import tir
from refmlc.lang.ir.equal import structural_equal
from refmlc.lang.ir.visit import walk
from refmlc.rewrite.schedule.linear import Sum, atoms, sum_from, sum_of


@dataclass(frozen=True)
class Found:
    """The buffer that a buffer of the description is part of, and where that part begins, dimension by dimension."""

    buffer: tir.Buffer
    begin: tuple[Sum, ...]


@dataclass
class Comparison:
    """What has been found equal so far: loops by those of the description, and the buffers."""

    axes: Mapping[tir.Var, tir.Expr]
    own_axes: Mapping[tir.Var, tir.Expr]
    loops: dict[tir.Var, tir.Var] = field(default_factory=dict)
    buffers: dict[tir.Buffer, Found] = field(default_factory=dict)

    def stmt(self, one: tir.Stmt, other: tir.Stmt) -> bool:
        """Whether a statement of the description, `one`, is the one of the nest."""
        if isinstance(one, tir.For) and isinstance(other, tir.For):
            return self._loop(one, other)
        match one, other:
            case tir.SeqStmt(a), tir.SeqStmt(b):
                return len(a) == len(b) and all(self.stmt(*pair) for pair in zip(a, b, strict=True))
            case tir.SBlockRealize(_, p, a), tir.SBlockRealize(_, q, b):
                return _always(p) and _always(q) and self._block(a, b)
            case tir.BufferStore(a, v, i, None), tir.BufferStore(b, w, j, None):
                return self._element(a, i, b, j) and self.expr(v, w)
            case _:
                return False

    def _loop(self, one: tir.For, other: tir.For) -> bool:
        bounds = ((one.min, other.min), (one.extent, other.extent))
        simple = not (one.step or other.step or one.thread or other.thread or one.annotations or other.annotations)
        if not simple or one.kind is not other.kind or not all(_constant(*pair) for pair in bounds):
            return False
        self.loops[one.loop_var] = other.loop_var
        return self.stmt(one.body, other.body)

    def _block(self, one: tir.SBlock, other: tir.SBlock) -> bool:
        if one.alloc_buffers or other.alloc_buffers or one.match_buffers or other.match_buffers:
            return False
        if one.init is not None and other.init is not None:
            kinds = [[axis.kind for axis in block.iter_vars] for block in (one, other)]
            same = kinds[0] == kinds[1] and self.stmt(one.init, other.init)
            return same and self._begins(one, other) and self.stmt(one.body, other.body)
        return one.init is None and other.init is None and self.stmt(one.body, other.body)

    def _begins(self, one: tir.SBlock, other: tir.SBlock) -> bool:
        """Whether the axes are bound to the same loops and begin at the same place: the init is executed alike."""
        pairs = zip(one.iter_vars, other.iter_vars, strict=True)
        return all(self._same(a.var, b.var) and _constant(a.dom.min, b.dom.min) for a, b in pairs)

    def expr(self, one: tir.Expr, other: tir.Expr) -> bool:
        """Whether an expression of the description, `one`, has the value of that of the nest."""
        if one.dtype != other.dtype:
            return False
        if self._same(one, other):
            return True
        match one, other:
            case tir.BufferLoad(a, i, None), tir.BufferLoad(b, j, None):
                return self._element(a, i, b, j)
            case tir.Apply(op, a), tir.Apply(again, b):
                return op == again and len(a) == len(b) and all(self.expr(*pair) for pair in zip(a, b, strict=True))
            case tir.Cast(_, a), tir.Cast(_, b):
                return self.expr(a, b)
            case (tir.And(a, b), tir.And(c, d)) | (tir.Or(a, b), tir.Or(c, d)):
                return self.expr(a, c) and self.expr(b, d)
            case (tir.Select(a, b, c), tir.Select(d, e, f)) | (
                tir.IfThenElseExpr(a, b, c),
                tir.IfThenElseExpr(d, e, f),
            ):
                return self.expr(a, d) and self.expr(b, e) and self.expr(c, f)
            case _:
                constants = isinstance(one, tir.IntImm | tir.FloatImm)
                return constants and structural_equal(one, other)

    def _same(self, one: tir.Expr, other: tir.Expr) -> bool:
        """Whether both are one sum of loops."""
        if not one.dtype.is_integer or isinstance(one, tir.IntImm | tir.BufferLoad):
            return False
        rest = self._rest(one, other)
        return rest is not None and rest.only == 0

    def _rest(self, one: tir.Expr, other: tir.Expr) -> Sum | None:
        """What the index of the nest is more than that of the description; None: not known, or loops change it."""
        a, b = sum_of(one, self.own_axes), sum_of(other, self.axes)
        if a is None or b is None or any(var not in self.loops for var, _, _ in atoms(a)):
            return None
        renamed = sum_from({(self.loops[var], op, by): times for (var, op, by), times in atoms(a).items()}, a.constant)
        rest = b - renamed
        moving = set(self.loops.values())
        return None if any(var in moving for var, _, _ in atoms(rest)) else rest

    def _element(
        self, one: tir.Buffer, at: tuple[tir.Expr, ...], other: tir.Buffer, place: tuple[tir.Expr, ...]
    ) -> bool:
        """Whether the element is the one of the description, the buffer being a part of the other."""
        more = len(place) - len(at)
        if one.dtype != other.dtype or more < 0:
            return False
        zeros: tuple[tir.Expr, ...] = tuple(tir.IntImm(index.dtype, 0) for index in place[:more])
        rests = [self._rest(*pair) for pair in zip((*zeros, *at), place, strict=True)]
        begin = tuple(rest for rest in rests if rest is not None)
        if len(begin) != len(rests):
            return False
        known = self.buffers.setdefault(one, Found(other, begin))
        return known.buffer is other and known.begin == begin


def _always(predicate: tir.Expr) -> bool:
    return isinstance(predicate, tir.IntImm) and predicate.value == 1


def _constant(a: tir.Expr, b: tir.Expr) -> bool:
    return isinstance(a, tir.IntImm) and isinstance(b, tir.IntImm) and a.value == b.value


def axes_of(stmt: tir.Stmt) -> dict[tir.Var, tir.Expr]:
    """What the axes of all blocks at or below a statement are bound to."""
    return {
        axis.var: value
        for node in walk(stmt)
        if isinstance(node, tir.SBlockRealize)
        for axis, value in zip(node.block.iter_vars, node.iter_values, strict=True)
    }
