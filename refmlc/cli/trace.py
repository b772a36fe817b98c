"""`refmlc trace FILE`: everything a run did, as a page, as JSON, or for the Perfetto viewer."""

import json
from pathlib import Path

import click

import refmlc
from refmlc.cli.console import err, json_option, print_json
from refmlc.cli.inputs import Inputs, gather
from refmlc.cli.registering import register, register_option
from refmlc.debug import Program
from refmlc.debug.trace import Trace, as_data, as_perfetto, record
from refmlc.diag import Diagnostic, fail
from refmlc.diag.catalogue import BAD_FILE, BAD_USAGE
from refmlc.diag.errors import error

FORMATS = ("html", "json", "perfetto")
SUFFIXES = {"html": ".html", "json": ".json", "perfetto": ".perfetto.json"}


@click.command("trace", epilog="Example: refmlc trace gemm.py --input A=ones --input B=ones -o trace.html")
@click.argument("file", type=click.Path(path_type=Path))
@click.option(
    "-o",
    "--out",
    "path",
    type=click.Path(path_type=Path),
    help="Write to this file.  [default: the name of FILE, in this folder]",
)
@click.option(
    "--format",
    "form",
    type=click.Choice(FORMATS),
    default="html",
    show_default=True,
    help="An HTML page (extra `report`), JSON, or a file for Perfetto.",
)
@click.option("--func", help="The function to run.  [default: main, or the only one]")
@click.option("--input", "inputs", multiple=True, metavar="NAME=VALUE", help=Inputs.HELP)
@click.option("--dim", "dims", multiple=True, metavar="NAME=SIZE", help="The size of a symbolic dimension.")
@click.option("--params", type=click.Path(path_type=Path), help="Inputs by name: .npz, .safetensors or .pkl.")
@click.option(
    "--max-events",
    type=click.IntRange(1),
    default=1_000_000,
    show_default=True,
    help="Above this number, keep a sample and say so.",
)
@click.option(
    "--only",
    multiple=True,
    metavar="NAME",
    help="Record only calls of this function or variable; run others in C.",
)
@click.option("--max-steps", type=click.IntRange(1), help="Stop after this many statements (RM601).")
@register_option
@json_option
def trace(  # noqa: PLR0913, PLR0917 - one parameter per option
    file: Path,
    path: Path | None,
    form: str,
    func: str | None,
    inputs: tuple[str, ...],
    dims: tuple[str, ...],
    params: Path | None,
    max_events: int,
    only: tuple[str, ...],
    max_steps: int | None,
    *,
    registered: tuple[Path, ...],
    as_json: bool,
) -> None:
    """Run a function of the module in FILE and record every step: a page, JSON, or a file for Perfetto.

    A run that fails is recorded up to the failure, which is then reported and decides the exit status.
    """
    module = refmlc.read_file(file)
    register(registered)
    func = func or (next(iter(module.functions)) if len(module.functions) == 1 else "main")
    arguments = gather(module, func, inputs, dims, params)
    program = Program(
        module, func, arguments.values, max_steps=max_steps, output=lambda text: click.echo(text, err=True)
    )
    with err.status(f"running {func} …"):
        recorded = record(program, max_events=max_events, only=only)
    path = path or Path(f"{file.stem}{SUFFIXES[form]}")
    _write(path, _text(recorded, form))
    _tell(path, recorded, as_json=as_json)
    if recorded.failure is not None:
        raise _again(recorded.failure)


def _again(failure: Diagnostic) -> Exception:
    return error(failure)


def _text(recorded: Trace, form: str) -> str:
    """The file. Fails: RM112 (a page without the extra)."""
    if form == "html":
        try:
            from refmlc.debug.trace.page import page  # noqa: PLC0415 - an extra
        except ImportError:
            wrong = "the page needs the libraries `jinja2` and `pygments`"
            raise fail(BAD_USAGE, wrong, None, "install `refmlc[report]`, or give `--format json`") from None
        return page(recorded)
    data = as_data(recorded) if form == "json" else as_perfetto(recorded)
    return json.dumps(data, ensure_ascii=False, allow_nan=False, separators=(",", ":"))


def _write(path: Path, text: str) -> None:
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as problem:
        raise fail(BAD_FILE, f"`{path}`: {problem.strerror or problem}") from None


def _tell(path: Path, recorded: Trace, *, as_json: bool) -> None:
    if as_json:
        print_json({
            "file": str(path), "events": recorded.total, "kept": len(recorded), "sampling": recorded.said(),
            "counts": recorded.counts, "first_nan": recorded.first_nan, "first_inf": recorded.first_inf,
            "notes": recorded.notes,
            "failure": None if recorded.failure is None else recorded.failure.code.id,
        })  # fmt: skip
        return
    nan = "" if recorded.first_nan is None else f", the first NaN at step {recorded.first_nan}"
    click.echo(f"{path}: {recorded.total:,} events{nan}")
    for note in (*([recorded.said()] if recorded.sampled else ()), *recorded.notes):
        click.echo(f"  {note}")
