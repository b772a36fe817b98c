"""How far a campaign is: sums over its batches, one line of the journal after another."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from itertools import pairwise

from refmlc.oracle.fuzz.result import BatchResult, FindingRecord, Json
from refmlc.oracle.fuzz.settings import Settings

TENTHS = 10


class Progress:
    """Sums of the batches that are done."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.done: set[int] = set()
        self.programs = 0
        self.cpu = 0.0
        self.verdicts: dict[str, Counter[str]] = {}
        self.coverage: dict[str, set[str]] = {}
        self.findings: dict[str, FindingRecord] = {}
        self.shrunk: dict[str, Json] = {}
        self.notes: Counter[str] = Counter()
        self.memory: list[tuple[str, int]] = []

    def add(self, result: BatchResult) -> list[str]:
        """Count a batch, once; the signatures of its findings."""
        if result.batch in self.done:
            return []
        self.done.add(result.batch)
        self.programs += result.programs
        self.cpu += result.cpu
        self.notes.update(result.notes)
        for path, counts in result.verdicts.items():
            self.verdicts.setdefault(path, Counter()).update(counts)
        for family, names in result.coverage.items():
            self.coverage.setdefault(family, set()).update(names)
        if result.memory:
            self.memory.append((result.worker, result.memory))
        for finding in result.findings:
            self._found(finding)
        return [finding.signature for finding in result.findings]

    def _found(self, finding: FindingRecord) -> None:
        """The one with the least number stands for all: the order in which batches end does not matter."""
        first = self.findings.get(finding.signature)
        if first is None:
            self.findings[finding.signature] = finding
            return
        least = first if first.number <= finding.number else finding
        self.findings[finding.signature] = replace(least, count=first.count + finding.count)

    def left(self, programs: int | None) -> Iterable[int]:
        """The numbers of the batches to run for `programs` programs; None: without end."""
        size = self.settings.size
        last = None if programs is None else -(-programs // size)
        number = 0
        while last is None or number < last:
            if number not in self.done:
                yield number
            number += 1

    @property
    def per_core(self) -> float:
        """Programs per second of processor time, compilers included."""
        return self.programs / self.cpu if self.cpu else 0.0

    def memory_by_tenth(self) -> list[int]:
        """The most that a worker held in each tenth of the campaign. Units: bytes."""
        sizes = [memory for _, memory in self.memory]
        if len(sizes) < TENTHS:
            return []
        cuts = [len(sizes) * number // TENTHS for number in range(TENTHS + 1)]
        return [max(sizes[low:high]) for low, high in pairwise(cuts)]

    def grown(self) -> float | None:
        """How much more memory a worker held at the end than after the first tenth of its batches, as a part of it.

        The most over all workers that did enough batches to say so; None: none did. What is compared are the medians
        of the second and of the last tenth.
        """
        by_worker: dict[str, list[int]] = {}
        for worker, memory in self.memory:
            by_worker.setdefault(worker, []).append(memory)
        grown = []
        for sizes in by_worker.values():
            tenth = len(sizes) // TENTHS
            if tenth:
                early, late = sorted(sizes[tenth : 2 * tenth]), sorted(sizes[-tenth:])
                grown.append(late[tenth // 2] / early[tenth // 2] - 1)
        return max(grown, default=None)

    def to_json(self) -> dict[str, object]:
        """The figures as data."""
        return {
            "programs": self.programs,
            "batches": len(self.done),
            "cpu_seconds": round(self.cpu, 3),
            "programs_per_core_second": round(self.per_core, 1),
            "verdicts": {path: dict(sorted(counts.items())) for path, counts in sorted(self.verdicts.items())},
            "coverage": {family: len(names) for family, names in sorted(self.coverage.items())},
            "notes": dict(self.notes),
            "memory_by_tenth": self.memory_by_tenth(),
            "memory_grown": self.grown(),
            "findings": [
                {**finding.to_json(), "shrunk": self.shrunk.get(finding.signature)}
                for finding in sorted(self.findings.values(), key=lambda each: each.number)
            ],
        }
