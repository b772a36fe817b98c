"""Pickles of arrays. The unpickler admits what NumPy writes for arrays, and nothing else.

| admitted                                              | for                                         |
|-------------------------------------------------------|---------------------------------------------|
| plain values: dict, list, tuple, set, str, int, …     | containers (they need no name in a pickle)  |
| `collections.OrderedDict`                             | containers (state dicts)                    |
| `numpy.ndarray`, `numpy.dtype`                        | arrays                                      |
| `_reconstruct`, `scalar` of `numpy.core.multiarray`   | arrays and scalars; also `numpy._core`      |
| `_frombuffer` of `numpy.core.numeric`                 | arrays of protocol 5; also `numpy._core`    |
| the dtypes of `ml_dtypes`                             | bfloat16 and the like                       |
| `_codecs.encode` to latin1; `bytes()`                 | bytes in protocols 0 to 2                   |
| `set`, `frozenset` of a list                          | containers in protocols 0 to 3              |

A name stands for a stand-in of this module: nothing is imported, no attribute is fetched, and NumPy sees what the
pickle says only after it was checked. Every other name is refused by name, and so are arrays of objects (RM110).
"""

import io
import pickle
import pickletools
from collections import OrderedDict
from collections.abc import Callable, Mapping
from math import prod
from pathlib import Path
from typing import Literal, Never

import ml_dtypes
import numpy as np

from refmlc.diag import RefmlcError, fail
from refmlc.diag.catalogue import REFUSED_PICKLE
from refmlc.lang.dtypes.storage import ML_DTYPES
from refmlc.run.memory.files.content import bad_file, read_bytes

MAX_ITEMS = 100_000
MAX_DEPTH = 100
_FAILURES = (
    *(pickle.UnpicklingError, EOFError, ValueError, TypeError, KeyError, IndexError, AttributeError),
    *(OverflowError, RecursionError, MemoryError, AssertionError),
)
_PLAIN = (bool, int, float, str, bytes, bytearray, type(None))
_NUMPY_CODES = frozenset(f"{kind}{size}" for kind in "iuf" for size in (1, 2, 4, 8)) | {"b1"}


class _Refused(pickle.UnpicklingError):
    """The pickle asks for something that is not admitted."""


class _Admitted:
    """The meaning of a name of the table. The pickle cannot give it a state."""

    __slots__ = ()

    def __setstate__(self, _: object) -> Never:
        raise _Refused("a change of what a name means")


