"""Score one call of a case. Broken cases are reported with their place (RM109)."""

from collections.abc import Callable, Mapping

from refmlc.diag import fail
from refmlc.diag.catalogue import BAD_FILE
from refmlc.diag.errors import RefmlcError
from refmlc.oracle.evidence.case_file import CaseFile
from refmlc.oracle.implementations.implementation import Answer, Ended, Stop, Stopped
from refmlc.oracle.suite.answer_text import answer_text, differing
from refmlc.oracle.suite.result import CallResult, Element
from refmlc.oracle.suite.runner_border import crash
from refmlc.oracle.suite.score import is_scored, score
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
    """The error for an impossible case."""
    return fail(BAD_FILE, f"{case.place}, call {number + 1}: {message}")


def call_result(
    case: CaseFile, number: int, answer: Callable[[int], Answer], promises: Mapping[str, bool]
) -> CallResult:
    """The verdict on the result of `answer` for a call; unscored calls are not run. Fails: RM109."""
    if not is_scored(case, number, **promises):
        return CallResult(None)
    returned = answer(number)
    match returned:
        case Ended(args=tuple()) | Stopped(why=Stop(), message=str()):
            pass
        case _:
            returned = Stopped(Stop.CRASHED, f"it answers {type(returned).__name__} which is not an answer")
    scored, got, rows = _looked_at(case, number, returned, promises)
    return (
        CallResult(scored.verdict)
        if scored.verdict is Verdict.PASS
        else CallResult(scored.verdict, scored.why, got, rows)
    )


def _looked_at(
    case: CaseFile, number: int, answer: Answer, promises: Mapping[str, bool]
) -> tuple[Scored, str, tuple[Element, ...]]:
    """The verdict, and its explanation unless it is a pass. Unreadable values are not an answer."""
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
        return Scored(Verdict.CRASH, f"its answer cannot be read: {crash(problem).message}"), "", ()
