"""Numbers, tensors and other values as TOML and JSON have them, bit by bit.

Large tensors are defined by a few numbers, so that they fit on a line of a case.

Element `i` counts from 0 in row-major order, lanes one after another; all arithmetic of `z` is modulo 2**64:

    z = (seed + 1) * 0xD1342543DE82EF95 + i * 0x9E3779B97F4A7C15
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9
    z = (z ^ z >> 27) * 0x94D049BB133111EB
    z = z ^ z >> 31

| generator | with                                | element `i`                                                      |
|-----------|-------------------------------------|------------------------------------------------------------------|
| `grid`    | `seed`, `low`, `high`, `scale`      | `(low + (z >> 32) mod (high - low + 1)) * scale`                 |
| `bits`    | `seed`                              | the value whose code is the lowest bits of `z`                   |
| `codes`   | `start`, `step`                     | the value whose code is `start + i * step`, modulo 2**bits       |
| `cycle`   | `start`, `step`, `modulus`, `scale` | `((start + i * step) mod modulus) * scale`, `mod` never negative |
| `fill`    | `value`                             | `value`                                                          |

`scale` is a float in hexadecimal, 1 where it is left out; every product must be exact in the dtype.

| value                           | is written                                                                        |
|---------------------------------|-----------------------------------------------------------------------------------|
| float                           | C99 hexadecimal, `"0x1.8p+1"`; `"inf"`, `"-inf"`, `"nan"` (NaN is one class)      |
| int, bool                       | itself; a string beyond 64 bits with sign                                         |
| element that was not written    | `"_"`                                                                             |
| tensor                          | `dtype`, `shape`, `values` row-major; floats of less than 32 bits have `bits` too |
| … of more than `MOST` elements  | `packed`: its bytes, zlib, base64; `written`: the same of one byte per element    |
| … by a rule                     | `generator` and its numbers (`generated`); or `"unwritten"`                       |
| … not compact, not at 0, locked | `strides`, `offset` in elements, `locked`                                         |
| tensor that came before         | `same`: the number of the argument                                                |
| number, shape, tuple            | `number` with `value`; `extents`; `tuple`                                         |
"""

import base64
import hashlib
import math
import zlib
from collections.abc import Mapping, Sequence
from typing import SupportsFloat, SupportsInt, TypeAlias, cast

import numpy as np

from refmlc.diag import fail
from refmlc.diag.catalogue import BAD_FILE, BAD_INPUT
from refmlc.lang.dtypes import DType, dtype
from refmlc.lang.dtypes.bits import from_bits, to_bits
from refmlc.lang.dtypes.storage import storage_dtype
from refmlc.lang.ops.contract import Scalar
from refmlc.oracle.parts import normal_codes
from refmlc.oracle.toml_text import Data
from refmlc.run.memory.storage import Storage
from refmlc.run.memory.tensor import Tensor
from refmlc.run.memory.values import Shape, kind_of


def number_data(value: Scalar) -> str | int | bool:
    if isinstance(value, float):
        return value.hex() if math.isfinite(value) else str(abs(value) if math.isnan(value) else value)
    return value if -(1 << 63) <= value < 1 << 63 else str(value)


def number_of(data: Data, kind: DType) -> Scalar:
    """The number that `number_data` wrote. Fails: RM109."""
    try:
        if kind.is_float and isinstance(data, str):
            return float(data) if data in ("nan", "inf", "-inf") else float.fromhex(data)
        if kind.kind == "bool" and isinstance(data, (bool, int)):
            return bool(data)
        if isinstance(data, (int, str)):
            return int(data)
    except ValueError:
        pass
    raise fail(BAD_FILE, f"{data!r} is not a value of {kind}")


Numbers: TypeAlias = "np.ndarray[tuple[int, ...], np.dtype[np.uint64]]"
START, STEP = 0xD1342543DE82EF95, 0x9E3779B97F4A7C15
FIRST, SECOND = 0xBF58476D1CE4E5B9, 0x94D049BB133111EB
WORD = (1 << 64) - 1
MOST_EXACT = 1 << 53  # what a float64 and an int64 both count to


