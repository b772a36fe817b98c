"""Findings as SARIF 2.1.0, the format of OASIS for results of static analysis, which code scanning and editors read.

| SARIF                             | is                                                                           |
|-----------------------------------|------------------------------------------------------------------------------|
| `rules`                           | the codes that occur, with their explanation                                 |
| `results`                         | the findings; of a lint the level is `warning`, of others `error`            |
| `suppressions`                    | a comment (`inSource`) or a row of the baseline (`external`), and its reason |
| `partialFingerprints`             | what follows a finding when lines move: `files.ListedFinding.key`            |
| `toolExecutionNotifications`      | what was not checked: unsupported, a budget, a failure of refmlc             |
| columns                           | characters, from 1; the end is exclusive (`columnKind`: `unicodeCodePoints`) |

Text of programs is cleaned; its braces and brackets are no placeholders and no links (SARIF 3.11.5, 3.11.6).
"""

import re
from collections.abc import Iterable, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import TypeAlias

from refmlc.diag import Diagnostic, Span
from refmlc.diag.codes.code import Code
from refmlc.diag.layout import safe
from refmlc.oracle.findings.files import CheckedFile, ListedFinding, uri_of, with_fingerprints

Object: TypeAlias = "dict[str, object]"

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/os/schemas/sarif-schema-2.1.0.json"
FINGERPRINT = "refmlcFinding/v1"
LINK = re.compile(r"\[(?=[^\[\]]*\]\()")


def sarif(files: Sequence[CheckedFile], folder: Path | None = None) -> Object:
    """The log of one run, as data for JSON; files below `folder` (None: the current one) are named relative to it."""
    base = Path.cwd() if folder is None else folder
    listed = [*with_fingerprints(finding for file in files for finding in file.findings())]
    notices = [(file, notice) for file in files for notice in file.notices()]
    codes = [finding.diagnostic.code for finding, _ in listed] + [notice.code for _, notice in notices]
    rules = {code.id: code for code in sorted(codes, key=lambda code: code.id)}
    index = {name: number for number, name in enumerate(rules)}
    run = {
        "tool": {"driver": _driver(rules.values())},
        "columnKind": "unicodeCodePoints",
        "invocations": [
            {
                "executionSuccessful": not any(file.failed for file in files),
                "toolExecutionNotifications": [_notification(*each, base, index) for each in notices],
            }
        ],
        "results": [_result(finding, mark, base, index) for finding, mark in listed],
    }
    return {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}


def _driver(codes: Iterable[Code]) -> Object:
    number = version("refmlc")
    rules = [
        {
            "id": code.id,
            "shortDescription": {"text": code.title},
            "fullDescription": {"text": code.explanation},
            "help": {"text": f"refmlc explain {code.id}", "markdown": code.example or f"`refmlc explain {code.id}`"},
            "properties": {"tags": [code.kind, *([code.clause] if code.clause else [])]},
        }
        for code in codes
    ]
    return {"name": "refmlc", "version": number, "semanticVersion": number, "rules": rules}


def _result(finding: ListedFinding, fingerprint: str, base: Path, index: dict[str, int]) -> Object:
    diagnostic = finding.diagnostic
    related = [
        {"id": number, "message": _message(related.message), "physicalLocation": _place(related.span, finding, base)}
        for number, related in enumerate(diagnostic.related, 1)
        if related.span is not None
    ]
    location: Object = {"physicalLocation": _place(diagnostic.span, finding, base)}
    if finding.function:
        location["logicalLocations"] = [{"name": safe(finding.function), "kind": "function"}]
    accepted = finding.accepted
    suppression = accepted and {
        "kind": "external" if accepted.external else "inSource",
        "justification": safe(accepted.reason),
    }
    return {
        "ruleId": diagnostic.code.id,
        "ruleIndex": index[diagnostic.code.id],
        "level": finding.level,
        "message": _message(text_of(diagnostic)),
        "locations": [location],
        **({"relatedLocations": related} if related else {}),
        "partialFingerprints": {FINGERPRINT: fingerprint},
        "suppressions": [suppression] if suppression else [],
        "properties": {"calls": finding.calls, "implementation": safe(finding.implementation)},
    }


def text_of(diagnostic: Diagnostic) -> str:
    """What the finding says, without places: the message, the label, the notes, a line each."""
    head = f"{diagnostic.message}: {diagnostic.label}" if diagnostic.label else diagnostic.message
    return "\n".join([head, *(f"note: {note}" for note in diagnostic.notes)])


def _message(text: str) -> Object:
    escaped = LINK.sub(r"\\[", safe(text)).replace("{", "{{").replace("}", "}}")
    return {"text": escaped}


def _place(span: Span | None, finding: ListedFinding, base: Path) -> Object:
    """The place in the file that was checked; without a place, the file."""
    place: Object = {"artifactLocation": {"uri": uri_of(finding.file, base)}}
    span = finding.in_file(span)
    if span is not None:
        place["region"] = {
            "startLine": span.line,
            "startColumn": span.column + 1,
            "endLine": span.end_line,
            "endColumn": span.end_column + 1,
        }
    return place


def _notification(file: CheckedFile, notice: Diagnostic, base: Path, index: dict[str, int]) -> Object:
    return {
        "level": "error" if notice.code.kind == "Internal" else "note",
        "message": _message(text_of(notice)),
        "descriptor": {"id": notice.code.id, "index": index[notice.code.id]},
        "associatedRule": {"id": notice.code.id, "index": index[notice.code.id]},
        "locations": [{"physicalLocation": {"artifactLocation": {"uri": uri_of(file.name, base)}}}],
    }
