"""Programs of the kind `builds`: one program compiled by TVM with many options, each build held to the meaning.

| the build                         | is                                                                          |
|-----------------------------------|-----------------------------------------------------------------------------|
| `opt=0`, `opt=1`, `opt=2`, `opt=3` | LLVM at each level of optimisation                                         |
| `mode=compiled`                   | graphs as machine code; prim_funcs as ever                                  |
| `target=c`, `target=c,opt=0`      | C, compiled by the system's compiler                                        |
| `target=llvm -mcpu=…`             | code for a processor, where this machine has what it needs                  |
| `tir_pipeline=tirx`               | prim_funcs without blocks, by the passes that TVM has for TIRx              |
| `relax_pipeline=default_build`    | graphs, by the passes of that name, which do not fuse                       |

A program is a prim_func or a graph, in turns; every second prim_func has no blocks (`flat_programs`). Builds with
`-mcpu` have programs without floats alone: they may fuse a multiplication and an addition, which rounds once.

A batch asks two builds, which take turns; a finding is shrunk with all of them, which says which are wrong, and the
pipeline of the first wrong one is blamed pass by pass (`blamed_pipeline`). Builds that
end with messages of different causes are findings of their own. A cause is the code, the verdict, its pattern
(`finding_pattern`), and of another result which builds have it: one that all have is TVM's lowering, one that some have
is what their options do. A message names its place by itself, in any build.
"""

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from refmlc.lang.ir import IRModule, relax
from refmlc.lang.script import show
from refmlc.lang.wellformed.reader_checks import read
from refmlc.oracle.examine import Examination, examine, uncompared
from refmlc.oracle.finding import Finding
from refmlc.oracle.fuzz.exclusions import TVM, exclusions, is_excluded
from refmlc.oracle.fuzz.finding_pattern import Pattern, failure_words, names_in_program, pattern_of
from refmlc.oracle.fuzz.kept_processes import STARTS, kept
from refmlc.oracle.fuzz.likeness import row_like
from refmlc.oracle.fuzz.result import KNOWN_ROW, BatchResult, FindingRecord, Json, digest_of, merged, signature
from refmlc.oracle.fuzz.settings import CampaignSettings
from refmlc.oracle.fuzz.subjects.blamed_pipeline import blamed, passes_of
from refmlc.oracle.fuzz.subjects.flat_programs import has_blocks, without_blocks
from refmlc.oracle.fuzz.subjects.primitives.staged import python_of
from refmlc.oracle.implementations.implementation import Implementation, Limits, Prepared, Stopped
from refmlc.oracle.implementations.interp import Interp
from refmlc.oracle.implementations.lookup import implementation
from refmlc.oracle.outcome import COMPARED, Kind
from refmlc.oracle.reasons import counted
from refmlc.oracle.reduce.reduction import reduce_case
from refmlc.strategies.case import Case
from refmlc.strategies.functions import rolled
from refmlc.strategies.inputs import rolled_inputs
from refmlc.strategies.modules import rolled_module

KIND = "builds"
TIRX, UNFUSED = "tir_pipeline=tirx", "relax_pipeline=default_build"
PLAIN_BUILDS = ("opt=0", "opt=1", "opt=2", "opt=3", "mode=compiled", "target=c", "target=c,opt=0", TIRX, UNFUSED)
PROCESSORS = (
    ("skylake-avx512", frozenset(("avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"))),
    ("haswell", frozenset(("avx2", "bmi2", "fma"))),
    ("nehalem", frozenset(("sse4_2", "popcnt"))),
)
"""Processors, and the flags that this machine must have to execute their code."""
FLOATS = ("float16", "float32", "float64", "bfloat16")
JUDGED = {kind.value for kind in COMPARED}
WRONG = (Kind.WRONG, Kind.CRASHED, Kind.HUNG, Kind.COMPILER_ERROR)
TOGETHER = 2  # builds of a batch: each is a process that imports TVM
ATTEMPTS = 32
FLAT = 2  # the number modulo 4 of programs without blocks
SHOWN = 200  # characters of a message that tell causes apart
STEPS, BYTES = 200_000, 1 << 28
CPU = Path("/proc/cpuinfo")


