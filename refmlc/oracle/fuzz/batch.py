"""The programs of a batch: generated, examined in every implementation, and made smaller where they fail.

| kind        | the program                                                                         |
|-------------|-------------------------------------------------------------------------------------|
| `functions` | a prim_func (`refmlc.strategies.rolled`)                                            |
| `graphs`    | a function of Relax over prim_funcs (`rolled_module`)                               |
| `schedules` | a prim_func, and a legal rewrite of it that must agree with it (`rolled_schedules`) |
| `operators` | one to three operators of Relax on values at the edges (`rolled_operators`)         |
| of a subject | what a part of real TVM does to one (`subjects`)                                    |

Most functions are small: faults show in small programs, and of these there are many more in an hour. One in `large` is
as large as the generator makes them.

The interpreter and every implementation run them, compiled together:

| path      | is                                                      | its verdicts                                |
|-----------|---------------------------------------------------------|---------------------------------------------|
| `interp`  | the reference; some batches under the sanitizer         | verdicts on programs: defined, undefined …  |
| `prove`   | in some batches: a rewrite of each function, proved     | of proofs of pairs (`refmlc.prove`)         |
| any other | an implementation                                       | how it compares (`refmlc.oracle.outcome`)   |
"""

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from refmlc.diag import RefmlcError
from refmlc.lang.ir import IRModule
from refmlc.lang.script import show
from refmlc.oracle.examine import Examination, examine, uncompared
from refmlc.oracle.finding import Finding
from refmlc.oracle.fuzz import proofs
from refmlc.oracle.fuzz.coverage import covered
from refmlc.oracle.fuzz.exclusions import TVM, exclusions, has_any, is_excluded
from refmlc.oracle.fuzz.finding_pattern import Pattern, pattern_of
from refmlc.oracle.fuzz.kept_processes import STARTS, kept
from refmlc.oracle.fuzz.likeness import row_like
from refmlc.oracle.fuzz.reordered_loops import named_implementation
from refmlc.oracle.fuzz.result import BatchResult, FindingRecord, Json, digest_of, merged, signature, together
from refmlc.oracle.fuzz.settings import ANY, CampaignSettings
from refmlc.oracle.fuzz.subjects.blamed_pipeline import UNKNOWN, BlamedPass, blamed, passes_of
from refmlc.oracle.fuzz.subjects.table import SUBJECTS
from refmlc.oracle.implementations.implementation import Implementation, Limits
from refmlc.oracle.implementations.interp import Interp
from refmlc.oracle.outcome import COMPARED, Kind
from refmlc.oracle.pairs.contradiction import of_interpreter
from refmlc.oracle.pairs.equivalents import Variant
from refmlc.oracle.reasons import counted as counted_by_reason
from refmlc.oracle.reduce.reduction import reduce_case
from refmlc.oracle.reference import Program
from refmlc.strategies.case import Case
from refmlc.strategies.equivalents import rolled_schedules
from refmlc.strategies.functions import rolled
from refmlc.strategies.modules import rolled_module
from refmlc.strategies.operators.program import rolled_operators


def program(settings: CampaignSettings, number: int) -> Case:
    """The case of program `number`: the first that is not excluded, of a few."""
    return drawn(settings, number)[1]


def drawn(settings: CampaignSettings, number: int) -> tuple[int, Case]:
    """The seed and the case of program `number`. Where all attempts are excluded, the last stays.

    Of a program that is guided, the first of a few attempts that has something which is preferred, else the first.
    """
    exclude, prefer = exclusions(settings.exclude, settings.implementations), frozenset(settings.prefer)
    looks = LOOKS if prefer and number % GUIDED == 0 else 1
    first: tuple[int, Case] | None = None
    for attempt in range(ATTEMPTS):
        seed = settings.seed_of(number, attempt)
        case = generated(settings, number, seed)
        if is_excluded(case.module, exclude):
            continue
        first, looks = first or (seed, case), looks - 1
        if prefer and has_any(case.module, prefer):
            return seed, case
        if not looks:
            break
    return first or (seed, case)


def generated(settings: CampaignSettings, number: int, seed: int) -> Case:
    """The case that `seed` gives for program `number`, which decides its kind."""
    match settings.kind_of(number):
        case "graphs":
            return rolled_module(seed, None if settings.aim == ANY else settings.aim)
        case "operators":
            return rolled_operators(seed)
    small = settings.large == 0 or seed % settings.large != 0
    return rolled(seed, None if settings.aim == ANY else settings.aim, small=small)


