"""A finding as a file: TOML with the program as a text, its arguments, and how to reproduce it.

`refmlc replay` reads such a file and reproduces it:

| the finding is of                 | made again is                                                       |
|-----------------------------------|---------------------------------------------------------------------|
| an implementation                 | the program in that implementation                                  |
| `interp`, a program and a rewrite | both in the interpreter, compared with each other                   |
| `prove`, a function and a rewrite | the proof of the pair, compared with the calls                      |
| `worker`: it ended                | the program in all implementations of the campaign, in this process |
| `builds`                          | the program in the build that is wrong                              |
| another subject (`subjects`)      | the program through the same steps of TVM                           |
| an importer (`subjects.imports`)  | the stored graph or program through the importer, in a worker       |
| a kind that is unknown            | nothing: refused (RM109)                                            |
| a batch, no program alone         | nothing: refused (RM109)                                            |
"""

import json
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from refmlc.diag import fail
from refmlc.diag.catalogue import BAD_FILE, BAD_USAGE
from refmlc.diag.versions import KEY, FileFormat
from refmlc.lang.wellformed.reader_checks import read
from refmlc.oracle.examine import Examination, examine
from refmlc.oracle.fuzz import proofs
from refmlc.oracle.fuzz.batch import REFERENCE, contradictions, limits_of, spec_and_interval
from refmlc.oracle.fuzz.exclusions import TVM
from refmlc.oracle.fuzz.result import FindingRecord, Json
from refmlc.oracle.fuzz.settings import KINDS, CampaignSettings
from refmlc.oracle.fuzz.subjects import builds
from refmlc.oracle.implementations.implementation import Implementation
from refmlc.oracle.implementations.interp import Interp
from refmlc.oracle.implementations.lookup import is_own
from refmlc.oracle.pairs.equivalents import Variant
from refmlc.oracle.reference import Program
from refmlc.strategies.case import Case


def finding_text(settings: CampaignSettings, finding: FindingRecord, shrunk: Json | None) -> str:
    """The text of the file. Where the program was made smaller, that one is the case, and the first one follows."""
    smaller = shrunk.get("case") if shrunk else None
    message = str(shrunk["message"]) if shrunk and "message" in shrunk else finding.message
    rows = [
        (KEY, FORMAT.version),
        ("code", finding.code),
        ("path", finding.path),
        ("verdict", finding.verdict),
        ("message", message),
        ("signature", finding.signature),
        ("count", finding.count),
        ("seed", finding.seed),
        ("kind", finding.kind),
        ("implementations", list(settings.implementations)),
    ]
    if shrunk and "problem" in shrunk:
        rows.append(("not_shrunk", str(shrunk["problem"])))
    lines = [f"{name} = {as_toml(value)}" for name, value in rows]
    if isinstance(smaller, Mapping):
        lines += ["", "[case]", *_table(smaller), "", "[first]", *_table(finding.case)]
    else:
        lines += ["", "[case]", *_table(finding.case)]
    return "\n".join([*lines, ""])


def _table(case: Mapping[str, object]) -> list[str]:
    return [f"{as_toml(name)} = {as_toml(value)}" for name, value in case.items() if value is not None]


def as_toml(value: object) -> str:
    """A value of JSON in TOML; texts of several lines stay readable."""
    match value:
        case str() if "\n" in value and "'''" not in value and value.isprintable() | _plain(value):
            return f"'''\n{value}'''"
        case Mapping():
            return "{" + ", ".join(f"{as_toml(str(key))} = {as_toml(item)}" for key, item in value.items()) + "}"
        case list() | tuple():
            return f"[{', '.join(as_toml(item) for item in value)}]"
        case float() if value != value or abs(value) == float("inf"):  # noqa: PLR0124 - NaN
            return str(value)
        case None:
            return '""'
        case _:
            return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def _plain(text: str) -> bool:
    return all(line.isprintable() or not line for line in text.replace("\t", " ").split("\n"))


FORMAT = FileFormat("finding of a campaign", missing=1)  # campaigns before the version was written have none
WORKER = "worker"


@dataclass(frozen=True)
class FindingFile:
    """The content of a finding's file. `specs`: its implementations; `other`: a rewrite of the program.

    `build`: the options of TVM that the finding is about; a TVM that is named without options gets them.
    """

    id: str
    case: Case
    specs: tuple[str, ...]
    other: Variant | None = None
    build: str = ""


