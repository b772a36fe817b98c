"""The ranges of the values that a function computes and keeps in its own memory, for all sizes up to a limit.

| expression                          | its range                                                                      |
|-------------------------------------|--------------------------------------------------------------------------------|
| a size, a loop variable, an axis    | from its declaration: 0 … limit, the loop's iterations, the axis's domain      |
| an operator of integers             | `Interval`; what leaves a wide dtype is undefined, a narrow one wraps          |
| `+ - * /` of finite floats          | the operator at the ends, each rounded: rounding is monotone, so nothing more  |
| `max`, `min` of floats              | NUM-106: the second operand where one is NaN                                   |
| a load of the function's own memory | what any store writes there                                                    |
| a load of a tensor that is only read | the interval of its contract (`FloatBounds`)                                  |
| anything else                       | every value of the dtype, NaN and infinities included                          |

Memory has one range for a whole buffer: the least that every store keeps, by iteration from the empty one, where an
end that does not settle becomes that of the dtype. A store `B[i] = B[j] + d` adds one step to an element that was
written before, so that no element is further from a first value than the number of executions times `d`: counters and
sums of bounded integers have a range for all sizes.

A range holds until something undefined is executed. Each step up to there keeps it, so it may be assumed by the
obligations that show that nothing is.
"""

import math
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from fractions import Fraction
from typing import NamedTuple, TypeAlias

from refmlc.lang.arith.interval import Interval
from refmlc.lang.dtypes import DType
from refmlc.lang.dtypes.rounding import round_fraction
from refmlc.lang.ir import tir
from refmlc.prove.terms import WIDE

SETTLED = 4
"""Passes after which an end that still moves becomes that of the dtype."""
ROUNDED_ONCE = frozenset(("float16", "bfloat16", "float32", "float64"))
NO_STEP = Interval(0, 0)


class FloatRange(NamedTuple):
    """The floats from `low` to `high`, infinities included, and NaN if `nan`."""

    low: float = -math.inf
    high: float = math.inf
    nan: bool = True

    @property
    def is_finite(self) -> bool:
        """Whether it holds finite numbers only."""
        return not self.nan and math.isfinite(self.low) and math.isfinite(self.high)

    def join(self, other: "FloatRange") -> "FloatRange":
        """The least range that holds both."""
        return FloatRange(min(self.low, other.low), max(self.high, other.high), self.nan or other.nan)

    def map(self, function: Callable[[float], float]) -> "FloatRange":
        """The values of a monotone function that keeps infinities and NaN."""
        low, high = (end if math.isinf(end) else function(end) for end in (self.low, self.high))
        return FloatRange(low, high, self.nan)

    def greater(self, other: "FloatRange") -> "FloatRange":
        """The operator max: x where x > y, else y."""
        low = other.low if self.nan else max(self.low, other.low)
        return FloatRange(low, max(self.high, other.high), other.nan)

    def smaller(self, other: "FloatRange") -> "FloatRange":
        """The operator min: x where x < y, else y."""
        high = other.high if self.nan else min(self.high, other.high)
        return FloatRange(min(self.low, other.low), high, other.nan)


ValueRange: TypeAlias = Interval | FloatRange
ANY_FLOAT = FloatRange()


class _NeverWrittenError(Exception):
    """The memory that is read has no value yet; a store of it adds nothing."""


