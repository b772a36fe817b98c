"""Storages by number, in the order in which a run meets them: the same program on the same arguments meets them alike.

Numbers end with their storages, so that a buffer that each of a million iterations allocates costs nothing.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from weakref import ReferenceType, ref

from refmlc.observe.why.values import Cell
from refmlc.run.interp.tensorir.views import View
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
    """The numbers of the storages that are alive, and what is remembered of all."""

    def __init__(self) -> None:
        self._known: dict[int, tuple[ReferenceType[Storage], int]] = {}
        self.origins: list[str] = []

    def number(self, storage: Storage) -> int:
        """The number of `storage`, a new one where it has none."""
        found = self._known.get(id(storage))
        return self._add(storage) if found is None else found[1]

    def known(self, storage: Storage) -> int:
        """The number of `storage`; -1 if it has none: it is not an argument and was never written."""
        found = self._known.get(id(storage))
        return -1 if found is None else found[1]

    def _add(self, storage: Storage) -> int:
        number, key, known = len(self.origins), id(storage), self._known
        known[key] = (ref(storage, lambda _gone: known.pop(key, None)), number)
        self.origins.append(storage.origin)
        return number


def element_size(view: View) -> int:
    """The bytes of an element of `view`."""
    dtype = view.buffer.dtype
    return cell_size(dtype) * dtype.lanes


def first_byte(view: View, offset: int) -> int:
    """The byte of its storage at which element `offset` of `view` begins."""
    return view.data.byte_offset + (view.offset + offset) * element_size(view)


def cell_of(storages: Storages, tensor: Tensor, index: Sequence[int], lane: int = 0) -> Cell:
    """The cell of an element of a tensor."""
    at = sum(i * stride for i, stride in zip(index, tensor.element_strides, strict=True))
    size = cell_size(tensor.dtype)
    return Cell(storages.number(tensor.storage), tensor.byte_offset + at * tensor.itemsize + lane * size, size)


def index_in(tensor: Tensor, byte: int) -> tuple[int, ...] | None:
    """The indices of the element of `tensor` that byte `byte` of its storage lies in; None where none does."""
    offset, rest = divmod(byte - tensor.byte_offset, tensor.itemsize)
    found = [0] * tensor.ndim
    if offset < 0 or rest % cell_size(tensor.dtype):
        return None
    strides = tensor.element_strides
    for axis in sorted(range(tensor.ndim), key=lambda axis: -strides[axis]):
        if tensor.shape[axis] > 1 and strides[axis] > 0:
            found[axis], offset = divmod(offset, strides[axis])
            if found[axis] >= tensor.shape[axis]:
                return None
    return None if offset or not tensor.size else tuple(found)


def element_name(name: str, index: Sequence[int]) -> str:
    """An element as the text of a program writes it."""
    return f"{name}[{', '.join(map(str, index)) or '()'}]"
