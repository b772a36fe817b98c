"""Whatever a program does to the process that runs it, its batch comes to a result, and the program is named."""

import os
import threading

import pytest

from refmlc.oracle.fuzz.cage import Cages, WorkerDied
from refmlc.oracle.fuzz.jobs import LATE_ONCE, NO_START, Batches
from refmlc.system.tree import started_by


@pytest.fixture
def done(stand_in, held):
    return lambda *says, **settings: Batches(stand_in(*says, **settings), held).done(1)


def blamed(result):
    return [(one.number, one.code, one.verdict) for one in result.findings if one.path == "worker"]


def test_a_batch_that_ends_well(done):
    result = done("wrong=5")
    assert (result.batch, result.programs) == (1, 8)
    assert result.verdicts == {"stand-in": {"equal": 6, "wrong": 2}}
    assert [one.number for one in result.findings] == [10, 15]
    assert result.cpu > 0
    assert result.memory > 1 << 20


@pytest.mark.parametrize(
    ("says", "code", "verdict", "told"),
    [
        ("crash=11", "RM703", "crashed", "the process was killed by SIGSEGV"),
        ("leave=8", "RM703", "crashed", "the process ended with status 3"),
        ("eat=15", "RM901", "crashed", "MemoryError"),
        ("raise=12", "RM901", "crashed", "KeyError: 12"),
    ],
)
def test_the_program_that_ends_its_process_is_named(done, says, code, verdict, told):
    result = done(says, "wrong=5")
    number = int(says.partition("=")[2])
    assert blamed(result) == [(number, code, verdict)]
    found = next(one for one in result.findings if one.path == "worker")
    assert found.message.startswith(told)
    assert found.case == {"text": f"program {number}"}
    assert result.programs == 8
    assert {one.number for one in result.findings if one.path == "stand-in"} == {10, 15} - {number}


def test_an_implementation_that_does_not_start_is_a_note_and_no_finding(done):
    result = done("late=12", "wrong=5")
    assert result.notes == {NO_START: 1}
    assert {finding.number for finding in result.findings} == {10, 15}
    assert result.programs == 8


def test_a_program_that_never_ends_is_named_and_is_no_finding(done):
    result = done("hang=9", "wrong=5", program_seconds=0.5)
    assert blamed(result) == []
    assert result.verdicts["worker"] == {"late": 1}
    assert result.notes == {"program 9 of `functions` timed out alone, twice": 1}
    assert {finding.number for finding in result.findings} == {10, 15}
    assert result.programs == 8


def test_a_program_that_is_late_once_runs_again_with_more_time(done):
    result = done("slow=0.8", "wrong=1", program_seconds=0.5, size=1)
    assert result.verdicts == {"stand-in": {"equal": 0, "wrong": 1}}
    assert result.notes == {LATE_ONCE: 1}
    assert [finding.number for finding in result.findings] == [1]


def test_several_culprits_in_one_batch(done):
    assert blamed(done("crash=9", "leave=14")) == [(9, "RM703", "crashed"), (14, "RM703", "crashed")]


def test_a_crash_that_no_program_repeats_is_a_finding_of_the_batch(done):
    result = done("flaky")
    (found,) = result.findings
    assert found.message.startswith("only the whole batch fails, no program alone: the process was killed by SIGSEGV")
    assert found.case == {}
    assert result.programs == 8


def test_workers_are_kept_and_replaced(stand_in, held):
    first = Batches(stand_in(), held).done(0).worker
    assert Batches(stand_in(), held).done(1).worker == first
    Batches(stand_in("crash=16"), held).done(2)
    assert Batches(stand_in(), held).done(3).worker != first


def test_no_process_is_left(stand_in):
    cages = Cages()
    with pytest.raises(WorkerDied, match="over"):
        Batches(stand_in("slow=60"), _closing(cages)).done(1)
    assert started_by(os.getpid()) == []


def _closing(cages):
    threading.Timer(1.0, cages.close).start()
    return cages
