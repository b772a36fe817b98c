"""The verdict on each stage, and on a whole trace.

| verdict     | means                                                                                          |
|-------------|------------------------------------------------------------------------------------------------|
| same        | on every call that was tried, the stage may stand for the module                               |
| broken      | it may not: another result, or less defined. Later stages are not checked                      |
| unsupported | refmlc does not read the stage, or does not execute it, in some call: never agreement          |
| no call     | nothing was compared: the module is undefined on every call, or has no function that is called |
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

from refmlc.diag import Diagnostic
from refmlc.diag.layout import plain
from refmlc.diag.render import render_text
from refmlc.oracle.passes.stages import Stage
from refmlc.oracle.refine.calls import Call

WITHIN = "equal within the certified bound"
"""The note on a stage that may stand for the module and rounds in another order."""


class StageVerdict(Enum):
    """The four verdicts."""

    SAME = "same"
    BROKEN = "broken"
    UNSUPPORTED = "unsupported"
    NO_CALL = "no call"


@dataclass(frozen=True)
class StageRow:
    """One stage. `calls`: how many calls were compared; `why`: what is unsupported, or `WITHIN`."""

    name: str
    said: StageVerdict
    calls: int = 0
    why: str = ""


@dataclass(frozen=True)
class BrokenStage:
    """The first pass that changes the meaning; `unread`: passes before it whose stages are unsupported.

    `before` is the last stage that has the meaning, `after` what the pass made of it; `func` called on `call`, which is
    as small as was found, shows the difference, and `diagnostic` tells it.
    """

    name: str
    func: str
    before: Stage
    after: Stage
    call: Call
    diagnostic: Diagnostic
    unread: tuple[str, ...] = ()

    @property
    def names(self) -> str:
        """The pass; where refmlc could not tell of passes right before it, those too: one of them it is."""
        return " or ".join((*(f"`{name}`" for name in self.unread), f"`{self.name}`"))


@dataclass(frozen=True, repr=False)
class TraceCheck:
    """A checked trace. `stopped`: why the compiler stopped early."""

    rows: tuple[StageRow, ...]
    broken: BrokenStage | None
    stopped: str = ""

    def __repr__(self) -> str:
        """The number of stages per verdict, in one line."""
        counts = [f"{self.count(verdict)} {verdict.value}" for verdict in StageVerdict if self.count(verdict)]
        return f"<Checked {', '.join(counts) or 'no stage'}>"

    def __str__(self) -> str:
        """A line for each stage: its name, the verdict, how many calls were compared, why no more; what is broken."""
        widest = max((len(row.name) for row in self.rows), default=0)
        lines = [_row_line(row, widest) for row in self.rows]
        if self.broken is not None:
            lines += ["", render_text(self.broken.diagnostic)]
        return "\n".join([*lines, *([f"stopped: {self.stopped}"] if self.stopped else [])])

    @property
    def compared(self) -> bool:
        """True if any function was compared."""
        return any(row.calls for row in self.rows)

    def count(self, verdict: StageVerdict) -> int:
        """The number of stages with a verdict."""
        return sum(row.said is verdict for row in self.rows)


def _row_line(row: StageRow, width: int) -> str:
    """A stage as a line of a table whose first column is so wide."""
    calls = f"{row.calls} call{'' if row.calls == 1 else 's'}" if row.calls else ""
    return f"{plain(row.name):{width}}  {row.said.value:11}  {calls:8}  {plain(row.why)}".rstrip()


def worst(rows: Sequence[StageRow]) -> StageRow:
    """The worst verdict on the functions of a stage: broken, unsupported, same, no call."""
    order = (StageVerdict.BROKEN, StageVerdict.UNSUPPORTED, StageVerdict.SAME, StageVerdict.NO_CALL)
    return min(
        rows,
        key=lambda row: order.index(row.said),
        default=StageRow("", StageVerdict.NO_CALL, why="no function is called"),
    )
