"""The processes that a worker keeps: one for the same arguments, ended together, and none is left."""

import json
import os
import shlex
import subprocess
import sys
import time
from pathlib import Path

import pytest
from needs import TVM_PYTHON

from refmlc.oracle.fuzz import batch, kept_processes
from refmlc.oracle.fuzz.cage import WorkerDied
from refmlc.oracle.fuzz.jobs import Batches
from refmlc.oracle.fuzz.kept_processes import end_kept, kept
from refmlc.oracle.fuzz.settings import CampaignSettings
from refmlc.system.tree import started_by

ADAPTER = """
import json, sys
for line in sys.stdin:
    request = json.loads(line)
    hello = {"name": "nothing 1.0"}
    print(json.dumps(hello if request["do"] == "hello" else {"stop": "unsupported", "message": "no"}), flush=True)
"""


@pytest.fixture(autouse=True)
def none_before(monkeypatch):
    monkeypatch.setattr(kept_processes, "KEPT", {})
    yield
    end_kept()


@pytest.fixture
def spec(tmp_path):
    path = tmp_path / "adapter.py"
    path.write_text(ADAPTER)
    return f"cmd:{shlex.quote(sys.executable)} {shlex.quote(str(path))}"


class Counted:
    def __init__(self, name, size=0):
        self.name, self.size, self.ended = name, size, 0

    def close(self):
        self.ended += 1


def test_the_same_arguments_have_one_process_and_others_another():
    first = kept(Counted, "a", size=2)
    assert kept(Counted, "a", size=2) is first
    others = kept(Counted, "a"), kept(Counted, "b", size=2)
    end_kept()
    end_kept()
    assert [each.ended for each in (first, *others)] == [1, 1, 1]
    assert kept(Counted, "a", size=2) is not first
    end_kept()


def test_one_that_does_not_start_is_not_kept():
    with pytest.raises(ZeroDivisionError):
        kept(lambda: 1 // 0)
    assert kept_processes.KEPT == {}


def children():
    return set(started_by(os.getpid()))


def test_no_implementation_of_a_batch_is_left(spec):
    before = children()
    settings = CampaignSettings(implementations=(spec,), size=2, aim="", sanitize=0)
    batch.run_batch(settings.to_json(), 0, [0, 1])
    assert len(children() - before) == 1
    batch.run_batch(settings.to_json(), 1, [2, 3])
    assert len(children() - before) == 1
    end_kept()
    assert children() - before == set()


def test_a_worker_ends_what_it_keeps_when_its_input_ends(spec, tmp_path):
    """The folders of files of its implementations are gone, too."""
    command = [sys.executable, "-m", "refmlc.oracle.fuzz.worker", "8192"]
    settings = CampaignSettings(implementations=(spec,), size=2, aim="", sanitize=0)
    request = {"call": settings.runner, "args": [settings.to_json(), 0, [0, 1]], "seconds": 60.0}
    folder = tmp_path / "files"
    folder.mkdir()
    environment = {**os.environ, "TMPDIR": str(folder)}
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment) as worker:
        worker.stdin.write(json.dumps(request) + "\n")
        worker.stdin.flush()
        assert json.loads(worker.stdout.readline()) == {"starts": True}
        assert json.loads(worker.stdout.readline()) == {"starts": False}
        assert json.loads(worker.stdout.readline())["result"]["programs"] == 2
        (process,) = started_by(worker.pid)
        assert list(folder.iterdir())
        worker.stdin.close()
        assert worker.wait(30) == 0
    end = time.monotonic() + 10
    while Path(f"/proc/{process}").exists() and time.monotonic() < end:
        time.sleep(0.05)
    assert not Path(f"/proc/{process}").exists()
    assert list(folder.iterdir()) == []


@pytest.mark.needs("tvm")
@pytest.mark.parametrize("kind", ["primitives", "passes", "builds"])
def test_no_tvm_of_a_subject_is_left(kind):
    before = children()
    settings = CampaignSettings(kinds=(kind,), implementations=(f"tvm:{TVM_PYTHON}",), size=1, program_seconds=60.0)
    batch.run_batch(settings.to_json(), 0, [2])
    assert children() - before
    end_kept()
    assert children() - before == set()


SLOW = ADAPTER.replace("import json, sys", "import json, sys, time\ntime.sleep(4)")


def test_the_start_of_an_implementation_takes_of_no_programs_time(tmp_path, held):
    path = tmp_path / "slow.py"
    path.write_text(SLOW)
    spec = f"cmd:{shlex.quote(sys.executable)} {shlex.quote(str(path))}"
    settings = CampaignSettings(implementations=(spec,), size=2, aim="", sanitize=0, program_seconds=3.0)
    result = Batches(settings, held).done(0)
    assert result.notes == {}
    assert result.programs == 2
    assert result.findings == ()
    assert sum(result.verdicts[spec].values())


def test_what_hangs_after_a_start_is_late(held):
    begin = time.monotonic()
    with held.borrowed(4096) as cage, pytest.raises(WorkerDied, match=r"no answer within 0\.5 s") as died:
        cage.ask("stand_in:start_and_hang", [], 0.5)
    assert died.value.why == "timed out"
    assert 2.0 <= time.monotonic() - begin < 30
