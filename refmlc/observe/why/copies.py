"""Copies of arguments for one run: the same strides and offsets, and what shares memory shares its copy."""

from collections.abc import Sequence

import numpy as np

from refmlc.run.memory.storage import Storage
from refmlc.run.memory.tensor import Tensor


def copies(args: Sequence[object]) -> list[object]:
    """Fresh arguments that are to a program what `args` are."""
    copying = CopyRecorder()
    return [copying.copy(arg) for arg in args]


class CopyRecorder:
    """The copies so far."""

    def __init__(self) -> None:
        self._given: dict[int, Tensor] = {}
        self._made: dict[int, Storage] = {}

    def copy(self, value: object) -> object:
        """A value whose tensors are copies; arrays become tensors."""
        match value:
            case np.ndarray():
                return self._tensor(self._given.setdefault(id(value), Tensor.from_numpy(value)))
            case np.generic():
                return value.item()
            case Tensor():
                return self._tensor(value)
            case tuple() if type(value) is tuple:
                return tuple(map(self.copy, value))
            case _:
                return value

    def _tensor(self, tensor: Tensor) -> Tensor:
        old = tensor.storage
        if id(old) not in self._made:
            fresh = Storage(old.nbytes, unit=old.unit, origin=old.origin, span=old.span)
            fresh.array[...] = old.array
            fresh.shadow[:] = old.shadow
            fresh.partial.update(old.partial)
            fresh.objects.update(old.objects)
            fresh.writable = old.writable
            self._made[id(old)] = fresh
        made = self._made[id(old)]
        return Tensor(made, tensor.dtype, tensor.shape, tensor.strides, tensor.byte_offset)
