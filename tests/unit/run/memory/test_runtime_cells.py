"""Cells and shadows of every dtype, any alignment; handles; tensors of vectors."""

import ml_dtypes
import numpy as np
import pytest

from refmlc.diag import Undefined, Unsupported
from refmlc.lang.dtypes import HANDLE, SCALARS, dtype
from refmlc.run.memory.cells import CodeCells, ShadowView, cells, shadow
from refmlc.run.memory.pointer import Pointer
from refmlc.run.memory.storage import Storage

VALUES = {
    "bool": (True, False),
    "int1": (-1, 0),
    "int2": (-2, 1),
    "int4": (-8, 7),
    "uint1": (1, 0),
    "uint2": (3, 0),
    "uint4": (15, 1),
    **{f"int{bits}": (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1) for bits in (8, 16, 32, 64)},
    **{f"uint{bits}": (2**bits - 1, 1) for bits in (8, 16, 32, 64)},
    "float16": (65504.0, -(2.0**-24)),
    "bfloat16": (1.0078125, -(2.0**-133)),
    "float32": (1.0 + 2.0**-23, -(2.0**-149)),
    "float64": (0.1, -5e-324),
    "float8_e3m4": (15.5, -(2.0**-6)),
    "float8_e4m3": (240.0, -(2.0**-9)),
    "float8_e4m3b11fnuz": (30.0, -(2.0**-13)),
    "float8_e4m3fn": (448.0, -(2.0**-9)),
    "float8_e4m3fnuz": (240.0, -(2.0**-10)),
    "float8_e5m2": (57344.0, -(2.0**-16)),
    "float8_e5m2fnuz": (57344.0, -(2.0**-17)),
    "float8_e8m0fnu": (2.0**127, 2.0**-127),
    "float6_e2m3fn": (7.5, -0.125),
    "float6_e3m2fn": (28.0, -0.0625),
    "float4_e2m1fn": (6.0, -0.5),
}
NUMPY = {
    **{name: np.dtype(name) for name in VALUES if hasattr(np, name) or name == "bool"},
    "int1": np.dtype(np.int8),
    "uint1": np.dtype(np.uint8),
}


def stored(name):
    return NUMPY.get(name) or np.dtype(getattr(ml_dtypes, name))


def test_every_dtype_is_here():
    assert set(VALUES) == set(SCALARS) - {"handle", "void"}


@pytest.mark.parametrize("offset", [0, 3, 8])
@pytest.mark.parametrize("name", VALUES)
def test_what_is_stored_is_read_and_numpy_sees_it(name, offset):
    numpy_dtype = stored(name)
    storage = Storage(offset + 4 * numpy_dtype.itemsize + 1)
    mine = cells(storage, dtype(name), offset, 4)
    assert len(mine) == 4
    mine[1], mine[3] = VALUES[name]
    assert (mine[1], mine[3]) == VALUES[name]
    assert type(mine[1]) is type(VALUES[name][0])
    array = np.ndarray(4, numpy_dtype, storage.array.data, offset)
    given = np.array(VALUES[name], np.uint64 if name == "uint64" else None)
    assert (array[1], array[3]) == tuple(given.astype(numpy_dtype))
    assert storage.array[: offset + numpy_dtype.itemsize].sum() == 0
    assert storage.array[-1] == 0


def test_bits_above_a_code_are_not_looked_at():
    storage = Storage(3)
    storage.array[:] = [0xF9, 0x09, 0x19]
    assert [cells(storage, dtype("int4"), 0, 3)[i] for i in range(3)] == [-7, -7, -7]
    assert [cells(storage, dtype("uint1"), 0, 3)[i] for i in range(3)] == [1, 1, 1]


def test_plain_dtypes_cost_no_python_code():
    storage = Storage(64)
    for name in ("bool", "int8", "uint16", "int32", "int64", "float32", "float64"):
        assert type(cells(storage, dtype(name), 0, 2)) is memoryview
    assert type(cells(storage, dtype("float16"), 0, 2)) is CodeCells


