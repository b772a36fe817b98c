"""Rows 1, 2, 3 and 11: sums of products, whose steps may be reordered over the elements of the result.

| row | what                                      | against           | goal         |
|-----|-------------------------------------------|-------------------|--------------|
| 1   | matmul 512³ and 1024³ float32             | the mul+add peak  | ≥ 90 %       |
| 2   | the same                                  | TVM; NumPy        | ≥ 120x; ≥ 2x |
| 3   | conv2d 3x3 64→64 56²                      | TVM; NumPy im2col | ≥ 35x; ≥ 2x  |
| 11  | matmul 512³ float16, bfloat16, int8→int32 | TVM               | ≥ 20x        |
"""

from collections.abc import Iterator

from refmlc.native.compile import BuildFailed
from refmlc.tools.bench.peak import Peak, compile_peak
from refmlc.tools.bench.row import BenchRow, Goal
from refmlc.tools.bench.session import NUMPY, OURS, TVM, BenchComparison, Session
from refmlc.tools.bench.sizes import Sizes
from refmlc.tools.bench.timing import Candidate, ratio
from refmlc.tools.bench.workloads import conv2d, matmul, matmul_int8


def matmul_rows(session: Session, sizes: Sizes) -> Iterator[BenchRow]:
    """Rows 1 and 2."""
    try:
        peak = compile_peak(session.isa)
    except BuildFailed as problem:
        peak, reason = None, str(problem)
    else:
        reason = ""
    beside: tuple[Candidate, ...] = () if peak is None else (peak,)
    for size in sizes.matmul:
        found = session.compare(matmul(size, size, size), (TVM, NUMPY), *beside)
        yield _of_peak(found, peak, reason)
        yield found.row(2, TVM, 120)
        yield found.row(2, NUMPY, 2, f"NumPy, {session.blas}")


def _of_peak(found: BenchComparison, peak: Peak | None, reason: str) -> BenchRow:
    goal, what, against = Goal(90, "%"), found.workload.name, "mul+add peak"
    if peak is None or found.failed:
        return BenchRow(1, what, against, goal, failed=found.failed, note=reason)
    times, operations = found.times(OURS, peak.name), found.workload.operations
    measured = 100 * operations / peak.operations * ratio(found.timings[peak.name], found.timings[OURS])
    rates = f"{operations / times[OURS]:.0f} of {peak.operations / times[peak.name]:.0f} GFLOP/s"
    note = "; ".join(filter(None, (rates, found.note)))
    return BenchRow(1, what, against, goal, measured, note=note, times=times)


def conv2d_rows(session: Session, sizes: Sizes) -> Iterator[BenchRow]:
    """Row 3."""
    found = session.compare(conv2d(*sizes.conv2d), (TVM, NUMPY))
    yield found.row(3, TVM, 35)
    yield found.row(3, NUMPY, 2, "NumPy, im2col")


def narrow_rows(session: Session, sizes: Sizes) -> Iterator[BenchRow]:
    """Row 11."""
    size = sizes.narrow_matmul
    for workload in (
        matmul(size, size, size, "float16"),
        matmul(size, size, size, "bfloat16"),
        matmul_int8(size, size, size),
    ):
        yield session.compare(workload, (TVM,)).row(11, TVM, 20)
