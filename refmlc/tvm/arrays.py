"""Tensors by TVM's names: `tvm.nd.array` of the first editions, `tvm.runtime.tensor` of today."""

from collections.abc import Sequence

import numpy as np

from refmlc.lang.dtypes import dtype as dtype_named
from refmlc.run.memory.tensor import Tensor, tensor as tensor_of
from refmlc.tvm.devices import Device, checked_device


def tensor(arr: object, device: Device | None = None, mem_scope: str | None = None) -> Tensor:
    """A tensor with a copy of the values. Fails: RM111 if they are not an array, RM112 if the device is not a CPU."""
    del mem_scope
    checked_device(device)
    return arr.copy() if isinstance(arr, Tensor) else tensor_of(arr)


def empty(
    shape: Sequence[int], dtype: str = "float32", device: Device | None = None, mem_scope: str | None = None
) -> Tensor:
    """A tensor whose elements nobody has written: reading one before is a finding."""
    del mem_scope
    checked_device(device)
    return Tensor.empty(tuple(shape), dtype_named(dtype))


def from_dlpack(ext_tensor: object) -> Tensor:
    """A tensor that shares the memory of an array of NumPy, or of what else speaks DLPack. Fails: RM111, RM505."""
    return Tensor.from_numpy(ext_tensor) if isinstance(ext_tensor, np.ndarray) else Tensor.from_dlpack(ext_tensor)