def builds(flags: str | None = None) -> tuple[str, ...]:
    """The options of all builds. `flags`: what the system says of its processor."""
    processor = next((name for name, needed in PROCESSORS if needed <= _flags(flags)), None)
    return PLAIN_BUILDS if processor is None else (*PLAIN_BUILDS, f"target=llvm -mcpu={processor}")


def _flags(flags: str | None) -> set[str]:
    """The words of `flags`; None: what the system says."""
    if flags is None:
        flags = CPU.read_text(encoding="utf-8") if CPU.exists() else ""
    return set(flags.split())


def runs_here(options: str, flags: str | None = None) -> bool:
    """Whether this machine executes the code of a build; one for a processor that the table lacks, it does not."""
    _, sign, rest = options.partition("-mcpu=")
    needed = dict(PROCESSORS).get(rest.partition(",")[0].strip())
    return not sign or (needed is not None and needed <= _flags(flags))


def builds_of(module: IRModule, names: Sequence[str]) -> list[str]:
    """The builds that take a module: those for a processor take none with floats; the pipelines as above."""
    is_graph = any(isinstance(function, relax.Function) for function in module.functions.values())
    takes = {TIRX: not is_graph and not has_blocks(module), UNFUSED: is_graph}
    taken = [build for build in names if takes.get(build, True)]
    return [build for build in taken if "-mcpu" not in build or not is_excluded(module, FLOATS)]


def limits_of(settings: CampaignSettings) -> Limits:
    """The limits of a call."""
    half = settings.program_seconds / 2
    return Limits(STEPS, BYTES, seconds=half, prepare=half, start=STARTS)


def compiler(python: str, build: str, limits: Limits) -> Implementation:
    """TVM's process for a build, kept by the worker."""
    return kept(implementation, f"{TVM}{python},{build}", limits)


def implementations(python: str, limits: Limits, batch: int | None = None) -> tuple[tuple[str, Implementation], ...]:
    """The builds of a batch, two that take turns; None: all of them."""
    every = builds()
    asked = every if batch is None else [every[(batch * TOGETHER + place) % len(every)] for place in range(TOGETHER)]
    return tuple((build, compiler(python, build, limits)) for build in asked)


def program(settings: CampaignSettings, number: int) -> Case:
    """The case of program `number`: the first that is not excluded, of a few."""
    exclude = exclusions(settings.exclude, settings.implementations)
    for attempt in range(ATTEMPTS):
        seed = settings.seed_of(number, attempt)
        case = rolled_module(seed, "") if number % 2 else rolled(seed, "", small=seed % 4 > 0)
        if not is_excluded(case.module, exclude):
            break
    flat = without_blocks(case.module) if number % 4 == FLAT else None
    return case if flat is None else replace(case, module=flat)


@dataclass(frozen=True)
class WrongBuilds:
    """A program that some builds compute wrongly: these, by their options; and the finding on the first of them."""

    builds: tuple[str, ...]
    of: int
    finding: Finding

    @property
    def which(self) -> tuple[str, ...]:
        """The builds; all builds of the batch are one word."""
        return ("all",) if len(self.builds) == self.of else self.builds

    def cause(self, pattern: Pattern) -> tuple[str, ...]:
        """The code, the verdict, the pattern; of another result the builds."""
        verdict = self.finding.verdict.kind
        words = "" if pattern.row else pattern.words.strip()[:SHOWN]
        which = self.which if verdict is Kind.WRONG and not pattern.row else ()
        return self.finding.code.id, verdict.value, words, *pattern.names, *which


def examined(case: Case, ways: Sequence[tuple[str, Implementation]], limits: Limits) -> tuple[Examination, list[str]]:
    """The case examined with the builds that take it, and the names of these."""
    taken = builds_of(case.module, [build for build, _ in ways])
    (examination,) = examine([case], [way for build, way in ways if build in taken], limits=limits)
    return examination, taken


