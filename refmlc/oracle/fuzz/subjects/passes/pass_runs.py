"""Programs of the kind `passes`: orders of TVM's passes, each stage held to the program that it began with.

`pass_orders` draws them. The last stage is executed first; only where it is not the same, the stages between are, and
the first wrong pass is named. A pass that fails a check of its own, or ends TVM's process, is a finding too: it stands
where TVM's own pipelines have it, or where its documentation asks for nothing else.

A cause is the guilty pass, how it is wrong, and its pattern:

| wrong is                            | the pattern                                     |
|-------------------------------------|-------------------------------------------------|
| another value                       | nothing                                         |
| another dtype or shape              | which                                           |
| undefined code, an ill-formed stage | the code                                        |
| a failed check, a death of TVM      | its message, without numbers and names          |

Where a recorded deviation has the same three, the finding is a known one. Those of a row that leaves a wrong program
are what its own program has after its own passes: the values that it records are of a compiled program, where
undefined code shows as another result.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from time import monotonic

from refmlc.diag import RefmlcError
from refmlc.lang.dtypes import dtype
from refmlc.lang.wellformed.reader_checks import read
from refmlc.oracle.fuzz.exclusions import TVM
from refmlc.oracle.fuzz.kept_processes import kept
from refmlc.oracle.fuzz.result import BatchResult, FindingRecord, Json, signature
from refmlc.oracle.fuzz.settings import CampaignSettings
from refmlc.oracle.fuzz.subjects.passes.pass_orders import Steps, drawn_order, is_legal, name_of
from refmlc.oracle.fuzz.subjects.passes.pass_table import NARROWS
from refmlc.oracle.fuzz.subjects.primitives.staged import (
    CALLS,
    LIMITS,
    OUR_CRASH,
    REFERENCE,
    fewer,
    python_of,
    undefined_code,
)
from refmlc.oracle.fuzz.subjects.replayed_trace import SteppedFinding
from refmlc.oracle.fuzz.subjects.stage_tally import StageTally
from refmlc.oracle.outcome import Kind
from refmlc.oracle.passes.check import Permissions, check, shrunk
from refmlc.oracle.passes.run import TvmPasses
from refmlc.oracle.passes.stages import BrokenStage, PassTrace, Stage, StageVerdict, TraceCheck
from refmlc.oracle.reasons import normalised
from refmlc.oracle.record import WRONG_STAGES, known_passes, most_alike, rows_on_record

KIND = "passes"
FAILS = (Kind.COMPILER_ERROR, Kind.HUNG, Kind.CRASHED)
"""How TVM ends that is a finding; what it refuses in words is none."""
UNREADABLE = ("RM108",)  # of a stage whose tensor constants TVM does not print
SHOWN = 100  # characters of a message that tell causes apart
Cause = tuple[str, str, str]


@dataclass(frozen=True)
class PassFinding:
    """An order that is wrong. `text`: the program it begins with; `steps`: its passes up to the guilty one."""

    text: str
    steps: Steps
    code: str
    message: str
    verdict: str
    pattern: str
    broken: BrokenStage | None

    @property
    def guilty(self) -> str:
        """The name of the guilty pass; where refmlc could not tell of those right before it, theirs too."""
        names = (*(self.broken.unread if self.broken is not None else ()), *self.steps[-1:])
        return " or ".join(dict.fromkeys(map(name_of, names))) or "the input"

    @property
    def cause(self) -> Cause:
        """The guilty pass, how it is wrong, and the pattern of that."""
        return self.guilty, self.verdict, self.pattern


def compiler(python: str, seconds: float) -> TvmPasses:
    """TVM's process, kept by the worker."""
    return kept(TvmPasses, python, passes=(), seconds=seconds)


def trace_of(tvm: TvmPasses, text: str, steps: Steps) -> PassTrace:
    """The program after each of `steps` that changes it. Fails: RM112, RM109."""
    return tvm(text, steps, whole=True)


PLANTED_TEXT = """from tvm.script import tirx as T
@T.prim_func(s_tir=True)
def main(A: T.Buffer((6,), "int32"), B: T.Buffer((6,), "int32")):
    for i in range(6):
        B[i] = A[i] * TWO
"""
PLANTED = PassTrace(
    (
        Stage("input", PLANTED_TEXT.replace("TWO", "2")),
        Stage("tirx.UnrollLoop()", PLANTED_TEXT.replace("TWO", "(1 + 1)")),
        Stage("tirx.StmtSimplify()", PLANTED_TEXT.replace("TWO", "3")),
    )
)
"""A simplification that is off by one, behind a pass that is right: it is found, or nothing else means anything."""


