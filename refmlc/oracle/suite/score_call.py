"""One call of a case: its arguments, what the answer comes to. Broken cases are told with their place (RM109)."""

from collections.abc import Callable, Mapping

from refmlc.diag import fail
from refmlc.diag.catalogue import BAD_FILE
from refmlc.diag.errors import RefmlcError
from refmlc.oracle.evidence.case_file import CaseFile
from refmlc.oracle.implementations.implementation import Answer, Ended, Stop, Stopped
from refmlc.oracle.suite.result import CallResult, Element
from refmlc.oracle.suite.runner_border import crash
from refmlc.oracle.suite.score import is_scored, score
from refmlc.oracle.suite.score_shown import answer_text, differing
from refmlc.oracle.suite.verdict import Scored, Verdict


def arguments(case: CaseFile, number: int) -> list[object]:
    """Fresh arguments of call `number`. Fails: RM109."""
    try:
        return case.arguments(number)
    except RefmlcError as failure:
        raise broken(case, number, failure.diagnostic.message) from None
    except (ValueError, TypeError, OverflowError, MemoryError) as problem:  # numbers that no tensor has
        raise broken(case, number, f"its arguments cannot be made: {problem}") from None


def broken(case: CaseFile, number: int, message: str) -> RefmlcError:
    """What is to be raised where a case says what cannot be."""
    return fail(BAD_FILE, f"{case.place}, call {number + 1}: {message}")


def call_result(
    case: CaseFile, number: int, answer: Callable[[int], Answer], promises: Mapping[str, bool]
) -> CallResult:
    """The verdict on what `answer` gives for a call, which is asked if it is scored. Fails: RM109."""
    if not is_scored(case, number, **promises):
        return CallResult(None)
    found = answer(number)
    match found:
        case Ended(args=tuple()) | Stopped(why=Stop(), message=str()):
            pass
        case _:
            found = Stopped(Stop.CRASHED, f"it answers {type(found).__name__} that is no answer")
    scored, got, rows = _looked_at(case, number, found, promises)
    return (
        CallResult(scored.verdict)
        if scored.verdict is Verdict.PASS
        else CallResult(scored.verdict, scored.why, got, rows)
    )


def _looked_at(
    case: CaseFile, number: int, answer: Answer, promises: Mapping[str, bool]
) -> tuple[Scored, str, tuple[Element, ...]]:
    """The verdict, and what is shown where it is no pass. Values that cannot be looked at are no answer."""
    try:
        scored = score(case, number, answer, **promises)
        if scored.verdict is Verdict.PASS:
            return scored, "", ()
        return scored, answer_text(case, answer), differing(case, number, answer)
    except RefmlcError as failure:
        if failure.code is not BAD_FILE:
            raise
        raise broken(case, number, failure.diagnostic.message) from None
    except Exception as problem:  # noqa: BLE001 - objects of an implementation may do anything
        return Scored(Verdict.CRASH, f"its answer cannot be looked at: {crash(problem).message}"), "", ()
