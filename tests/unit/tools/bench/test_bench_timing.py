"""How times are taken: calibration, interleaving, medians, slow candidates."""

from refmlc.tools.bench import timing
from refmlc.tools.bench.timing import (
    MORE,
    SAMPLE,
    SHORT,
    SLOW,
    SLOW_ROUNDS,
    WARM_UP,
    LocalCandidate,
    Timing,
    measure,
    ratio,
)


class Clockwork:
    """A candidate whose calls take a known time, and which says when it is run."""

    def __init__(self, name, each, log):
        self.name, self.each, self.log = name, each, log

    def take(self, calls):
        self.log.append((self.name, calls))
        return round(self.each * calls)


def test_a_sample_is_long_enough_and_no_longer_than_need_be():
    log = []
    found = measure([Clockwork("a", 1000.0, log)], rounds=2)["a"]
    assert SAMPLE <= 1000 * found.calls <= 2 * SAMPLE
    assert found.nanoseconds == 1000.0


def test_before_a_sample_of_several_calls_is_one_that_does_not_count():
    log = []
    found = measure([Clockwork("quick", 1000.0, log), Clockwork("slow", SAMPLE, log)], rounds=2)
    calls = found["quick"].calls
    assert calls > 1
    assert found["slow"].calls == 1
    assert log[-6:] == [("quick", 1), ("quick", calls), ("slow", 1)] * 2


def test_rounds_are_interleaved_and_counted():
    log, ticks = [], []
    found = measure(
        [Clockwork("a", 9.0, log), Clockwork("b", 7.0, log)], rounds=3, progress=lambda: ticks.append(1), sample=1
    )
    assert [name for name, _ in log[-6:]] == ["a", "b"] * 3
    assert len(ticks) == 3
    assert [len(found[name].samples) for name in "ab"] == [3, 3]


def test_the_median_of_the_samples_counts():
    times = iter([5, 5, 5, 10, 90, 20])  # first those that find out how many make a sample

    class Uneven:
        name = "uneven"

        def take(self, calls):
            return next(times) * calls

    assert measure([Uneven()], rounds=3, sample=1)["uneven"].nanoseconds == 20


def test_a_call_that_compiles_is_not_taken_for_a_long_one(monkeypatch):
    monkeypatch.setattr(timing, "WARM_UP", 0)
    times = iter([SAMPLE // 100, SAMPLE * 100, *([SAMPLE // 100] * 1000)])

    class Compiling:
        name = "compiling"

        def take(self, calls):
            return next(times) * calls

    found = measure([Compiling()], rounds=1)["compiling"]
    assert found.calls >= 100
    assert found.nanoseconds == SAMPLE // 100


def test_slow_candidates_take_fewer_samples():
    found = measure([Clockwork("slow", SLOW + 1, []), Clockwork("quick", 10, [])], rounds=9, sample=1)
    assert len(found["slow"].samples) == SLOW_ROUNDS
    assert len(found["quick"].samples) == 9


def test_a_candidate_that_takes_no_time_ends_all_the_same(monkeypatch):
    monkeypatch.setattr(timing, "MOST_CALLS", 64)
    assert measure([Clockwork("nothing", 0, [])], rounds=1)["nothing"].calls == 64


def test_a_function_of_this_process_is_run_so_many_times():
    runs = []
    assert LocalCandidate("f", lambda: runs.append(1)).take(5) > 0
    assert len(runs) == 5


def test_a_ratio_is_that_of_the_rounds():
    slow, quick = Timing("slow", 1, [10.0, 90.0, 22.0]), Timing("quick", 1, [5.0, 30.0, 10.0, 1.0])
    assert ratio(slow, quick) == 2.2


def test_candidates_are_warmed_up_for_a_number():
    log = []
    measure([Clockwork("a", 1e6, log)], rounds=1, sample=SAMPLE)
    assert sum(calls for _, calls in log[:-2]) * 1e6 >= WARM_UP
    log.clear()
    measure([Clockwork("a", 1e6, log)], rounds=1, sample=1)
    assert len(log) == 4


def test_short_rounds_are_many():
    quick = measure([Clockwork("a", 1e6, [])], rounds=2)["a"]
    slow = measure([Clockwork("a", float(SHORT), [])], rounds=2)["a"]
    assert [len(quick.samples), len(slow.samples)] == [2 * MORE, 2]
