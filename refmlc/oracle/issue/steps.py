"""The facts of a report on steps that TVM applies to a program: each is measured here.

| fact        | from                                                                                             |
|-------------|--------------------------------------------------------------------------------------------------|
| the module  | the program made small, and the steps made few, as long as the cause stays (`fuzz.subjects`)     |
| the step    | every stage executed: the first that changes the meaning, with the change                        |
| neighbours  | other extents of the program, other numbers in the guilty step: TVM applies the steps again      |
| versions    | the same steps in each Python that the user names                                                |
| why         | the clauses of the operators; NumPy, which executes both modules' loops by itself                |
| duplicates  | the row of `conformance/known` with the same cause, executed in the same TVM; rows that look alike |
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace

from refmlc.diag import RefmlcError, fail
from refmlc.diag.catalogue import BAD_USAGE
from refmlc.lang.ir import IRModule, tir
from refmlc.lang.ir.visit import walk
from refmlc.lang.script import show
from refmlc.lang.spec.loader import Clause, clause
from refmlc.lang.wellformed.reader_checks import read
from refmlc.oracle.evidence.record import clauses as clauses_of
from refmlc.oracle.fuzz.exclusions import TVM
from refmlc.oracle.fuzz.finding_file import TracedFindingFile
from refmlc.oracle.fuzz.subjects.primitives.step_pattern import parsed
from refmlc.oracle.fuzz.subjects.replayed_trace import SteppedFinding, StepsInTvm, text_and_steps
from refmlc.oracle.fuzz.subjects.table import SUBJECTS
from refmlc.oracle.implementations.implementation import Ended, Limits, Prepared
from refmlc.oracle.implementations.loops.adapter import Loops
from refmlc.oracle.issue.neighbours import with_size
from refmlc.oracle.issue.report import MOST_ALIKE, MOST_CLAUSES, SILENT, NeighbourRow
from refmlc.oracle.issue.steps_script import steps_script
from refmlc.oracle.issue.versions import VersionVerdict, in_order, verdicts
from refmlc.oracle.parts import bits
from refmlc.oracle.passes.report import TvmRequest, tvm_script
from refmlc.oracle.passes.stages import BrokenStage, TraceCheck
from refmlc.oracle.record import KnownRow, similar_rows
from refmlc.oracle.refine.calls import fresh
from refmlc.rewrite.transform import legalize_ops
from refmlc.run.memory.tensor import Tensor

SECONDS = 60.0  # that TVM has for the steps of a program
LIMITS = Limits(seconds=30.0, prepare=30.0, clock=True)
MOST_SIZES, MOST_FACTORS = 4, 6
SCHEDULE = "primitives"


@dataclass(frozen=True)
class StepReport:
    """What is known of steps that are wrong. `version`: TVM's name; `row`: the recorded deviation that it is."""

    file: TracedFindingFile
    finding: SteppedFinding
    version: str
    neighbours: tuple[NeighbourRow, ...] = ()
    versions: tuple[VersionVerdict, ...] = ()
    clauses: tuple[Clause, ...] = ()
    numpy: str = ""
    row: str = ""
    alike: tuple[KnownRow, ...] = ()
    script: str | None = field(default=None, repr=False)


def steps_report(
    file: TracedFindingFile,
    specs: Sequence[str],
    *,
    seconds: float = 60.0,
    progress: Callable[[str], None] = SILENT,
) -> StepReport:
    """The report on the first of `specs`; further ones are other versions of it. `seconds`: for the reduction.

    Fails: RM109; RM112 where the steps are not wrong any more, or this TVM does not start.
    """
    subject = SUBJECTS.get(file.kind)
    pythons = [spec.removeprefix(TVM).partition(",")[0] for spec in specs if spec.startswith(TVM)]
    if subject is None or subject.steps is None or not pythons:
        what = f"no report is written on the kind `{file.kind}`" if pythons else f"`{file.id}` holds steps of TVM"
        raise fail(BAD_USAGE, what, None, "`--impl tvm:PYTHON` names the TVM")
    text, steps = text_and_steps(file.case)
    with closing(subject.steps(pythons[0], SECONDS)) as tvm:
        progress("run")
        first = tvm.finding(text, steps)[1]
        if first is None:
            raise fail(BAD_USAGE, f"`{tvm.name}` keeps the meaning of `{file.id}` in every step")
        progress("reduce")
        finding = tvm.small(first, seconds)
        report = StepReport(file, finding, tvm.name, row=tvm.row(finding))
        progress("neighbours")
        report = replace(report, neighbours=tuple(_neighbours(tvm, finding)))
    progress("versions")
    module = read(finding.text, "the program")
    alike = similar_rows({"name": report.version}, module, finding.guilty)
    names = clauses_of(legalize_ops(module), None, [])
    return replace(
        report,
        versions=tuple(_versions(subject.steps, pythons, finding)),
        clauses=tuple(clause(name) for name in names[:MOST_CLAUSES]),
        numpy=_numpy(module, finding.broken),
        alike=tuple(each for each in alike if each.id != report.row)[:MOST_ALIKE],
        script=_script(file.kind, finding),
    )


