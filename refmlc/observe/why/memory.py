"""Storages by number, in the order in which a run meets them: the same program on the same arguments meets them alike.

Numbers end with their storages, so that a buffer that each of a million iterations allocates costs nothing.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from weakref import ReferenceType, ref

from refmlc.observe.why.values import Cell
from refmlc.run.memory.cells import cell_size
from refmlc.run.memory.storage import Storage
from refmlc.run.memory.tensor import Tensor


@dataclass(frozen=True, slots=True)
class ArgumentTensor:
    """A tensor of the caller, by the name of the argument."""

    name: str
    storage: int
    tensor: Tensor


class Storages:
    """The numbers of the storages that are alive; `origins` names every storage by its number."""

    def __init__(self) -> None:
        self._entries: dict[int, tuple[ReferenceType[Storage], int]] = {}
        self.origins: list[str] = []

    def number(self, storage: Storage) -> int:
        """The number of `storage`, a new one where it has none."""
        entry = self._entries.get(id(storage))
        return self._add(storage) if entry is None else entry[1]

    def existing_number(self, storage: Storage) -> int:
        """The number of `storage`; -1 if it has none: it is not an argument and was never written."""
        entry = self._entries.get(id(storage))
        return -1 if entry is None else entry[1]

    def _add(self, storage: Storage) -> int:
        number, key, entries = len(self.origins), id(storage), self._entries
        entries[key] = (ref(storage, lambda _reference: entries.pop(key, None)), number)
        self.origins.append(storage.origin)
        return number


def cell_of(storages: Storages, tensor: Tensor, index: Sequence[int], lane: int = 0) -> Cell:
    """The cell of an element of a tensor."""
    at = sum(i * stride for i, stride in zip(index, tensor.element_strides, strict=True))
    size = cell_size(tensor.dtype)
    return Cell(storages.number(tensor.storage), tensor.byte_offset + at * tensor.itemsize + lane * size, size)


def index_in(tensor: Tensor, byte: int) -> tuple[int, ...] | None:
    """The indices of the element of `tensor` that contains byte `byte` of its storage; None if there is none."""
    offset, remainder = divmod(byte - tensor.byte_offset, tensor.itemsize)
    indices = [0] * tensor.ndim
    if offset < 0 or remainder % cell_size(tensor.dtype):
        return None
    strides = tensor.element_strides
    for axis in sorted(range(tensor.ndim), key=lambda axis: -strides[axis]):
        if tensor.shape[axis] > 1 and strides[axis] > 0:
            indices[axis], offset = divmod(offset, strides[axis])
            if indices[axis] >= tensor.shape[axis]:
                return None
    return None if offset or not tensor.size else tuple(indices)


def element_name(name: str, index: Sequence[int]) -> str:
    """An element as TVMScript writes it."""
    return f"{name}[{', '.join(map(str, index)) or '()'}]"
