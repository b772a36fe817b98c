"""Tensors of PyTorch as arrays and constants; its dtypes by their names here.

The objects are taken as they are found: nothing of PyTorch is imported.
"""

from typing import Protocol

import numpy as np

from refmlc.diag import fail
from refmlc.diag.catalogue import UNKNOWN_DTYPE, UNSUPPORTED_OP
from refmlc.lang.dtypes import SCALARS, DType
from refmlc.lang.dtypes.storage import dtype_of, storage_dtype
from refmlc.lang.ir import relax


class TorchTensor(Protocol):
    """The interface of a PyTorch tensor."""

    dtype: object

    def detach(self) -> "TorchTensor":
        """The tensor without its history."""
        ...

    def cpu(self) -> "TorchTensor":
        """The tensor in the memory of the host."""
        ...

    def float(self) -> "TorchTensor":
        """The tensor in float32."""
        ...

    def numpy(self) -> np.ndarray:
        """The array."""
        ...


def dtype_name(torch_dtype: object) -> str:
    """`torch.float32` as "float32". Fails: RM106 where there is no such dtype here; RM501 complex."""
    name = str(torch_dtype).removeprefix("torch.")
    if name.startswith("complex"):
        raise fail(UNSUPPORTED_OP, f"complex numbers are not supported: a tensor of PyTorch has the dtype `{name}`")
    if name not in SCALARS:
        raise fail(UNKNOWN_DTYPE, f"refmlc has no dtype `{name}`: the PyTorch tensor cannot be converted")
    return name


def array_of(tensor: TorchTensor) -> np.ndarray:
    """A copy of the elements, in the storage dtype that their dtype has here."""
    scalar = SCALARS[dtype_name(tensor.dtype)]
    host = tensor.detach().cpu()
    # NumPy has no small floats, which float32 holds exactly.
    data = host.float().numpy() if scalar.is_float and scalar.bits <= 16 and str(scalar) != "float16" else host.numpy()
    return np.array(data, dtype=storage_dtype(scalar), order="C")


def constant(array: np.ndarray, dtype: DType | None = None) -> relax.Constant:
    """The array as a constant."""
    kind = dtype_of(array.dtype) if dtype is None else dtype
    data = np.array(array, dtype=storage_dtype(kind), order="C")
    data.flags.writeable = False
    return relax.Constant(data, kind)


def constant_of(tensor: TorchTensor) -> relax.Constant:
    """A tensor of PyTorch as a constant."""
    return constant(array_of(tensor), SCALARS[dtype_name(tensor.dtype)])
