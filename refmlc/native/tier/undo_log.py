"""Undo logs: copies of memory that C may spoil before it stops, so that the interpreter begins as C did (NAT-002).

| buffer                                    | elements                             | shadow             |
|-------------------------------------------|--------------------------------------|--------------------|
| loaded, and stored to, and not covered    | a copy                               | a copy, if tracked |
| stored to otherwise                       | none: the same will be stored again  | a copy, if tracked |

Units without any check stop before they have written, if at all: their logs are empty.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from refmlc.native.unit import BufferParam, Unit
from refmlc.run.memory.cells import cell_size
from refmlc.run.memory.tensor import Tensor


@dataclass(frozen=True, slots=True)
class UndoLog:
    """Memory of elements and of shadows, each with a copy."""

    elements: list[tuple[np.ndarray, np.ndarray]]
    shadows: list[tuple[memoryview, bytes]]

    def restore(self) -> None:
        """Put all copies back."""
        for memory, elements in self.elements:
            memory[...] = elements
        for shadow, cells in self.shadows:
            shadow[:] = cells


class UndoPlan:
    """The parameters of one unit that an undo log copies. `updates`: some parameter is read and overwritten."""

    def __init__(self, unit: Unit) -> None:
        params = [param for param in unit.params if isinstance(param, BufferParam)]
        self.may_stop = unit.checks > 0
        self._copied = [param.loaded and param.stored and not param.covered for param in params]
        self.updates = any(self._copied)
        self._tracked = [param.tracked and param.stored for param in params]

    def record(self, tensors: Sequence[Tensor]) -> UndoLog:
        """The undo log of a call on `tensors`."""
        if not self.may_stop:
            return UndoLog([], [])
        elements = [memory_of(tensor) for tensor, copied in zip(tensors, self._copied, strict=True) if copied]
        shadows = [
            tensor.shadow
            for tensor, tracked in zip(tensors, self._tracked, strict=True)
            if tracked and not tensor.storage.all_initialised
        ]
        return UndoLog(
            [(memory, memory.copy()) for memory in elements],
            [(shadow, bytes(shadow)) for shadow in shadows if isinstance(shadow, memoryview)],
        )


def memory_of(tensor: Tensor) -> np.ndarray:
    """The bytes from the first element to the last."""
    start = tensor.byte_offset
    return tensor.storage.array[start : start + tensor.reach * cell_size(tensor.dtype) * tensor.dtype.lanes]
