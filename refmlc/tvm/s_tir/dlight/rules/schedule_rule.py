"""`tvm.s_tir.dlight.base.schedule_rule`: a rule, which makes a schedule of a function or declines it."""

from collections.abc import Callable, Sequence
from typing import TypeAlias

from refmlc.lang.ir import tir
from refmlc.rewrite.schedule import Schedule
from refmlc.tvm.devices import Target
from refmlc.tvm.missing_names import refusal

__all__ = ["ScheduleRule"]

Result: TypeAlias = "Schedule | Sequence[Schedule] | None"
Function = Callable[[tir.PrimFunc, Target, bool], Result]


class ScheduleRule:
    """A rule: `apply` gives a schedule of the function, called `main` in it, or None."""

    def apply(self, func: tir.PrimFunc, target: Target, tunable: bool) -> Result:
        """The schedule of a function for a target. `tunable`: it may draw numbers."""
        raise NotImplementedError

    @staticmethod
    def from_callable(name: str) -> Callable[[Function], "ScheduleRule"]:
        """A decorator: the rule `name` whose `apply` is the decorated function."""

        def rule(function: Function) -> ScheduleRule:
            return type(name, (_FunctionRule,), {})(function)  # type: ignore[no-any-return]

        return rule

    def is_target_available(self, target: Target) -> bool:
        """Whether the rule is for a target."""
        del target
        return True


class _FunctionRule(ScheduleRule):
    def __init__(self, function: Function) -> None:
        self.function = function

    def apply(self, func: tir.PrimFunc, target: Target, tunable: bool) -> Result:
        return self.function(func, target, tunable)


__getattr__ = refusal(__name__, __all__)
