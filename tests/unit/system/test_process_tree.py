"""Programs are ended with all that they have started, and cost no more than they take."""

import subprocess
import sys
from pathlib import Path
from time import monotonic, sleep

import pytest

from refmlc.system.command import run
from refmlc.system.output import KEPT, Output
from refmlc.system.tree import Started

LEAVING = """
import os, subprocess, sys, time
child = subprocess.Popen(["sleep", "1000"], start_new_session={apart})
print(child.pid, flush=True)
{then}
"""


def command(*, apart, then=""):
    return [sys.executable, "-c", LEAVING.format(apart=apart, then=then)]


def lives(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def is_gone(pid):
    """Whether it ends, soon."""
    until = monotonic() + 5
    while lives(pid) and monotonic() < until:
        sleep(0.01)
    return not lives(pid)


@pytest.mark.parametrize("apart", [False, True], ids=["in the group", "in a session of its own"])
@pytest.mark.parametrize("then", ["", "sys.exit(1)", "time.sleep(1000)"], ids=["ends", "fails", "hangs"])
def test_what_a_program_left_is_ended_and_not_waited_for(apart, then):
    begin = monotonic()
    ended = run(command(apart=apart, then=then), 3 if "sleep" in then else 60)
    assert ended.status == {"": 0, "sys.exit(1)": 1}.get(then)
    assert monotonic() - begin < 10  # the child holds the output for 1000 s
    assert is_gone(int(ended.printed))


def test_an_orphan_without_its_parent_in_between_is_ended():
    nested = command(apart=True, then="os._exit(0)")
    started = Started([sys.executable, "-c", f"import subprocess, time; subprocess.run({nested!r}); time.sleep(1000)"])
    orphan = int(started.process.stdout.readline())
    assert lives(orphan)
    started.close()
    assert is_gone(orphan)


def test_nobody_else_is_ended():
    other = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(1000)"])
    try:
        run([sys.executable, "-c", ""], 60)
        assert other.poll() is None
    finally:
        other.kill()
        other.wait()


def test_what_is_printed_is_kept_at_both_ends():
    ended = run([sys.executable, "-c", "print('first'); print('x' * 30_000_000); print('last')"], 60)
    assert ended.printed.startswith("first\n")
    assert ended.printed.endswith("last\n")
    assert len(ended.printed) < 3 * KEPT


def test_little_is_kept_whole():
    output = Output()
    for piece in (b"a" * KEPT, b"b" * KEPT):
        output.add(piece)
    assert output.text() == "a" * KEPT + "b" * KEPT
    output.add(b"c")
    assert output.text() == "a" * KEPT + "\n… 1 bytes …\n" + "b" * (KEPT - 1) + "c"


def test_a_program_that_is_not_there():
    with pytest.raises(FileNotFoundError):
        run(["/nowhere/at/all"], 1)
