"""`R.const(value, dtype)`: a tensor constant from Python numbers, nested lists of them, or a live array.

| value                     | dtype when the text names none                                 |
|---------------------------|----------------------------------------------------------------|
| `bool`                    | bool                                                           |
| `int`                     | int32                                                          |
| `float`, `"inf"`, `"nan"` | float32                                                        |
| nested lists              | by their numbers: float32 if any is a float, bool if all are   |
| array                     | its own; int64 and float64 become int32 and float32, as in TVM |

Numbers are rounded once to the dtype; an integer out of its range is RM107.
"""

import math
from collections.abc import Iterator
from typing import TypeAlias

import numpy as np

from refmlc.diag import Span, fail
from refmlc.diag.catalogue import BAD_ARGUMENTS, BAD_LITERAL, UNKNOWN_DTYPE
from refmlc.lang.dtypes import BOOL, FLOAT32, INT32, DType
from refmlc.lang.dtypes.rounding import round_int, rounder
from refmlc.lang.dtypes.storage import dtype_of, storage_dtype
from refmlc.lang.ir import relax
from refmlc.lang.script.reader.values import Meta, described

Number: TypeAlias = bool | int | float

_WORDS = {"inf": math.inf, "-inf": -math.inf, "nan": math.nan}
_NARROWED = {"int64": INT32, "float64": FLOAT32}
DEPTH = 32


def constant_of(value: Meta, element: DType | None, span: Span) -> relax.Constant:
    """The constant of `value`, of dtype `element` where it is given. Fails with RM105, RM106, RM107."""
    if isinstance(value, (np.ndarray, np.generic)):
        return _from_array(np.asarray(value), element, span)
    shape = _shape(value, span)
    numbers = list(_numbers(value, shape, span))
    target = element or _default(numbers)
    if target.kind in ("handle", "void") or target.is_vector:
        raise fail(UNKNOWN_DTYPE, f"a tensor constant cannot be of dtype {target}", span)
    data = np.array([_converted(number, target, span) for number in numbers], _wide(target))
    return _constant(data.astype(storage_dtype(target)).reshape(shape), target, span)


def _constant(data: np.ndarray, target: DType, span: Span) -> relax.Constant:
    data.setflags(write=False)
    return relax.Constant(data, target, span=span)


def _wide(target: DType) -> "np.dtype[np.generic]":
    """A NumPy dtype that holds every value of `target` and from which the conversion to storage is exact."""
    if target.is_float:
        return np.dtype(np.float64)
    if target.kind == "bool":
        return np.dtype(np.bool_)
    return np.dtype(np.int64 if target.kind == "int" else np.uint64)


def _converted(number: Number, target: DType, span: Span) -> Number:
    if target.is_float:
        return rounder(target)(number) if isinstance(number, float) else round_int(int(number), target)
    if target.kind == "bool":
        return bool(number)
    if isinstance(number, float) and not number.is_integer():
        raise fail(BAD_LITERAL, f"{number!r} has no value in {target}", span)
    whole = int(number)
    if not target.minimum <= whole <= target.maximum:
        raise fail(BAD_LITERAL, f"{described(whole)} is out of the range of {target}", span)
    return whole


def _default(numbers: list[Number]) -> DType:
    if not numbers or any(isinstance(number, float) for number in numbers):
        return FLOAT32
    return BOOL if all(isinstance(number, bool) for number in numbers) else INT32


def _shape(value: Meta, span: Span) -> tuple[int, ...]:
    shape: list[int] = []
    while isinstance(value, (list, tuple)):
        shape.append(len(value))
        if len(shape) > DEPTH:
            raise fail(BAD_LITERAL, f"the constant has more than {DEPTH} dimensions", span)
        if not value:
            break
        value = value[0]
    return tuple(shape)


def _numbers(value: Meta, shape: tuple[int, ...], span: Span) -> Iterator[Number]:
    if shape:
        if not isinstance(value, (list, tuple)) or len(value) != shape[0]:
            raise fail(BAD_LITERAL, "the rows of the constant differ in length", span)
        for item in value:
            yield from _numbers(item, shape[1:], span)
        return
    match value:
        case bool() | int() | float():
            yield value
        case str() if value in _WORDS:
            yield _WORDS[value]
        case list() | tuple():
            raise fail(BAD_LITERAL, "the rows of the constant differ in length", span)
        case _:
            raise fail(BAD_ARGUMENTS, f"{described(value)} is not a number of a constant", span)


def _from_array(array: np.ndarray, element: DType | None, span: Span) -> relax.Constant:
    try:
        own = dtype_of(array.dtype)
    except KeyError:
        raise fail(UNKNOWN_DTYPE, f"no dtype is NumPy's {array.dtype}", span) from None
    target = element or _NARROWED.get(own.element, own)
    if target == own:
        return _constant(np.array(array, storage_dtype(own)), own, span)
    if own.is_float and target.is_float:
        numbers = [rounder(target)(float(number)) for number in array.ravel().astype(np.float64).tolist()]
    else:
        numbers = [_converted(number, target, span) for number in array.ravel().tolist()]
    data = np.array(numbers, _wide(target)).astype(storage_dtype(target)).reshape(array.shape)
    return _constant(data, target, span)
