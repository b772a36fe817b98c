"""The programs of a batch, examined: the interpreter and every implementation, compiled together.

| path      | is                                                      | its verdicts                                |
|-----------|---------------------------------------------------------|---------------------------------------------|
| `interp`  | the reference; some batches under the sanitizer         | verdicts on programs: defined, undefined …  |
| any other | an implementation                                       | how it compares (`refmlc.oracle.outcome`)   |
"""

import json
from collections import Counter
from collections.abc import Sequence
from functools import cache

from refmlc.lang.script import show
from refmlc.oracle.examine import Examination, examine
from refmlc.oracle.finding import Finding
from refmlc.oracle.fuzz.coverage import covered
from refmlc.oracle.fuzz.programs import as_case, program, rewrites
from refmlc.oracle.fuzz.reordered_loops import made
from refmlc.oracle.fuzz.result import BatchResult, FindingRecord, Json, merged
from refmlc.oracle.fuzz.settings import Settings
from refmlc.oracle.fuzz.signature import signature
from refmlc.oracle.implementations.implementation import Implementation
from refmlc.oracle.implementations.limits import Limits
from refmlc.oracle.pairs.contradiction import of_interpreter
from refmlc.oracle.pairs.variant import Variant
from refmlc.oracle.program import Program
from refmlc.strategies.case import Case
from refmlc.strategies.operators.program import operator_names

REFERENCE = "interp"
COVER = 4  # coverage is counted in every fourth batch: it takes a tenth of the interpreter's time
STEPS, BYTES = 200_000, 1 << 28  # of a call: generated programs are small


def run_batch(settings: Json, batch: int, numbers: Sequence[int]) -> Json:
    """A `BatchResult` as data, of these programs of batch number `batch`."""
    campaign_settings = Settings.from_json(settings)
    cases = [program(campaign_settings, number) for number in numbers]
    others = [
        (at, rewrite) for at, number in enumerate(numbers) for rewrite in rewrites(campaign_settings, number, cases[at])
    ]
    sanitized = campaign_settings.sanitize > 0 and batch % campaign_settings.sanitize == 0
    everything: list[Program] = [*cases, *(rewrite for _, rewrite in others)]
    examined = examined_by(campaign_settings, asked(campaign_settings, batch), everything, sanitize=sanitized)
    places = [*range(len(cases)), *(at for at, _ in others)]
    findings = [
        as_found(campaign_settings, numbers[at], finding)
        for at, each in zip(places, examined, strict=True)
        for finding in each.findings
    ]
    for (at, variant), theirs in zip(others, examined[len(cases) :], strict=True):
        findings += [
            as_found(campaign_settings, numbers[at], finding)
            for finding in contradictions(variant, examined[at], theirs)
        ]
    codes = {code for each in examined for reference in each.reference if (code := code_of(reference.answer))}
    coverage = covered((each.module for each in everything), codes) if batch % COVER == 0 else {}
    notes = {"programs run under the sanitizer": len(cases)} if sanitized else {}
    return BatchResult(batch, len(cases), counted(examined), coverage, merged(findings), notes).to_json()


def describe(settings: Json, number: int) -> Json:
    """The case of a program as data."""
    return as_json(program(Settings.from_json(settings), number))


def every(spec: str) -> tuple[str, int]:
    """An implementation, and the interval of batches that run it: `native@8` is every eighth."""
    name, at, number = spec.rpartition("@")
    return (name, int(number)) if at and number.isdecimal() and int(number) else (spec, 1)


def asked(settings: Settings, batch: int) -> list[str]:
    """The implementations that run batch `batch`."""
    return [name for name, number in map(every, settings.implementations) if batch % number == 0]


def examined_by(
    settings: Settings, specs: Sequence[str], cases: Sequence[Program], *, sanitize: bool
) -> list[Examination]:
    """The cases, examined with the implementations `specs`."""
    others = [implemented(spec, settings.program_seconds) for spec in specs if spec != REFERENCE]
    return examine(cases, others, sanitize=sanitize, limits=limits_of(settings.program_seconds))


def contradictions(variant: Variant, ours: Examination, theirs: Examination) -> list[Finding]:
    """The calls in which the interpreter itself gives other bits to a rewrite."""
    pairs = zip(ours.reference, theirs.reference, strict=True)
    findings = [
        of_interpreter(variant, number, ours_in_call, other) for number, (ours_in_call, other) in enumerate(pairs)
    ]
    return [each for each in findings if each is not None]


@cache
def implemented(spec: str, seconds: float) -> Implementation:
    """The implementation, made once in a worker."""
    return made(spec, limits_of(seconds))


def limits_of(seconds: float) -> Limits:
    """The limits of a call. Units: seconds."""
    return Limits(STEPS, BYTES, seconds=seconds / 2, prepare=seconds / 2)


def counted(examined: Sequence[Examination]) -> dict[str, Counter[str]]:
    """The number of calls per verdict on each path."""
    counts: dict[str, Counter[str]] = {REFERENCE: Counter()}
    for each in examined:
        counts[REFERENCE].update(reference.verdict for reference in each.reference)
        for name, verdicts in each.verdicts.items():
            counts.setdefault(name, Counter()).update(verdict.kind.value for verdict in verdicts)
    return counts


def code_of(answer: object) -> str:
    """The code of an answer that has one."""
    diagnostic = getattr(answer, "diagnostic", None)
    return "" if diagnostic is None else str(diagnostic.code.id)


def name_of(finding: Finding, operators: Sequence[str] = ()) -> str:
    """The signature of a finding: its code, path and verdict, the shape of the error or its words, the `operators`."""
    code, path, shape = finding.signature
    part = "" if finding.part.startswith("`") else finding.part
    verdict, reference = finding.verdict.kind.value, code_of(finding.reference.answer)
    return signature(shape, code, path, verdict, part, reference, *operators)


def as_found(settings: Settings, number: int, finding: Finding) -> FindingRecord:
    """The finding as data."""
    message = "\n".join([finding.diagnostic.message, *finding.diagnostic.notes])
    called = operator_names(finding.case.module) if settings.kind_of(number) == "operators" else ()
    return FindingRecord(
        name_of(finding, called),
        finding.code.id,
        finding.implementation,
        finding.verdict.kind.value,
        message,
        number,
        settings.seed_of(number),
        settings.kind_of(number),
        case_of(finding),
    )


def case_of(finding: Finding) -> Json:
    """The program of a finding as data; of a pair with the text of the other program."""
    case = as_case(finding.case)
    data = {} if case is None else as_json(case)
    return data if finding.other is None else {**data, "other": show(finding.other.module, show_meta=True)}


def as_json(case: Case) -> Json:
    """A case as data."""
    data: Json = json.loads(case.to_json())
    return data
