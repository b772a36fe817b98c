"""The verdict on an answer. The first matching row decides.

| the program     | the answer                                 | promises | verdict       | finding |
|-----------------|--------------------------------------------|----------|---------------|---------|
| is stopped by a check, or trap | the same code at the same place | yes | undefined (of a trap: equal) | |
| the same        | anything else that is an answer             | yes      | wrong         | RM702   |
| is undefined    | whatever                                   | no       | undefined     |         |
| has no reference (trap, unsupported, exhausted) | whatever     |          | unsupported, timed out |      |
| is defined      | unsupported: a declared limit               |          | not taken     |         |
| is defined      | rejected                                    | yes      | not taken     |         |
| is defined      | rejected; a trap that is `refused`          | no       | refused       | RM707   |
| is defined      | rejected by a `fault`; crashed in `building` | no      | compiler error | RM708  |
| is defined      | crashed; raised; another trap               | no       | crashed at run time | RM703 |
| is defined      | undefined                                   | no       | not taken     |         |
| is defined      | undefined, a trap                           | yes      | wrong         | RM702   |
| is defined      | timed out                                   |          | hung          | RM704   |
| is defined      | exhausted (a limit of its own)              |          | timed out     |         |
| is defined      | ended                                      |          | by the rule   | RM701 where wrong |
"""

from refmlc.diag import Diagnostic, Related
from refmlc.diag.catalogue import COMPILER_ERROR, CRASHED, NO_ANSWER, REFUSED_PROGRAM, WRONG_RESULT, WRONG_VERDICT, Code
from refmlc.observe.bounds.freedom import Freedom
from refmlc.oracle.agreement import OTHERS, PartComparison, agree
from refmlc.oracle.finding import Finding, make_finding
from refmlc.oracle.implementations.implementation import Answer, Ended, Stop, Stopped
from refmlc.oracle.outcome import Kind, Verdict
from refmlc.oracle.reference import Program, Reference

NO_WORD = {Stop.EXHAUSTED: Kind.TIMED_OUT, Stop.TIMED_OUT: Kind.TIMED_OUT}
BREAKS: dict[Kind, tuple[Code, str]] = {
    Kind.REFUSED: (REFUSED_PROGRAM, "refuses"),
    Kind.COMPILER_ERROR: (COMPILER_ERROR, "fails to compile"),
    Kind.CRASHED: (CRASHED, "crashes in"),
    Kind.HUNG: (NO_ANSWER, "gives no answer to"),
}
"""The kinds that are findings on an implementation without a result: the code, and what it does."""


def without_answer(reference: Reference) -> Verdict | None:
    """The verdict on implementations without promised verdicts if the program is undefined; None if it is defined."""
    answer = reference.answer
    if isinstance(answer, Ended):
        return None
    kind = Kind.UNDEFINED if answer.why is Stop.UNDEFINED else NO_WORD.get(answer.why, Kind.UNSUPPORTED)
    return Verdict(kind, report=answer.diagnostic, notes=() if answer.diagnostic else (answer.message,))


def judged(
    case: Program,
    number: int,
    reference: Reference,
    answer: Answer,
    *,
    name: str,
    promises: bool,
    freedom: Freedom = OTHERS,
) -> tuple[Verdict, Finding | None]:
    """The verdict on `answer` to call `number`, which implementation `name` gave; and the finding, if it is one."""
    if promises:
        return _promised(case, number, reference, answer, name)
    verdict = without_answer(reference)
    if verdict is not None:
        return verdict, None
    if isinstance(reference.answer, Ended) and isinstance(answer, Ended):
        compared = agree(case, number, reference.answer, answer, promised=False, freedom=freedom)
        return _ended(case, number, reference, compared, name)
    return _no_result(case, number, reference, answer, name) if isinstance(answer, Stopped) else (known_equal(), None)


def known_equal() -> Verdict:
    return Verdict(Kind.EQUAL)


