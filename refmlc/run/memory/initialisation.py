"""Elements that were never written, in tensors that leave as arrays: which they are, and the warning. TIR-007.

| function       | is for                                                                            |
|----------------|-----------------------------------------------------------------------------------|
| `mask_of`      | the mask of a tensor: True where an element was written                           |
| `warn_missing` | the warning, or the error, that a tensor becomes an array and has such elements   |
| `lent`         | no warning while a foreign function holds tensors: it may be about to write them  |
"""

import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import numpy as np

from refmlc.diag import fail
from refmlc.diag.catalogue import UNINITIALISED

if TYPE_CHECKING:
    from refmlc.run.memory.tensor import Tensor


class UninitialisedWarning(UserWarning):
    """Elements of an array that was taken from a tensor were never written: their values mean nothing."""


def mask_of(tensor: "Tensor") -> np.ndarray:
    """Which elements were written, in the shape of `tensor.array`: for each lane of a vector."""
    lanes = tensor.dtype.lanes
    shape = (*tensor.shape, lanes) if tensor.dtype.is_vector else tensor.shape
    if tensor.initialised:
        return np.ones(shape, bool)
    shadow = tensor.shadow
    cells_written = shadow if isinstance(shadow, memoryview) else bytes(shadow[number] for number in range(len(shadow)))
    flat = np.frombuffer(cells_written, np.uint8) != 0
    if tensor.strides is None:
        compact: np.ndarray = flat.reshape(shape)
        return compact
    offsets = np.zeros(tensor.shape, np.intp)
    for axis, (extent, stride) in enumerate(zip(tensor.shape, tensor.strides, strict=True)):
        line = np.arange(extent) * stride
        offsets += line.reshape([-1 if number == axis else 1 for number in range(tensor.ndim)])
    cells = offsets[..., None] * lanes + np.arange(lanes) if tensor.dtype.is_vector else offsets
    mask: np.ndarray = flat[cells]
    return mask


def missing(tensor: "Tensor") -> int:
    """How many elements were never written, a vector counting as one."""
    mask = mask_of(tensor)
    whole = mask.all(axis=-1) if tensor.dtype.is_vector else mask
    return int(whole.size - np.count_nonzero(whole))


def missing_text(tensor: "Tensor", what: str = "this tensor") -> str:
    """The sentence: `3 of the 4 elements of this tensor were never written`."""
    count, size = missing(tensor), tensor.size
    were = "was" if count == 1 else "were"
    return f"{count} of the {size} elements of {what} {were} never written"


def warn_missing(tensor: "Tensor", *, strict: bool) -> None:
    """Warn that elements were never written. Fails: RM305, if `strict`."""
    message = f"{missing_text(tensor)}; `written` of the tensor is the mask of those that were"
    if strict:
        raise fail(UNINITIALISED, message)
    warnings.warn(f"{message}; `numpy(strict=True)` refuses them", UninitialisedWarning, stacklevel=3)


@contextmanager
def lent(tensors: Iterable["Tensor"]) -> Iterator[None]:
    """Around the call of a foreign function on these tensors."""
    storages = [tensor.storage for tensor in tensors if not tensor.storage.all_initialised]
    for storage in storages:
        storage.extras.lent += 1
    try:
        yield
    finally:
        for storage in storages:
            storage.extras.lent -= 1
