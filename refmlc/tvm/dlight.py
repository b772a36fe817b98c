"""`tvm.s_tir.dlight`: TVM's rules that schedule programs for GPUs, refused by name when one is used.

Decision: refmlc does not choose schedules for devices that it does not run on; a module means the same without them, so
leave the pass out, or schedule by hand (`s_tir.Schedule`): refmlc executes and checks what is bound to threads.
"""

from collections.abc import Mapping

from refmlc.tvm.missing_names import refusal

_WHY = "its rules schedule programs for a GPU; a module means the same without it"
NONE_OF_OURS: Mapping[str, str] = dict.fromkeys(
    ("ApplyDefaultSchedule", "ScheduleRule", "analysis", "base", "gpu"), _WHY
)

__all__: list[str] = []

__getattr__ = refusal(__name__, __all__, reasons=NONE_OF_OURS)