def wrong_builds(
    examination: Examination, ways: Sequence[tuple[str, Implementation]], of: int
) -> tuple[WrongBuilds, ...]:
    """The builds that are wrong on a program, those that are wrong alike together; none: all agree with its meaning."""
    names = {way.name: build for build, way in ways}
    alike: dict[tuple[str, str], dict[str, Finding]] = {}
    for finding in examination.findings:
        if finding.implementation in names and finding.verdict.kind in WRONG:
            others = alike.setdefault((finding.verdict.kind.value, _said(finding)), {})
            others.setdefault(names[finding.implementation], finding)
    return tuple(
        WrongBuilds(tuple(build for build, _ in ways if build in wrong), of, next(iter(wrong.values())))
        for wrong in alike.values()
    )


def _said(finding: Finding) -> str:
    """What a build says of its failure, without the program; empty: it has another result."""
    if finding.verdict.difference is not None or finding.verdict.kind is Kind.WRONG:
        return ""
    return failure_words(finding.signature[2], names_in_program(finding.case.module))


def pattern_on(python: str, limits: Limits, wrong: WrongBuilds) -> Pattern:
    """The pattern of the finding on the first wrong build, which runs operators alone."""
    return pattern_of(wrong.finding, compiler(python, wrong.builds[0], limits), Interp(limits))


class PlantedBuild:
    """A build that computes another program."""

    promises_verdicts = False

    def __init__(self, other: IRModule, name: str) -> None:
        self.name, self._interp, self._other = name, Interp(), other

    def prepare(self, _module: IRModule) -> Prepared | Stopped:
        """The other program in its place."""
        return self._interp.prepare(self._other)

    def close(self) -> None:
        """Nothing is held."""


PLANTED = """# from tvm.script import tirx as T
@T.prim_func(s_tir=True)
def main(A: T.Buffer((3,), "int32"), B: T.Buffer((3,), "int32")):
    for i in range(3):
        B[i] = A[i] * 2 + TERM
"""


@cache
def prove_power() -> None:
    """Find the planted fault, once in a process. Raises RuntimeError: then no verdict of it is worth anything."""
    module, other = (read(PLANTED.replace("TERM", term), "planted.py") for term in ("1", "2"))
    case = Case(module, "main", (rolled_inputs(module, "main", 1),))
    ways = [("right", PlantedBuild(module, "right")), ("wrong", PlantedBuild(other, "wrong"))]
    examination, taken = examined(case, ways, Limits())
    found = wrong_builds(examination, ways, len(taken))
    if [each.builds for each in found] != [("wrong",)]:
        raise RuntimeError("the planted build that is off by one is not found")


def run_builds(settings: CampaignSettings, batch: int, numbers: Sequence[int]) -> BatchResult:
    """Verdicts by build, and the programs on which some build is wrong."""
    prove_power()
    python, limits = python_of(settings), limits_of(settings)
    ways = implementations(python, limits, batch)
    counts: dict[str, Counter[str]] = {}
    reasons: dict[str, list[str]] = {}
    findings, bases = list[FindingRecord](), dict[str, list[str]]()
    for number in numbers:
        case = program(settings, number)
        examination, taken = examined(case, ways, limits)
        digest = digest_of(show(case.module, show_meta=True))
        for build, verdicts in verdicts_of(examination, ways):
            counts.setdefault(build, Counter()).update(verdicts)
            if not JUDGED.isdisjoint(verdicts):
                bases.setdefault(build, []).append(digest)
        for name, verdict in uncompared(examination):
            reasons.setdefault(name, []).append(f"{verdict.kind.value}: {verdict.why}")
        wrongs = wrong_builds(examination, ways, len(taken))
        right = [build for build in taken if not any(build in wrong.builds for wrong in wrongs)]
        findings += [record_of(settings, number, python, case, wrong, right) for wrong in wrongs]
    why = {name: counted(messages) for name, messages in reasons.items()}
    distinct = {build: tuple(digests) for build, digests in bases.items()}
    return BatchResult(batch, len(numbers), counts, findings=merged(findings), reasons=why, bases=distinct)


