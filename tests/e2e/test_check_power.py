"""`check` finds planted faults of compilers, at its defaults: the fast part of `check_power.py`, with floors."""

import pytest
from check_power import FILES, WAYS, faults, prove_itself, shown, timed

FLOORS = {"check": 0.8, "equivalent": 0.7, "stages": 0.8}
ALL = [fault for file in FILES for fault in faults(file)]


def test_the_measure_can_fail_and_can_pass():
    prove_itself()


def test_faults_are_as_many_and_as_different_as_promised():
    first = faults("faults")
    assert len(first) >= 60
    assert len({fault.name for fault in ALL}) == len(ALL)
    assert all(fault.module != fault.faulty and fault.seen for fault in ALL)


@pytest.mark.parametrize("fault", [fault for fault in ALL if fault.shows is not None], ids=lambda fault: fault.name)
def test_a_fault_that_not_every_call_shows_is_one(fault):
    assert shown(fault)


@pytest.mark.parametrize("way", WAYS)
def test_a_way_finds_its_share_of_the_faults(way):
    outcomes = {fault.name: timed(way, fault, 0) for fault in faults("faults")}
    missed = [name for name, outcome in outcomes.items() if not outcome.codes]
    assert 1 - len(missed) / len(outcomes) >= FLOORS[way], missed
    assert [name for name, outcome in outcomes.items() if outcome.accused] == []
