"""Records by element of memory, independent of the view of an access.

Elements of one storage are numbered in units of the first access to it. At an access of another size, or one that is
not aligned to the unit, the unit becomes a byte and each byte of an element gets its record. A record that changes
later is copied for that: each byte is an element then. Records end with their storage.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Generic, TypeVar
from weakref import ReferenceType, ref

from refmlc.lang.ir import tir
from refmlc.observe.addresses import element_size
from refmlc.run.interp.tensorir.views import View
from refmlc.run.memory.storage import Storage

R = TypeVar("R")


@dataclass(slots=True)
class Book(Generic[R]):
    """The records of one storage. Units: `unit` in bytes; keys count units."""

    unit: int
    records: dict[int, R] = field(default_factory=dict)

    def split(self, of_byte: Callable[[R], R]) -> None:
        """Count bytes from here on; `of_byte` gives the record of each byte of an element."""
        unit, self.unit = self.unit, 1
        self.records = {
            key * unit + byte: of_byte(record) for key, record in self.records.items() for byte in range(unit)
        }


def unchanged(record: R) -> R:
    """The record itself, which nothing changes."""
    return record


class Elements(Generic[R]):
    """Records of a kind R. `of_byte`: the record of a byte of an element, a copy where records change."""

    __slots__ = ("_books", "_of_byte", "_sizes")

    def __init__(self, of_byte: Callable[[R], R] = unchanged) -> None:
        self._of_byte = of_byte
        # By identity, which is quicker to look up than a weak key; a book ends with its storage.
        self._books: dict[int, tuple[ReferenceType[Storage], Book[R]]] = {}
        self._sizes: dict[tir.Buffer, int] = {}

    def find(self, view: View, offset: int) -> tuple[dict[int, R], range]:
        """The records of the storage that `view` lies in, and the keys of element `offset` of the view."""
        data = view.data
        size = self._sizes.get(view.buffer) or self._sizes.setdefault(view.buffer, element_size(view))
        first = data.byte_offset + (view.offset + offset) * size
        entry = self._books.get(id(data.storage))
        book = self._open(data.storage, 1 if first % size else size) if entry is None else entry[1]
        if book.unit != 1 and (book.unit != size or first % size):
            book.split(self._of_byte)
        unit = book.unit
        if unit == size:
            return book.records, range(first // unit, first // unit + 1)
        return book.records, range(first // unit, (first + size) // unit)

    def _open(self, storage: Storage, unit: int) -> Book[R]:
        number, books = id(storage), self._books
        book: Book[R] = Book(unit)
        books[number] = (ref(storage, lambda _reference: books.pop(number, None)), book)
        return book

    def clear(self) -> None:
        """Forget every record."""
        self._books.clear()


def indices_of(view: View, offset: int) -> tuple[int, ...] | None:
    """The indices of element `offset` of `view`; None if overlapping strides make them ambiguous."""
    strides, shape = view.strides, view.shape
    indices = [0] * len(shape)
    axes: Iterable[int] = range(len(shape))
    if any(strides[axis] < strides[axis + 1] for axis in range(len(shape) - 1)):
        axes = sorted(axes, key=lambda axis: -strides[axis])
    for axis in axes:
        if shape[axis] != 1:
            if strides[axis] <= 0:
                return None
            indices[axis], offset = divmod(offset, strides[axis])
    return None if offset else tuple(indices)


def element(buffer: tir.Buffer, view: View, offset: int) -> str:
    """An element as TVMScript writes it."""
    indices = indices_of(view, offset)
    return f"{buffer.name}[{', '.join(map(str, indices))}]" if indices is not None else f"{buffer.name}[…]"
