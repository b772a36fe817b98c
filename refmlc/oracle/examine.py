"""Examine programs: run the meaning of each call, run each implementation, and report differences.

The interpreter runs every call once, under the sanitizer. An implementation that promises verdicts runs every call too;
any other one runs only the defined ones, since an undefined call may do anything and proves nothing. Each run has
fresh arguments. In-house C compiles all programs in one run of the compiler.
"""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate

from refmlc.diag.catalogue import RACE
from refmlc.lang.ir.reach import reachable
from refmlc.observe.bounds.freedom import Freedom
from refmlc.observe.sanitize.kinds import ALL
from refmlc.oracle.agreement import OTHERS
from refmlc.oracle.arguments.trial import steps_per_second
from refmlc.oracle.explained import Explanation, explained
from refmlc.oracle.finding import Finding
from refmlc.oracle.implementations.implementation import (
    Answer,
    Answering,
    Ask,
    Ended,
    Implementation,
    Limits,
    Prepared,
    Stop,
    Stopped,
)
from refmlc.oracle.implementations.interp import Interp
from refmlc.oracle.implementations.native import GUARDED, Batching
from refmlc.oracle.outcome import UNCOMPARED, Kind, Verdict
from refmlc.oracle.pairs import Variant, variants
from refmlc.oracle.pairs.contradiction import contradiction, of_interpreter
from refmlc.oracle.record import known_row
from refmlc.oracle.reference import NOTHING, Program, Reference, references
from refmlc.oracle.verdict_rules import broken, judged, without_answer
from refmlc.run.memory.registry import DEFAULT, FunctionRegistry

INTERP = "interp"
ITSELF = f"native:{GUARDED}"
NO_WITNESS = Stopped(Stop.UNSUPPORTED, f"the meaning of the calls came through {ITSELF}, which is no witness of itself")
SECONDS_OF_VARIANT = 4  # as the budget counts them


@dataclass(frozen=True)
class Examination:
    """An examined program. `reference` and each list of verdicts have one entry per call.

    `pairs` are the variants; `unvaried` is the reason if requested variants are left out.
    """

    case: Program
    reference: tuple[Reference, ...]
    verdicts: dict[str, list[Verdict]]
    findings: tuple[Finding, ...]
    pairs: tuple[str, ...] = ()
    unvaried: str = ""


def examine(  # noqa: PLR0913 - each is a choice of its own
    cases: Sequence[Program],
    implementations: Sequence[Implementation],
    *,
    sanitize: bool = True,
    kinds: Collection[str] = ALL,
    limits: Limits | None = None,
    registry: FunctionRegistry = DEFAULT,
    freedom: Freedom = OTHERS,
    pairs: bool = False,
    allow: frozenset[str] = frozenset(),
    as_written: bool = False,
    compiles_from: int | None = None,
    orders: int = 1,
    ends: Sequence[Mapping[int, Answer]] = (),
    progress: Callable[[str], None] = lambda _what: None,
) -> list[Examination]:
    """Examine `cases`. `kinds` are the sanitizer codes to detect; `limits` are the interpreter's.

    `freedom` is what implementations that promise nothing may do; `pairs`: variants of each case are run too, unless it
    is long. `allow`: as in `refmlc.build`; an implementation that stops there instead is unsupported. `as_written`: no
    barrier is implied (TIR-229). `compiles_from`: after that many iterations guarded C executes the meaning, and is no
    witness of it then. `orders`: how many orders of the threads of a kernel are tried. `ends`: known ends of calls
    (`references`). `progress` learns what runs next: the meaning, then each implementation by its name.
    """
    progress("meaning")
    interp = replace(Interp(limits or Limits(), registry, allow=allow), as_written=as_written, orders=orders)
    interp = replace(interp, compiles_from=compiles_from)
    known = zip(cases, ends or [NOTHING for _ in cases], strict=True)
    originals = [references(case, interp, sanitize=sanitize, kinds=kinds, ends=each) for case, each in known]
    case_pairs = [_variants(case, calls, interp) if pairs else [] for case, calls in zip(cases, originals, strict=True)]
    verdicts: list[dict[str, list[Verdict]]] = [{} for _ in cases]
    findings = [_own_findings(*each) for each in zip(cases, originals, case_pairs, strict=True)]
    programs = [*cases, *(pair.variant for partners in case_pairs for pair in partners)]
    meanings = [*originals, *(pair.reference for partners in case_pairs for pair in partners)]
    for implementation in implementations:
        progress(implementation.name)
        answers = _going_on(_witnessed(implementation, programs, meanings), allow)
        variant_answers = iter(answers[len(cases) :])
        for at, (case, reference) in enumerate(zip(cases, originals, strict=True)):
            result, wrong = _judged(case, reference, answers[at], implementation, (freedom, interp))
            verdicts[at][implementation.name] = result
            findings[at] += wrong
            for pair in case_pairs[at]:
                findings[at] += _paired(pair, reference, (answers[at], next(variant_answers)), implementation, freedom)
    rows = zip(cases, originals, verdicts, findings, case_pairs, strict=True)
    return [_examination(*row, pairs=pairs) for row in rows]


