"""`refmlc trace FILE`: every step of a run, as a page, as JSON, or for the Perfetto viewer."""

import json
from pathlib import Path

import click

from refmlc.cli.call import Call, call_options
from refmlc.cli.console import err, print_json
from refmlc.cli.options import PATH, json_option
from refmlc.debug import Program
from refmlc.debug.trace import Trace, as_data, as_perfetto, record
from refmlc.diag import fail
from refmlc.diag.catalogue import BAD_FILE, BAD_USAGE
from refmlc.diag.errors import error

FORMATS = ("html", "json", "perfetto")
SUFFIXES = {"html": ".html", "json": ".json", "perfetto": ".perfetto.json"}


@click.command("trace", epilog="Example: refmlc trace gemm.py --input A=ones --input B=ones -o trace.html")
@call_options
@click.option("-o", "--out", "path", type=PATH, help="Write to this file.  [default: the name of FILE, in this folder]")
@click.option(
    "--format",
    "form",
    type=click.Choice(FORMATS),
    default="html",
    show_default=True,
    help="An HTML page (extra `report`), JSON, or a file for Perfetto.",
)
@click.option(
    "--max-events",
    type=click.IntRange(1),
    default=1_000_000,
    show_default=True,
    help="Number of events above which a sample is kept.",
)
@click.option(
    "--only", multiple=True, metavar="NAME", help="Record only calls of this function or variable; run others in C."
)
@json_option
def trace(call: Call, path: Path | None, form: str, max_events: int, only: tuple[str, ...], *, as_json: bool) -> None:
    """Run a function of the module in FILE and record every step: a page, JSON, or a file for Perfetto.

    A run that fails is recorded up to the failure, which is then reported and decides the exit status.
    """
    program = Program(
        call.module,
        call.func,
        call.arguments.values,
        max_steps=call.max_steps,
        output=lambda text: click.echo(text, err=True),
    )
    with err.status(f"running {call.func} …"):
        record_ = record(program, max_events=max_events, only=only)
    path = path or Path(f"{call.file.stem}{SUFFIXES[form]}")
    _write(path, _text(record_, form))
    _report(path, record_, as_json=as_json)
    if record_.failure is not None:
        raise error(record_.failure)


def _text(recorded: Trace, form: str) -> str:
    """The file. Fails: RM112 (a page without the extra)."""
    if form == "html":
        try:
            from refmlc.debug.trace.page import page  # noqa: PLC0415 - an extra
        except ImportError:
            problem = "the page needs the libraries `jinja2` and `pygments`"
            raise fail(BAD_USAGE, problem, None, "install `refmlc[report]`, or give `--format json`") from None
        return page(recorded)
    data = as_data(recorded) if form == "json" else as_perfetto(recorded)
    return json.dumps(data, ensure_ascii=False, allow_nan=False, separators=(",", ":"))


def _write(path: Path, text: str) -> None:
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as problem:
        raise fail(BAD_FILE, f"`{path}`: {problem.strerror or problem}") from None


def _report(path: Path, recorded: Trace, *, as_json: bool) -> None:
    if as_json:
        print_json({
            "file": str(path), "events": recorded.total, "kept": len(recorded), "sampling": recorded.sampling_note(),
            "counts": recorded.counts, "first_nan": recorded.first_nan, "first_inf": recorded.first_inf,
            "notes": recorded.notes,
            "failure": None if recorded.failure is None else recorded.failure.code.id,
        })  # fmt: skip
        return
    nan = "" if recorded.first_nan is None else f", the first NaN at step {recorded.first_nan}"
    click.echo(f"{path}: {recorded.total:,} events{nan}")
    for note in (*([recorded.sampling_note()] if recorded.sampled else ()), *recorded.notes):
        click.echo(f"  {note}")
