"""The results of batches, their findings, and the sums over a campaign.

Equal findings have one `signature`: a digest of their description, without details of the program.

Numbers, names of variables and values in a message become `#` and `_`; code, verdict, path and the kind of node or
operator at the place stay.

A signature is `CAUSE`, or `CAUSE-PLACE` where the implementation is a program of this machine (`tvm:/opt/python`):
the first part is the same on every machine, so that ledgers merge; the second keeps two installations apart.

Findings of a batch with one signature are one `FindingRecord`, with a count: an implementation that is wrong in every
program does not fill the disk.

`Progress` sums the batches, one line of the journal after another.
"""

import hashlib
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from itertools import pairwise
from typing import cast

from refmlc.diag import fail
from refmlc.diag.catalogue import BAD_INPUT
from refmlc.oracle.fuzz.settings import CampaignSettings
from refmlc.oracle.reasons import Reasons, merge, normalised

DIGITS, PLACE_DIGITS = 12, 4
FOLDERS = re.compile(r"(?:(?<=\s)|(?<=:))/\S*/")
SIGNATURE = re.compile(r"[0-9A-Za-z][0-9A-Za-z-]{0,63}")  # it names a file


def signature(message: str, *names: str) -> str:
    """The name of all findings with these `names`, and with `message` once it is normalised."""
    local = [name for name in names if portable(name) != name]
    cause = _digest(*map(portable, names), normalised(message))[:DIGITS]
    return f"{cause}-{_digest(*local)[:PLACE_DIGITS]}" if local else cause


def cause_of(signature: str) -> str:
    """The part of a signature that is the same on every machine."""
    return signature.partition("-")[0]


def portable(name: str) -> str:
    """The name of an implementation without folders of this machine: `tvm` of `tvm:/a/bin/python`."""
    kind, colon, rest = name.partition(":")
    if not colon:
        return name
    if kind in ("tvm", "tvm-importer"):
        _, comma, options = rest.partition(",")
        return f"{kind}{comma}{options}"
    return FOLDERS.sub("", name) if kind == "cmd" else name


def digest_of(text: str) -> str:
    """A short name of a text."""
    return _digest(text)[:DIGITS]


def _digest(*parts: str) -> str:
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()


Json = Mapping[str, object]


@dataclass(frozen=True)
class FindingRecord:
    """A finding: of which kind, on which path, in which program, and how often.

    `signature` names all findings that are taken for the same; `case` is the program with its arguments
    (`Case.to_json`), `seed` and `kind` make it again; `number` is its number in the campaign. `cause`: for people.
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
    cause: str = ""

    def to_json(self) -> dict[str, object]:
        """The finding as data."""
        return dict(vars(self))

    @staticmethod
    def from_json(data: Json) -> "FindingRecord":
        """The finding from data. Fails: RM111 for what is none."""
        data = {"cause": "", **data}
        match data:
            case {"signature": str(name), "case": dict(), "number": int(), "seed": int(), "count": int()} if (
                SIGNATURE.fullmatch(name) and {each.name for each in fields(FindingRecord)} == data.keys()
            ):
                if all(isinstance(data[each], str) for each in ("code", "path", "verdict", "message", "kind", "cause")):
                    return FindingRecord(**data)  # type: ignore[arg-type]  # looked at above
        raise fail(BAD_INPUT, "an entry of a journal is no finding")


@dataclass(frozen=True)
class BatchResult:
    """The result of a batch.

    `verdicts`: calls per verdict for each path. `coverage`: the parts of each family that occurred.
    `notes`: counts of events that are not findings (programs that had to be run again, …). `reasons`: why defined calls
    were not compared, by path. `bases`: digests of the programs that a path compared, where they are counted. Units:
    seconds of processor time, bytes that the worker held after the batch.
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
    reasons: Mapping[str, Reasons] = field(default_factory=dict)
    bases: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def to_json(self) -> dict[str, object]:
        """The result as data."""
        return {
            **vars(self),
            "reasons": {path: dict(reasons) for path, reasons in self.reasons.items()},
            "verdicts": {path: dict(counts) for path, counts in self.verdicts.items()},
            "coverage": {family: list(names) for family, names in self.coverage.items()},
            "bases": {path: list(digests) for path, digests in self.bases.items()},
            "findings": [finding.to_json() for finding in self.findings],
            "notes": dict(self.notes),
        }

    @staticmethod
    def from_json(data: Json) -> "BatchResult":
        """The result from data. Fails: RM111 for what is none."""
        values = {"bases": {}, **data}
        if {each.name for each in fields(BatchResult)} != values.keys() or not _is_result(values):
            raise fail(BAD_INPUT, "an entry of a journal is no result of a batch")
        values["findings"] = tuple(map(FindingRecord.from_json, cast("list[Json]", values["findings"])))
        for field_name in ("coverage", "bases"):
            lists = cast("Mapping[str, list[str]]", values[field_name])
            values[field_name] = {name: tuple(parts) for name, parts in lists.items()}
        return BatchResult(**values)  # type: ignore[arg-type]  # looked at above


