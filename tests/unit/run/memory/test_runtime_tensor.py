"""Tensors: views on storage, NumPy both ways, strides, what is initialised."""

import ml_dtypes
import numpy as np
import pytest

from refmlc.diag import Malformed, Undefined, Unsupported
from refmlc.lang.dtypes import FLOAT32, INT8, INT32, VOID, dtype
from refmlc.run.memory.budget import Budget
from refmlc.run.memory.initialisation import UninitialisedWarning
from refmlc.run.memory.storage import Storage
from refmlc.run.memory.tensor import Tensor, tensor


def code(failure):
    return failure.value.code.id


def test_a_fresh_tensor_holds_nothing():
    budget = Budget()
    fresh = Tensor.empty((2, 3), FLOAT32, origin="`Y`", budget=budget)
    assert (fresh.shape, fresh.size, fresh.ndim, fresh.itemsize, fresh.strides) == ((2, 3), 6, 2, 4, None)
    assert budget.bytes == 24
    assert not fresh.initialised
    assert "elements were never written" in repr(fresh)
    fresh.mark_initialised()
    assert fresh.initialised
    assert repr(fresh).startswith("Tensor((2, 3), float32)\n")


@pytest.mark.parametrize("shape", [(), (0,), (2, 0, 3)])
def test_no_axes_and_no_elements(shape):
    fresh = Tensor.empty(shape, FLOAT32)
    fresh.mark_initialised()
    assert fresh.numpy().shape == shape
    assert len(fresh.cells) == fresh.size == np.zeros(shape).size
    assert Tensor.from_numpy(fresh.numpy()).shape == shape
    assert np.from_dlpack(fresh).shape == shape


def test_numpy_shares_both_ways():
    array = np.arange(6, dtype=np.float32).reshape(2, 3)
    shared = Tensor.from_numpy(array)
    shared.cells[4] = 40.0
    assert array[1, 1] == 40
    back = shared.numpy()
    back[0, 2] = 20
    assert array[0, 2] == shared.cells[2] == 20
    assert np.shares_memory(array, back)
    assert shared.initialised
    assert np.asarray(shared).ctypes.data == array.ctypes.data
    assert np.array(shared, dtype=np.int32).tolist() == [[0, 1, 20], [3, 40, 5]]


def test_strided_arrays_are_shared():
    array = np.arange(24, dtype=np.int32).reshape(4, 6)[1::2, ::3]
    shared = Tensor.from_numpy(array)
    assert shared.strides == shared.element_strides == (12, 3)
    assert [shared.cells[i * 12 + j * 3] for i in range(2) for j in range(2)] == [6, 9, 18, 21]
    assert len(shared.cells) == len(shared.shadow) == 16
    assert shared.numpy().tolist() == array.tolist()
    assert shared.initialised


def test_transposed_and_broadcast_arrays():
    array = np.arange(6, dtype=np.int8).reshape(2, 3)
    assert Tensor.from_numpy(array.T).strides == (1, 3)
    repeated = Tensor.from_numpy(np.broadcast_to(array, (4, 2, 3)))
    assert repeated.strides == (0, 3, 1)
    assert not repeated.writable
    assert repeated.numpy().tolist() == [array.tolist()] * 4


def test_strides_that_mean_compact_are_compact():
    array = np.zeros((1, 5), np.float32)[:, :]
    assert Tensor.from_numpy(np.lib.stride_tricks.as_strided(array, strides=(400, 4))).strides is None
    assert Tensor(Storage(24), INT32, (2, 3), (3, 1)).element_strides == (3, 1)


def test_strides_of_axes_of_one_element_may_be_anything():
    array = np.zeros((1, 3), np.float32)
    for view in (array[::-1], np.lib.stride_tricks.as_strided(array, strides=(3, 4))):
        tensor = Tensor.from_numpy(view)
        tensor.cells[2] = 7.0
        assert (tensor.strides, array.tolist()) == (None, [[0, 0, 7]])
        array[0, 2] = 0


@pytest.mark.parametrize(
    ("array", "words"),
    [
        (np.zeros(3, np.complex64), "complex64"),
        (np.array(["a"]), "<U1"),
        (np.array([None]), "object"),
        (np.zeros(2, "f4,i4"), "f4"),
        (np.zeros(3, ">f4"), "foreign byte order"),
        (np.zeros(6, np.int32)[::-1], "negative strides"),
        (np.zeros(3, "i4,i2")["f0"], "not multiples of 4"),
    ],
)
def test_arrays_that_are_no_tensors(array, words):
    with pytest.raises(Malformed) as failure:
        Tensor.from_numpy(array)
    assert code(failure) == "RM111"
    assert words in str(failure.value)


