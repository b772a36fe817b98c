"""The interpreter's speed: time per innermost statement of the course's `linear0`, against low-level NumPy.

Candidates run interleaved in one process, on one thread; a number is the median over the rounds of thread CPU time,
which holds still on a busy machine where wall-clock time does not. Bounds and initialisation are checked, steps
are counted, float32 is rounded after each operation; what differs is what watches.

| candidate        | is                                                                    |
|------------------|-----------------------------------------------------------------------|
| low-level NumPy  | the loop that the course writes by hand, unchecked                    |
| interpreter      | nothing watches                                                       |
| before each      | a hook that does nothing before every statement                       |
| before and after | hooks that do nothing before and after every statement                |
"""

from collections.abc import Callable
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

INNERMOST = 128 * 784
LIMIT = 2.5

LINEAR0 = """
@T.prim_func
def linear0(X: T.Buffer((1, 784), "float32"), W: T.Buffer((128, 784), "float32"),
            B: T.Buffer((128,), "float32"), Z: T.Buffer((1, 128), "float32")):
    T.func_attr({"global_symbol": "linear0", "tir.noalias": True})
    Y = T.alloc_buffer((1, 128), "float32")
    for i, j, k in T.grid(1, 128, 784):
        with T.block("Y"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                Y[vi, vj] = T.float32(0)
            Y[vi, vj] = Y[vi, vj] + X[vi, vk] * W[vj, vk]
    for i, j in T.grid(1, 128):
        with T.block("Z"):
            vi, vj = T.axis.remap("SS", [i, j])
            Z[vi, vj] = Y[vi, vj] + B[vj]
"""


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
    """One candidate. Units: nanoseconds of thread CPU time per innermost statement; `ratio` to low-level NumPy."""

    candidate: str
    nanoseconds: float
    ratio: float

    @property
    def within(self) -> bool:
        """Whether the promise is kept: at most `LIMIT` times the hand-written loop."""
        return self.ratio <= LIMIT


def low_level_numpy(x: np.ndarray, w: np.ndarray, b: np.ndarray, z: np.ndarray) -> None:
    """`linear0` as a loop over array elements."""
    y = np.empty((1, 128), dtype="float32")
    for i in range(1):
        for j in range(128):
            for k in range(784):
                if k == 0:
                    y[i, j] = 0
                y[i, j] = y[i, j] + x[i, k] * w[j, k]
    for i in range(1):
        for j in range(128):
            z[i, j] = y[i, j] + b[j]


def bench_linear0(rounds: int = 7, progress: Callable[[], None] = lambda: None) -> tuple[InterpreterTiming, ...]:
    """Measure all candidates; `progress` is called once per round. All results are equal to the bit, or this fails."""
    module = read(LINEAR0)
    generator = np.random.default_rng(0)
    x, w, b = (generator.normal(size=size).astype("float32") for size in ((1, 784), (128, 784), (128,)))
    expected = np.zeros((1, 128), "float32")
    runs: dict[str, Callable[[], object]] = {"low-level NumPy": lambda: low_level_numpy(x, w, b, expected)}
    outputs: list[np.ndarray] = []
    for name, hooks in (("interpreter", Hooks()), ("before each", Before()), ("before and after", BeforeAndAfter())):
        machine, output = Machine(module, hooks=hooks), np.zeros((1, 128), "float32")
        outputs.append(output)
        runs[name] = lambda machine=machine, output=output: machine.call("linear0", (x, w, b, output))  # type: ignore[misc]
    times: dict[str, list[int]] = {name: [] for name in runs}
    for _ in range(rounds):
        for name, run in runs.items():
            start = thread_time_ns()
            run()
            times[name].append(thread_time_ns() - start)
        progress()
    if not all(np.array_equal(output, expected) for output in outputs):
        raise fail(BUG, "the interpreter and the low-level NumPy loop of `linear0` differ")
    base = median(times["low-level NumPy"])
    return tuple(
        InterpreterTiming(name, median(samples) / INNERMOST, median(samples) / base) for name, samples in times.items()
    )