def _examination(
    case: Program,
    meanings: Sequence[Reference],
    verdicts: dict[str, list[Verdict]],
    findings: Sequence[Finding],
    partners: "Sequence[_Pair]",
    *,
    pairs: bool,
) -> Examination:
    unvaried = _unvaried(case, meanings, pairs=pairs)
    return Examination(case, tuple(meanings), verdicts, tuple(findings), _labels(partners), unvaried)


def uncompared(examination: Examination) -> Iterator[tuple[str, Verdict]]:
    """The implementation and the verdict of each defined call that was not compared."""
    for name, verdicts in examination.verdicts.items():
        for verdict, reference in zip(verdicts, examination.reference, strict=True):
            if verdict.kind in UNCOMPARED and reference.verdict == "defined":
                yield name, verdict


@dataclass(frozen=True)
class _Pair:
    variant: Variant
    reference: list[Reference]


def _variants(case: Program, meanings: Sequence[Reference], interp: Interp) -> list[_Pair]:
    """The variants of a case that are defined in some call, as the case is.

    Decision: races are what a variant may bring in, other detectors know the program already. A variant has the first
    calls that take `most_steps` together; a long program has none: each costs as much as the program.
    """
    count = _varied(case, meanings)
    if not any(isinstance(reference.answer, Ended) for reference in meanings[:count]):
        return []
    pairs = []
    for variant in variants(case):
        calls = variant.calls if len(variant.calls) <= count else range(count)
        few = replace(variant, calls=calls)
        pairs.append(_Pair(few, references(few, interp, sanitize=True, kinds=(RACE.id,))))
    return [pair for pair in pairs if any(isinstance(reference.answer, Ended) for reference in pair.reference)]


def most_steps(case: Program) -> int:
    """The steps that the calls of a variant take together; fewer where threads wait for each other."""
    return SECONDS_OF_VARIANT * steps_per_second(case.module, case.func)


def _varied(case: Program, meanings: Sequence[Reference]) -> int:
    """How many calls variants have: the first ones, as many as take `most_steps` together."""
    if any(reference.compiled_calls for reference in meanings):
        return 0
    totals = accumulate(reference.steps for reference in meanings)
    most = most_steps(case)
    return sum(total <= most for total in totals)


def _unvaried(case: Program, meanings: Sequence[Reference], *, pairs: bool) -> str:
    """A note if a program is too long for variants, or some calls of it are; else empty."""
    if not pairs:
        return ""
    if any(reference.compiled_calls for reference in meanings):
        return "no variants: the calls are so long that guarded C executes them"
    count, steps = _varied(case, meanings), sum(reference.steps for reference in meanings)
    if count == len(meanings):
        return ""
    how = f"variants have the first {count} calls" if count else "no variants"
    return f"{how}: the calls take {steps:,} steps, more than {most_steps(case):,}"


def _labels(pairs: Sequence[_Pair]) -> tuple[str, ...]:
    return tuple(pair.variant.label for pair in pairs)


def _witnessed(
    implementation: Implementation, programs: Sequence[Program], meanings: Sequence[Sequence[Reference]]
) -> Sequence[Sequence[Answer | None]]:
    """The answers of an implementation, unless the meaning of some call came through it."""
    if implementation.name == ITSELF and any(each.compiled_calls for calls in meanings for each in calls):
        return [[NO_WITNESS for _ in calls] for calls in meanings]
    return answers_of(implementation, programs, meanings)


def _going_on(answers: Sequence[Sequence[Answer | None]], allow: frozenset[str]) -> list[list[Answer | None]]:
    """The answers; a stop at an allowed code becomes unsupported: the implementation cannot continue there."""
    return [[_unless_allowed(answer, allow) for answer in calls] for calls in answers]


def _unless_allowed(answer: Answer | None, allow: frozenset[str]) -> Answer | None:
    if not isinstance(answer, Stopped) or answer.diagnostic is None or answer.diagnostic.code.id not in allow:
        return answer
    return Stopped(Stop.UNSUPPORTED, f"the implementation does not continue after {answer.diagnostic.code.id}")


def _own_findings(case: Program, meanings: Sequence[Reference], pairs: Sequence[_Pair]) -> list[Finding]:
    """The bugs of refmlc itself."""
    contradictions = (finding for pair in pairs for finding in own_contradictions(pair, meanings))
    return [*own_crashes(case, meanings), *contradictions]