@dataclass(frozen=True)
class TracedFindingFile:
    """The content of a file of a subject's finding: its `kind`, its code, and the case as data.

    `specs`: the TVMs that the file names.
    """

    id: str
    kind: str
    code: str
    case: Mapping[str, object]
    specs: tuple[str, ...]


def read_traced(text: str) -> TracedFindingFile | None:
    """The subject's finding that `text` holds; None: it is of another kind, or of no kind at all."""
    match tomllib.loads(text):
        case {
            "signature": str(identity),
            "path": str(path),
            "kind": str(kind),
            "code": str(code),
            "case": {"text": str(), "steps": list()} as case,
            **more,
        }:
            named = [spec for spec in _listed(more.get("implementations", [])) if spec.startswith(TVM)]
            specs = [spec_and_interval(spec)[0] for spec in named] or ([path] if path.startswith(TVM) else [])
            alike = [spec for spec in specs if _named(spec) == _named(path)]
            return TracedFindingFile(identity, kind, code, case, tuple(alike or specs))
    return None


def is_finding(text: str) -> bool:
    """Whether `text` is the file of a finding of a campaign, rather than a case."""
    try:
        return {"signature", "path", "case"} <= tomllib.loads(text).keys()
    except (ValueError, RecursionError):
        return False


def read_finding(text: str, name: str) -> FindingFile:
    """The finding that `text`, the file `name`, holds. Fails: RM109; RM1xx for its program."""
    table = tomllib.loads(text)
    FORMAT.require(table, name)
    match table:
        case {"signature": str(identity), "path": str(path), "case": {"text": str(), **rest} as data, **more}:
            kind = more.get("kind", KINDS[0])
            if kind not in (*KINDS, builds.KIND):
                raise fail(BAD_FILE, f"`{name}` is a finding of the kind `{kind}`, which is not made again")
            case = replace(Case.from_json(json.dumps(data)), name=identity)
            other = read(str(rest["other"]), "other.py") if "other" in rest else None
            pair = None if other is None else Variant(case, other, "rewritten", calls=case.calls)
            if more.get("kind") == builds.KIND:
                return FindingFile(identity, case, (path,), pair, build_of(path))
            return FindingFile(identity, case, _specs(path, more.get("implementations", [])), pair)
    raise fail(BAD_FILE, f"`{name}` has no program: the finding concerns a whole batch")


def build_of(path: str) -> str:
    """The options of the build that a finding of the kind `builds` names. Fails: RM112 where they do not run here."""
    options = path.removeprefix(TVM).partition(",")[2]
    if not builds.runs_here(options):
        raise fail(BAD_USAGE, f"the finding is on TVM with `{options}`, whose code this machine does not execute")
    return options


def with_options(spec: str, options: str) -> str:
    """The spec with the options of a build, where it names a TVM without any."""
    return f"{spec},{options}" if options and spec.startswith(TVM) and "," not in spec else spec


def _specs(path: str, campaign: object) -> tuple[str, ...]:
    """The implementations to ask, as `--impl` takes them. One of somebody's may give itself another name than that."""
    specs = [spec_and_interval(spec)[0] for spec in _listed(campaign)]
    if path in (WORKER, REFERENCE, proofs.PATH):
        return tuple(specs) if path == WORKER else ()
    named_alike = tuple(spec for spec in specs if _named(spec) == _named(path))
    return named_alike or tuple(spec for spec in specs if not is_own(spec)) or (path,)


def _listed(campaign: object) -> list[str]:
    """The implementations of a campaign, where they are a list of texts."""
    return campaign if isinstance(campaign, list) and all(isinstance(entry, str) for entry in campaign) else []


def _named(spec: str) -> str:
    """The name that an implementation gives itself, whatever marks its command has."""
    return " ".join(spec.replace("'", " ").replace('"', " ").split())


def examined(finding: FindingFile, implementations: Sequence[Implementation]) -> Examination:
    """The program examined again, with its rewrite."""
    programs: list[Program] = [finding.case, *([finding.other] if finding.other is not None else [])]
    limits = limits_of(CampaignSettings().program_seconds)
    examination, *examinations_of_rewrite = examine(programs, implementations, limits=limits)
    if finding.other is None:
        return examination
    findings = [
        *examination.findings,
        *examinations_of_rewrite[0].findings,
        *contradictions(finding.other, examination, examinations_of_rewrite[0]),
        *proofs.findings_of(finding.other, proofs.proof_of(finding.other), examination.reference, Interp(limits)),
    ]
    return replace(examination, findings=tuple(findings))
