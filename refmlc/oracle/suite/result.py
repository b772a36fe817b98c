"""Verdicts on cases, and the result of a run.

Verdicts are disjoint; a case that is called several times has the gravest of its calls:

| verdict     | means                                                                                               |
|-------------|-----------------------------------------------------------------------------------------------------|
| pass        | what the case records, to the bit (NaN is one class); a refusal, trap or verdict with its code      |
| permitted   | inside of the set or interval of the case, and not the recorded value                               |
| fail        | a value that the case excludes; another code, place or kind of end than the recorded one            |
| missed-trap | it continues where the case traps or is ill-formed; promises verdicts and continues where undefined |
| over-strict | it refuses, traps, or calls undefined, what is defined                                              |
| unsupported | a limit of its own, told as such; its features do not reach the case                                |
| known       | one of the verdicts above that the expectations name, with the row that explains it                 |
| crash       | the process ended, an answer was none, or it raised what is no verdict                              |
| timeout     | no answer in time                                                                                   |

Not scored, and counted apart: `open` cases; `undefined` ones where the implementation promises no verdicts, or has no
detectors and only those find it.

The report of one implementation:

| JSON of a report            | holds                                                                                 |
|-----------------------------|---------------------------------------------------------------------------------------|
| `suite`                     | the version of the suite                                                              |
| `implementation`, `version` | the tested implementation                                                             |
| `ok`                        | whether everything is as expected                                                     |
| `interrupted`               | whether the run was interrupted: cases are missing then                                |
| `seconds`                   | how long it took                                                                      |
| `counts`                    | cases by verdict; `not scored` is one of the keys                                     |
| `problems`                  | what is wrong with the run itself: rows that fit no case, nothing was compared        |
| `reasons`                   | by id of a row: its reason                                                            |
| `cases`                     | each with `id`, `verdict` (null: not scored), `seconds`, `calls`; `was` and `known`   |
|                             | where it is known, `unexpected` where a row says otherwise                            |
| `calls`                     | each with `verdict`; unless it is a pass `why`, `got` (the answer), `rows` (elements) |

`report/schema.json` is the JSON Schema of it.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from functools import cached_property


class CaseVerdict(Enum):
    PASS = "pass"  # noqa: S105 - a verdict, no secret
    PERMITTED = "permitted"
    FAIL = "fail"
    MISSED_TRAP = "missed-trap"
    OVER_STRICT = "over-strict"
    UNSUPPORTED = "unsupported"
    KNOWN = "known"
    CRASH = "crash"
    TIMEOUT = "timeout"


FAULTS = (CaseVerdict.CRASH, CaseVerdict.TIMEOUT, CaseVerdict.FAIL, CaseVerdict.MISSED_TRAP, CaseVerdict.OVER_STRICT)
"""What an implementation must not do, the gravest first."""

RIGHT = (CaseVerdict.PASS, CaseVerdict.PERMITTED)
GRAVEST = (*FAULTS, CaseVerdict.KNOWN, CaseVerdict.UNSUPPORTED, CaseVerdict.PERMITTED, CaseVerdict.PASS)


@dataclass(frozen=True)
class Scored:
    """The verdict on one answer; None: it is not scored. `why`: in a line, where it is not a pass."""

    verdict: CaseVerdict | None
    why: str = ""


def gravest(verdicts: Iterable[CaseVerdict | None]) -> CaseVerdict | None:
    """The one that counts for all; None where none is scored."""
    scored = [verdict for verdict in verdicts if verdict is not None]
    return min(scored, key=GRAVEST.index, default=None)


NOT_SCORED = "not scored"


@dataclass(frozen=True)
class Element:
    """An element that differs: of which value, where, what came, what is recorded, what is permitted."""

    label: str
    index: str
    got: str
    recorded: str
    permitted: str = ""


@dataclass(frozen=True)
class CallResult:
    """One call. `got`: the answer in words, unless it is a pass."""

    verdict: CaseVerdict | None
    why: str = ""
    got: str = ""
    rows: tuple[Element, ...] = ()

    def to_json(self) -> dict[str, object]:
        data: dict[str, object] = {"verdict": None if self.verdict is None else self.verdict.value}
        data |= {name: text for name, text in (("why", self.why), ("got", self.got)) if text}
        return data | ({"rows": [vars(row) for row in self.rows]} if self.rows else {})


@dataclass(frozen=True)
class CaseResult:
    """One case. `was`: the verdict that is known, by the row `known`; `unexpected`: how it is not as rows say."""

    id: str
    calls: tuple[CallResult, ...]
    seconds: float = 0.0
    verdict: CaseVerdict | None = None
    was: CaseVerdict | None = None
    known: str = ""
    unexpected: str = ""

    @property
    def expected(self) -> bool:
        """Whether nobody need look at it."""
        return not self.unexpected and self.verdict not in FAULTS

    @property
    def why(self) -> str:
        """The first thing that is to be said of the calls which have the verdict."""
        grave = self.was or self.verdict
        return next((call.why for call in self.calls if call.verdict is grave and call.why), "")

    def to_json(self) -> dict[str, object]:
        data: dict[str, object] = {
            "id": self.id,
            "verdict": None if self.verdict is None else self.verdict.value,
            "seconds": round(self.seconds, 4),
            "calls": [call.to_json() for call in self.calls],
        }
        if self.was is not None:
            data |= {"was": self.was.value, "known": self.known}
        return data | ({"unexpected": self.unexpected} if self.unexpected else {})


def case_result(identity: str, calls: Sequence[CallResult], seconds: float = 0.0) -> CaseResult:
    """The result of a case from those of its calls."""
    return CaseResult(identity, tuple(calls), seconds, gravest(call.verdict for call in calls))


def result_of(data: Mapping[str, object]) -> CaseResult:
    """The result that `to_json` wrote, before expectations were applied."""
    match data:
        case {"id": str(identity), "seconds": float() | int() as seconds, "calls": [*calls]}:
            return case_result(identity, [_call(call) for call in calls], seconds)
    raise ValueError(f"not a result: {dict(data)!r:.200}")


def _call(data: object) -> CallResult:
    if not isinstance(data, dict):
        raise TypeError(f"not the result of a call: {data!r:.200}")
    word, rows = data.get("verdict"), data.get("rows", ())
    elements = tuple(Element(**row) for row in rows) if isinstance(rows, list) else ()
    return CallResult(
        None if word is None else CaseVerdict(word), str(data.get("why", "")), str(data.get("got", "")), elements
    )


@dataclass(frozen=True)
class SuiteReport:
    """What one implementation makes of a suite. `problems` are those of the run. Units: seconds."""

    suite: str
    implementation: str
    version: str
    results: tuple[CaseResult, ...]
    problems: tuple[str, ...] = ()
    seconds: float = 0.0
    interrupted: bool = False
    reasons: Mapping[str, str] = field(default_factory=dict)

    @cached_property
    def counts(self) -> Mapping[str, int]:
        """How many cases have each verdict, the gravest first; `not scored` at the end."""
        by_name = Counter(NOT_SCORED if each.verdict is None else each.verdict.value for each in self.results)
        names = [*(verdict.value for verdict in GRAVEST), NOT_SCORED]
        return {name: by_name[name] for name in names if by_name[name]}

    @property
    def unexpected(self) -> tuple[CaseResult, ...]:
        """The cases that somebody must look at."""
        return tuple(each for each in self.results if not each.expected)

    @property
    def ok(self) -> bool:
        """Whether everything is as expected, and something was."""
        return not self.unexpected and not self.problems and not self.interrupted

    @property
    def compared(self) -> int:
        """The cases in which it was right, or wrong in a known way."""
        return sum(each.verdict in (*RIGHT, CaseVerdict.KNOWN) for each in self.results)

    def to_json(self) -> dict[str, object]:
        return {
            "suite": self.suite,
            "implementation": self.implementation,
            "version": self.version,
            "ok": self.ok,
            "interrupted": self.interrupted,
            "seconds": round(self.seconds, 3),
            "counts": dict(self.counts),
            "problems": list(self.problems),
            "reasons": dict(self.reasons),
            "cases": [each.to_json() for each in self.results],
        }
