"""Work that is tried in a fork: it dies there, raises there, or never ends there, and this process goes on."""

import os
import signal
import time

import pytest

from refmlc.system.fork import Death, death_of


def test_a_signal_and_the_last_words():
    def work(say):
        say("first")
        say("second")
        os.kill(os.getpid(), signal.SIGSEGV)

    assert death_of(work, 20) == Death("second", "the process was killed by SIGSEGV")


def test_a_process_that_leaves():
    assert death_of(lambda _say: os._exit(7), 20) == Death("", "the process ended with status 7")


def test_what_ends_or_raises_does_not_die():
    assert death_of(lambda say: say("done"), 20) is None
    assert death_of(lambda _say: 1 // 0, 20) is None


@pytest.mark.parametrize("talks", [False, True])
def test_nothing_is_concluded_from_a_fork_that_takes_too_long(talks):
    def work(say):
        while True:
            time.sleep(0.01)
            if talks:
                say("still here")

    begin = time.monotonic()
    assert death_of(work, 0.3) is None
    assert time.monotonic() - begin < 10
