"""Where jobs are done: workers of this machine, or a cluster; either is an executor of `concurrent.futures`.

| place          | executor                                   | a job is in                                    |
|----------------|--------------------------------------------|------------------------------------------------|
| this machine   | threads, which only wait for their workers | a worker that this process started             |
| a Dask cluster | `distributed.Client.get_executor()`        | a worker that a process of the cluster started |
"""

from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import TypeVar

from refmlc.diag import fail
from refmlc.diag.catalogue import BAD_USAGE
from refmlc.oracle.fuzz.cage import Cages
from refmlc.oracle.fuzz.settings import RunOptions

T = TypeVar("T")
CONNECT = 10.0  # seconds


@dataclass(frozen=True)
class JobExecutor:
    """An executor, its number of parallel jobs, and the worker processes for them; None: its own."""

    executor: Executor
    slots: int
    workers: Cages | None = None

    def submit(self, job: Callable[..., T], *args: object) -> "Future[T]":
        """Have `job` done."""
        if self.workers is None:
            return self.executor.submit(job, *args)
        return self.executor.submit(job, *args, workers=self.workers)


@contextmanager
def place(ways: RunOptions) -> Iterator[JobExecutor]:
    """The executor of jobs. Fails: RM112 if the cluster does not exist."""
    with _here(ways.jobs) if ways.scheduler is None else _cluster(ways.scheduler) as executor:
        yield executor


@contextmanager
def _here(jobs: int) -> Iterator[JobExecutor]:
    pool, workers = ThreadPoolExecutor(jobs, "refmlc-fuzz"), Cages()
    try:
        yield JobExecutor(pool, jobs, workers)
    finally:
        pool.shutdown(wait=False, cancel_futures=True)
        workers.close()  # running jobs end, their results are dropped
        pool.shutdown()


@contextmanager
def _cluster(address: str) -> Iterator[JobExecutor]:
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
