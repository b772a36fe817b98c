"""Views on the memory of NumPy arrays: the bytes that an array lies in, and arrays over bytes.

An array may be strided. Its bytes are then all from the lowest to the highest that an element touches, those between
included.
"""

from math import prod

import numpy as np

ByteArray = np.ndarray[tuple[int], np.dtype[np.uint8]]


class _Memory:
    """Memory described by the array interface, keeping its owner alive."""

    __slots__ = ("__array_interface__", "owner")

    def __init__(self, owner: object, address: int, nbytes: int, *, writable: bool) -> None:
        self.owner = owner
        self.__array_interface__ = {
            "data": (address, not writable),
            "shape": (nbytes,),
            "typestr": "|u1",
            "version": 3,
        }


def bytes_of(array: np.ndarray) -> ByteArray:
    """The memory from the lowest byte of `array` to its highest, shared, as writable as `array` is."""
    if array.size == 0:
        return np.zeros(0, np.uint8)
    if type(array) is np.ndarray and array.flags.c_contiguous:  # as below, quicker
        compact: ByteArray = array.reshape(-1).view(np.uint8)
        return compact
    low, high = span_of(array.shape, array.strides, array.itemsize)
    address = array.__array_interface__["data"][0] + low
    memory = _Memory(array, address, high - low, writable=array.flags.writeable)
    shared: ByteArray = np.asarray(memory)
    return shared


def span_of(shape: tuple[int, ...], strides: tuple[int, ...], itemsize: int) -> tuple[int, int]:
    """The range of places that elements touch, relative to the first: lowest, and one beyond the highest.

    Units: those of `strides` and `itemsize`. An array without elements touches (0, 0).
    """
    if prod(shape) == 0:
        return 0, 0
    reach = [(extent - 1) * stride for extent, stride in zip(shape, strides, strict=True)]
    return sum(step for step in reach if step < 0), sum(step for step in reach if step > 0) + itemsize


def compact_strides(shape: tuple[int, ...]) -> tuple[int, ...]:
    """Strides of a row-major array without gaps. Units: elements."""
    strides = [1] * len(shape)
    for axis in range(len(shape) - 2, -1, -1):
        strides[axis] = strides[axis + 1] * shape[axis + 1]
    return tuple(strides)


def is_compact(shape: tuple[int, ...], strides: tuple[int, ...]) -> bool:
    """Whether the elements lie row-major without gaps; the stride of an axis of one element does not matter."""
    if prod(shape) == 0:
        return True
    compact = compact_strides(shape)
    return all(
        extent == 1 or actual == expected for extent, actual, expected in zip(shape, strides, compact, strict=True)
    )
