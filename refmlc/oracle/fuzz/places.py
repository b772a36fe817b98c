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
from refmlc.oracle.fuzz.settings import Ways

T = TypeVar("T")
CONNECT = 10.0  # seconds


@dataclass(frozen=True)
class Place:
    """An executor, how many jobs it does at a time, and the workers it does them in; None: its own."""

    executor: Executor
    slots: int
    held: Cages | None = None

    def submit(self, job: Callable[..., T], *args: object) -> "Future[T]":
        """Have `job` done."""
        if self.held is None:
            return self.executor.submit(job, *args)
        return self.executor.submit(job, *args, held=self.held)


@contextmanager
def place(ways: Ways) -> Iterator[Place]:
    """Where jobs are done. Fails: RM112 where there is no such cluster."""
    with _here(ways.jobs) if ways.scheduler is None else _cluster(ways.scheduler) as found:
        yield found


@contextmanager
def _here(jobs: int) -> Iterator[Place]:
    pool, held = ThreadPoolExecutor(jobs, "refmlc-fuzz"), Cages()
    try:
        yield Place(pool, jobs, held)
    finally:
        pool.shutdown(wait=False, cancel_futures=True)
        held.close()  # jobs at work come to an end, unread
        pool.shutdown()


@contextmanager
def _cluster(address: str) -> Iterator[Place]:
    try:
        from distributed import Client  # noqa: PLC0415 - extra `cluster`
    except ImportError:
        raise fail(BAD_USAGE, "a scheduler needs the extra `cluster`: pip install 'refmlc[cluster]'") from None
    try:
        client = Client(address, timeout=CONNECT)
    except (OSError, TimeoutError, ValueError) as problem:
        raise fail(BAD_USAGE, f"no scheduler answers at {address}: {problem}") from None
    try:
        executor = client.get_executor(pure=False, retries=5)
        yield Place(executor, max(1, sum(client.nthreads().values())))
    finally:
        executor.shutdown(wait=False)  # what is not done is cancelled
        with suppress(OSError, TimeoutError):
            client.close()
