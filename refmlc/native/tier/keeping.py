"""What C may spoil before it stops, kept so that the interpreter begins with memory as it was (NAT-002).

| buffer                                    | elements                             | shadow             |
|-------------------------------------------|--------------------------------------|--------------------|
| loaded, and stored to, and not covered    | a copy                               | a copy, if tracked |
| stored to otherwise                       | none: the same will be stored again  | a copy, if tracked |

Units without any check stop before they have written, if at all: nothing is kept for them.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from refmlc.native.unit import BufferParam, Unit
from refmlc.run.memory.cells import cell_size
from refmlc.run.memory.tensor import Tensor


@dataclass(frozen=True, slots=True)
class Kept:
    """Copies of elements and of shadows, each with the memory it is a copy of."""

    elements: list[tuple[np.ndarray, np.ndarray]]
    shadows: list[tuple[memoryview, bytes]]

    def put_back(self) -> None:
        """Let memory be as it was."""
        for memory, copy in self.elements:
            memory[...] = copy
        for shadow, held in self.shadows:
            shadow[:] = held


class Keeping:
    """What is kept of the arguments of one unit. `changes`: what it reads is not there any more when it has run."""

    def __init__(self, unit: Unit) -> None:
        """Find the parameters that need it."""
        params = [param for param in unit.params if isinstance(param, BufferParam)]
        self.may_stop = unit.checks > 0
        self._copied = [param.loaded and param.stored and not param.covered for param in params]
        self.changes = any(self._copied)
        self._tracked = [param.tracked and param.stored for param in params]

    def keep(self, tensors: Sequence[Tensor]) -> Kept:
        """Copies of what a call on `tensors` may spoil."""
        if not self.may_stop:
            return Kept([], [])
        elements = [memory_of(tensor) for tensor, copied in zip(tensors, self._copied, strict=True) if copied]
        shadows = [
            tensor.shadow
            for tensor, tracked in zip(tensors, self._tracked, strict=True)
            if tracked and not tensor.storage.all_initialised
        ]
        return Kept(
            [(memory, memory.copy()) for memory in elements],
            [(shadow, bytes(shadow)) for shadow in shadows if isinstance(shadow, memoryview)],
        )


def memory_of(tensor: Tensor) -> np.ndarray:
    """The bytes from the first element to the last."""
    start = tensor.byte_offset
    return tensor.storage.array[start : start + tensor.reach * cell_size(tensor.dtype) * tensor.dtype.lanes]
