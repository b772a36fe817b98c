"""`tvm.relax.frontend`: models of other frameworks."""

from refmlc.tvm.missing_names import refusal
from refmlc.tvm.relax.frontend import torch

__all__ = ["torch"]

__getattr__ = refusal(__name__, __all__)
