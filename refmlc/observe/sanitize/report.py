"""The findings of a sanitized run, as data.

| field      | holds                                                                                              |
|------------|----------------------------------------------------------------------------------------------------|
| `verdict`  | `defined`; `undefined` (a finding with a code of RM3xx that ended the run); `trap`, `unsupported`, |
|            | `exhausted`: the other ends of a run, after which the rest of the program is unchecked;            |
|            | `unknown`: it ended in a kind that is switched off                                                 |
| `findings` | the failure that ended the run, if any, then the lints in order of occurrence                      |
| `counts`   | the number of occurrences by code; codes that were checked and did not occur have 0                |
| `result`   | the result of the function; None if the run ended early                                            |
"""

from collections.abc import Mapping
from dataclasses import dataclass

from refmlc.diag import Diagnostic
from refmlc.diag.errors import RefmlcError, Trap, Undefined, Unsupported
from refmlc.diag.render import Json, render_text, to_json


@dataclass(frozen=True, slots=True)
class Finding:
    """One finding. `count`: its occurrences; `is_lint`: the program has a meaning nevertheless."""

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
        """The verdict, the findings and the counts as JSON values."""
        findings: list[Json] = [
            {**to_json(finding.diagnostic), "count": finding.count, "lint": finding.is_lint}
            for finding in self.findings
        ]
        return {"verdict": self.verdict, "findings": findings, "counts": dict(self.counts)}

    def text(self) -> str:
        """The findings as text, one after the other."""
        texts = [(finding, render_text(finding.diagnostic)) for finding in self.findings]
        return "\n".join(text.replace("error[", "lint[", 1) if finding.is_lint else text for finding, text in texts)


def verdict_of(failure: RefmlcError | None) -> str:
    """The verdict for the failure that ended a run; None: it ended normally."""
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
