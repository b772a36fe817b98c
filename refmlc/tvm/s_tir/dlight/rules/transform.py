"""`tvm.s_tir.dlight.base.transform`: the pass that tries rules on each function."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from refmlc.diag import fail
from refmlc.diag.catalogue import BAD_USAGE
from refmlc.lang.ir import IRModule, tir
from refmlc.lang.ir.module import AnyFunction
from refmlc.rewrite.schedule import Schedule
from refmlc.tvm.devices import Target
from refmlc.tvm.missing_names import refusal
from refmlc.tvm.relax.transform import Pass
from refmlc.tvm.s_tir.dlight.rules.schedule_rule import ScheduleRule

__all__ = ["ApplyDefaultSchedule"]

SCHEDULED = "tirx.is_scheduled"


def ApplyDefaultSchedule(*rules: ScheduleRule) -> Pass:  # noqa: N802 - TVM's name
    """A pass: each function of TensorIR is scheduled by the first rule that takes it, for the target of the `with`.

    Fails, when it is called: RM112 where there is no target, or a rule gives no schedule of `main`.
    """

    def run(mod: IRModule) -> IRModule:
        functions: dict[str, AnyFunction] = dict(mod.functions)
        for name, func in mod.functions.items():
            if isinstance(func, tir.PrimFunc) and not func.attrs.get(SCHEDULED):
                functions[name] = _scheduled(func, rules)
        return replace(mod, functions=functions)

    return Pass("ApplyDefaultSchedule", run)


def _scheduled(func: tir.PrimFunc, rules: Sequence[ScheduleRule]) -> tir.PrimFunc:
    """The function as the first rule that takes it schedules it; itself where none does."""
    own = func.attrs.get("target")
    target = own if isinstance(own, Target) else Target.current(allow_none=False)
    assert target is not None  # noqa: S101 - `current` fails else
    for rule in rules:
        result = rule.apply(func, target, False)
        if result is not None:
            schedule = result if isinstance(result, Schedule) else result[0]
            return _main(schedule, func)
    return func


def _main(schedule: Schedule, func: tir.PrimFunc) -> tir.PrimFunc:
    """The function of a schedule, with a note that it is scheduled; private as it was."""
    scheduled = schedule.mod.functions.get("main")
    if not isinstance(scheduled, tir.PrimFunc):
        raise fail(BAD_USAGE, "a rule gives a schedule of the function, which is called `main` in it", func.span)
    attrs: Mapping[str, tir.Attr] = {**scheduled.attrs, SCHEDULED: True}
    return replace(scheduled, attrs=attrs, private=func.private)


__getattr__ = refusal(__name__, __all__)
