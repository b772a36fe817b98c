"""A campaign comes to the same findings however often it is interrupted, and whatever its programs do."""

import time
from contextlib import closing

import pytest

from refmlc.diag import Malformed
from refmlc.oracle.fuzz import campaign
from refmlc.oracle.fuzz.campaign import Campaign
from refmlc.oracle.fuzz.jobs import place
from refmlc.oracle.fuzz.settings import RunOptions
from refmlc.oracle.fuzz.store import open_store, progress_in


class Interrupted(Exception):
    """Stands for Ctrl-C."""


def run(path, settings, ways, tick=lambda: None):
    store = open_store(path, settings)
    try:
        Campaign(store, ways, tick).run()
    finally:
        store.close()
    return progress_in(path)


def findings(progress):
    return {one.signature: (one.number, one.count, one.path) for one in progress.findings.values()}


def test_a_campaign_does_all_its_programs_once(tmp_path, stand_in):
    progress = run(tmp_path, stand_in("wrong=5"), RunOptions(programs=100, jobs=2, shrink=0))
    assert progress.done == set(range(13))
    assert progress.programs == 104
    assert progress.verdicts == {"stand-in": {"equal": 83, "wrong": 21}}
    assert sorted(number for number, _, _ in findings(progress).values()) == [0, 5, 10]
    assert progress.coverage == {"parity": {"even", "odd"}}


def test_it_goes_on_where_it_was(tmp_path, stand_in):
    settings, whole = stand_in("wrong=5", "crash=33", "hang=50", program_seconds=0.5), tmp_path / "whole"
    expected = run(whole, settings, RunOptions(programs=100, jobs=2, shrink=0))
    for programs in (8, 40, 100):
        progress = run(tmp_path / "parts", settings, RunOptions(programs=programs, shrink=0))
    assert findings(progress) == findings(expected)
    assert len(findings(progress)) == 4
    assert progress.verdicts == expected.verdicts
    assert progress.notes == expected.notes
    assert [note for note in progress.notes if note.startswith("program 50 ")] != []


def test_an_interrupt_loses_nothing_that_was_done(tmp_path, stand_in):
    def tick():
        if progress_in(tmp_path).programs:
            raise Interrupted

    settings = stand_in("wrong=5", "slow=0.05")
    with pytest.raises(Interrupted):
        run(tmp_path, settings, RunOptions(programs=400, shrink=0), tick)
    done = progress_in(tmp_path).programs
    assert 0 < done < 400
    assert run(tmp_path, settings, RunOptions(programs=400, shrink=0)).programs == 400


def test_it_ends_when_the_time_is_over(tmp_path, stand_in):
    progress = run(tmp_path, stand_in("slow=0.1"), RunOptions(seconds=1.0, shrink=0))
    assert 1 <= len(progress.done) < 200


def test_what_runs_when_the_time_is_over_ends_soon_and_is_done_again(tmp_path, stand_in, monkeypatch):
    monkeypatch.setattr(campaign, "LEFT", 2.0)
    settings, begin = stand_in("slow=60"), time.monotonic()
    with closing(open_store(tmp_path, settings)) as store:
        late = Campaign(store, RunOptions(seconds=0.5, shrink=0.5))
        late.run()
    assert time.monotonic() - begin < 0.5 + 0.5 + 2.0 + campaign.CLOSING
    assert late.cut == 1
    assert progress_in(tmp_path).done == set()


def test_a_reduction_that_begins_late_has_the_time_that_is_left(tmp_path, stand_in, monkeypatch):
    begun = []

    def reduction(_settings, _finding, seconds, until, **_workers):
        begun.append((seconds, until - time.time()))
        return {}

    monkeypatch.setattr(campaign, "shrink_job", reduction)
    run(tmp_path, stand_in("wrong=1"), RunOptions(seconds=0.2, shrink=600.0))
    assert all(seconds == 600.0 and 590.0 < left < 0.2 + 600.0 + campaign.LEFT for seconds, left in begun)
    assert begun
    assert progress_in(tmp_path).shrunk == {}  # another run does it


def test_the_time_begins_before_the_campaign(tmp_path, stand_in):
    with closing(open_store(tmp_path, stand_in())) as store:
        late = Campaign(store, RunOptions(seconds=3.0, shrink=0), started=time.monotonic() - 3.0)
        late.run()
    assert late.cut == 0
    assert 1 <= len(progress_in(tmp_path).done) <= campaign.AHEAD  # the first ones begin all the same


def test_jobs_that_are_lost_are_given_out_again(tmp_path, stand_in, monkeypatch):
    lost = [2, 1]
    monkeypatch.setattr("refmlc.oracle.fuzz.campaign.batch_job", _losing(lost))
    progress = run(tmp_path, stand_in(), RunOptions(programs=32, shrink=0))
    assert (progress.programs, lost) == (32, [])


def test_a_job_that_is_lost_again_and_again_ends_the_campaign(tmp_path, stand_in, monkeypatch):
    monkeypatch.setattr("refmlc.oracle.fuzz.campaign.batch_job", _losing([1] * 100))
    with pytest.raises(Malformed, match="batch 1 failed 4 times"):
        run(tmp_path, stand_in(), RunOptions(programs=32, shrink=0))


def _losing(numbers):
    from refmlc.oracle.fuzz.jobs import batch_job  # noqa: PLC0415 - the one that is replaced

    def job(settings, batch, workers=None):
        if batch in numbers:
            numbers.remove(batch)
            raise ConnectionError("a worker is gone")
        return batch_job(settings, batch, workers)

    return job


def test_there_must_be_a_scheduler(monkeypatch):
    monkeypatch.setattr("refmlc.oracle.fuzz.jobs.CONNECT", 1.0)
    with pytest.raises(Malformed, match="no scheduler responds"), place(RunOptions(scheduler="tcp://127.0.0.1:9")):
        pass


def test_reductions_do_not_go_on_long_after_the_time(tmp_path, stand_in, monkeypatch):
    def slow(_settings, _finding, seconds, _until, **_workers):
        time.sleep(seconds)
        return {"problem": "slow"}

    monkeypatch.setattr(campaign, "shrink_job", slow)
    settings = stand_in("wrong=1")
    first = run(tmp_path, settings, RunOptions(seconds=0.2, shrink=0.8))
    assert len(first.findings) == 3
    assert 1 <= len(first.shrunk) < 3
    later = run(tmp_path, settings, RunOptions(programs=1, shrink=0.1))
    assert later.shrunk.keys() == later.findings.keys()
