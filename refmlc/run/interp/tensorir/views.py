"""Buffers at run time: views on storage, and how a declaration becomes one (TIR-005).

| form     | buffers                   | access slot                         |
|----------|---------------------------|-------------------------------------|
| `vector` | compact, rank 1           | `(cells, shadow, n)`                |
| `matrix` | compact, rank 2           | `(cells, shadow, n, m)`             |
| `compact` | compact, other ranks     | `(cells, shadow, shape, strides)`   |
| `any`    | with strides              | `(cells, shadow, shape, strides)`   |

`shadow[o]` is not 0 when element `o` is initialised.
"""

from dataclasses import dataclass
from typing import Literal, Protocol, TypeAlias, cast

from refmlc.diag import fail
from refmlc.diag.catalogue import UNSUPPORTED_CONSTRUCT
from refmlc.lang.dtypes import DType
from refmlc.lang.ir import tir
from refmlc.run.interp.tensorir.frame import Frame, Slot
from refmlc.run.memory.array_memory import compact_strides, span_of
from refmlc.run.memory.cells import Cells, Shadow, cell_size, cells, shadow
from refmlc.run.memory.pointer import Pointer
from refmlc.run.memory.storage import Storage
from refmlc.run.memory.tensor import Tensor

Form: TypeAlias = Literal["vector", "matrix", "compact", "any"]
Strided: TypeAlias = tuple[Cells, Shadow, tuple[int, ...], tuple[int, ...]]


class ElementAddresses(Protocol):
    """Where the elements of a buffer with a layout lie."""

    def offset(self, position: tuple[int, ...], /) -> int:
        """The address of an element in bounds. Units: elements."""


@dataclass(slots=True, frozen=True, weakref_slot=True)
class View:
    """A buffer bound to storage. `data` is what `A.data` is; element `offset` of it is element 0 of the cells.

    Units: `offset` and `strides` in elements. `addresses`: where elements lie if the buffer has a layout; its strides
    are 0 then.
    """

    buffer: tir.Buffer
    data: Pointer
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    offset: int
    cells: Cells
    shadow: Shadow
    addresses: ElementAddresses | None = None

    @property
    def compact(self) -> tuple[object, ...]:
        """The content of the access slot of a compact buffer."""
        return (self.cells, self.shadow, *self.shape)

    @property
    def strided(self) -> Strided:
        """The content of the access slot of a buffer with strides."""
        return (self.cells, self.shadow, self.shape, self.strides)

    def tensor(self) -> Tensor:
        """The view as a tensor that shares its storage. Fails: RM304 when it reaches beyond it."""
        dtype = self.buffer.dtype
        if self.addresses is not None:
            message = f"`{self.buffer.name}` has a layout: it is not a tensor as a whole"
            raise fail(UNSUPPORTED_CONSTRUCT, message, self.buffer.span)
        start = self.data.byte_offset + self.offset * cell_size(dtype) * dtype.lanes
        return Tensor(self.data.storage, dtype, self.shape, self.strides, start, span=self.buffer.span)


def view_on(
    buffer: tir.Buffer, data: Pointer, shape: tuple[int, ...], strides: tuple[int, ...] | None, offset: int
) -> View:
    """View `data` as `buffer`. Elements beyond the end of the storage have no cell; accessing one fails."""
    dtype = buffer.dtype
    storage = data.storage
    if strides is not None and any(stride < 0 for stride in strides):
        raise fail(UNSUPPORTED_CONSTRUCT, f"`{buffer.name}` has negative strides: {strides}", buffer.span)
    steps = compact_strides(shape) if strides is None else strides
    size = cell_size(dtype) * dtype.lanes
    start = data.byte_offset + offset * size
    room = max(0, (storage.nbytes - start) // size) if start >= 0 else 0
    count = min(span_of(shape, steps, 1)[1], room)
    if count == 0:
        start = 0
    return View(
        buffer, data, shape, steps, offset, cells(storage, dtype, start, count), shadow_of(storage, dtype, start, count)
    )


def shadow_of(storage: Storage, dtype: DType, start: int, count: int) -> Shadow:
    """The shadow of the same cells; where they begin with the storage, its own bytes, the fastest to read.

    Without cells there is no shadow either: such an access is beyond its storage, not uninitialised.
    """
    cells_shadow = shadow(storage, dtype, start, count)
    return storage.shadow if count and start == 0 and storage.unit == cell_size(dtype) else cells_shadow


def view_of_tensor(buffer: tir.Buffer, tensor: Tensor) -> View:
    """A tensor as `buffer`: its data pointer is its first element."""
    data = Pointer(tensor.storage, tensor.byte_offset)
    return view_on(buffer, data, tensor.shape, tensor.element_strides, 0)


@dataclass(slots=True, frozen=True)
class BufferPlace:
    """The slots of a buffer in the frame, and the form of its access slot."""

    buffer: tir.Buffer
    view: Slot[View]
    access: Slot[object]
    form: Form

    def drop(self, frame: Frame) -> None:
        """Empty the slots: the buffer holds no storage any more."""
        slots = cast("tuple[Slot[object], ...]", (self.view, self.access))
        for slot in slots:
            frame[slot] = None

    def put(self, frame: Frame, view: View) -> None:
        """Bind the buffer to `view`."""
        frame[self.view] = view
        frame[self.access] = view.compact if self.form in ("vector", "matrix") else view.strided
