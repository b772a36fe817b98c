"""Each planted fault of synchronisation is found with its code at its place; the correct kernels have no alarm."""

import pytest
from planted_faults import faults, faulty, is_found, is_right, judged, kernels, prove_itself

TEXTS = kernels()
FAULTS = faults(TEXTS)


def test_the_population_is_as_large_as_it_should_be():
    assert len(TEXTS) >= 10
    assert len(FAULTS) >= 40
    assert len({faulty(TEXTS[fault.kernel], fault) for fault in FAULTS}) == len(FAULTS)


def test_the_table_can_fail():
    prove_itself(TEXTS)


@pytest.mark.parametrize("name", TEXTS)
def test_a_correct_kernel_has_no_alarm_and_the_result_of_numpy(name):
    assert is_right(name, TEXTS[name]), judged(TEXTS[name])[0]


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: f"{fault.kernel}: {fault.what}")
def test_a_planted_fault_is_found_at_its_place(fault):
    found, verdict = is_found(TEXTS[fault.kernel], fault)
    assert found, (verdict.code, verdict.line)
