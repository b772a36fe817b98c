"""Rows 5, 7, 8 and 15: what stands around the numbers: a whole call from Python, compiling, arguments, the graph.

| row | what                                                | against         | goal         |
|-----|-----------------------------------------------------|-----------------|--------------|
| 5   | the course's network, a call with all checks        | TVM's VM; NumPy | ≥ 8x; ≥ 1.1x |
| 7   | building it and the first call in C, cache empty    | `tvm.compile`   | ≤ 1x         |
| 7   | compiling it, from the IR to functions, cache empty | `tvm.compile`   | ≤ 1.2x       |
| 7   | loading it by its C text, cache filled              | –               | ≤ 0.1 ms     |
| 8   | a call of a function of five arrays of 4 elements   | –               | ≤ 2 µs       |
| 15  | small models of Relax (`small_models`)              | TVM's VM        | ≥ 2x         |

Compiling is measured by all the processor's time it takes, the compiler's process included, in a process that has
compiled before. The first call in C is executed by code that was compiled quickly (`native.tier.stages`).
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from time import thread_time_ns

import numpy as np

from refmlc.lang.ir import IRModule
from refmlc.lang.wellformed.reader_checks import read
from refmlc.native.compile import BuildFailed, Cache, build
from refmlc.native.options import Isa, Options
from refmlc.native.tier.compilation import translate
from refmlc.native.tier.compiled_module import CompiledModule, c_type, c_type_of_fused
from refmlc.tools.bench.compile_time import cache_in, processor_time
from refmlc.tools.bench.row import BenchRow, Goal
from refmlc.tools.bench.session import NUMPY, OURS, TVM, BenchSession, BenchSizes
from refmlc.tools.bench.small_models import small_models
from refmlc.tools.bench.timing import TimedCandidate, measure, ratio
from refmlc.tools.bench.tvm_process import TvmCandidate, TvmFailed
from refmlc.tools.bench.workloads import Workload, mlp, normal
from refmlc.vm import VirtualMachine, build as build_module

FIRST = "first result"
FIVE = """
@T.prim_func
def five(A: T.Buffer((4,), "float32"), B: T.Buffer((4,), "float32"), C: T.Buffer((4,), "float32"),
         D: T.Buffer((4,), "float32"), E: T.Buffer((4,), "float32")):
    for i in range(4):
        with T.block("E"):
            v = T.axis.spatial(4, i)
            E[v] = A[v] * B[v] + C[v] * D[v]
