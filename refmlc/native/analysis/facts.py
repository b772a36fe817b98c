"""What is known at a place in a function, and what is proved from it. Every answer may be relied on.

`Facts` is immutable: `bind_…` and `assume…` give the facts of the place inside. Each takes what holds whenever the
place is reached:

| at                                   | call                                                              |
|--------------------------------------|-------------------------------------------------------------------|
| the start of a function              | `Facts.entry(func)`: extents of parameters are not negative       |
| the body of a loop                   | `bind_range(loop_var, min, extent)`                               |
| a block, its axes bound and checked  | `bind_axis(var, dom.min, dom.extent, value)`; `assume(predicate)` |
| after `Bind`, in the body of a `Let` | `bind_value(var, value)`                                          |
| an arm that is evaluated only then   | `assume(condition)`, `assume_not(condition)`; not for `Select`    |
| after an allocation                  | `assume_extents(buffer)`                                          |

The contract of every answer: it holds in executions in which nothing that was evaluated before, and no part of the
expression, was undefined. 32 and 64 bit arithmetic that overflows is undefined, narrower arithmetic wraps (that is
taken into account). So a generator must check each node for which `is_defined` is false, operands before operators,
before it relies on the bounds of what is around it. A variable of which nothing was said has the range of its dtype.
"""

from collections.abc import Mapping
from dataclasses import replace

from refmlc.lang.arith.interval import Interval
from refmlc.lang.arith.polynomial import Poly, constant, show, variables
from refmlc.lang.ir import tir
from refmlc.lang.ops.short_text import short_text
from refmlc.native.analysis.conditions import assumed, decided, in_full, with_fact
from refmlc.native.analysis.knowledge import Knowledge, Range, mentions, of_dtype
from refmlc.native.analysis.operators import fits_dtype, is_defined
from refmlc.native.analysis.values import Values, bind