def test_foreign_byte_order_is_refused_whatever_dtype_is_told():
    with pytest.raises(Malformed, match="foreign byte order"):
        Tensor.from_numpy(np.ones(3, np.dtype(np.float32).newbyteorder()), dtype("float32"))


def test_a_dtype_that_numpy_cannot_tell():
    shared = Tensor.from_numpy(np.array([0, -1], np.int8), dtype("int1"))
    assert [shared.cells[0], shared.cells[1]] == [0, -1]
    assert shared.dtype.element == "int1"


def test_vectors_have_their_lanes_as_last_axis():
    vectors = Tensor.empty((2,), dtype("float32x4"))
    assert (vectors.itemsize, len(vectors.cells), vectors.array.shape) == (16, 8, (2, 4))
    vectors.cells[6] = 3.0
    assert vectors.array[1, 2] == 3
    assert Tensor.empty((0,), dtype("float32x4")).numpy().shape == (0, 4)


def test_a_tensor_in_the_middle_of_a_storage():
    storage = Storage(32, unit=4)
    inner = Tensor(storage, INT32, (2,), byte_offset=8)
    inner.cells[1] = 5
    inner.shadow[1] = 1
    assert storage.array.view(np.int32).tolist() == [0, 0, 0, 5, 0, 0, 0, 0]
    assert bytes(storage.shadow) == b"\0\0\0\1\0\0\0\0"
    inner.mark_initialised()
    assert bytes(storage.shadow) == b"\0\0\1\1\0\0\0\0"


@pytest.mark.parametrize("offset", [-4, 4, 1])
def test_a_tensor_lies_in_its_storage(offset):
    with pytest.raises(Undefined) as failure:
        Tensor(Storage(8), INT32, (2,), byte_offset=offset)
    assert code(failure) == "RM304"


def test_negative_extents_and_strides():
    with pytest.raises(Undefined) as failure:
        Tensor.empty((2, -1), FLOAT32)
    assert code(failure) == "RM315"
    with pytest.raises(Malformed) as failure:
        Tensor(Storage(8), INT32, (2,), (-1,))
    assert code(failure) == "RM111"


@pytest.mark.parametrize("which", [VOID, dtype("int8xvscalex4")])
def test_dtypes_without_a_size(which):
    with pytest.raises(Unsupported) as failure:
        Tensor.empty((2,), which)
    assert code(failure) == "RM503"


def test_strided_marks_leave_the_gaps():
    storage = Storage(24, unit=4)
    view = Tensor(storage, INT32, (3,), (2,))
    assert not view.initialised
    view.mark_initialised()
    assert view.initialised
    assert bytes(storage.shadow) == b"\1\0\1\0\1\0"


def test_a_copy_knows_what_was_initialised():
    storage = Storage(24, unit=4)
    view = Tensor(storage, INT32, (3,), (2,))
    view.cells[2], view.shadow[2] = 7, 1
    copied = view.copy()
    assert copied.strides is None
    assert [copied.shadow[i] for i in range(3)] == [0, 1, 0]
    assert copied.array.tolist() == [0, 7, 0]
    view.mark_initialised()
    whole = view.copy(origin="a copy", budget=Budget())
    assert whole.initialised
    assert not np.shares_memory(whole.numpy(), view.numpy())


def test_reading_uninitialised_elements_out_is_allowed_and_told():
    fresh = Tensor.empty((3,), INT8)
    with pytest.warns(UninitialisedWarning):
        assert fresh.numpy().tolist() == [0, 0, 0]
    assert fresh.array.tolist() == [0, 0, 0]


def test_tensors_of_values():
    given = np.arange(3.0)
    made = tensor(given)
    given[0] = 9
    assert made.numpy().tolist() == [0, 1, 2]
    assert tensor([[1, 2]], "bfloat16").numpy().dtype == ml_dtypes.bfloat16
    assert tensor(1.5, "float32").shape == ()
    for wrong in ([[1], [1, 2]], "x", object()):
        with pytest.raises(Malformed) as failure:
            tensor(wrong)
        assert code(failure) == "RM111"


def test_results_outlive_their_storage():
    array = tensor(np.arange(1000), "int64").numpy()
    assert array.sum() == 499500