def own_contradictions(pair: _Pair, meanings: Sequence[Reference]) -> Iterator[Finding]:
    """The calls in which the interpreter gives different bits for a variant: bugs of refmlc."""
    for number, (base_reference, variant_reference) in enumerate(zip(meanings, pair.reference, strict=False)):
        finding = of_interpreter(pair.variant, number, base_reference, variant_reference)
        if finding is not None:
            yield finding


def _paired(
    pair: _Pair,
    meanings: Sequence[Reference],
    answers: tuple[Sequence[Answer | None], Sequence[Answer | None]],
    implementation: Implementation,
    freedom: Freedom,
) -> Iterator[Finding]:
    """The contradictions between an implementation's answers to a variant and to the program."""
    rows = zip(meanings, pair.reference, *answers, strict=False)  # a variant may have fewer calls
    for number, (base_reference, variant_reference, base_answer, variant_answer) in enumerate(rows):
        finding = contradiction(
            pair.variant,
            number,
            (base_reference, variant_reference),
            (base_answer, variant_answer),
            implementation.name,
            promises=implementation.promises_verdicts,
            freedom=freedom,
        )
        if finding is not None:
            yield finding


def own_crashes(case: Program, meanings: Sequence[Reference]) -> Iterator[Finding]:
    """The calls in which the interpreter itself crashed: bugs of refmlc."""
    for number, reference in enumerate(meanings):
        if isinstance(reference.answer, Stopped) and reference.answer.why is Stop.CRASHED:
            yield broken(case, number, reference, reference.answer, INTERP)[1]


def answers_of(
    implementation: Implementation, cases: Sequence[Program], meanings: Sequence[Sequence[Reference]]
) -> list[list[Answer | None]]:
    """The answers of `implementation` to each call of each case; None for calls that were not made."""
    promises = implementation.promises_verdicts
    calls_to_make = [
        [_tells(reference) if promises else without_answer(reference) is None for reference in calls]
        for calls in meanings
    ]
    numbers = [number for number, call_mask in enumerate(calls_to_make) if any(call_mask)]
    if (
        isinstance(implementation, Answering)
        and implementation.batch > 1
        and not _runs_short_calls_only(implementation)
    ):
        return _answered_together(implementation, cases, calls_to_make, meanings)
    prepared_by_number = dict(
        zip(numbers, _prepared(implementation, [cases[number] for number in numbers]), strict=True)
    )
    return [
        _answers(implementation, prepared_by_number.get(number), case, call_mask, meanings[number])
        for number, (case, call_mask) in enumerate(zip(cases, calls_to_make, strict=True))
    ]


def _answers(
    implementation: Implementation,
    prepared: Prepared | Stopped | None,
    case: Program,
    call_mask: Sequence[bool],
    meanings: Sequence[Reference],
) -> list[Answer | None]:
    """The answers to each call of a case; None for calls that are not made."""
    long = [_too_long(implementation, reference) for reference in meanings]
    answers = [
        (long[call] or _answer(prepared, case, call)) if is_called else None for call, is_called in enumerate(call_mask)
    ]
    if prepared is not None and not isinstance(prepared, Stopped):
        prepared.close()
    return answers


def _answered_together(
    implementation: Answering,
    cases: Sequence[Program],
    calls_to_make: Sequence[Sequence[bool]],
    meanings: Sequence[Sequence[Reference]],
) -> list[list[Answer | None]]:
    """The same, of modules that are sent several at a time. A module that is not taken is sent alone."""
    answers: list[list[Answer | None]] = [[None for _ in call_mask] for call_mask in calls_to_make]
    numbers = [number for number, call_mask in enumerate(calls_to_make) if any(call_mask)]
    for first in range(0, len(numbers), implementation.batch):
        places = {
            number: [call for call, is_called in enumerate(calls_to_make[number]) if is_called]
            for number in numbers[first : first + implementation.batch]
        }
        requests = [
            Ask(cases[number].module, tuple((cases[number].func, cases[number].arguments(call)) for call in calls))
            for number, calls in places.items()
        ]
        for (number, calls), case_answers in zip(places.items(), implementation.answer_all(requests), strict=True):
            if isinstance(case_answers, Stopped):
                later = _Later(implementation, cases[number], case_answers)
                call_mask = calls_to_make[number]
                answers[number] = _answers(implementation, later, cases[number], call_mask, meanings[number])
                continue
            for call, answer in zip(calls, case_answers, strict=True):
                answers[number][call] = answer
    return answers


def _tells(reference: Reference) -> bool:
    """True if the meaning is fully known, so that a promised verdict can be compared with it."""
    plain = reference.plain
    return isinstance(plain, Ended) or plain.why in (Stop.UNDEFINED, Stop.TRAP)


def _prepared(implementation: Implementation, cases: Sequence[Program]) -> list[Prepared | Stopped]:
    """Prepare the modules: all at once if that is faster, else on demand."""
    if isinstance(implementation, Batching):
        return implementation.prepare_all([case.module for case in cases]) if cases else []
    return [_Later(implementation, case) for case in cases]


