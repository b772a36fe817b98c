"""The shape heap and the checks that TVM's VMShapeLower writes out. RLX-401 … RLX-404.

| code of `match_shape`, `match_prim_value` | means                            |
|-------------------------------------------|----------------------------------|
| 0                                         | the extent is the number         |
| 1                                         | keep the extent in that place    |
| 2                                         | nothing                          |
| 3                                         | the extent is what is kept there |

| code of `make_shape`, `make_prim_value` | means                 |
|-----------------------------------------|-----------------------|
| 0                                       | the number            |
| 1                                       | what is kept there    |
"""

from collections.abc import Sequence

from refmlc.diag.catalogue import BAD_ARGUMENT_VALUE, CAST_FAILED, OUT_OF_BOUNDS, UNINITIALISED
from refmlc.diag.errors import RefmlcError
from refmlc.lang.dtypes import INT64
from refmlc.run.interp.graph.matching import fits
from refmlc.run.interp.graph.memory import fresh
from refmlc.run.interp.graph.operands import Site
from refmlc.run.memory.tensor import Tensor
from refmlc.run.memory.values import Closure, PackedFunc, Shape, kind_of


def alloc_shape_heap(site: Site, count: object) -> Tensor:  # RLX-401
    """A fresh tensor of int64 with one axis, uninitialised."""
    return fresh(site, (site.integer(count),), INT64)


def match_shape(site: Site, value: object, heap: object, *rest: object) -> None:  # RLX-402
    """Check or store the extents of a tensor or shape. Fails: RM405."""
    rank, codes, where = _codes(site, rest)
    extents = site.shape(value.shape if isinstance(value, Tensor) else value)
    if len(extents) != rank:
        raise _failed(site, f"{kind_of(value)} has {len(extents)} extents, declared are {rank}", where)
    for axis, (code, operand) in enumerate(codes):
        _match(site, f"extent {axis} of {kind_of(value)}", extents[axis], heap, (code, operand), where)


def match_prim_value(  # RLX-402
    site: Site, value: object, heap: object, code: object, operand: object, *where: object
) -> None:
    """Check or store an int. Fails: RM405."""
    codes = site.integer(code), site.integer(operand)
    _match(site, "the value", site.integer(value), heap, codes, where)


def make_shape(site: Site, heap: object, *rest: object) -> Shape:  # RLX-403
    """A shape of numbers and stored ints."""
    _, codes, _ = _codes(site, rest)
    return Shape([_value(site, heap, code, operand) for code, operand in codes])


def make_prim_value(site: Site, heap: object, code: object, operand: object) -> int:  # RLX-403
    """A number, or a stored int."""
    return _value(site, heap, site.integer(code), site.integer(operand))


# ----------------------------------------------------------------------------------------- checks: RLX-404


def check_tensor_info(site: Site, value: object, rank: object, *rest: object) -> None:
    """Stop unless `value` is a tensor of this rank (-1: any) and dtype (null, void: any). Fails: RM405."""
    dtypes = [site.dtype(item) for item in rest if item is not None and not isinstance(item, str)]
    where = [item for item in rest if isinstance(item, str)]
    if not isinstance(value, Tensor):
        raise _failed(site, f"{kind_of(value)} is no tensor", where)
    if site.integer(rank) not in (-1, value.ndim):
        raise _failed(site, f"{kind_of(value)} has {value.ndim} axes, declared are {rank}", where)
    if any(dtype.kind != "void" and dtype != value.dtype for dtype in dtypes):
        raise _failed(site, f"{kind_of(value)} is declared with elements of {dtypes[0]}", where)


def check_shape_info(site: Site, value: object, rank: object, *where: object) -> None:
    """Stop unless `value` is a shape of this rank (-1: any). Fails: RM405."""
    if not isinstance(value, Shape) or site.integer(rank) not in (-1, len(value)):
        raise _failed(site, f"{kind_of(value)} is no shape of {rank} extents", where)


def check_prim_value_info(site: Site, value: object, dtype: object, *where: object) -> None:
    """Stop unless `value` is of the dtype. Fails: RM405."""
    wanted = site.dtype(dtype)
    if not isinstance(value, bool | int | float) or not fits(value, wanted):
        raise _failed(site, f"{kind_of(value)} is no {wanted}", where)


def check_tuple_info(site: Site, value: object, count: object, *where: object) -> None:
    """Stop unless `value` is a tuple of this length. Fails: RM405."""
    if isinstance(value, Shape) or not isinstance(value, tuple) or len(value) != site.integer(count):
        raise _failed(site, f"{kind_of(value)} is no tuple of {count}", where)


def check_func_info(site: Site, value: object, *where: object) -> None:
    """Stop unless `value` is a function. Fails: RM405."""
    if not isinstance(value, Closure | PackedFunc):
        raise _failed(site, f"{kind_of(value)} is no function", where)


def check_string_info(site: Site, value: object, *where: object) -> None:
    """Stop unless `value` is a string. Fails: RM405."""
    if not isinstance(value, str):
        raise _failed(site, f"{kind_of(value)} is no string", where)


def _codes(site: Site, rest: Sequence[object]) -> tuple[int, list[tuple[int, int]], tuple[object, ...]]:
    """The count, which comes first, that many pairs, and the remaining arguments."""
    count = site.integer(rest[0])
    if count < 0 or len(rest) < 1 + 2 * count:
        raise site.failure(BAD_ARGUMENT_VALUE, f"`{site.name}` announces {count} pairs, {(len(rest) - 1) // 2} follow")
    numbers = [site.integer(item) for item in rest[1 : 1 + 2 * count]]
    return count, list(zip(numbers[::2], numbers[1::2], strict=True)), tuple(rest[1 + 2 * count :])


def _match(site: Site, what: str, extent: int, heap: object, codes: tuple[int, int], where: Sequence[object]) -> None:
    match codes:
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
        raise _failed(site, f"{what} is {extent}, declared is {declared}", where)


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


def _failed(site: Site, message: str, where: Sequence[object]) -> RefmlcError:
    return site.failure(CAST_FAILED, message, *(str(item).strip() for item in where))