def _is_result(values: Json) -> bool:
    """Whether the parts of a result have their types."""
    match values:
        case {
            "batch": int(),
            "programs": int(),
            "cpu": int() | float(),
            "memory": int(),
            "worker": str(),
            "findings": list(findings),
            "notes": notes,
            "verdicts": dict(verdicts),
            "reasons": dict(reasons),
            "coverage": coverage,
            "bases": bases,
        }:
            counts = [notes, *verdicts.values(), *reasons.values()]
            return (
                all(isinstance(finding, dict) for finding in findings)
                and all(map(_are_counts, counts))
                and _are_words(coverage)
                and _are_words(bases)
            )
    return False


def _are_counts(table: object) -> bool:
    return isinstance(table, dict) and all(type(count) is int for count in table.values())


def _are_words(table: object) -> bool:
    return isinstance(table, dict) and all(
        isinstance(words, list) and all(isinstance(word, str) for word in words) for words in table.values()
    )


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
    reasons: dict[str, dict[str, int]] = {}
    bases: dict[str, list[str]] = {}
    for part in parts:
        for path, digests in part.bases.items():
            bases.setdefault(path, []).extend(digests)
        for path, counts in part.verdicts.items():
            verdicts.setdefault(path, Counter()).update(counts)
        for family, names in part.coverage.items():
            coverage.setdefault(family, set()).update(names)
        notes.update(part.notes)
        merge(reasons, part.reasons)
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
        reasons,
        {path: tuple(sorted(digests)) for path, digests in bases.items()},
    )


TENTHS = 10
PER = 10_000  # programs, in which new causes are counted
NEW, EARLIER, KNOWN, JUDGED = "new", "earlier", "known", "judged"
LIKE = "like"
LIKE_ROW = re.compile(r"^it is like the known row (\S+)", re.MULTILINE)
KNOWN_ROW = re.compile(
    r"^(?:known row (?P<gives>\S.*?) gives this result|as the known row (?P<step>\S+))", re.MULTILINE
)


def like_row_of(finding: FindingRecord, shrunk: Json | None = None) -> str:
    """The row of `conformance/known` that looks like a finding, as its message says; empty: none.

    A smaller program has less that looks like something else: its message counts first.
    """
    matches = map(LIKE_ROW.search, _said(finding, shrunk))
    return next((matched[1] for matched in matches if matched is not None), "")


def known_row_of(finding: FindingRecord, shrunk: Json | None = None) -> str:
    """The row of `conformance/known` that explains a finding, as its message says; empty: none."""
    matches = map(KNOWN_ROW.search, _said(finding, shrunk))
    return next((matched["gives"] or matched["step"] for matched in matches if matched is not None), "")


def _said(finding: FindingRecord, shrunk: Json | None) -> tuple[str, str]:
    """The messages of the smaller program, and of the first one."""
    return str((shrunk or {}).get("message", "")), finding.message


