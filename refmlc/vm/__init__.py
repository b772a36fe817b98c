"""Build and run: a module becomes an executable, a virtual machine calls its functions."""

from refmlc.run.memory.values import Value
from refmlc.vm.constant_folding import fold_constant
from refmlc.vm.executable import Executable, build
from refmlc.vm.machine import VirtualMachine, VMFunction
from refmlc.vm.parameter_binding import bind_params

__all__ = ["Executable", "VMFunction", "Value", "VirtualMachine", "bind_params", "build", "fold_constant"]
