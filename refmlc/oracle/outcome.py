"""Verdicts of comparisons. The kinds are disjoint.

| kind                | means                                                                              |
|---------------------|------------------------------------------------------------------------------------|
| equal               | the result is the reference, bit by bit (NaN is one class)                         |
| permitted           | it is another one that the rule permits                                            |
| order of evaluation | another one of several equal terms, which a step of the schedule permits           |
| wrong               | the rule does not permit it; by a certified bound that is a proof                  |
| wrong (known row R) | the same; row R of `conformance/known` gives this result                           |
| decided here        | the same or a failure; TVM's documentation does not say, and the clause decides    |
| refused             | the implementation says that it does not do what is defined                        |
| compiler error      | it failed while it made the module ready: a check of its own state, or a signal    |
| crashed at run time | it ended or raised while the program ran                                           |
| hung                | it did not answer in its time                                                      |
| not taken           | a limit that the implementation declares, or that is on record: never agreement    |
| precondition        | a pass that the user named, or a step of a schedule, refuses: nobody promised it does not |
| undefined           | the program has undefined behaviour: nothing is said about the implementation      |
| unsupported         | refmlc does not know the meaning, or what it permits: never agreement              |
| timed out           | a budget of the reference, or the implementation's own, was used up                |
"""

from dataclasses import dataclass
from enum import Enum

from refmlc.diag import Diagnostic, Exhausted, RefmlcError, Undefined, Unsupported
from refmlc.oracle.difference import Difference


class Kind(Enum):
    EQUAL = "equal"
    PERMITTED = "permitted"
    ORDER = "order of evaluation"
    WRONG = "wrong"
    DECIDED = "decided here"
    UNDEFINED = "undefined"
    UNSUPPORTED = "unsupported"
    NOT_TAKEN = "not taken"
    PRECONDITION = "precondition"
    REFUSED = "refused"
    COMPILER_ERROR = "compiler error"
    CRASHED = "crashed at run time"
    HUNG = "hung"
    TIMED_OUT = "timed out"


ACCUSING = frozenset((Kind.WRONG, Kind.REFUSED, Kind.COMPILER_ERROR, Kind.CRASHED, Kind.HUNG))
"""Kinds that are findings on an implementation."""
UNCOMPARED = frozenset((Kind.UNSUPPORTED, Kind.NOT_TAKEN, Kind.PRECONDITION, Kind.TIMED_OUT))
"""Kinds of a defined call that compare nothing and accuse nobody; their reasons are reported."""
COMPARED = ACCUSING | {Kind.EQUAL, Kind.PERMITTED, Kind.ORDER, Kind.DECIDED}
"""Kinds of a defined call that is judged."""


@dataclass(frozen=True)
class Verdict:
    """A verdict's kind with its explanation: the difference, the report of a failure, notes.

    `row`: the ids of the rows of `conformance/known` that explain it.
    """

    kind: Kind
    difference: Difference | None = None
    report: Diagnostic | None = None
    notes: tuple[str, ...] = ()
    row: str = ""

    @property
    def label(self) -> str:
        """The kind as reports show it, with the row that explains what is wrong."""
        return f"{self.kind.value} (known row {self.row})" if self.row and self.kind in ACCUSING else self.kind.value

    @property
    def why(self) -> str:
        """The reason in words; empty without one."""
        return "; ".join(self.notes) or (self.report.message if self.report is not None else "")

    def __str__(self) -> str:
        """One line: the kind, and the first difference or the failure."""
        if self.report is not None:
            return f"{self.label}: {self.report.code.id}: {self.report.message}"
        return self.label if self.difference is None else f"{self.label}: {self.difference}"


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
    return Verdict(Kind.HUNG, notes=(f"no answer within {seconds:g} s",))
