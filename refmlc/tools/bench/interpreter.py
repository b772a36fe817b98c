"""The interpreter's speed: time per innermost statement of each kernel of `low_level`, against the loop by hand.

Candidates run interleaved in one process, on one thread; a number is the median over the rounds of thread CPU time,
which holds still on a busy machine where wall-clock time does not. Bounds and initialisation are checked, steps
are counted, float32 is rounded after each operation; what differs is what watches.

| candidate        | is                                                                         |
|------------------|----------------------------------------------------------------------------|
| low-level NumPy  | the loop that one writes by hand, unchecked                                |
| interpreter      | nothing watches                                                            |
| before each      | a hook that does nothing before every statement; of the course's `linear0` |
| before and after | hooks that do nothing before and after every statement; the same           |
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from statistics import median
from time import thread_time_ns

import numpy as np

from refmlc.diag import fail
from refmlc.diag.catalogue import BUG
from refmlc.lang.ir import tir
from refmlc.lang.script import read
from refmlc.run.interp.hooks import Hooks
from refmlc.run.interp.machine import Machine
from refmlc.run.interp.tensorir.frame import Frame
from refmlc.tools.bench.low_level import KERNELS, LINEAR0, LowLevelKernel

LIMIT = 2.5
BY_HAND = "low-level NumPy"


class Before(Hooks):
    """Sees every statement and does nothing."""

    def before_stmt(self, stmt: tir.Stmt, frame: Frame) -> None:
        """Nothing."""


class BeforeAndAfter(Before):
    """Sees every statement twice and does nothing."""

    def after_stmt(self, stmt: tir.Stmt, frame: Frame) -> None:
        """Nothing."""


@dataclass(frozen=True, slots=True)
class InterpreterTiming:
    """One candidate. Units: nanoseconds of thread CPU time per innermost statement; `ratio` to the loop by hand."""

    kernel: str
    candidate: str
    nanoseconds: float
    ratio: float

    @property
    def within(self) -> bool:
        """Whether the promise is kept: at most `LIMIT` times the hand-written loop."""
        return self.ratio <= LIMIT


def bench_interpreter(
    rounds: int = 7, progress: Callable[[], None] = lambda: None, kernels: tuple[LowLevelKernel, ...] = KERNELS
) -> Iterator[InterpreterTiming]:
    """Measure all candidates on each kernel; `progress` is called once per kernel.

    Fails: RM901 if a result differs from the loop by hand in any bit.
    """
    for kernel in kernels:
        yield from _measured(kernel, rounds)
        progress()


def _measured(kernel: LowLevelKernel, rounds: int) -> Iterator[InterpreterTiming]:
    module, expected = read(kernel.text), kernel.output()
    runs: dict[str, Callable[[], object]] = {BY_HAND: lambda: kernel.by_hand(*kernel.inputs, expected)}
    watchers = {"interpreter": Hooks()} | (
        {"before each": Before(), "before and after": BeforeAndAfter()} if kernel is LINEAR0 else {}
    )
    outputs: list[np.ndarray] = []
    for name, hooks in watchers.items():
        machine, output = Machine(module, hooks=hooks), kernel.output()
        outputs.append(output)
        arguments = (*kernel.inputs, output)
        runs[name] = lambda machine=machine, arguments=arguments: machine.call("kernel", arguments)  # type: ignore[misc]
    times: dict[str, list[int]] = {name: [] for name in runs}
    for _ in range(rounds):
        for name, run in runs.items():
            start = thread_time_ns()
            run()
            times[name].append(thread_time_ns() - start)
    if not all(np.array_equal(output, expected) for output in outputs):
        raise fail(BUG, f"the interpreter and the loop by hand of `{kernel.name}` differ")
    base = median(times[BY_HAND])
    for name, samples in times.items():
        yield InterpreterTiming(kernel.name, name, median(samples) / kernel.innermost, median(samples) / base)
