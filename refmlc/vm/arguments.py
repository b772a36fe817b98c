"""Arguments: Python objects become values, in the order of the parameters, and are checked against their types.

| argument                               | becomes                                                              |
|----------------------------------------|----------------------------------------------------------------------|
| NumPy array, DLPack object (PyTorch …) | `Tensor` on the same memory                                          |
| `Tensor`, `Shape`, str, DType, function | itself                                                              |
| bool, int, float, NumPy scalar         | a Python number                                                      |
| tuple, list                            | a tuple; a `Shape` where the parameter is a shape                    |
| None                                   | null                                                                 |
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from refmlc.diag import RefmlcError, Span, fail
from refmlc.diag.catalogue import BAD_INPUT
from refmlc.lang.dtypes import DType
from refmlc.lang.dtypes.rounding import rounder
from refmlc.lang.ir import tir
from refmlc.lang.ir.types import AnyType, DTensorType, FuncType, PrimType, ShapeType, TensorType, TupleType, Type
from refmlc.lang.ops.evaluate import known
from refmlc.run.dims import Dims, text
from refmlc.run.memory.pointer import Pointer
from refmlc.run.memory.tensor import Tensor
from refmlc.run.memory.values import Closure, PackedFunc, Shape, kind_of

_NO_FLOAT = 1 << 1024  # this integer and greater ones have no float


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter of a function. `written`: the program stores into it. `compact`: tensors without gaps only."""

    name: str
    ty: Type | None
    span: Span | None
    written: bool = False
    compact: bool = False


def ordered(
    function: str, parameters: Sequence[Parameter], args: Sequence[object], named: Mapping[str, object]
) -> list[object]:
    """One argument per parameter, in order. Fails: RM111 (count, unknown name, given twice)."""
    names = [parameter.name for parameter in parameters]
    for name in named:
        if name not in names:
            raise fail(BAD_INPUT, f"`{function}` has no parameter `{name}`", None, f"its parameters: {_list(names)}")
        if names.index(name) < len(args):
            raise fail(BAD_INPUT, f"`{name}` of `{function}` is given twice")
    missing = [name for name in names[len(args) :] if name not in named]
    if missing or len(args) > len(names):
        count = len(args) + len(named)
        message = f"`{function}` takes {_count(len(names))}, {count} {'is' if count == 1 else 'are'} given"
        raise fail(BAD_INPUT, message, None, f"its parameters: {_list(names)}")
    return [*args, *(named[name] for name in names[len(args) :])]


def accept(function: str, parameters: Sequence[Parameter], args: Sequence[object]) -> list[object]:
    """`args` as values of the types of the parameters. Fails: RM111, RM503, RM505.

    Order: every argument becomes a value and binds the variables in shapes; then all extents are compared, so that
    `n + 1` before `n` is checked too.
    """
    dims: Dims = {}
    values = []
    for parameter, arg in zip(parameters, args, strict=True):
        place = f"`{parameter.name}` of `{function}`"
        value = as_value(arg, parameter.ty, place, parameter.span)
        if parameter.compact and isinstance(value, Tensor) and value.strides is not None:
            raise fail(
                BAD_INPUT, f"{place} is not contiguous", parameter.span, "np.ascontiguousarray makes a copy that is"
            )
        if parameter.written and isinstance(value, Tensor) and not value.writable:
            raise fail(BAD_INPUT, f"{place} is written, the array given is read-only", parameter.span)
        _check(value, parameter.ty, place, dims, parameter.span)
        values.append(value)
    for parameter, value in zip(parameters, values, strict=True):
        place = f"`{parameter.name}` of `{function}`"
        _check(value, parameter.ty, place, dims, parameter.span)
    return values


def as_value(arg: object, ty: Type | None, place: str, span: Span | None = None) -> object:
    """An argument as a value. Fails: RM111 if it cannot be one, RM503, RM505."""
    match arg:
        case bool() | int() | float():
            return _number(arg, ty)
        case None | str() | Tensor() | Shape() | DType() | Closure() | PackedFunc() | Pointer():
            return arg
        case tuple() | list():
            return _sequence(arg, ty, place, span)
        case np.generic() if not isinstance(ty, TensorType) and isinstance(arg.item(), bool | int | float):
            return _number(arg.item(), ty)
        case _:
            pass
    try:
        if isinstance(arg, np.generic):
            return Tensor.from_numpy(np.asarray(arg))
        return Tensor.from_numpy(arg) if isinstance(arg, np.ndarray) else Tensor.from_dlpack(arg)
    except RefmlcError as reason:
        raise fail(reason.code, f"{place}: {reason.diagnostic.message}", span) from None


def _number(value: bool | int | float, ty: Type | None) -> bool | int | float:
    """A number as one of the parameter's dtype, if it fits: 1 is a float and a bool too; floats are rounded."""
    if not isinstance(ty, PrimType) or not _fits(value, ty.dtype):
        return value
    if ty.dtype.is_float:
        return rounder(ty.dtype)(float(value))
    return bool(value) if ty.dtype.kind == "bool" else value


