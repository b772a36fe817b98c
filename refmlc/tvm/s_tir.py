"""`tvm.s_tir`: schedules, as 0.27 calls them."""

from refmlc.tvm.covered import missing
from refmlc.tvm.schedule import Schedule

__all__ = ["Schedule"]


def __getattr__(name: str) -> object:
    """Fails: for every name that is not here."""
    raise missing(__name__, name, __all__)
