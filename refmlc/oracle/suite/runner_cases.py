"""Some cases asked of one implementation: every module made ready, every call on fresh arguments, every answer scored.

| the implementation                          | its requests                                                    |
|---------------------------------------------|-----------------------------------------------------------------|
| one that takes several modules (`Batching`) | those of all the cases at once                                  |
| … and their calls (`Answering`)             | for everything at once; then the second form of what it refused |
| one that offers `features`, or `lacks` some | not on cases that need others: they are unsupported             |

`forms` decides the form of a module, and when to try a second. An exception is a crash (`runner_border`).
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from time import monotonic
from typing import Protocol, TypeAlias, runtime_checkable

from refmlc.lang.ir import IRModule
from refmlc.oracle.evidence.case_file import CaseFile
from refmlc.oracle.evidence.record import DIALECT
from refmlc.oracle.implementations.implementation import Answer, Answering, Ask, Implementation, Prepared, Stop, Stopped
from refmlc.oracle.implementations.local_calls import answered
from refmlc.oracle.implementations.native import Batching
from refmlc.oracle.suite.result import CaseResult, case_result
from refmlc.oracle.suite.runner_border import Border
from refmlc.oracle.suite.score import arguments, call_result, is_scored

REFUSALS = (Stop.REJECTED, Stop.UNSUPPORTED)
Form: TypeAlias = IRModule | str


@runtime_checkable
class TakesText(Protocol):
    """An implementation that reads TVMScript by itself."""

    def prepare_text(self, text: str) -> Prepared | Stopped:
        """Make the module of `text` ready."""
        ...


class Asker(Protocol):
    """Source of the answers to the calls of a case. `seconds` were already spent on them."""

    @property
    def seconds(self) -> float:
        """The time that it took so far."""
        ...

    def answer(self, number: int) -> Answer:
        """The answer to a call."""
        ...

    def close(self) -> None: ...


def run_cases(
    implementation: Implementation, cases: Sequence[CaseFile], border: Border | None = None
) -> Iterator[CaseResult]:
    """The results of `cases`, which are sent together if possible. Fails: RM109 for a broken case."""
    border = Border() if border is None else border
    promises = promised(implementation)
    scored_cases = [case for case in cases if not lacking(case, implementation) and scored(case, promises)]
    askers = _askers(implementation, scored_cases, border)
    for case in cases:
        begin = monotonic()
        asker = askers.pop(case.id) if case.id in askers else KnownAnswers(_not_asked(case, implementation))
        calls = [call_result(case, number, asker.answer, promises) for number in range(len(case.calls))]
        asker.close()
        yield case_result(case.id, calls, asker.seconds + monotonic() - begin)


def lacking(case: CaseFile, implementation: Implementation) -> list[str]:
    """The features of the case that the implementation does not have, as far as it says."""
    says = getattr(implementation, "says", None)
    description = says if isinstance(says, dict) else {}
    offers = getattr(implementation, "features", description.get("features"))
    lacks = getattr(implementation, "lacks", description.get("lacks"))
    missing_features = set(case.features) - _names(offers) if isinstance(offers, Collection) else set()
    return sorted(missing_features | (set(case.features) & _names(lacks)))


def _names(listed: object) -> set[str]:
    return set(map(str, listed)) if isinstance(listed, Collection) and not isinstance(listed, str) else set()


def promised(implementation: Implementation) -> dict[str, bool]:
    """The promises of the implementation, in the form for `score`."""
    promises = implementation.promises_verdicts
    return {"promises": promises, "detectors": promises and getattr(implementation, "detectors", False) is True}


def scored(case: CaseFile, promises: Mapping[str, bool]) -> list[int]:
    """The calls that are scored."""
    return [number for number in range(len(case.calls)) if is_scored(case, number, **promises)]


def _not_asked(case: CaseFile, implementation: Implementation) -> Stopped:
    missing_features = lacking(case, implementation)
    return Stopped(
        Stop.UNSUPPORTED,
        f"the implementation does not support {', '.join(missing_features)}" if missing_features else "not run",
    )


def forms(case: CaseFile, implementation: Implementation) -> list[Form] | Stopped:
    """The forms of the case's module, the second for a refusal of the first; or the reason for none.

    Who takes text gets the author's where places count, or where refmlc does not read it. Else modules are given, which
    adapters show; since to refuse one spelling is not to refuse the module, the author's text is the second form.
    """
    module = answered(lambda: case.module)
    takes_text = isinstance(implementation, TakesText) and case.dialect == DIALECT
    if takes_text and (implementation.promises_verdicts or isinstance(module, Stopped)):
        return [case.text]
    if isinstance(module, Stopped):
        return module
    return [module, case.text] if takes_text else [module]


# --------------------------------------------------------------------------------------------- sources of answers


class KnownAnswers:
    """A case whose answers are there: one for each call that is scored, or the same to all."""

    def __init__(self, answers: Mapping[int, Answer] | Stopped, seconds: float = 0.0) -> None:
        """`answers` by the number of the call."""
        self._answers = answers
        self.seconds = seconds

    @property
    def stopped(self) -> bool:
        """Whether the module was not taken."""
        return isinstance(self._answers, Stopped)

    @property
    def refused(self) -> bool:
        """Whether another form of the module may be."""
        return isinstance(self._answers, Stopped) and self._answers.why in REFUSALS

    def answer(self, number: int) -> Answer:
        """The answer to a call."""
        return self._answers if isinstance(self._answers, Stopped) else self._answers[number]

    def close(self) -> None:
        """Nothing is held."""


class PreparedAnswers:
    """A case whose module is made ready."""

    seconds = 0.0

    def __init__(self, case: CaseFile, prepared: Prepared, border: Border) -> None:
        self._case, self._prepared, self._border = case, prepared, border

    def answer(self, number: int) -> Answer:
        """The answer to a call."""
        args = arguments(self._case, number)
        return self._border.guarded(lambda: self._prepared.run(self._case.func, args))

    def close(self) -> None:
        """Give back what the module holds."""
        self._border.guarded(lambda: self._prepared.close())  # noqa: PLW0108 - it may have no `close`


class LazyAnswers:
    """A case whose module is made ready when it is called first, so that only one is at a time."""

    seconds = 0.0

    def __init__(self, case: CaseFile, implementation: Implementation, border: Border) -> None:
        self._case, self._implementation, self._border = case, implementation, border
        self._asker: Asker | None = None

    def answer(self, number: int) -> Answer:
        """The answer to a call."""
        if self._asker is None:
            self._asker = self._make()
        return self._asker.answer(number)

    def close(self) -> None:
        """Give back what the module holds."""
        if self._asker is not None:
            self._asker.close()

    def _make(self) -> Asker:
        case_forms = forms(self._case, self._implementation)
        if isinstance(case_forms, Stopped):
            return KnownAnswers(case_forms)
        refusals = []
        for form in case_forms:
            prepared = self._border.guarded(lambda form=form: self._prepare(form))  # type: ignore[misc]
            if not isinstance(prepared, Stopped):
                return PreparedAnswers(self._case, prepared, self._border)
            refusals.append(prepared)
            if prepared.why not in REFUSALS:
                break
        return KnownAnswers(refusals[0])

    def _prepare(self, form: Form) -> Prepared | Stopped:
        if not isinstance(form, str):
            return self._implementation.prepare(form)
        if isinstance(self._implementation, TakesText):
            return self._implementation.prepare_text(form)
        return Stopped(Stop.UNSUPPORTED, "the implementation takes no text")


def _askers(implementation: Implementation, cases: Sequence[CaseFile], border: Border) -> dict[str, Asker]:
    """Maps case id to the source of its answers. A failed batch is retried case by case."""
    askers: dict[str, Asker] = {case.id: LazyAnswers(case, implementation, border) for case in cases}
    if isinstance(implementation, Batching):
        askers |= _prepared(implementation, cases, border)
    elif isinstance(implementation, Answering) and implementation.batch > 1:
        askers |= _answered(implementation, cases, border)
    return askers


def _prepared(implementation: Batching, cases: Sequence[CaseFile], border: Border) -> dict[str, Asker]:
    """The cases whose modules are made ready together."""
    modules = {case.id: answered(lambda case=case: case.module) for case in cases}  # type: ignore[misc]
    modules_by_id = {name: module for name, module in modules.items() if not isinstance(module, Stopped)}
    prepared_modules = border.guarded(lambda: [*implementation.prepare_all(list(modules_by_id.values()))])
    if isinstance(prepared_modules, Stopped) or len(prepared_modules) != len(modules_by_id):
        return {}
    ready = dict(zip(modules_by_id, prepared_modules, strict=True))
    askers: dict[str, Asker] = {}
    for case in cases:
        module = modules[case.id]
        prepared = module if isinstance(module, Stopped) else ready[case.id]
        askers[case.id] = (
            KnownAnswers(prepared) if isinstance(prepared, Stopped) else PreparedAnswers(case, prepared, border)
        )
    return askers


def _answered(implementation: Answering, cases: Sequence[CaseFile], border: Border) -> dict[str, Asker]:
    """Send modules and calls of the cases together: first forms, then second forms of those refused."""
    askers: dict[str, Asker] = {}
    first: list[tuple[CaseFile, Form]] = []
    seconds: dict[str, Form] = {}
    for case in cases:
        match forms(case, implementation):
            case Stopped() as why:
                askers[case.id] = KnownAnswers(why)
            case [form, *others]:
                first.append((case, form))
                if others:
                    seconds[case.id] = others[0]
    again: list[tuple[CaseFile, Form]] = []
    for case, answers in _together(implementation, first, border):
        askers[case.id] = answers
        if case.id in seconds and answers.refused:
            again.append((case, seconds[case.id]))
    for case, answers in _together(implementation, again, border):
        if not answers.stopped:
            askers[case.id] = answers
    return askers


def _together(
    implementation: Answering, forms_by_case: Sequence[tuple[CaseFile, Form]], border: Border
) -> Iterator[tuple[CaseFile, KnownAnswers]]:
    """The answers to each case, as they arrive; fewer if an answer is not a batch."""
    promises = promised(implementation)
    numbers = [scored(case, promises) for case, _ in forms_by_case]
    asks = [
        Ask(form, tuple((case.func, arguments(case, number)) for number in call_numbers))
        for (case, form), call_numbers in zip(forms_by_case, numbers, strict=True)
    ]
    answers = border.guarded(lambda: iter(implementation.answer_all(asks) if asks else ()))
    if isinstance(answers, Stopped):
        return
    for (case, _), call_numbers in zip(forms_by_case, numbers, strict=True):
        begin = monotonic()
        match border.guarded(lambda: [next(answers)]):
            case [Stopped() as why]:
                yield case, KnownAnswers(why, monotonic() - begin)
            case [tuple() as case_answers] if len(case_answers) == len(call_numbers):
                yield case, KnownAnswers(dict(zip(call_numbers, case_answers, strict=True)), monotonic() - begin)
            case _:
                return