def generated(data: Mapping[str, object], count: int, kind: DType) -> np.ndarray:
    """`count` elements of the scalar dtype `kind`, as its storage has them. Fails: RM109."""
    match data:
        case {"generator": "grid", "seed": int(seed), "low": int(low), "high": int(high)} if low <= high:
            spread = mixed(seed, count) >> np.uint64(32)
            return _scaled(low + (spread % np.uint64(high - low + 1)).astype(np.int64), data, kind)
        case {"generator": "bits", "seed": int(seed)}:
            return _of_codes(mixed(seed, count), kind)
        case {"generator": "codes", "start": int(start), "step": int(step)}:
            return _of_codes((start + np.arange(count, dtype=np.int64) * step).astype(np.uint64), kind)
        case {"generator": "cycle", "start": int(start), "step": int(step), "modulus": int(modulus)} if modulus > 0:
            return _scaled((start + np.arange(count, dtype=np.int64) * step) % modulus, data, kind)
        case {"generator": "fill", "value": (bool() | int() | str()) as value}:
            return np.full(count, number_of(value, kind)).astype(storage_dtype(kind))
    raise fail(BAD_FILE, f"not a generator: {dict(data)!r:.80}")


def mixed(seed: int, count: int) -> Numbers:
    """The `z` of the elements."""
    with np.errstate(over="ignore"):
        z = np.arange(count, dtype=np.uint64) * np.uint64(STEP) + np.uint64((seed + 1) * START & WORD)
        z = (z ^ z >> np.uint64(30)) * np.uint64(FIRST)
        z = (z ^ z >> np.uint64(27)) * np.uint64(SECOND)
        return z ^ z >> np.uint64(31)


def _scaled(numbers: np.ndarray, data: Mapping[str, object], kind: DType) -> np.ndarray:
    """The numbers times `scale`, exactly. Fails: RM109."""
    scale = data.get("scale", "0x1p+0")
    try:
        exact = numbers * float.fromhex(str(scale))
    except (ValueError, OverflowError):
        raise fail(BAD_FILE, f"the scale {scale!r} is not a hexadecimal float") from None
    with np.errstate(all="ignore"):
        scaled: np.ndarray = exact.astype(storage_dtype(kind))
        is_exact = np.array_equal(scaled.astype(np.float64), exact)
    if not is_exact or abs(exact).max(initial=0) > MOST_EXACT:
        raise fail(BAD_FILE, f"{dict(data)!r:.80} does not fit in {kind}")
    return scaled


def _of_codes(z: Numbers, kind: DType) -> np.ndarray:
    stored = storage_dtype(kind)
    low = z & np.uint64((1 << kind.bits) - 1)
    if kind.kind in ("int", "bool") and kind.bits not in (8, 16, 32, 64):
        signed = low.astype(np.int64)
        if kind.kind == "int":
            signed -= (signed >> (kind.bits - 1)) << kind.bits
        return signed.astype(stored)
    return low.astype(f"u{stored.itemsize}").view(stored)


MOST = 512
LARGEST = 1 << 28  # bytes that a packed tensor may have
UNWRITTEN = "_"


def tensor_data(tensor: Tensor) -> dict[str, Data]:
    """The elements of a tensor, in row-major order, lanes after one another."""
    kind = tensor.dtype.scalar
    data: dict[str, Data] = {"dtype": str(tensor.dtype), "shape": list(tensor.shape)}
    flat = np.ascontiguousarray(tensor.array).reshape(-1)
    mask = _written_mask(tensor)
    if flat.size > MOST or kind.kind == "handle":
        data["packed"] = _packed(flat.tobytes())
        if not all(mask):
            data["written"] = _packed(bytes(mask))
        return data
    values = [_value(item, kind) for item in flat.tolist()]
    data["values"] = [
        number_data(value) if is_written else UNWRITTEN for value, is_written in zip(values, mask, strict=True)
    ]
    if kind.is_float and kind.bits < 32:
        data["bits"] = [
            to_bits(kind, value) if is_written else -1 for value, is_written in zip(values, mask, strict=True)
        ]
    return data


