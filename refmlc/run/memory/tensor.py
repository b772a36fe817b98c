"""Tensors: a dtype, a shape and strides on a storage, shared with NumPy and DLPack without copies."""

from math import prod

import numpy as np

from refmlc.diag import Span, fail
from refmlc.diag.catalogue import BAD_EXTENT, BAD_INPUT, BAD_USAGE, OUT_OF_BOUNDS, UNSUPPORTED_DTYPE
from refmlc.lang.dtypes import DType, dtype
from refmlc.lang.dtypes.storage import dtype_of, storage_dtype
from refmlc.run.memory import dlpack, picture
from refmlc.run.memory.array_memory import compact_strides, is_compact, span_of
from refmlc.run.memory.budget import Budget
from refmlc.run.memory.cells import Cells, Shadow, cell_size, cells, shadow
from refmlc.run.memory.initialisation import mask_of, missing, warn_missing
from refmlc.run.memory.storage import Storage


class Tensor:
    """An array of elements of one dtype. Units: `strides` (None: compact) in elements, `byte_offset` in bytes.

    `cells` and `shadow` are flat and begin at the first element: element (i, j) of a compact (2, 3) tensor has
    number 3 * i + j, of a strided one i * strides[0] + j * strides[1]; a vector element has `dtype.lanes` cells.
    """

    __slots__ = ("__weakref__", "_cells", "_plain", "_shadow", "byte_offset", "dtype", "shape", "storage", "strides")

    def __init__(
        self,
        storage: Storage,
        dtype: DType,
        shape: tuple[int, ...],
        strides: tuple[int, ...] | None = None,
        byte_offset: int = 0,
        *,
        span: Span | None = None,
    ) -> None:
        """View `storage`.

        Fails: RM315 (negative extent), RM304 (not inside), RM503 (no fixed element size), RM111 (strides of another
        rank, or negative).
        """
        if strides is not None and len(strides) != len(shape):
            raise fail(BAD_INPUT, f"{len(strides)} strides are given for {len(shape)} dimensions", span)
        self.storage = storage
        self.dtype = dtype
        self.shape = shape
        self.strides = None if strides is None or is_compact(shape, strides) else strides
        self.byte_offset = byte_offset
        self._cells: Cells | None = None
        self._shadow: Shadow | None = None
        self._plain: np.ndarray | None = None
        self._check(span)

    def _check(self, span: Span | None) -> None:
        size = element_size(self.dtype, self.shape, span)
        low, high = (0, prod(self.shape)) if self.strides is None else span_of(self.shape, self.strides, 1)
        if low < 0:
            raise fail(BAD_INPUT, f"the strides {self.strides} are negative", span)
        end = self.byte_offset + high * size
        if self.byte_offset < 0 or end > self.storage.nbytes:
            message = f"the tensor lies in bytes {self.byte_offset} … {end} of a storage of {self.storage.nbytes}"
            raise fail(OUT_OF_BOUNDS, message, span)

    @classmethod
    def empty(
        cls,
        shape: tuple[int, ...],
        dtype: DType,
        *,
        origin: str = "",
        span: Span | None = None,
        budget: Budget | None = None,
    ) -> "Tensor":
        """A fresh, uninitialised tensor. Fails: RM315, RM503, RM603."""
        nbytes = element_size(dtype, shape, span) * prod(shape)
        unit = cell_size(dtype)
        return cls(Storage(nbytes, unit=unit, origin=origin, span=span, budget=budget), dtype, shape, span=span)

    @classmethod
    def filled(cls, storage: Storage, dtype: DType, shape: tuple[int, ...]) -> "Tensor":
        """The compact tensor that is all of `storage`, which has its size: the fastest way to a tensor."""
        self = cls.__new__(cls)
        self.storage = storage
        self.dtype = dtype
        self.shape = shape
        self.byte_offset = 0
        self.strides = self._cells = self._shadow = self._plain = None
        return self

    @classmethod
    def from_numpy(cls, array: np.ndarray, dtype: DType | None = None, *, origin: str = "") -> "Tensor":
        """The tensor that shares the memory of `array`; strided and read-only arrays too.

        `dtype` tells apart what NumPy cannot (int1 stored as int8). Fails: RM111 for negative strides, foreign byte
        order, strides that are not whole elements, and dtypes that refmlc does not have.
        """
        if not array.dtype.isnative:
            raise fail(BAD_INPUT, f"the array has foreign byte order: {array.dtype.str}")
        element = _dtype_of(array) if dtype is None else dtype
        if array.flags.c_contiguous:  # strides of axes of one element may be anything
            return cls(Storage.from_array(array, origin=origin), element, array.shape)
        if any(stride < 0 for stride in array.strides):
            raise fail(BAD_INPUT, f"the array has negative strides: {array.strides} bytes")
        if any(stride % array.itemsize for stride in array.strides):
            raise fail(BAD_INPUT, f"the strides {array.strides} are not multiples of {array.itemsize} bytes")
        strides = tuple(stride // array.itemsize for stride in array.strides)
        return cls(Storage.from_array(array, origin=origin), element, array.shape, strides)

    @classmethod
    def from_dlpack(cls, source: object) -> "Tensor":
        """The tensor that shares the memory of `source`, which has `__dlpack__` (PyTorch, NumPy, …).

        Fails: RM111 (no DLPack object), RM503 (dtype), RM505 (not in the memory of the CPU).
        """
        array, element = dlpack.import_array(source)
        return cls.from_numpy(array, element)

    @property
    def cells(self) -> Cells:
        """The elements as values, from the first to the last that the strides reach."""
        if self._cells is None:
            self._cells = cells(self.storage, self.dtype, self.byte_offset, self.reach)
        return self._cells

    @property
    def shadow(self) -> Shadow:
        """Whether elements are initialised, numbered as `cells` is."""
        if self._shadow is None:
            self._shadow = shadow(self.storage, self.dtype, self.byte_offset, self.reach)
        return self._shadow

    @property
    def reach(self) -> int:
        """The number of elements from the first to the last that the strides reach."""
        return self.size if self.strides is None else span_of(self.shape, self.strides, 1)[1]

    @property
    def size(self) -> int:
        """The number of elements."""
        return prod(self.shape)

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return len(self.shape)

    @property
    def itemsize(self) -> int:
        """Bytes of one element, all its lanes."""
        return cell_size(self.dtype) * self.dtype.lanes

    @property
    def writable(self) -> bool:
        """Whether stores are allowed: False for memory that a caller gave read-only."""
        return self.storage.writable

    @property
    def element_strides(self) -> tuple[int, ...]:
        """The strides, also of a compact tensor. Units: elements."""
        return compact_strides(self.shape) if self.strides is None else self.strides

    @property
    def initialised(self) -> bool:
        """Whether every element was written."""
        if self.strides is None:
            return self.storage.is_initialised(self.byte_offset, self.size * self.itemsize)
        return all(self.storage.is_initialised(start, self.itemsize) for start in self._element_offsets())

    def mark_initialised(self) -> None:
        """Mark every element as written, by code that is not watched."""
        if self.strides is None:
            self.storage.initialise(self.byte_offset, self.size * self.itemsize)
            return
        for start in self._element_offsets():
            self.storage.initialise(start, self.itemsize)

    def _element_offsets(self) -> list[int]:
        """The byte at which each element begins."""
        offsets = [self.byte_offset]
        for extent, stride in zip(self.shape, self.element_strides, strict=True):
            offsets = [start + i * stride * self.itemsize for start in offsets for i in range(extent)]
        return offsets

    def numpy(self, *, strict: bool = False) -> np.ndarray:
        """The array that shares this tensor's memory; lanes of vectors are a last axis.

        Elements that were never written have the content of the memory: `UninitialisedWarning` says how many they are,
        `written` which. `strict` refuses them.

        Fails: RM305, if `strict`.
        """
        if not self._needs_no_warning:
            warn_missing(self, strict=strict)
        return self.array

    @property
    def _needs_no_warning(self) -> bool:
        """True if all is written, or a foreign function has the tensor and may write it."""
        return self.initialised or self.storage.extras.lent > 0

    @property
    def written(self) -> np.ndarray:
        """Which elements were written: a mask of the shape of `numpy()`."""
        return mask_of(self)

    @property
    def array(self) -> np.ndarray:
        """The array of `numpy()`, without the warning about elements that were never written."""
        stored = storage_dtype(self.dtype)
        shape, strides = self.shape, tuple(step * self.itemsize for step in self.element_strides)
        if self.dtype.is_vector:
            shape, strides = (*shape, self.dtype.lanes), (*strides, stored.itemsize)
        if prod(shape) == 0:
            return np.zeros(shape, stored)
        array: np.ndarray = np.ndarray(shape, stored, self.storage.array.data, self.byte_offset, strides)
        return array

    @property
    def plain(self) -> "np.ndarray | Tensor":
        """An array on this tensor's memory, if the tensor is no more than that: alive and all initialised; else itself.

        It is the same array each time. It must not reach a user, who could change its shape.
        """
        storage = self.storage
        if not storage.all_initialised or not storage.alive:
            return self
        if self._plain is None:
            array = self.array
            if self.dtype.is_vector or dtype_of(array.dtype) != self.dtype:  # int1 is stored as int8
                return self
            self._plain = array
        return self._plain

    def __setitem__(self, place: slice, values: object) -> None:
        """`tensor[:] = values`: all elements, as TVM's tensors take them. Fails: RM112 for any other place."""
        if place != slice(None):
            raise fail(
                BAD_USAGE, "a tensor takes all its elements, by `tensor[:] = …`: change `numpy()` for single ones"
            )
        self.array[...] = np.asarray(values)
        self.mark_initialised()

    def copy(self, *, origin: str = "", budget: Budget | None = None) -> "Tensor":
        """A compact tensor with the same values in memory of its own; what was not initialised stays so."""
        fresh = Tensor.empty(self.shape, self.dtype, origin=origin, budget=budget)
        fresh.array[...] = self.array
        if self.initialised:
            fresh.mark_initialised()
        else:
            size = self.itemsize
            for number, start in enumerate(self._element_offsets()):
                if self.storage.is_initialised(start, size):
                    fresh.storage.initialise(number * size, size)
        fresh.storage.objects.update(self.storage.objects)
        return fresh

    def __array__(self, dtype: "np.dtype[np.generic] | None" = None, copy: bool | None = None) -> np.ndarray:
        if not self._needs_no_warning:
            warn_missing(self, strict=False)
        return np.array(self.array, dtype=dtype, copy=copy)

    def __dlpack_device__(self) -> tuple[int, int]:
        """The CPU, in DLPack's numbers."""
        return dlpack.CPU

    def __dlpack__(
        self,
        *,
        stream: object = None,
        max_version: tuple[int, int] | None = None,
        dl_device: tuple[int, int] | None = None,
        copy: bool | None = None,
    ) -> object:
        """The capsule that shares this tensor's memory with another library, which keeps it alive.

        Fails: RM503 (a dtype that DLPack cannot express byte by element), BufferError as the protocol says.
        """
        del stream
        if not self._needs_no_warning:
            warn_missing(self, strict=False)
        return dlpack.export_array(self.array, self.dtype, max_version=max_version, dl_device=dl_device, copy=copy)

    def __str__(self) -> str:
        """The values as NumPy shows them, as `print` of TVM's tensors gives; with a note where some are none."""
        return str(self.array) if self.initialised else repr(self)

    def _repr_html_(self) -> str:
        """A small heat map, for notebooks."""
        return picture.heat_map(repr(self), self.array if self.initialised else None)

    def __repr__(self) -> str:
        """Shape and dtype, then the values as NumPy shows them."""
        note = "" if self.initialised else f" ({missing(self)} of {self.size} elements were never written)"
        return f"Tensor({self.shape}, {self.dtype}){note}\n{self.array}"


def element_size(dtype: DType, shape: tuple[int, ...], span: Span | None = None) -> int:
    """Bytes of one element of a tensor of this dtype and shape. Fails: RM315 (negative extent), RM503."""
    if any(extent < 0 for extent in shape):
        raise fail(BAD_EXTENT, f"the shape {shape} has a negative extent", span)
    if dtype.scalable or dtype.kind == "void":
        raise fail(UNSUPPORTED_DTYPE, f"a tensor of {dtype} has no fixed element size", span)
    return cell_size(dtype) * dtype.lanes


def tensor(values: object, dtype_name: str | None = None) -> Tensor:
    """A tensor with a copy of `values` (an array, or nested lists of numbers), as `tvm.runtime.tensor`.

    Fails: RM111 when the values are no array.
    """
    stored = None if dtype_name is None else storage_dtype(dtype(dtype_name))
    try:
        array = np.array(values, dtype=stored, order="C")
    except (TypeError, ValueError) as reason:
        raise fail(BAD_INPUT, f"the values are no array: {reason}") from None
    return Tensor.from_numpy(array, None if dtype_name is None else dtype(dtype_name))


def _dtype_of(array: np.ndarray) -> DType:
    try:
        return dtype_of(array.dtype)
    except KeyError:
        raise fail(BAD_INPUT, f"the array's dtype is not one of TVM's: {array.dtype}") from None