def _script(kind: str, finding: SteppedFinding) -> str | None:
    if kind == SCHEDULE:
        return steps_script(finding.text, finding.steps, finding.broken, finding.message)
    return None if finding.broken is None else tvm_script(finding.text, finding.broken, TvmRequest(finding.steps))


def _neighbours(tvm: StepsInTvm, finding: SteppedFinding) -> Iterator[NeighbourRow]:
    """The neighbours that TVM takes and refmlc executes, with the verdict on each."""
    for name, text, steps in (*_sizes(finding), *_factors(finding)):
        try:
            checked, other = tvm.finding(text, steps)
        except RefmlcError:
            continue
        row = _row(name, checked, other)
        if row is not None:
            yield row


def _row(name: str, checked: TraceCheck, other: SteppedFinding | None) -> NeighbourRow | None:
    if other is not None:
        return NeighbourRow(name, right=False, word=other.message.split("\n")[0])
    if checked.stopped:
        return NeighbourRow(name, right=True, word="TVM refuses the step")
    return NeighbourRow(name, right=True, word="the meaning is kept") if checked.compared else None


def _sizes(finding: SteppedFinding) -> Iterator[tuple[str, str, tuple[str, ...]]]:
    """The program with other numbers in place of its greatest extent."""
    module = read(finding.text, "the program")
    old = max(_extents(module), default=0)
    if old < 2:
        return
    sizes = dict.fromkeys([old - 1, old + 1, 2 * old, 1 << old.bit_length()])
    for size in sorted(size for size in sizes if size != old)[:MOST_SIZES]:
        try:
            other = read(show(with_size(module, old, size), show_meta=True), "neighbour.py")
        except RefmlcError:
            continue
        yield f"{size} for {old} in the program", show(other, show_meta=True), finding.steps


def _extents(module: IRModule) -> Iterator[int]:
    """The extents of loops and of parameters' buffers, where they are numbers."""
    for function in module.functions.values():
        loops = [node.extent for node in walk(function) if isinstance(node, tir.For)]
        buffers = [extent for buffer in getattr(function, "buffer_map", {}).values() for extent in buffer.shape]
        yield from (extent.value for extent in (*loops, *buffers) if isinstance(extent, tir.IntImm))


def _factors(finding: SteppedFinding) -> Iterator[tuple[str, str, tuple[str, ...]]]:
    """The guilty step with other numbers in the tuples of its arguments."""
    if not finding.steps:
        return
    name, arguments = parsed(finding.steps[-1])
    changed: dict[str, None] = {}
    for at, argument in enumerate(arguments):
        for place, number in enumerate(argument if isinstance(argument, tuple) else ()):
            if not isinstance(number, int) or isinstance(number, bool):
                continue
            for other in (number - 1, number + 1, 2 * number):
                numbers = (*argument[:place], other, *argument[place + 1 :])  # type: ignore[index]  # it is a tuple
                if other > 0 and other != number:
                    step = f"{name}({', '.join(map(repr, (*arguments[:at], numbers, *arguments[at + 1 :])))})"
                    changed[step] = None
    for step in list(changed)[:MOST_FACTORS]:
        yield f"{step} for the last step", finding.text, (*finding.steps[:-1], step)


def _versions(
    steps: Callable[[str, float], StepsInTvm], pythons: Sequence[str], finding: SteppedFinding
) -> list[VersionVerdict]:
    """The verdict on each version. A Python that does not start is left out."""
    started: list[tuple[str, str]] = []
    for python in pythons:
        try:
            with closing(steps(python, SECONDS)) as tvm:
                started.append((tvm.name.removeprefix("tvm "), python))
        except RefmlcError:
            continue
    order = in_order([version for version, _ in started])

    def run(number: int) -> tuple[bool, str]:
        with closing(steps(started[order[number]][1], SECONDS)) as tvm:
            try:
                row = _row("", *tvm.finding(finding.text, finding.steps))
            except RefmlcError as failure:
                return False, f"not run: {failure.diagnostic.message}"
            return (False, "nothing was compared") if row is None else (not row.right, row.word)

    return verdicts([started[number][0] for number in order], run)


def _numpy(module: IRModule, broken: BrokenStage | None) -> str:
    """What NumPy says of both modules, in a sentence; empty where it does not take them."""
    if broken is None or not broken.func:
        return ""
    try:
        after = read(broken.after.text, "after.py")
    except RefmlcError:
        return ""
    results = [_by_numpy(each, broken) for each in (module, after)]
    if None in results:
        return ""
    says = "the same result" if results[0] == results[1] else "different results"
    return f"NumPy, executing the loops of both modules with its own arithmetic, gets {says} from them."


def _by_numpy(module: IRModule, broken: BrokenStage) -> list[object] | None:
    """The bits of the tensors that NumPy leaves; None: it does not take the module, or fails."""
    prepared = Loops(LIMITS).prepare(module)
    if not isinstance(prepared, Prepared):
        return None
    answer = prepared.run(broken.func, fresh(broken.call))
    if not isinstance(answer, Ended):
        return None
    return [bits(element) for arg in answer.args if isinstance(arg, Tensor) for element in arg.array.reshape(-1)]