def digest(tensor: Tensor) -> str:
    """SHA-256 of the codes of all elements in row-major order, each in its whole bytes, little-endian, NaN all ones."""
    codes = normal_codes(np.ascontiguousarray(tensor.array))
    return hashlib.sha256(codes.astype(codes.dtype.newbyteorder("<")).tobytes()).hexdigest()


def _value(item: SupportsFloat, kind: DType) -> Scalar:
    if kind.is_float:
        return float(item)
    return bool(item) if kind.kind == "bool" else int(cast("SupportsInt", item))


def _written_mask(tensor: Tensor) -> list[bool]:
    """Whether each cell was written, in the order of `tensor_data`."""
    if tensor.initialised:
        return [True] * (tensor.size * tensor.dtype.lanes)
    places = np.zeros(tensor.shape, np.int64)
    for axis, stride in enumerate(tensor.element_strides):
        line = np.arange(tensor.shape[axis]) * stride
        places += line.reshape([-1 if at == axis else 1 for at in range(tensor.ndim)])
    lanes, shadow = tensor.dtype.lanes, tensor.shadow
    return [bool(shadow[place * lanes + lane]) for place in places.reshape(-1).tolist() for lane in range(lanes)]


def _packed(data: bytes) -> str:
    return base64.b64encode(zlib.compress(data, 9)).decode()


def _unpacked(data: Data, size: int) -> bytes:
    """`size` bytes. Fails: RM109."""
    try:
        content = zlib.decompressobj().decompress(base64.b64decode(str(data), validate=True), size + 1)
    except (ValueError, zlib.error):
        content = b""
    if len(content) != size or size > LARGEST:
        raise fail(BAD_FILE, f"a packed tensor does not hold {size} bytes")
    return content


def tensor_of(data: Mapping[str, Data]) -> Tensor:
    """A fresh tensor that `tensor_data` wrote. Fails: RM109."""
    match data:
        case {"dtype": str(name), "shape": list(extents)} if all(isinstance(extent, int) for extent in extents):
            kind, shape = _dtype(name), tuple(int(str(extent)) for extent in extents)
        case _:
            raise fail(BAD_FILE, f"not a tensor: {dict(data)!r:.80}")
    tensor = Tensor.empty(shape, kind, origin="a recorded tensor")
    count = tensor.size * kind.lanes
    flat = np.zeros(count, storage_dtype(kind))
    mask = [True] * count
    if data.get("generator") == "unwritten":
        return tensor
    if "generator" in data:
        flat = generated(data, count, kind.scalar)
    elif "packed" in data:
        flat = np.frombuffer(_unpacked(data["packed"], count * flat.itemsize), flat.dtype).copy()
        mask = [bool(byte) for byte in _unpacked(data["written"], count)] if "written" in data else mask
    else:
        values = _listed(data.get("values"), count)
        mask = [value != UNWRITTEN for value in values]
        bits = _listed(data["bits"], count) if "bits" in data else None
        for number in range(count):
            if mask[number]:
                flat[number] = _element(values[number], None if bits is None else bits[number], kind.scalar)
    return _filled(tensor, flat, mask)


def _filled(tensor: Tensor, flat: np.ndarray, mask: Sequence[bool]) -> Tensor:
    array = tensor.array
    array[...] = flat.reshape(array.shape)
    if all(mask):
        tensor.mark_initialised()
    else:
        size = tensor.itemsize // tensor.dtype.lanes
        for number, is_written in enumerate(mask):
            if is_written:
                tensor.storage.initialise(number * size, size)
    return tensor


def _element(value: Data, bits: Data, kind: DType) -> Scalar:
    number = number_of(value, kind)
    if isinstance(bits, int):
        value_of_bits = from_bits(kind, bits)
        if value_of_bits != number and not (
            isinstance(number, float) and math.isnan(number) and math.isnan(value_of_bits)
        ):
            raise fail(BAD_FILE, f"{value!r} of {kind} does not have the bits {bits:#x}")
    return number


