"""What becomes of the traces of a batch, whose stages are held to the programs that they begin with."""

from collections import Counter

from refmlc.diag import RefmlcError
from refmlc.oracle.fuzz.result import BatchResult, FindingRecord, digest_of, merged
from refmlc.oracle.passes.stages import PassTrace, StageRow, StageVerdict, TraceCheck


class StageTally:
    """Verdicts on stages, findings, the steps that changed a program, why stages were not compared."""

    def __init__(self) -> None:
        self.programs = 0
        self.findings: list[FindingRecord] = []
        self._counts, self._reasons = Counter[str](), Counter[str]()
        self._changed: set[str] = set()
        self._bases: list[str] = []

    def add(self, trace: PassTrace, checked: TraceCheck, changed: set[str]) -> None:
        """Count a trace. `changed`: the names of the steps that changed its program."""
        self.programs += 1
        self._changed |= changed
        self._counts.update(row.verdict.value for row in checked.rows)
        self._reasons.update(f"{row.verdict.value}: {row.why}" for row in checked.rows if not row.is_known)
        self._bases += base_of(trace, checked)

    def refuse(self, failure: RefmlcError) -> None:
        """Count a program without a trace."""
        self.programs += 1
        self.leave(failure.diagnostic.message)

    def leave(self, why: str) -> None:
        """Count what is not compared."""
        self._counts["unsupported"] += 1
        self._reasons[f"unsupported: {why}"] += 1

    def result(self, batch: int, path: str, family: str) -> BatchResult:
        """The result of the batch. `family`: of coverage, what the steps are."""
        return BatchResult(
            batch,
            self.programs,
            {path: self._counts},
            {family: tuple(sorted(self._changed))},
            merged(self.findings),
            reasons={path: dict(self._reasons)},
            bases={path: tuple(self._bases)},
        )


def base_of(trace: PassTrace, checked: TraceCheck) -> tuple[str, ...]:
    """A digest of the program that a trace begins with; empty where no stage was compared with it."""
    return (digest_of(trace.stages[0].text),) if any(map(is_compared, checked.rows)) else ()


def is_compared(row: StageRow) -> bool:
    """Whether a stage has a verdict."""
    return row.is_known or row.verdict is StageVerdict.BROKEN