def verdicts_of(
    examination: Examination, ways: Sequence[tuple[str, Implementation]]
) -> Iterator[tuple[str, list[str]]]:
    """The verdicts on each build."""
    for _, way in ways:
        if way.name in examination.verdicts:
            yield way.name, [verdict.kind.value for verdict in examination.verdicts[way.name]]


def record_of(
    settings: CampaignSettings, number: int, python: str, case: Case, wrong: WrongBuilds, right: Sequence[str]
) -> FindingRecord:
    """The finding as data. Its path is the first build that is wrong. `right`: the builds that are not wrong."""
    limits = limits_of(settings)
    pattern = pattern_on(python, limits, wrong)
    lines = [*said_of(python, limits, wrong, pattern)]
    lines += [f"as meant with {'; '.join(right)}"] if right else []
    lines += ["every build is wrong alike"] if wrong.which == ("all",) else []
    return FindingRecord(
        signature("", KIND, *wrong.cause(pattern)),
        wrong.finding.code.id,
        f"{TVM}{python},{wrong.builds[0]}",
        wrong.finding.verdict.kind.value,
        "\n".join(lines),
        number,
        settings.seed_of(number),
        KIND,
        {**json.loads(case.to_json()), "builds": list(wrong.builds)},
        cause=pattern.text,
    )


TARGET_C = "target=c"


def said_of(python: str, limits: Limits, wrong: WrongBuilds, pattern: Pattern, guilty: str = "") -> Iterator[str]:
    """How the builds are wrong, and the recorded deviation of TVM that explains it, or that it is like."""
    diagnostic, build = wrong.finding.diagnostic, compiler(python, wrong.builds[0], limits)
    yield f"wrong with {'; '.join(wrong.builds)}: {diagnostic.message}"
    yield from diagnostic.notes[:1]
    yield from (note for note in diagnostic.notes[1:] if KNOWN_ROW.match(note))
    of_c = all(TARGET_C in each.split(",") for each in wrong.builds)
    like = row_like(getattr(build, "says", {}), wrong.finding, pattern, of_c=of_c, guilty=guilty)
    yield from [f"it is like the known row {like}"] if like else []


def shrink_builds(settings: CampaignSettings, finding: FindingRecord, seconds: float) -> Json:
    """The program made smaller, on which the same builds are wrong in the same way."""
    limits, python = limits_of(settings), python_of(settings)
    ways = implementations(python, limits)

    def wrong_in(case: Case) -> Iterator[tuple[WrongBuilds, Pattern]]:
        examination, taken = examined(case, ways, limits)
        for wrong in wrong_builds(examination, ways, len(taken)):
            if (wrong.finding.code.id, wrong.finding.verdict.kind.value) == (finding.code, finding.verdict):
                yield wrong, pattern_on(python, limits, wrong)

    case = Case.from_json(json.dumps(finding.case))
    first = next((each for each in wrong_in(case) if not finding.cause or each[1].text == finding.cause), None)
    if first is None:
        return {"problem": "the finding does not occur again"}
    which, pattern = first[0].which, first[1]

    def kept_in(smaller: Case) -> tuple[WrongBuilds, Pattern] | None:
        alike = (each for each in wrong_in(smaller) if each[0].which == which and pattern.is_kept_by(each[1]))
        return next(alike, None)

    reduction = reduce_case(case, lambda smaller: kept_in(smaller) is not None, seconds=seconds)
    last, last_pattern = kept_in(reduction.case or case) or first
    blame = blamed(passes_of(python, last.builds[0], settings.program_seconds), last.finding)
    lines = [f"wrong with {', '.join(which)} of {', '.join(build for build, _ in ways)}"]
    lines += [*said_of(python, limits, last, last_pattern, blame.name), *([blame.line] if blame.line else [])]
    return {
        "case": {**json.loads((reduction.case or case).to_json()), "builds": list(which)},
        "message": "\n".join(lines),
        "lines": [len(str(finding.case["text"]).splitlines()), len(reduction.text.splitlines())],
        "tries": reduction.tries,
        "finished": reduction.finished,
        "cause": last_pattern.text,
    }
