"""Checked files, and all their findings in one list: of programs, of files that cannot be read.

| what                                       | level                                        |
|--------------------------------------------|----------------------------------------------|
| a finding; a file that is malformed        | error                                        |
| a lint, reported with `--strict`           | warning                                      |
| what refmlc does not support, or a budget  | no finding: a notice (`CheckedFile.notices`) |
"""

import hashlib
import os
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from refmlc.diag import Diagnostic, RefmlcError, Span
from refmlc.diag.errors import IllFormed, Internal, Malformed
from refmlc.oracle.check.baseline import row_of
from refmlc.oracle.check.report import CheckReport
from refmlc.oracle.check.suppressions import Acceptance

STDIN = "<stdin>"


@dataclass(frozen=True)
class ListedFinding:
    """A finding of a file. `key` stays the same when lines move; `accepted`: why it is not reported.

    The places of the module that is imported from a model are no places of the model's file.
    """

    file: str
    function: str
    diagnostic: Diagnostic
    key: tuple[str, ...]
    level: str = "error"
    implementation: str = ""
    calls: int = 1
    accepted: Acceptance | None = None

    def in_file(self, span: Span | None) -> Span | None:
        """A place of the finding, if it is in this file."""
        return span if span is not None and Path(span.source.name).name == Path(self.file).name else None

    def fingerprint(self, again: int) -> str:
        """A digest that follows the finding through changes of the file; `again`: how many before it have its key."""
        return hashlib.sha256("\0".join((*self.key, str(again))).encode(errors="backslashreplace")).hexdigest()[:32]


@dataclass(frozen=True)
class CheckedFile:
    """A file with its report, or with the failure to read it. `path`: as the user wrote it; `-` is standard input.

    `part`: `::` and the name of a module, where the file holds several.
    """

    path: Path
    report: CheckReport | None = None
    failure: RefmlcError | None = None
    part: str = ""

    @property
    def place(self) -> Path:
        """The file with the name of the module in it."""
        return Path(f"{self.path}{self.part}")

    @property
    def name(self) -> str:
        """The file in messages, without the name of a module in it."""
        return STDIN if str(self.path) == "-" else file_of(self.path).as_posix()

    def findings(self) -> Iterator[ListedFinding]:
        """The findings, accepted ones too. Order: as `check` reports them."""
        if isinstance(self.failure, Malformed | IllFormed):
            diagnostic = self.failure.diagnostic
            for each in (diagnostic, *diagnostic.others):
                yield ListedFinding(self.name, "", each, (self.name, "", each.code.id, each.message))
        for cause in () if self.report is None else self.report.all_causes:
            finding = cause.finding
            yield ListedFinding(
                self.name,
                finding.case.func,
                cause.diagnostic,
                row_of(finding, f"{self.name}{self.part}").key,
                "warning" if cause.lint else "error",
                finding.implementation,
                cause.count,
                cause.accepted,
            )

    def notices(self) -> Iterator[Diagnostic]:
        """What keeps the file, or one of its functions, from being checked, and is no fault of it."""
        if self.failure is not None and not isinstance(self.failure, Malformed | IllFormed):
            yield self.failure.diagnostic
        for row in () if self.report is None else self.report.rows:
            if row.problem is not None:
                yield row.problem

    @property
    def failed(self) -> bool:
        """True where refmlc itself failed."""
        return isinstance(self.failure, Internal)


def with_fingerprints(findings: Iterable[ListedFinding]) -> Iterator[tuple[ListedFinding, str]]:
    """The findings, each with its fingerprint."""
    seen: Counter[tuple[str, ...]] = Counter()
    for finding in findings:
        yield finding, finding.fingerprint(seen[finding.key])
        seen[finding.key] += 1


def uri_of(name: str, folder: Path) -> str:
    """A file as the reference that tools resolve: relative to `folder` where it is below it, else absolute."""
    if name == STDIN:
        return quote(name)
    path = Path(name) if Path(name).is_absolute() else folder / name
    try:
        return quote(os.fsencode(_normal(path).relative_to(folder)))
    except ValueError:
        return f"file://{quote(os.fsencode(_normal(path)))}"


def file_of(path: Path) -> Path:
    """The file of `FILE::MODULE`, which is how a command takes one module of a file."""
    return path if path.exists() or "::" not in path.name else path.with_name(path.name.partition("::")[0] or path.name)


def _normal(path: Path) -> Path:
    """The path without `..`; links are not followed."""
    parts: list[str] = []
    for part in path.parts:
        if part == ".." and len(parts) > 1:
            parts.pop()
        elif part != "..":
            parts.append(part)
    return Path(*parts)
