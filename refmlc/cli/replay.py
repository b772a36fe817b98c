"""`refmlc replay FILE.toml`: run a recorded case, or a finding of a campaign, again."""

from collections.abc import Callable, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass
from pathlib import Path

import click

from refmlc.cli.console import err, out, print_json, show_diagnostic
from refmlc.cli.options import file_argument, impl_option, json_option, seconds_option, trust_option
from refmlc.diag import Diagnostic, fail
from refmlc.diag.catalogue import BAD_FILE
from refmlc.diag.errors import Mismatch, error
from refmlc.diag.render import to_json
from refmlc.oracle.evidence import read_case
from refmlc.oracle.evidence.case_file import LARGEST_CASE
from refmlc.oracle.evidence.replay import replay as replay_case
from refmlc.oracle.examine import Examination
from refmlc.oracle.fuzz.finding_file import examined, is_finding, read_finding
from refmlc.oracle.fuzz.reordered_loops import named_implementation
from refmlc.oracle.implementations.implementation import Implementation, Limits, Stop, Stopped
from refmlc.oracle.implementations.lookup import trusted
from refmlc.system.regular import read_text


@dataclass(frozen=True)
class Recorded:
    """A record. `specs`: the implementations it names; `run` executes it and also returns contradictions.

    `code`: that of the finding, which is shown before others; empty: the first one is shown.
    """

    id: str
    specs: tuple[str, ...]
    run: Callable[[Sequence[Implementation], Limits], tuple[Examination, tuple[str, ...]]]
    code: str = ""


@click.command(epilog="Example: refmlc replay finding.toml --impl native")
@file_argument
@impl_option("Run it on this implementation. May be repeated.  [default: those in FILE]", "specs")
@seconds_option
@trust_option
@json_option
def replay(file: Path, specs: tuple[str, ...], *, seconds: float, trust: bool, as_json: bool) -> None:
    """Run the recorded case in FILE again, and see whether each implementation is still wrong.

    FILE is a case of `check --case`, of any code but RM706 (which needs the model), or a finding of `fuzz`. An external
    program that it names is started with `--trust` only. Exit status 1: an implementation is wrong, or the program
    itself has no meaning.
    """
    recorded = _recorded(file)
    if not specs:
        trusted(recorded.specs, file, trust=trust)
    limits = Limits(seconds=seconds)
    with ExitStack() as stack:
        implementations = [
            stack.enter_context(closing(named_implementation(spec, limits))) for spec in specs or recorded.specs
        ]
        examination, broken = recorded.run(implementations, limits)
    _show(file, recorded.id, examination, broken, as_json=as_json)
    if broken:
        raise fail(BAD_FILE, f"`{file}` does not record the meaning: {'; '.join(broken)}")
    first = _first(examination, recorded.code, runs_implementations=bool(specs or recorded.specs))
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


def _recorded(file: Path) -> Recorded:
    """The record in a file. Fails: RM109; RM1xx for its program."""
    try:
        text = read_text(file, LARGEST_CASE)
    except (OSError, UnicodeDecodeError) as problem:
        why = problem.strerror if isinstance(problem, OSError) else problem
        raise fail(BAD_FILE, f"`{file}`: {why}") from None
    if is_finding(text):
        finding = read_finding(text, str(file))
        return Recorded(finding.id, finding.specs, lambda ways, _limits: (examined(finding, ways), ()))
    case = read_case(text, str(file))

    def replayed(implementations: Sequence[Implementation], limits: Limits) -> tuple[Examination, tuple[str, ...]]:
        replayed_case = replay_case(case, implementations, limits)
        return replayed_case.examination, replayed_case.broken

    return Recorded(case.id, (case.implementation,) if case.implementation else (), replayed, case.code)


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
