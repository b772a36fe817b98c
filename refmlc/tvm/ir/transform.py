"""`tvm.ir.transform`: what `tvm.transform` has."""

from refmlc.tvm.missing_names import refusal
from refmlc.tvm.transform import Pass, PassContext, Sequential, module_pass

__all__ = ["Pass", "PassContext", "Sequential", "module_pass"]

__getattr__ = refusal(__name__, __all__)
