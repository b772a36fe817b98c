"""`tvm.nd`: tensors by their names of the first editions."""

from refmlc.run.memory.tensor import Tensor as NDArray
from refmlc.tvm.arrays import empty, tensor as array
from refmlc.tvm.devices import Device, cpu, device
from refmlc.tvm.missing_names import missing

__all__ = ["Device", "NDArray", "array", "cpu", "device", "empty"]


def __getattr__(name: str) -> object:
    """Fails: for every name that is not here."""
    raise missing(__name__, name, __all__)
