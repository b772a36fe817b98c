"""The result of a run of the suite: calls, cases, the report of one implementation.

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
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from refmlc.oracle.suite.verdict import FAULTS, GRAVEST, RIGHT, Verdict, gravest

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

    verdict: Verdict | None
    why: str = ""
    got: str = ""
    rows: tuple[Element, ...] = ()

    def to_json(self) -> dict[str, object]:
        """As data."""
        data: dict[str, object] = {"verdict": None if self.verdict is None else self.verdict.value}
        data |= {name: text for name, text in (("why", self.why), ("got", self.got)) if text}
        return data | ({"rows": [vars(row) for row in self.rows]} if self.rows else {})


@dataclass(frozen=True)
class CaseResult:
    """One case. `was`: the verdict that is known, by the row `known`; `unexpected`: how it is not as rows say."""

    id: str
    calls: tuple[CallResult, ...]
    seconds: float = 0.0
    verdict: Verdict | None = None
    was: Verdict | None = None
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
        """As data."""
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
        None if word is None else Verdict(word), str(data.get("why", "")), str(data.get("got", "")), elements
    )


@dataclass(frozen=True)
class Report:
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
        return sum(each.verdict in (*RIGHT, Verdict.KNOWN) for each in self.results)

    def to_json(self) -> dict[str, object]:
        """As data."""
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
