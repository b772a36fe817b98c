"""A finding on stages, made again: the program through the same steps of TVM, each stage held to the program.

| the steps now                                    | the outcome                                                |
|--------------------------------------------------|------------------------------------------------------------|
| change the meaning, or end TVM                   | a finding: a diagnostic that names the first wrong step    |
| keep it, as far as the stages could be compared  | no finding                                                 |
| are refused by TVM                               | no finding: a note says so                                 |
| leave only stages that refmlc does not execute   | unsupported (RM5xx): nobody knows                          |
"""

from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from typing import Protocol

from refmlc.diag import Diagnostic, fail
from refmlc.diag.catalogue import BAD_FILE, UNSUPPORTED_CONSTRUCT
from refmlc.oracle.passes.stages import BrokenStage, StageVerdict, TraceCheck

Json = Mapping[str, object]


@dataclass(frozen=True)
class ReplayedTrace:
    """What became of a trace. `by`: the compiler and its version; `lines`: a verdict for each stage."""

    by: str
    lines: tuple[str, ...]
    diagnostic: Diagnostic | None


Replay = Callable[[str, Json, float], ReplayedTrace]
"""Makes the finding of a case again: in the TVM of this Python, within some seconds."""


class SteppedFinding(Protocol):
    """A program that steps break. `steps`: those up to the guilty one; `broken` None: TVM ends in it."""

    @property
    def text(self) -> str: ...

    @property
    def steps(self) -> tuple[str, ...]: ...

    @property
    def code(self) -> str: ...

    @property
    def message(self) -> str: ...

    @property
    def verdict(self) -> str: ...

    @property
    def guilty(self) -> str: ...

    @property
    def broken(self) -> BrokenStage | None: ...


class StepsInTvm(Protocol):
    """Steps of a kind in one TVM, to be closed. `name`: of TVM, with its version."""

    name: str

    def finding(self, text: str, steps: Sequence[str]) -> tuple[TraceCheck, SteppedFinding | None]:
        """The verdicts on the stages, and what is wrong. Fails: RM109, RM112, RM5xx."""
        ...

    def small(self, finding: SteppedFinding, seconds: float) -> SteppedFinding:
        """The finding with fewer steps, on a smaller program, for the same cause."""
        ...

    def row(self, finding: SteppedFinding) -> str:
        """The recorded deviation that it is; empty: none."""
        ...

    def close(self) -> None: ...


Steps = Callable[[str, float], StepsInTvm]
"""Starts the TVM of a Python, which has some seconds for the steps of a program."""


def text_and_steps(case: Json) -> tuple[str, tuple[str, ...]]:
    """The program and the steps of a case. Fails: RM109."""
    match case:
        case {"text": str(text), "steps": list(steps)} if all(isinstance(step, str) for step in steps):
            return text, tuple(map(str, steps))
    raise fail(BAD_FILE, "the case of the finding has no `text` and `steps`")


def steps_again(steps: Steps) -> Replay:
    """What replays findings of this kind."""

    def replay(python: str, case: Json, seconds: float) -> ReplayedTrace:
        text, names = text_and_steps(case)
        with closing(steps(python, seconds)) as tvm:
            return replayed(tvm.name, names, tvm.finding(text, names)[0])

    return replay


def replayed(by: str, steps: Sequence[str], checked: TraceCheck) -> ReplayedTrace:
    """The outcome of the verdicts on the stages that `steps` leave. Fails: RM504 where nothing was compared."""
    lines = [f"{row.name}: {row.verdict.value}{f', {row.why}' if row.why else ''}" for row in checked.rows]
    if checked.broken is not None:
        broken = checked.broken
        does = "changes the meaning" if broken.func else "makes the module ill-formed"
        message = f"{broken.names} {does}: {broken.diagnostic.message}"
        return ReplayedTrace(by, tuple(lines), replace(broken.diagnostic, message=message))
    if checked.stopped:
        lines.append(checked.stop_text)
    is_compared = any(row.is_known or row.verdict is StageVerdict.SAME for row in checked.rows)
    if checked.failure is None and not is_compared and not checked.stopped and steps:
        why = next((row.why for row in checked.rows if row.why), "no step changes the program")
        raise fail(UNSUPPORTED_CONSTRUCT, f"nothing was compared: {why}")
    return ReplayedTrace(by, tuple(lines), checked.failure)
