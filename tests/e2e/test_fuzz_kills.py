"""A campaign that is killed at random times, all its processes at once, loses nothing and doubles nothing."""

import os
import random
import signal
import time

import pytest
from campaigns import FAULTY, done, lines, outcome, start

SOON, LATE = 0.5, 4.0  # seconds


def killed_and_finished(path, kills, programs, jobs):
    """Kill a campaign so often, at random times, then let it end; how many batches were done at each kill."""
    roll = random.Random(kills)  # noqa: S311 - reproducible, not secret
    seen = []
    for _ in range(kills):
        process = start(path, "--programs", programs, "--jobs", jobs, *FAULTY)
        time.sleep(roll.uniform(SOON, LATE))
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        seen.append(done(path))
    assert start(path, "--programs", programs, "--jobs", jobs, *FAULTY).wait() == 1
    return seen


def compare(tmp_path, kills, programs, jobs):
    seen = killed_and_finished(tmp_path / "killed", kills, programs, jobs)
    assert start(tmp_path / "whole", "--programs", programs, "--jobs", jobs, *FAULTY).wait() == 1
    assert outcome(tmp_path / "killed") == outcome(tmp_path / "whole")
    assert sorted(lines(tmp_path / "killed")) == list(range(int(programs) // 8))
    assert len(outcome(tmp_path / "whole")[3]) >= 2
    names = {path.name for path in (tmp_path / "whole" / "findings").glob("*.toml")}
    assert {path.name for path in (tmp_path / "killed" / "findings").glob("*.toml")} == names
    return seen


def test_a_killed_campaign_comes_to_the_same(tmp_path):
    compare(tmp_path, 2, "64", "2")


@pytest.mark.soak
def test_a_campaign_killed_twenty_times_comes_to_the_same(tmp_path):
    seen = compare(tmp_path, 20, "8000", "2")
    assert len(set(seen)) > 10
