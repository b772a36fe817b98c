"""Row 14: building a model of some forty kernels, ResNet-18.

| what           | measured                                                                            | goal    |
|----------------|-------------------------------------------------------------------------------------|---------|
| cold           | the clock on the wall, the best of several: the compiler runs on all processors     | ≤ 6 s   |
| from the cache | the processor's time of this process, which has none of the libraries loaded        | ≤ 0.5 s |
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter, process_time

from refmlc.lang.ir import IRModule
from refmlc.lang.wellformed.reader_checks import read
from refmlc.native.compile.pieces import processors
from refmlc.tools.bench.compile_time import cache_in, processor_time
from refmlc.tools.bench.row import BenchRow, Goal
from refmlc.tools.bench.session import NATIVE, BenchSession, BenchSizes
from refmlc.tools.bench.texts.resnet import resnet18
from refmlc.vm import build

COLD, WARM = Goal(6, "s", "at most"), Goal(0.5, "s", "at most")


@dataclass(frozen=True, slots=True)
class Seconds:
    """What a build took: by the clock, of all processes, of this one; why there is no compiled code."""

    clock: float
    processes: float
    own: float
    problem: str


def build_rows(session: BenchSession, sizes: BenchSizes) -> Iterator[BenchRow]:
    """Row 14."""
    what = f"build of ResNet-18 {sizes.resnet[0]}²"
    session.progress(what)
    module = read(resnet18(*sizes.resnet), "resnet18.py")
    pairs = [_both(module) for _ in range(sizes.compilations)]
    problem = next((seconds.problem for pair in pairs for seconds in pair if seconds.problem), "")
    cold, all_processes = min(cold.clock for cold, _ in pairs), min(cold.processes for cold, _ in pairs)
    warm = min(warm.own for _, warm in pairs)
    note = f"{all_processes:.1f} s of processor time, on {processors()} processors"
    yield BenchRow(14, f"{what}, cold", "", COLD, cold, problem, note, {"cold": 1e9 * cold})
    yield BenchRow(14, f"{what}, from the cache", "", WARM, warm, problem, times={"cache": 1e9 * warm})


def _both(module: IRModule) -> tuple[Seconds, Seconds]:
    """A build where the cache is empty, and one where a cache that was just opened has all."""
    with TemporaryDirectory(prefix="refmlc-bench-") as name:
        empty, filled = Path(name) / "empty", Path(name) / "filled"
        cold = _build(module, empty)
        empty.rename(filled)
        return cold, _build(module, filled)


def _build(module: IRModule, folder: Path) -> Seconds:
    with cache_in(folder):
        clock, processes, own = perf_counter(), processor_time(), process_time()
        executable = build(module, NATIVE)
        taken = perf_counter() - clock, 1e-9 * (processor_time() - processes), process_time() - own
    native = executable.native
    return Seconds(*taken, "" if native is None else native.compiled().problem)
