"""`tvm.target`: what a module is built for: a CPU."""

from refmlc.tvm.devices import Target
from refmlc.tvm.missing_names import missing

__all__ = ["Target"]


def __getattr__(name: str) -> object:
    """Fails: for every name that is not here."""
    raise missing(__name__, name, __all__)
