"""`tvm.s_tir`: schedules, as 0.27 calls them."""

from refmlc.lazy import load
from refmlc.tvm.missing_names import missing

__all__ = ["Schedule"]  # noqa: F822 - looked up when it is named


def __getattr__(name: str) -> object:
    """`refmlc.rewrite.schedule.Schedule`, which brings the oracle with it, when it is named first."""
    if name != "Schedule":
        raise missing(__name__, name, __all__)
    value: object = load("refmlc.rewrite.schedule:Schedule")
    return value
