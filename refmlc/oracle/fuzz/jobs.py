"""Jobs of a campaign and the executors that do them.

A job runs on this machine or on a cluster; either is an executor of `concurrent.futures`:

| place          | executor                                   | a job is in                                    |
|----------------|--------------------------------------------|------------------------------------------------|
| this machine   | threads, which only wait for their workers | a worker that this process started             |
| a Dask cluster | `distributed.Client.get_executor()`        | a worker that a process of the cluster started |

Each job is done in a worker with limits, and always gives an answer.

A worker that ends loses only its batch, which is then run program by program: a program that ends
its worker alone is a finding. A batch whose programs all end well alone is noted (late), or is a finding
without a program (crashed). An implementation that did not start, on a machine that is too busy, is noted too: no
program is to blame. A program that is late alone runs once more, with `LONGER` times its time; one that is late
again is counted as `late` and noted with its number.

Decision: what is late is no finding. The time is that of a worker, in which a program is judged and its finding made
small, on a machine that others use: it accuses nobody. An implementation that hangs is one, by its own limit.
"""

import time
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from typing import TypeVar, cast

from refmlc.diag import fail
from refmlc.diag.catalogue import BAD_USAGE
from refmlc.oracle.fuzz.cage import Cages, WorkerDied, cages
from refmlc.oracle.fuzz.result import BatchResult, FindingRecord, Json, signature, together
from refmlc.oracle.fuzz.settings import CampaignSettings, RunOptions

T = TypeVar("T")
CONNECT = 10.0  # seconds


@dataclass(frozen=True)
class JobExecutor:
    """An executor, its number of parallel jobs, and the worker processes for them; None: its own."""

    executor: Executor
    slots: int
    workers: Cages | None = None

    def submit(self, job: Callable[..., T], *args: object) -> "Future[T]":
        if self.workers is None:
            return self.executor.submit(job, *args)
        return self.executor.submit(job, *args, workers=self.workers)


@contextmanager
def place(ways: RunOptions) -> Iterator[JobExecutor]:
    """The executor of jobs. Fails: RM112 if the cluster does not exist."""
    with _local_executor(ways.jobs) if ways.scheduler is None else _cluster_executor(ways.scheduler) as executor:
        yield executor


@contextmanager
def _local_executor(jobs: int) -> Iterator[JobExecutor]:
    pool, workers = ThreadPoolExecutor(jobs, "refmlc-fuzz"), Cages()
    try:
        yield JobExecutor(pool, jobs, workers)
    finally:
        pool.shutdown(wait=False, cancel_futures=True)
        workers.close()  # running jobs end, their results are dropped
        pool.shutdown()


@contextmanager
def _cluster_executor(address: str) -> Iterator[JobExecutor]:
    try:
        from distributed import Client  # noqa: PLC0415 - extra `cluster`
    except ImportError:
        raise fail(BAD_USAGE, "a scheduler needs the extra `cluster`: pip install 'refmlc[cluster]'") from None
    try:
        client = Client(address, timeout=CONNECT)
    except (OSError, TimeoutError, ValueError) as problem:
        raise fail(BAD_USAGE, f"no scheduler responds at {address}: {problem}") from None
    try:
        executor = client.get_executor(pure=False, retries=5)
        yield JobExecutor(executor, max(1, sum(client.nthreads().values())))
    finally:
        executor.shutdown(wait=False)  # what is not done is cancelled
        with suppress(OSError, TimeoutError):
            client.close()


SHARE = 1 / 16  # of the time of one program, that each program of a batch adds
SHRINK = "refmlc.oracle.fuzz.batch:shrink"
CODES = {"crashed": "RM703", "timed out": "RM704", "raised": "RM901"}
BRIEF = 1.0  # seconds: a reduction with less does not begin
ANSWERED = 30.0  # seconds, for the text of a program
LATE = "batches that timed out although each program alone does not"
LATE_ONCE = "programs that timed out alone, and did not in their second run"
LATE_TWICE = "program {} of `{}` timed out alone, twice"
LONGER = 4  # times its time, for the second run of a program
NO_START = "programs without an answer: an implementation did not start in time"


class BatchRaised(Exception):
    """A batch raised: a bug of refmlc. `output`: the traceback."""

    def __init__(self, message: str, output: str) -> None:
        super().__init__(message)
        self.why, self.message, self.output = "raised", message, output


def batch_job(settings: Json, batch: int, workers: Cages | None = None) -> Json:
    """Do batch number `batch`: a `BatchResult` as data. Raises WorkerDied if there are no more workers."""
    return Batches(CampaignSettings.from_json(settings), workers or cages()).done(batch).to_json()


def shrink_job(
    settings: Json, finding: Json, seconds: float, until: float | None = None, workers: Cages | None = None
) -> Json:
    """The program of a finding made smaller: `case`, `size` before and after; or `problem`: why it is not.

    `until`: the time of day when it must be done, which machines of a cluster share; nothing where that is too near.
    """
    if until is not None:
        seconds = min(seconds, until - time.time())
        if seconds < BRIEF:
            return {}
    campaign_settings = CampaignSettings.from_json(settings)
    try:
        with (workers or cages()).borrowed(campaign_settings.memory) as cage:
            answer = cage.ask(SHRINK, [settings, finding, seconds], 2 * seconds + campaign_settings.program_seconds)
    except WorkerDied as problem:
        return {"problem": problem.message}
    return {"problem": str(answer["raised"])} if "raised" in answer else cast("Json", answer["result"])