def _listed(data: Data, count: int) -> list[Data]:
    if not isinstance(data, list) or len(data) != count:
        raise fail(BAD_FILE, f"a tensor of {count} elements needs as many values")
    return data


def _dtype(name: str) -> DType:
    try:
        return dtype(name)
    except (KeyError, ValueError):
        raise fail(BAD_FILE, f"`{name}` is not a dtype") from None


# --------------------------------------------------------------------------------------------- arguments


def arguments_data(args: Sequence[object]) -> list[Data]:
    """The arguments of a call. Fails: RM111 for what cannot be recorded."""
    numbers_by_id: dict[int, int] = {}
    data: list[Data] = []
    for number, arg in enumerate(args):
        if id(arg) in numbers_by_id and isinstance(arg, Tensor):
            data.append({"same": numbers_by_id[id(arg)]})
            continue
        numbers_by_id[id(arg)] = number
        data.append(_argument(arg))
    return data


def _argument(arg: object) -> Data:
    match arg:
        case Tensor():
            data = tensor_data(arg)
            first = arg.byte_offset // arg.itemsize
            extra: dict[str, Data] = {} if arg.strides is None else {"strides": list(arg.strides)}
            return {
                **data,
                **extra,
                **({"offset": first} if first else {}),
                **({} if arg.writable else {"locked": True}),
            }
        case Shape():
            return {"extents": list(arg)}
        case tuple():
            return {"tuple": [_argument(item) for item in arg]}
        case bool():
            return {"number": "bool", "value": arg}
        case int() | float():
            return {"number": "float64" if isinstance(arg, float) else "int64", "value": number_data(arg)}
        case None:
            return {"null": True}
        case _:
            raise fail(BAD_INPUT, f"{kind_of(arg)} cannot be recorded")


def arguments_of(data: Sequence[Data]) -> list[object]:
    """Fresh arguments. Fails: RM109."""
    arguments: list[object] = []
    for item in data:
        arguments.append(_made(item, arguments))
    return arguments


def _made(data: Data, before: Sequence[object]) -> object:
    match data:
        case {"same": int(number)} if number < len(before):
            return before[number]
        case {"extents": list(extents)}:
            return Shape(int(str(extent)) for extent in extents)
        case {"tuple": list(items)}:
            return tuple(_made(item, before) for item in items)
        case {"number": str(name), "value": value}:
            return number_of(value, _dtype(name))
        case {"null": True}:
            return None
        case dict() if "dtype" in data:
            return _placed(tensor_of(data), data)
        case _:
            raise fail(BAD_FILE, f"not an argument: {data!r:.80}")


def _placed(tensor: Tensor, data: Mapping[str, Data]) -> Tensor:
    """The tensor with its strides, at its offset, locked where it is."""
    strides = data.get("strides")
    steps = tuple(int(str(step)) for step in strides) if isinstance(strides, list) else tensor.element_strides
    first = int(str(data.get("offset", 0)))
    if steps != tensor.element_strides or first:
        tensor = _moved(tensor, steps, first)
    if data.get("locked"):
        tensor.storage.array.flags.writeable = tensor.storage.writable = False
    return tensor


def _moved(tensor: Tensor, strides: tuple[int, ...], first: int) -> Tensor:
    reach = 1 + sum((extent - 1) * step for extent, step in zip(tensor.shape, strides, strict=True))
    size = tensor.itemsize
    nbytes = (first + (reach if tensor.size else 0)) * size
    if len(strides) != tensor.ndim or first < 0 or not 0 <= nbytes <= LARGEST:
        raise fail(BAD_FILE, f"a tensor of shape {tensor.shape} has the strides {strides}")
    storage = Storage(nbytes, unit=size // tensor.dtype.lanes, origin="a recorded tensor")
    copy = Tensor(storage, tensor.dtype, tensor.shape, strides, first * size)
    copy.array[...] = tensor.array
    for index in np.ndindex(*tensor.shape):
        old, new = (
            sum(at * step for at, step in zip(index, each.element_strides, strict=True)) * size + each.byte_offset
            for each in (tensor, copy)
        )
        if tensor.storage.is_initialised(old, size):
            storage.initialise(new, size)
    return copy
