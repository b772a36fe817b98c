"""Build and run: a module becomes an executable, a virtual machine calls its functions."""

from refmlc.run.memory.values import Value
from refmlc.vm.bind import bind_params
from refmlc.vm.executable import Executable, build
from refmlc.vm.fold import fold_constant
from refmlc.vm.machine import VirtualMachine, VMFunction

__all__ = ["Executable", "VMFunction", "Value", "VirtualMachine", "bind_params", "build", "fold_constant"]
