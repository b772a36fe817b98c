"""The verdict on one answer. The rows are tried in this order; `wanted` is what the case asserts.

| wanted                   | the answer                                  | promises | verdict     |
|--------------------------|---------------------------------------------|----------|-------------|
| open                     | whatever                                    |          | not scored  |
| undefined                | whatever                                    | no       | not scored  |
| … of feature `detectors` | anything, without detectors                 |          | not scored  |
| anything                 | the process ended, or answered what is none |          | crash       |
| anything                 | too late; its clock ran out (RM605)         |          | timeout     |
| return                   | what is recorded, to the bit                |          | pass        |
| return                   | another value that the rules permit         |          | permitted   |
| return                   | any other value                             |          | fail        |
| anything                 | unsupported, exhausted                      |          | unsupported |
| return                   | rejected, a trap, undefined                 |          | over-strict |
| trap, undefined, reject  | it ends                                     |          | missed-trap |
| trap, undefined, reject  | the recorded kind, code and place           | yes      | pass        |
| trap, undefined, reject  | anything else                               | yes      | fail        |
| trap                     | a trap, undefined                           | no       | pass        |
| trap                     | rejected: the function, not the call        | no       | over-strict |
| reject                   | rejected, a trap, undefined                 | no       | pass        |

Decision: without promises an implementation need not know codes and places, only stop at undefined behaviour. It may
refuse an ill-formed module late, from the call. Only an implementation with detectors must find what only detectors
find: the sanitizer (`interp:sanitized`), no tier.
"""

from collections.abc import Mapping
from dataclasses import replace

from refmlc.diag.catalogue import TIME_EXHAUSTED
from refmlc.oracle.evidence.case_file import CaseCall, CaseFile
from refmlc.oracle.evidence.numbers import Data
from refmlc.oracle.evidence.replay import holds
from refmlc.oracle.implementations.implementation import Answer, Ended, Stop, Stopped
from refmlc.oracle.suite.verdict import Scored, Verdict

BROKEN = {Stop.CRASHED: Verdict.CRASH, Stop.TIMED_OUT: Verdict.TIMEOUT}
OWN_LIMIT = (Stop.UNSUPPORTED, Stop.EXHAUSTED)
DETECTORS = "detectors"
STOPS = ("trap", "undefined", "reject")


def kind_of(case: CaseFile, number: int) -> str:
    """The expected kind of end of call `number`: `return`, `trap`, `undefined`, `reject`, `open`."""
    return str(case.calls[number].assertion.get("kind", "open"))


def is_scored(case: CaseFile, number: int, *, promises: bool, detectors: bool = False) -> bool:
    """Whether an answer to call `number` is scored at all. `detectors`: what only those find is found too."""
    kind = kind_of(case, number)
    if kind == "undefined" and DETECTORS in case.features and not detectors:
        return False
    return kind == "return" or (kind in STOPS and (promises or kind != "undefined"))


def score(case: CaseFile, number: int, answer: Answer, *, promises: bool, detectors: bool = False) -> Scored:
    """The verdict on `answer` to call `number`. Fails: RM109 where the case is broken."""
    if not is_scored(case, number, promises=promises, detectors=detectors):
        return Scored(None)
    if isinstance(answer, Stopped) and answer.why in BROKEN:
        return Scored(BROKEN[answer.why], answer.message)
    if isinstance(answer, Stopped) and answer.diagnostic is not None and answer.diagnostic.code is TIME_EXHAUSTED:
        return Scored(Verdict.TIMEOUT, answer.message)
    if isinstance(answer, Stopped) and answer.why in OWN_LIMIT:
        return Scored(Verdict.UNSUPPORTED, answer.message)
    kind = kind_of(case, number)
    if kind == "return":
        return _returned(case, number, answer)
    if isinstance(answer, Ended):
        code = case.calls[number].assertion.get("code", "")
        return Scored(Verdict.MISSED_TRAP, f"it returns; {kind} {code} is recorded".rstrip())
    return _promised(case, number, answer) if promises else _stopped(kind, answer)


def _returned(case: CaseFile, number: int, answer: Answer) -> Scored:
    if isinstance(answer, Stopped):
        return Scored(Verdict.OVER_STRICT, f"{answer.why.value}: {answer.message}")
    why = holds(case, number, answer)
    if why:
        return Scored(Verdict.FAIL, why)
    other = holds(_exactly(case, number), number, answer)
    return Scored(Verdict.PERMITTED, other) if other else Scored(Verdict.PASS)


def _promised(case: CaseFile, number: int, answer: Stopped) -> Scored:
    placed = answer.diagnostic is not None and answer.diagnostic.span is not None
    why = holds(case if placed else _placeless(case, number), number, answer)
    return Scored(Verdict.FAIL, why) if why else Scored(Verdict.PASS)


def _stopped(kind: str, answer: Stopped) -> Scored:
    if kind == "trap" and answer.why is Stop.REJECTED:
        return Scored(Verdict.OVER_STRICT, f"it refuses a program that ends in a trap: {answer.message}")
    return Scored(Verdict.PASS)


def _placeless(case: CaseFile, number: int) -> CaseFile:
    """The case without the place of call `number`, for an answer that has none: only the code counts."""
    return _asserting(case, number, {**case.calls[number].assertion, "place": ""})


def _exactly(case: CaseFile, number: int) -> CaseFile:
    """The case with nothing but the recorded values permitted in call `number`."""
    assertion = case.calls[number].assertion
    parts = assertion.get("parts")
    if not isinstance(parts, list):
        return case
    strict: list[Data] = [_exact(part) if isinstance(part, dict) else part for part in parts]
    return _asserting(case, number, {**assertion, "parts": strict})


def _asserting(case: CaseFile, number: int, assertion: Mapping[str, Data]) -> CaseFile:
    """The case with another assertion for call `number`."""
    calls = list(case.calls)
    calls[number] = CaseCall(calls[number].args, assertion)
    return replace(case, calls=tuple(calls))


def _exact(part: Mapping[str, Data]) -> dict[str, Data]:
    """A part as it must be to the bit; of alternatives the first is the recorded one."""
    match part:
        case {"rule": "certified" | "ulp", **rest}:
            return {**rest, "rule": "exact"}
        case {"rule": "one of", "options": list(options), **rest}:
            first: list[Data] = [each[:1] if isinstance(each, list) else each for each in options]
            return {**rest, "rule": "one of", "options": first}
        case _:
            return dict(part)
