"""The facts of a report on an implementation: each is measured here, and left out where it cannot be.

| fact        | from                                                                                            |
|-------------|-------------------------------------------------------------------------------------------------|
| the module  | the case made small, as long as the implementation has a finding of the same code               |
| neighbours  | each run in the same implementation                                                             |
| the pass    | TVM's pipeline pass by pass, on the arguments of the small case (`oracle.passes`)               |
| the pair    | of RM705: the other program, which says the same and has another result                         |
| versions    | the small case in each Python that the user names (`versions`)                                  |
| why         | the clauses of the operators; NumPy, which executes the same loops by itself (`loops`)          |
| duplicates  | the rows of `conformance/known` that explain it, by execution; rows that look alike             |
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace

from refmlc.diag import RefmlcError, fail
from refmlc.diag.catalogue import BAD_USAGE, CONTRADICTION
from refmlc.lang.ir import relax
from refmlc.lang.script import show
from refmlc.lang.spec.loader import Clause, clause
from refmlc.oracle.evidence.record import clauses as clauses_of
from refmlc.oracle.examine import Examination, examine
from refmlc.oracle.finding import Finding
from refmlc.oracle.fuzz.exclusions import TVM
from refmlc.oracle.fuzz.finding_file import with_options
from refmlc.oracle.fuzz.subjects.builds import builds, builds_of
from refmlc.oracle.implementations.implementation import Ended, Implementation, Limits
from refmlc.oracle.implementations.lookup import implementation
from refmlc.oracle.implementations.loops.adapter import Loops
from refmlc.oracle.implementations.real_tvm import PIPELINES, options_of
from refmlc.oracle.issue.neighbours import neighbours
from refmlc.oracle.issue.script import ScriptBuild, WrongElement, pair_script, tvm_script
from refmlc.oracle.issue.subject import IssueSubject
from refmlc.oracle.issue.versions import VersionVerdict, in_order, verdicts
from refmlc.oracle.outcome import ACCUSING, UNCOMPARED, Kind
from refmlc.oracle.parts import parts
from refmlc.oracle.passes.baseline import lifted
from refmlc.oracle.passes.check import check
from refmlc.oracle.passes.run import TvmPasses
from refmlc.oracle.passes.stages import BrokenStage
from refmlc.oracle.record import KnownRow, similar_rows
from refmlc.oracle.reduce import reduce_case
from refmlc.oracle.reduction_predicates import same_verdict
from refmlc.rewrite.transform import legalize_ops
from refmlc.strategies.case import Case
from refmlc.vm.parameters import parameters_of

LIMITS = Limits(seconds=30.0, prepare=60.0, clock=True)
OPTIONS = ("opt=0", "opt=3")
MOST_ALIKE = 5
MOST_CLAUSES = 4
PAIRED = "two programs that say the same are compared with each other; the passes were not"
SILENT: Callable[[str], None] = lambda _what: None  # noqa: E731 - a default


@dataclass(frozen=True)
class NeighbourRow:
    """A neighbour and its verdict, in words."""

    name: str
    right: bool
    word: str


@dataclass(frozen=True)
class IssueReport:
    """What is known of a finding. `case` is the small one, `finding` that on it; `full`: no limit ended the reduction.

    `row`: the recorded deviation that explains it, by execution; `alike`: others that look alike.
    """

    subject: IssueSubject
    case: Case
    finding: Finding
    version: str
    full: bool
    neighbours: tuple[NeighbourRow, ...] = ()
    stage: BrokenStage | None = None
    stage_note: str = ""
    versions: tuple[VersionVerdict, ...] = ()
    clauses: tuple[Clause, ...] = ()
    numpy: str = ""
    row: str = ""
    alike: tuple[KnownRow, ...] = ()
    script: str | None = field(default=None, repr=False)

    @property
    def text(self) -> str:
        """The small module."""
        return show(self.case.module, show_meta=True).strip("\n")


def report_of(
    subject: IssueSubject,
    specs: Sequence[str],
    *,
    seconds: float = 60.0,
    progress: Callable[[str], None] = SILENT,
) -> IssueReport:
    """The report on the first of `specs`; further ones are other versions of it. `seconds`: for the reduction.

    Fails: RM112 where the implementation has no finding of the code any more, or does not start.
    """
    specs = [with_options(spec, subject.build) for spec in specs]
    with closing(implementation(specs[0], LIMITS)) as judged:
        progress("run")
        examination = _examined(subject.case, judged, subject.code)
        if not any(finding.code.id == subject.code for finding in examination.findings):
            found = ", ".join(finding.code.id for finding in examination.findings) or "no finding"
            raise fail(BAD_USAGE, f"`{judged.name}` has {found} on `{subject.id}`, not {subject.code}")
        progress("reduce")
        keep = same_verdict(judged, subject.code, LIMITS)
        reduction = reduce_case(subject.case, keep, seconds=seconds)
        case = _first_call(reduction.case or subject.case, judged, subject.code)
        examination = _examined(case, judged, subject.code)
        finding = next(finding for finding in examination.findings if finding.code.id == subject.code)
        says = getattr(judged, "says", {})
        version = f"{says.get('name', judged.name)}{_built_with(specs[0])}"
        report = IssueReport(subject, case, finding, version, reduction.finished)
        progress("neighbours")
        options = _other_builds(case, specs[0], is_build=bool(subject.build))
        report = replace(report, neighbours=tuple(_neighbours(case, options, judged, subject.code)))
        stage, note = (None, PAIRED) if finding.other is not None else _stage(case, specs[0], progress)
        alike = similar_rows(says, case.module, stage.name if stage is not None else "")
        row = finding.verdict.row
        report = replace(report, stage=stage, stage_note=note, row=row)
        report = replace(report, alike=tuple(each for each in alike if each.id != row)[:MOST_ALIKE])
    progress("versions")
    names = clauses_of(legalize_ops(case.module), None, [])
    return replace(
        report,
        versions=tuple(_versions(case, subject.code, specs)),
        clauses=tuple(clause(name) for name in names[:MOST_CLAUSES]),
        numpy=_numpy(case, finding),
        script=_script(case, finding, specs[0]),
    )


def _examined(case: Case, judged: Implementation, code: str = "") -> Examination:
    return examine([case], [judged], limits=LIMITS, pairs=code == CONTRADICTION.id)[0]


def _first_call(case: Case, judged: Implementation, code: str) -> Case:
    """The case with one call that shows the finding; it stays where only several together do."""
    for call in case.calls:
        alone = replace(case, calls=(call,))
        if same_verdict(judged, code, LIMITS)(alone):
            return alone
    return case


def _built_with(spec: str) -> str:
    """The options of TVM's build as words; empty: TVM's own."""
    python, _, options = spec.partition(",")
    return f" with {options}" if python.startswith(TVM) and options else ""


def _other_builds(case: Case, spec: str, *, is_build: bool) -> Mapping[str, str]:
    """Builds of the same TVM by their options: those of a campaign, or two levels of optimisation."""
    python, _, options = spec.partition(",")
    if not python.startswith(TVM):
        return {}
    if is_build:
        return {build: f"{python},{build}" for build in builds_of(case.module, builds()) if build != options}
    return {} if "opt=" in options else {option: f"{spec},{option}" for option in OPTIONS}


def _neighbours(case: Case, options: Mapping[str, str], judged: Implementation, code: str) -> Iterator[NeighbourRow]:
    """The neighbours that have a meaning, with the verdict on each. `options`: other builds, by their options."""
    for neighbour in neighbours(case, options=tuple(options)):
        if neighbour.option:
            with closing(implementation(options[neighbour.option], LIMITS)) as other:
                examination = _examined(neighbour.case, other, code)
        else:
            examination = _examined(neighbour.case, judged, code)
        (verdicts_of,) = examination.verdicts.values()
        kinds = {verdict.kind for verdict in verdicts_of}
        if examination.reference[0].verdict != "defined":
            continue
        words = [str(verdict) for verdict in verdicts_of]
        pairs = [finding.diagnostic.message for finding in examination.findings if finding.other is not None]
        word = "; ".join(dict.fromkeys([*words, *pairs]))
        yield NeighbourRow(neighbour.name, not (pairs or kinds & (ACCUSING | UNCOMPARED)), word)


def _stage(case: Case, spec: str, progress: Callable[[str], None]) -> tuple[BrokenStage | None, str]:
    """The pass of TVM that changes the meaning, or in a note what is known instead."""
    if not spec.startswith("tvm:"):
        return None, ""
    progress("passes")
    python, *words = spec.removeprefix("tvm:").split(",")
    options = options_of(words)
    pipelines = [f"{key}={options[key]}" for key in PIPELINES if key in options]
    if pipelines:
        return None, f"the passes of {', '.join(pipelines)} were not compared one by one"
    function = case.module.functions[case.func]
    names = [] if isinstance(function, relax.ExternFunc) else [each.name for each in parameters_of(function)]
    inputs = dict(zip(names, case.arguments(), strict=True))
    bare, constants = lifted(case.module)
    text = show(bare, show_meta=True)
    try:
        with TvmPasses(python, target=str(options.get("target", "llvm")), opt=int(str(options.get("opt", 2)))) as tvm:
            trace = check(tvm(text), constants=constants, given=text, inputs=inputs, calls=1)
    except RefmlcError as failure:
        return None, f"the passes were not compared: {failure.diagnostic.message}"
    if trace.broken is not None:
        return trace.broken, ""
    if trace.stopped:
        return None, trace.stop_text
    same = [row.name for row in trace.rows if row.is_known]
    last = f": the module after `{same[-1]}`, the last that could be compared, still means the same" if same else ""
    return None, f"no pass changes the meaning{last}; what follows is the code generator"


def _versions(case: Case, code: str, specs: Sequence[str]) -> list[VersionVerdict]:
    """The verdict on each version. A Python that does not start is left out."""
    found: list[tuple[str, str]] = []
    for spec in specs:
        with closing(implementation(spec, LIMITS)) as each:
            says = getattr(each, "says", {})
            found.append((str(says.get("version") or says.get("name", spec)).removeprefix("tvm "), spec))
    order = in_order([version for version, _ in found])

    def run(number: int) -> tuple[bool, str]:
        with closing(implementation(found[order[number]][1], LIMITS)) as each:
            examination = _examined(case, each, code)
            wrong = [finding.diagnostic.message for finding in examination.findings if finding.code.id == code]
            (results,) = examination.verdicts.values()
            return bool(wrong), wrong[0] if wrong and code == CONTRADICTION.id else str(results[0])

    return verdicts([found[number][0] for number in order], run)


def _numpy(case: Case, finding: Finding) -> str:
    """What NumPy says of the call, in a sentence; empty where it does not take the program."""
    (results,) = _examined(case, Loops(LIMITS)).verdicts.values()
    if results[finding.call].kind in (Kind.EQUAL, Kind.PERMITTED):
        return "NumPy, executing the same loops with its own arithmetic, gives the expected result."
    if results[finding.call].kind is Kind.WRONG:
        return f"NumPy, executing the same loops with its own arithmetic, differs too: {results[finding.call]}."
    return ""


def _script(case: Case, finding: Finding, spec: str) -> str | None:
    """The program with TVM alone, where the implementation is TVM."""
    if not spec.startswith("tvm:"):
        return None
    options = options_of(spec.split(",")[1:])
    if "cuda" in options:
        return None
    build, wrong = ScriptBuild.of(options), wrong_element(case, finding)
    if finding.other is None:
        return tvm_script(case, wrong, build)
    return None if wrong is None else pair_script(case, finding.other, wrong, build)


def wrong_element(case: Case, finding: Finding) -> WrongElement | None:
    """The first wrong element of the finding; None: there is no result."""
    difference, answer = finding.verdict.difference, finding.reference.answer
    if difference is None or not isinstance(answer, Ended):
        return None
    part = next(part for part in parts(case.module, case.func, answer) if part.label == finding.part)
    fields = tuple(int(word) for word in part.label.replace(",", "").split() if word.isdigit())
    return WrongElement(difference, part.argument, fields)
