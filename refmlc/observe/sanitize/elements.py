"""Records by element of memory, whatever view it is accessed through.

Elements of one storage are numbered in units of the first access to it. When an access of another size, or one that
is not aligned to the unit, comes, the unit becomes a byte and every record is copied to the bytes of its element.
Records end with their storage.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Generic, TypeVar
from weakref import ReferenceType, ref

from refmlc.lang.ir import tir
from refmlc.run.interp.tensorir.views import View
from refmlc.run.memory.cells import cell_size
from refmlc.run.memory.storage import Storage

R = TypeVar("R")


@dataclass(slots=True)
class Book(Generic[R]):
    """The records of one storage. Units: `unit` in bytes; keys count units."""

    unit: int
    records: dict[int, R] = field(default_factory=dict)

    def split(self) -> None:
        """Count bytes from here on."""
        unit, self.unit = self.unit, 1
        self.records = {key * unit + byte: record for key, record in self.records.items() for byte in range(unit)}


class Elements(Generic[R]):
    """Records of a kind R."""

    __slots__ = ("_books", "_sizes")

    def __init__(self) -> None:
        """No element has a record."""
        # By identity, which is quicker to look up than a weak key; a storage takes its book along when it goes.
        self._books: dict[int, tuple[ReferenceType[Storage], Book[R]]] = {}
        self._sizes: dict[tir.Buffer, int] = {}

    def find(self, view: View, offset: int) -> tuple[dict[int, R], range]:
        """The records of the storage that `view` lies in, and the keys of element `offset` of the view."""
        data = view.data
        size = self._sizes.get(view.buffer) or self._sizes.setdefault(view.buffer, size_of(view))
        first = data.byte_offset + (view.offset + offset) * size
        known = self._books.get(id(data.storage))
        book = self._open(data.storage, 1 if first % size else size) if known is None else known[1]
        if book.unit != 1 and (book.unit != size or first % size):
            book.split()
        unit = book.unit
        if unit == size:
            return book.records, range(first // unit, first // unit + 1)
        return book.records, range(first // unit, (first + size) // unit)

    def _open(self, storage: Storage, unit: int) -> Book[R]:
        number, books = id(storage), self._books
        book: Book[R] = Book(unit)
        books[number] = (ref(storage, lambda _gone: books.pop(number, None)), book)
        return book

    def clear(self) -> None:
        """Forget every record."""
        self._books.clear()


def size_of(view: View) -> int:
    """The bytes of an element of `view`."""
    dtype = view.buffer.dtype
    return cell_size(dtype) * dtype.lanes


def indices_of(view: View, offset: int) -> tuple[int, ...] | None:
    """The indices of element `offset` of `view`; None where strides overlap so that there is no one answer."""
    strides, shape = view.strides, view.shape
    found = [0] * len(shape)
    axes: Iterable[int] = range(len(shape))
    if any(strides[axis] < strides[axis + 1] for axis in range(len(shape) - 1)):
        axes = sorted(axes, key=lambda axis: -strides[axis])
    for axis in axes:
        if shape[axis] != 1:
            if strides[axis] <= 0:
                return None
            found[axis], offset = divmod(offset, strides[axis])
    return None if offset else tuple(found)


def element(buffer: tir.Buffer, view: View, offset: int) -> str:
    """An element as the text of the program would write it."""
    indices = indices_of(view, offset)
    return f"{buffer.name}[{', '.join(map(str, indices))}]" if indices is not None else f"{buffer.name}[…]"
