"""`refmlc conform export`: the suite as JSON, the module of each case as a tree."""

from pathlib import Path

import click

from refmlc.cli.console import json_option, out, print_json
from refmlc.diag import fail
from refmlc.diag.catalogue import BAD_USAGE
from refmlc.oracle.suite.export import write_suite
from refmlc.oracle.suite.suite import load_suite


@click.command(epilog="Example: refmlc conform export -o cases")
@click.option(
    "-o",
    "--output",
    "folder",
    type=click.Path(path_type=Path, file_okay=False),
    default="conformance-json",
    show_default=True,
    help="Write to this folder.",
)
@click.option(
    "--suite", type=click.Path(path_type=Path), help="Another suite: a folder with the layout of `conformance`."
)
@json_option
def export(*, folder: Path, suite: Path | None, as_json: bool) -> None:
    """Write every case as JSON, with its module as a tree, an index, and the JSON Schemas."""
    cases = load_suite(suite)
    try:
        count = write_suite(cases, folder)
    except OSError as problem:
        raise fail(BAD_USAGE, f"`{folder}` cannot be written: {problem.strerror}") from None
    if as_json:
        print_json({"cases": count, "version": cases.version, "output": str(folder)})
        return
    out.print(f"{count} cases of version {cases.version} in {folder}")