def _promised(
    case: Program, number: int, reference: Reference, answer: Answer, name: str
) -> tuple[Verdict, Finding | None]:
    plain = reference.plain
    if isinstance(plain, Ended) and isinstance(answer, Ended):
        compared = agree(case, number, plain, answer, promised=True)
        verdict, finding = _ended(case, number, reference, compared, name)
        return (without_answer(reference) or verdict, None) if finding is None else (verdict, finding)
    if isinstance(answer, Stopped) and answer.why in (Stop.UNSUPPORTED, Stop.REJECTED, Stop.EXHAUSTED):
        kind = NO_WORD.get(answer.why, Kind.NOT_TAKEN)
        return without_answer(reference) or _stopped(kind, answer), None
    if isinstance(plain, Stopped) and plain.why not in (Stop.UNDEFINED, Stop.TRAP):
        return without_answer(reference) or _stopped(Kind.UNSUPPORTED, plain), None
    if isinstance(answer, Stopped) and answer.why in (Stop.CRASHED, Stop.TIMED_OUT):
        return _no_result(case, number, reference, answer, name)
    if isinstance(plain, Stopped) and isinstance(answer, Stopped) and _same_stop(plain, answer):
        return without_answer(reference) or _stopped(Kind.UNDEFINED, plain), None
    note = f"the implementation {_stop_text(answer)}; the program {_stop_text(plain)}"
    message = f"`{name}` gives a different verdict on `{case.func}`"
    compared = PartComparison("", Verdict(Kind.WRONG, notes=(note,)))
    related = _places(plain)
    return compared.verdict, make_finding(
        WRONG_VERDICT, message, case, number, name, compared, reference, related=related
    )


def _ended(
    case: Program, number: int, reference: Reference, compared: PartComparison, name: str
) -> tuple[Verdict, Finding | None]:
    if compared.verdict.kind is not Kind.WRONG:
        return compared.verdict, None
    message = f"`{name}` gives a wrong result for {compared.label} of `{case.func}`"
    return compared.verdict, make_finding(WRONG_RESULT, message, case, number, name, compared, reference)


def _no_result(
    case: Program, number: int, reference: Reference, answer: Stopped, name: str
) -> tuple[Verdict, Finding | None]:
    """The verdict on an answer without a result."""
    if answer.why is Stop.UNSUPPORTED:
        return _stopped(Kind.NOT_TAKEN, answer), None
    if answer.why is Stop.UNDEFINED:
        note = "the implementation calls the program undefined, but promises no verdicts"
        return Verdict(Kind.NOT_TAKEN, report=answer.diagnostic, notes=(note, answer.message)), None
    if answer.why is Stop.EXHAUSTED:
        return _stopped(Kind.TIMED_OUT, answer), None
    return broken(case, number, reference, answer, name)


def broken(case: Program, number: int, reference: Reference, answer: Stopped, name: str) -> tuple[Verdict, Finding]:
    """The verdict on an implementation that refuses, breaks, or does not answer, and the finding."""
    kind = _break(answer)
    verdict = _stopped(kind, answer)
    code, does = BREAKS[kind]
    message = f"`{name}` {does} `{case.func}`"
    return verdict, make_finding(code, message, case, number, name, PartComparison("", verdict), reference)


def _break(answer: Stopped) -> Kind:
    match answer.why:
        case Stop.TIMED_OUT:
            return Kind.HUNG
        case Stop.REJECTED:
            return Kind.COMPILER_ERROR if answer.fault else Kind.REFUSED
        case Stop.CRASHED if answer.building:
            return Kind.COMPILER_ERROR
        case Stop.TRAP if answer.refused:
            return Kind.REFUSED
    return Kind.CRASHED


def _stopped(kind: Kind, answer: Stopped) -> Verdict:
    return Verdict(kind, report=answer.diagnostic, notes=(answer.message,))


def _same_stop(reference_stop: Stopped, answer_stop: Stopped) -> bool:
    """Whether two verdicts agree: the code, and the place where both have one."""
    expected, actual = reference_stop.diagnostic, answer_stop.diagnostic
    if expected is None or actual is None or expected.code is not actual.code:
        return False
    return actual.span is None or _place(expected) == _place(actual)


def _place(diagnostic: Diagnostic) -> object:
    span = diagnostic.span
    return None if span is None else (span.line, span.column, span.end_line, span.end_column)


def _stop_text(answer: Answer) -> str:
    if isinstance(answer, Ended):
        return "runs to its end"
    at = "" if answer.diagnostic is None or answer.diagnostic.span is None else f" at {answer.diagnostic.span.place}"
    return f"stops{at}: {answer.message}"


def _places(answer: Answer) -> tuple[Related, ...]:
    """Where the program stops."""
    if isinstance(answer, Ended) or answer.diagnostic is None or answer.diagnostic.span is None:
        return ()
    return (Related(f"here: {answer.diagnostic.message}", answer.diagnostic.span),)