class _Name(_Admitted):
    """A name that stands for itself: it can be an argument, not be called."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name

    def __repr__(self) -> str:
        return f"`{self.name}`"


class _Maker(_Admitted):
    """A name that can be called."""

    __slots__ = ("make",)

    def __init__(self, make: Callable[..., object]) -> None:
        self.make = make

    def __call__(self, *args: object) -> object:
        return self.make(*args)


class _Dtype:
    """A dtype, as the pickle describes it."""

    __slots__ = ("stored",)

    def __init__(self, stored: "np.dtype[np.generic]") -> None:
        self.stored = stored

    def __setstate__(self, state: object) -> None:
        """`state`: version, byte order, subarray, names, fields, …."""
        if not isinstance(state, tuple) or len(state) < 5 or state[2:5] != (None, None, None):
            raise _Refused("a dtype with fields")
        if state[1] not in ("<", ">", "=", "|"):
            raise _Refused(f"the byte order {state[1]!r}")
        if self.stored.kind != "V":
            self.stored = self.stored.newbyteorder(state[1])


class _Array:
    """An array, as the pickle describes it."""

    __slots__ = ("array",)

    def __init__(self) -> None:
        self.array: np.ndarray | None = None

    def __setstate__(self, state: object) -> None:
        """`state`: version, shape, dtype, whether Fortran order, bytes."""
        if not isinstance(state, tuple) or len(state) != 5:
            raise _Refused("an array in an unknown form")
        _, shape, dtype, fortran, content = state
        self.array = _array(content, dtype, shape, "F" if fortran else "C")


class _Unpickler(pickle.Unpickler):
    """Knows the names of the table only."""

    def find_class(self, module: str, name: str) -> object:
        admitted = _ADMITTED.get((module, name))
        if admitted is None:
            raise _Refused(f"`{module}.{name}`")
        return admitted

    def persistent_load(self, pid: object) -> Never:
        raise _Refused(f"the persistent object {pid!r}")


def read_pickle(path: Path | str) -> Mapping[str, np.ndarray]:
    """The arrays in a pickle, by the keys that lead to them, joined by dots. Fails: RM109, RM110, RM603."""
    path = Path(path)
    content = read_bytes(path)
    try:
        _check_opcodes(content)
        # Names are looked up in the table above: nothing in the file is executed.
        value: object = _Unpickler(io.BytesIO(content)).load()
    except _Refused as reason:
        raise _refusal(path, str(reason)) from None
    except _FAILURES as reason:
        raise bad_file(path, f"not a readable pickle: {str(reason) or type(reason).__name__}") from None
    arrays = _collect(path, value)
    if not arrays:
        raise bad_file(path, "the pickle holds no arrays")
    return arrays


def _check_opcodes(content: bytes) -> None:
    """Refuse numbers of memo cells larger than the pickle: the memo would take memory without end."""
    for opcode, argument, _ in pickletools.genops(content):
        if "PUT" in opcode.name and isinstance(argument, int) and argument > len(content):
            raise ValueError(f"memo cell {argument} in {len(content)} bytes")


def _collect(path: Path, value: object) -> dict[str, np.ndarray]:
    """The arrays in `value`, under the keys and numbers on the way to them."""
    arrays: dict[str, np.ndarray] = {}
    stack: list[tuple[str, object, int]] = [("", value, 0)]
    for _ in range(MAX_ITEMS):
        if not stack:
            return arrays
        here, item, depth = stack.pop()
        if depth > MAX_DEPTH:
            raise bad_file(path, f"the pickle nests containers deeper than {MAX_DEPTH}")
        match item:
            case _Array(array=np.ndarray() as array):
                arrays[here or "array"] = array
            case dict():
                pairs = [(_joined(path, here, key), part, depth + 1) for key, part in item.items()]
                stack.extend(reversed(pairs))
            case list() | tuple() | set() | frozenset():
                numbered = [(_joined(path, here, number), part, depth + 1) for number, part in enumerate(item)]
                stack.extend(reversed(numbered))
            case _ if isinstance(item, _PLAIN):
                continue
            case _Name(name=name):
                raise _refusal(path, f"`{name}` as a value")
            case _:
                raise _refusal(path, f"a value made of {type(item).__name__.strip('_').lower()}")
    raise bad_file(path, f"the pickle holds more than {MAX_ITEMS} items")


def _joined(path: Path, here: str, key: object) -> str:
    if not isinstance(key, str) and (not isinstance(key, int) or key.bit_length() > 64):
        raise _refusal(path, f"a key of type {type(key).__name__.strip('_')}")
    return f"{here}.{key}" if here else str(key)


def _refusal(path: Path, what: str) -> RefmlcError:
    return fail(
        REFUSED_PICKLE, f"{path}: the pickle asks for {what}", None, "only arrays and plain containers are read"
    )


def _encode(text: object = "", encoding: object = "") -> bytes:
    if not isinstance(text, str) or encoding not in ("latin1", "latin-1"):
        raise _Refused(f"`_codecs.encode` to {encoding!r}")
    return text.encode("latin-1")


def _empty(*args: object) -> bytes:
    if args:
        raise _Refused("`bytes` with arguments")
    return b""


def _set(items: object = ()) -> frozenset[object]:
    if not isinstance(items, list | tuple):
        raise _Refused(f"a set of {type(items).__name__}")
    return frozenset(items)


def _dtype(name: object = None, *_: object) -> _Dtype:
    if isinstance(name, _Name) and name.name.startswith("ml_dtypes."):
        return _Dtype(np.dtype(getattr(ml_dtypes, name.name.removeprefix("ml_dtypes."))))
    if not isinstance(name, str) or name not in _NUMPY_CODES:
        raise _Refused(f"the dtype {name!r}")
    return _Dtype(np.dtype(name))


def _reconstruct(kind: object = None, *_: object) -> _Array:
    if kind is not _NDARRAY:
        raise _Refused(f"an array of kind {kind!r}")
    return _Array()


def _scalar(dtype: object = None, content: object = b"") -> _Array:
    result = _Array()
    result.array = _array(content, dtype, (), "C")
    return result


def _from_buffer(content: object = b"", dtype: object = None, shape: object = (), order: object = "C") -> _Array:
    result = _Array()
    result.array = _array(content, dtype, shape, "F" if order == "F" else "C")
    return result


def _array(content: object, dtype: object, shape: object, order: Literal["C", "F"]) -> np.ndarray:
    """The array that the parts describe, when they fit together."""
    if not isinstance(dtype, _Dtype) or not isinstance(content, bytes | bytearray):
        raise _Refused("an array of Python objects")
    if not isinstance(shape, tuple) or not all(isinstance(size, int) and size >= 0 for size in shape):
        raise _Refused(f"an array of shape {shape!r}")
    stored = dtype.stored
    if prod(shape) * stored.itemsize != len(content):
        raise ValueError(f"{len(content)} bytes for shape {shape} of {stored}")
    array = np.frombuffer(content, stored).reshape(shape, order=order)
    return array.astype(stored.newbyteorder("=")) if not stored.isnative else array.copy(order="C")


_NDARRAY = _Name("numpy.ndarray")
_BUILTINS = ("builtins", "__builtin__")
_CORES = ("numpy.core", "numpy._core")
_ADMITTED: Mapping[tuple[str, str], _Name | _Maker] = {
    ("collections", "OrderedDict"): _Maker(OrderedDict),
    ("_codecs", "encode"): _Maker(_encode),
    **{(module, "bytes"): _Maker(_empty) for module in _BUILTINS},
    **{(module, name): _Maker(_set) for module in _BUILTINS for name in ("set", "frozenset")},
    ("numpy", "ndarray"): _NDARRAY,
    ("numpy", "dtype"): _Maker(_dtype),
    **{(f"{core}.multiarray", "_reconstruct"): _Maker(_reconstruct) for core in _CORES},
    **{(f"{core}.multiarray", "scalar"): _Maker(_scalar) for core in _CORES},
    **{(f"{core}.numeric", "_frombuffer"): _Maker(_from_buffer) for core in _CORES},
    **{("ml_dtypes", name): _Name(f"ml_dtypes.{name}") for name in ML_DTYPES},
}
