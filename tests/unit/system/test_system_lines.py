"""A process that answers lines: on a busy machine it has its time as time of the processor."""

import sys
from contextlib import closing
from time import monotonic

import pytest

from refmlc.system import lines
from refmlc.system.lines import MOST, Broken, LineProcess

SLEEPS = "import time; time.sleep(600)"
BUSY = "while True: pass"
WORKS = """
import time
end = time.monotonic() + 1.5
while time.monotonic() < end: pass
print("{}", flush=True)
input()
"""
SECONDS = 0.4


def asked(text, *, patient):
    """The answer of a child with this text, and how long it took."""
    with closing(LineProcess([sys.executable, "-c", text])) as process:
        begin = monotonic()
        try:
            return process.ask({}, SECONDS, patient=patient), monotonic() - begin
        except Broken as broken:
            return broken.message, monotonic() - begin


@pytest.fixture
def starved(monkeypatch):
    """No process gets a processor, as far as the system tells."""
    monkeypatch.setattr(lines, "cpu_seconds_of", lambda _pids: 0.0)


@pytest.mark.usefixtures("starved")
def test_one_that_waits_for_a_processor_is_not_late(monkeypatch):
    monkeypatch.setattr(lines, "MOST", 1000)
    assert asked(WORKS, patient=True)[0] == {}


@pytest.mark.usefixtures("starved")
def test_without_patience_the_clock_decides():
    assert asked(WORKS, patient=False)[0] == f"no answer within {SECONDS} s"


def test_one_that_sleeps_is_late():
    message, took = asked(SLEEPS, patient=True)
    assert message == f"no answer within {SECONDS} s"
    assert took < MOST * SECONDS


def test_one_that_has_had_its_time_is_late():
    message, took = asked(BUSY, patient=True)
    assert message == f"no answer within {SECONDS} s"
    assert took < MOST * SECONDS + 2 * lines.PAUSE


@pytest.mark.usefixtures("starved")
def test_patience_has_an_end(monkeypatch):
    monkeypatch.setattr(lines, "MOST", 2)
    assert asked(BUSY, patient=True)[0] == f"no answer within {SECONDS} s"