def _fits(value: bool | int | float, dtype: DType) -> bool:
    match dtype.kind:
        case "bool":
            return value in (0, 1)
        case "int" | "uint":
            return isinstance(value, int) and dtype.minimum <= value <= dtype.maximum
        case "float":
            return isinstance(value, float) or (not isinstance(value, bool) and abs(value) < _NO_FLOAT)
        case _:
            return True


def _sequence(items: Sequence[object], ty: Type | None, place: str, span: Span | None) -> object:
    if isinstance(ty, ShapeType) and all(isinstance(item, int | np.integer) for item in items):
        return Shape(int(item) for item in items if isinstance(item, int | np.integer))
    fields: Sequence[Type | None] = ty.fields if isinstance(ty, TupleType) else ()
    if len(fields) != len(items):
        fields = [None] * len(items)
    return tuple(
        as_value(item, field, f"{place}, field {number},", span)
        for number, (item, field) in enumerate(zip(items, fields, strict=True))
    )


def _check(value: object, ty: Type | None, place: str, dims: Dims, span: Span | None) -> None:
    """Compare `value` with its declared type as far as `dims` is known. Fails: RM111."""
    match ty, value:
        case TensorType(), Tensor():
            _check_tensor(value, ty, place, dims, span)
        case ShapeType(), Shape():
            _check_shape(tuple(value), ty.values, ty.ndim, place, dims, span)
        case TupleType(), tuple() if not isinstance(value, Shape):
            _check_tuple(value, ty, place, dims, span)
        case PrimType(), bool() | int() | float():
            _check_prim(value, ty, place, dims, span)
        case PrimType(dtype=DType(kind="handle")), _:
            return
        case FuncType(), Closure() | PackedFunc():
            return
        case ((TensorType() | ShapeType() | TupleType() | PrimType() | FuncType()), _):
            raise fail(BAD_INPUT, f"{place} is {_declared(ty, dims)}, {kind_of(value)} is given", span)
        case _:
            return


def _check_tensor(value: Tensor, ty: TensorType, place: str, dims: Dims, span: Span | None) -> None:
    if ty.dtype is not None and ty.dtype != value.dtype:
        raise fail(BAD_INPUT, f"{place} has elements of {ty.dtype}, {kind_of(value)} is given", span)
    _check_shape(value.shape, ty.shape, ty.ndim, place, dims, span)


def _check_shape(
    shape: tuple[int, ...],
    declared: tuple[tir.Expr, ...] | None,
    ndim: int,
    place: str,
    dims: Dims,
    span: Span | None,
) -> None:
    rank = ndim if declared is None else len(declared)
    if rank not in (-1, len(shape)):
        expected = f"{rank} axes" if declared is None else f"shape {text(declared, dims)}"
        raise fail(BAD_INPUT, f"{place} has {expected}, shape {shape} is given", span)
    if declared is None:
        return
    for axis, (extent, size) in enumerate(zip(declared, shape, strict=True)):
        if isinstance(extent, tir.Var):
            dims.setdefault(extent, size)
        value = known(extent, dims)
        if value is not None and value != size:
            message = f"{place} has shape {text(declared, dims)}, shape {shape} is given"
            raise fail(BAD_INPUT, message, span, f"axis {axis} is {size} and should be {value}")


def _check_tuple(value: tuple[object, ...], ty: TupleType, place: str, dims: Dims, span: Span | None) -> None:
    if len(value) != len(ty.fields):
        raise fail(BAD_INPUT, f"{place} has {len(ty.fields)} fields, a tuple of {len(value)} is given", span)
    for number, (item, field) in enumerate(zip(value, ty.fields, strict=True)):
        _check(item, field, f"{place}, field {number},", dims, span)


def _check_prim(value: bool | int | float, ty: PrimType, place: str, dims: Dims, span: Span | None) -> None:
    if not _fits(value, ty.dtype):
        raise fail(BAD_INPUT, f"{place} is {_declared(ty, dims)}, {kind_of(value)} is given", span)
    if isinstance(ty.value, tir.Var) and isinstance(value, int):
        dims.setdefault(ty.value, value)
    declared = None if ty.value is None else known(ty.value, dims)
    if declared is not None and declared != value:
        raise fail(BAD_INPUT, f"{place} is {declared}, {value} is given", span)


def _declared(ty: Type, dims: Dims) -> str:
    """A type in a few words."""
    match ty:
        case TensorType():
            shape = "" if ty.shape is None else f" {text(ty.shape, dims)}"
            return f"a tensor{shape}" + (f" of {ty.dtype}" if ty.dtype is not None else "")
        case ShapeType():
            return "a shape" if ty.values is None else f"the shape {text(ty.values, dims)}"
        case TupleType():
            return f"a tuple of {len(ty.fields)}"
        case PrimType():
            return f"a number of {ty.dtype}"
        case DTensorType():
            return f"{_declared(ty.tensor, dims)} on a mesh of devices"
        case FuncType() | AnyType():  # every value fits the latter
            return "a function"


def _list(names: Sequence[str]) -> str:
    return ", ".join(names) or "none"


def _count(number: int) -> str:
    return "1 argument" if number == 1 else f"{number} arguments"
