"""`tvm.nd`: tensors by their names of the first editions."""

from refmlc.run.memory.tensor import Tensor as NDArray
from refmlc.tvm.arrays import empty, tensor as array
from refmlc.tvm.devices import Device, cpu, device
from refmlc.tvm.missing_names import refusal

__all__ = ["Device", "NDArray", "array", "cpu", "device", "empty"]

__getattr__ = refusal(__name__, __all__)
