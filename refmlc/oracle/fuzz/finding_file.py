"""A finding of a campaign, read from its file (`tell`), and made again.

| the finding is of                 | made again is                                                       |
|-----------------------------------|---------------------------------------------------------------------|
| an implementation                 | the program in that implementation                                  |
| `interp`, a program and a rewrite | both in the interpreter, compared with each other                   |
| `worker`: it ended                | the program in all implementations of the campaign, in this process |
| a batch, no program alone         | nothing: refused (RM109)                                            |
"""

import json
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass, replace

from refmlc.diag import fail
from refmlc.diag.catalogue import BAD_FILE
from refmlc.lang.wellformed.reader_checks import read
from refmlc.oracle.examine import Examination, examine
from refmlc.oracle.fuzz.batch import REFERENCE, contradictions, every, limits_of
from refmlc.oracle.fuzz.settings import Settings
from refmlc.oracle.implementations.implementation import Implementation
from refmlc.oracle.implementations.trust import is_own
from refmlc.oracle.pairs.variant import Variant
from refmlc.oracle.program import Program
from refmlc.strategies.case import Case

WORKER = "worker"


@dataclass(frozen=True)
class FindingFile:
    """The content of a finding's file. `specs`: its implementations; `other`: a rewrite of the program."""

    id: str
    case: Case
    specs: tuple[str, ...]
    other: Variant | None = None


def is_finding(text: str) -> bool:
    """Whether `text` is the file of a finding of a campaign, rather than a case."""
    try:
        return {"signature", "path", "case"} <= tomllib.loads(text).keys()
    except (tomllib.TOMLDecodeError, RecursionError):
        return False


def read_finding(text: str, name: str) -> FindingFile:
    """The finding that `text`, the file `name`, holds. Fails: RM109; RM1xx for its program."""
    match tomllib.loads(text):
        case {"signature": str(identity), "path": str(path), "case": {"text": str(), **rest} as data, **more}:
            case = replace(Case.from_json(json.dumps(data)), name=identity)
            other = read(str(rest["other"]), "other.py") if "other" in rest else None
            pair = None if other is None else Variant(case, other, "rewritten", calls=case.calls)
            return FindingFile(identity, case, _specs(path, more.get("implementations", [])), pair)
    raise fail(BAD_FILE, f"`{name}` has no program: the finding concerns a whole batch")


def _specs(path: str, campaign: object) -> tuple[str, ...]:
    """The implementations to ask, as `--impl` takes them. One of somebody's may give itself another name than that."""
    listed = campaign if isinstance(campaign, list) and all(isinstance(each, str) for each in campaign) else []
    specs = [every(spec)[0] for spec in listed]
    if path in (WORKER, REFERENCE):
        return tuple(specs) if path == WORKER else ()
    same = tuple(spec for spec in specs if _named(spec) == _named(path))
    return same or tuple(spec for spec in specs if not is_own(spec)) or (path,)


def _named(spec: str) -> str:
    """The name that an implementation gives itself, whatever marks its command has."""
    return " ".join(spec.replace("'", " ").replace('"', " ").split())


def examined(finding: FindingFile, implementations: Sequence[Implementation]) -> Examination:
    """The program examined again, with its rewrite."""
    programs: list[Program] = [finding.case, *([finding.other] if finding.other is not None else [])]
    limits = limits_of(Settings().program_seconds)
    ours, *theirs = examine(programs, implementations, limits=limits)
    if finding.other is None:
        return ours
    findings = [*ours.findings, *theirs[0].findings, *contradictions(finding.other, ours, theirs[0])]
    return replace(ours, findings=tuple(findings))
