"""`tvm.relax.frontend`: models of other frameworks."""

from refmlc.tvm.missing_names import missing
from refmlc.tvm.relax.frontend import torch

__all__ = ["torch"]


def __getattr__(name: str) -> object:
    """Fails: for every name that is not here."""
    raise missing(__name__, name, __all__)
