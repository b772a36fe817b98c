"""Shapes: operators on shapes and on properties of tensors; the shape heap and the checks of lowered programs.

RLX-231 … RLX-241, RLX-401 … RLX-404. TVM's VMShapeLower writes these codes:

| code | of `match_shape`, `match_prim_value`  | of `make_shape`, `make_prim_value` |
|------|---------------------------------------|------------------------------------|
| 0    | the extent is the operand             | the operand                        |
| 1    | store the extent in slot `operand`    | the content of slot `operand`      |
| 2    | nothing                               |                                    |
| 3    | the extent is the content of the slot |                                    |
"""

from collections.abc import Collection, Sequence
from math import prod

from refmlc.diag.catalogue import (
    BAD_ARGUMENT_VALUE,
    CAST_FAILED,
    OUT_OF_BOUNDS,
    SHAPE_MISMATCH,
    TYPE_MISMATCH,
    UNINITIALISED,
)
from refmlc.diag.errors import RefmlcError
from refmlc.lang.dtypes import INT64
from refmlc.run.interp.graph.call_site import Site
from refmlc.run.interp.graph.memory import fresh
from refmlc.run.interp.graph.type_match import fits
from refmlc.run.memory.tensor import Tensor
from refmlc.run.memory.values import Closure, PackedFunc, Shape, kind_of


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


def reshape(site: Site, value: object, target: object, kept_axes: Collection[int] = ()) -> Tensor:  # RLX-241
    """The elements in row-major order, seen in another shape. `kept_axes` keep their extents.

    Fails: RM202 (another number of elements).
    """
    tensor, shape = site.tensor(value), tuple(site.shape(target))
    if kept_axes and max(kept_axes) < tensor.ndim:
        shape = tuple(tensor.shape[axis] if axis in kept_axes else extent for axis, extent in enumerate(shape))
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
    return site.tensor(value).dtype.kind_code


def dtype_bits(site: Site, value: object) -> int:
    """The bits of one lane."""
    return site.tensor(value).dtype.bits


def dtype_lanes(site: Site, value: object) -> int:
    """The lanes of an element."""
    return site.tensor(value).dtype.lanes


def ndim(site: Site, value: object) -> int:
    """The number of axes."""
    return site.tensor(value).ndim


def _axis(site: Site, tensor: Tensor, axis: object) -> int:
    number = site.integer(axis)
    if not 0 <= number < tensor.ndim:
        raise site.failure(OUT_OF_BOUNDS, f"`{site.name}`: axis {number} of a tensor with {tensor.ndim} axes")
    return number


# -------------------------------------------------------------------------------- the shape heap: RLX-401 … RLX-403


def alloc_shape_heap(site: Site, count: object) -> Tensor:  # RLX-401
    """A fresh tensor of int64 with one axis, uninitialised."""
    return fresh(site, (site.integer(count),), INT64)


def match_shape(site: Site, value: object, heap: object, *codes: object) -> None:  # RLX-402
    """Check or store the extents of a tensor or shape. Fails: RM405."""
    rank, pairs, context = _pairs(site, codes)
    extents = site.shape(value.shape if isinstance(value, Tensor) else value)
    if len(extents) != rank:
        raise _failed(site, f"{kind_of(value)} has {len(extents)} extents, declared are {rank}", context)
    for axis, (code, operand) in enumerate(pairs):
        _match(site, f"extent {axis} of {kind_of(value)}", extents[axis], heap, (code, operand), context)


def match_prim_value(  # RLX-402
    site: Site, value: object, heap: object, code: object, operand: object, *context: object
) -> None:
    """Check or store an int. Fails: RM405."""
    pair = site.integer(code), site.integer(operand)
    _match(site, "the value", site.integer(value), heap, pair, context)


def make_shape(site: Site, heap: object, *codes: object) -> Shape:  # RLX-403
    """A shape of numbers and stored ints."""
    _, pairs, _ = _pairs(site, codes)
    return Shape([_value(site, heap, code, operand) for code, operand in pairs])


def make_prim_value(site: Site, heap: object, code: object, operand: object) -> int:  # RLX-403
    """A number, or a stored int."""
    return _value(site, heap, site.integer(code), site.integer(operand))


# ------------------------------------------------------------------------------------ checks of values: RLX-404


