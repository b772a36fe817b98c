"""Findings as commands of GitHub Actions, which shows them on the lines of a pull request.

    ::error file=kernels/gemm.py,line=11,endLine=11,col=38,endColumn=51,title=RM304::load from `B` is out of bounds…

A log is searched for such commands, so text of programs must not end a line or a property: `%`, line ends, and in
properties `:` and `,` are written as `%25`, `%0A`, `%0D`, `%3A`, `%2C`. The order of findings is kept: a step shows
ten errors and ten warnings.
"""

from collections.abc import Iterator, Sequence

from refmlc.diag.layout import safe
from refmlc.oracle.findings.files import CheckedFile, ListedFinding
from refmlc.oracle.findings.sarif import text_of

DATA = str.maketrans({"%": "%25", "\r": "%0D", "\n": "%0A"})
PROPERTY = str.maketrans({"%": "%25", "\r": "%0D", "\n": "%0A", ":": "%3A", ",": "%2C"})


def annotations(files: Sequence[CheckedFile]) -> str:
    """The commands, a line each, for the findings that are not accepted and for what was not checked."""
    return "".join(f"{line}\n" for file in files for line in _lines(file))


def _lines(file: CheckedFile) -> Iterator[str]:
    for finding in file.findings():
        if finding.accepted is None:
            yield _command(finding)
    for notice in file.notices():
        properties = _properties({"file": file.name, "title": f"{notice.code.id}: not checked"})
        yield f"::notice {properties}::{safe(text_of(notice)).translate(DATA)}"


def _command(finding: ListedFinding) -> str:
    diagnostic, span = finding.diagnostic, finding.in_file(finding.diagnostic.span)
    place: dict[str, object] = {"file": finding.file}
    if span is not None:
        place |= {"line": span.line, "endLine": span.end_line}
        if span.line == span.end_line:  # columns of several lines are not shown
            place |= {"col": span.column + 1, "endColumn": span.end_column + 1}
    title = f"{diagnostic.code.id}: {diagnostic.code.title}"
    text = safe(text_of(diagnostic)).translate(DATA)
    return f"::{finding.level} {_properties(place | {'title': title})}::{text}"


def _properties(values: dict[str, object]) -> str:
    return ",".join(f"{name}={safe(str(value)).translate(PROPERTY)}" for name, value in values.items())
