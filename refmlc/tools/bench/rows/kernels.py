"""Rows 1 to 4, 6, 9 and 11: single kernels against peers, the peak, and unchecked C.

Sums of products, whose steps may be reordered over the elements of the result:

| row | what                                      | against           | goal         |
|-----|-------------------------------------------|-------------------|--------------|
| 1   | matmul 256³ to 2048³ float32              | the mul+add peak  | ≥ 90 %       |
| 1   | the same of odd sizes: 257³, 509³, 1021³  | the mul+add peak  | ≥ 80 %       |
| 2   | matmul 512³ and 1024³ float32             | TVM; NumPy        | ≥ 120x; ≥ 2x |
| 3   | conv2d 3x3 64→64 56²                      | the mul+add peak  | ≥ 90 %       |
| 3   | the same                                  | TVM; NumPy im2col | ≥ 35x; ≥ 2x  |
| 11  | matmul 512³ float16, bfloat16, int8→int32 | TVM               | ≥ 20x        |

The peak is measured in the same rounds. NumPy's BLAS fuses products and sums: where a processor does as many fused
operations in a cycle as multiplications and additions together, it is as fast as we can be.

Passes over memory and rows of it:

| row | what                                | against | goal    |
|-----|-------------------------------------|---------|---------|
| 4   | softmax 1024²                       | TVM     | ≥ 2.5x  |
| 4   | layernorm 1024²                     | TVM     | ≥ 8x    |
| 4   | mul-add-relu-mul, 4 M elements      | TVM     | ≥ 1.2x  |
| 9   | exp, correctly rounded, 16 M elements | TVM   | ≥ 1.8x  |

That exp is right for all 2³² arguments is a matter of the soak tests (`tests/unit/kernels`); here all that is timed is
compared.

What checking costs, where loops and indices are as they are written:

| row | what                              | against           | goal             |
|-----|-----------------------------------|-------------------|------------------|
| 6   | guarded literal matmul, nt-matmul | unchecked literal | ≤ 1.15x the time |

Guarded: each index, each read of what may be unwritten is checked where it happens, though all of it could be proved.
"""

from collections.abc import Iterator
from dataclasses import replace

from refmlc.native.compile import BuildFailed
from refmlc.native.options import Grade
from refmlc.tools.bench.bare_call import NotGenerated, compile_bare
from refmlc.tools.bench.peak import Peak, compile_peak
from refmlc.tools.bench.row import BenchRow, Goal
from refmlc.tools.bench.session import NUMPY, OURS, TVM, BenchComparison, BenchSession, BenchSizes
from refmlc.tools.bench.texts import program
from refmlc.tools.bench.timing import TimedCandidate, measure, ratio
from refmlc.tools.bench.witness import complaint
from refmlc.tools.bench.workloads import Workload, conv2d, elementwise, exp, layernorm, matmul, matmul_int8, softmax

ADDITIONS = "one addition for each multiplication"
"""What limits sums of products that are not fused."""


def matmul_rows(session: BenchSession, sizes: BenchSizes) -> Iterator[BenchRow]:
    """Rows 1 and 2."""
    peak, reason = _peak(session)
    beside: tuple[TimedCandidate, ...] = () if peak is None else (peak,)
    for size in sizes.matmul:
        comparison = session.compare(matmul(size, size, size), (TVM, NUMPY), *beside)
        yield _of_peak(1, comparison, peak, reason)
        yield comparison.row(2, TVM, 120, limit=ADDITIONS)
        yield comparison.row(2, NUMPY, 2, f"NumPy, {session.blas}", ADDITIONS)
    for size in sizes.more_matmul:
        yield _of_peak(1, session.compare(matmul(size, size, size), (), *beside), peak, reason, 80 if size % 2 else 90)


def _peak(session: BenchSession) -> tuple[Peak | None, str]:
    """The loop that shows the peak; or why there is none."""
    try:
        return compile_peak(session.isa), ""
    except BuildFailed as problem:
        return None, str(problem)