class ValueRanges:
    """The ranges of a function. `own`: whether what is read of a buffer was written by the function.

    `limit`: no size is larger. `bounds`: what tensors hold that are only read.
    """

    def __init__(
        self,
        func: tir.PrimFunc,
        limit: int,
        own: Callable[[tir.Buffer], bool],
        bounds: Mapping[tir.Buffer, FloatRange] | None = None,
    ) -> None:
        self._own = own
        self._bounds = bounds or {}
        self._variables: dict[tir.Var, Interval] = {}
        self._memory: dict[tir.Buffer, ValueRange] = {}
        self._trips: list[Interval] = []
        self._first_values: dict[tir.Buffer, ValueRange] = {}
        self._steps: dict[tir.Buffer, Interval] = {}
        for extent in (extent for buffer in func.buffer_map.values() for extent in buffer.shape):
            if isinstance(extent, tir.Var):
                self._variables[extent] = Interval(0, min(limit, extent.dtype.maximum))
        passes = 0
        while self._pass(func.body, widens=passes >= SETTLED):
            passes += 1

    def integer(self, node: tir.Expr) -> Interval:
        """The range of an expression of an integer dtype."""
        try:
            known = self._of(node)
        except _NeverWrittenError:
            return _all(node.dtype)
        return known if isinstance(known, Interval) else _all(node.dtype)

    def floating(self, node: tir.Expr) -> FloatRange:
        """The range of an expression of a float dtype."""
        try:
            known = self._of(node)
        except _NeverWrittenError:
            return ANY_FLOAT
        return known if isinstance(known, FloatRange) else ANY_FLOAT

    def converts(self, node: tir.Cast) -> bool:
        """Whether each value of a float has one of the integer dtype that it is converted to."""
        return _truncated(self.floating(node.value), node.dtype) is not None

    # ------------------------------------------------------------------------------------ memory

    def _pass(self, body: tir.Stmt, *, widens: bool) -> bool:
        """Visit every store once; whether the range of some buffer has grown."""
        self._first_values, self._steps = {}, {}
        self._statement(body)
        has_grown = False
        for buffer, first in self._first_values.items():
            now = first
            if isinstance(first, Interval):
                now = _defined(first.plus(self._steps.get(buffer, NO_STEP)), buffer.dtype)
            before = self._memory.get(buffer)
            after = now if before is None else _join(before, now)
            if after != before:
                has_grown = True
                self._memory[buffer] = _widened(before, after, buffer.dtype) if widens and before else after
        return has_grown

    def _statement(self, node: tir.Stmt) -> None:
        """Visit the stores of a statement; one that needs memory without a value is not executed yet."""
        with suppress(_NeverWrittenError):
            self._executed(node)

    def _executed(self, node: tir.Stmt) -> None:
        match node:
            case tir.SeqStmt(seq):
                for part in seq:
                    self._statement(part)
            case tir.For():
                self._loop(node)
            case tir.While(body=body):
                with self._repeated(Interval(0, None)):
                    self._statement(body)
            case tir.SBlockRealize():
                self._block(node)
            case tir.IfThenElse(then_case=then_case, else_case=else_case):
                for each in (then_case, else_case):
                    if each is not None:
                        self._statement(each)
            case tir.AttrStmt(body=body):
                self._statement(body)
            case tir.Bind(var=var, value=value) if var.dtype.is_integer:
                self._bind(var, self._interval(value))
            case tir.BufferStore():
                self._store(node)
            case _:
                pass

    def _loop(self, node: tir.For) -> None:
        trips, first = self._interval(node.extent).meet(Interval(0, None)), self._interval(node.min)
        iterations = _from(first, trips)
        self._bind(node.loop_var, iterations)
        if node.thread is not None and node.thread.var is not None:
            self._bind(node.thread.var, iterations)
        with self._repeated(NO_STEP if trips.is_empty else trips):
            self._statement(node.body)

    def _block(self, node: tir.SBlockRealize) -> None:
        for axis, value in zip(node.block.iter_vars, node.iter_values, strict=True):
            domain = _from(self._interval(axis.dom.min), self._interval(axis.dom.extent))
            bound = self._interval(value).meet(domain)
            self._bind(axis.var, domain if bound.is_empty else bound)
        for part in (node.block.init, node.block.body):
            if part is not None:
                self._statement(part)

    @contextmanager
    def _repeated(self, trips: Interval) -> Iterator[None]:
        self._trips.append(trips)
        yield
        self._trips.pop()

    def _bind(self, var: tir.Var, known: Interval) -> None:
        before = self._variables.get(var)
        self._variables[var] = known if before is None else before.join(known)

    def _store(self, node: tir.BufferStore) -> None:
        """A first value, or a step from an element that was written before."""
        if node.value.dtype.is_vector or node.predicate is not None:
            self._note_first(node.buffer, _any(node.buffer.dtype.scalar))
            return
        executions = Interval(1, 1)
        for trips in self._trips:
            executions = executions.times(trips)
        for value in _arms(node.value):
            with suppress(_NeverWrittenError):
                step = self._step(value, node.buffer)
                if step is None:
                    self._note_first(node.buffer, self._of(value))
                else:
                    reach = step.times(executions).join(NO_STEP)
                    self._steps[node.buffer] = self._steps.get(node.buffer, NO_STEP).plus(reach)

    def _note_first(self, buffer: tir.Buffer, known: ValueRange) -> None:
        before = self._first_values.get(buffer)
        self._first_values[buffer] = known if before is None else _join(before, known)

    def _step(self, value: tir.Expr, buffer: tir.Buffer) -> Interval | None:
        """The difference from some element of the buffer; None: the value is not of that form, or may wrap."""
        if not _is_exact(buffer.dtype) or value.dtype != buffer.dtype:
            return None
        match value:
            case tir.BufferLoad(buffer=loaded) if loaded is buffer:
                return NO_STEP
            case tir.Apply(op="add", args=(a, b)):
                of_first = self._step(a, buffer)
                if of_first is not None:
                    return of_first.plus(self._interval(b))
                of_second = self._step(b, buffer)
                return None if of_second is None else of_second.plus(self._interval(a))
            case tir.Apply(op="sub", args=(a, b)):
                of_first = self._step(a, buffer)
                return None if of_first is None else of_first.minus(self._interval(b))
            case _:
                return None

    # ------------------------------------------------------------------------------------ expressions

    def _interval(self, node: tir.Expr) -> Interval:
        known = self._of(node)
        return known if isinstance(known, Interval) else _all(node.dtype)

    def _of(self, node: tir.Expr) -> ValueRange:
        if node.dtype.is_vector:
            return _any(node.dtype)
        match node:
            case tir.IntImm(value=value):
                return Interval(value, value)
            case tir.FloatImm(value=number):
                return ANY_FLOAT if math.isnan(number) else FloatRange(number, number, nan=False)
            case tir.Var() if node in self._variables:
                return self._variables[node]
            case tir.BufferLoad(buffer=buffer) if buffer in self._bounds and not node.dtype.is_vector:
                return self._bounds[buffer]
            case tir.BufferLoad(buffer=buffer) if self._own(buffer) and not buffer.dtype.is_vector:
                if buffer not in self._memory:
                    raise _NeverWrittenError
                return self._memory[buffer]
            case tir.Select(true_value=yes, false_value=no) | tir.IfThenElseExpr(true_value=yes, false_value=no):
                return self._either(yes, no)
            case tir.Cast(value=value):
                return _converted(self._of(value), value.dtype, node.dtype)
            case tir.Apply(op="likely", args=(a,)):
                return self._of(a)
            case tir.Apply(op=op, args=args) if all(arg.dtype == node.dtype for arg in args):
                return _applied(op, [self._of(arg) for arg in args], node.dtype)
            case _:
                return _any(node.dtype)

    def _either(self, yes: tir.Expr, no: tir.Expr) -> ValueRange:
        """The range of a choice; an arm that reads what has no value adds nothing."""
        known = []
        for arm in (yes, no):
            try:
                known.append(self._of(arm))
            except _NeverWrittenError:
                continue
        if not known:
            raise _NeverWrittenError
        return known[0] if len(known) == 1 else _join(known[0], known[1])


