"""Records by element of memory, whatever view it is accessed through.

Elements of one storage are numbered in units of the first access to it. When an access of another size, or one that
is not aligned to the unit, comes, the unit becomes a byte and every record is copied to the bytes of its element.
Records end with their storage.
"""

from dataclasses import dataclass, field
from typing import Generic, TypeVar
from weakref import WeakKeyDictionary

from refmlc.interp.tensorir.views import View
from refmlc.ir import tir
from refmlc.runtime.cells import cell_size
from refmlc.runtime.storage import Storage

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

    __slots__ = ("_books",)

    def __init__(self) -> None:
        """No element has a record."""
        self._books: WeakKeyDictionary[Storage, Book[R]] = WeakKeyDictionary()

    def find(self, view: View, offset: int) -> tuple[dict[int, R], range]:
        """The records of the storage that `view` lies in, and the keys of element `offset` of the view."""
        storage = view.data.storage
        size = size_of(view)
        first = view.data.byte_offset + (view.offset + offset) * size
        book = self._books.get(storage)
        if book is None:
            book = self._books[storage] = Book(1 if first % size else size)
        elif book.unit != 1 and (book.unit != size or first % size):
            book.split()
        unit = book.unit
        return book.records, range(first // unit, (first + size) // unit)

    def clear(self) -> None:
        """Forget every record."""
        self._books = WeakKeyDictionary()


def size_of(view: View) -> int:
    """The bytes of an element of `view`."""
    dtype = view.buffer.dtype
    return cell_size(dtype) * dtype.lanes


def indices_of(view: View, offset: int) -> tuple[int, ...] | None:
    """The indices of element `offset` of `view`; None where strides overlap so that there is no one answer."""
    found = [0] * len(view.shape)
    axes = sorted(range(len(view.shape)), key=lambda axis: -view.strides[axis])
    for axis in axes:
        if view.shape[axis] == 1:
            continue
        if view.strides[axis] <= 0:
            return None
        found[axis], offset = divmod(offset, view.strides[axis])
    return None if offset else tuple(found)


def element(buffer: tir.Buffer, view: View, offset: int) -> str:
    """An element as the text of the program would write it."""
    indices = indices_of(view, offset)
    return f"{buffer.name}[{', '.join(map(str, indices))}]" if indices is not None else f"{buffer.name}[…]"
