"""Verdicts of comparisons. The kinds are disjoint.

| kind        | means                                                                              |
|-------------|------------------------------------------------------------------------------------|
| equal       | the result is the reference, bit by bit (NaN is one class)                         |
| permitted   | it is another one that the rule permits                                            |
| wrong       | the rule does not permit it; by a certified bound that is a proof                  |
| undefined   | the program has undefined behaviour: nothing is said about the implementation      |
| unsupported | refmlc, or the implementation, does not take the program: never agreement          |
| crashed     | the implementation ended or raised                                                 |
| timed out   | the implementation did not answer in time, or the reference's budget was used up   |
"""

from dataclasses import dataclass
from enum import Enum

from refmlc.diag import Diagnostic, Exhausted, RefmlcError, Undefined, Unsupported
from refmlc.oracle.difference import Difference


class Kind(Enum):
    EQUAL = "equal"
    PERMITTED = "permitted"
    WRONG = "wrong"
    UNDEFINED = "undefined"
    UNSUPPORTED = "unsupported"
    CRASHED = "crashed"
    TIMED_OUT = "timed out"


@dataclass(frozen=True)
class Verdict:
    """A verdict's kind with its explanation: the difference, the report of a failure, notes."""

    kind: Kind
    difference: Difference | None = None
    report: Diagnostic | None = None
    notes: tuple[str, ...] = ()

    def __str__(self) -> str:
        """One line: the kind, and the first difference or the failure."""
        if self.report is not None:
            return f"{self.kind.value}: {self.report.code.id}: {self.report.message}"
        return self.kind.value if self.difference is None else f"{self.kind.value}: {self.difference}"


def of_failure(failure: RefmlcError) -> Verdict:
    """The verdict on a program whose reference run failed. A trap is not compared: it counts as unsupported."""
    match failure:
        case Undefined():
            return Verdict(Kind.UNDEFINED, report=failure.diagnostic)
        case Exhausted():
            return Verdict(Kind.TIMED_OUT, report=failure.diagnostic)
        case Unsupported():
            return Verdict(Kind.UNSUPPORTED, report=failure.diagnostic)
        case _:
            return Verdict(Kind.UNSUPPORTED, report=failure.diagnostic, notes=("the reference run failed",))


def crashed(why: str) -> Verdict:
    """The verdict on an implementation that ended or raised."""
    return Verdict(Kind.CRASHED, notes=(why,))


def timed_out(seconds: float) -> Verdict:
    """The verdict on an implementation that did not answer. Units: seconds."""
    return Verdict(Kind.TIMED_OUT, notes=(f"no answer within {seconds:g} s",))
