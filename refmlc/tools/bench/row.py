"""A row of the table: subject, peer, goal, and result."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Literal, TypeAlias

LAST = 15  # rows are numbered from 1
Direction: TypeAlias = Literal["at least", "at most"]


class RowVerdict(Enum):
    """What became of a row."""

    KEPT = "ok"
    MISSED = "missed"
    FAILED = "failed"
    NOT_MEASURED = "not measured"


@dataclass(frozen=True, slots=True)
class Goal:
    """A goal: a bound of a number in some unit (`x` times, `%`, `ms`, `µs`, `mismatches`)."""

    value: float
    unit: str = "x"
    direction: Direction = "at least"

    def met(self, measured: float) -> bool:
        """Whether a measured number keeps the promise."""
        return measured >= self.value if self.direction == "at least" else measured <= self.value

    def __str__(self) -> str:
        return f"{'≥' if self.direction == 'at least' else '≤'} {number(self.value, self.unit)}"


@dataclass(frozen=True, slots=True)
class BenchRow:
    """One line of the table.

    `number` is the row of the promises; `failed` says why no time counts: a result is not what it must be, or there is
    no compiled code; `times` are the medians behind the ratio, in nanoseconds by candidate; `note` is what a reader of
    the number should know.
    """

    number: int
    what: str
    against: str
    goal: Goal
    measured: float | None = None
    failed: str = ""
    note: str = ""
    times: Mapping[str, float] = field(default_factory=dict)

    @property
    def verdict(self) -> RowVerdict:
        """What became of it."""
        if self.failed:
            return RowVerdict.FAILED
        if self.measured is None:
            return RowVerdict.NOT_MEASURED
        return RowVerdict.KEPT if self.goal.met(self.measured) else RowVerdict.MISSED

    def as_data(self) -> dict[str, object]:
        """The row for machines."""
        return {
            "row": self.number,
            "what": self.what,
            "against": self.against,
            "goal": self.goal.value,
            "direction": self.goal.direction,
            "unit": self.goal.unit,
            "measured": self.measured,
            "verdict": self.verdict.value,
            "failed": self.failed,
            "note": self.note,
            "nanoseconds": dict(self.times),
        }


def number(value: float, unit: str) -> str:
    """A number with its unit, with the digits that mean something."""
    digits = f"{value:.0f}" if value >= 100 or value == int(value) else f"{value:.3g}"
    return f"{digits}{unit}" if unit in ("x", "%") else f"{digits} {unit}"
