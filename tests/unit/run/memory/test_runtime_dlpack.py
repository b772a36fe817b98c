"""DLPack: NumPy and PyTorch share memory with tensors, in both directions, for every dtype that it has."""

import gc
import tracemalloc

import ml_dtypes
import numpy as np
import pytest
from needs import imported

from refmlc.diag import Malformed, Unsupported
from refmlc.lang.dtypes import BFLOAT16, BOOL, FLOAT16, FLOAT32, INT32, SCALARS, dtype
from refmlc.run.memory.tensor import Tensor

SHARED = ("bool", "float16", "bfloat16", "float32", "float64", "int8", "int16", "int32", "int64", "uint8")
PACKED = ("int1", "int2", "int4", "uint1", "uint2", "uint4", "float6_e2m3fn", "float6_e3m2fn", "float4_e2m1fn")


@pytest.fixture
def torch():
    return imported("torch")


def memory(shape, kind):
    """A tensor whose memory counts as written."""
    made = Tensor.empty(shape, kind)
    made.mark_initialised()
    return made


class Producer:
    """An object of another library, as old or as odd as the test needs."""

    def __init__(self, give, device=(1, 0)):
        self._give, self._device = give, device

    def __dlpack__(self, **named):
        return self._give(**named)

    def __dlpack_device__(self):
        return self._device


@pytest.mark.parametrize("name", SHARED)
def test_torch_shares_our_memory(torch, name):
    ours = memory((2, 3), dtype(name))
    theirs = torch.from_dlpack(ours)
    assert str(theirs.dtype) == f"torch.{name}"
    assert theirs.data_ptr() == ours.numpy().ctypes.data
    theirs[1, 2] = 1
    assert ours.cells[5] == 1


@pytest.mark.parametrize("name", SHARED)
def test_we_share_torch_s_memory(torch, name):
    theirs = torch.zeros(4, 3).to(getattr(torch, name))
    ours = Tensor.from_dlpack(theirs)
    assert (ours.dtype, ours.shape, ours.writable) == (dtype(name), (4, 3), True)
    ours.cells[4] = dtype(name).kind == "bool" or 1
    assert theirs[1, 1] == 1
    part = Tensor.from_dlpack(theirs[::2, 1:])
    assert part.strides == (6, 1)
    assert part.numpy().ctypes.data == theirs[::2, 1:].data_ptr()


@pytest.mark.parametrize("name", [name for name in SCALARS if name.startswith("float8_")])
def test_float8_goes_where_torch_has_it(torch, name):
    ours = memory((2,), dtype(name))
    ours.cells[0] = 2.0
    if not hasattr(torch, name):
        with pytest.raises(BufferError):
            torch.from_dlpack(ours)
        return
    theirs = torch.from_dlpack(ours)
    assert theirs.to(torch.float32)[0] == 2
    assert Tensor.from_dlpack(theirs).cells[0] == 2.0


def test_numpy_takes_what_it_knows():
    ours = Tensor.from_numpy(np.arange(6, dtype=np.int32).reshape(2, 3)[:, ::2])
    theirs = np.from_dlpack(ours)
    theirs[1, 1] = 50
    assert ours.numpy()[1, 1] == 50
    assert np.from_dlpack(memory((2,), BOOL)).dtype == np.bool_


def test_read_only_memory_says_so():
    array = np.zeros(3, np.float32)
    array.flags.writeable = False
    theirs = np.from_dlpack(Tensor.from_numpy(array))
    assert not theirs.flags.writeable
    with pytest.raises(BufferError):
        Tensor.from_numpy(array).__dlpack__()


@pytest.mark.parametrize("name", PACKED)
def test_elements_of_less_than_a_byte_are_not_exchanged(name):
    with pytest.raises(Unsupported) as failure:
        memory((2,), dtype(name)).__dlpack__()
    assert failure.value.code.id == "RM503"
    assert name in str(failure.value)


def test_handles_are_not_exchanged():
    with pytest.raises(Unsupported):
        memory((2,), SCALARS["handle"]).__dlpack__()


def test_devices_and_copies():
    ours = memory((2,), BFLOAT16)
    assert ours.__dlpack_device__() == (1, 0)
    with pytest.raises(BufferError):
        ours.__dlpack__(dl_device=(2, 0))
    copied = Tensor.from_dlpack(Producer(lambda **_: ours.__dlpack__(copy=True, dl_device=(1, 0))))
    assert not np.shares_memory(copied.numpy().view(np.uint16), ours.numpy().view(np.uint16))


def test_memory_lives_as_long_as_somebody_looks(torch):
    ours = Tensor.from_numpy(np.full(10_000, 3, ml_dtypes.bfloat16))
    theirs = torch.from_dlpack(ours)
    del ours
    gc.collect()
    assert theirs.to(torch.float32).sum() == 30_000
    back = Tensor.from_dlpack(theirs)
    del theirs
    gc.collect()
    assert back.numpy().astype(np.float32).sum() == 30_000


def test_capsules_that_nobody_takes_are_freed():
    size, count = 2000, 100
    tracemalloc.start()
    for _ in range(count):
        memory((size,), FLOAT16).__dlpack__(max_version=(1, 0))
    kept, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert kept < size * count


def test_old_producers_do_not_know_versions():
    array = np.arange(3, dtype=np.float32)

    def old(**named):
        if named:
            raise TypeError("unexpected keyword argument")
        return array.__dlpack__()

    ours = Tensor.from_dlpack(Producer(old))
    assert ours.numpy().ctypes.data == array.ctypes.data
    assert not ours.writable, "an old capsule does not say whether it may be written"


def test_tensors_give_old_capsules_too():
    ours = memory((2,), FLOAT32)
    again = Tensor.from_dlpack(Producer(lambda **_: ours.__dlpack__()))
    assert np.shares_memory(again.numpy(), ours.numpy())


@pytest.mark.parametrize("source", [3, "x", object(), {"a": 1}])
def test_what_is_no_tensor(source):
    with pytest.raises(Malformed) as failure:
        Tensor.from_dlpack(source)
    assert failure.value.code.id == "RM111"
    assert type(source).__name__ in str(failure.value)


def test_arrays_do_not_need_dlpack():
    with pytest.raises(Malformed):
        Tensor.from_dlpack(np.zeros(3))


def test_other_devices_are_said():
    with pytest.raises(Unsupported) as failure:
        Tensor.from_dlpack(Producer(None, (2, 0)))
    assert failure.value.code.id == "RM505"


def test_devices_that_are_none(torch):
    with pytest.raises(Malformed) as failure:
        Tensor.from_dlpack(torch.zeros(2, device="meta"))
    assert failure.value.code.id == "RM111"


def test_tensors_that_want_gradients(torch):
    with pytest.raises(Malformed) as failure:
        Tensor.from_dlpack(torch.zeros(2, requires_grad=True))
    assert failure.value.code.id == "RM111"


def test_things_that_are_no_capsules():
    used = np.zeros(2, np.float32).__dlpack__()
    np.from_dlpack(Producer(lambda **_: used))
    for given in (used, 5):
        with pytest.raises(Malformed) as failure:
            Tensor.from_dlpack(Producer(lambda given=given, **_: given))
        assert failure.value.code.id == "RM111"


def test_complex_is_not_read(torch):
    with pytest.raises(Unsupported) as failure:
        Tensor.from_dlpack(torch.zeros(2, dtype=torch.complex64))
    assert failure.value.code.id == "RM503"


def test_results_of_int32_stay_int32():
    assert Tensor.from_dlpack(memory((2,), INT32)).dtype == INT32
