"""`tvm.meta_schedule.space_generator`: what a search draws from."""

from collections.abc import Callable
from dataclasses import dataclass

from refmlc.rewrite.schedule import Schedule
from refmlc.tvm.missing_names import refusal

__all__ = ["PostOrderApply", "ScheduleFn"]


@dataclass(frozen=True)
class ScheduleFn:
    """The space of a function that takes steps on a schedule."""

    sch_fn: Callable[[Schedule], object]


@dataclass(frozen=True)
class PostOrderApply:
    """The default space."""


__getattr__ = refusal(__name__, __all__)
