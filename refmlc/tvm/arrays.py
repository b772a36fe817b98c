"""Tensors by TVM's names: `tvm.nd.array` of the first editions, `tvm.runtime.tensor` of today."""

from collections.abc import Sequence

from refmlc.dtypes import dtype as dtype_named
from refmlc.runtime.tensor import Tensor, tensor as tensor_of
from refmlc.tvm.devices import Device, checked_device


def tensor(arr: object, device: Device | None = None, mem_scope: str | None = None) -> Tensor:
    """A tensor with a copy of the values. Fails: RM111 where they are no array, RM112 where the device is no CPU."""
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