"""


def network_rows(session: BenchSession, sizes: BenchSizes) -> Iterator[BenchRow]:
    """Row 5."""
    comparison = session.compare(mlp(*sizes.mlp), (TVM, NUMPY))
    yield comparison.row(5, TVM, 8, "TVM's VM")
    yield comparison.row(5, NUMPY, 1.1)


def call_rows(session: BenchSession, _sizes: BenchSizes) -> Iterator[BenchRow]:
    """Row 8."""
    a, b, c, d = normal((4,), (4,), (4,), (4,))
    five = Workload(
        "call with 5 arrays", FIVE, "five", (a, b, c, d), np.zeros_like(a), lambda: a * b + c * d, lambda _: int, 12
    )
    comparison = session.compare(five, ())
    goal = Goal(2, "µs", "at most")
    times = {} if comparison.failed else comparison.times(OURS)
    measured = times[OURS] / 1e3 if times else None
    yield BenchRow(8, five.name, "", goal, measured, comparison.failed, times=times)


def model_rows(session: BenchSession, _sizes: BenchSizes) -> Iterator[BenchRow]:
    """Row 15."""
    for workload in small_models():
        yield session.compare(workload, (TVM,)).row(15, TVM, 2, "TVM's VM")


@dataclass(frozen=True, slots=True)
class Cold:
    """Compiling a module where the cache is empty, as a candidate."""

    module: IRModule
    isa: Isa
    name: str = OURS

    def take(self, calls: int) -> int:
        """Nanoseconds of this process and of those it started."""
        total = 0
        for _ in range(calls):
            with TemporaryDirectory(prefix="refmlc-bench-") as folder:
                cache = Cache(Path(folder) / "cache")
                start = processor_time()
                _functions(self.module, self.isa, cache)
                total += processor_time() - start
        return total


@dataclass(frozen=True, slots=True)
class First:
    """Building a module for `auto` where the cache is empty, and calling it until C has done something."""

    module: IRModule
    workload: Workload
    name: str = FIRST

    def take(self, calls: int) -> int:
        """Nanoseconds of this process and of those it started."""
        total = 0
        for _ in range(calls):
            with TemporaryDirectory(prefix="refmlc-bench-") as folder, cache_in(Path(folder) / "cache"):
                start = processor_time()
                machine = VirtualMachine(build_module(self.module))
                while machine.native is not None and machine.native.counts is None:
                    machine[self.workload.func](*self.workload.inputs)
                total += processor_time() - start
        return total


@dataclass(frozen=True, slots=True)
class Warm:
    """Loading a library that the cache has and the process has not, as a candidate; the cache is open."""

    text: str
    isa: Isa
    folder: Path
    name: str = "warm"

    def take(self, calls: int) -> int:
        """Find and load it; it is removed before the next run."""
        total = 0
        for _ in range(calls):
            cache = Cache(self.folder)
            start = thread_time_ns()
            build(self.text, self.isa, cache=cache)
            total += thread_time_ns() - start
        return total


def compile_rows(session: BenchSession, sizes: BenchSizes) -> Iterator[BenchRow]:
    """Row 7."""
    workload = mlp(*sizes.mlp)
    module = read(workload.text, "mlp.py")
    first, cold, warm = Goal(1, "x", "at most"), Goal(1.2, "x", "at most"), Goal(0.1, "ms", "at most")
    what, against = "cold compile of the MLP", "tvm.compile"
    session.progress(what)
    candidates: list[TimedCandidate] = [Cold(module, session.isa), First(module, workload)]
    try:
        if session.tvm is not None:
            session.tvm.load("cold", workload.text, workload.func, workload.inputs, workload.output)
            candidates.append(TvmCandidate(TVM, session.tvm, "cold", "compile"))
        timings = measure(candidates, sizes.compilations, sample=1)
        for name, subject, goal in ((FIRST, "first result of the MLP in C", first), (OURS, what, cold)):
            times = {timing.name: timing.nanoseconds for timing in timings.values() if timing.name in (name, TVM)}
            measured = ratio(timings[name], timings[TVM]) if TVM in times else None
            peer = f" to {times[TVM] / 1e6:.1f}" if TVM in times else ", no TVM is given"
            note = f"{times[name] / 1e6:.1f} ms{peer}"
            yield BenchRow(7, subject, against, goal, measured, note=note, times=times)
        yield _warm_row(session, module, warm)
    except (BuildFailed, TvmFailed) as problem:
        yield BenchRow(7, what, against, cold, note=str(problem))


def _warm_row(session: BenchSession, module: IRModule, goal: Goal) -> BenchRow:
    with TemporaryDirectory(prefix="refmlc-bench-") as name:
        folder = Path(name) / "cache"
        text = _functions(module, session.isa, Cache(folder)).translation.text
        candidate = Warm(text, session.isa, folder)
        timing = measure((candidate,), session.rounds, sample=session.sample)[candidate.name]
    milliseconds = timing.nanoseconds / 1e6
    return BenchRow(7, "warm cache", "", goal, milliseconds, times={candidate.name: timing.nanoseconds})


def _functions(module: IRModule, isa: Isa, cache: Cache) -> CompiledModule:
    """Translate, compile, and look up every function. Raises BuildFailed."""
    translation = translate(module, Options(isa=isa))
    compiled = CompiledModule(translation, build(translation.text, isa, cache=cache, effort=translation.effort))
    for unit in translation.units.values():
        compiled.function(unit.symbol, c_type(unit))
    for run in translation.fused:
        compiled.function(run.symbol, c_type_of_fused(run))
    return compiled
