"""C functions as packed functions: a cffi function pointer, called by its own type.

| parameter of the C function | argument                               | C receives                             |
|-----------------------------|----------------------------------------|----------------------------------------|
| `DLTensor *`                | tensor                                 | a `DLTensor` for the time of the call  |
| `T *`, T a number           | tensor of T (compact), pointer, null   | the address of the first element       |
| `char *`                    | string; else as `T *`                  | the UTF-8 text and a zero              |
| `void *`                    | tensor (compact), pointer, null        | the address                            |
| integer, bool, float        | number that fits                       | the number                             |

Results: `void`, integers, bool, floats. C is not watched: it can write anywhere, and addresses are valid during the
call only.
"""

import ctypes
from collections.abc import Callable, Sequence
from typing import Protocol, cast

import cffi
import numpy as np

from refmlc.diag import Span, fail
from refmlc.diag.catalogue import BAD_USAGE
from refmlc.lang.dtypes.storage import storage_dtype
from refmlc.run.memory.dlpack import DLDataType, DLTensor, code_of
from refmlc.run.memory.pointer import Pointer
from refmlc.run.memory.registry import DEFAULT, FunctionRegistry, check_written, protected, raised
from refmlc.run.memory.tensor import Tensor
from refmlc.run.memory.values import PackedFunc, kind_of


class CType(Protocol):
    """A type of cffi; its attributes depend on `kind`."""

    kind: str
    cname: str
    args: tuple["CType", ...]
    result: "CType"
    item: "CType"
    ellipsis: bool


class Ffi(Protocol):
    """The part of cffi's FFI that is used here."""

    def typeof(self, thing: object) -> CType:
        """The type of a cdata."""

    def sizeof(self, thing: CType) -> int:
        """The bytes of a type."""

    def cast(self, ctype: CType, value: int) -> object:
        """The number or address as a cdata of the type."""


Conversion = Callable[[object, list[object]], object]


def register_c_func(
    name: str,
    function: object,
    *,
    override: bool = False,
    owner: object = None,
    registry: FunctionRegistry = DEFAULT,
) -> None:
    """Register the cffi function pointer `function` under a global name.

    `owner` lives as long as the function: pass the library, which cffi unloads when nothing refers to it.
    Fails: RM112 (no function pointer, a parameter or result that has no meaning here, the name is taken).
    """
    ffi: Ffi = cffi.FFI()
    ctype = _function_type(ffi, name, function)
    conversions = tuple(_conversion(ffi, name, parameter) for parameter in ctype.args)
    if ctype.result.kind not in ("void", "primitive"):
        raise fail(BAD_USAGE, f"the C function `{name}` returns `{ctype.result.cname}`, which is not a value")
    registry.add(
        PackedFunc(name, _caller(name, cast("Callable[..., object]", function), conversions, owner)), override=override
    )


def _function_type(ffi: Ffi, name: str, function: object) -> CType:
    try:
        ctype = None if isinstance(function, str) else ffi.typeof(function)
    except TypeError:
        ctype = None
    if ctype is None or ctype.kind != "function":
        raise fail(BAD_USAGE, f"`{name}` is registered with {function!r}, which is no C function pointer of cffi")
    if ctype.ellipsis:
        raise fail(BAD_USAGE, f"the C function `{name}` takes any number of arguments: its type does not say which")
    return ctype


def _caller(
    name: str, function: Callable[..., object], conversions: Sequence[Conversion], owner: object
) -> Callable[[Sequence[object], Span | None], object]:
    def call(args: Sequence[object], span: Span | None) -> object:
        alive: list[object] = [owner]
        values = protected(args)
        try:
            if len(values) != len(conversions):
                raise TypeError(f"it takes {len(conversions)} arguments, {len(values)} are given")  # noqa: TRY301 - as C's other ones
            result: object = function(*(convert(arg, alive) for convert, arg in zip(conversions, values, strict=True)))
        except (TypeError, OverflowError, ValueError) as reason:
            raise raised(name, reason, span) from reason
        check_written(name, args, values, span)
        return result

    return call


def _conversion(ffi: Ffi, name: str, ctype: CType) -> Conversion:
    """The conversion of an argument to a parameter of type `ctype`."""
    if ctype.kind == "primitive":
        return lambda arg, _: _number(arg, ctype.cname)
    if ctype.kind == "pointer":
        item = ctype.item
        if item.kind == "struct" and item.cname.split()[-1] == "DLTensor":
            return lambda arg, alive: ffi.cast(ctype, _struct(arg, alive))
        if item.kind in ("void", "primitive"):
            element = _element(ffi, item)
            return lambda arg, alive: ffi.cast(ctype, _address(arg, alive, element, ctype.cname))
    raise fail(BAD_USAGE, f"the C function `{name}` has a parameter `{ctype.cname}`, to which no value converts")


def _element(ffi: Ffi, item: CType) -> "np.dtype[np.generic] | None":
    """The NumPy dtype of what a pointer points to, None for void."""
    if item.kind == "void":
        return None
    size = ffi.sizeof(item)
    if item.cname == "_Bool":
        return np.dtype(np.bool_)
    if item.cname in ("float", "double"):
        return np.dtype(f"f{size}")
    return np.dtype(f"{'i' if int(cast('int', ffi.cast(item, -1))) < 0 else 'u'}{size}")


def _number(arg: object, cname: str) -> object:
    if not isinstance(arg, bool | int | float):
        raise TypeError(f"a `{cname}` is needed, {kind_of(arg)} is given")
    return arg


def _struct(arg: object, alive: list[object]) -> int:
    """The address of a `DLTensor` for `arg`."""
    if not isinstance(arg, Tensor):
        raise TypeError(f"a tensor is needed, {kind_of(arg)} is given")
    extents = (ctypes.c_int64 * arg.ndim)(*arg.shape)
    strides = (ctypes.c_int64 * arg.ndim)(*arg.element_strides)
    dtype = DLDataType(code_of(arg.dtype.scalar), arg.dtype.bits, arg.dtype.lanes)
    struct = DLTensor(_start(arg), 1, 0, arg.ndim, dtype, extents, strides, 0)
    alive += [arg, extents, strides, struct]
    return ctypes.addressof(struct)


def _address(arg: object, alive: list[object], element: "np.dtype[np.generic] | None", cname: str) -> int:
    """The address that a data pointer argument means."""
    match arg:
        case None:
            return 0
        case Tensor() if arg.strides is not None:
            raise TypeError(f"`{cname}` needs a compact tensor, strides {arg.strides} are given")
        case Tensor() if element is not None and storage_dtype(arg.dtype) != element and element.itemsize > 1:
            raise TypeError(f"`{cname}` needs elements of {element}, {kind_of(arg)} is given")
        case Tensor():
            alive.append(arg)
            return _start(arg)
        case Pointer(storage=storage, byte_offset=offset):
            alive.append(storage)
            return _base(storage.array) + offset
        case str() if cname in ("char *", "char const *"):
            text = ctypes.create_string_buffer(arg.encode())
            alive.append(text)
            return ctypes.addressof(text)
        case _:
            raise TypeError(f"`{cname}` needs a tensor or a pointer, {kind_of(arg)} is given")


def _start(tensor: Tensor) -> int:
    return _base(tensor.storage.array) + tensor.byte_offset


def _base(array: np.ndarray) -> int:
    address: int = array.__array_interface__["data"][0]
    return address
