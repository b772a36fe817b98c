"""Stages that write through a view (`match_buffer`, `decl_buffer`) or at indices that are values."""

from refmlc.lang.ir import tir
from refmlc.strategies.mapped import Mapped, rows, volume
from refmlc.strategies.nests import Loop
from refmlc.strategies.ranges import RangedBuffer, RangedExpr, number


class Views(Mapped):
    """`row_window`, `flat_view` and `scatter` of the stages."""

    def row_window(self, target: RangedBuffer) -> list[tir.Stmt]:
        *outer, last = self.axes_of(target)
        extent = last.extent + 1 if self.spoil("RM304", 40) else last.extent
        size = number(last.size.dtype, extent) if extent != last.extent else last.size
        view_size = number(last.size.dtype, extent + 1) if self.spoil("RM314", 60) else size
        view = tir.Buffer("V", target.buffer.dtype, (view_size,), offset_factor=1)

        def matches() -> list[tir.MatchBufferRegion]:
            single = [tir.Range(var, number(var.dtype, 1)) for var in self.axis_vars(len(outer))]
            whole = tir.Range(number(last.size.dtype, 0), size)
            return [tir.MatchBufferRegion(view, tir.BufferRegion(target.buffer, (*single, whole)))]

        def body() -> tir.Stmt:
            row = RangedBuffer(view, (last.extent,))
            store = self.grid(row, lambda at: self.store(row, self.value(view.dtype, self.depth), at))
            target.low, target.high = min(target.low, row.low), max(target.high, row.high)
            return store

        return [self.block("window", outer, body, matches=matches)]

    def flat_view(self, target: RangedBuffer) -> list[tir.Stmt]:
        kind = self.word
        flat = tir.Buffer("F", target.buffer.dtype, (number(kind, volume(target.shape)),))
        view = RangedBuffer(flat, (volume(target.shape),))
        parts = self.stage(view)
        target.low, target.high = min(target.low, view.low), max(target.high, view.high)
        return [rows([tir.DeclBuffer(flat, tir.BufferData(target.buffer)), *parts])]

    def scatter(self, target: RangedBuffer) -> list[tir.Stmt]:
        parts = self.map_stage(target)
        count = self.extent()
        var = tir.Var("i", self.word)
        with self.scope(RangedExpr(var, 0, count - 1)):
            at = [self._clamp(self.value(self.word, 0), extent).expr for extent in target.shape]
            previous = RangedExpr(tir.BufferLoad(target.buffer, tuple(at)), target.low, target.high)
            with self.scope(previous):
                store = self.store(target, self.value(target.buffer.dtype, 1), at)
        return [*parts, self.wrap([Loop(var, number(self.word, 0), number(self.word, count), free=False)], store)]