def _of_peak(number: int, comparison: BenchComparison, peak: Peak | None, reason: str, percent: float = 90) -> BenchRow:
    goal, what, against = Goal(percent, "%"), comparison.workload.name, "mul+add peak"
    if peak is None or comparison.failed:
        return BenchRow(number, what, against, goal, failed=comparison.failed, note=reason)
    times, operations = comparison.times(OURS, peak.name), comparison.workload.operations
    measured = 100 * operations / peak.operations * ratio(comparison.timings[peak.name], comparison.timings[OURS])
    rates = f"{operations / times[OURS]:.0f} of {peak.operations / times[peak.name]:.0f} GFLOP/s"
    note = "; ".join(filter(None, (rates, comparison.note)))
    return BenchRow(number, what, against, goal, measured, note=note, times=times)


def conv2d_rows(session: BenchSession, sizes: BenchSizes) -> Iterator[BenchRow]:
    """Row 3."""
    peak, reason = _peak(session)
    beside: tuple[TimedCandidate, ...] = () if peak is None else (peak,)
    comparison = session.compare(conv2d(*sizes.conv2d), (TVM, NUMPY), *beside)
    yield _of_peak(3, comparison, peak, reason)
    yield comparison.row(3, TVM, 35, limit=ADDITIONS)
    yield comparison.row(3, NUMPY, 2, "NumPy, im2col", ADDITIONS)


def narrow_rows(session: BenchSession, sizes: BenchSizes) -> Iterator[BenchRow]:
    """Row 11."""
    size = sizes.narrow_matmul
    for workload, limit in (
        (matmul(size, size, size, "float16"), "rounding each product and sum"),
        (matmul(size, size, size, "bfloat16"), "rounding each product and sum"),
        (matmul_int8(size, size, size), "multiplications of int32"),
    ):
        yield session.compare(workload, (TVM,)).row(11, TVM, 20, limit=limit)


def pass_rows(session: BenchSession, sizes: BenchSizes) -> Iterator[BenchRow]:
    """Row 4."""
    yield session.compare(softmax(sizes.rows, sizes.rows), (TVM,)).row(4, TVM, 2.5, limit="exp, in double")
    yield session.compare(layernorm(sizes.rows, sizes.rows), (TVM,)).row(4, TVM, 8, limit="two transposes of each row")
    yield session.compare(elementwise(sizes.elementwise), (TVM,)).row(4, TVM, 1.2, limit="memory")


def exp_rows(session: BenchSession, sizes: BenchSizes) -> Iterator[BenchRow]:
    """Row 9."""
    yield session.compare(exp(sizes.exp), (TVM,)).row(9, TVM, 1.8, limit="a polynomial in double")


GOAL = Goal(1.15, "x", "at most")
AGAINST = "unchecked literal"


def guard_rows(session: BenchSession, sizes: BenchSizes) -> Iterator[BenchRow]:
    """Row 6."""
    plain = matmul(sizes.literal, sizes.literal, sizes.literal)
    for workload in (plain, transposed(plain)):
        session.progress(workload.name)
        try:
            yield _row(session, workload)
        except (NotGenerated, BuildFailed) as problem:
            yield BenchRow(6, workload.name, AGAINST, GOAL, note=str(problem))


def transposed(plain: Workload) -> Workload:
    """The same product, its second factor given the other way round."""
    a, b = plain.inputs
    n, k = b.shape[1], b.shape[0]
    text = program("matmul_nt", m=a.shape[0], n=n, k=k, dtype=str(a.dtype))
    return replace(plain, name=f"nt-{plain.name}", text=text, inputs=(a, b.T.copy()))


def _row(session: BenchSession, workload: Workload) -> BenchRow:
    expected = workload.expected()
    guarded = compile_bare("guarded", workload, Grade.GUARDED, session.isa)
    unchecked = compile_bare("unchecked", workload, Grade.UNCHECKED, session.isa)
    what = f"guarded {workload.name}"
    wrong = next(filter(None, (complaint(c.name, c.result, expected) for c in (guarded, unchecked))), "")
    grades = guarded.unit.grade, unchecked.unit.grade
    if grades != (Grade.GUARDED, Grade.UNCHECKED):
        wrong = wrong or f"the grades are {grades[0].name}, {grades[1].name}"
    if wrong:
        return BenchRow(6, what, AGAINST, GOAL, failed=wrong)
    timings = measure((guarded, unchecked), session.rounds, sample=session.sample)
    times = {name: timing.nanoseconds for name, timing in timings.items()}
    slower = ratio(timings["guarded"], timings["unchecked"])
    checks = sum(block.checks for block in guarded.unit.blocks)
    return BenchRow(6, what, AGAINST, GOAL, slower, note=f"{checks} checks", times=times)
