"""A run of the benchmark: the sizes of programs, who takes part, and how one program is measured with all of them.

| candidate | is                                                                                       |
|-----------|------------------------------------------------------------------------------------------|
| `refmlc`  | the virtual machine's function, called from Python with arrays, all checks as by default |
| `tvm`     | TVM's function with TVM's tensors, in its own process                                    |
| `numpy`   | NumPy's way (`numpy_peer`), held to one thread                                           |

Nobody is timed whose result is not what it must be.
"""

from collections.abc import Callable, Collection
from dataclasses import dataclass, field

import numpy as np

from refmlc.lang.ir import tir
from refmlc.lang.wellformed.reader_checks import read
from refmlc.native.options import ISAS, Grade, Isa
from refmlc.run.memory.tensor import Tensor
from refmlc.tools.bench.row import BenchRow, Goal
from refmlc.tools.bench.timing import SAMPLE, LocalCandidate, TimedCandidate, Timing, measure, ratio
from refmlc.tools.bench.tvm_process import TvmCandidate, TvmFailed, TvmProcess
from refmlc.tools.bench.witness import Array, complaint
from refmlc.tools.bench.workloads import Workload
from refmlc.vm import VirtualMachine, build
from refmlc.vm.tiers import Tier


@dataclass(frozen=True, slots=True)
class BenchSizes:
    """Extents.

    `more_matmul`: measured against the peak only; `conv2d`: channels, filters, height, width; `rows`: of softmax and
    layernorm, their lengths as well; `shapes`: how many random ones for each kernel; `barriers`: texts of row 13;
    `resnet`: side, channels, classes. Units: `sample` in nanoseconds.
    """

    matmul: tuple[int, ...] = (512, 1024)
    more_matmul: tuple[int, ...] = (256, 257, 509, 1021, 2048)
    narrow_matmul: int = 512
    conv2d: tuple[int, int, int, int] = (64, 64, 56, 56)
    rows: int = 1024
    elementwise: int = 1 << 22
    mlp: tuple[int, int, int] = (784, 128, 10)
    literal: int = 192
    exp: int = 1 << 24
    shapes: int = 40
    compilations: int = 5
    barriers: tuple[str, ...] = ("softmax_cuda", "paged_decode_cuda")
    resnet: tuple[int, int, int] = (224, 64, 1000)
    sample: int = SAMPLE


FULL = BenchSizes()
TINY = BenchSizes(
    matmul=(8,),
    more_matmul=(7,),
    narrow_matmul=5,
    conv2d=(2, 3, 5, 4),
    rows=6,
    elementwise=50,
    mlp=(12, 5, 3),
    literal=6,
    exp=40,
    shapes=1,
    compilations=1,
    barriers=("softmax_cuda",),
    resnet=(32, 2, 3),
    sample=1,
)


class BenchSubject:
    """A workload, built for a tier. Its function is called from Python with arrays, checked as every call is."""

    def __init__(self, workload: Workload, tier: str, threads: int = 1) -> None:
        module = read(workload.text, f"{workload.name}.py")
        self._executable = build(module, tier=tier, threads=threads)
        self._function = VirtualMachine(self._executable)[workload.func]
        self._out = (
            np.zeros_like(workload.output) if isinstance(module.functions[workload.func], tir.PrimFunc) else None
        )
        self._arguments = workload.inputs if self._out is None else (*workload.inputs, self._out)

    def run(self) -> object:
        return self._function(*self._arguments)

    def result(self) -> Array:
        """The result of a call."""
        value = self.run()
        if self._out is not None:
            return self._out
        if not isinstance(value, Tensor):
            raise TypeError(f"a tensor is expected, {type(value).__name__} is given")
        return value.numpy()

    def interpreted(self) -> str:
        """Which prim_funcs are not in C, and why; empty where all are."""
        report = self._executable.report
        functions = self._executable.module.functions
        prims = [name for name, function in functions.items() if isinstance(function, tir.PrimFunc)]
        reasons = [
            f"`{name}` is interpreted: {report[name].reason}" for name in prims if report[name].tier is Tier.INTERP
        ]
        return "; ".join(reasons)

    def grades(self) -> str:
        """The blocks that are not reordered, with their grades; empty where all are."""
        units = [report.unit for report in self._executable.report.values() if report.unit is not None]
        blocks = [block for unit in units for block in unit.blocks if block.grade is not Grade.REORDERED]
        return ", ".join(f"`{block.name}` {block.grade.name.lower()}" for block in blocks)


