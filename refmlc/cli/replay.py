"""`refmlc replay FILE.toml`: run a recorded case, or a finding of a campaign, again."""

from collections.abc import Callable, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass
from pathlib import Path

import click

from refmlc.cli.console import err, json_option, out, print_json, tell
from refmlc.cli.trusting import trust_option
from refmlc.diag import Diagnostic, fail
from refmlc.diag.catalogue import BAD_FILE
from refmlc.diag.errors import Mismatch, error
from refmlc.diag.render import to_json
from refmlc.oracle.evidence import read_case
from refmlc.oracle.evidence.replay import replay as again
from refmlc.oracle.examine import Examination
from refmlc.oracle.fuzz.finding_file import examined, is_finding, read_finding
from refmlc.oracle.fuzz.reordered_loops import made
from refmlc.oracle.implementations.implementation import Implementation, Stop, Stopped
from refmlc.oracle.implementations.trust import trusted


@dataclass(frozen=True)
class Recorded:
    """What a file holds. `specs`: the implementations it names; `again` gives what does not hold of the record too."""

    id: str
    specs: tuple[str, ...]
    again: Callable[[Sequence[Implementation]], tuple[Examination, tuple[str, ...]]]


@click.command(epilog="Example: refmlc replay finding.toml --impl native")
@click.argument("file", type=click.Path(path_type=Path))
@click.option(
    "--impl",
    "specs",
    multiple=True,
    metavar="SPEC",
    help="Run it on this implementation. May be repeated.  [default: those in FILE]",
)
@trust_option
@json_option
def replay(file: Path, specs: tuple[str, ...], *, trust: bool, as_json: bool) -> None:
    """Run the recorded case in FILE again, and see whether each implementation is still wrong.

    FILE is a case of `check --case` or a finding of `fuzz`. An external program that it names is started with
    `--trust` only. Exit status 1: an implementation is wrong, or the program itself has no meaning.
    """
    found = _recorded(file)
    if not specs:
        trusted(found.specs, file, trust=trust)
    with ExitStack() as stack:
        chosen = [stack.enter_context(closing(made(spec))) for spec in specs or found.specs]
        examination, broken = found.again(chosen)
    _show(file, found.id, examination, broken, as_json=as_json)
    if broken:
        raise fail(BAD_FILE, f"`{file}` does not record the meaning: {'; '.join(broken)}")
    first = _first(examination, asked=bool(specs or found.specs))
    if first is not None:
        click.get_current_context().exit(_told(first, as_json=as_json))


def _first(examination: Examination, *, asked: bool) -> Diagnostic | None:
    """The first finding: on an implementation, or on the program if no implementation runs."""
    if asked or examination.findings:
        return examination.findings[0].diagnostic if examination.findings else None
    answers = [reference.answer for reference in examination.reference]
    stopped = (one for one in answers if isinstance(one, Stopped) and one.why is Stop.UNDEFINED)
    return next((one.diagnostic for one in stopped if one.diagnostic is not None), None)


def _recorded(file: Path) -> Recorded:
    """What the file holds. Fails: RM109; RM1xx for its program."""
    try:
        text = file.read_bytes().decode()
    except (OSError, UnicodeDecodeError) as problem:
        why = problem.strerror if isinstance(problem, OSError) else problem
        raise fail(BAD_FILE, f"`{file}`: {why}") from None
    if is_finding(text):
        finding = read_finding(text, str(file))
        return Recorded(finding.id, finding.specs, lambda chosen: (examined(finding, chosen), ()))
    case = read_case(text, str(file))

    def replayed(chosen: Sequence[Implementation]) -> tuple[Examination, tuple[str, ...]]:
        found = again(case, chosen)
        return found.examination, found.broken

    return Recorded(case.id, (case.implementation,) if case.implementation else (), replayed)


def _show(file: Path, identity: str, found: Examination, broken: Sequence[str], *, as_json: bool) -> None:
    """What the program means, and the verdicts."""
    verdicts = {name: [str(verdict) for verdict in each] for name, each in found.verdicts.items()}
    meaning = [reference.verdict for reference in found.reference]
    if as_json:
        data = [to_json(each.diagnostic) for each in found.findings]
        print_json({"file": str(file), "id": identity, "meaning": meaning, "broken": list(broken),
                    "verdicts": verdicts, "findings": data})  # fmt: skip
        return
    out.print(f"{identity}: {', '.join(meaning)}")
    for name, each in verdicts.items():
        for number, verdict in enumerate(each):
            out.print(f"{name}, call {number + 1}: {verdict}")


def _told(finding: Diagnostic, *, as_json: bool) -> int:
    """Show the first finding; the exit status of its kind."""
    if not as_json:
        tell(finding, err)
    failure = error(finding)
    return failure.exit_code if isinstance(failure, Mismatch) else 1
