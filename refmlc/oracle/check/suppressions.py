"""Findings that are accepted with a reason: a comment of the text, or a row of a baseline.

    C[0] = A[9]  # refmlc: allow RM304: the caller pads A

A comment holds for findings on its own line; one that stands alone, for those on the next line that is no such
comment. Several codes are separated by commas. A comment without a reason accepts nothing; a remark says so, and
names comments that accept no finding.
"""

import re
import tokenize
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from io import StringIO

from refmlc.diag import Diagnostic
from refmlc.diag.source import Source

COMMENT = re.compile(r"#\s*refmlc:\s*allow\s+(?P<codes>RM\d+(?:\s*,\s*RM\d+)*)\s*(?::(?P<reason>.*))?$")


@dataclass(frozen=True)
class Acceptance:
    """Why a finding is accepted. `external`: a row of a baseline says so, else a comment of the text."""

    reason: str
    external: bool = False

    def __str__(self) -> str:
        return f"accepted by {'the baseline' if self.external else 'a comment'}: {self.reason or 'no reason is given'}"


@dataclass(frozen=True)
class Suppression:
    """A comment. `line`: where it stands; `target`: the line whose findings it accepts. Lines count from 1."""

    line: int
    target: int
    codes: tuple[str, ...]
    reason: str

    def accepts(self, diagnostic: Diagnostic) -> bool:
        """Whether the finding is on its line, with its code."""
        span = diagnostic.span
        return span is not None and span.line == self.target and bool(self.reason) and diagnostic.code.id in self.codes


@lru_cache(maxsize=64)
def suppressions(source: Source) -> tuple[Suppression, ...]:
    """The comments of a text, in order."""
    found: list[Suppression] = []
    lines = source.lines
    for number, comment in _comments(source.text):
        match = COMMENT.match(comment)
        if match is None:
            continue
        target = number
        if lines[number - 1].strip() == comment.strip():
            target = _next_line(lines, number)
        codes = tuple(code.strip() for code in match["codes"].split(","))
        found.append(Suppression(number, target, codes, (match["reason"] or "").strip()))
    return tuple(found)


def _comments(text: str) -> Iterator[tuple[int, str]]:
    """The comments of a text with their lines, as far as it can be split into words."""
    with suppress(tokenize.TokenError, SyntaxError, RecursionError):
        for token in tokenize.generate_tokens(StringIO(text.replace("\r\n", "\n").replace("\r", "\n")).readline):
            if token.type == tokenize.COMMENT:
                yield token.start[0], token.string


def _next_line(lines: list[str], number: int) -> int:
    """The first line after `number` that is no comment of this kind."""
    while number < len(lines) and COMMENT.match(lines[number].strip()):
        number += 1
    return number + 1


def acceptance(diagnostic: Diagnostic) -> Acceptance | None:
    """Why a comment of its text accepts the finding; None: none does."""
    if diagnostic.span is None:
        return None
    rows = (row for row in suppressions(diagnostic.span.source) if row.accepts(diagnostic))
    return next((Acceptance(row.reason) for row in rows), None)


def suppression_remarks(source: Source, findings: Iterable[Diagnostic]) -> Iterator[str]:
    """What is to be said of the comments of a text: those without a reason, and those that accept no finding."""
    diagnostics = tuple(findings)
    for row in suppressions(source):
        codes = ", ".join(row.codes)
        if not row.reason:
            yield f"line {row.line}: `allow {codes}` accepts nothing without a reason: `allow {codes}: REASON`"
        elif not any(map(row.accepts, diagnostics)):
            yield f"line {row.line}: `allow {codes}` accepts no finding of this check"
