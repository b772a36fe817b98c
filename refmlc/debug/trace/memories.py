"""One address space for the cells of all tensors of a run.

| storage                                | has                                                             |
|----------------------------------------|-----------------------------------------------------------------|
| of an argument, a value of Relax       | a memory of its own with its dtype, for the whole run           |
| of a buffer allocated again by a frame | the memory of the previous allocation                           |
| of a buffer of a later call            | a memory freed by an earlier call                               |
| seen as another dtype                  | another memory: writes to one do not show in the other          |
"""

from collections import defaultdict
from dataclasses import dataclass, field
from weakref import ReferenceType, ref

from refmlc.debug.trace.events import NOWHERE, TracedMemory, TracedTensor
from refmlc.lang.dtypes import DType, dtype as dtype_named
from refmlc.lang.ir import tir
from refmlc.run.interp.tensorir.views import View
from refmlc.run.memory.cells import cell_size
from refmlc.run.memory.storage import Storage
from refmlc.run.memory.tensor import Tensor

MOST_CELLS = 1 << 24


@dataclass(slots=True)
class CallAllocations:
    """The memories of the buffers that a call allocated, by frame and buffer."""

    by_frame: dict[tuple[int, tir.Buffer], int] = field(default_factory=dict)


class Memories:
    """The memories, and the tensors in them."""

    def __init__(self) -> None:
        self.rows: list[TracedMemory] = []
        self.tensors: list[TracedTensor] = []
        self.without_address = 0
        self._next = 0
        self._known: dict[int, tuple[ReferenceType[Storage], dict[str, int]]] = {}
        self._tensors: dict[TracedTensor, int] = {}
        self._free: dict[tuple[tir.Buffer, int], list[int]] = defaultdict(list)
        self._places: dict[int, tuple[int, int, int]] = {}
        self._views: dict[int, ReferenceType[View]] = {}

    def of_storage(self, storage: Storage, dtype: DType) -> tuple[int, bool]:
        """The memory of a storage seen as cells of `dtype`, and whether it is new."""
        memory = self._names(storage).get(str(dtype.scalar))
        if memory is not None:
            return memory, False
        new_memory = self._add(storage.nbytes // cell_size(dtype), str(dtype.scalar))
        self._names(storage)[str(dtype.scalar)] = new_memory
        return new_memory, True

    def known(self, storage: Storage) -> list[tuple[int, DType]]:
        """The memories of a storage, each with the dtype of its cells."""
        return [(memory, dtype_named(name)) for name, memory in self._names(storage).items()]

    def _names(self, storage: Storage) -> dict[str, int]:
        key, storages = id(storage), self._known
        entry = storages.get(key)
        if entry is None:
            entry = storages[key] = (ref(storage, lambda _reference: storages.pop(key, None)), {})
        return entry[1]

    def _add(self, cells: int, dtype: str) -> int:
        fits = self._next + cells <= MOST_CELLS
        self.rows.append(TracedMemory(self._next if fits else NOWHERE, cells, dtype))
        self._next += cells if fits else 0
        self.without_address += not fits
        return len(self.rows) - 1

    def allocate(self, buffer: tir.Buffer, view: View, frame: int, allocated: CallAllocations) -> tuple[int, bool]:
        """The memory of a fresh buffer, and whether another thread has allocated it before."""
        storage, dtype = view.data.storage, buffer.dtype
        names, name = self._names(storage), str(dtype.scalar)
        again = name in names
        cells = storage.nbytes // cell_size(dtype)
        key = (frame, buffer)
        before = allocated.by_frame.get(key)
        free = self._free[buffer, cells]
        if before is not None and self.rows[before].cells == cells:
            names[name] = before
        elif name not in names:
            names[name] = free.pop() if free else self._add(cells, name)
        allocated.by_frame[key] = names[name]
        return names[name], again

    def leave(self, allocated: CallAllocations) -> None:
        """Free the buffers of a call that has ended."""
        for (_, buffer), memory in allocated.by_frame.items():
            free = self._free[buffer, self.rows[memory].cells]
            if memory not in free:
                free.append(memory)

    def tensor(self, name: str, tensor: Tensor) -> int:
        """The row of a tensor; tensors at the same place share one."""
        memory, _ = self.of_storage(tensor.storage, tensor.dtype)
        start = tensor.byte_offset // cell_size(tensor.dtype)
        return self._row(name, tensor.dtype, tensor.shape, tensor.element_strides, memory, start)

    def view(self, view: View, memory: int) -> int:
        """The row of a buffer in a memory."""
        dtype = view.buffer.dtype
        start = view.data.byte_offset // cell_size(dtype) + view.offset * dtype.lanes
        return self._row(view.buffer.name, dtype, view.shape, view.strides, memory, start)

    def _row(
        self, name: str, dtype: DType, shape: tuple[int, ...], strides: tuple[int, ...], memory: int, start: int
    ) -> int:
        base = self.rows[memory].base
        first = NOWHERE if base == NOWHERE else base + start
        row = TracedTensor(name, str(dtype), tuple(shape), tuple(strides), dtype.lanes, first, memory)
        if row not in self._tensors:
            self._tensors[row] = len(self.tensors)
            self.tensors.append(row)
        return self._tensors[row]

    def place(self, view: View) -> tuple[int, int, int]:
        """The address of the first cell of a view, its lanes, its memory."""
        return self._places.get(id(view)) or self._place(view)

    def _place(self, view: View) -> tuple[int, int, int]:
        dtype = view.buffer.dtype
        memory, _ = self.of_storage(view.data.storage, dtype)
        base = self.rows[memory].base
        start = view.data.byte_offset // cell_size(dtype) + view.offset * dtype.lanes
        key = id(view)
        self._views[key] = ref(view, lambda _reference: self._drop(key))
        place = self._places[key] = (NOWHERE if base == NOWHERE else base + start, dtype.lanes, memory)
        return place

    def _drop(self, view: int) -> None:
        del self._views[view], self._places[view]
