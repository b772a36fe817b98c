"""Expressions on arrays: the value of every iteration of a nest at once.

A value is `Balls` or `Wholes`, whose shape has an axis per loop: of length 1 where the value does not depend on the
loop. Both arms of a choice are evaluated; a load that is out of bounds in an arm that is not taken is any element.
An index or a number that depends on a rounding is not executed here (`NotPlain`).
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from refmlc.lang.dtypes import DType
from refmlc.lang.dtypes.storage import storage_dtype
from refmlc.lang.ir import tir
from refmlc.observe.bounds import ball_functions, balls
from refmlc.observe.bounds.ball_functions import NotPlain
from refmlc.observe.bounds.balls import UNIT, Balls, exactly, settled
from refmlc.observe.bounds.cell_arrays import Wholes, require_supported
from refmlc.observe.bounds.freedom import Freedom
from refmlc.observe.bounds.places import View
from refmlc.observe.bounds.roundoff import Grid

ArrayValue: TypeAlias = Balls | Wholes
Ints: TypeAlias = Callable[[np.ndarray, np.ndarray], np.ndarray]


def _truncdiv(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return np.asarray(np.where((a < 0) == (b < 0), 1, -1) * (np.abs(a) // np.abs(b)))


INTEGERS: Mapping[str, Ints] = {
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "floordiv": np.floor_divide,
    "floormod": np.mod,
    "truncdiv": _truncdiv,
    "truncmod": lambda a, b: a - b * _truncdiv(a, b),
    "ceildiv": lambda a, b: -(-a // b),
    "max": np.maximum,
    "min": np.minimum,
    "bitwise_and": np.bitwise_and,
    "bitwise_or": np.bitwise_or,
    "bitwise_xor": np.bitwise_xor,
}
COMPARED: Mapping[str, Ints] = {
    "eq": np.equal,
    "ne": np.not_equal,
    "lt": np.less,
    "le": np.less_equal,
    "gt": np.greater,
    "ge": np.greater_equal,
}
CLASSES: Mapping[str, Callable[[np.ndarray], np.ndarray]] = {
    "isnan": np.isnan,
    "isinf": np.isinf,
    "isfinite": np.isfinite,
}
ARITHMETIC: Mapping[str, Callable[[Balls, Balls, Grid], Balls]] = {
    "add": balls.add,
    "sub": balls.subtract,
    "mul": balls.multiply,
    "div": balls.divide,
}
EXTREMES: Mapping[str, Callable[[Balls, Balls], Balls]] = {"max": balls.greater, "min": balls.smaller}
ROUNDED_BY_NUMPY = ("float16", "float32")
"""Formats to which NumPy rounds binary64 once."""


@dataclass(frozen=True)
class CountedLoop:
    """The loop that a variable counts: its number, its first value, its extent."""

    number: int
    start: int
    extent: int


class ArrayEvaluator:
    """Evaluates expressions in `rank` loops. `values`: those of variables; `views`: the memory of buffers.

    `axes`: the variables that count a loop. Elements at such indices are read where they lie, without a copy.
    """

    def __init__(
        self,
        values: Mapping[tir.Var, ArrayValue],
        axes: Mapping[tir.Var, CountedLoop],
        rank: int,
        views: Mapping[tir.Buffer, View],
        freedom: Freedom,
    ) -> None:
        self.values = dict(values)
        self._axes = axes
        self._rank = rank
        self._views = views
        self._freedom = freedom

    def __call__(self, node: tir.Expr) -> ArrayValue:
        """The value of `node`. Fails: `NotPlain`."""
        match node:
            case tir.Var() if node in self.values:
                return self.values[node]
            case tir.IntImm():
                return known(np.asarray(bool(node.value) if node.dtype.kind == "bool" else node.value))
            case tir.FloatImm():
                return exactly(np.asarray(node.value))
            case tir.Apply():
                return self._applied(node)
            case tir.Cast():
                require_supported(node.dtype)
                return converted(self(node.value), node.value.dtype, node.dtype, self._freedom)
            case tir.And() | tir.Or():
                return _connected(self.wholes(node.a), self.wholes(node.b), both=isinstance(node, tir.And))
            case tir.Select() | tir.IfThenElseExpr():
                condition = self.wholes(node.condition)
                return chosen(condition, self(node.true_value), self(node.false_value))
            case tir.Let():
                self.values[node.var] = self(node.value)
                return self(node.body)
            case tir.BufferLoad() if node.predicate is None:
                return self.elements(node)
            case _:
                raise NotPlain(f"a {type(node).__name__}")

    def wholes(self, node: tir.Expr) -> Wholes:
        """The value of an integer or bool."""
        value = self(node)
        assert isinstance(value, Wholes)  # noqa: S101 - the dtype says so
        return value

    def balls(self, node: tir.Expr) -> Balls:
        """The value of a float."""
        value = self(node)
        assert isinstance(value, Balls)  # noqa: S101 - the dtype says so
        return value

    def elements(self, node: tir.BufferLoad) -> ArrayValue:
        """What a load reads."""
        view = self._views[node.buffer]
        cells = view.region.arrays()
        window = self._window(node, view)
        if window is not None:
            parts = cells.values
            if isinstance(parts, Balls):
                return Balls(window(parts.mid), window(parts.rad))
            return Wholes(window(parts.values), window(parts.certain))
        numbers = self.places(node, view)
        if not cells.known.size:
            raise NotPlain("a load of nothing")
        numbers = np.minimum(numbers, cells.known.size - 1)
        if isinstance(cells.values, Balls):
            return Balls(cells.values.mid[numbers], cells.values.rad[numbers])
        return Wholes(cells.values.values[numbers], cells.values.certain[numbers])

    def _window(self, node: tir.BufferLoad, view: View) -> Callable[[np.ndarray], np.ndarray] | None:
        """What reads the elements where they lie; None where an index is neither a loop nor a constant, or outside."""
        first, shape, steps = view.offset, [1] * self._rank, [0] * self._rank
        for index, extent, stride in zip(node.indices, view.shape, view.strides, strict=True):
            if isinstance(index, tir.IntImm):
                axis = CountedLoop(-1, index.value, 1)
            elif isinstance(index, tir.Var) and index in self._axes:
                axis = self._axes[index]
                if shape[axis.number] not in (1, axis.extent):
                    return None
                shape[axis.number] = axis.extent
                steps[axis.number] += stride
            else:
                return None
            if axis.start < 0 or axis.start + axis.extent > extent:
                return None
            first += axis.start * stride
        if view.region.size <= first or 0 in shape:
            return None
        end = first + sum((length - 1) * step for length, step in zip(shape, steps, strict=True))
        if end >= view.region.size or min(steps, default=0) < 0:
            return None

        def read(array: np.ndarray) -> np.ndarray:
            bytes_ = [step * array.itemsize for step in steps]
            return np.lib.stride_tricks.as_strided(array[first:], shape, bytes_, writeable=False)

        return read

    def places(self, node: tir.BufferLoad | tir.BufferStore, view: View) -> np.ndarray:
        """The numbers of the elements; any for indices out of bounds. Fails: `NotPlain` where one is uncertain."""
        numbers = np.asarray(view.offset)
        for index, extent, stride in zip(node.indices, view.shape, view.strides, strict=True):
            value = self.wholes(index)
            if not value.plain:
                raise NotPlain("an index that depends on a rounding")
            numbers = numbers + np.clip(value.values, 0, max(extent - 1, 0)) * stride
        return numbers

    def _applied(self, node: tir.Apply) -> ArrayValue:
        require_supported(node.dtype)
        args = [self(arg) for arg in node.args]
        floats = [arg for arg in args if isinstance(arg, Balls)]
        wholes = [arg for arg in args if isinstance(arg, Wholes)]
        if len(floats) == len(args):
            return self._on_floats(node, floats)
        if len(wholes) == len(args) and not node.dtype.is_float:
            return _on_wholes(node, wholes)
        raise NotPlain(f"the operator `{node.op}` of numbers and integers")

    def _on_floats(self, node: tir.Apply, args: list[Balls]) -> ArrayValue:
        op = node.op
        if not node.dtype.is_float:
            return compared(op, args)
        if op == "likely":
            return args[0]
        if op == "abs":
            return balls.absolute(args[0])
        if op in EXTREMES:
            return EXTREMES[op](*args)
        grid = Grid(node.dtype, self._freedom)
        if op in ARITHMETIC:
            return ARITHMETIC[op](args[0], args[1], grid)
        if op == "pow":
            return ball_functions.power(args[0], args[1], grid, self._freedom)
        if len(args) == 1:
            return ball_functions.unary(op, args[0], grid, self._freedom)
        raise NotPlain(f"the operator `{op}`")


def known(values: np.ndarray) -> Wholes:
    """Numbers that are certain."""
    return Wholes(values, np.ones(np.shape(values), bool))


def compared(op: str, args: list[Balls]) -> Wholes:
    """A bool of floats: certain where every pair of members agrees. Fails: `NotPlain`."""
    if op in CLASSES:
        return Wholes(CLASSES[op](args[0].mid), np.isfinite(args[0].rad))
    if op not in COMPARED:
        raise NotPlain(f"the operator `{op}`")
    a, b = args
    (low_a, high_a), (low_b, high_b) = a.ends(), b.ends()
    apart = (high_a < low_b) | (low_a > high_b)
    exact = (a.rad == 0.0) & (b.rad == 0.0)
    certain = exact | (apart & np.isfinite(a.rad) & np.isfinite(b.rad)) | np.isnan(a.mid) | np.isnan(b.mid)
    return Wholes(COMPARED[op](a.mid, b.mid), certain)


def _on_wholes(node: tir.Apply, args: list[Wholes]) -> Wholes:
    certain = args[0].certain
    for arg in args[1:]:
        certain = certain & arg.certain
    operands = [arg.values for arg in args]
    if node.op in COMPARED:
        return Wholes(COMPARED[node.op](*operands), certain)
    if node.op == "likely":
        return args[0]
    if node.op == "not":
        return Wholes(~args[0].values.astype(bool), certain)
    if node.op not in INTEGERS:
        raise NotPlain(f"the operator `{node.op}`")
    return Wholes(wrapped(INTEGERS[node.op](*operands), node.dtype), certain)


def wrapped(values: np.ndarray, dtype: DType) -> np.ndarray:
    """The values as integers of the dtype."""
    if dtype.kind == "bool":
        return values.astype(bool)
    return values.astype(storage_dtype(dtype)).astype(np.int64)


def _connected(a: Wholes, b: Wholes, *, both: bool) -> Wholes:
    """A conjunction (`both`) or a disjunction: certain where one side decides it."""
    left, right = a.values.astype(bool), b.values.astype(bool)
    decides = (a.certain & (left != both)) | (b.certain & (right != both))
    values = (left & right) if both else (left | right)
    return Wholes(np.where(decides, not both, values), decides | (a.certain & b.certain))


def chosen(condition: Wholes, a: ArrayValue, b: ArrayValue) -> ArrayValue:
    """`a` or `b`, or a set that holds both."""
    holds = condition.values.astype(bool)
    if isinstance(a, Balls) and isinstance(b, Balls):
        return balls.choose(holds, condition.certain, a, b)
    assert isinstance(a, Wholes) and isinstance(b, Wholes)  # noqa: PT018, S101 - one dtype
    certain = np.where(holds, a.certain, b.certain)
    alike = a.certain & b.certain & (a.values == b.values)
    return Wholes(np.where(holds, a.values, b.values), np.where(condition.certain, certain, alike))


# --------------------------------------------------------------------------------------------------- conversions


def converted(value: ArrayValue, source: DType, target: DType, freedom: Freedom) -> ArrayValue:
    """A cast: one rounding. Fails: `NotPlain`."""
    if isinstance(value, Wholes):
        if not target.is_float:
            nonzero = target.kind == "bool"
            return Wholes(value.values != 0 if nonzero else wrapped(value.values, target), value.certain)
        if not value.plain:
            raise NotPlain("an integer that depends on a rounding")
        mid = value.values.astype(np.float64)
        exact = np.abs(mid) <= 2.0**53
        return rounded(Balls(mid, np.where(exact, 0.0, np.abs(mid) * 2.0 * UNIT)), target, freedom)
    if target.is_float:
        wider = source.format.precision <= target.format.precision and source.format.maximum <= target.format.maximum
        wider = wider and source.format.minimum_exponent >= target.format.minimum_exponent
        return value if wider else rounded(value, target, freedom)
    low, high = value.ends()
    if target.kind == "bool":
        zero = (value.mid == 0.0) & (value.rad == 0.0)
        return Wholes(value.mid != 0.0, zero | (low > 0.0) | (high < 0.0) | np.isnan(value.mid))
    fits = (low > target.minimum) & (high < target.maximum) & (np.abs(value.mid) < 2.0**53)
    certain = fits & (np.trunc(low) == np.trunc(high))
    return Wholes(np.where(certain, np.trunc(np.where(fits, low, 0.0)), 0.0).astype(np.int64), certain)


def rounded(value: Balls, target: DType, freedom: Freedom) -> Balls:
    """Every member rounded once to the format; a number that is certain stays so where NumPy rounds to it."""
    grid = Grid(target, freedom)
    result = settled(value.mid, value.rad, grid, wide=False)
    special = value.special
    mid = np.where(special, value.mid, result.mid)
    rad = np.where(special, value.rad, result.rad)
    if target.element in ROUNDED_BY_NUMPY:
        single = value.rad == 0.0
        mid = np.where(single, value.mid.astype(target.element).astype(np.float64), mid)
        rad = np.where(single, 0.0, rad)
    return Balls(mid, rad)
