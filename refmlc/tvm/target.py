"""`tvm.target`: what a module is built for: a CPU."""

from refmlc.tvm.devices import Target
from refmlc.tvm.missing_names import refusal

__all__ = ["Target"]

__getattr__ = refusal(__name__, __all__)
