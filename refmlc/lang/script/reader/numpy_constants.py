"""Arrays of NumPy that a text writes down in place: `R.const(np.array([1, 3], dtype=np.int64))`.

| expression                                          | meaning                                                    |
|-----------------------------------------------------|------------------------------------------------------------|
| `np.array(numbers, dtype)`, `np.asarray`            | nested lists of numbers, as NumPy makes an array of them   |
| `np.zeros ones full(shape, …, dtype)`, `np.eye`     | as NumPy                                                   |
| `np.arange(start, stop, step, dtype)`               | of integers                                                |
| `np.float32(x)`, `np.int64(x)`, …                   | a scalar of NumPy, but not of float64, which is a `float`  |
| `np.finfo(d).max min eps`, `np.iinfo(d).max min`    | the numbers of the dtype                                   |
| `a.reshape(shape)`, `a.astype(dtype)`               | as NumPy                                                   |
| `np.pi e inf nan`                                   | as in `math`                                               |

Names outside of definitions do not stand for arrays: code that is skipped may change an array.
Fails: RM103 what is not made of numbers; RM105 other arguments; RM106 other dtypes; RM107 what NumPy refuses, more
than `MADE` elements made, or `ITEMS` written. The budget pays an `ITEM`th of the elements.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from refmlc.diag import Span, fail
from refmlc.diag.catalogue import BAD_LITERAL, NOT_TVMSCRIPT, UNKNOWN_DTYPE
from refmlc.lang.script.reader.arguments import REQUIRED, CallSite
from refmlc.lang.script.reader.budget import ITEM, ITEMS
from refmlc.lang.script.reader.table import CallHandler, Family, Table
from refmlc.lang.script.reader.values import Construct, Meta, Method, described

if TYPE_CHECKING:
    from refmlc.lang.script.reader.evaluate import Evaluator

_PREFIX = "numpy."
_DTYPES = {
    name: np.dtype(name)
    for name in (
        *("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
        *("float16", "float32", "float64"),
    )
}
_NAMES: dict[str, "np.dtype[Any]"] = {
    **_DTYPES,
    "builtin.bool": np.dtype(np.bool_),
    "builtin.int": np.dtype(np.int64),
    "builtin.float": np.dtype(np.float64),
    **{_PREFIX + name: value for name, value in _DTYPES.items()},
    _PREFIX + "bool_": np.dtype(np.bool_),
}
_AXES = 32
MADE = 1 << 12
"""The most elements of an array that a text does not write down one by one."""


@dataclass(frozen=True, slots=True)
class NumberLimits:
    """`np.finfo(dtype)`, `np.iinfo(dtype)`: what its attributes are."""

    values: dict[str, Meta]


def _dtype(value: Meta, span: Span) -> "np.dtype[Any] | None":
    """The dtype that a text names; None for None. Fails: RM106."""
    if value is None:
        return None
    name = value.path if isinstance(value, Construct) else value
    found = _NAMES.get(name) if isinstance(name, str) else None
    if found is None or (name is value and "." in str(name)):
        raise fail(UNKNOWN_DTYPE, f"{described(value)} is no dtype of NumPy that reading knows", span)
    return found


def _shape(value: Meta, span: Span) -> tuple[int, ...]:
    """The extents of a new array. Fails: RM103, RM606."""
    items: Sequence[Meta] = value if isinstance(value, (tuple, list)) else (value,)
    shape = tuple(item for item in items if isinstance(item, int) and not isinstance(item, bool) and item >= 0)
    if len(shape) != len(items) or len(shape) > _AXES:
        raise fail(NOT_TVMSCRIPT, f"{described(value)} is no shape of a constant", span)
    _limited(math.prod(shape), span)
    return shape


def _limited(elements: int, span: Span, most: int = MADE) -> int:
    if elements > most:
        raise fail(BAD_LITERAL, f"the array has more than {most} elements", span)
    return elements


def _numbers(value: Meta, span: Span) -> Meta:
    """`value`, when it is a number, nested lists of numbers, or an array. Fails: RM103, RM606."""
    if isinstance(value, np.ndarray | np.generic):
        return value
    stack, count = [(value, 0)], 0
    while stack:
        part, depth = stack.pop()
        count += 1
        if isinstance(part, (list, tuple)) and depth < _AXES:
            _limited(len(part) + count, span, ITEMS)
            stack.extend((item, depth + 1) for item in part)
        elif not isinstance(part, (int, float)):
            raise fail(NOT_TVMSCRIPT, f"{described(part)} is not a number of an array", span)
    return value


def _made(site: CallSite, make: "Callable[[], np.ndarray | np.generic]") -> Meta:
    """What NumPy makes. Fails: RM107 where it refuses, or where a number has no value in the dtype."""
    try:
        with np.errstate(invalid="raise"):
            result = make()
    except (ValueError, TypeError, OverflowError, FloatingPointError, ZeroDivisionError) as problem:
        raise fail(BAD_LITERAL, f"`{site.spelled}`: {str(problem)[:80]}", site.span) from None
    if result.dtype not in _DTYPES.values():
        raise fail(BAD_LITERAL, f"`{site.spelled}` makes no array of numbers", site.span)
    return result


def _array(_ev: "Evaluator", site: CallSite) -> Meta:
    values = site.take(object=REQUIRED, dtype=None)
    numbers = _numbers(values["object"], site.span)
    dtype = _dtype(values["dtype"], site.place("dtype", 1))
    return _made(site, lambda: np.array(numbers, dtype))


def _filled(value: float) -> CallHandler:
    def handler(ev: "Evaluator", site: CallSite) -> Meta:
        values = site.take(shape=REQUIRED, dtype=None)
        shape = _shape(values["shape"], site.place("shape", 0))
        ev.budget.charge(math.prod(shape) // ITEM, site.span)
        dtype = _dtype(values["dtype"], site.place("dtype", 1)) or np.dtype(np.float64)
        return _made(site, lambda: np.full(shape, value, dtype))

    return handler


def _full(ev: "Evaluator", site: CallSite) -> Meta:
    values = site.take(shape=REQUIRED, fill_value=REQUIRED, dtype=None)
    shape, fill = _shape(values["shape"], site.place("shape", 0)), values["fill_value"]
    if not isinstance(fill, (int, float, np.generic)):
        raise site.wrong("fill_value", fill, "a number")
    ev.budget.charge(math.prod(shape) // ITEM, site.span)
    dtype = _dtype(values["dtype"], site.place("dtype", 2))
    return _made(site, lambda: np.full(shape, fill, dtype))


def _eye(ev: "Evaluator", site: CallSite) -> Meta:
    values = site.take(N=REQUIRED, M=None, k=0, dtype=None)
    rows, diagonal = values["N"], values["k"]
    columns = rows if values["M"] is None else values["M"]
    shape = _shape((rows, columns), site.span)
    if not isinstance(diagonal, int) or abs(diagonal) > ITEMS:
        raise site.wrong("k", diagonal, "the number of a diagonal")
    ev.budget.charge(math.prod(shape) // ITEM, site.span)
    dtype = _dtype(values["dtype"], site.place("dtype", 3)) or np.dtype(np.float64)
    return _made(site, lambda: np.eye(shape[0], shape[1], diagonal, dtype))


def _arange(ev: "Evaluator", site: CallSite) -> Meta:
    values = site.take(start=REQUIRED, stop=None, step=1, dtype=None)
    numbers = [values[key] for key in ("start", "stop", "step") if values[key] is not None]
    whole = [item for item in numbers if isinstance(item, int) and not isinstance(item, bool) and abs(item) < 1 << 62]
    if len(whole) != len(numbers) or whole[-1] == 0:
        raise site.misfit("takes integers, and no step of 0")
    first, stop = (0, whole[0]) if values["stop"] is None else (whole[0], whole[1])
    step = whole[-1] if values["step"] is not None else 1
    ev.budget.charge(_limited(max(0, -((first - stop) // step)), site.span) // ITEM, site.span)
    dtype: np.dtype[Any] = _dtype(values["dtype"], site.place("dtype", 3)) or np.dtype(np.int64)
    return _made(site, lambda: np.arange(first, stop, step, dtype=dtype))


def _scalar(dtype: "np.dtype[Any]") -> CallHandler:
    def handler(_ev: "Evaluator", site: CallSite) -> Meta:
        (value,) = site.only_positional(1, 1)
        if not isinstance(value, (int, float, np.generic)):
            raise site.wrong("0", value, "a number")
        return _made(site, lambda: dtype.type(value))

    return handler


def _float_limits(_ev: "Evaluator", site: CallSite) -> Meta:
    dtype = _dtype(site.take(dtype=REQUIRED)["dtype"], site.span)
    if dtype is None or dtype.name not in ("float16", "float32"):  # a number of float64 is a `float` of its own kind
        raise site.misfit("takes float16 or float32")
    info = np.finfo(dtype)
    return NumberLimits({"max": info.max, "min": info.min, "eps": info.eps, "bits": info.bits})


def _int_limits(_ev: "Evaluator", site: CallSite) -> Meta:
    dtype = _dtype(site.take(type=REQUIRED)["type"], site.span)
    if dtype is None or dtype.kind not in "iu":
        raise site.misfit("takes a dtype of integers")
    info = np.iinfo(dtype)
    return NumberLimits({"max": info.max, "min": info.min, "bits": info.bits})


def _limit(ev: "Evaluator", owner: Meta, name: str, span: Span) -> Meta:
    if not isinstance(owner, NumberLimits) or name not in owner.values:
        raise ev.refuse(f"the limits of a dtype have no `{name}`", span)
    return owner.values[name]


def _attribute(ev: "Evaluator", owner: Meta, name: str, span: Span) -> Meta:
    if name not in ("reshape", "astype"):
        raise ev.refuse(f"an array has no attribute `{name}` that reading knows", span)
    return Method(owner, name)


def _method(ev: "Evaluator", method: Meta, site: CallSite) -> Meta:
    if not isinstance(method, Method) or not isinstance(method.receiver, np.ndarray | np.generic):
        raise TypeError(method)
    array = np.asarray(method.receiver)
    ev.budget.charge(_limited(array.size, site.span, ITEMS) // ITEM, site.span)
    if method.name == "astype":
        dtype = _dtype(site.take(dtype=REQUIRED)["dtype"], site.span)
        return _made(site, lambda: array.astype(dtype))
    given = site.only_positional(1)
    items: Sequence[Meta] = given[0] if len(given) == 1 and isinstance(given[0], (tuple, list)) else given
    shape = [item for item in items if isinstance(item, int) and not isinstance(item, bool) and item >= -1]
    if len(shape) != len(items) or len(shape) > _AXES:
        raise site.misfit("takes the extents of a shape")
    return _made(site, lambda: array.reshape(shape))


NUMPY = Table(
    calls={
        **dict.fromkeys((_PREFIX + "array", _PREFIX + "asarray"), _array),
        _PREFIX + "zeros": _filled(0),
        _PREFIX + "ones": _filled(1),
        _PREFIX + "full": _full,
        _PREFIX + "eye": _eye,
        _PREFIX + "arange": _arange,
        _PREFIX + "finfo": _float_limits,
        _PREFIX + "iinfo": _int_limits,
        **{_PREFIX + name: _scalar(dtype) for name, dtype in _DTYPES.items() if name not in ("bool", "float64")},
    },
    names={
        _PREFIX + "pi": math.pi,
        _PREFIX + "e": math.e,
        _PREFIX + "inf": math.inf,
        _PREFIX + "nan": math.nan,
    },
    families=(
        Family((NumberLimits,), attribute=_limit),
        Family((np.ndarray, np.generic), attribute=_attribute, method=_method),
    ),
)
