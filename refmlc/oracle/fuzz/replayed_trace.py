"""A finding on stages, made again: the program through the same steps of TVM, each stage held to the program.

| the steps now                                    | the outcome                                                |
|--------------------------------------------------|------------------------------------------------------------|
| change the meaning, or end TVM                   | a finding: a diagnostic that names the first wrong step    |
| keep it, as far as the stages could be compared  | no finding                                                 |
| are refused by TVM                               | no finding: a note says so                                 |
| leave only stages that refmlc does not execute   | unsupported (RM5xx): nobody knows                          |
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from refmlc.diag import Diagnostic, fail
from refmlc.diag.catalogue import BAD_FILE, UNSUPPORTED_CONSTRUCT
from refmlc.oracle.passes.stages import StageVerdict, TraceCheck

Json = Mapping[str, object]


@dataclass(frozen=True)
class ReplayedTrace:
    """What became of a trace. `by`: the compiler and its version; `lines`: a verdict for each stage."""

    by: str
    lines: tuple[str, ...]
    diagnostic: Diagnostic | None


Replay = Callable[[str, Json, float], ReplayedTrace]
"""Makes the finding of a case again: in the TVM of this Python, within some seconds."""


def text_and_steps(case: Json) -> tuple[str, tuple[str, ...]]:
    """The program and the steps of a case. Fails: RM109."""
    match case:
        case {"text": str(text), "steps": list(steps)} if all(isinstance(step, str) for step in steps):
            return text, tuple(map(str, steps))
    raise fail(BAD_FILE, "the case of the finding has no `text` and `steps`")


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
