"""`tvm.relax.vm`: the virtual machine as it was called in 2022."""

from refmlc.tvm.build_functions import Executable, VirtualMachine, build_2022 as build
from refmlc.tvm.missing_names import missing

__all__ = ["Executable", "VirtualMachine", "build"]


def __getattr__(name: str) -> object:
    """Fails: for every name that is not here."""
    raise missing(__name__, name, __all__)
