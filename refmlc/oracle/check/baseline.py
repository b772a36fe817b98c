"""A baseline: the findings that an old code base had when it adopted refmlc, as a TOML file with a reason for each.

    format = 1

    [[finding]]
    file = "kernels/gemm.py"     # as seen from the folder of the baseline
    function = "gemm"
    code = "RM304"
    implementation = ""          # of RM7xx: the implementation, without its folders
    text = "C[vi, vj] += A[vi, vk] * B[vk + 1, vj]"
    message = "load from `B` is out of bounds"
    reason = "the caller pads B"

A row accepts one finding of a check: that with the same file, function, code, implementation and text of the line. The
line's number is not compared, so that lines may move; nor is the message, which holds values.
A fault that several functions have at one place, in a macro, is accepted where each of them has a row.
"""

import os
import tomllib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import astuple, dataclass, fields, replace
from pathlib import Path

from refmlc.diag import RefmlcError, fail
from refmlc.diag.catalogue import BAD_FILE
from refmlc.diag.versions import FileFormat
from refmlc.oracle.finding import Finding
from refmlc.oracle.implementations.implementation import short_name
from refmlc.oracle.toml_text import toml_value
from refmlc.system.regular import read_text

FORMAT = FileFormat("baseline")
LARGEST = 16 << 20  # bytes of a file
HEAD = "# Findings that were accepted when refmlc was adopted: `refmlc check --baseline` does not report them.\n"


@dataclass(frozen=True)
class BaselineRow:
    """A row: what identifies a finding, then what is for people."""

    file: str
    function: str
    code: str
    implementation: str
    text: str
    message: str = ""
    reason: str = ""

    @property
    def key(self) -> tuple[str, ...]:
        """What a finding is compared by."""
        return (self.file, self.function, self.code, self.implementation, self.text)

    def toml(self) -> str:
        """The row as a table."""
        pairs = zip(fields(self), astuple(self), strict=True)
        return "\n".join(["[[finding]]", *(f"{field.name} = {toml_value(value)}" for field, value in pairs)])


def row_of(finding: Finding, file: str) -> BaselineRow:
    """The row that accepts a finding of `file`, without a reason."""
    span = finding.diagnostic.span
    text = "" if span is None else " ".join(span.source.line(span.line).split())
    message = finding.diagnostic.message
    return BaselineRow(
        file, finding.case.func, finding.code.id, short_name(finding.implementation), text, " ".join(message.split())
    )


@dataclass(frozen=True)
class BaselineFile:
    """The rows of the file at `path`."""

    path: Path
    rows: tuple[BaselineRow, ...] = ()

    def name_of(self, file: Path) -> str:
        """How the rows name a file: by its path from the folder of the baseline."""
        return Path(os.path.relpath(file.absolute(), self.path.absolute().parent)).as_posix()

    def of_file(self, file: Path) -> tuple[BaselineRow, ...]:
        """The rows of a file."""
        name = self.name_of(file)
        return tuple(row for row in self.rows if row.file == name)

    def updated(self, checked: Iterable[Path], findings: Sequence[tuple[Path, Finding]]) -> "BaselineFile":
        """The baseline with these findings of the `checked` files; rows of other files and known reasons stay."""
        names = {self.name_of(file) for file in checked}
        reasons: dict[tuple[str, ...], list[str]] = {}
        for row in self.rows:
            reasons.setdefault(row.key, []).append(row.reason)
        rows = [row for row in self.rows if row.file not in names]
        for file, finding in findings:
            row = row_of(finding, self.name_of(file))
            known = reasons.get(row.key, [])
            rows.append(replace(row, reason=known.pop(0)) if known else row)
        return replace(self, rows=tuple(sorted(rows, key=lambda row: row.key)))

    def write(self) -> None:
        """Write the file. Fails: RM109."""
        text = "\n\n".join([f"{HEAD}format = {FORMAT.version}", *(row.toml() for row in self.rows)])
        try:
            self.path.write_text(f"{text}\n", encoding="utf-8")
        except OSError as problem:
            raise fail(BAD_FILE, f"`{self.path}`: {problem.strerror}") from None


def read_baseline(path: Path) -> BaselineFile:
    """The baseline at `path`. Fails: RM109 where it is none, or of a version that is not read."""
    try:
        data = tomllib.loads(read_text(path, LARGEST))
    except OSError as problem:
        raise fail(BAD_FILE, f"`{path}`: {problem.strerror}") from None
    except (ValueError, RecursionError) as problem:
        raise fail(BAD_FILE, f"`{path}` is not TOML: {problem}") from None
    FORMAT.require(data, str(path))
    tables = data.get("finding", [])
    if data.keys() - {"format", "finding"} or not isinstance(tables, list):
        raise fail(BAD_FILE, f"`{path}` has the keys {', '.join(data)}: a baseline has `format` and `[[finding]]`")
    return BaselineFile(path, tuple(_row(table, number, path) for number, table in enumerate(tables, 1)))


def _row(table: object, number: int, path: Path) -> BaselineRow:
    names = {field.name for field in fields(BaselineRow)}
    if (
        not isinstance(table, Mapping)
        or table.keys() - names
        or not all(isinstance(each, str) for each in table.values())
    ):
        raise _bad_row(path, number)
    try:
        return BaselineRow(**{str(name): str(value) for name, value in table.items()})
    except TypeError:
        raise _bad_row(path, number) from None


def _bad_row(path: Path, number: int) -> RefmlcError:
    names = ", ".join(field.name for field in fields(BaselineRow))
    return fail(BAD_FILE, f"`{path}`: finding {number} is no table of the texts {names}")


def unused(rows: Sequence[BaselineRow], used: Iterable[tuple[str, ...]]) -> list[BaselineRow]:
    """The rows that accept no finding, if those with the keys `used` are accepted."""
    left = Counter(used)
    stale = []
    for row in rows:
        if left[row.key]:
            left[row.key] -= 1
        else:
            stale.append(row)
    return stale
