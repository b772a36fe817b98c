"""`tvm.runtime`: tensors and devices by their names of today."""

from refmlc.run.memory.tensor import Tensor
from refmlc.tvm.arrays import empty, from_dlpack, tensor
from refmlc.tvm.build_functions import Executable
from refmlc.tvm.devices import Device, cpu, device
from refmlc.tvm.missing_names import refusal

NDArray = Tensor
Module = Executable
__all__ = ["Device", "Executable", "Module", "NDArray", "Tensor", "cpu", "device", "empty", "from_dlpack", "tensor"]

__getattr__ = refusal(__name__, __all__)