@cache
def prove_power() -> None:
    """Find the planted fault, once in a process. Raises RuntimeError: then no verdict of it is worth anything."""
    _, finding = finding_of(PLANTED, ("tirx.UnrollLoop()", "tirx.StmtSimplify()"))
    if finding is None or finding.cause != ("tirx.StmtSimplify", "wrong", ""):
        raise RuntimeError("the planted simplification that is off by one is not found")


def finding_of(trace: PassTrace, steps: Steps) -> tuple[TraceCheck, PassFinding | None]:
    """The verdicts on a trace of these steps, and what is wrong with it."""
    first, *stages = trace.stages
    checked = _checked(PassTrace((first, *stages[-1:]), trace.stopped, trace.kind))
    if len(stages) > 1 and any(row.verdict is not StageVerdict.SAME for row in checked.rows):
        checked = _checked(trace)
    if checked.broken is not None and undefined_code(checked.broken.diagnostic.message) not in UNREADABLE:
        broken = checked.broken
        upto = steps[: steps.index(broken.name) + 1] if broken.name in steps else steps
        code, message = broken.diagnostic.code.id, broken.diagnostic.message
        verdict, pattern = _how(broken)
        return checked, PassFinding(first.text, upto, code, message, verdict, pattern, broken)
    if checked.failure is not None and trace.kind in FAILS:
        within = trace.stopped.partition("in `")[2].partition("`: ")[0]
        upto = steps[: steps.index(within) + 1] if within in steps else (*steps, within)
        code, message = checked.failure.code.id, checked.failure.message
        pattern = normalised(trace.stopped.partition("`: ")[2])[:SHOWN]
        return checked, PassFinding(first.text, upto, code, message, trace.kind.value, pattern, None)
    return checked, None


def _checked(trace: PassTrace) -> TraceCheck:
    permissions = permissions_of([stage.name for stage in trace.stages])
    return check(trace, calls=CALLS, small=False, limits=LIMITS, permissions=permissions)


def permissions_of(steps: Sequence[str]) -> Permissions:
    """What the documentation of passes permits them: to round numbers to a narrower dtype."""
    return Permissions(narrowing={step: dtype(NARROWS[name_of(step)]) for step in steps if name_of(step) in NARROWS})


def _how(broken: BrokenStage) -> tuple[str, str]:
    """How a stage is wrong, and the pattern of that."""
    code, message = broken.diagnostic.code.id, broken.diagnostic.message
    if code == OUR_CRASH:
        return "crashed", ""
    if not broken.func:
        return "ill-formed", code
    undefined = undefined_code(message)
    if undefined:
        return "undefined", undefined
    return "wrong", "" if ", expected " in message else normalised(message.rpartition(": ")[2])[:SHOWN]