def check_tensor_info(site: Site, value: object, rank: object, *dtype_and_context: object) -> None:
    """Stop unless `value` is a tensor of this rank (-1: any) and dtype (null, void: any). Fails: RM405."""
    dtypes = [site.dtype(item) for item in dtype_and_context if item is not None and not isinstance(item, str)]
    context = [item for item in dtype_and_context if isinstance(item, str)]
    if not isinstance(value, Tensor):
        raise _failed(site, f"{kind_of(value)} is not a tensor", context)
    if site.integer(rank) not in (-1, value.ndim):
        raise _failed(site, f"{kind_of(value)} has {value.ndim} axes, declared are {rank}", context)
    if any(dtype.kind != "void" and dtype != value.dtype for dtype in dtypes):
        raise _failed(site, f"{kind_of(value)} is declared with elements of {dtypes[0]}", context)


def check_shape_info(site: Site, value: object, rank: object, *context: object) -> None:
    """Stop unless `value` is a shape of this rank (-1: any). Fails: RM405."""
    if not isinstance(value, Shape) or site.integer(rank) not in (-1, len(value)):
        raise _failed(site, f"{kind_of(value)} is not a shape of {rank} extents", context)


def check_prim_value_info(site: Site, value: object, dtype: object, *context: object) -> None:
    """Stop unless `value` is of the dtype. Fails: RM405."""
    declared = site.dtype(dtype)
    if not isinstance(value, bool | int | float) or not fits(value, declared):
        raise _failed(site, f"{kind_of(value)} is not of {declared}", context)


def check_tuple_info(site: Site, value: object, count: object, *context: object) -> None:
    """Stop unless `value` is a tuple of this length. Fails: RM405."""
    if isinstance(value, Shape) or not isinstance(value, tuple) or len(value) != site.integer(count):
        raise _failed(site, f"{kind_of(value)} is not a tuple of {count}", context)


def check_func_info(site: Site, value: object, *context: object) -> None:
    """Stop unless `value` is a function. Fails: RM405."""
    if not isinstance(value, Closure | PackedFunc):
        raise _failed(site, f"{kind_of(value)} is not a function", context)


def check_string_info(site: Site, value: object, *context: object) -> None:
    """Stop unless `value` is a string. Fails: RM405."""
    if not isinstance(value, str):
        raise _failed(site, f"{kind_of(value)} is not a string", context)


def _pairs(site: Site, codes: Sequence[object]) -> tuple[int, list[tuple[int, int]], tuple[object, ...]]:
    """The count, which is the first argument; as many pairs of code and operand; and the remaining arguments."""
    count = site.integer(codes[0])
    if count < 0 or len(codes) < 1 + 2 * count:
        raise site.failure(BAD_ARGUMENT_VALUE, f"`{site.name}` announces {count} pairs, {(len(codes) - 1) // 2} follow")
    numbers = [site.integer(item) for item in codes[1 : 1 + 2 * count]]
    return count, list(zip(numbers[::2], numbers[1::2], strict=True)), tuple(codes[1 + 2 * count :])


def _match(site: Site, what: str, extent: int, heap: object, pair: tuple[int, int], context: Sequence[object]) -> None:
    match pair:
        case (0, number):
            declared = number
        case (1, place):
            slots = _place(site, heap, place)
            slots.cells[place] = extent
            slots.shadow[place] = 1
            return
        case (2, _):
            return
        case (3, place):
            declared = _stored(site, heap, place)
        case (code, _):
            raise site.failure(BAD_ARGUMENT_VALUE, f"`{site.name}` has no code {code}")
    if extent != declared:
        raise _failed(site, f"{what} is {extent}, declared is {declared}", context)


def _value(site: Site, heap: object, code: int, operand: int) -> int:
    if code not in (0, 1):
        raise site.failure(BAD_ARGUMENT_VALUE, f"`{site.name}` has no code {code}")
    return operand if code == 0 else _stored(site, heap, operand)


def _stored(site: Site, heap: object, place: int) -> int:
    slots = _place(site, heap, place)
    if not slots.shadow[place]:
        raise site.failure(UNINITIALISED, f"place {place} of the shape heap is read before it is written")
    return int(slots.cells[place])


def _place(site: Site, heap: object, place: int) -> Tensor:
    slots = site.tensor(heap)
    if not 0 <= place < slots.size:
        raise site.failure(OUT_OF_BOUNDS, f"place {place} of a shape heap of {slots.size}")
    return slots


def _failed(site: Site, message: str, context: Sequence[object]) -> RefmlcError:
    return site.failure(CAST_FAILED, message, *(str(item).strip() for item in context))
