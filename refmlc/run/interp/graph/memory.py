"""Operators on memory: storages, tensors in them, views. RLX-301 … RLX-306.

A tensor allocated in a storage shares its bytes with whatever else lies there. Decision: its elements begin
uninitialised, and tensors that lay in these bytes are gone, although the bytes keep what they held; so a plan that
gives memory away too early is found as a use of a tensor that is gone.
"""

from math import prod

from refmlc.diag.catalogue import OUT_OF_BOUNDS, SHAPE_MISMATCH
from refmlc.lang.dtypes import DType
from refmlc.lang.dtypes.storage import itemsize
from refmlc.run.interp.graph.operands import Site
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
    """Fresh memory: `memory.alloc_storage`."""
    return _storage(site, shape, dtype)


def vm_alloc_storage(site: Site, shape: object, _device: object, dtype: object, *_scope: object) -> Storage:
    """Fresh memory: `vm.alloc_storage`."""
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
    memory, start, wanted = site.storage(storage), site.integer(offset), site.dtype(dtype)
    extents = tuple(site.shape(shape))
    nbytes = element_size(wanted, extents, site.span) * prod(extents)
    if start < 0 or start + nbytes > memory.nbytes:
        message = f"the tensor lies in bytes {start} … {start + nbytes} of a storage of {memory.nbytes}"
        raise site.failure(OUT_OF_BOUNDS, message)
    piece = Storage.piece_of(memory, start, nbytes, cell_size(wanted), origin=f"`{site.name}`", span=site.span)
    return Tensor(piece, wanted, extents, span=site.span)


def view(  # RLX-305
    site: Site, value: object, shape: object = None, dtype: object = None, offset: object = None
) -> Tensor:
    """The memory of a tensor seen as another; null keeps what the tensor has. Fails: RM202, RM304, RM315."""
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
    end, limit = (at.byte_offset + at.size * at.itemsize for at in (result, tensor))
    if result.byte_offset < tensor.byte_offset or end > limit:
        message = (
            f"`{site.name}` reaches bytes {result.byte_offset} … {end}, the tensor has {tensor.byte_offset} … {limit}"
        )
        raise site.failure(OUT_OF_BOUNDS, message)
    return result


def ensure_zero_offset(site: Site, value: object) -> Tensor:  # RLX-306
    """The tensor itself where it begins its storage, else a copy."""
    tensor = site.tensor(value)
    return tensor if tensor.byte_offset == 0 else tensor.copy(origin=f"`{site.name}`", budget=site.machine.budget)