NATIVE = Tier.NATIVE.value
OURS, TVM, NUMPY = "refmlc", "tvm", "numpy"


@dataclass(slots=True)
class BenchSession:
    """Who takes part. `blas` None: NumPy is not timed where it would use BLAS. Units: `sample` in nanoseconds."""

    rounds: int = 9
    tier: str = NATIVE
    isa: Isa = ISAS["none"]
    tvm: TvmProcess | None = None
    blas: str | None = None
    sample: int = SAMPLE
    progress: Callable[[str], None] = field(default=lambda _: None)

    def compare(self, workload: Workload, peers: Collection[str], *more: TimedCandidate) -> "BenchComparison":
        """Check the results of all, then time them together with `more`."""
        self.progress(workload.name)
        expected = workload.expected()
        subject = BenchSubject(workload, self.tier)
        comparison = BenchComparison(
            workload, failed=subject.interpreted() if self.tier == NATIVE else "", note=subject.grades()
        )
        comparison.failed = comparison.failed or complaint(OURS, subject.result(), expected)
        if comparison.failed:
            return comparison
        candidates: list[TimedCandidate] = [LocalCandidate(OURS, subject.run), *more]
        if NUMPY in peers:
            candidates += self._numpy(workload, expected, comparison)
        if TVM in peers:
            candidates += self._tvm(workload, expected, comparison)
        if not comparison.failed:
            comparison.timings.update(measure(candidates, self.rounds, sample=self.sample))
        return comparison

    def _numpy(self, workload: Workload, expected: Array, comparison: "BenchComparison") -> list[TimedCandidate]:
        if self.blas is None:
            comparison.absent[NUMPY] = "NumPy's BLAS is unknown and not limited to one thread: install threadpoolctl"
            return []
        out = np.zeros_like(workload.output)
        run = workload.numpy(out)
        run()
        comparison.failed = comparison.failed or complaint(NUMPY, out, expected, workload.numpy_bound)
        return [LocalCandidate(NUMPY, run)]

    def _tvm(self, workload: Workload, expected: Array, comparison: "BenchComparison") -> list[TimedCandidate]:
        if self.tvm is None:
            comparison.absent[TVM] = "no TVM is given (--tvm PYTHON)"
            return []
        try:
            result = self.tvm.load(workload.name, workload.text, workload.func, workload.inputs, workload.output)
        except TvmFailed as problem:
            comparison.absent[TVM] = str(problem)
            return []
        comparison.failed = comparison.failed or complaint(TVM, result, expected, workload.tvm_bound)
        return [TvmCandidate(TVM, self.tvm, workload.name)]


@dataclass(slots=True)
class BenchComparison:
    """The samples of one program, by candidate; why there are none; how it is executed; why somebody is absent."""

    workload: Workload
    timings: dict[str, Timing] = field(default_factory=dict)
    failed: str = ""
    note: str = ""
    absent: dict[str, str] = field(default_factory=dict)

    def row(self, number: int, peer: str, goal: float, against: str = "", limit: str = "") -> BenchRow:
        """The row that says how many times faster than `peer` we are; `limit`: what keeps us from being faster."""
        against = against or {TVM: "TVM llvm (default)", NUMPY: "NumPy"}[peer]
        what, absent = self.workload.name, self.absent.get(peer, "")
        if self.failed or absent:
            return BenchRow(number, what, against, Goal(goal), failed=self.failed, note=absent or self.note)
        faster = ratio(self.timings[peer], self.timings[OURS])
        note = "; ".join(filter(None, (f"limit: {limit}" if limit else "", self.note)))
        return BenchRow(number, what, against, Goal(goal), faster, note=note, times=self.times(OURS, peer))

    def times(self, *names: str) -> dict[str, float]:
        """The medians of some candidates. Units: nanoseconds."""
        return {name: self.timings[name].nanoseconds for name in names}
