"""The layout of tuples and arrays in Python and NumPy, as `rm_python.h` declares it, and a check that it holds here.

Decision: entries read the fields of arrays themselves, as every compiled extension does. It takes a few nanoseconds
where asking through Python takes a microsecond for five arrays. First the layout is compared with what Python says of
some arrays; where anything differs (another interpreter, another NumPy) there are no cached calls.
"""

import sys
from functools import cache
from typing import Any, Final

import cffi
import numpy as np

STRUCTS = """
typedef struct rm_object { int64_t references; const void *type; } rm_object;
typedef struct rm_tuple { rm_object head; int64_t size; const void *items[4]; } rm_tuple;
typedef struct rm_ndarray {
  rm_object head; void *data; int32_t rank; const int64_t *shape; const int64_t *strides;
  const void *base; const void *dtype; int32_t flags;
} rm_ndarray;
typedef struct rm_parameter { const void *dtype; const int64_t *shape; int32_t rank; int32_t flags; } rm_parameter;
typedef struct rm_entry {
  const void *array_type; const rm_parameter *parameters; int64_t count; void **fixed; const int64_t *numbers;
  int64_t fuel; int64_t reserve; int64_t turns; int32_t (*look)(void *); int64_t memory;
} rm_entry;
"""
CONTIGUOUS: Final = 0x0001
ALIGNED: Final = 0x0100
WRITEABLE: Final = 0x0400
SIZES = {object: 16, tuple: 24, np.ndarray: 80}  # at least; of `object` exactly: other heads are other layouts


@cache
def structs() -> Any:  # noqa: ANN401 - cffi has no types
    """The structs, declared to cffi."""
    ffi = cffi.FFI()
    ffi.cdef(STRUCTS)
    return ffi


@cache
def as_declared() -> bool:
    """Whether tuples and arrays are laid out as declared."""
    if sys.implementation.name != "cpython" or sys.maxsize != 2**63 - 1:
        return False  # an `id` is no address
    if any(kind.__basicsize__ < size for kind, size in SIZES.items()) or object.__basicsize__ != SIZES[object]:
        return False
    samples = _samples()
    return _tuple_is_as_declared(tuple(samples[:3])) and all(_array_is_as_declared(sample) for sample in samples)


def _samples() -> list[np.ndarray]:
    """Arrays of several kinds."""
    plain = np.arange(6, dtype=np.float32).reshape(2, 3)
    closed = np.zeros((3, 1, 7), np.int8)
    closed.flags.writeable = False
    crooked = np.frombuffer(bytes(9), np.uint8)[1:].view(np.float64)
    return [plain, closed, crooked, plain.T, plain[:, ::2], np.zeros(()), np.zeros((0, 5), ">i4")]


def _tuple_is_as_declared(sample: tuple[object, ...]) -> bool:
    struct = structs().cast("rm_tuple *", id(sample))
    items = [int(structs().cast("intptr_t", struct.items[number])) for number in range(len(sample))]
    return _address(struct.head.type) == id(tuple) and struct.size == len(sample) and items == [id(x) for x in sample]


def _array_is_as_declared(sample: np.ndarray) -> bool:
    struct = structs().cast("rm_ndarray *", id(sample))
    if _address(struct.head.type) != id(np.ndarray) or struct.rank != sample.ndim:
        return False
    axes = range(sample.ndim)
    flags = sample.flags
    expected = CONTIGUOUS * flags.c_contiguous | ALIGNED * flags.aligned | WRITEABLE * flags.writeable
    return (
        _address(struct.data) == sample.__array_interface__["data"][0]
        and tuple(struct.shape[axis] for axis in axes) == sample.shape
        and tuple(struct.strides[axis] for axis in axes) == sample.strides
        and _address(struct.dtype) == id(sample.dtype)
        and struct.flags & (CONTIGUOUS | ALIGNED | WRITEABLE) == expected
    )


def _address(pointer: object) -> int:
    return int(structs().cast("intptr_t", pointer))
