"""Tensors in another layout: a function of the indices says where each element goes.

| part of the function | lies in                                                |
|----------------------|--------------------------------------------------------|
| an index             | 0 … n - 1                                              |
| `a + b`, `a - b`     | the sums, the differences of the ends                  |
| `a * c`              | the ends times c, which is a known number, not below 0 |
| `a // c`             | the quotients of the ends, c being known and above 0   |
| `a % c`              | 0 … c - 1; that of `a` where it lies in there          |

The extent of a dimension is the greatest value and 1.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from refmlc.diag import fail
from refmlc.diag.catalogue import BAD_ARGUMENTS, UNSUPPORTED_OP
from refmlc.lang import te
from refmlc.lang.ir import tir
from refmlc.lang.ir.attrs import IndexMap
from refmlc.lang.library.definition import Operator
from refmlc.lang.library.shapes import known
from refmlc.lang.library.statements import at, loops, steps, store, written
from refmlc.lang.te import Tensor, Value


@dataclass(frozen=True)
class Interval:
    """Numbers from `low` to `high`."""

    low: Value
    high: Value


def _interval(expr: tir.Expr, known_: Mapping[tir.Var, Interval]) -> Interval:
    """The range of an expression. Fails: RM501 for expressions that the table does not list."""
    match expr:
        case tir.Var() if expr in known_:
            return known_[expr]
        case tir.IntImm(value=value):
            return Interval(te.const(value, "int64"), te.const(value, "int64"))
        case tir.Apply("add", (a, b)):
            x, y = _interval(a, known_), _interval(b, known_)
            return Interval(x.low + y.low, x.high + y.high)
        case tir.Apply("sub", (a, b)):
            x, y = _interval(a, known_), _interval(b, known_)
            return Interval(x.low - y.high, x.high - y.low)
        case tir.Apply("mul", (a, tir.IntImm(value=by)) | (tir.IntImm(value=by), a)) if by >= 0:
            x = _interval(a, known_)
            return Interval(x.low * by, x.high * by)
        case tir.Apply("floordiv", (a, tir.IntImm(value=by))) if by > 0:
            x = _interval(a, known_)
            return Interval(x.low // by, x.high // by)
        case tir.Apply("floormod", (a, tir.IntImm(value=by))) if by > 0:
            x = _interval(a, known_)
            low, high = known(x.low), known(x.high)
            inside = low is not None and high is not None and 0 <= low <= high < by
            return x if inside else Interval(te.const(0, "int64"), te.const(by - 1, "int64"))
        case _:
            raise fail(UNSUPPORTED_OP, f"`layout_transform` with `{expr.script()}` in its map is not supported")


def _at(expr: tir.Expr, where: Mapping[tir.Var, Value]) -> Value:
    """The value of an expression of the map, in int64."""
    match expr:
        case tir.Var():
            return where[expr]
        case tir.IntImm(value=value):
            return te.const(value, "int64")
        case tir.Apply(op, (a, b)):
            return te.apply(op, _at(a, where), _at(b, where))
        case _:
            raise fail(UNSUPPORTED_OP, f"`layout_transform` with `{expr.script()}` in its map is not supported")


def layout_transform(x: Tensor, *, index_map: object, pad_value: float | None = None) -> Tensor:
    """The tensor whose element at `index_map(i, …)` is that of `x` at i, …; `pad_value`, or 0, where none goes.

    Shapes: the least and the greatest value of each part of the map follow from the table above. Fails: RM105, RM501.
    """
    if not isinstance(index_map, IndexMap) or len(index_map.initial) != x.ndim:
        raise fail(BAD_ARGUMENTS, f"`layout_transform` of {x.ndim} dimensions takes a map of as many indices")
    zero = te.const(0, "int64")
    known_ = {var: Interval(zero, extent - 1) for var, extent in zip(index_map.initial, x.shape, strict=True)}
    intervals = [_interval(expr, known_) for expr in index_map.final]
    shape = [expr.high + 1 for expr in intervals]

    def body(ins: list[tir.Buffer], outs: list[tir.Buffer]) -> tir.Stmt:
        def move(i: tuple[Value, ...]) -> tir.Stmt:
            where = dict(zip(index_map.initial, i, strict=True))
            return store(outs[0], at(ins[0], *i), *(_at(expr, where) for expr in index_map.final))

        fill = te.const(0 if pad_value is None else pad_value, x.dtype)
        return steps(loops(shape, lambda i: store(outs[0], fill, *i)), loops(x.shape, move, "j"))

    return written([(shape, x.dtype)], [x], body, "layout_transform")[0]


LAYOUT_TRANSFORM = (Operator("layout_transform", layout_transform, "LIB-933", ("layout_transform",)),)