def test_no_cells():
    storage = Storage(0)
    for name in ("float32", "float16", "handle"):
        assert len(cells(storage, dtype(name), 0, 0)) == 0
        assert len(shadow(storage, dtype(name), 0, 0)) == 0


def test_a_vector_has_a_cell_per_lane():
    storage = Storage(32, unit=4)
    mine = cells(storage, dtype("float32x4"), 0, 2)
    assert len(mine) == 8
    mine[5] = 2.5
    assert storage.array.view(np.float32).tolist() == [0, 0, 0, 0, 0, 2.5, 0, 0]
    assert len(shadow(storage, dtype("float32x4"), 16, 1)) == 4


@pytest.mark.parametrize(("offset", "count"), [(-4, 1), (0, 3), (8, 1), (5, 1), (0, -1)])
def test_cells_lie_in_the_storage(offset, count):
    for make in (cells, shadow):
        with pytest.raises(Undefined) as failure:
            make(Storage(8, origin="`A`"), dtype("float32"), offset, count)
        assert failure.value.code.id == "RM313"


@pytest.mark.parametrize("name", ["void", "float32xvscalex4"])
def test_some_dtypes_have_no_place(name):
    with pytest.raises(Unsupported) as failure:
        cells(Storage(8), dtype(name), 0, 1)
    assert failure.value.code.id == "RM503"


def test_the_shadow_of_units_is_the_storage_s_own():
    storage = Storage(16, unit=4)
    mine = shadow(storage, dtype("float32"), 4, 2)
    assert type(mine) is memoryview
    mine[1] = 1
    assert bytes(storage.shadow) == b"\0\0\1\0"


def test_the_first_view_chooses_the_unit_where_it_fits():
    storage = Storage(16, unit=0)
    assert type(shadow(storage, dtype("float64"), 8, 1)) is memoryview
    assert storage.unit == 8
    crooked = Storage(16, unit=0)
    assert type(shadow(crooked, dtype("float32"), 2, 1)) is ShadowView
    assert crooked.unit == 1


def test_larger_cells_are_written_when_all_their_units_are():
    storage = Storage(8, unit=1)
    mine = shadow(storage, dtype("float32"), 0, 2)
    assert len(mine) == 2
    storage.initialise(0, 3)
    assert mine[0] == 0
    storage.initialise(3, 1)
    assert (mine[0], mine[1]) == (1, 0)
    mine[1] = 1
    assert storage.is_initialised(0, 8)
    mine[0] = 0
    assert bytes(storage.shadow) == b"\0\0\0\0\1\1\1\1"


def test_smaller_cells_do_not_make_a_unit_whole():
    storage = Storage(8, unit=4)
    whole = shadow(storage, dtype("float32"), 0, 2)
    small = shadow(storage, dtype("uint8"), 0, 8)
    small[0] = small[1] = small[3] = 1
    assert whole[0] == 0
    assert [small[i] for i in range(4)] == [1, 1, 0, 1]
    small[2] = 1
    assert whole[0] == 1


def test_handles_are_the_objects_that_were_stored():
    storage = Storage(24, unit=8)
    mine = cells(storage, HANDLE, 0, 3)
    target = Pointer(Storage(4), 2)
    mine[1] = target
    assert len(mine) == 3
    assert mine[0] is None
    assert mine[1] is target
    mine[1] = None
    assert mine[1] is None


def test_bytes_that_are_no_handle_do_not_point():
    storage = Storage(8, origin="`P`")
    storage.array[0] = 1
    with pytest.raises(Undefined) as failure:
        cells(storage, HANDLE, 0, 1)[0]
    assert failure.value.code.id == "RM313"


def test_pointers_move_by_bytes():
    storage = Storage(4)
    assert Pointer(storage, 1).moved(2) == Pointer(storage, 3)
    assert Pointer(storage) != Pointer(Storage(4))