def _from(first: Interval, count: Interval) -> Interval:
    """The numbers of a range of `count`, and its first one."""
    return Interval(first.low, first.plus(count).plus(Interval(-1, -1)).join(first).high)


def _arms(value: tir.Expr) -> Iterator[tir.Expr]:
    """The values among which a store chooses."""
    match value:
        case tir.Select(true_value=yes, false_value=no) | tir.IfThenElseExpr(true_value=yes, false_value=no):
            yield from _arms(yes)
            yield from _arms(no)
        case _:
            yield value


def _is_exact(dtype: DType) -> bool:
    """Whether a result that does not fit is undefined, so that sums are exact."""
    return dtype.is_integer and not dtype.is_vector and dtype.bits >= WIDE


def _all(dtype: DType) -> Interval:
    """Every number of a dtype."""
    if dtype.kind == "bool":
        return Interval(0, 1)
    return Interval(dtype.minimum, dtype.maximum) if dtype.is_integer else Interval()


def _any(dtype: DType) -> ValueRange:
    return ANY_FLOAT if dtype.is_float else _all(dtype)


def _join(a: ValueRange, b: ValueRange) -> ValueRange:
    if isinstance(a, Interval) and isinstance(b, Interval):
        return a.join(b)
    if isinstance(a, FloatRange) and isinstance(b, FloatRange):
        return a.join(b)
    return ANY_FLOAT if isinstance(a, FloatRange) else Interval()


def _widened(before: ValueRange, after: ValueRange, dtype: DType) -> ValueRange:
    """The ends that still move become those of the dtype."""
    if not isinstance(before, Interval) or not isinstance(after, Interval):
        return ANY_FLOAT
    whole = _all(dtype)
    return Interval(
        after.low if after.low == before.low else whole.low, after.high if after.high == before.high else whole.high
    )


