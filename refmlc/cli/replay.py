"""`refmlc replay FILE.toml`: run a recorded case, or a finding of a campaign, again.

| FILE                                   | is run again by                                                      |
|----------------------------------------|----------------------------------------------------------------------|
| of `check --case`                      | the meaning, and each implementation                                 |
| … on the import of a model             | its framework and TVM's importer, with the model of `--model`        |
| of a program of a campaign             | the same, with its rewrite and the proof of that where it has one    |
| of a model (`fuzz.subjects.imports`)   | the importers; each is held to ONNX's evaluator, or to PyTorch       |
| of steps of TVM (`fuzz.subjects`)      | TVM, which applies the steps again; each stage is held to the program |
"""

from collections.abc import Callable, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

import click

from refmlc.cli.console import err, out, print_json, show_diagnostic
from refmlc.cli.options import PATH, file_argument, impl_option, json_option, seconds_option, trust_option
from refmlc.diag import Diagnostic, fail
from refmlc.diag.catalogue import BAD_FILE, BAD_USAGE
from refmlc.diag.errors import Mismatch, error
from refmlc.diag.render import to_json
from refmlc.oracle.check.model import model_of
from refmlc.oracle.evidence import read_case
from refmlc.oracle.evidence.case_file import LARGEST_CASE, CaseFile
from refmlc.oracle.evidence.recorded_model import needs_model, replay_with_model, tvm_of
from refmlc.oracle.evidence.replay import replay as replay_case
from refmlc.oracle.examine import Examination
from refmlc.oracle.fuzz.exclusions import TVM
from refmlc.oracle.fuzz.finding_file import (
    TracedFindingFile,
    examined,
    is_finding,
    read_finding,
    read_traced,
    with_options,
)
from refmlc.oracle.fuzz.reordered_loops import named_implementation
from refmlc.oracle.fuzz.subjects.imports.imported_model import ModelFindingFile, read_model, replayed_model
from refmlc.oracle.fuzz.subjects.replayed_trace import ReplayedTrace
from refmlc.oracle.fuzz.subjects.table import SUBJECTS
from refmlc.oracle.implementations.implementation import Implementation, Limits, Stop, Stopped
from refmlc.oracle.implementations.lookup import trusted
from refmlc.system.regular import read_text

Replayed: TypeAlias = tuple[Examination, tuple[str, ...], tuple[str, ...]]
"""An examined record, what contradicts it, and notes."""
SECONDS = 60.0  # that TVM has for all steps, at least


@dataclass(frozen=True)
class Recorded:
    """A record. `specs`: the implementations it names; `run` executes it and also returns contradictions and notes.

    `code`: that of the finding, which is shown before others; empty: the first one is shown. `build`: options that a
    TVM gets which is named without any.
    """

    id: str
    specs: tuple[str, ...]
    run: Callable[[Sequence[Implementation], Limits], Replayed]
    code: str = ""
    build: str = ""


@click.command(epilog="Example: refmlc replay finding.toml --impl native")
@file_argument
@impl_option("Run it on this implementation. May be repeated.  [default: those in FILE]", "specs")
@click.option("--model", "model", type=PATH, help="The model (.onnx, .pt2) that a finding of `check MODEL` is on.")
@seconds_option
@trust_option
@json_option
def replay(
    file: Path, specs: tuple[str, ...], *, model: Path | None, seconds: float, trust: bool, as_json: bool
) -> None:
    """Run the recorded case in FILE again, and see whether each implementation is still wrong.

    FILE is a case of `check --case`, or a finding of `fuzz`: of a program, a pair, a build of TVM, a model that TVM
    imports, or steps that TVM applies. A case on the import of a model needs that model, which FILE does not name:
    `--model`. An external program that FILE names is started with `--trust` only, which reads a `.pt2` too.
    Exit status 1: an implementation or a step is wrong, or the program itself has no meaning.
    """
    text = _text(file)
    if model is not None and is_finding(text):
        raise fail(BAD_USAGE, f"`{file}` is a finding of a campaign, which needs no `--model`")
    traced = read_traced(text) if is_finding(text) else None
    if traced is not None:
        click.get_current_context().exit(_replay_steps(file, traced, specs, seconds, trust=trust, as_json=as_json))
    stored = read_model(text) if is_finding(text) else None
    if stored is not None:
        click.get_current_context().exit(_replay_model(file, stored, specs, seconds, trust=trust, as_json=as_json))
    recorded = _recorded(text, file, model, Limits(seconds=seconds), trust=trust)
    if not specs:
        trusted(recorded.specs, file, trust=trust)
    limits = Limits(seconds=seconds)
    with ExitStack() as stack:
        implementations = [
            stack.enter_context(closing(named_implementation(with_options(spec, recorded.build), limits)))
            for spec in specs or recorded.specs
        ]
        examination, broken, notes = recorded.run(implementations, limits)
    for note in notes:
        err.print(note, style="dim")
    _show(file, recorded.id, examination, broken, as_json=as_json)
    if broken:
        raise fail(BAD_FILE, f"`{file}` does not record the meaning: {'; '.join(broken)}")
    runs = bool(specs or recorded.specs or model)
    first = _first(examination, recorded.code, runs_implementations=runs)
    if first is not None:
        click.get_current_context().exit(_report_finding(first, as_json=as_json))


def _first(examination: Examination, code: str, *, runs_implementations: bool) -> Diagnostic | None:
    """The finding with the recorded code, or the first: on an implementation, or on the program if none runs."""
    if runs_implementations or examination.findings:
        recorded = [finding for finding in examination.findings if finding.code.id == code]
        return next((finding.diagnostic for finding in (*recorded, *examination.findings)), None)
    answers = [reference.answer for reference in examination.reference]
    stops = (answer for answer in answers if isinstance(answer, Stopped) and answer.why is Stop.UNDEFINED)
    return next((answer.diagnostic for answer in stops if answer.diagnostic is not None), None)


