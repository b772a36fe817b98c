"""Values without a number in place of elements of a storage (PTX-024, TIA-024)."""

import pytest

from refmlc.run.memory.pointer import Numberless
from refmlc.run.memory.storage import Storage

VALUE = Numberless()


@pytest.fixture
def storage():
    made = Storage(24, unit=8)
    made.initialise(0, 24)
    made.hold(8, 8, VALUE)
    return made


def test_an_element_that_holds_one_counts_as_not_written(storage):
    assert storage.held_at(8, 8) is VALUE
    assert not storage.is_any_initialised(8, 8)
    assert storage.is_initialised(0, 8)
    assert storage.is_initialised(16, 8)


@pytest.mark.parametrize(("start", "nbytes"), [(0, 8), (8, 4), (12, 4), (16, 8)])
def test_other_bytes_hold_none(storage, start, nbytes):
    assert storage.held_at(start, nbytes) is None
    assert Storage(8).held_at(0, 8) is None


@pytest.mark.parametrize("written", [(8, 8), (8, 1), (15, 1), (0, 24)])
def test_a_write_takes_its_place(storage, written):
    storage.initialise(*written)
    assert storage.held_at(8, 8) is None


@pytest.mark.parametrize(
    ("forgotten", "left"), [((0, 24), None), ((8, 1), None), ((15, 1), None), ((0, 8), VALUE), ((16, 8), VALUE)]
)
def test_who_forgets_bytes_forgets_what_they_hold(storage, forgotten, left):
    storage.forget(*forgotten)
    assert storage.held_at(8, 8) is left
