"""Copies of arguments for one run: strides and offsets stay, and tensors that share memory share its copy."""

from collections.abc import Sequence

import numpy as np

from refmlc.run.memory.storage import Storage
from refmlc.run.memory.tensor import Tensor


def copies(args: Sequence[object]) -> list[object]:
    """Copies of `args`: arrays become tensors, NumPy scalars become numbers."""
    recorder = CopyRecorder()
    return [recorder.copy(arg) for arg in args]


class CopyRecorder:
    """The tensor of each array and the copy of each storage, by identity."""

    def __init__(self) -> None:
        self._tensors: dict[int, Tensor] = {}
        self._storages: dict[int, Storage] = {}

    def copy(self, value: object) -> object:
        """A value whose tensors are copies; arrays become tensors."""
        match value:
            case np.ndarray():
                return self._tensor(self._tensors.setdefault(id(value), Tensor.from_numpy(value)))
            case np.generic():
                return value.item()
            case Tensor():
                return self._tensor(value)
            case tuple() if type(value) is tuple:
                return tuple(map(self.copy, value))
            case _:
                return value

    def _tensor(self, tensor: Tensor) -> Tensor:
        source = tensor.storage
        copy = self._storages.get(id(source))
        if copy is None:
            copy = Storage(source.nbytes, unit=source.unit, origin=source.origin, span=source.span)
            copy.array[...] = source.array
            copy.shadow[:] = source.shadow
            copy.partial.update(source.partial)
            copy.objects.update(source.objects)
            copy.writable = source.writable
            self._storages[id(source)] = copy
        return Tensor(copy, tensor.dtype, tensor.shape, tensor.strides, tensor.byte_offset)
