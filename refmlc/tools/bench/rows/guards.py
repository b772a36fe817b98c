"""Row 6: what checking costs, where loops and indices are as they are written.

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
from refmlc.tools.bench.compare import complaint
from refmlc.tools.bench.row import BenchRow, Goal
from refmlc.tools.bench.session import Session
from refmlc.tools.bench.sizes import Sizes
from refmlc.tools.bench.texts import program
from refmlc.tools.bench.timing import measure, ratio
from refmlc.tools.bench.workloads import Workload, matmul

GOAL = Goal(1.15, "x", "at most")
AGAINST = "unchecked literal"


def guard_rows(session: Session, sizes: Sizes) -> Iterator[BenchRow]:
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


def _row(session: Session, workload: Workload) -> BenchRow:
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
