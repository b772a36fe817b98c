"""Operators on shapes and on properties of tensors. RLX-231 … RLX-241."""

from collections.abc import Collection
from math import prod

from refmlc.diag.catalogue import OUT_OF_BOUNDS, SHAPE_MISMATCH, TYPE_MISMATCH
from refmlc.lang.dtypes import INT64, DType
from refmlc.run.interp.graph.operands import Site
from refmlc.run.memory.tensor import Tensor
from refmlc.run.memory.values import Shape


def shape_of(site: Site, value: object) -> Shape:  # RLX-231
    """The shape of a tensor."""
    return Shape(site.tensor(value).shape)


def tensor_to_shape(site: Site, value: object) -> Shape:  # RLX-232
    """The shape whose extents are the elements. Fails: RM201 (not one axis of int32 or int64), RM305."""
    tensor = site.read(value)
    if tensor.ndim != 1 or tensor.dtype.element not in ("int32", "int64") or tensor.dtype.is_vector:
        message = f"`{site.name}` takes one axis of int32 or int64, given is {tensor.shape} of {tensor.dtype}"
        raise site.failure(TYPE_MISMATCH, message)
    return Shape([int(extent) for extent in tensor.array])


def shape_to_tensor(site: Site, value: object) -> Tensor:  # RLX-233
    """The extents as a fresh tensor of int64 with one axis."""
    shape = site.shape(value)
    budget = site.machine.budget
    result = Tensor.empty((len(shape),), INT64, origin=f"`{site.name}`", span=site.span, budget=budget)
    result.array[...] = shape
    result.mark_initialised()
    return result


def reshape(site: Site, value: object, target: object, kept: Collection[int] = ()) -> Tensor:  # RLX-241
    """The elements in row-major order, seen in another shape. `kept`: the axes whose extents stay.

    Fails: RM202 (another number of elements).
    """
    tensor, shape = site.tensor(value), tuple(site.shape(target))
    if kept and max(kept) < tensor.ndim:
        shape = tuple(tensor.shape[axis] if axis in kept else extent for axis, extent in enumerate(shape))
    if shape.count(-1) == 1:
        known = prod(extent for extent in shape if extent != -1)
        inferred = tensor.size // known if known else 0
        shape = tuple(inferred if extent == -1 else extent for extent in shape)
    if any(extent < 0 for extent in shape) or prod(shape) != tensor.size:
        message = f"`{site.name}` of {tensor.shape} into {tuple(site.shape(target))} changes the number of elements"
        raise site.failure(SHAPE_MISMATCH, message)
    compact = tensor if tensor.strides is None else tensor.copy(budget=site.machine.budget)
    return Tensor(compact.storage, compact.dtype, shape, None, compact.byte_offset, span=site.span)


# ---------------------------------------------------------------------------------------- inspect: RLX-234


def stride_i(site: Site, value: object, axis: object) -> int:
    """The stride of an axis, in elements."""
    tensor = site.tensor(value)
    return tensor.element_strides[_axis(site, tensor, axis)]


def shape_i(site: Site, value: object, axis: object) -> int:
    """The extent of an axis."""
    tensor = site.tensor(value)
    return tensor.shape[_axis(site, tensor, axis)]


def byte_offset(site: Site, value: object) -> int:
    """Where the tensor begins in its storage, in bytes."""
    return site.tensor(value).byte_offset


def elem_offset(site: Site, value: object) -> int:
    """The same in elements, rounded down."""
    tensor = site.tensor(value)
    return tensor.byte_offset // tensor.itemsize


def dtype_code(site: Site, value: object) -> int:
    """The kind of the elements, in DLPack's numbers."""
    return _dtype(site, value).kind_code


def dtype_bits(site: Site, value: object) -> int:
    """The bits of one lane."""
    return _dtype(site, value).bits


def dtype_lanes(site: Site, value: object) -> int:
    """The lanes of an element."""
    return _dtype(site, value).lanes


def ndim(site: Site, value: object) -> int:
    """The number of axes."""
    return site.tensor(value).ndim


def _dtype(site: Site, value: object) -> DType:
    return site.tensor(value).dtype


def _axis(site: Site, tensor: Tensor, axis: object) -> int:
    number = site.integer(axis)
    if not 0 <= number < tensor.ndim:
        raise site.failure(OUT_OF_BOUNDS, f"`{site.name}`: axis {number} of a tensor with {tensor.ndim} axes")
    return number
