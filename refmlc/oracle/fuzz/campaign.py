"""A campaign: submit batches, write each result to disk before it counts, reduce new findings.

A campaign that moves away from what it meets (`avoidance`) does not begin a batch before its exclusions are decided,
and does not reduce findings of causes that are on record.

A run keeps its time. Counted from `started`, which is before implementations start, for a time T:

| until              | what                                                                                            |
|--------------------|-------------------------------------------------------------------------------------------------|
| T                  | batches begin; the first ones in any case                                                       |
| last batch + shrink | reductions begin, the later ones with the time that is left                                    |
| T + shrink + `LEFT` | what runs is ended and not counted: the next run does it, as it does what has not begun        |
| … + `CLOSING`      | the summary, the ledger and the page are written                                                |

A job that an executor loses (a worker of a cluster was killed more often than it retries) is submitted again a few
times; then the campaign ends with its results so far, and a later run resumes it.
"""

import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, wait

from refmlc.diag import fail
from refmlc.diag.catalogue import BAD_USAGE
from refmlc.oracle.fuzz.jobs import BRIEF, JobExecutor, batch_job, place, shrink_job
from refmlc.oracle.fuzz.result import NEW, BatchResult, Json
from refmlc.oracle.fuzz.settings import RunOptions
from refmlc.oracle.fuzz.store import CampaignStore

AHEAD = 2  # batches given out for each one at work
TICK = 0.25  # seconds between looks at the clock
AGAIN = 3
LEFT = 7.0  # seconds, besides those of a reduction, for what runs when the time is over
CLOSING = 8.0  # seconds to end workers and to write the files


class Campaign:
    """One run of a campaign, in a store that this process holds."""

    def __init__(
        self,
        store: CampaignStore,
        ways: RunOptions,
        tick: Callable[[], None] = lambda: None,
        started: float | None = None,
    ) -> None:
        """`tick` is called now and then, and after each batch. `started`: when its time began; None: now."""
        self.store = store
        self.ways = ways
        self.started = time.monotonic() if started is None else started
        self.cut = 0  # batches that were ended with the time
        self.before = store.progress.programs
        self.tick = tick
        self._batches: dict[Future[Json], int] = {}
        self._shrinking: dict[Future[Json], str] = {}
        self._lost: Counter[int] = Counter()
        self._ended: float | None = None  # when the time was over and the last batch done
        self._next: int | None = None  # a batch whose exclusions are not decided yet

    @property
    def seconds(self) -> float:
        """How long this run takes already."""
        return time.monotonic() - self.started

    @property
    def over(self) -> bool:
        """Whether no new batch begins."""
        return self.ways.seconds is not None and self.seconds >= self.ways.seconds

    @property
    def late(self) -> bool:
        """Whether no new reduction begins: after the last batch, there is as much time for all as each may take."""
        return self._ended is not None and self.seconds >= self._ended + self.ways.shrink

    @property
    def left(self) -> float | None:
        """Seconds until what runs is ended; None: it is not."""
        return None if self.ways.seconds is None else self.ways.seconds + self.ways.shrink + LEFT - self.seconds

    @property
    def spent(self) -> bool:
        """Whether what runs is ended now."""
        return self.left is not None and self.left <= 0

    def run(self) -> None:
        """Run batches until time or programs are used up. An interrupt by the user loses nothing."""
        unfinished = iter(self.store.progress.remaining(self.ways.programs))
        with place(self.ways) as where:
            for signature in list(self.store.progress.findings):
                self._shrink(where, signature)
            self._fill(where, unfinished)
            while (self._batches or self._shrinking) and not self.spent:
                ended, _ = wait([*self._batches, *self._shrinking], TICK, FIRST_COMPLETED)
                for future in ended:
                    self._take(where, future)
                self._give_out(where, unfinished)
                self.tick()
            self.cut = len(self._batches)

    def _fill(self, where: JobExecutor, unfinished: Iterator[int]) -> None:
        """Submit batches until all slots have enough."""
        while len(self._batches) < AHEAD * where.slots:
            number = next(unfinished, None) if self._next is None else self._next
            if number is None:
                return
            self._next = None if self._submit(where, number) else number
            if self._next is not None:
                return

    def _give_out(self, where: JobExecutor, unfinished: Iterator[int]) -> None:
        if not self.over:
            self._fill(where, unfinished)
        else:  # what has not begun is for another time
            for future in list(self._batches):
                if future.cancel():
                    del self._batches[future]
            if not self._batches and self._ended is None:
                self._ended = self.seconds
        if self.late:
            for future in list(self._shrinking):
                if future.cancel():
                    del self._shrinking[future]

    def _submit(self, where: JobExecutor, number: int) -> bool:
        """Submit a batch; False: its exclusions are not decided yet."""
        settings, avoidance = self.store.settings, self.store.avoidance
        data = settings.to_json() if avoidance is None else avoidance.data_of(number)
        if data is not None:
            self._batches[where.submit(batch_job, data, number)] = number
        return data is not None

    def _shrink(self, where: JobExecutor, signature: str) -> None:
        """Submit the reduction of a finding, unless it is done or too many are."""
        progress = self.store.progress
        handled = {*progress.shrunk, *self._shrinking.values()}
        if not self.ways.shrink or self.late or signature in handled or len(handled) >= self.ways.most_shrunk:
            return
        if self.store.avoidance is not None and progress.state(signature) != NEW:
            return
        finding = progress.findings[signature]
        if finding.case:
            until = None if self.left is None else time.time() + self.left - BRIEF
            job = where.submit(shrink_job, self.store.settings.to_json(), finding.to_json(), self.ways.shrink, until)
            self._shrinking[job] = signature

    def _take(self, where: JobExecutor, future: "Future[Json]") -> None:
        problem = None if future.cancelled() else future.exception()
        if future in self._shrinking:
            signature = self._shrinking.pop(future)
            if problem is None and not future.cancelled() and future.result():
                self.store.shrunk(signature, future.result())
            return
        number = self._batches.pop(future)
        if problem is not None or future.cancelled():
            self._again(where, number, problem)
            return
        result = BatchResult.from_json(future.result())
        self.store.finished(result)
        for finding in result.findings:
            self._shrink(where, finding.signature)

    def _again(self, where: JobExecutor, number: int, problem: BaseException | None) -> None:
        self._lost[number] += 1
        if self._lost[number] > AGAIN:
            message = f"batch {number} failed {AGAIN + 1} times: {problem or 'it was cancelled'}"
            raise fail(BAD_USAGE, message) from problem
        self.store.progress.notes["batches run again"] += 1
        self._submit(where, number)
