"""The verdict on an answer to a call of a case, and the words that explain it.

Large tensors are cut in these words; running the case again gives the whole answer.

The rows are tried in this order; `wanted` is what the case asserts:

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

Broken cases are reported with their place (RM109).
"""

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace

import numpy as np

from refmlc.diag import fail
from refmlc.diag.catalogue import BAD_FILE, TIME_EXHAUSTED
from refmlc.diag.errors import RefmlcError
from refmlc.oracle.evidence.case_file import CaseCall, CaseFile
from refmlc.oracle.evidence.literals import tensor_of
from refmlc.oracle.evidence.replay import first_options, holds, permitted
from refmlc.oracle.implementations.implementation import Answer, Ended, Stop, Stopped
from refmlc.oracle.implementations.local_calls import answered
from refmlc.oracle.parts import parts
from refmlc.oracle.suite.result import CallResult, CaseVerdict, Element, Scored
from refmlc.oracle.suite.runner_border import crash
from refmlc.oracle.toml_text import Data
from refmlc.run.memory.tensor import Tensor
from refmlc.run.memory.values import kind_of

MOST_ELEMENTS = 16
MOST_VALUES = 64
MOST_PARTS = 8


def answer_text(case: CaseFile, answer: Answer) -> str:
    """The answer, a line for each value."""
    if not isinstance(answer, Ended):
        code = "" if answer.diagnostic is None else f"{answer.diagnostic.code.id}: "
        return f"{answer.why.value}: {'' if code in answer.message else code}{answer.message}"
    answer_parts = answered(lambda: parts(case.module, case.func, answer))
    if isinstance(answer_parts, Stopped):  # the text is none that refmlc reads
        return "it returns"
    lines = []
    for part in answer_parts[:MOST_PARTS]:
        values = f": {values_text(part.value)}" if isinstance(part.value, Tensor) else f" {part.value!r}"
        lines.append(f"{part.label}: {kind_of(part.value)}{values}")
    return "\n".join(lines) or "it returns nothing"


def values_text(tensor: Tensor) -> str:
    """The first elements; `_` for those that were not written."""
    if tensor.dtype.kind == "handle":
        return "handles"
    flat, written_mask = np.ascontiguousarray(tensor.array).reshape(-1), tensor.written.reshape(-1)
    first_elements = zip(flat[:MOST_VALUES], written_mask[:MOST_VALUES], strict=True)
    more = ", …" if flat.size > MOST_VALUES else ""
    return ", ".join(str(value) if is_written else "_" for value, is_written in first_elements) + more


def differing(case: CaseFile, number: int, answer: Answer) -> tuple[Element, ...]:
    """The first elements that are not the recorded ones: of a wrong answer those that nothing permits come first."""
    recorded = case.calls[number].assertion.get("parts")
    if not isinstance(answer, Ended) or not isinstance(recorded, list):
        return ()
    answer_parts = parts(case.module, case.func, answer)
    pairs = [(part, data) for part, data in zip(answer_parts, recorded, strict=False) if isinstance(data, dict)]
    elements: list[tuple[bool, Element]] = []
    for part, data in pairs:
        if isinstance(part.value, Tensor) and data.get("rule") not in ("any", "hash") and "dtype" in data:
            elements += _elements(part.label, part.value, data)
    elements.sort(key=lambda each: each[0])
    return tuple(element for _, element in elements[:MOST_ELEMENTS])


def _elements(label: str, tensor: Tensor, data: Mapping[str, Data]) -> Iterator[tuple[bool, Element]]:
    """Each element that differs, and whether it is permitted."""
    try:
        recorded_tensor = tensor_of(first_options(data))
    except RefmlcError:
        return
    if (recorded_tensor.shape, recorded_tensor.dtype) != (
        tensor.shape,
        tensor.dtype,
    ) or recorded_tensor.dtype.kind == "handle":
        return
    kind, shape = tensor.dtype.scalar, tensor.array.shape
    elements, recorded_elements = (
        np.ascontiguousarray(operand.array).reshape(-1) for operand in (tensor, recorded_tensor)
    )
    count = 0
    for number in np.flatnonzero(recorded_tensor.written.reshape(-1)).tolist():
        value, recorded = elements[number].item(), recorded_elements[number].item()
        if permitted(value, recorded, number, {"rule": "exact"}, kind):
            continue
        allowed = permitted(value, recorded, number, data, kind)
        count += not allowed
        index = ", ".join(str(int(place)) for place in np.unravel_index(number, shape)) if shape else ""
        yield (
            allowed,
            Element(
                label,
                f"[{index}]",
                _exact_text(elements[number]),
                _exact_text(recorded_elements[number]),
                _range(data, number),
            ),
        )
        if count > MOST_ELEMENTS:
            return


