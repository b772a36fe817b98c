"""The result of a batch as data: a line of the journal.

Findings of a batch with one signature are one `FindingRecord`, with a count: an implementation that is wrong in every
program does not fill the disk.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import cast

Json = Mapping[str, object]


@dataclass(frozen=True)
class FindingRecord:
    """A finding: of which kind, on which path, in which program, and how often.

    `signature` names all findings that are taken for the same; `case` is the program with its arguments
    (`Case.to_json`), `seed` and `kind` make it again; `number` is its number in the campaign.
    """

    signature: str
    code: str
    path: str
    verdict: str
    message: str
    number: int
    seed: int
    kind: str
    case: Json
    count: int = 1

    def to_json(self) -> dict[str, object]:
        """The finding as data."""
        return dict(vars(self))

    @staticmethod
    def from_json(data: Json) -> "FindingRecord":
        """The finding from data."""
        return FindingRecord(**data)  # type: ignore[arg-type]


@dataclass(frozen=True)
class BatchResult:
    """The result of a batch.

    `verdicts`: calls per verdict for each path. `coverage`: the parts of each family that occurred.
    `notes`: counts of events that are not findings (programs that had to be run again, …). Units: seconds of processor
    time, bytes that the worker held after the batch.
    """

    batch: int
    programs: int
    verdicts: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    coverage: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    findings: tuple[FindingRecord, ...] = ()
    notes: Mapping[str, int] = field(default_factory=dict)
    cpu: float = 0.0
    memory: int = 0
    worker: str = ""

    def to_json(self) -> dict[str, object]:
        """The result as data."""
        return {
            **vars(self),
            "verdicts": {path: dict(counts) for path, counts in self.verdicts.items()},
            "coverage": {family: list(names) for family, names in self.coverage.items()},
            "findings": [finding.to_json() for finding in self.findings],
            "notes": dict(self.notes),
        }

    @staticmethod
    def from_json(data: Json) -> "BatchResult":
        """The result from data."""
        values = dict(data)
        values["findings"] = tuple(
            FindingRecord.from_json(finding) for finding in cast("list[Json]", values["findings"])
        )
        coverage = cast("Mapping[str, list[str]]", values["coverage"])
        values["coverage"] = {family: tuple(names) for family, names in coverage.items()}
        return BatchResult(**values)  # type: ignore[arg-type]


def merged(findings: Iterable[FindingRecord]) -> tuple[FindingRecord, ...]:
    """One finding for each signature: the one with the least number, and how many there are. In order of numbers."""
    by_signature: dict[str, FindingRecord] = {}
    for finding in sorted(findings, key=lambda each: (each.number, each.signature)):
        first = by_signature.get(finding.signature)
        by_signature[finding.signature] = (
            finding if first is None else replace(first, count=first.count + finding.count)
        )
    return tuple(by_signature.values())


def together(batch: int, parts: Iterable[BatchResult]) -> BatchResult:
    """The result of a batch from the results of its programs."""
    parts = list(parts)
    verdicts: dict[str, Counter[str]] = {}
    coverage: dict[str, set[str]] = {}
    notes: Counter[str] = Counter()
    for part in parts:
        for path, counts in part.verdicts.items():
            verdicts.setdefault(path, Counter()).update(counts)
        for family, names in part.coverage.items():
            coverage.setdefault(family, set()).update(names)
        notes.update(part.notes)
    return BatchResult(
        batch,
        sum(part.programs for part in parts),
        verdicts,
        {family: tuple(sorted(names)) for family, names in coverage.items()},
        merged(finding for part in parts for finding in part.findings),
        notes,
        sum(part.cpu for part in parts),
        max((part.memory for part in parts), default=0),
        parts[-1].worker if parts else "",
    )