def _defined(value: Interval, dtype: DType) -> Interval:
    """The results of a dtype of integers: beyond a wide one is undefined, beyond a narrow one wraps."""
    whole = _all(dtype)
    if dtype.kind == "bool" or not dtype.is_integer:
        return whole
    if value.inside(dtype.minimum, dtype.maximum) and not value.is_empty:
        return value
    within = value.meet(whole)
    return whole if within.is_empty or dtype.bits < WIDE else within


def _applied(op: str, args: list[ValueRange], dtype: DType) -> ValueRange:
    """An operator whose operands have the dtype of its result."""
    if dtype.is_float:
        floats = [arg for arg in args if isinstance(arg, FloatRange)]
        return _applied_to_floats(op, floats, dtype) if len(floats) == len(args) else ANY_FLOAT
    match op, args:
        case _, [Interval() as a, Interval() as b] if op in OF_INTEGERS and dtype.is_integer:
            return _defined(OF_INTEGERS[op](a, b), dtype)
        case _:
            return _all(dtype)


def _applied_to_floats(op: str, args: list[FloatRange], dtype: DType) -> FloatRange:
    match op, args:
        case (("add" | "sub" | "mul" | "div"), [a, b]):
            return _rounded_ends(op, a, b, dtype)
        case "max", [a, b]:
            return a.greater(b)
        case "min", [a, b]:
            return a.smaller(b)
        case "floor", [a]:
            return a.map(lambda end: float(math.floor(end)))
        case "ceil", [a]:
            return a.map(lambda end: float(math.ceil(end)))
        case (("round" | "nearbyint" | "trunc"), [a]):  # one of the two integers around it
            return a.map(lambda end: float(math.floor(end))).join(a.map(lambda end: float(math.ceil(end))))
        case _:
            return ANY_FLOAT


def _rounded_ends(op: str, a: FloatRange, b: FloatRange, dtype: DType) -> FloatRange:
    """The operator at the ends of finite ranges, each result rounded to the dtype."""
    has_zero = op == "div" and b.low <= 0 <= b.high
    if dtype.element not in ROUNDED_ONCE or has_zero or not (a.is_finite and b.is_finite):
        return ANY_FLOAT
    exact = OF_FRACTIONS[op]
    ends = [round_fraction(exact(Fraction(x), Fraction(y)), dtype) for x in (a.low, a.high) for y in (b.low, b.high)]
    return FloatRange(min(ends), max(ends), nan=False)


def _converted(value: ValueRange, source: DType, target: DType) -> ValueRange:
    """A conversion; a float that has no value in an integer dtype is undefined."""
    match value:
        case Interval(low=int() as low, high=int() as high) if target.element in ROUNDED_ONCE:
            ends = [round_fraction(Fraction(end), target) for end in (low, high)]
            return FloatRange(min(ends), max(ends), nan=False)
        case FloatRange() if target.element in ROUNDED_ONCE and source.element in ROUNDED_ONCE:
            return value.map(lambda end: round_fraction(Fraction(end), target))
        case FloatRange() if target.is_integer:
            return _truncated(value, target) or _all(target)
        case Interval() if target.is_integer:
            return value if value.inside(target.minimum, target.maximum) and not value.is_empty else _all(target)
        case _:
            return _any(target)


def _truncated(value: FloatRange, target: DType) -> Interval | None:
    """The integers that the floats become, toward zero; None: one of them has no value in the dtype."""
    if not value.is_finite or not target.is_integer:
        return None
    ends = Interval(math.trunc(value.low), math.trunc(value.high))
    return ends if ends.inside(target.minimum, target.maximum) and not ends.is_empty else None


OF_INTEGERS: Mapping[str, Callable[[Interval, Interval], Interval]] = {
    "add": Interval.plus,
    "sub": Interval.minus,
    "mul": Interval.times,
    "max": Interval.greater,
    "min": Interval.smaller,
    "floordiv": Interval.floordiv,
    "floormod": Interval.floormod,
    "truncdiv": Interval.truncdiv,
    "div": Interval.truncdiv,
    "truncmod": Interval.truncmod,
}
OF_FRACTIONS: Mapping[str, Callable[[Fraction, Fraction], Fraction]] = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "div": lambda a, b: a / b,
}