def _exact_text(value: np.generic) -> str:
    """In decimals, and of a float that is a number in hexadecimal, which is exact."""
    number = float(value) if isinstance(value.item(), float) else None
    if number is None or not math.isfinite(number):
        return str(value)
    digits, _, power = number.hex().partition("p")
    return f"{value!s} ({digits.rstrip('0').rstrip('.') if '.' in digits else digits}p{power})"


def _range(data: Mapping[str, Data], at: int) -> str:
    """What an element may be besides the recorded value."""
    match data:
        case {"rule": "certified", "low": list(low), "high": list(high), **rest}:
            specials = rest.get("specials")
            also = f" {specials[at]}" if isinstance(specials, list) and specials[at] else ""
            return f"{low[at]} … {high[at]}{also}"
        case {"rule": "ulp", "ulps": int(limit)}:
            return f"± {limit} ulp"
        case {"rule": "one of", "options": list(options)}:
            element_options = options[at]
            return f"one of {', '.join(map(str, element_options))}" if isinstance(element_options, list) else ""
        case _:
            return ""


BROKEN = {Stop.CRASHED: CaseVerdict.CRASH, Stop.TIMED_OUT: CaseVerdict.TIMEOUT}
OWN_LIMIT = (Stop.UNSUPPORTED, Stop.EXHAUSTED)
DETECTORS = "detectors"
STOPS = ("trap", "undefined", "reject")


def expected_end(case: CaseFile, number: int) -> str:
    """The expected kind of end of call `number`: `return`, `trap`, `undefined`, `reject`, `open`."""
    return str(case.calls[number].assertion.get("kind", "open"))


def is_scored(case: CaseFile, number: int, *, promises: bool, detectors: bool = False) -> bool:
    """Whether an answer to call `number` is scored at all. `detectors`: what only those find is found too."""
    kind = expected_end(case, number)
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
        return Scored(CaseVerdict.TIMEOUT, answer.message)
    if isinstance(answer, Stopped) and answer.why in OWN_LIMIT:
        return Scored(CaseVerdict.UNSUPPORTED, answer.message)
    kind = expected_end(case, number)
    if kind == "return":
        return _returned(case, number, answer)
    if isinstance(answer, Ended):
        code = case.calls[number].assertion.get("code", "")
        return Scored(CaseVerdict.MISSED_TRAP, f"it returns; {kind} {code} is recorded".rstrip())
    return _promised(case, number, answer) if promises else _stopped(kind, answer)


def _returned(case: CaseFile, number: int, answer: Answer) -> Scored:
    if isinstance(answer, Stopped):
        return Scored(CaseVerdict.OVER_STRICT, f"{answer.why.value}: {answer.message}")
    why = holds(case, number, answer)
    if why:
        return Scored(CaseVerdict.FAIL, why)
    other = holds(_exactly(case, number), number, answer)
    return Scored(CaseVerdict.PERMITTED, other) if other else Scored(CaseVerdict.PASS)


def _promised(case: CaseFile, number: int, answer: Stopped) -> Scored:
    placed = answer.diagnostic is not None and answer.diagnostic.span is not None
    why = holds(case if placed else _placeless(case, number), number, answer)
    return Scored(CaseVerdict.FAIL, why) if why else Scored(CaseVerdict.PASS)


def _stopped(kind: str, answer: Stopped) -> Scored:
    if kind == "trap" and answer.why is Stop.REJECTED:
        return Scored(CaseVerdict.OVER_STRICT, f"it refuses a program that ends in a trap: {answer.message}")
    return Scored(CaseVerdict.PASS)


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
    scored, text, rows = _looked_at(case, number, returned, promises)
    return (
        CallResult(scored.verdict)
        if scored.verdict is CaseVerdict.PASS
        else CallResult(scored.verdict, scored.why, text, rows)
    )


def _looked_at(
    case: CaseFile, number: int, answer: Answer, promises: Mapping[str, bool]
) -> tuple[Scored, str, tuple[Element, ...]]:
    """The verdict, and its explanation unless it is a pass. Unreadable values are not an answer."""
    try:
        scored = score(case, number, answer, **promises)
        if scored.verdict is CaseVerdict.PASS:
            return scored, "", ()
        return scored, answer_text(case, answer), differing(case, number, answer)
    except RefmlcError as failure:
        if failure.code is not BAD_FILE:
            raise
        raise broken(case, number, failure.diagnostic.message) from None
    except Exception as problem:  # noqa: BLE001 - objects of an implementation may do anything
        return Scored(CaseVerdict.CRASH, f"its answer cannot be read: {crash(problem).message}"), "", ()