def _text(file: Path) -> str:
    """The text of a file. Fails: RM109."""
    try:
        return read_text(file, LARGEST_CASE)
    except (OSError, UnicodeDecodeError) as problem:
        why = problem.strerror if isinstance(problem, OSError) else problem
        raise fail(BAD_FILE, f"`{file}`: {why}") from None


def _replay_steps(
    file: Path, finding: TracedFindingFile, specs: tuple[str, ...], seconds: float, *, trust: bool, as_json: bool
) -> int:
    """Apply the steps of a finding again in TVM; the exit status. Fails: RM109, RM112, RM5xx."""
    subject = SUBJECTS.get(finding.kind)
    if subject is None or subject.replay is None:
        raise fail(BAD_FILE, f"`{file}` is a finding of the kind `{finding.kind}`, which is not replayed")
    if not specs:
        trusted(finding.specs, file, trust=trust)
    chosen = [spec for spec in specs or finding.specs if spec.startswith(TVM)]
    if not chosen:
        raise fail(BAD_USAGE, f"`{file}` holds steps of TVM", None, "`--impl tvm:PYTHON` applies them again")
    outcomes = [
        subject.replay(spec.removeprefix(TVM).partition(",")[0], finding.case, max(seconds, SECONDS)) for spec in chosen
    ]
    return _show_outcomes(file, finding.id, outcomes, as_json=as_json)


def _replay_model(
    file: Path, finding: ModelFindingFile, specs: tuple[str, ...], seconds: float, *, trust: bool, as_json: bool
) -> int:
    """Import the model of a finding again; the exit status. Fails: RM109, RM112, RM5xx."""
    if not specs:
        trusted(finding.specs, file, trust=trust)
    chosen = [spec for spec in specs or finding.specs if spec.startswith(TVM)]
    if specs and not chosen:
        raise fail(BAD_USAGE, f"`{file}` holds a model", None, "`--impl tvm:PYTHON` imports it again")
    outcomes = replayed_model(finding, chosen, str(file), max(seconds, SECONDS))
    return _show_outcomes(file, finding.id, outcomes, as_json=as_json)


def _show_outcomes(file: Path, identity: str, outcomes: Sequence[ReplayedTrace], *, as_json: bool) -> int:
    """Print the verdicts of each compiler; the exit status."""
    diagnostics = [outcome.diagnostic for outcome in outcomes if outcome.diagnostic is not None]
    if as_json:
        verdicts = {outcome.by: list(outcome.lines) for outcome in outcomes}
        print_json({"file": str(file), "id": identity, "meaning": [], "broken": [], "verdicts": verdicts,
                    "findings": list(map(to_json, diagnostics))})  # fmt: skip
    else:
        for outcome in outcomes:
            for line in outcome.lines:
                out.print(f"{outcome.by}: {line}")
    return _report_finding(diagnostics[0], as_json=as_json) if diagnostics else 0


def _recorded(text: str, file: Path, model: Path | None, limits: Limits, *, trust: bool) -> Recorded:
    """The record in the text of a file. Fails: RM109; RM112 for a missing or another `model`; RM1xx for its program."""
    if is_finding(text):
        finding = read_finding(text, str(file))
        return Recorded(
            finding.id, finding.specs, lambda ways, _limits: (examined(finding, ways), (), ()), build=finding.build
        )
    case = read_case(text, str(file))
    if needs_model(case):
        return _recorded_import(case, model, limits, trust=trust)
    if model is not None:
        raise fail(BAD_USAGE, f"{case.place} is not on the import of a model: it needs no `--model`")

    def replayed(implementations: Sequence[Implementation], limits: Limits) -> Replayed:
        replayed_case = replay_case(case, implementations, limits)
        return replayed_case.examination, replayed_case.broken, ()

    return Recorded(case.id, (case.implementation,) if case.implementation else (), replayed, case.code)


def _recorded_import(case: CaseFile, path: Path | None, limits: Limits, *, trust: bool) -> Recorded:
    """The record of a finding on the import of the model at `path`. Fails: RM109, RM112; as importing does."""
    if path is None:
        message = f"{case.place} is a finding on an importer, of which the case has the module alone"
        raise fail(BAD_USAGE, message, None, "`--model FILE` names the model that was checked")
    model = model_of(path, trust=trust, limits=limits)

    def replayed(implementations: Sequence[Implementation], limits: Limits) -> Replayed:
        result, notes = replay_with_model(case, model, implementations, limits)
        return result.examination, result.broken, notes

    return Recorded(case.id, tvm_of(case), replayed, case.code)


def _show(file: Path, identity: str, examination: Examination, broken: Sequence[str], *, as_json: bool) -> None:
    """Print the meaning of the program, and the verdicts."""
    verdicts = {name: [str(verdict) for verdict in results] for name, results in examination.verdicts.items()}
    meaning = [row.verdict for row in examination.reference]
    if as_json:
        data = [to_json(results.diagnostic) for results in examination.findings]
        print_json({"file": str(file), "id": identity, "meaning": meaning, "broken": list(broken),
                    "verdicts": verdicts, "findings": data})  # fmt: skip
        return
    out.print(f"{identity}: {', '.join(meaning)}")
    for name, results in verdicts.items():
        for number, verdict in enumerate(results):
            out.print(f"{name}, call {number + 1}: {verdict}")


def _report_finding(finding: Diagnostic, *, as_json: bool) -> int:
    """Show the first finding; the exit status of its kind."""
    if not as_json:
        show_diagnostic(finding, err)
    failure = error(finding)
    return failure.exit_code if isinstance(failure, Mismatch) else 1
