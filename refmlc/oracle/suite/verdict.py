"""Verdicts on cases of a suite. They are disjoint; a case that is called several times has the gravest of its calls.

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
"""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum


class Verdict(Enum):
    """The nine verdicts."""

    PASS = "pass"  # noqa: S105 - a verdict, no secret
    PERMITTED = "permitted"
    FAIL = "fail"
    MISSED_TRAP = "missed-trap"
    OVER_STRICT = "over-strict"
    UNSUPPORTED = "unsupported"
    KNOWN = "known"
    CRASH = "crash"
    TIMEOUT = "timeout"


FAULTS = (Verdict.CRASH, Verdict.TIMEOUT, Verdict.FAIL, Verdict.MISSED_TRAP, Verdict.OVER_STRICT)
"""What an implementation must not do, the gravest first."""

RIGHT = (Verdict.PASS, Verdict.PERMITTED)
GRAVEST = (*FAULTS, Verdict.KNOWN, Verdict.UNSUPPORTED, Verdict.PERMITTED, Verdict.PASS)


@dataclass(frozen=True)
class Scored:
    """The verdict on one answer; None: it is not scored. `why`: in a line, where it is not a pass."""

    verdict: Verdict | None
    why: str = ""


def gravest(verdicts: Iterable[Verdict | None]) -> Verdict | None:
    """The one that counts for all; None where none is scored."""
    there = [verdict for verdict in verdicts if verdict is not None]
    return min(there, key=GRAVEST.index, default=None)
