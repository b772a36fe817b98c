"""A run of the benchmark: who takes part, and how one program is measured with all of them.

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

from refmlc.native.options import ISAS, Isa
from refmlc.tools.bench.compare import complaint
from refmlc.tools.bench.row import BenchRow, Goal
from refmlc.tools.bench.subject import Subject
from refmlc.tools.bench.timing import SAMPLE, Candidate, Local, Timing, measure, ratio
from refmlc.tools.bench.tvm_process import Remote, TvmFailed, TvmProcess
from refmlc.tools.bench.witness import Array
from refmlc.tools.bench.workloads import Workload
from refmlc.vm.tiers import Tier

NATIVE = Tier.NATIVE.value
OURS, TVM, NUMPY = "refmlc", "tvm", "numpy"


@dataclass(slots=True)
class Session:
    """Who takes part. `blas` None: NumPy is not timed where it would use BLAS. Units: `sample` in nanoseconds."""

    rounds: int = 9
    tier: str = NATIVE
    isa: Isa = ISAS["none"]
    tvm: TvmProcess | None = None
    blas: str | None = None
    sample: int = SAMPLE
    progress: Callable[[str], None] = field(default=lambda _: None)

    def compare(self, workload: Workload, peers: Collection[str], *more: Candidate) -> "BenchComparison":
        """Check the results of all, then time them together with `more`."""
        self.progress(workload.name)
        expected = workload.expected()
        subject = Subject(workload, self.tier)
        found = BenchComparison(
            workload, failed=subject.interpreted() if self.tier == NATIVE else "", note=subject.grades()
        )
        found.failed = found.failed or complaint(OURS, subject.result(), expected)
        if found.failed:
            return found
        candidates: list[Candidate] = [Local(OURS, subject.run), *more]
        if NUMPY in peers:
            candidates += self._numpy(workload, expected, found)
        if TVM in peers:
            candidates += self._tvm(workload, expected, found)
        if not found.failed:
            found.timings.update(measure(candidates, self.rounds, sample=self.sample))
        return found

    def _numpy(self, workload: Workload, expected: Array, found: "BenchComparison") -> list[Candidate]:
        if self.blas is None:
            found.absent[NUMPY] = "NumPy's BLAS is unknown and not limited to one thread: install threadpoolctl"
            return []
        out = np.zeros_like(workload.output)
        run = workload.numpy(out)
        run()
        found.failed = found.failed or complaint(NUMPY, out, expected, workload.numpy_bound)
        return [Local(NUMPY, run)]

    def _tvm(self, workload: Workload, expected: Array, found: "BenchComparison") -> list[Candidate]:
        if self.tvm is None:
            found.absent[TVM] = "no TVM is given (--tvm PYTHON)"
            return []
        try:
            result = self.tvm.load(workload.name, workload.text, workload.func, workload.inputs, workload.output)
        except TvmFailed as problem:
            found.absent[TVM] = str(problem)
            return []
        found.failed = found.failed or complaint(TVM, result, expected, workload.tvm_bound)
        return [Remote(TVM, self.tvm, workload.name)]


@dataclass(slots=True)
class BenchComparison:
    """The samples of one program, by candidate; why there are none; how it is executed; why somebody is absent."""

    workload: Workload
    timings: dict[str, Timing] = field(default_factory=dict)
    failed: str = ""
    note: str = ""
    absent: dict[str, str] = field(default_factory=dict)

    def row(self, number: int, peer: str, goal: float, against: str = "") -> BenchRow:
        """The row that says how many times faster than `peer` we are."""
        against = against or {TVM: "TVM llvm (default)", NUMPY: "NumPy"}[peer]
        what, absent = self.workload.name, self.absent.get(peer, "")
        if self.failed or absent:
            return BenchRow(number, what, against, Goal(goal), failed=self.failed, note=absent or self.note)
        faster = ratio(self.timings[peer], self.timings[OURS])
        return BenchRow(number, what, against, Goal(goal), faster, note=self.note, times=self.times(OURS, peer))

    def times(self, *names: str) -> dict[str, float]:
        """The medians of some candidates. Units: nanoseconds."""
        return {name: self.timings[name].nanoseconds for name in names}
