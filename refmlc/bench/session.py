"""A run of the benchmark: who takes part, and how one program is measured with all of them.

| candidate | is                                                                                       |
|-----------|------------------------------------------------------------------------------------------|
| `refmlc`  | the virtual machine's function, called from Python with arrays, all checks as by default |
| `tvm`     | TVM's function with TVM's tensors, in its own process                                     |
| `numpy`   | NumPy's way (`numpy_peer`), held to one thread                                           |

Nobody is timed whose result is not what it must be.
"""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field

import numpy as np

from refmlc.bench.compare import complaint
from refmlc.bench.row import Goal, Row
from refmlc.bench.timing import SAMPLE, Candidate, Local, measure
from refmlc.bench.tvm_process import Remote, TvmFailed, TvmProcess
from refmlc.bench.witness import Array
from refmlc.bench.workloads import Workload
from refmlc.check.reading import read
from refmlc.codegen.options import ISAS, Isa
from refmlc.ir import tir
from refmlc.runtime.tensor import Tensor
from refmlc.vm import VirtualMachine, build

OURS, TVM, NUMPY = "refmlc", "tvm", "numpy"


@dataclass(slots=True)
class Session:
    """Who takes part. `blas` None: NumPy is not timed where it would use BLAS. Units: `sample` in nanoseconds."""

    rounds: int = 7
    tier: str = "native"
    isa: Isa = ISAS["none"]
    tvm: TvmProcess | None = None
    blas: str | None = None
    sample: int = SAMPLE
    progress: Callable[[str], None] = field(default=lambda _: None)

    def compare(self, workload: Workload, peers: Collection[str], *more: Candidate) -> "Comparison":
        """Check the results of all, then time them together with `more`."""
        self.progress(workload.name)
        expected = workload.expected()
        run, result = ours(workload, self.tier)
        run()
        found = Comparison(workload, wrong=complaint(OURS, result(), expected, 0))
        if found.wrong:
            return found
        candidates: list[Candidate] = [Local(OURS, run), *more]
        if NUMPY in peers:
            candidates += self._numpy(workload, expected, found)
        if TVM in peers:
            candidates += self._tvm(workload, expected, found)
        if not found.wrong:
            timings = measure(candidates, self.rounds, sample=self.sample)
            found.times.update({name: timing.nanoseconds for name, timing in timings.items()})
        return found

    def _numpy(self, workload: Workload, expected: Array, found: "Comparison") -> list[Candidate]:
        if self.blas is None:
            found.absent[NUMPY] = "NumPy's BLAS is unknown and not held to one thread: threadpoolctl does that"
            return []
        out = np.zeros_like(workload.output)
        run = workload.numpy(out)
        run()
        found.wrong = found.wrong or complaint(NUMPY, out, expected, workload.numpy_bound)
        return [Local(NUMPY, run)]

    def _tvm(self, workload: Workload, expected: Array, found: "Comparison") -> list[Candidate]:
        if self.tvm is None:
            found.absent[TVM] = "no TVM is given (--tvm PYTHON)"
            return []
        try:
            result = self.tvm.load(workload.name, workload.text, workload.func, workload.inputs, workload.output)
        except TvmFailed as problem:
            found.absent[TVM] = str(problem)
            return []
        found.wrong = found.wrong or complaint(TVM, result, expected, workload.tvm_bound)
        return [Remote(TVM, self.tvm, workload.name)]


@dataclass(slots=True)
class Comparison:
    """The medians of one program, by candidate; what is wrong with a result; why somebody did not take part."""

    workload: Workload
    times: dict[str, float] = field(default_factory=dict)
    wrong: str = ""
    absent: dict[str, str] = field(default_factory=dict)

    def row(self, number: int, peer: str, goal: float, against: str = "") -> Row:
        """The row that says how many times faster than `peer` we are."""
        against = against or {TVM: "TVM llvm (default)", NUMPY: "NumPy"}[peer]
        what, absent = self.workload.name, self.absent.get(peer, "")
        if self.wrong or absent:
            return Row(number, what, against, Goal(goal), wrong=self.wrong, note=absent)
        times: Mapping[str, float] = {name: self.times[name] for name in (OURS, peer)}
        return Row(number, what, against, Goal(goal), self.times[peer] / self.times[OURS], times=times)


def ours(workload: Workload, tier: str) -> tuple[Callable[[], object], Callable[[], Array]]:
    """The program in our virtual machine: what runs it, and what gives the result of the last run."""
    module = read(workload.text, f"{workload.name}.py")
    function = VirtualMachine(build(module, tier=tier))[workload.func]
    if isinstance(module.functions[workload.func], tir.PrimFunc):
        out = np.zeros_like(workload.output)
        arguments = (*workload.inputs, out)
        return lambda: function(*arguments), lambda: out
    inputs = workload.inputs
    return lambda: function(*inputs), lambda: _array(function(*inputs))


def _array(value: object) -> Array:
    if not isinstance(value, Tensor):
        raise TypeError(f"a tensor is expected, {type(value).__name__} is given")
    return value.numpy()
