"""DLPack, both ways without copies, for every dtype that it can express with whole bytes per element.

NumPy makes and takes the capsules and owns their lifetime. It does not know the dtypes of ml_dtypes: their arrays go
through the unsigned integer of the same size, and the code of the dtype (`DType.kind_code`) is written into, or read
from, the capsule.

Elements of less than a byte are packed in DLPack and are not in refmlc: they are not exchanged.
Source: dlpack.h, version 1.1.
"""

import ctypes
from collections.abc import Callable
from typing import TYPE_CHECKING, cast

import numpy as np

from refmlc.diag import fail
from refmlc.diag.catalogue import BAD_INPUT, UNSUPPORTED_DEVICE, UNSUPPORTED_DTYPE
from refmlc.lang.dtypes import SCALARS, DType
from refmlc.lang.dtypes.dtype import KIND_CODES
from refmlc.lang.dtypes.storage import storage_dtype

if TYPE_CHECKING:
    from typing_extensions import CapsuleType

CPU = (1, 0)

NATIVE = (0, 1, 2)
"""The kinds that NumPy knows: int, uint, float."""
_VERSIONED = b"dltensor_versioned"
_NAMES = (b"dltensor", _VERSIONED)


class DLDataType(ctypes.Structure):
    """Kind, bits of one lane, lanes."""

    _fields_ = (("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16))


class DLTensor(ctypes.Structure):
    """A tensor as C sees it. Units: `strides` in elements, `byte_offset` in bytes."""

    _fields_ = (
        ("data", ctypes.c_void_p),
        ("device_type", ctypes.c_int32),
        ("device_id", ctypes.c_int32),
        ("ndim", ctypes.c_int32),
        ("dtype", DLDataType),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    )


class _ManagedVersioned(ctypes.Structure):
    """The head of a `dltensor_versioned` capsule."""

    _fields_ = (
        ("version", ctypes.c_uint32 * 2),
        ("manager", ctypes.c_void_p),
        ("deleter", ctypes.c_void_p),
        ("flags", ctypes.c_uint64),
        ("tensor", DLTensor),
    )


_capsule_name = ctypes.pythonapi.PyCapsule_GetName
_capsule_name.restype, _capsule_name.argtypes = ctypes.c_char_p, (ctypes.py_object,)
_capsule_pointer = ctypes.pythonapi.PyCapsule_GetPointer
_capsule_pointer.restype, _capsule_pointer.argtypes = ctypes.c_void_p, (ctypes.py_object, ctypes.c_char_p)


def exchanged(dtype: DType) -> bool:
    """True if the elements of the dtype are numbers and whole bytes in DLPack."""
    return dtype.kind not in ("handle", "void") and dtype.bits % 8 == 0


def code_of(dtype: DType) -> int:
    """DLPack's code of a dtype. Fails: RM503 if it has none with whole bytes per element."""
    if not exchanged(dtype):
        raise fail(UNSUPPORTED_DTYPE, f"{dtype} cannot be exchanged through DLPack")
    return dtype.kind_code


def export_array(
    array: np.ndarray,
    dtype: DType,
    *,
    max_version: tuple[int, int] | None,
    dl_device: tuple[int, int] | None,
    copy: bool | None,
) -> object:
    """The capsule of `array`, whose elements (lanes) are of `dtype`."""
    code = code_of(dtype)
    if dl_device is not None and dl_device != CPU:
        raise BufferError("refmlc's tensors lie in the memory of the CPU")
    if copy:
        array = array.copy()
    foreign = code not in NATIVE
    plain = array.view(f"u{array.itemsize}") if foreign else array
    capsule = _capsule(plain.__dlpack__, max_version)
    if foreign:
        _described(capsule).code = code
    return capsule


def import_array(source: object) -> tuple[np.ndarray, DType]:
    """The memory of a DLPack object as an array, and the dtype of its elements."""
    if isinstance(source, np.ndarray):
        raise fail(BAD_INPUT, "an array is taken as it is, not through DLPack")
    device = getattr(source, "__dlpack_device__", None)
    export = getattr(source, "__dlpack__", None)
    if device is None or export is None:
        raise fail(BAD_INPUT, f"an object of type {type(source).__qualname__} is no array and has no `__dlpack__`")
    try:
        place = device()
        if place[0] != CPU[0]:
            raise fail(UNSUPPORTED_DEVICE, f"the tensor lies on device {tuple(place)} of DLPack, not on the CPU")
        capsule = _capsule(export, (1, 0))
        described = _described(capsule)
    except (BufferError, RuntimeError, ValueError) as reason:
        raise fail(BAD_INPUT, f"the tensor does not give its memory: {reason}") from None
    dtype = _dtype(described)
    foreign = dtype.kind_code not in NATIVE and dtype.kind != "bool"
    if foreign:
        described.code = KIND_CODES["uint"]
    array: np.ndarray = np.from_dlpack(_Capsule(cast("CapsuleType", capsule)))
    return (array.view(storage_dtype(dtype)) if foreign else array), dtype


class _Capsule:
    """A capsule in the form that `numpy.from_dlpack` needs."""

    __slots__ = ("_capsule",)

    def __init__(self, capsule: "CapsuleType") -> None:
        self._capsule = capsule

    def __dlpack_device__(self) -> tuple[int, int]:
        return CPU

    def __dlpack__(self, *, stream: None = None, **_: object) -> "CapsuleType":
        del stream
        return self._capsule


def _capsule(export: Callable[..., object], max_version: tuple[int, int] | None) -> object:
    """The capsule; producers from before version 1 of the protocol do not know `max_version`."""
    if max_version is None or max_version[0] < 1:
        return export()
    try:
        return export(max_version=max_version)
    except TypeError:
        return export()


def _described(capsule: object) -> DLDataType:
    """The dtype in a capsule, to read and to overwrite."""
    name: bytes = _capsule_name(capsule)
    if name not in _NAMES:
        raise ValueError(f"its capsule is named {name!r}")
    address: int = _capsule_pointer(capsule, name)
    tensor = _ManagedVersioned.from_address(address).tensor if name == _VERSIONED else DLTensor.from_address(address)
    described: DLDataType = tensor.dtype
    return described


def _dtype(described: DLDataType) -> DType:
    code, bits, lanes = described.code, described.bits, described.lanes
    for row in SCALARS.values():
        if (code, bits, lanes) == (row.kind_code, row.bits, 1) and exchanged(row):
            return row
    raise fail(UNSUPPORTED_DTYPE, f"DLPack's dtype with code {code}, {bits} bits, {lanes} lanes is not read")
