"""Names of dtypes, and the NumPy dtypes that hold their elements."""

import ml_dtypes
import numpy as np
import pytest

from refmlc.lang.dtypes import BOOL, FLOAT32, HANDLE, INT32, SCALARS, VOID, dtype
from refmlc.lang.dtypes.storage import dtype_of, itemsize, storage_dtype


def test_numpys_own():
    integers = [f"{kind}{bits}" for kind in ("int", "uint") for bits in (8, 16, 32, 64)]
    for name in ["bool", *integers, "float16", "float32", "float64"]:
        assert storage_dtype(dtype(name)) == np.dtype(name)
        assert dtype_of(np.dtype(name)) is dtype(name)
        assert itemsize(dtype(name)) == np.dtype(name).itemsize


def test_ml_dtypes():
    for name in ("bfloat16", "float8_e4m3fn", "float8_e8m0fnu", "float6_e2m3fn", "float4_e2m1fn", "int4", "uint2"):
        assert storage_dtype(dtype(name)) == np.dtype(getattr(ml_dtypes, name))
        assert dtype_of(np.dtype(getattr(ml_dtypes, name))) is dtype(name)
    assert itemsize(dtype("int4")) == 1
    assert itemsize(dtype("bfloat16")) == 2


def test_every_dtype_but_void_has_a_place():
    for row in SCALARS.values():
        if row is not VOID:
            assert storage_dtype(row).itemsize * 8 >= row.bits
    with pytest.raises(KeyError):
        storage_dtype(VOID)


def test_single_bits_and_handles():
    assert storage_dtype(dtype("int1")) == np.int8
    assert storage_dtype(dtype("uint1")) == np.uint8
    assert storage_dtype(HANDLE) == np.uint64


def test_byte_order_is_not_part_of_a_dtype():
    assert dtype_of(np.dtype(">f4")) is FLOAT32


def test_arrays_without_a_dtype():
    with pytest.raises(KeyError):
        dtype_of(np.dtype(np.complex64))


def test_lanes_multiply_the_size():
    assert itemsize(dtype("float32x4")) == 16
    assert storage_dtype(dtype("float32x4")) == np.float32


def test_names():
    assert str(dtype("int8x4")) == "int8x4"
    assert str(dtype("float32xvscalex4")) == "float32xvscalex4"
    assert dtype("float32xvscalex4").scalable
    assert dtype("float32xvscalex1").is_vector
    assert dtype("float32x4").scalar is FLOAT32
    assert dtype("float32x1") is FLOAT32
    assert dtype("float8_e4m3fnx2").lanes == 2
    assert dtype("float32").with_lanes(4) == dtype("float32x4")
    assert INT32.is_integer
    assert not BOOL.is_integer
    assert FLOAT32.is_float
    for wrong in ("float33", "int32x0", "", "x4", "int32x", "int32x-1", "complex64", "nonex4"):
        with pytest.raises(KeyError):
            dtype(wrong)


def test_ranges():
    assert (dtype("int8").minimum, dtype("int8").maximum) == (-128, 127)
    assert (dtype("uint8").minimum, dtype("uint8").maximum) == (0, 255)
    assert (dtype("int1").minimum, dtype("int1").maximum) == (-1, 0)
    with pytest.raises(KeyError):
        INT32.format  # noqa: B018 - the property raises


# dlpack.h 1.1, `DLDataTypeCode`; void is a handle of no bits.
KIND_CODES = {
    "int8": 0,
    "int64": 0,
    "uint1": 1,
    "uint32": 1,
    "float16": 2,
    "float32": 2,
    "float64": 2,
    "handle": 3,
    "void": 3,
    "bfloat16": 4,
    "bool": 6,
    "float8_e3m4": 7,
    "float8_e4m3": 8,
    "float8_e4m3b11fnuz": 9,
    "float8_e4m3fn": 10,
    "float8_e4m3fnuz": 11,
    "float8_e5m2": 12,
    "float8_e5m2fnuz": 13,
    "float8_e8m0fnu": 14,
    "float6_e2m3fn": 15,
    "float6_e3m2fn": 16,
    "float4_e2m1fn": 17,
    "float4_e2m1fnx4": 17,
}


@pytest.mark.parametrize("name", KIND_CODES)
def test_kinds_have_the_numbers_of_dlpack(name):
    assert dtype(name).kind_code == KIND_CODES[name]


def test_a_dtype_follows_from_its_number_and_bits():
    numbers = [row for row in SCALARS.values() if row.kind not in ("handle", "void")]
    assert len({(row.kind_code, row.bits) for row in numbers}) == len(numbers)
