"""Values on the line: how an argument or result is written as JSON.

| value                       | JSON                                                                               |
|-----------------------------|------------------------------------------------------------------------------------|
| tensor                      | `{"kind": "tensor", "dtype": "float32", "shape": [4, 8], "file": "a0"}`            |
| … small                     | the same with `"values": [1.5, "nan", …]` for `"file"`: row-major, floats as below |
| integer                     | `{"kind": "int", "value": 3}`                                                      |
| bool                        | `{"kind": "bool", "value": true}`                                                  |
| float                       | `{"kind": "float", "value": 1.5}`, or `"nan"`, `"inf"`, `"-inf"`                   |
| shape                       | `{"kind": "shape", "value": [4, 8]}`                                               |
| tuple                       | `{"kind": "tuple", "value": […]}`                                                  |
| string                      | `{"kind": "string", "value": "…"}`                                                 |
| nothing                     | `{"kind": "null"}`                                                                 |
| tensor n of this line again | `{"kind": "same", "value": n}`, n from 0                                           |

Answers may have either; requests have values for tensors of at most `INLINE` elements where the answer to `hello` says
`"inline": true`. A file lies in the folder that `hello` names and holds the elements row-major, little-endian, without
gaps; one byte for what is narrower than a byte, the code in its low bits. Elements that nobody wrote hold NaN, or all
bits one: who reads them gets what shows.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from math import prod
from pathlib import Path
from stat import S_ISREG

import numpy as np

from refmlc.diag.errors import RefmlcError
from refmlc.lang.dtypes import FLOAT64, DType, dtype
from refmlc.lang.dtypes.rounding import round_int, rounder
from refmlc.lang.dtypes.storage import storage_dtype
from refmlc.run.memory.tensor import Tensor
from refmlc.run.memory.values import Shape, kind_of

MOST_BYTES = 1 << 32
MOST_SPANNED = (1 << 63) - 1
MOST_AXES = 64
INLINE = 256
LONGEST = 120
SHORT = 30


class Unsendable(Exception):
    """A value that has no form on the line."""


class Misspelt(Exception):
    """The received data is not a value."""


@dataclass
class Sender:
    """Values written for one call: tensors into files of `folder`; those of at most `inline` elements into the line."""

    folder: Path
    prefix: str = "a"
    inline: int = 0
    sent: list[Tensor] = field(default_factory=list)

    def value(self, value: object) -> dict[str, object]:
        """`value` as JSON. Fails: `Unsendable`."""
        match value:
            case Tensor():
                return self._tensor(value)
            case bool():
                return {"kind": "bool", "value": value}
            case int():
                return {"kind": "int", "value": value}
            case float():
                return {"kind": "float", "value": value if math.isfinite(value) else str(value)}
            case Shape():
                return {"kind": "shape", "value": list(value)}
            case tuple():
                return {"kind": "tuple", "value": [self.value(item) for item in value]}
            case str():
                return {"kind": "string", "value": value}
            case None:
                return {"kind": "null"}
            case _:
                raise Unsendable(f"{kind_of(value)} cannot be sent to another process")

    def _tensor(self, tensor: Tensor) -> dict[str, object]:
        for number, other in enumerate(self.sent):
            if other.storage is tensor.storage:
                if _place(other) != _place(tensor):
                    raise Unsendable("arguments overlap: that cannot be sent to another process")
                return {"kind": "same", "value": number}
        self.sent.append(tensor)
        if tensor.dtype.kind == "handle":
            raise Unsendable("a tensor of handles cannot be sent to another process")
        if tensor.strides is not None or tensor.byte_offset:
            raise Unsendable("a tensor that is a view of other memory cannot be sent to another process")
        name = f"{self.prefix}{len(self.sent) - 1}"
        little = poisoned(tensor)
        if self.inline and little.size <= self.inline:
            return {"kind": "tensor", "dtype": str(tensor.dtype), "shape": list(tensor.shape), "values": listed(little)}
        (self.folder / name).write_bytes(little.astype(little.dtype.newbyteorder("<"), copy=False).tobytes())
        return {"kind": "tensor", "dtype": str(tensor.dtype), "shape": list(tensor.shape), "file": name}


def listed(array: np.ndarray) -> list[object]:
    """The elements as JSON has them."""
    items: list[object] = []
    for item in array.reshape(-1).tolist():
        number = item if isinstance(item, bool | int) else float(item)
        items.append(str(number) if isinstance(number, float) and not math.isfinite(number) else number)
    return items


def _place(tensor: Tensor) -> tuple[object, ...]:
    return (tensor.byte_offset, str(tensor.dtype), tensor.shape, tensor.element_strides)


def poisoned(tensor: Tensor) -> np.ndarray:
    """The elements; those that were never written hold what shows when it is read."""
    array = np.ascontiguousarray(tensor.array).reshape(tensor.array.shape)
    if tensor.initialised:
        return array
    compact = tensor.copy()
    array = compact.array
    flat, shadow = array.reshape(-1), compact.shadow
    number = poison(tensor.dtype)
    unwritten = np.array([shadow[at] == 0 for at in range(len(shadow))], bool)
    flat[unwritten] = number
    return flat.reshape(array.shape)


def poison(kind: DType) -> np.ndarray:
    """NaN where the dtype has it, else the greatest value; of signed integers -1. Shape: ()."""
    stored = storage_dtype(kind.scalar)
    if kind.kind == "bool":
        return np.array(True)
    if kind.is_integer:
        return np.array(-1 if kind.minimum < 0 else kind.maximum).astype(stored)
    return np.array(math.nan).astype(stored)


@dataclass
class Receiver:
    """The values of one answer: tensors from files of `folder`."""

    folder: Path
    got: list[Tensor] = field(default_factory=list)

    def value(self, value: object) -> object:
        """The value that `value` spells. Fails: `Misspelt`."""
        if not isinstance(value, Mapping):
            raise Misspelt(f"{_text(value)} is not a value")
        inside = value.get("value")
        match value.get("kind"), inside:
            case "tensor", _:
                self.got.append(_tensor(value, self.folder))
                return self.got[-1]
            case "same", int() if not isinstance(inside, bool) and 0 <= inside < len(self.got):
                return self.got[inside]
            case ("bool", bool()) | ("string", str()):
                return inside
            case "int", int() if not isinstance(inside, bool):
                return inside
            case "float", float() | int() | "nan" | "inf" | "-inf" if not isinstance(inside, bool):
                return round_int(inside, FLOAT64) if isinstance(inside, int) else float(inside)
            case "shape", list() if all(type(item) is int for item in inside):
                return Shape(inside)
            case "tuple", list():
                return tuple(self.value(item) for item in inside)
            case "null", _:
                return None
            case _:
                raise Misspelt(f"{_text(value)} is not a value")


def _tensor(value: Mapping[str, object], folder: Path) -> Tensor:
    kind, shape, inside = value.get("dtype"), value.get("shape"), value.get("values")
    name = value.get("file", "" if inside is None else "-")
    if not isinstance(kind, str) or not isinstance(name, str) or "/" in name or "\0" in name or name in ("", ".", ".."):
        raise Misspelt(f"{_text(value)} is not a tensor")
    if not isinstance(shape, list) or len(shape) > MOST_AXES or not all(type(n) is int and n >= 0 for n in shape):
        raise Misspelt(f"{_text(value)} is not a tensor: its shape is not a list of sizes")
    try:
        element_type = dtype(kind)
        stored = storage_dtype(element_type.scalar)
    except (KeyError, RefmlcError):
        raise Misspelt(f"{_text(value)} is not a tensor: there is no dtype `{kind[:SHORT]}`") from None
    count = prod(shape) * element_type.lanes
    spanned = prod(max(extent, 1) for extent in shape) * element_type.lanes * stored.itemsize  # NumPy counts it so
    if count * stored.itemsize > MOST_BYTES or spanned > MOST_SPANNED:
        raise Misspelt(f"{_text(value)} is too large")
    flat = (
        _from_line(inside, element_type.scalar, count)
        if "file" not in value
        else _from_file(folder / name, stored, count)
    )
    tensor = Tensor.empty(tuple(shape), element_type)
    if count:
        tensor.array[...] = flat.reshape(tensor.array.shape)
    tensor.mark_initialised()
    return tensor


def _from_file(path: Path, stored: "np.dtype[np.generic]", count: int) -> np.ndarray:
    raw = _bytes(path, count * stored.itemsize)
    return np.frombuffer(raw, stored.newbyteorder("<")).astype(stored) if count else np.zeros(0, stored)


def _from_line(values: object, kind: DType, count: int) -> np.ndarray:
    """The elements that stand in the line; floats are rounded to the dtype. Fails: `Misspelt`."""
    if not isinstance(values, list) or len(values) != count:
        raise Misspelt(f"a tensor of {count} elements needs as many `values`")
    flat = np.zeros(count, storage_dtype(kind))
    rounded = rounder(kind) if kind.is_float else float
    for number, value in enumerate(values):
        match value:
            case bool() if kind.kind == "bool":
                flat[number] = value
            case int() if not isinstance(value, bool) and kind.is_integer and kind.minimum <= value <= kind.maximum:
                flat[number] = value
            case float() | int() | "nan" | "inf" | "-inf" if kind.is_float and not isinstance(value, bool):
                flat[number] = rounded(float(value)) if not isinstance(value, int) else round_int(value, kind)
            case _:
                raise Misspelt(f"{_text(value)} is not an element of {kind}")
    return flat


def _bytes(path: Path, count: int) -> bytes:
    """The bytes of a file, which are as many: a link, pipe or device is not read, it may have no end."""
    try:
        status = path.lstat()
        if not S_ISREG(status.st_mode):
            raise Misspelt(f"its file `{path.name}` is not a regular file")
        if status.st_size != count:
            raise Misspelt(f"its file `{path.name}` has {status.st_size} bytes, shape and dtype make {count}")
        raw = path.read_bytes()
    except OSError as problem:
        raise Misspelt(f"its file `{path.name}`: {problem.strerror}") from None
    if len(raw) != count:
        raise Misspelt(f"its file `{path.name}` changed while it was read")
    return raw


def _text(value: object) -> str:
    text = repr(value)
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}…"