def run_orders(settings: CampaignSettings, batch: int, numbers: Sequence[int]) -> BatchResult:
    """Verdicts on stages, findings, the passes that changed a program, why stages were not compared."""
    prove_power()
    python = python_of(settings)
    path, tally = f"{TVM}{python}", StageTally()
    for number in numbers:
        tvm = compiler(python, settings.program_seconds)
        drawn = drawn_order(settings, number, number // len(settings.kinds))
        try:
            trace = trace_of(tvm, drawn.text, drawn.steps)
            checked, finding = finding_of(trace, drawn.steps)
        except RefmlcError as failure:
            tally.refuse(failure)
            continue
        tally.add(trace, checked, {name_of(stage.name) for stage in trace.stages[1:]})
        if trace.stopped and finding is None:
            tally.leave(f"{trace.kind.value}, {trace.stopped}")
        if finding is not None:
            tally.findings.append(record_of(settings, number, path, tvm, finding))
    return tally.result(batch, path, KIND)


def record_of(
    settings: CampaignSettings, number: int, path: str, tvm: TvmPasses, finding: PassFinding
) -> FindingRecord:
    """The finding as data."""
    lines = message_of(tvm, finding)
    if finding.code == OUR_CRASH:
        path, lines = REFERENCE, [f"refmlc fails on what `{finding.guilty}` leaves: {finding.message}"]
    return FindingRecord(
        signature("", KIND, path, *finding.cause),
        finding.code,
        path,
        finding.verdict,
        "\n".join(lines),
        number,
        settings.seed_of(number),
        KIND,
        case_of(finding),
    )


def message_of(tvm: TvmPasses, finding: PassFinding) -> list[str]:
    """What is wrong, and the recorded deviations that it may be: the most like it is named alone."""
    rows = rows_of(tvm, finding)
    like = most_alike({"name": tvm.name}, rows, finding.text, finding.pattern)
    lines = [f"it is like the known row {like}"] if like else []
    lines += [f"perhaps as the known row {' or '.join(rows)}"] if rows else []
    return [f"`{finding.guilty}` is wrong: {finding.message}", *lines]


def rows_of(tvm: TvmPasses, finding: PassFinding) -> list[str]:
    """The recorded deviations on the guilty pass that are wrong in the same way."""
    says = {"name": tvm.name}
    rows = known_passes(says, finding.guilty, finding.verdict, finding.pattern)
    if finding.verdict not in WRONG_STAGES:
        return rows
    recorded = {str(row["id"]): row for row in rows_on_record(says)} if rows else {}
    return [row for row in rows if cause_of_row(tvm, recorded[row])[1:] in ((), finding.cause[1:])]


def cause_of_row(tvm: TvmPasses, row: Mapping[str, object]) -> Cause | tuple[()]:
    """The cause of the finding that a recorded deviation makes; empty: its program is a compiled one.

    Where drawn arguments do not show it, it is wrong as the row says.
    """
    match row:
        case {"module": str(text), "steps": [*_, last] as steps}:
            got = row.get("got")
            code = got if isinstance(got, str) else ""
            stated = name_of(str(last)), "undefined" if code else "wrong", code
            return _cause_recorded(tvm, text, tuple(map(str, steps))) or stated
    return ()


@cache
def _cause_recorded(tvm: TvmPasses, text: str, steps: Steps) -> Cause | None:
    return cause_of(tvm, text, steps)


def case_of(finding: PassFinding) -> dict[str, object]:
    """The order as data: the program, its passes, and the program before and after the last of them."""
    broken = finding.broken
    sides = {} if broken is None else {"before": broken.before.text, "after": broken.after.text}
    return {"text": finding.text, "steps": list(finding.steps), **sides}


def shrink_order(settings: CampaignSettings, finding: FindingRecord, seconds: float) -> Json:
    """The order with fewer passes, on a smaller program, that is wrong for the same cause."""
    tvm = compiler(python_of(settings), settings.program_seconds)
    steps = tuple(str(step) for step in json.loads(json.dumps(finding.case))["steps"])
    text, deadline = str(finding.case["text"]), monotonic() + seconds
    cause = cause_of(tvm, text, steps)
    if cause is None:
        return {"problem": "the finding does not occur again"}

    def keeps(candidate: Steps) -> bool:
        return is_legal(candidate) and monotonic() < deadline and cause_of(tvm, text, candidate) == cause

    smallest = finding_on(tvm, text, fewer(steps, keeps))
    if smallest is None:
        return {"problem": "the finding does not occur again"}
    smallest = smaller_program(tvm, smallest, max(1.0, deadline - monotonic()))
    return {
        "case": case_of(smallest),
        "message": "\n".join(message_of(tvm, smallest)),
        "lines": [len(text.splitlines()), len(smallest.text.splitlines())],
        "steps": [len(steps), len(smallest.steps)],
    }


def smaller_program(tvm: TvmPasses, finding: PassFinding, seconds: float) -> PassFinding:
    """The finding on a smaller program that the same passes break in the same way."""
    steps = finding.steps
    if finding.broken is None:
        return finding
    small = shrunk(
        read(finding.text, "the program"),
        finding.broken,
        lambda text: trace_of(tvm, text, steps),
        seconds=seconds,
        calls=CALLS,
        permissions=permissions_of(steps),
    )
    again = None if small is None else finding_on(tvm, small.text, steps)
    return finding if again is None or again.cause != finding.cause else again


def finding_on(tvm: TvmPasses, text: str, steps: Steps) -> PassFinding | None:
    """What is wrong with these steps; None: nothing, or TVM does not take them."""
    try:
        return finding_of(trace_of(tvm, text, steps), steps)[1]
    except RefmlcError:
        return None


def cause_of(tvm: TvmPasses, text: str, steps: Steps) -> Cause | None:
    """The cause of what is wrong with these steps; None: nothing."""
    finding = finding_on(tvm, text, steps)
    return None if finding is None else finding.cause


class OrdersInTvm:
    """Orders of the passes of one TVM."""

    def __init__(self, python: str, seconds: float) -> None:
        """Start it. Units: seconds. Fails: RM112."""
        self._tvm = TvmPasses(python, passes=(), seconds=seconds)
        self.name = self._tvm.name

    def finding(self, text: str, steps: Sequence[str]) -> tuple[TraceCheck, PassFinding | None]:
        """The verdicts on the stages, and what is wrong. Fails: RM109, RM112, RM5xx."""
        return finding_of(trace_of(self._tvm, text, tuple(steps)), tuple(steps))

    def small(self, finding: SteppedFinding, seconds: float) -> SteppedFinding:
        """The finding on a smaller program, for the same cause."""
        return smaller_program(self._tvm, finding, seconds) if isinstance(finding, PassFinding) else finding

    def row(self, finding: SteppedFinding) -> str:
        """The recorded deviation that it is; empty where none is, or one of several may be."""
        if not isinstance(finding, PassFinding):
            return ""
        rows = rows_of(self._tvm, finding)
        return rows[0] if len(rows) == 1 else ""

    def close(self) -> None:
        """End it."""
        self._tvm.close()
