"""Writes to bytes that open operations have read, against a count of writes for each byte (TIA-002)."""

import random

import pytest

from refmlc.run.memory.overwrites import is_overwritten, land, settle, watch
from refmlc.run.memory.reservations import Reserved
from refmlc.run.memory.storage import Storage


class Reader:
    """An operation that reads bytes from now on; `expected`: whether a byte was written since, by counting."""

    def __init__(self, storage, counts, start, nbytes):
        self._storage, self._counts, self._before = storage, counts, counts[start : start + nbytes]
        watch(storage, start, nbytes)
        self.item = Reserved(start, start + nbytes, False, self)
        storage.extras.reserved.add(self.item)

    @property
    def found(self):
        start, nbytes = self.item.start, self.item.end - self.item.start
        return self.item.overwritten or is_overwritten(self._storage, start, nbytes)

    @property
    def expected(self):
        return self._counts[self.item.start : self.item.end] != self._before


def read(storage, start, nbytes):
    return Reader(storage, [0] * storage.nbytes, start, nbytes)


def test_a_write_is_found_and_only_in_its_bytes():
    storage = Storage(16, unit=4, initialised=True)
    first, second = read(storage, 0, 8), read(storage, 8, 8)
    assert (first.found, second.found) == (False, False)
    storage.shadow[1] = 1
    assert (first.found, second.found) == (True, False)


def test_who_reads_later_does_not_hide_a_write_from_who_has_read_before():
    storage = Storage(16, unit=4, initialised=True)
    before = read(storage, 0, 16)
    storage.initialise(4, 4)
    after = read(storage, 4, 4)
    assert (before.found, after.found) == (True, False)


def test_parts_of_a_unit_are_told_apart():
    storage = Storage(8, unit=8, initialised=True)
    low, high = read(storage, 0, 4), read(storage, 4, 4)
    storage.initialise(4, 2)
    assert (low.found, high.found) == (False, True)
    storage.shadow[0] = 1
    assert (low.found, high.found) == (True, True)


def test_what_holds_no_number_is_a_write_too():
    storage = Storage(8, unit=8, initialised=True)
    reader = read(storage, 0, 8)
    storage.hold(0, 8, object())
    assert reader.found


def test_what_comes_in_order_is_no_write_for_its_readers():
    storage = Storage(8, unit=4)
    reader = read(storage, 0, 8)
    land(storage, 0, b"12345678")
    assert bytes(storage.bytes) == b"12345678"
    assert storage.is_initialised(0, 8)
    assert not reader.found
    storage.initialise(0, 4)
    assert reader.found


def test_read_memory_is_as_initialised_as_before():
    storage = Storage(12, unit=4)
    storage.initialise(0, 6)
    read(storage, 0, 6)
    assert [storage.is_initialised(at, 1) for at in range(12)] == [at < 6 for at in range(12)]
    assert storage.is_any_initialised(0, 4)
    assert storage.is_any_initialised(4, 4)
    assert not storage.is_any_initialised(6, 6)
    storage.initialise(6, 2)
    assert bytes(mark != 0 for mark in storage.shadow) == b"\1\1\0"


@pytest.mark.parametrize("unit", [1, 2, 4, 8, 16])
def test_marks_agree_with_counts(unit):
    drawn = random.Random(unit)  # noqa: S311 - a seed, no secret
    for _ in range(150):
        size = drawn.choice((16, 24, 30))
        storage, counts, readers = Storage(size, unit=unit, initialised=True), [0] * size, []
        for _ in range(12):
            start = drawn.randrange(size)
            nbytes = drawn.randint(1, size - start)
            match drawn.choice("rrwwuie"):
                case "r":
                    readers.append(Reader(storage, counts, start, nbytes))
                case "w":
                    storage.initialise(start, nbytes)
                    counts[start : start + nbytes] = [count + 1 for count in counts[start : start + nbytes]]
                case "u":
                    number = start // unit
                    storage.shadow[number] = 1
                    for at in range(number * unit, min(size, (number + 1) * unit)):
                        counts[at] += 1
                case "i":  # an operation in order with the readers
                    settle(storage, start, nbytes)
                    storage.forget(start, nbytes)
                    land(storage, start, bytes(nbytes))
                case "e" if readers:
                    reader = readers.pop(drawn.randrange(len(readers)))
                    assert reader.found == reader.expected
                    storage.extras.reserved.remove(reader.item)
            assert [reader.found for reader in readers] == [reader.expected for reader in readers]
        assert storage.is_initialised(0, size)
