"""What a sanitized run found, as data.

| field      | holds                                                                                              |
|------------|----------------------------------------------------------------------------------------------------|
| `verdict`  | `defined`; `undefined` (a finding with a code of RM3xx that ended the run); `trap`, `unsupported`, |
|            | `exhausted`: how the run ended otherwise, and then nothing is known of what it did not reach;      |
|            | `unknown`: it ended in a kind that is switched off                                                 |
| `findings` | what ended the run, if something did, then the lints in the order in which they were met           |
| `counts`   | by code, how often each was met; codes that were looked for and not met have 0                     |
| `result`   | what the function returned; None where the run ended early                                         |
"""

from collections.abc import Mapping
from dataclasses import dataclass

from refmlc.diag import Diagnostic
from refmlc.diag.errors import RefmlcError, Trap, Undefined, Unsupported
from refmlc.diag.render import Json, render_text, to_json


@dataclass(frozen=True, slots=True)
class Finding:
    """One finding. `count`: how often it was met; `is_lint`: the program has a meaning nevertheless."""

    diagnostic: Diagnostic
    count: int = 1
    is_lint: bool = False


@dataclass(frozen=True, slots=True)
class Report:
    """The findings of one run."""

    verdict: str
    findings: tuple[Finding, ...]
    counts: Mapping[str, int]
    result: object = None

    def to_json(self) -> dict[str, Json]:
        """Plain data for machines."""
        findings: list[Json] = [
            {**to_json(finding.diagnostic), "count": finding.count, "lint": finding.is_lint}
            for finding in self.findings
        ]
        return {"verdict": self.verdict, "findings": findings, "counts": dict(self.counts)}

    def text(self) -> str:
        """The findings as text, one after the other."""
        rendered = [(finding, render_text(finding.diagnostic)) for finding in self.findings]
        return "\n".join(text.replace("error[", "lint[", 1) if finding.is_lint else text for finding, text in rendered)


def verdict_of(failure: RefmlcError | None) -> str:
    """How a run ended, in a word."""
    match failure:
        case None:
            return "defined"
        case Undefined():
            return "undefined"
        case Trap():
            return "trap"
        case Unsupported():
            return "unsupported"
        case _:
            return "exhausted"
