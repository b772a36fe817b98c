"""Programs of the kind `primitives`: traces of TVM's schedule, each step held to the program that it began with.

| the number modulo 3 | the program                                                                          |
|---------------------|--------------------------------------------------------------------------------------|
| 0                   | an operator with prime and tiny extents, drawn by TVM (`tvm_side/library_programs`)  |
| 1                   | a generated prim_func                                                                |
| 2                   | one that is aimed at preconditions of primitives (`aimed_programs`)                  |

TVM draws the trace in its own process and says of each primitive whether it takes it. Every stage is executed on one
call, the last one on all of them: a wrong step that a later one takes back is found too. Where a stage is wrong, those
up to it are executed on all calls, and the first wrong primitive is named.

A cause is the guilty primitive, how it is wrong, the code of what is undefined after it or the words of TVM,
and the pattern of the step (`step_pattern`). A recorded deviation is executed in the same TVM; a finding is the known
one where their causes are equal, and like it where they are nearly (`is_like`). Reduction keeps the cause, but for
traits of the pattern that it does not need.
"""

import json
import re
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache
from time import monotonic

from refmlc.diag import RefmlcError
from refmlc.lang.ir import IRModule, tir
from refmlc.lang.ir.node import Node
from refmlc.lang.ir.visit import rewrite
from refmlc.lang.script import show
from refmlc.lang.wellformed.reader_checks import read
from refmlc.oracle.fuzz.exclusions import TVM, exclusions, is_excluded
from refmlc.oracle.fuzz.kept_processes import kept
from refmlc.oracle.fuzz.result import BatchResult, FindingRecord, Json, signature
from refmlc.oracle.fuzz.settings import CampaignSettings
from refmlc.oracle.fuzz.subjects.primitives.aimed_programs import aimed_program
from refmlc.oracle.fuzz.subjects.primitives.recorded_traces import (
    UNWRITTEN,
    Cause,
    family_of,
    is_like,
    is_within,
    place_in,
    shared_traits,
    step_of_row,
    traits_of,
)
from refmlc.oracle.fuzz.subjects.primitives.step_pattern import (
    TRAITS,
    memory_outside_of_launches,
    pattern_of,
    place_of,
)
from refmlc.oracle.fuzz.subjects.replayed_trace import SteppedFinding
from refmlc.oracle.fuzz.subjects.stage_tally import StageTally
from refmlc.oracle.implementations.implementation import Limits
from refmlc.oracle.passes.check import check
from refmlc.oracle.passes.instrument import permissions_of
from refmlc.oracle.passes.run import TvmPrimitives
from refmlc.oracle.passes.stages import ENDED, BrokenStage, PassTrace, Stage, TraceCheck
from refmlc.oracle.reasons import normalised
from refmlc.oracle.record import scheduled_rows
from refmlc.oracle.reduce import reduce
from refmlc.strategies.functions import rolled

KIND = "primitives"
REFERENCE = "interp"
PRIMITIVES = (
    *("split", "loop_partition", "fuse", "merge", "reorder", "parallel", "vectorize", "unroll", "bind", "cache_read"),
    *("cache_write", "read_at", "write_at", "cache_inplace", "cache_index", "reindex", "reindex_cache_read"),
    *("reindex_cache_write", "compute_inline", "reverse_compute_inline", "compute_at", "reverse_compute_at"),
    *("decompose_reduction", "decompose_padding", "rfactor", "pad_einsum", "storage_align", "set_scope"),
    *("rolling_buffer", "transform_layout", "transform_block_layout", "reorder_block_iter_var", "blockize"),
    *("add_unit_loop", "annotate", "fuse_reduction_epilogue"),
)
"""The primitives that are drawn: `tvm_side/run_primitives` has them."""
UNREAD = ("narrow-floats", "bfloat16")  # TVM's parser refuses many operators on them
ATTEMPTS = 32
CALLS = 5
TRIES = 200  # programs that are tried to make one smaller
BETWEEN = 1  # calls of the stages before the last one
SHOWN = 100  # characters of what TVM says that tell causes apart
LIMITS = Limits(steps=200_000, bytes=1 << 28)
LEFT_OUT = ("fuse_reduction_epilogue",)  # TVM documents that it may change the meaning
NAMED = re.compile(r"`(\w+)\[")  # the element that is read
OUR_CRASH = "RM703"  # of the interpreter, which executes the stages
Steps = tuple[str, ...]


