"""Timing: candidates side by side in one run, each number the median of thread CPU time over the rounds.

| rule         | is                                                                                             |
|--------------|------------------------------------------------------------------------------------------------|
| clock        | `time.thread_time_ns`: holds to about 2 % on a busy machine, where wall-clock time moves by 2x |
| interleaved  | in every round each candidate takes one sample, so that what changes in the machine meets all  |
| sample       | as many calls in a row as take at least `SAMPLE`; the time of one is its share of the sample;  |
|              | before several calls one that does not count: what ran before has taken the caches             |
| warm-up      | calls for `WARM_UP`, then those that find out how many make a sample, twice; they count nowhere |
| ratio        | the median over the rounds of the two samples of a round: what slows both down cancels         |
| short rounds | where a round takes less than `SHORT`, `MORE` times as many rounds                             |
| slow ones    | a call of more than `SLOW` is sampled in the first `SLOW_ROUNDS` rounds only                   |
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from statistics import median
from time import thread_time_ns
from typing import Protocol

SAMPLE = 4_000_000
WARM_UP = 100_000_000  # compiled code may be compiled once more for sizes that come again and again
SLOW = 500_000_000
SLOW_ROUNDS = 3
SHORT = 50_000_000
MORE = 4
MOST_CALLS = 1 << 20


class TimedCandidate(Protocol):
    """Something to be timed."""

    @property
    def name(self) -> str:
        """Its name in the table."""

    def take(self, calls: int) -> int:
        """Run `calls` times in a row. Units: nanoseconds of thread CPU time, of all calls together."""


@dataclass(frozen=True, slots=True)
class LocalCandidate:
    """A function of this process."""

    name: str
    run: Callable[[], object]

    def take(self, calls: int) -> int:
        run = self.run
        start = thread_time_ns()
        for _ in range(calls):
            run()
        return thread_time_ns() - start


@dataclass(slots=True)
class Timing:
    """The samples of one candidate. Units: nanoseconds of one call."""

    name: str
    calls: int
    samples: list[float] = field(default_factory=list)

    @property
    def nanoseconds(self) -> float:
        return median(self.samples)


def ratio(over: Timing, under: Timing) -> float:
    """How many times as long as `under` does `over` take, round by round."""
    return median(a / b for a, b in zip(over.samples, under.samples, strict=False))


def calls_per_sample(candidate: TimedCandidate, sample: int = SAMPLE) -> tuple[int, float]:
    """How many calls make a sample of at least `sample` ns, and what one of them took; warms the candidate up."""
    warm, calls = candidate.take(1), 1
    while warm < WARM_UP and sample >= SAMPLE and calls < MOST_CALLS:
        calls *= 2
        warm += candidate.take(calls)
    calls = 1
    while True:
        elapsed = candidate.take(calls)
        if sample <= elapsed < SLOW:
            elapsed = min(elapsed, candidate.take(calls))  # the first ones may have compiled something
        if elapsed >= sample or calls >= MOST_CALLS:
            return calls, elapsed / calls
        calls = min(MOST_CALLS, max(2 * calls, round(1.2 * calls * sample / max(elapsed, 1))))


def measure(
    candidates: Sequence[TimedCandidate],
    rounds: int,
    progress: Callable[[], None] = lambda: None,
    sample: int = SAMPLE,
) -> dict[str, Timing]:
    """Time all candidates in turn, `rounds` times; `progress` is called once per round. The result is by name.

    Units: `sample` in nanoseconds; one that is shorter than `SAMPLE` asks for a look, not for a number: no warm-up.
    """
    timings: dict[str, Timing] = {}
    limits: dict[str, int] = {}
    nanoseconds = 0.0
    for candidate in candidates:
        calls, each = calls_per_sample(candidate, sample)
        timings[candidate.name] = Timing(candidate.name, calls)
        limits[candidate.name] = SLOW_ROUNDS if each > SLOW else MORE * rounds
        nanoseconds += calls * each
    for number in range(MORE * rounds if nanoseconds < SHORT and sample >= SAMPLE else rounds):
        for candidate in candidates:
            if number < limits[candidate.name]:
                timing = timings[candidate.name]
                if timing.calls > 1:
                    candidate.take(1)
                timing.samples.append(candidate.take(timing.calls) / timing.calls)
        progress()
    return timings
