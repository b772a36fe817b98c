"""Row 12: kernels on two threads against one.

| kernel                                        | goal   |
|-----------------------------------------------|--------|
| matmul 1024³, conv2d 64→64 56², softmax 1024² | ≥ 1.8x |

The wall clock, not thread CPU time: what is measured is when the result is there. The least of interleaved calls is
taken of each, because whatever else the machine does adds to it.
"""

import os
from collections.abc import Iterator
from time import perf_counter_ns

from refmlc.tools.bench.row import BenchRow, Goal
from refmlc.tools.bench.session import NATIVE, BenchSession, BenchSizes, BenchSubject
from refmlc.tools.bench.witness import differences
from refmlc.tools.bench.workloads import Workload, conv2d, matmul, softmax

GOAL = Goal(1.8)
AGAINST = "one thread, by the wall clock"
THREADS = 2
CALLS = 8
"""Calls of each in a round: the least of few of them is not the least there is."""


def thread_rows(session: BenchSession, sizes: BenchSizes) -> Iterator[BenchRow]:
    """Row 12."""
    size = max(sizes.matmul)
    for workload in (matmul(size, size, size), conv2d(*sizes.conv2d), softmax(sizes.rows, sizes.rows)):
        session.progress(f"{workload.name} on {THREADS} threads")
        yield _row(session, workload)


def _row(session: BenchSession, workload: Workload) -> BenchRow:
    what, cores = f"{workload.name} on {THREADS} threads", os.cpu_count() or 1
    subjects = {threads: BenchSubject(workload, NATIVE, threads) for threads in (1, THREADS)}
    alone, together = (subject.result() for subject in subjects.values())
    count = differences(together, alone)
    failed = subjects[1].interpreted() or (f"{count} elements differ from those of one thread" if count else "")
    if failed or cores < THREADS:
        return BenchRow(12, what, AGAINST, GOAL, failed=failed, note=f"cores: {cores}")
    least = dict.fromkeys(subjects, 1 << 62)
    for _ in range(session.rounds * CALLS):
        for threads, subject in subjects.items():
            begin = perf_counter_ns()
            subject.run()
            least[threads] = min(least[threads], perf_counter_ns() - begin)
    times = {f"{threads} threads": float(nanoseconds) for threads, nanoseconds in least.items()}
    note = f"{least[1] / 1e6:.2f} ms and {least[THREADS] / 1e6:.2f} ms"
    return BenchRow(12, what, AGAINST, GOAL, least[1] / least[THREADS], note=note, times=times)
