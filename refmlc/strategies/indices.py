"""Indices of generated programs: in bounds for every value of the variables, unless the program aims at RM304.

| form                | example                 | needs                                   |
|---------------------|-------------------------|-----------------------------------------|
| plain               | `A[i]`                  | the variable's range                    |
| mirror              | `A[4 - i]`              |                                         |
| affine              | `A[i * 2 + 1]`          | the product's range                     |
| window              | `A[i + k]`              | the sum's range                         |
| quotient, remainder | `A[i // 2]`, `A[i % 3]` |                                         |
| clamped value       | `A[max(min(x, 4), 0)]`  | any integer `x`, such as an element     |
"""

from collections.abc import Sequence

from refmlc.lang.dtypes import INT32, INT64
from refmlc.lang.ir import tir
from refmlc.strategies.ranges import RangedBuffer, RangedExpr, exact, fits, number
from refmlc.strategies.special import Special
from refmlc.strategies.values import WIDE


class Indices(Special):
    """Makes indices from the integer variables in scope.

    `nesting`: the number of indices around; `odd_percent`: the share of indices that are not plain axes.
    """

    nesting = 0
    odd_percent = 45

    def indices(self, buffer: RangedBuffer, plain: Sequence[RangedExpr] | None = None) -> tuple[tir.Expr, ...]:
        """Indices of an element of `buffer`; `plain` are variables that may be its axes directly."""
        indices = []
        for axis, extent in enumerate(buffer.shape):
            direct = self._direct(axis, extent, plain)
            indices.append(direct if direct is not None else self.index(extent).expr)
        if indices and self.spoil("RM304", 50):
            axis = self.choices.below(len(indices))
            indices[axis] = self._out_of_bounds(indices[axis], buffer.shape[axis])
        return tuple(indices)

    def _direct(self, axis: int, extent: int, plain: Sequence[RangedExpr] | None) -> tir.Expr | None:
        """The axis itself, in most cases if it fits."""
        axes = [axis_expr for axis_expr in (plain or self.axes()) if axis_expr.low >= 0 and axis_expr.high < extent]
        if not axes or self.choices.chance(self.odd_percent):
            return None
        exact = [axis_expr for axis_expr in axes if axis_expr.high == extent - 1]
        if plain is None and exact:
            return exact[axis % len(exact)].expr
        return axes[axis % len(axes)].expr

    def axes(self) -> list[RangedExpr]:
        """The variables of loops and blocks, for indices."""
        return [expr for expr in self.numbers if isinstance(expr.expr, tir.Var) and expr.expr.name[0] in "vijk"]

    def index(self, extent: int) -> RangedExpr:
        """An integer of 0 … extent - 1."""
        axes = self.axes()
        forms = [self._constant] + [self._clamped_value] * (self.nesting < 1)
        if axes:
            forms += [self._affine] * 6 + [self._window] * 3 + [self._quotient, self._remainder, self._mirror]
        expr = self.choices.pick(forms)(extent)
        return self._clamp(expr, extent)

    def _clamp(self, a: RangedExpr, extent: int) -> RangedExpr:
        """`a`, clamped or reduced if it may be out of bounds."""
        if a.low >= 0 and a.high < extent:
            return a
        if self.spoil("RM304"):
            return a
        kind = a.dtype
        if extent == 0:
            return RangedExpr(number(kind, 0))
        if self.choices.chance(30):
            return RangedExpr(tir.Apply("floormod", (a.expr, number(kind, extent)), kind), 0, extent - 1)
        low = a.expr if a.low >= 0 else tir.Apply("max", (a.expr, number(kind, 0)), kind)
        return RangedExpr(tir.Apply("min", (low, number(kind, extent - 1)), kind), 0, extent - 1)

    def _out_of_bounds(self, expr: tir.Expr, extent: int) -> tir.Expr:
        """An index one or more beyond `expr`."""
        kind = expr.dtype
        op, value = self.choices.pick((("add", 1), ("sub", 1), ("add", extent), ("add", 100)))
        return tir.Apply(op, (expr, number(kind, value)), kind)

    def _constant(self, extent: int) -> RangedExpr:
        value = min(self.choices.below(3), max(extent - 1, 0))
        return exact(number(self.word, value))

    def _affine(self, _extent: int) -> RangedExpr:
        a = self.choices.pick(self.axes())
        scale, shift = self.choices.pick((1, 1, 2, 3)), self.choices.pick((0, 1, -1, 2))
        return self._plus(self._times(a, scale), shift)

    def _window(self, _extent: int) -> RangedExpr:
        a, b = self.choices.pick(self.axes()), self.choices.pick(self.axes())
        if a.dtype != b.dtype:
            return a
        scaled = self._times(a, self.choices.pick((1, 1, 2)))
        kind = a.dtype
        return RangedExpr(tir.Apply("add", (scaled.expr, b.expr), kind), scaled.low + b.low, scaled.high + b.high)

    def _mirror(self, extent: int) -> RangedExpr:
        a = self.choices.pick(self.axes())
        return self._reverse(a, extent)

    def _reverse(self, a: RangedExpr, extent: int) -> RangedExpr:
        kind = a.dtype
        return RangedExpr(
            tir.Apply("sub", (number(kind, extent - 1), a.expr), kind), extent - 1 - a.high, extent - 1 - a.low
        )

    def _quotient(self, _extent: int) -> RangedExpr:
        a, by = self.choices.pick(self.axes()), self.choices.pick((2, 3))
        op = self.choices.pick(("floordiv", "truncdiv"))
        if a.low < 0:
            return a
        return RangedExpr(tir.Apply(op, (a.expr, number(a.dtype, by)), a.dtype), a.low // by, a.high // by)

    def _remainder(self, extent: int) -> RangedExpr:
        a = self._affine(extent)
        by = max(min(extent, self.choices.pick((extent, 2, 3))), 1)
        return RangedExpr(tir.Apply("floormod", (a.expr, number(a.dtype, by)), a.dtype), 0, by - 1)

    def _clamped_value(self, _extent: int) -> RangedExpr:
        self.nesting += 1
        expr = self.value(self.choices.pick((self.word, INT32, INT64)), 1)
        self.nesting -= 1
        return expr

    def _times(self, a: RangedExpr, scale: int) -> RangedExpr:
        if scale == 1:
            return a
        return RangedExpr(tir.Apply("mul", (a.expr, number(a.dtype, scale)), a.dtype), a.low * scale, a.high * scale)

    def _plus(self, a: RangedExpr, shift: int) -> RangedExpr:
        if shift == 0 or not fits(a.dtype, a.low + shift, a.high + shift) or a.dtype.bits < WIDE:
            return a
        op = "add" if shift > 0 else "sub"
        return RangedExpr(tir.Apply(op, (a.expr, number(a.dtype, abs(shift))), a.dtype), a.low + shift, a.high + shift)