class Progress:
    """Sums of the batches that are done."""

    def __init__(self, settings: CampaignSettings) -> None:
        self.settings = settings
        self.done: set[int] = set()
        self.programs = 0
        self.cpu = 0.0
        self.verdicts: dict[str, Counter[str]] = {}
        self.coverage: dict[str, set[str]] = {}
        self.findings: dict[str, FindingRecord] = {}
        self.shrunk: dict[str, Json] = {}
        self.notes: Counter[str] = Counter()
        self.reasons: dict[str, dict[str, int]] = {}
        self.memory: list[tuple[str, int]] = []
        self.first_seen: list[int] = []
        self.curve: list[tuple[int, int]] = []
        self.bases: dict[str, set[str]] = {}
        self.bases_counted: Counter[str] = Counter()
        self.versions: dict[str, str] = {}
        self.ledger: dict[str, str] = {}
        self.excluded: tuple[str, ...] = ()

    def state(self, signature: str) -> str:
        """`known ROW`; `earlier` or `judged …`: the ledger of the beginning has the cause; `like ROW`; or `new`."""
        finding, shrunk = self.findings[signature], self.shrunk.get(signature)
        row, like = known_row_of(finding, shrunk), like_row_of(finding, shrunk)
        return f"{KNOWN} {row}" if row else self.ledger.get(cause_of(signature), f"{LIKE} {like}" if like else NEW)

    def add(self, result: BatchResult) -> list[str]:
        """Count a batch, once; the signatures of its findings."""
        if result.batch in self.done:
            return []
        self.done.add(result.batch)
        self.programs += result.programs
        self.cpu += result.cpu
        self.notes.update(result.notes)
        merge(self.reasons, result.reasons)
        for path, counts in result.verdicts.items():
            self.verdicts.setdefault(path, Counter()).update(counts)
        for family, names in result.coverage.items():
            self.coverage.setdefault(family, set()).update(names)
        for path, digests in result.bases.items():
            self.bases.setdefault(path, set()).update(digests)
            self.bases_counted[path] += len(digests)
        if result.memory:
            self.memory.append((result.worker, result.memory))
        for finding in result.findings:
            self._found(finding)
        self.curve.append((self.programs, len(self.findings)))
        return [finding.signature for finding in result.findings]

    def _found(self, finding: FindingRecord) -> None:
        """The one with the least number stands for all: the order in which batches end does not matter."""
        first = self.findings.get(finding.signature)
        if first is None:
            self.findings[finding.signature] = finding
            self.first_seen.append(self.programs)
            return
        least = first if first.number <= finding.number else finding
        self.findings[finding.signature] = replace(least, count=first.count + finding.count)

    def remaining(self, programs: int | None) -> Iterable[int]:
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

    def saturation(self, parts: int = 4) -> list[float]:
        """New signatures per 10,000 programs in each of `parts` equal parts of the campaign: near 0, the space is dry.

        Batches count in the order in which they ended.
        """
        if not self.programs:
            return []
        cuts = [self.programs * part / parts for part in range(parts + 1)]
        new = [sum(low < seen <= high for seen in self.first_seen) for low, high in pairwise(cuts)]
        return [PER * count * parts / self.programs for count in new]

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
            "new_signatures_per_10000": [round(rate, 1) for rate in self.saturation()],
            "programs_per_core_second": round(self.per_core, 1),
            "verdicts": {path: dict(sorted(counts.items())) for path, counts in sorted(self.verdicts.items())},
            "coverage": {family: len(names) for family, names in sorted(self.coverage.items())},
            "distinct_base_programs": {
                path: {"counted": self.bases_counted[path], "distinct": len(digests)}
                for path, digests in sorted(self.bases.items())
            },
            "excluded": list(self.excluded),
            "versions": dict(sorted(self.versions.items())),
            "notes": dict(self.notes),
            "reasons": {path: dict(reasons) for path, reasons in sorted(self.reasons.items())},
            "memory_by_tenth": self.memory_by_tenth(),
            "memory_grown": self.grown(),
            "findings": [
                {
                    **finding.to_json(),
                    "state": self.state(finding.signature),
                    "shrunk": self.shrunk.get(finding.signature),
                }
                for finding in sorted(self.findings.values(), key=lambda each: each.number)
            ],
        }