def rewrites(settings: CampaignSettings, number: int, case: Case) -> list[Variant]:
    """What must agree with the case of program `number`: of kind `schedules`, a rewrite, where there is one."""
    if settings.kind_of(number) != "schedules":
        return []
    schedules = rolled_schedules(case.prim_func, settings.seed_of(number), 1)
    return [
        Variant(case, IRModule({case.func: schedule.func}), schedule.trace, calls=case.calls) for schedule in schedules
    ]


def as_case(program: Program) -> Case | None:
    """The program as a case, where its arguments are recipes."""
    match program:
        case Case():
            return program
        case Variant(base=Case() as base):
            return replace(base, module=program.module, name=program.name)
    return None


REFERENCE = "interp"
PROVED_KINDS = ("functions", "schedules")
ATTEMPTS = 32  # to draw a program that is not excluded
GUIDED, LOOKS = 3, 6  # one program of three is the first of six with something new: a prime, for kinds take turns
COVER = 4  # coverage is counted in every fourth batch: it takes a tenth of the interpreter's time
STEPS, BYTES = 200_000, 1 << 28  # of a call: generated programs are small


def run_batch(settings: Json, batch: int, numbers: Sequence[int]) -> Json:
    """A `BatchResult` as data, of these programs of batch number `batch`."""
    campaign_settings = CampaignSettings.from_json(settings)
    subjects: dict[str, list[int]] = {}
    whole = list[int]()
    for number in numbers:
        kind = campaign_settings.kind_of(number)
        (subjects.setdefault(kind, []) if kind in SUBJECTS else whole).append(number)
    parts = [SUBJECTS[kind].run(campaign_settings, batch, members) for kind, members in subjects.items()]
    parts += [run_whole(campaign_settings, batch, whole)] if whole or not parts else []
    return together(batch, parts).to_json()


def run_whole(campaign_settings: CampaignSettings, batch: int, numbers: Sequence[int]) -> BatchResult:
    """The result of the other programs of a batch."""
    cases = [program(campaign_settings, number) for number in numbers]
    rewrites_by_place = [
        (at, rewrite) for at, number in enumerate(numbers) for rewrite in rewrites(campaign_settings, number, cases[at])
    ]
    sanitized = campaign_settings.sanitize > 0 and batch % campaign_settings.sanitize == 0
    programs: list[Program] = [*cases, *(rewrite for _, rewrite in rewrites_by_place)]
    examined = examined_by(
        campaign_settings, implementations_in(campaign_settings, batch), programs, sanitize=sanitized
    )
    places = [*range(len(cases)), *(at for at, _ in rewrites_by_place)]
    findings = [
        as_found(campaign_settings, numbers[at], finding)
        for at, examination in zip(places, examined, strict=True)
        for finding in examination.findings
    ]
    for (at, variant), variant_examination in zip(rewrites_by_place, examined[len(cases) :], strict=True):
        findings += [
            as_found(campaign_settings, numbers[at], finding)
            for finding in contradictions(variant, examined[at], variant_examination)
        ]
    verdicts = counted(examined)
    if campaign_settings.prove > 0 and batch % campaign_settings.prove == 0:
        verdicts[proofs.PATH], alarms = proved(campaign_settings, numbers, examined[: len(cases)], cases)
        findings += alarms
    codes = {
        code_of(reference.answer) or reference.verdict
        for examination in examined
        for reference in examination.reference
    }
    is_counted = batch % COVER == 0
    coverage = covered((examination.module for examination in programs), codes) if is_counted else {}
    notes = {"programs run under the sanitizer": len(cases)} if sanitized else {}
    result = BatchResult(batch, len(cases), verdicts, coverage, merged(findings), notes)
    bases = bases_of(cases, examined) if is_counted else {}
    return replace(result, reasons=reasons_of(examined), bases=bases)


def bases_of(cases: Sequence[Case], examined: Sequence[Examination]) -> dict[str, tuple[str, ...]]:
    """A digest of each program that a path compared, in at least one call."""
    bases: dict[str, list[str]] = {}
    for case, examination in zip(cases, examined, strict=False):  # rewrites follow the cases
        digest = digest_of(show(case.module, show_meta=True))
        for name, verdicts in examination.verdicts.items():
            if any(verdict.kind in COMPARED for verdict in verdicts):
                bases.setdefault(name, []).append(digest)
    return {name: tuple(digests) for name, digests in bases.items()}