@dataclass(frozen=True)
class TracedFinding:
    """A trace that is wrong. `text`: the program it begins with; `steps`: its primitives up to the guilty one.

    `pattern`: the first traits of the guilty one, or what TVM says; `traits`: all of them, where it says nothing.
    """

    text: str
    steps: Steps
    code: str
    message: str
    verdict: str
    pattern: str
    broken: BrokenStage | None
    traits: str = ""

    @property
    def guilty(self) -> str:
        """The name of the guilty primitive."""
        return primitive_of(self.steps[-1]) if self.steps else "the input"

    @property
    def cause(self) -> Cause:
        """The guilty primitive, how it is wrong, the code of what is undefined or ill-formed after it, the pattern."""
        first_word = self.message.partition(" ")[0]
        code = f"{self.code} {first_word}" if self.verdict == "ill-formed" else undefined_code(self.message)
        return self.guilty, self.verdict, code, self.pattern

    @property
    def whole_cause(self) -> Cause:
        """The cause with all traits of the step, which rows are compared with."""
        if self.broken is None:
            return *self.cause[:3], self.traits or self.pattern
        traits = pattern_of(self.broken.before.text, self.broken.name, most=len(TRAITS))
        place = place_in(self.cause)
        return *self.cause[:3], ", ".join(filter(None, (traits, place)))


def primitive_of(step: str) -> str:
    """The name of the primitive that a step spells."""
    return step.partition("(")[0]


def undefined_code(message: str) -> str:
    """The code of what is undefined after the guilty step; empty: another result, or a death of TVM."""
    _, after, rest = message.partition("is not: ")
    return rest.partition(":")[0] if after and rest.startswith("RM") else ""


def python_of(settings: CampaignSettings) -> str:
    """The Python of the campaign's TVM; empty: it has none."""
    specs = (spec.removeprefix(TVM).partition(",")[0] for spec in settings.implementations if spec.startswith(TVM))
    return next(specs, "").partition("@")[0]


def compiler(python: str, seconds: float) -> TvmPrimitives:
    """TVM's process, kept by the worker."""
    return kept(TvmPrimitives, python, seconds=seconds)


HEAD = """from tvm.script import tirx as T
@T.prim_func(s_tir=True)
def main(A: T.Buffer((5,), "int32"), B: T.Buffer((5,), "int32")):
    for i in range(EXTENT):
        with T.sblock("B"):
            v = T.axis.spatial(5, i)
            B[v] = A[v] + 1
"""
PLANTED = PassTrace(
    (
        Stage("input", HEAD.replace("EXTENT", "5")),
        Stage("split('B', 0, (None, 2))", HEAD.replace("EXTENT", "4")),
        Stage("fuse('B', (0, 1))", HEAD.replace("EXTENT", "5")),
    )
)
"""A split that loses the rest, which a later step takes back: what must be found, or nothing else means anything."""


@cache
def prove_power() -> None:
    """Find the planted fault, once in a process. Raises RuntimeError: then no verdict of it is worth anything."""
    _, finding = finding_of(PLANTED)
    if finding is None or finding.guilty != "split":
        raise RuntimeError("the planted split that loses an element is not found")