class _Later:
    """A module that is prepared at its first call, so that only one exists at a time. `refusal`: it is not taken."""

    def __init__(self, implementation: Implementation, case: Program, refusal: Stopped | None = None) -> None:
        self._implementation = implementation
        self._case = case
        self._refusal = refusal
        self._prepared: Prepared | Stopped | None = None

    def run(self, func: str, args: Sequence[object]) -> Answer:
        if self._prepared is None:
            self._prepared = self._ready()
        return self._prepared if isinstance(self._prepared, Stopped) else self._prepared.run(func, args)

    def _ready(self) -> Prepared | Stopped:
        """The module made ready; where that fails, the function with those that it calls: another may be the reason."""
        module = self._case.module
        prepared = self._implementation.prepare(module) if self._refusal is None else self._refusal
        alone = reachable(module, self._case.func)
        if not isinstance(prepared, Stopped) or len(alone.functions) == len(module.functions):
            return prepared
        prepared_alone = self._implementation.prepare(alone)
        declared = isinstance(prepared_alone, Stopped) and prepared_alone.why is Stop.UNSUPPORTED
        return prepared if declared else prepared_alone

    def close(self) -> None:
        if self._prepared is not None and not isinstance(self._prepared, Stopped):
            self._prepared.close()


def _answer(prepared: Prepared | Stopped | None, case: Program, call: int) -> Answer:
    if prepared is None:
        return Stopped(Stop.UNSUPPORTED, "not called")
    return prepared if isinstance(prepared, Stopped) else prepared.run(case.func, case.arguments(call))


REFUSALS = (Kind.REFUSED, Kind.COMPILER_ERROR, Kind.CRASHED)


def _known(implementation: Implementation, answer: Answer, case: Program) -> str:
    """The row of the recorded deviations that explains a refusal; empty: none."""
    says = getattr(implementation, "says", {})
    if not isinstance(answer, Stopped) or not isinstance(says, Mapping):
        return ""
    return known_row(says, answer, reachable(case.module, case.func))


def _labelled(verdict: Verdict, finding: Finding, found: Explanation | None) -> tuple[Verdict, Finding | None]:
    """The verdict and the finding with the rows that explain them; no finding where the clause decides alone."""
    if found is None:
        return verdict, finding
    if found.decided:
        note = f"row {found.ids}: {found.titles}"
        return replace(verdict, kind=Kind.DECIDED, row=found.ids, notes=(note, *verdict.notes)), None
    verdict = replace(verdict, row=found.ids)
    note = f"known row {found.ids} gives this result: {found.titles}"
    return verdict, replace(finding, verdict=verdict, diagnostic=finding.diagnostic.noting(note))


def _runs_short_calls_only(implementation: Implementation) -> bool:
    return getattr(implementation, "most_steps", None) is not None


def _too_long(implementation: Implementation, reference: Reference) -> Stopped | None:
    """The answer of an implementation that does not run long calls (`most_steps`); None: it runs this one."""
    most = getattr(implementation, "most_steps", None)
    if most is None or (reference.steps <= most and not reference.compiled_calls):
        return None
    return Stopped(Stop.UNSUPPORTED, f"not run: the call takes {_length(reference)}; at most {most:,} are")


def _length(reference: Reference) -> str:
    """The steps of a call, of which C does not count all."""
    return f"{reference.steps:,} steps{' and calls in C' if reference.compiled_calls else ''}"


def _judged(
    case: Program,
    meanings: Sequence[Reference],
    answers: Sequence[Answer | None],
    implementation: Implementation,
    ways: tuple[Freedom, Interp],
) -> tuple[list[Verdict], list[Finding]]:
    """The verdicts and findings; rows of the recorded deviations explain some (`record`, `explained`)."""
    freedom, interp = ways
    verdicts: list[Verdict] = []
    findings: list[Finding] = []
    name, promises = implementation.name, implementation.promises_verdicts
    for number, (reference, answer) in enumerate(zip(meanings, answers, strict=True)):
        if answer is None:
            verdict, finding = without_answer(reference) or Verdict(Kind.UNSUPPORTED), None
        else:
            verdict, finding = judged(case, number, reference, answer, name=name, promises=promises, freedom=freedom)
            row = _known(implementation, answer, case) if verdict.kind in REFUSALS else ""
            if row:
                verdict, finding = Verdict(Kind.NOT_TAKEN, notes=(f"known, row {row}", *verdict.notes)), None
            elif finding is not None and not promises:
                found = explained(implementation, case, number, answer, interp, freedom)
                verdict, finding = _labelled(verdict, finding, found)
        verdicts.append(verdict)
        findings += [] if finding is None else [finding]
    return verdicts, findings
