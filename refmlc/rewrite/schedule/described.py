"""A nest of a function compared with the description of an intrinsic: the same loops, the same stores, at an offset.

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
class BufferPart:
    """The buffer that a buffer of the description is part of, and where that part begins, dimension by dimension."""

    buffer: tir.Buffer
    begin: tuple[Sum, ...]


@dataclass
class Comparison:
    """What has been found equal so far: loops by those of the description, and the buffers."""

    axes: Mapping[tir.Var, tir.Expr]
    own_axes: Mapping[tir.Var, tir.Expr]
    loops: dict[tir.Var, tir.Var] = field(default_factory=dict)
    buffers: dict[tir.Buffer, BufferPart] = field(default_factory=dict)

    def stmt(self, described: tir.Stmt, actual: tir.Stmt) -> bool:
        """Whether a statement of the description, `described`, is the one of the nest."""
        if isinstance(described, tir.For) and isinstance(actual, tir.For):
            return self._loop(described, actual)
        match described, actual:
            case tir.SeqStmt(a), tir.SeqStmt(b):
                return len(a) == len(b) and all(self.stmt(*pair) for pair in zip(a, b, strict=True))
            case tir.SBlockRealize(_, p, a), tir.SBlockRealize(_, q, b):
                return _always(p) and _always(q) and self._block(a, b)
            case tir.BufferStore(a, v, i, None), tir.BufferStore(b, w, j, None):
                return self._element(a, i, b, j) and self.expr(v, w)
            case _:
                return False

    def _loop(self, described: tir.For, actual: tir.For) -> bool:
        bounds = ((described.min, actual.min), (described.extent, actual.extent))
        simple = not (
            described.step
            or actual.step
            or described.thread
            or actual.thread
            or described.annotations
            or actual.annotations
        )
        if not simple or described.kind is not actual.kind or not all(_constant(*pair) for pair in bounds):
            return False
        self.loops[described.loop_var] = actual.loop_var
        return self.stmt(described.body, actual.body)

    def _block(self, described: tir.SBlock, actual: tir.SBlock) -> bool:
        if described.alloc_buffers or actual.alloc_buffers or described.match_buffers or actual.match_buffers:
            return False
        if described.init is not None and actual.init is not None:
            kinds = [[axis.kind for axis in block.iter_vars] for block in (described, actual)]
            same_init = kinds[0] == kinds[1] and self.stmt(described.init, actual.init)
            return same_init and self._begins(described, actual) and self.stmt(described.body, actual.body)
        return described.init is None and actual.init is None and self.stmt(described.body, actual.body)

    def _begins(self, described: tir.SBlock, actual: tir.SBlock) -> bool:
        """Whether the axes are bound to the same loops and begin at the same place: the init is executed alike."""
        pairs = zip(described.iter_vars, actual.iter_vars, strict=True)
        return all(self._is_same_sum(a.var, b.var) and _constant(a.dom.min, b.dom.min) for a, b in pairs)

    def expr(self, described: tir.Expr, actual: tir.Expr) -> bool:
        """Whether an expression of the description, `described`, has the value of that of the nest."""
        if described.dtype != actual.dtype:
            return False
        if self._is_same_sum(described, actual):
            return True
        match described, actual:
            case tir.BufferLoad(a, i, None), tir.BufferLoad(b, j, None):
                return self._element(a, i, b, j)
            case tir.Apply(op, a), tir.Apply(other_op, b):
                return op == other_op and len(a) == len(b) and all(self.expr(*pair) for pair in zip(a, b, strict=True))
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
                constants = isinstance(described, tir.IntImm | tir.FloatImm)
                return constants and structural_equal(described, actual)

    def _is_same_sum(self, described: tir.Expr, actual: tir.Expr) -> bool:
        """Whether both are one sum of loops."""
        if not described.dtype.is_integer or isinstance(described, tir.IntImm | tir.BufferLoad):
            return False
        rest = self._difference(described, actual)
        return rest is not None and rest.only == 0

    def _difference(self, described: tir.Expr, actual: tir.Expr) -> Sum | None:
        """What the index of the nest is more than that of the description; None: not known, or loops change it."""
        a, b = sum_of(described, self.own_axes), sum_of(actual, self.axes)
        if a is None or b is None or any(var not in self.loops for var, _, _ in atoms(a)):
            return None
        renamed = sum_from({(self.loops[var], op, by): times for (var, op, by), times in atoms(a).items()}, a.constant)
        rest = b - renamed
        moving = set(self.loops.values())
        return None if any(var in moving for var, _, _ in atoms(rest)) else rest

    def _element(
        self, described: tir.Buffer, at: tuple[tir.Expr, ...], actual: tir.Buffer, place: tuple[tir.Expr, ...]
    ) -> bool:
        """Whether the element is the one of the description, the buffer being a part of the other."""
        leading = len(place) - len(at)
        if described.dtype != actual.dtype or leading < 0:
            return False
        zeros: tuple[tir.Expr, ...] = tuple(tir.IntImm(index.dtype, 0) for index in place[:leading])
        rests = [self._difference(*pair) for pair in zip((*zeros, *at), place, strict=True)]
        begin = tuple(rest for rest in rests if rest is not None)
        if len(begin) != len(rests):
            return False
        part = self.buffers.setdefault(described, BufferPart(actual, begin))
        return part.buffer is actual and part.begin == begin


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
