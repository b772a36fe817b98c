"""`tvm.relax.frontend`: models of other frameworks."""

from refmlc.tvm.missing_names import refusal
from refmlc.tvm.relax.frontend import nn, torch

__all__ = ["nn", "torch"]

__getattr__ = refusal(__name__, __all__)
