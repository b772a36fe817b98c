"""`tvm.runtime`: tensors and devices by their names of today."""

from refmlc.run.memory.tensor import Tensor
from refmlc.tvm.arrays import empty, from_dlpack, tensor
from refmlc.tvm.build_functions import Executable, load_module
from refmlc.tvm.devices import Device, cpu, device
from refmlc.tvm.missing_names import refusal

NDArray = Tensor


def convert(value: object) -> object:
    """A value of Python as an argument of functions: it is one as it stands."""
    return value


Module = Executable
__all__ = [
    "Device",
    "Executable",
    "Module",
    "NDArray",
    "Tensor",
    "convert",
    "cpu",
    "device",
    "empty",
    "from_dlpack",
    "load_module",
    "tensor",
]

__getattr__ = refusal(__name__, __all__)
