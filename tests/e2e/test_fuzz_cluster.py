"""A campaign on a Dask cluster comes to what it comes to here, though a worker is killed while it runs."""

import json
import os
import signal
import subprocess
import sys
import time

import pytest
from campaigns import ENVIRONMENT, FAULTY, done, outcome, start

PROGRAMS, PATIENCE = "320", 120.0  # seconds


def dask(*words):
    """A process of the cluster."""
    command = [sys.executable, "-m", *words]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    return subprocess.Popen(command, env={**os.environ, **ENVIRONMENT}, **quiet)


def until(condition):
    """Wait for it."""
    end = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.05)


@pytest.fixture
def cluster(tmp_path):
    """The file that names the scheduler, and two workers."""
    file = tmp_path / "scheduler.json"
    scheduler = dask("distributed.cli.dask_scheduler", "--port", "0", "--no-dashboard", "--scheduler-file", str(file))
    until(file.exists)
    worker = ("distributed.cli.dask_worker", "--scheduler-file", str(file), "--nthreads", "1", "--no-nanny")
    workers = [dask(*worker, "--no-dashboard", "--local-directory", str(tmp_path / "space")) for _ in range(2)]
    yield file, workers
    for process in (*workers, scheduler):
        process.kill()
        process.wait()


def test_a_worker_of_the_cluster_may_be_killed(tmp_path, cluster):
    file, workers = cluster
    here, there = tmp_path / "here", tmp_path / "there"
    campaign = start(there, "--programs", PROGRAMS, "--scheduler", address(file), *FAULTY)
    until(lambda: done(there) >= 4 or campaign.poll() is not None)
    assert campaign.poll() is None
    workers[0].send_signal(signal.SIGKILL)
    assert campaign.wait(PATIENCE) == 1
    assert start(here, "--programs", PROGRAMS, *FAULTY).wait(PATIENCE) == 1
    assert outcome(there) == outcome(here)


def address(file):
    return json.loads(file.read_text("utf-8"))["address"]
