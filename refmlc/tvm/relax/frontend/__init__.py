"""`tvm.relax.frontend`: models of other frameworks."""

from refmlc.tvm.missing_names import refusal
from refmlc.tvm.relax.frontend import nn, onnx, torch
from refmlc.tvm.relax.frontend.parameters import detach_params

__all__ = ["detach_params", "nn", "onnx", "torch"]

__getattr__ = refusal(__name__, __all__)
