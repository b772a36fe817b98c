"""Operators on memory: storages, tensors in them, views. RLX-301 … RLX-306.

A tensor allocated in a storage shares its bytes with others allocated there. Decision: its elements are uninitialised
at first, and earlier tensors in these bytes are dead, although the bytes keep their content; so a plan that reuses
memory too early shows as a use of a dead tensor.
"""

from math import prod

from refmlc.diag.catalogue import OUT_OF_BOUNDS, SHAPE_MISMATCH
from refmlc.lang.dtypes import DType
from refmlc.lang.dtypes.storage import itemsize
from refmlc.run.interp.graph.call_site import Site
from refmlc.run.memory.cells import cell_size
from refmlc.run.memory.storage import Storage
from refmlc.run.memory.tensor import Tensor, element_size


def alloc_tensor(site: Site, shape: object, dtype: object, *_device_and_scope: object) -> Tensor:  # RLX-301
    """A fresh tensor. Fails: RM315, RM503, RM603."""
    return fresh(site, tuple(site.shape(shape)), site.dtype(dtype))


def fresh(site: Site, shape: tuple[int, ...], dtype: DType) -> Tensor:
    """A fresh, uninitialised tensor that this call allocates."""
    return Tensor.empty(shape, dtype, origin=f"`{site.name}`", span=site.span, budget=site.machine.budget)


def memory_alloc_storage(site: Site, shape: object, _device: object, _scope: object, dtype: object) -> Storage:
    """Fresh memory, as `memory.alloc_storage` orders its arguments."""
    return _storage(site, shape, dtype)


def vm_alloc_storage(site: Site, shape: object, _device: object, dtype: object, *_scope: object) -> Storage:
    """Fresh memory, as `vm.alloc_storage` orders its arguments."""
    return _storage(site, shape, dtype)


def _storage(site: Site, shape: object, dtype: object) -> Storage:  # RLX-302
    """One extent counts bytes whatever the dtype; more are the shape of elements of the dtype."""
    extents = site.shape(shape)
    nbytes = extents[0] if len(extents) == 1 else prod(extents) * itemsize(site.dtype(dtype))
    return Storage(nbytes, unit=0, origin=f"`{site.name}`", span=site.span, budget=site.machine.budget)


def storage_tensor(  # RLX-303
    site: Site, storage: object, offset: object, shape: object, dtype: object, *_device: object
) -> Tensor:
    """A tensor in a storage. Fails: RM304 (not inside), RM315, RM503."""
    memory, start, element = site.storage(storage), site.integer(offset), site.dtype(dtype)
    extents = tuple(site.shape(shape))
    nbytes = element_size(element, extents, site.span) * prod(extents)
    if start < 0 or start + nbytes > memory.nbytes:
        message = f"the tensor lies in bytes {start} … {start + nbytes} of a storage of {memory.nbytes}"
        raise site.failure(OUT_OF_BOUNDS, message)
    piece = Storage.piece_of(memory, start, nbytes, cell_size(element), origin=f"`{site.name}`", span=site.span)
    return Tensor(piece, element, extents, span=site.span)


def view(  # RLX-305
    site: Site, value: object, shape: object = None, dtype: object = None, offset: object = None
) -> Tensor:
    """The memory of a tensor as another tensor; null keeps the shape, dtype or offset. Fails: RM202, RM304, RM315."""
    tensor = site.tensor(value)
    if tensor.strides is not None:
        raise site.failure(SHAPE_MISMATCH, f"`{site.name}` of a tensor that is not compact")
    extents = tensor.shape if shape is None else tuple(site.shape(shape))
    result = Tensor(
        tensor.storage,
        tensor.dtype if dtype is None else site.dtype(dtype),
        extents,
        None,
        tensor.byte_offset + (0 if offset is None else site.integer(offset)),
        span=site.span,
    )
    end, limit = (part.byte_offset + part.size * part.itemsize for part in (result, tensor))
    if result.byte_offset < tensor.byte_offset or end > limit:
        message = (
            f"`{site.name}` reaches bytes {result.byte_offset} … {end}, the tensor has {tensor.byte_offset} … {limit}"
        )
        raise site.failure(OUT_OF_BOUNDS, message)
    return result


def ensure_zero_offset(site: Site, value: object) -> Tensor:  # RLX-306
    """The tensor itself if it is at the start of its storage, else a copy."""
    tensor = site.tensor(value)
    return tensor if tensor.byte_offset == 0 else tensor.copy(origin=f"`{site.name}`", budget=site.machine.budget)