class Facts:
    """Immutable knowledge at a place in a function."""

    __slots__ = ("_known", "_values")

    def __init__(self, knowledge: Knowledge) -> None:
        """`knowledge` says what the facts are; `Facts.empty()` and `Facts.entry(func)` are the beginnings."""
        self._known = knowledge
        self._values = Values(knowledge, assumed)

    # ------------------------------------------------------------------------------------- what is so

    @staticmethod
    def empty() -> "Facts":
        """The facts of a place of which nothing is known."""
        return Facts(Knowledge())

    @staticmethod
    def entry(func: tir.PrimFunc) -> "Facts":
        """At the start of `func`, arguments matched: no extent of a parameter is negative."""
        facts = Facts.empty()
        for buffer in func.buffer_map.values():
            facts = facts.assume_extents(buffer)
        return facts

    def bind_range(self, var: tir.Var, low: tir.Expr | int, extent: tir.Expr | int) -> "Facts":
        """`var` is one of low … low + extent - 1; so there is at least one of them."""
        first, count = self._form(low), self._form(extent)
        numbers = self._numbers(low, extent)
        lower = None if first is None or mentions(first, var) else first
        last = None if first is None or count is None else (first + count).plus(-1)
        upper = None if last is None or mentions(last, var) else last
        earlier = [each for end in (lower, upper) if end is not None for each in variables(end)]
        limits = Range(() if lower is None else (lower,), () if upper is None else (upper,), numbers)
        knowledge = self._known.declare(var, earlier).between(var, limits)
        if count is not None and not mentions(count, var):
            knowledge = with_fact(knowledge, count.plus(-1))
        return Facts(knowledge)

    def bind_axis(self, var: tir.Var, low: tir.Expr | int, extent: tir.Expr | int, value: tir.Expr) -> "Facts":
        """`var` is `value`, and one of low … low + extent - 1."""
        first, count, form = self._form(low), self._form(extent), self._form(value)
        if form is None or mentions(form, var):
            return self.bind_range(var, low, extent)
        knowledge = bind(self._values, var, value)
        if first is None or count is None or mentions(first, var) or mentions(count, var):
            return Facts(knowledge)
        for fact in (form - first, (first + count - form).plus(-1), count.plus(-1)):
            knowledge = with_fact(knowledge, fact)
        return Facts(knowledge)

    def bind_value(self, var: tir.Var, value: tir.Expr) -> "Facts":
        """`var` is the value that `value` has here."""
        return Facts(bind(self._values, var, value))

    def bind_load(self, load: tir.BufferLoad, numbers: Interval) -> "Facts":
        """This very node gives a number in `numbers` whenever it is evaluated."""
        return Facts(replace(self._known, loads={**self._known.loads, load: numbers}))

    def assume(self, condition: tir.Expr) -> "Facts":
        """`condition` holds. What it says of loads is not used: they may change."""
        return Facts(assumed(self._known, condition, True))

    def assume_not(self, condition: tir.Expr) -> "Facts":
        """`condition` does not hold."""
        return Facts(assumed(self._known, condition, False))

    def assume_extents(self, buffer: tir.Buffer) -> "Facts":
        """`buffer` exists: none of its extents is negative."""
        knowledge = self._known
        for extent in buffer.shape:
            form = self._form(extent)
            knowledge = knowledge if form is None else with_fact(knowledge, form)
        return self if knowledge is self._known else Facts(knowledge)

    # --------------------------------------------------------------------------------- what is proved

    def bounds(self, expr: tir.Expr | int) -> Interval:
        """The range of the exact value of an integer expression; lanes of a vector each."""
        return Interval(expr, expr) if isinstance(expr, int) else self._values.range(expr)

    def form(self, expr: tir.Expr | int) -> Poly | None:
        """The canonical form of `expr`, loop variables as they are bound; None: it has none."""
        return self._form(expr)

    def in_dtype(self, expr: tir.Expr) -> bool:
        """Whether this one node is defined and gives the exact number: nothing wraps, nothing overflows."""
        return fits_dtype(self._values, expr)

    def is_defined(self, expr: tir.Expr) -> bool:
        """Whether this one node is defined for all its operands; narrow integers may wrap."""
        return is_defined(self._values, expr)

    def within(self, index: tir.Expr | int, extent: tir.Expr | int) -> bool:
        """Whether 0 <= index < extent."""
        return self.at_least(index, 0) and self.less(index, extent)

    def at_least(self, a: tir.Expr | int, b: tir.Expr | int) -> bool:
        """Whether a >= b."""
        return self._is_not_negative(a, b, 0)

    def less(self, a: tir.Expr | int, b: tir.Expr | int) -> bool:
        """Whether a < b."""
        return self._is_not_negative(b, a, -1)

    def not_negative(self, form: Poly) -> bool:
        """Whether a canonical form is 0 or more."""
        return self._values.bounds.not_negative(form)

    def interval(self, form: Poly) -> Interval:
        """The range of a canonical form."""
        return self._values.bounds.interval(form)

    def quotient(self, form: Poly, divisor: int) -> Poly:
        """The canonical form of `form // divisor`, for a positive divisor."""
        return self._values.quotient(form, divisor)

    def with_value(self, form: Poly, values: Mapping[tir.Var, Poly]) -> Poly | None:
        """`form` with variables replaced, as canonical as it was; None: it has no such form."""
        return self._values.replaced(form, values)

    def holds(self, condition: tir.Expr) -> bool | None:
        """Whether `condition` certainly holds (True), certainly does not (False); None: not proved."""
        return decided(self._values, condition)

    def in_full(self, condition: tir.Expr) -> tuple[Poly, ...] | None:
        """Canonical forms that are all 0 or more exactly where `condition` holds; None: it is no such condition."""
        return in_full(self._values, condition)

    # -------------------------------------------------------------------------------------- in words

    def why(self, index: tir.Expr | int, extent: tir.Expr | int) -> str:
        """Why `within` is so, or what stands against it: `vi in 0 … 127, extent 128`."""
        last = self._last(index)
        upper = self._ends(index) if last is None else f"{self._low(index)} … {last}"
        return f"{short_text(index)} in {upper}, extent {short_text(extent)}"

    def _last(self, index: tir.Expr | int) -> str | None:
        """What a variable is at most, where that is more than a number."""
        form = self._form(index)
        var = None if form is None else form.atom
        limits = self._known.ranges.get(var) if isinstance(var, tir.Var) else None
        symbolic = [] if limits is None else [bound for bound in limits.highs if bound.only is None]
        return show(symbolic[0]) if symbolic else None

    def _low(self, index: tir.Expr | int) -> str:
        low = self.bounds(index).low
        return "?" if low is None else str(low)

    def _ends(self, index: tir.Expr | int) -> str:
        if not isinstance(index, int) and self.bounds(index) == of_dtype(index):
            return f"the whole range of {index.dtype}"
        return str(self.bounds(index))

    # ------------------------------------------------------------------------------------------ parts

    def _form(self, expr: tir.Expr | int) -> Poly | None:
        return constant(expr) if isinstance(expr, int) else self._values.form(expr)

    def _numbers(self, low: tir.Expr | int, extent: tir.Expr | int) -> Interval:
        """The range of low … low + extent - 1."""
        first, count = self.bounds(low), self.bounds(extent)
        last = first.plus(count).high
        return Interval(first.low, None if last is None else last - 1)

    def _is_not_negative(self, a: tir.Expr | int, b: tir.Expr | int, plus: int) -> bool:
        """Whether a - b + plus >= 0."""
        first, second = self._form(a), self._form(b)
        if first is not None and second is not None and self.not_negative((first - second).plus(plus)):
            return True
        low, high = self.bounds(a).low, self.bounds(b).high
        return low is not None and high is not None and low - high + plus >= 0
