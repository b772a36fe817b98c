"""`refmlc replay FILE.toml`: a recorded case made again."""

from pathlib import Path

import click

from refmlc.adapters.lookup import implementation
from refmlc.cli.console import json_option, out, print_json
from refmlc.diag import fail
from refmlc.diag.catalogue import BAD_FILE
from refmlc.diag.errors import Mismatch, RefmlcError, error
from refmlc.diag.render import render_text, to_json
from refmlc.evidence import read_case
from refmlc.evidence.replay import replay as again


@click.command()
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--impl", "specs", multiple=True, metavar="SPEC", help="What is asked.  [default: what the case names]")
@json_option
def replay(file: Path, specs: tuple[str, ...], *, as_json: bool) -> None:
    """Make the case in FILE again: the meaning as it was recorded, and the verdict on each implementation.

    Exit status 1 where an implementation does not do what the program means.
    """
    try:
        text = file.read_bytes().decode()
    except (OSError, UnicodeDecodeError) as problem:
        why = problem.strerror if isinstance(problem, OSError) else problem
        raise fail(BAD_FILE, f"`{file}`: {why}") from None
    case = read_case(text, str(file))
    chosen = [implementation(spec) for spec in specs or (case.implementation,) if spec]
    try:
        found = again(case, chosen)
    finally:
        for each in chosen:
            each.close()
    verdicts = {name: [str(verdict) for verdict in given] for name, given in found.examination.verdicts.items()}
    meaning = [reference.verdict for reference in found.examination.reference]
    findings = found.examination.findings
    if as_json:
        data = [to_json(each.diagnostic) for each in findings]
        print_json({"file": str(file), "id": case.id, "meaning": meaning, "broken": list(found.broken),
                    "verdicts": verdicts, "findings": data})  # fmt: skip
    else:
        out.print(f"{case.id}: {', '.join(meaning)}")
        for name, given in verdicts.items():
            for number, verdict in enumerate(given):
                out.print(f"{name}, call {number + 1}: {verdict}")
    if found.broken:
        raise fail(BAD_FILE, f"`{file}` does not record the meaning: {'; '.join(found.broken)}")
    if findings:
        click.get_current_context().exit(_told(error(findings[0].diagnostic), as_json=as_json))


def _told(failure: RefmlcError, *, as_json: bool) -> int:
    """Show the first finding; the exit status of its kind."""
    if not as_json:
        click.echo(render_text(failure.diagnostic), err=True)
    return failure.exit_code if isinstance(failure, Mismatch) else 1