def proved(
    settings: CampaignSettings, numbers: Sequence[int], examined: Sequence[Examination], cases: Sequence[Case]
) -> tuple[Counter[str], list[FindingRecord]]:
    """The number of pairs per verdict of the prover, and the calls that contradict one."""
    interp, counts, findings = Interp(limits_of(settings.program_seconds)), Counter[str](), list[FindingRecord]()
    for number, case, examination in zip(numbers, cases, examined, strict=True):
        pair = proofs.pair_of(case, settings.seed_of(number)) if settings.kind_of(number) in PROVED_KINDS else None
        if pair is not None:
            proof = proofs.proof_of(pair)
            counts[proof.kind.value] += 1
            shown = proofs.findings_of(pair, proof, examination.reference, interp)
            findings += [as_found(settings, number, finding) for finding in shown]
    return counts, findings


def describe(settings: Json, number: int) -> Json:
    """The case of a program as data; of a subject nothing, it has none."""
    campaign_settings = CampaignSettings.from_json(settings)
    if campaign_settings.kind_of(number) in SUBJECTS:
        return {}
    return as_json(program(campaign_settings, number))


def spec_and_interval(spec: str) -> tuple[str, int]:
    """An implementation, and the interval of batches that run it: `native@8` is every eighth."""
    name, at, number = spec.rpartition("@")
    return (name, int(number)) if at and number.isdecimal() and int(number) else (spec, 1)


def implementations_in(settings: CampaignSettings, batch: int) -> list[str]:
    """The implementations that run batch `batch`."""
    return [name for name, number in map(spec_and_interval, settings.implementations) if batch % number == 0]


def examined_by(
    settings: CampaignSettings, specs: Sequence[str], cases: Sequence[Program], *, sanitize: bool
) -> list[Examination]:
    """The cases, examined with the implementations `specs`."""
    implementations = [implemented(spec, settings.program_seconds) for spec in specs if spec != REFERENCE]
    return examine(cases, implementations, sanitize=sanitize, limits=limits_of(settings.program_seconds))


def contradictions(variant: Variant, base: Examination, rewritten: Examination) -> list[Finding]:
    """The calls in which the interpreter itself gives other bits to a rewrite."""
    pairs = zip(base.reference, rewritten.reference, strict=True)
    findings = [
        of_interpreter(variant, number, base_in_call, rewritten_in_call)
        for number, (base_in_call, rewritten_in_call) in enumerate(pairs)
    ]
    return [finding for finding in findings if finding is not None]


def implemented(spec: str, seconds: float) -> Implementation:
    """The implementation, made once in a worker."""
    return kept(named_implementation, spec, limits_of(seconds))


def version_of(settings: CampaignSettings, path: str) -> str:
    """How an implementation introduces itself, with its version; empty: it does not."""
    for spec in settings.implementations:
        implementation = (
            implemented(spec_and_interval(spec)[0], settings.program_seconds) if spec.startswith(TVM) else None
        )
        if implementation is not None and implementation.name == path:
            return str(getattr(implementation, "says", {}).get("name", ""))
    return ""


def limits_of(seconds: float) -> Limits:
    """The limits of a call. Units: seconds."""
    return Limits(STEPS, BYTES, seconds=seconds / 2, prepare=seconds / 2, start=STARTS)


def counted(examined: Sequence[Examination]) -> dict[str, Counter[str]]:
    """The number of calls per verdict on each path."""
    counts: dict[str, Counter[str]] = {REFERENCE: Counter()}
    for examination in examined:
        counts[REFERENCE].update(reference.verdict for reference in examination.reference)
        for name, verdicts in examination.verdicts.items():
            counts.setdefault(name, Counter()).update(verdict.kind.value for verdict in verdicts)
    return counts


def reasons_of(examined: Sequence[Examination]) -> dict[str, dict[str, int]]:
    """Why defined calls were not compared, by path."""
    messages: dict[str, list[str]] = {}
    for examination in examined:
        for name, verdict in uncompared(examination):
            messages.setdefault(name, []).append(f"{verdict.kind.value}: {verdict.why}")
    return {name: counted_by_reason(reasons) for name, reasons in messages.items()}


def code_of(answer: object) -> str:
    """The code of an answer that has one."""
    diagnostic = getattr(answer, "diagnostic", None)
    return "" if diagnostic is None else str(diagnostic.code.id)


def name_of(finding: Finding, pattern: Pattern) -> str:
    """The signature of a finding: its code, path and verdict, how the reference ended, and its pattern."""
    code, path, _ = finding.signature
    verdict, reference = finding.verdict.kind.value, code_of(finding.reference.answer)
    return signature("" if pattern.row else pattern.words, code, path, verdict, reference, *pattern.names)


