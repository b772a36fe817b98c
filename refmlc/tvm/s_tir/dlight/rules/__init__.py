"""`tvm.s_tir.dlight.base`: rules, and the pass that tries them."""

from refmlc.tvm.missing_names import refusal
from refmlc.tvm.s_tir.dlight.rules.schedule_rule import ScheduleRule
from refmlc.tvm.s_tir.dlight.rules.transform import ApplyDefaultSchedule

__all__ = ["ApplyDefaultSchedule", "ScheduleRule"]

__getattr__ = refusal(__name__, __all__)
