"""The debugger's cost: statements with a breakpoint that is never met, a step back in a long run, memory.

Candidates run interleaved in one process; a number is the median over the rounds of CPU time, which holds still on a
busy machine where wall-clock time does not. Stepping back is what a person waits for: wall-clock time.

| candidate  | is                                                                   |
|------------|----------------------------------------------------------------------|
| hooks      | the interpreter with a hook that does nothing before every statement |
| debugger   | a session without breakpoints                                        |
| breakpoint | a session with one breakpoint, at a line that is never reached       |
"""

from collections.abc import Callable
from dataclasses import dataclass
from random import Random
from statistics import median
from time import perf_counter, process_time_ns

import numpy as np

from refmlc.debug import Moment, Program, Session
from refmlc.diag import fail
from refmlc.diag.catalogue import BUG
from refmlc.lang.ir import IRModule
from refmlc.lang.wellformed.reader_checks import read
from refmlc.run.interp.machine import Machine
from refmlc.tools.bench.interpreter import Before

MOST_RATIO = 1.3
MOST_MILLISECONDS = 100.0
MOST_MEGABYTES = 500.0
SMALL, LARGE = 40, 80
BACK = 51

TEXT = """
@T.prim_func(s_tir=True)
def gemm(A: T.Buffer(({n}, {n}), "float32"), B: T.Buffer(({n}, {n}), "float32"), C: T.Buffer(({n}, {n}), "float32")):
    for i, j, k in T.grid({n}, {n}, {n}):
        with T.sblock("C"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                C[vi, vj] = T.float32(0)
            C[vi, vj] += A[vi, vk] * B[vk, vj]
    if A[0, 0] < T.float32(0):
        C[0, 0] = T.float32(0)
"""
NEVER = 11


@dataclass(frozen=True, slots=True)
class Cost:
    """The measurements. Units: nanoseconds of a statement, milliseconds of a step back, megabytes of snapshots."""

    statements: int
    hooks: float
    debugger: float
    breakpoint: float
    median_back: float
    worst_back: float
    snapshots: int
    megabytes: float

    @property
    def ratio(self) -> float:
        """The time with a breakpoint that is never met, to that of hooks that do nothing."""
        return self.breakpoint / self.hooks

    @property
    def kept(self) -> bool:
        """Whether all promises are."""
        quick = self.ratio <= MOST_RATIO and self.median_back < MOST_MILLISECONDS
        return quick and self.megabytes < MOST_MEGABYTES


def module_of(size: int) -> IRModule:
    """The matrix product."""
    return read(TEXT.format(n=size), "gemm.py")


def arguments(size: int) -> list[np.ndarray]:
    """Two matrices, and where the product goes."""
    return [np.ones((size, size), "float32"), np.ones((size, size), "float32"), np.zeros((size, size), "float32")]


def debugged(size: int, *, breakpoints: bool) -> int:
    """CPU time of all of the program in a session. Units: nanoseconds."""
    with Session(Program(module_of(size), "gemm", arguments(size))) as session:
        session.start()
        if breakpoints:
            session.break_line(NEVER)
        begin = process_time_ns()
        session.resume()
        elapsed = process_time_ns() - begin
        if not session.ended or not np.all(session.visible()[2].value.numpy() == size):  # type: ignore[attr-defined]
            raise fail(BUG, "the program was stopped, or gave another result")
    return elapsed


def hooked(size: int) -> int:
    """The same with hooks alone."""
    machine = Machine(module_of(size), hooks=Before())
    machine.function("gemm")
    arrays = arguments(size)
    begin = process_time_ns()
    machine.call("gemm", arrays)
    return process_time_ns() - begin


def back(size: int) -> tuple[list[float], int, int]:
    """Steps back from random moments of a long run: seconds of each; the snapshots and their bytes."""
    statements = 1 + size + size**2 + 2 * size**3 + size**2
    random = Random(0)  # noqa: S311 - a seed, no secret
    step_times = []
    with Session(Program(module_of(size), "gemm", arguments(size))) as session:
        session.start()
        session.resume()
        for _ in range(BACK):
            moment = Moment(1, random.randrange(3, statements))
            session.goto(moment)
            begin = perf_counter()
            session.step_back()
            step_times.append(perf_counter() - begin)
        return step_times, *session.snapshots


def bench_debugger(rounds: int = 5, progress: Callable[[], None] = lambda: None, size: int = LARGE) -> Cost:
    """Measure; `progress` is called once per round, and once for stepping back."""
    small = min(SMALL, size)
    runs: dict[str, Callable[[], int]] = {
        "hooks": lambda: hooked(small),
        "debugger": lambda: debugged(small, breakpoints=False),
        "breakpoint": lambda: debugged(small, breakpoints=True),
    }
    times: dict[str, list[int]] = {name: [] for name in runs}
    for _ in range(rounds):
        for name, run in runs.items():
            times[name].append(run())
        progress()
    step_times, snapshots, nbytes = back(size)
    progress()
    statement_times = {name: median(samples) / (2 * small**3) for name, samples in times.items()}
    return Cost(
        1 + size + 2 * size**2 + 2 * size**3,
        statement_times["hooks"],
        statement_times["debugger"],
        statement_times["breakpoint"],
        median(step_times) * 1e3,
        max(step_times) * 1e3,
        snapshots,
        nbytes / 1e6,
    )