def pattern_in(settings: CampaignSettings, finding: Finding) -> Pattern:
    """The pattern of a finding of a campaign; its implementation runs operators alone."""
    implementation = implementation_of(settings, finding)
    return pattern_of(finding, implementation, Interp(limits_of(settings.program_seconds)))


def implementation_of(settings: CampaignSettings, finding: Finding) -> Implementation | None:
    """The implementation that a finding is of; None: the reference."""
    specs = [spec_and_interval(spec)[0] for spec in settings.implementations]
    made = (implemented(spec, settings.program_seconds) for spec in specs if spec != REFERENCE)
    return next((each for each in made if each.name == finding.implementation), None)


def as_found(settings: CampaignSettings, number: int, finding: Finding) -> FindingRecord:
    """The finding as data."""
    pattern = pattern_in(settings, finding)
    return FindingRecord(
        name_of(finding, pattern),
        finding.code.id,
        finding.implementation,
        finding.verdict.kind.value,
        message_of(settings, finding, pattern),
        number,
        drawn(settings, number)[0],
        settings.kind_of(number),
        case_of(finding),
        cause=pattern.text,
    )


def blame_for(settings: CampaignSettings, finding: Finding) -> BlamedPass:
    """The pass of TVM that is guilty of another result; unknown where no TVM, or no pass, is."""
    if not finding.implementation.startswith(TVM) or finding.verdict.kind is not Kind.WRONG or finding.verdict.row:
        return UNKNOWN
    python, _, build = finding.implementation.removeprefix(TVM).partition(",")
    try:
        return blamed(passes_of(python, build, settings.program_seconds), finding)
    except RefmlcError:
        return UNKNOWN


def message_of(settings: CampaignSettings, finding: Finding, pattern: Pattern, blame: BlamedPass = UNKNOWN) -> str:
    """What is wrong, the recorded deviation that it is like, the guilty pass, the version of the implementation."""
    version = version_of(settings, finding.implementation)
    says = getattr(implementation_of(settings, finding), "says", {})
    like = row_like(says, finding, pattern, guilty=blame.name)
    notes = [*finding.diagnostic.notes, *([f"it is like the known row {like}"] if like else [])]
    notes += [blame.line] if blame.line else []
    return "\n".join([finding.diagnostic.message, *notes, *([f"in {version}"] if version else [])])


def case_of(finding: Finding) -> Json:
    """The program of a finding as data; of a pair with the text of the other program."""
    case = as_case(finding.case)
    data = {} if case is None else as_json(case)
    return data if finding.other is None else {**data, "other": show(finding.other.module, show_meta=True)}


def as_json(case: Case) -> Json:
    """A case as data."""
    data: Json = json.loads(case.to_json())
    return data


def shrink(settings: Json, finding_data: Json, seconds: float) -> Json:
    """The smaller case, sizes before and after, and whether there was time for all. Units: seconds."""
    campaign_settings, finding = CampaignSettings.from_json(settings), FindingRecord.from_json(finding_data)
    if finding.kind in SUBJECTS:
        return SUBJECTS[finding.kind].shrink(campaign_settings, finding, seconds)
    if finding.path == proofs.PATH:
        return {"problem": "a pair of programs is not made smaller"}
    specs = [spec_and_interval(spec)[0] for spec in campaign_settings.implementations]
    specs = [spec for spec in specs if implemented(spec, campaign_settings.program_seconds).name == finding.path]

    def alike(case: Case) -> list[tuple[Finding, Pattern]]:
        (each,) = examined_by(campaign_settings, specs, [case], sanitize=False)
        return [
            (candidate, pattern_in(campaign_settings, candidate))
            for candidate in each.findings
            if candidate.code.id == finding.code and candidate.verdict.kind.value == finding.verdict
        ]

    case = Case.from_json(json.dumps(finding.case))
    first = alike(case)
    if not first:
        return {"problem": "the finding does not occur again"}
    cause = first[0][1]

    def keeps(case: Case) -> bool:
        return any(cause.is_kept_by(pattern) for _, pattern in alike(case))

    reduction = reduce_case(case, keeps, seconds=seconds)
    kept = [pair for pair in alike(reduction.case or case) if cause.is_kept_by(pair[1])]
    last, pattern = (kept or first)[0]
    return {
        "case": as_json(reduction.case or case),
        "message": message_of(campaign_settings, last, pattern, blame_for(campaign_settings, last)),
        "lines": [len(str(finding.case["text"]).splitlines()), len(reduction.text.splitlines())],
        "statements": [reduction.before[1], reduction.after[1]],
        "tries": reduction.tries,
        "finished": reduction.finished,
        "cause": pattern.text,
    }
