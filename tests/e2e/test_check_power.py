"""`check` finds planted faults of compilers, at its defaults: the fast part of `check_power.py`."""

import os

import pytest
from check_power import FILES, OWN, WAYS, faults, innocents, prove_itself, shown, timed, tried, tvm_table
from power_innocents import kernels_of_free_sizes

EACH = 12  # one of so many is tried
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
def test_a_way_finds_every_fault(way):
    outcomes = {fault.name: timed(way, fault, 0) for fault in ALL}
    assert [name for name, outcome in outcomes.items() if not outcome.codes] == []
    assert [name for name, outcome in outcomes.items() if outcome.accused] == []


@pytest.mark.parametrize("source", OWN)
def test_correct_programs_are_not_accused(source):
    tries = [tried(innocent, 0) for innocent in list(innocents([source]))[::EACH]]
    assert [(trial.innocent.name, trial.accusations) for trial in tries if trial.accusations] == []
    assert sum(not trial.problem for trial in tries) >= 0.8 * len(tries)


def test_a_kernel_whose_size_its_caller_computes_is_undefined_at_others():
    """So it is no correct program alone, and `kernels` has it with its caller."""
    alone = list(kernels_of_free_sizes())
    assert {kernel.name.split()[0] for kernel in alone} == {"dynamic_strided_slice", "nonzero", "unique"}
    for kernel in alone:
        codes = {accusation.split()[0] for accusation in tried(kernel, 0).accusations}
        assert "RM304" in codes, kernel.name
        assert codes <= {"RM304", "RM305"}


@pytest.mark.needs("tvm")
def test_wrong_results_of_tvm_are_found():
    """Of each sixth program by generated calls; the list of those that are missed is in the table of the command."""
    lines = list(tvm_table(os.environ["REFMLC_TVM_PYTHON"], 1, "", EACH // 2))
    assert sum("1 of 1" in line for line in lines[:-1]) >= 0.7 * len(lines[:-1]), lines