@dataclass(frozen=True)
class Batches:
    """Batches of a campaign, done in `workers`."""

    settings: CampaignSettings
    workers: Cages

    def done(self, batch: int) -> BatchResult:
        """The result of a batch, whatever its programs do. Raises WorkerDied if there are no more workers."""
        try:
            return self._asked(batch, self.settings.programs(batch))
        except (WorkerDied, BatchRaised) as problem:
            return self._blamed(batch, problem)

    def _asked(self, batch: int, numbers: tuple[int, ...], times: float = 1.0) -> BatchResult:
        """The result of these programs, in a multiple of their time. Raises WorkerDied, BatchRaised."""
        settings = self.settings
        with self.workers.borrowed(settings.memory) as cage:
            seconds = settings.program_seconds * (1 + SHARE * (len(numbers) - 1)) * times
            answer = cage.ask(settings.runner, [settings.to_json(), batch, list(numbers)], seconds)
        if "raised" in answer:
            raise BatchRaised(str(answer["raised"]), str(answer["traceback"]))
        result = BatchResult.from_json(cast("Json", answer["result"]))
        cpu, memory = cast("float", answer["cpu"]), cast("int", answer["memory"])
        return replace(result, cpu=cpu, memory=memory, worker=str(answer["worker"]))

    def _blamed(self, batch: int, problem: WorkerDied | BatchRaised) -> BatchResult:
        """The batch program by program."""
        parts, culprits = [], 0
        numbers = self.settings.programs(batch)
        for number in numbers:
            try:
                parts.append(self._asked(batch, (number,)))
            except (WorkerDied, BatchRaised) as program_problem:
                culprits += 1
                parts.append(self._alone(batch, number, program_problem))
        result = together(batch, parts)
        if culprits:
            return result
        if problem.why == "timed out":
            return replace(result, notes={**result.notes, LATE: 1})
        whole_batch = self._finding(batch, numbers[0], problem, whole=True)
        return replace(result, findings=(*result.findings, *whole_batch.findings))

    def _alone(self, batch: int, number: int, problem: WorkerDied | BatchRaised, *, again: bool = False) -> BatchResult:
        """A program that has no answer alone: it is late, did not start, or is a finding. Raises WorkerDied: closed."""
        if isinstance(problem, WorkerDied) and problem.why == "closed":
            raise problem
        if did_not_start(problem):
            return BatchResult(batch, 1, notes={NO_START: 1})
        if problem.why != "timed out":
            return self._finding(batch, number, problem)
        if again:
            note = LATE_TWICE.format(number, self.settings.kind_of(number))
            return BatchResult(batch, 1, {"worker": {"late": 1}}, notes={note: 1})
        try:
            result = self._asked(batch, (number,), LONGER)
        except (WorkerDied, BatchRaised) as next_problem:
            return self._alone(batch, number, next_problem, again=True)
        return replace(result, notes={**result.notes, LATE_ONCE: 1})

    def _finding(
        self, batch: int, number: int, problem: WorkerDied | BatchRaised, *, whole: bool = False
    ) -> BatchResult:
        """One program, or the `whole` batch, that ended the worker, as a finding."""
        message = f"only the whole batch fails, no program alone: {problem.message}" if whole else problem.message
        verdict = "timed out" if problem.why == "timed out" else "crashed"
        code = CODES[problem.why]
        finding = FindingRecord(
            signature(f"{message} {_innermost(problem.output)}", code, "worker", verdict),
            code,
            "worker",
            verdict,
            "\n".join(part for part in (message, problem.output.strip()) if part),
            number,
            self.settings.seed_of(number),
            self.settings.kind_of(number),
            {} if whole else self._described(number),
        )
        return BatchResult(batch, 0 if whole else 1, {"worker": {verdict: 1}}, findings=(finding,))

    def _described(self, number: int) -> Json:
        """The program as data; nothing where even that ends the worker."""
        with suppress(WorkerDied), self.workers.borrowed(self.settings.memory) as cage:
            answer = cage.ask(
                f"{self.settings.runner.partition(':')[0]}:describe", [self.settings.to_json(), number], ANSWERED
            )
            return cast("Json", answer.get("result") or {})
        return {}


def did_not_start(problem: WorkerDied | BatchRaised) -> bool:
    """Whether a batch ended because an implementation did not start: RM112, which no program raises."""
    return isinstance(problem, BatchRaised) and BAD_USAGE.id in problem.message


def _innermost(output: str) -> str:
    """The place where it was, which tells crashes apart: the last in a traceback, the first in what a crash prints."""
    places = [line.strip() for line in output.splitlines() if line.lstrip().startswith("File ")]
    return (places[-1] if "Traceback" in output else places[0]) if places else ""
