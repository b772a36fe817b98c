"""`tvm.relax.vm`: the virtual machine as it was called in 2022."""

from refmlc.tvm.build_functions import Executable, VirtualMachine, build
from refmlc.tvm.missing_names import refusal

__all__ = ["Executable", "VirtualMachine", "build"]

__getattr__ = refusal(__name__, __all__)