def text_of(settings: CampaignSettings, number: int) -> str:
    """The program of a trace; empty: TVM draws it."""
    match number % 3:
        case 0:
            return ""
        case 1:
            return show(generated(settings, number), show_meta=True)
    return aimed_program(number // 3)


def generated(settings: CampaignSettings, number: int) -> IRModule:
    """A generated program without what TVM does not read."""
    exclude = exclusions((*settings.exclude, *UNREAD), settings.implementations)
    seeds = (settings.seed_of(number, attempt) for attempt in range(ATTEMPTS))
    modules = (rolled(seed, "", small=settings.large == 0 or seed % settings.large != 0).module for seed in seeds)
    return next((module for module in modules if not is_excluded(module, exclude)), read(aimed_program(0), "aimed.py"))


def finding_of(trace: PassTrace) -> tuple[TraceCheck, TracedFinding | None]:
    """The verdicts on a trace, and what is wrong with it."""
    first, *stages = trace.stages
    steps = tuple(stage.name for stage in stages)
    checked = _checked(trace, BETWEEN)
    if checked.broken is not None and len(checked.rows) > 1:
        checked = _checked(replace(trace, stages=trace.stages[: len(checked.rows) + 1]), None)
    if checked.broken is not None:
        broken, upto = checked.broken, steps[: len(checked.rows)]
        code, message = broken.diagnostic.code.id, broken.diagnostic.message
        verdict = "ill-formed" if not broken.func else "undefined" if undefined_code(message) else "wrong"
        verdict = "crashed" if code == OUR_CRASH else verdict
        if _is_of_launches(broken):
            return checked, None
        pattern = ", ".join(filter(None, (pattern_of(broken.before.text, broken.name), _place(broken, verdict))))
        return checked, TracedFinding(first.text, upto, code, message, verdict, pattern, broken)
    if checked.failure is not None:
        within, _, words = trace.stopped.partition("in `")[2].partition("`: ")
        code, message = checked.failure.code.id, checked.failure.message
        words = "" if words.startswith(ENDED) else normalised(words)[:SHOWN]
        before = trace.stages[-1].text
        pattern = words or pattern_of(before, within)
        traits = "" if words else pattern_of(before, within, most=len(TRAITS))
        verdict = trace.kind.value
        return checked, TracedFinding(first.text, (*steps, within), code, message, verdict, pattern, None, traits)
    return checked, None


def _is_of_launches(broken: BrokenStage) -> bool:
    """Whether `bind` leaves the memory of a thread to several launches: TVM makes it global, and nobody is wrong."""
    if primitive_of(broken.name) != "bind" or undefined_code(broken.diagnostic.message) != UNWRITTEN:
        return False
    named = NAMED.search(broken.diagnostic.message)
    return named is not None and named[1] in memory_outside_of_launches(broken.after.text)


def _place(broken: BrokenStage, verdict: str) -> str:
    """Where the program after the step is undefined or ill-formed; empty: its result is another one."""
    span = broken.diagnostic.span
    told = span is not None and verdict in ("undefined", "ill-formed")
    return place_of(broken.before.text, broken.after.text, span) if told and span is not None else ""


def _checked(trace: PassTrace, between: int | None) -> TraceCheck:
    permissions = permissions_of(trace.stages)
    return check(trace, calls=CALLS, small=False, limits=LIMITS, permissions=permissions, between=between)


def run_traces(settings: CampaignSettings, batch: int, numbers: Sequence[int]) -> BatchResult:
    """Verdicts on stages, findings, the primitives that changed a program, why stages were not compared."""
    prove_power()
    python = python_of(settings)
    path, tally = f"{TVM}{python}", StageTally()
    for number in numbers:
        tvm = compiler(python, settings.program_seconds)
        without = sorted({*LEFT_OUT, *settings.exclude})
        try:
            trace = tvm(text_of(settings, number), seed=settings.seed_of(number), without=without)
            checked, finding = finding_of(trace)
        except RefmlcError as failure:
            tally.refuse(failure)
            continue
        tally.add(trace, checked, {primitive_of(stage.name) for stage in trace.stages[1:]})
        if finding is not None:
            tally.findings.append(record_of(settings, number, path, tvm, finding))
    return tally.result(batch, path, KIND)


def record_of(
    settings: CampaignSettings, number: int, path: str, tvm: TvmPrimitives, finding: TracedFinding
) -> FindingRecord:
    """The finding as data."""
    path = REFERENCE if finding.code == OUR_CRASH else path
    return FindingRecord(
        signature("", KIND, path, *finding.cause),
        finding.code,
        path,
        finding.verdict,
        message_of(tvm, finding),
        number,
        settings.seed_of(number),
        KIND,
        case_of(finding),
    )


def message_of(tvm: TvmPrimitives, finding: TracedFinding) -> str:
    """What is wrong, and the recorded deviation that it is."""
    if finding.code == OUR_CRASH:
        return f"refmlc fails on what `{finding.guilty}` leaves: {finding.message}"
    row = known_row(tvm, finding.cause)
    like = "" if row else like_row(tvm, finding.whole_cause)
    lines = [f"as the known row {row}"] * bool(row) + [f"it is like the known row {like}"] * bool(like)
    return "\n".join([f"`{finding.guilty}` is wrong: {finding.message}", *lines])


def known_row(tvm: TvmPrimitives, cause: Cause) -> str:
    """The recorded deviation of this TVM that has the cause; empty: none."""
    return next((row for row, other in causes_of_rows(tvm, cause[0]).items() if other == cause), "")


def like_row(tvm: TvmPrimitives, cause: Cause) -> str:
    """The recorded deviation that looks like a cause, of those of its family of primitives; empty: none.

    Of two it is the one with the same code, then the one that fails in the same place, then the one of whose traits the
    cause has most (`shared_traits`), then the one with more, then that of its own primitive, or of one whose name has
    the same first word.
    """
    rows = [pair for name in sorted(family_of(cause[0])) for pair in causes_of_rows(tvm, name).items()]
    alike = [
        (
            (other[1:3] == cause[1:3], place_in(other) == place_in(cause)),
            (shared_traits(other, cause), len(traits_of(other))),
            (other[0] == cause[0], other[0].split("_")[0] == cause[0].split("_")[0]),
            row,
        )
        for row, other in rows
        if is_like(other, cause)
    ]
    return max(alike)[-1] if alike else ""


@cache
def causes_of_rows(tvm: TvmPrimitives, primitive: str) -> dict[str, Cause]:
    """The causes of the recorded deviations whose last step is `primitive`: each is executed in this TVM."""
    causes: dict[str, Cause] = {}
    for row, text, steps, got in scheduled_rows({"name": tvm.name}):
        spelled = tuple(map(step_of_row, steps))
        cause = cause_of_row(tvm, text, spelled, got) if spelled and primitive_of(spelled[-1]) == primitive else None
        if cause is not None and cause[0] == primitive:
            causes[row] = cause
    return causes


def cause_of_row(tvm: TvmPrimitives, text: str, steps: Steps, got: object) -> Cause | None:
    """The cause of a recorded deviation; None: TVM does not take its steps any more, or ends otherwise.

    Where drawn arguments do not show it, and its own do, it is wrong as the row says.
    """
    try:
        trace = tvm(text, steps)
        finding = finding_of(trace)[1]
    except RefmlcError:
        return None
    if finding is not None or trace.stopped or trace.stages[-1].name != steps[-1]:
        return None if finding is None else finding.cause
    code = got if isinstance(got, str) else ""
    return primitive_of(steps[-1]), "undefined" if code else "wrong", code, pattern_of(trace.stages[-2].text, steps[-1])


def case_of(finding: TracedFinding) -> dict[str, object]:
    """The trace as data: the program, its steps, and the program before and after the last of them."""
    broken = finding.broken
    sides = {} if broken is None else {"before": broken.before.text, "after": broken.after.text}
    pattern = {"pattern": finding.pattern} if finding.pattern else {}
    return {"text": finding.text, "steps": list(finding.steps), **pattern, **sides}


def shrink_trace(settings: CampaignSettings, finding: FindingRecord, seconds: float) -> Json:
    """The trace with fewer steps, on a smaller program, that is wrong for the same cause."""
    tvm = compiler(python_of(settings), settings.program_seconds)
    steps = tuple(str(step) for step in json.loads(json.dumps(finding.case))["steps"])
    text = str(finding.case["text"])
    smallest = smaller(tvm, text, steps, seconds)
    if smallest is None:
        return {"problem": "the finding does not occur again"}
    return {
        "case": case_of(smallest),
        "message": message_of(tvm, smallest),
        "signature": signature("", KIND, finding.path, *smallest.cause),
        "lines": [len(text.splitlines()), len(smallest.text.splitlines())],
        "steps": [len(steps), len(smallest.steps)],
    }


def smaller(tvm: TvmPrimitives, text: str, steps: Steps, seconds: float) -> TracedFinding | None:
    """What these steps break with fewer of them, on a smaller program, for the same cause; None: nothing."""
    deadline, cause = monotonic() + seconds, signature_of(tvm, text, steps)
    if cause is None:
        return None

    def keeps(candidate: Steps) -> bool:
        return monotonic() < deadline and signature_of(tvm, text, candidate) == cause

    few = _finding(tvm, text, fewer(steps, keeps))
    return None if few is None else smaller_program(tvm, few, max(1.0, deadline - monotonic()))


class TracesInTvm:
    """Traces of the schedule of one TVM."""

    def __init__(self, python: str, seconds: float) -> None:
        """Start it. Units: seconds. Fails: RM112."""
        self._tvm = TvmPrimitives(python, seconds=seconds)
        self.name = self._tvm.name

    def finding(self, text: str, steps: Sequence[str]) -> tuple[TraceCheck, TracedFinding | None]:
        """The verdicts on the stages, and what is wrong. Fails: RM109, RM112, RM5xx."""
        return finding_of(self._tvm(text, steps))

    def small(self, finding: SteppedFinding, seconds: float) -> SteppedFinding:
        """The finding with fewer steps, on a smaller program, for the same cause."""
        return smaller(self._tvm, finding.text, finding.steps, seconds) or finding

    def row(self, finding: SteppedFinding) -> str:
        """The recorded deviation that has its cause."""
        return known_row(self._tvm, finding.cause) if isinstance(finding, TracedFinding) else ""

    def close(self) -> None:
        """End it."""
        self._tvm.close()


def fewer(steps: Steps, keeps: Callable[[Steps], bool]) -> Steps:
    """The steps without those that `keeps` does not need; the last one stays."""
    again = True
    while again:
        again = False
        for at in range(len(steps) - 2, -1, -1):
            candidate = (*steps[:at], *steps[at + 1 :])
            if keeps(candidate):
                steps, again = candidate, True
    return steps


def smaller_program(tvm: TvmPrimitives, finding: TracedFinding, seconds: float) -> TracedFinding:
    """The finding on a smaller program that the same steps break, for the same cause."""
    smallest = finding

    def keeps(candidate: IRModule) -> bool:
        nonlocal smallest
        text = program_text(candidate)
        again = _finding(tvm, text, finding.steps)
        if again is None or not is_within(again.cause, smallest.cause):
            return False
        smallest = replace(again, text=text)
        return True

    with suppress(RefmlcError):  # it is not wrong in refmlc's spelling: it stays as it is
        module = read(finding.text, "the program")
        bare = without_regions(module)
        reduce(bare if keeps(bare) else module, keeps, seconds=seconds, tries=TRIES)
    return smallest


def without_regions(module: IRModule) -> IRModule:
    """The module whose blocks do not declare what they read and write: readers derive it."""

    def bare(node: Node) -> Node:
        return replace(node, reads=None, writes=None) if isinstance(node, tir.SBlock) else node

    functions = {name: rewrite(function, bare) for name, function in module.functions.items()}
    return replace(module, functions=functions, source=None)


def program_text(module: IRModule) -> str:
    """The text of a module, without comments; that of the function where there is one alone."""
    functions = list(module.functions.values())
    alone = functions[0] if len(functions) == 1 and isinstance(functions[0], tir.PrimFunc) else module
    lines = show(alone, show_meta=True).strip("\n").split("\n")
    return "\n".join(line for line in lines if line and not line.lstrip().startswith("#")) + "\n"


def _finding(tvm: TvmPrimitives, text: str, steps: Steps) -> TracedFinding | None:
    try:
        return finding_of(tvm(text, steps))[1]
    except RefmlcError:
        return None


def signature_of(tvm: TvmPrimitives, text: str, steps: Steps) -> Cause | None:
    """The cause of what is wrong with these steps; None: nothing."""
    finding = _finding(tvm, text, steps)
    return None if finding is None else finding.cause
