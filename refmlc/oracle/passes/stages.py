"""Snapshots of a module in order, as one JSON object a line, and the verdict on each.

| line                                | is                                                          |
|-------------------------------------|-------------------------------------------------------------|
| `{"name": PASS, "text": TVMSCRIPT}` | the module as this pass left it; the first one is the input |
| `{"within": PASS}`                  | this pass runs from here on; empty: none. May be left out   |
| `{"refused": WHY}`                  | the compiler refused the module; the last line              |
| … with `"fault": true`              | it failed on the module: a check of its own state           |
| … with `"declared": true`           | it lacks what the module needs: a device, a runtime         |
| `{"done": true}`                    | the compiler ended; the last line                           |

Any compiler whose passes print TVMScript can write them. Without a last line, the compiler ended in the pass that ran;
of a file nobody knows whether it did.

The verdicts:

| verdict     | means                                                                                          |
|-------------|------------------------------------------------------------------------------------------------|
| same        | on every call that was tried, the stage may stand for the module                               |
| broken      | it may not: another result, less defined, or ill-formed. Later stages are not checked          |
| documented  | it may not, and TVM's documentation of the primitive says so; what follows is held to this stage |
| unsupported | refmlc does not read the stage, or does not execute it, in some call: never agreement          |
| no call     | nothing was compared: the module is undefined on every call, or has no function that is called |
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum

from refmlc.diag import Diagnostic, fail
from refmlc.diag.catalogue import BAD_FILE
from refmlc.diag.layout import plain
from refmlc.diag.render import render_text
from refmlc.oracle.outcome import Kind
from refmlc.oracle.refine.calls import Call
from refmlc.oracle.refine.proved import PairProof, ProofWord

ENDED = "the compiler ended before its passes did"


@dataclass(frozen=True)
class Stage:
    """The module after a pass."""

    name: str
    text: str


@dataclass(frozen=True)
class PassTrace:
    """All snapshots. `stopped`: why the compiler stopped early; empty if it did not. `kind`: the verdict on that."""

    stages: tuple[Stage, ...]
    stopped: str = ""
    kind: Kind = Kind.UNSUPPORTED


def read_trace(
    lines: Iterable[str], ended: str = ENDED, kind: Kind = Kind.UNSUPPORTED, *, chosen: bool = False
) -> PassTrace:
    """The snapshots in `lines`; `ended` is the reason if the last line is missing, `kind` its verdict.

    `chosen`: the user named the passes, which may ask for what the module does not have. Fails: RM109.
    """
    stages: list[Stage] = []
    within = ""
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        match _object(line, number):
            case {"name": str(name), "text": str(text)}:
                stages.append(Stage(_printable(name), text))
            case {"within": str(name)}:
                within = f"in `{_printable(name)}`: " if name else ""
            case {"refused": str(why), **marks}:
                stages_before = _stages_or_failure(stages, _printable(why))
                return PassTrace(stages_before, within + _printable(why), _refusal(marks, chosen=chosen))
            case {"done": True}:
                return PassTrace(_stages_or_failure(stages, ""))
            case _:
                raise fail(BAD_FILE, f"line {number} is not a snapshot: it has no `name` and `text`")
    return PassTrace(_stages_or_failure(stages, ended), within + ended, kind)


def _refusal(marks: Mapping[object, object], *, chosen: bool) -> Kind:
    """The verdict on a compiler that stopped, by what it says of that."""
    if marks.get("declared") is True:
        return Kind.NOT_TAKEN
    if chosen:
        return Kind.PRECONDITION
    return Kind.COMPILER_ERROR if marks.get("fault") is True else Kind.REFUSED


def _printable(text: str) -> str:
    """A text that can be printed: JSON may hold halves of characters."""
    return text.encode("utf-8", "backslashreplace").decode()


def _stages_or_failure(stages: Sequence[Stage], why: str) -> tuple[Stage, ...]:
    if not stages:
        raise fail(BAD_FILE, f"no snapshot: {why or 'the compiler printed none'}")
    return tuple(stages)


def _object(line: str, number: int) -> object:
    try:
        return json.loads(line)
    except ValueError as problem:
        raise fail(BAD_FILE, f"line {number} is not JSON: {problem}") from None


WITHIN = "equal within the certified bound"
"""The note on a stage that may stand for the module and rounds in another order."""
ORDER = "order of evaluation: of terms that tie another one is taken, or a part of a sum overflows"
"""The note on a stage after a step that permits another order of terms: it takes the index of an equal extreme, or
adds integers so that a part of the sum is beyond the dtype, though the whole, modulo 2**bits, is the same."""


class StageVerdict(Enum):
    SAME = "same"
    BROKEN = "broken"
    DOCUMENTED = "documented"
    UNSUPPORTED = "unsupported"
    NO_CALL = "no call"


@dataclass(frozen=True)
class StageRow:
    """One stage. `calls`: how many calls were compared; `why`: what is unsupported, or `WITHIN`.

    `proof`: what is known for all arguments; None: none was requested.
    """

    name: str
    verdict: StageVerdict
    calls: int = 0
    why: str = ""
    proof: PairProof | None = None

    @property
    def is_known(self) -> bool:
        """True if the stage was compared with the module, on calls or for all arguments."""
        return self.calls > 0 or (self.proof is not None and self.proof.word in (ProofWord.PROVED, ProofWord.REALS))


@dataclass(frozen=True)
class BrokenStage:
    """The first pass that changes the meaning; `unread`: passes before it whose stages are unsupported.

    `before` is the last stage that has the meaning, `after` what the pass made of it; `func` called on `call`, which is
    as small as was found, shows the difference, and `diagnostic` tells it. `func` is empty if the stage is ill-formed:
    the stage has no call then.
    """

    name: str
    func: str
    before: Stage
    after: Stage
    call: Call
    diagnostic: Diagnostic
    unread: tuple[str, ...] = ()

    @property
    def headline(self) -> str:
        """What the pass does, in one line."""
        return f"{self.names} changes what `{self.func}` computes" if self.func else f"{self.names} breaks the module"

    @property
    def names(self) -> str:
        """The pass; where refmlc could not tell of passes right before it, those too: one of them it is."""
        return " or ".join((*(f"`{name}`" for name in self.unread), f"`{self.name}`"))


@dataclass(frozen=True, repr=False)
class TraceCheck:
    """A checked trace. `stopped`: why the compiler stopped early, with the verdict `kind`; `failure`: as a finding.

    `notes`: what was replaced or left out among the calls, and NaN or infinities that the module makes.
    """

    rows: tuple[StageRow, ...]
    broken: BrokenStage | None
    stopped: str = ""
    kind: Kind = Kind.UNSUPPORTED
    failure: Diagnostic | None = None
    notes: tuple[str, ...] = ()

    def __repr__(self) -> str:
        """The number of stages per verdict, in one line."""
        counts = [f"{self.count(verdict)} {verdict.value}" for verdict in StageVerdict if self.count(verdict)]
        return f"<Checked {', '.join(counts) or 'no stage'}>"

    def __str__(self) -> str:
        """A line for each stage: name, verdict, calls compared, why no more; then notes, and what is broken."""
        widest = max((len(row.name) for row in self.rows), default=0)
        lines = [*(_row_line(row, widest) for row in self.rows), *map(plain, self.notes)]
        if self.broken is not None:
            lines += ["", render_text(self.broken.diagnostic)]
        for alarm in self.alarms:
            lines += ["", render_text(alarm)]
        if self.failure is not None:
            return "\n".join([*lines, "", render_text(self.failure)])
        return "\n".join([*lines, *([self.stop_text] if self.stopped else [])])

    @property
    def stop_text(self) -> str:
        """Why the compiler stopped, with the verdict on that where there is one."""
        label = "" if self.kind is Kind.UNSUPPORTED else f" ({self.kind.value})"
        return f"stopped{label}: {self.stopped}"

    @property
    def compared(self) -> bool:
        """True if any function was compared."""
        return any(row.is_known for row in self.rows)

    @property
    def alarms(self) -> tuple[Diagnostic, ...]:
        """Calls that contradict a proof (RM903): bugs of refmlc."""
        return tuple(row.proof.alarm for row in self.rows if row.proof is not None and row.proof.alarm is not None)

    def count(self, verdict: StageVerdict) -> int:
        """The number of stages with a verdict."""
        return sum(row.verdict is verdict for row in self.rows)


def _row_line(row: StageRow, width: int) -> str:
    """A stage as a line of a table whose first column is so wide."""
    calls = f"{row.calls} call{'' if row.calls == 1 else 's'}" if row.calls else ""
    proof = "" if row.proof is None else f"  {plain(str(row.proof))}"
    return f"{plain(row.name):{width}}  {row.verdict.value:11}  {calls:8}  {plain(row.why)}{proof}".rstrip()


def worst(rows: Sequence[StageRow]) -> StageRow:
    """The worst verdict on the functions of a stage: broken, documented, unsupported, same, no call."""
    order = (
        StageVerdict.BROKEN,
        StageVerdict.DOCUMENTED,
        StageVerdict.UNSUPPORTED,
        StageVerdict.SAME,
        StageVerdict.NO_CALL,
    )
    return min(
        rows,
        key=lambda row: order.index(row.verdict),
        default=StageRow("", StageVerdict.NO_CALL, why="no function is called"),
    )
