"""Storage: bytes, the shadow with its units, partial units, budgets, kills."""

import numpy as np
import pytest

from refmlc.diag import Exhausted, Undefined
from refmlc.run.memory.budget import Budget
from refmlc.run.memory.storage import Storage


def test_fresh_memory_is_zero_and_not_initialised():
    storage = Storage(12, unit=4)
    assert storage.bytes.tolist() == [0] * 12
    assert bytes(storage.shadow) == b"\0\0\0"
    assert not storage.is_initialised(0, 12)
    assert storage.is_initialised(4, 0)


def test_initialised_on_request():
    assert Storage(10, unit=4, initialised=True).is_initialised(0, 10)


def test_part_of_a_unit_does_not_make_it_whole():
    storage = Storage(8, unit=4)
    storage.initialise(1, 2)
    assert bytes(storage.shadow) == b"\0\0"
    assert storage.is_initialised(1, 2)
    assert not storage.is_initialised(0, 2)
    storage.initialise(0, 1)
    assert bytes(storage.shadow) == b"\0\0"
    storage.initialise(3, 1)
    assert bytes(storage.shadow) == b"\1\0"
    assert storage.partial == {}


def test_a_range_over_several_units_marks_its_whole_ones_and_its_ends():
    storage = Storage(16, unit=4)
    storage.initialise(2, 11)
    assert bytes(storage.shadow) == b"\0\1\1\0"
    assert [storage.is_initialised(at, 1) for at in range(16)] == [2 <= at < 13 for at in range(16)]


def test_the_last_unit_may_be_short():
    storage = Storage(6, unit=4)
    storage.initialise(4, 1)
    assert bytes(storage.shadow) == b"\0\0"
    storage.initialise(5, 1)
    assert bytes(storage.shadow) == b"\0\1"
    other = Storage(6, unit=4)
    other.initialise(0, 6)
    assert bytes(other.shadow) == b"\1\1"


def test_a_mark_on_a_whole_unit_leaves_it_whole():
    storage = Storage(8, unit=4)
    storage.initialise(1, 1)
    storage.shadow[0] = 1
    storage.initialise(2, 1)
    assert bytes(storage.shadow) == b"\1\0"
    assert storage.partial == {}


def test_forgetting_a_byte_keeps_the_others_of_its_unit():
    storage = Storage(8, unit=4, initialised=True)
    storage.forget(1, 1)
    assert [storage.is_initialised(at, 1) for at in range(8)] == [True, False, True, True, True, True, True, True]
    storage.forget(0, 8)
    assert not any(storage.is_initialised(at, 1) for at in range(8))


def test_the_first_view_decides_an_open_unit():
    storage = Storage(8, unit=0)
    storage.settle(4)
    storage.settle(1)
    assert storage.unit == 4
    assert len(storage.shadow) == 2
    assert len(Storage(8, unit=0).shadow) == 8


def test_the_budget_is_charged_until_the_storage_goes():
    budget = Budget(max_bytes=100)
    storage = Storage(60, budget=budget)
    assert budget.bytes == 60
    with pytest.raises(Exhausted) as failure:
        Storage(60, budget=budget, origin="`Y`")
    assert failure.value.code.id == "RM603"
    assert "`Y` takes 60 bytes, 40 of 100 bytes are left" in str(failure.value)
    assert budget.bytes == 60
    storage.kill()
    assert budget.bytes == 0
    assert not storage.alive
    del storage
    assert budget.bytes == 0
    other = Storage(70, budget=budget)
    assert budget.bytes == 70
    del other
    assert budget.bytes == 0


def test_a_kill_takes_the_values_from_views_made_before():
    storage = Storage(8, unit=4, initialised=True)
    view = memoryview(storage.shadow)
    storage.forget(0, 1)
    storage.kill()
    assert view.tolist() == [0, 0]
    assert storage.partial == {}


def test_a_negative_size_is_undefined():
    with pytest.raises(Undefined) as failure:
        Storage(-4, origin="`Y`")
    assert failure.value.code.id == "RM315"


@pytest.mark.parametrize("nbytes", [10 * 10**12, 1 << 62, 1 << 70])
def test_what_the_machine_does_not_have_is_exhausted(nbytes, monkeypatch):
    def no_memory(*_):
        raise MemoryError

    monkeypatch.setattr(np, "zeros", no_memory)
    budget = Budget(max_bytes=1 << 80)
    with pytest.raises(Exhausted) as failure:
        Storage(nbytes, budget=budget)
    assert failure.value.code.id == "RM603"
    assert budget.bytes == 0


def test_ten_terabytes_are_refused_before_they_are_asked_for():
    with pytest.raises(Exhausted) as failure:
        Storage(10 * 10**12, budget=Budget())
    assert failure.value.code.id == "RM603"


def test_arrays_are_shared_strided_ones_from_their_lowest_byte():
    array = np.arange(12, dtype=np.float32).reshape(3, 4)[:, 1:3]
    storage = Storage.from_array(array, origin="an input")
    assert storage.nbytes == (2 * 4 + 2) * 4
    assert storage.unit == 4
    assert storage.writable
    assert storage.is_initialised(0, storage.nbytes)
    storage.array.view(np.float32)[0] = 50
    assert array[0, 0] == 50
    assert Storage.from_array(np.zeros((0, 3))).nbytes == 0


def test_backward_arrays_begin_at_their_last_element():
    array = np.arange(4, dtype=np.int32)
    storage = Storage.from_array(array[::-1])
    assert storage.array.view(np.int32).tolist() == [0, 1, 2, 3]


def test_read_only_memory_stays_read_only():
    array = np.zeros(2)
    array.flags.writeable = False
    storage = Storage.from_array(array)
    assert not storage.writable
    assert storage.bytes.readonly


def test_the_array_lives_as_long_as_the_storage():
    array = np.full(1000, 7, np.int64)
    storage = Storage.from_array(array)
    del array
    assert storage.array.view(np.int64).sum() == 7000


def test_a_small_mark_inside_one_unit_forgets_and_returns():
    storage = Storage(16, unit=8, initialised=True)
    storage.forget(2, 3)
    assert not storage.is_initialised(0, 8)
    assert storage.is_initialised(5, 11)
    storage.initialise(2, 3)
    assert bytes(storage.shadow) == b"\1\1"


@pytest.mark.parametrize("nbytes", [1, 64, 1000])
def test_memory_is_aligned_as_tvm_wants_it(nbytes):
    kept = [Storage(nbytes) for _ in range(5)]
    assert all(storage.array.ctypes.data % 64 == 0 for storage in kept)
    assert all(storage.nbytes == len(storage.bytes) == nbytes for storage in kept)


def test_pieces_share_bytes_and_not_what_was_written():
    whole = Storage(32, unit=0, initialised=True)
    first = Storage.piece_of(whole, 0, 16, 4, origin="`a`")
    second = Storage.piece_of(whole, 16, 16, 4)
    first.array[3] = 7
    assert whole.array[3] == 7
    assert not first.is_initialised(0, 16)
    third = Storage.piece_of(whole, 8, 4, 4)
    assert (first.alive, second.alive, third.alive) == (False, True, True)
    del second
    assert Storage.piece_of(whole, 16, 16, 4).alive
    assert third.whole is whole


def test_forgetting_drops_what_was_half_written_between():
    storage = Storage(16, unit=4)
    for at in (1, 5, 9, 13):
        storage.initialise(at, 2)
    storage.forget(2, 12)
    assert [at for at in range(16) if storage.is_initialised(at, 1)] == [1, 14]
    storage.forget(3, 0)
    assert storage.is_initialised(1, 1)
