"""`refmlc course DOCUMENT`: a chapter executed block by block, its outputs compared with those it prints."""

from pathlib import Path

import click

from refmlc.cli.console import json_option
from refmlc.cli.course_table import compared, told


@click.command(epilog="Example: refmlc course chapter.md --compare PYTHON")
@click.argument("document", type=click.Path(path_type=Path, exists=True, dir_okay=False))
@click.option(
    "--online", is_flag=True, help="Run `!` lines in a shell and download data.  [default: use the shipped data]"
)
@click.option("--python", metavar="PYTHON", help="Execute with this Python; it uses its real TVM if it has one.")
@click.option("--compare", metavar="PYTHON", help="Execute here and with the real TVM of that Python, and compare.")
@click.option("--limit", default=600.0, show_default=True, help="Time limit of the whole document, in seconds.")
@json_option
@click.pass_context
def course(
    ctx: click.Context,
    document: Path,
    *,
    online: bool,
    python: str | None,
    compare: str | None,
    limit: float,
    as_json: bool,
) -> None:
    """Execute the code of DOCUMENT (Markdown, reStructuredText, notebook) with `import tvm` answered by refmlc.

    The code runs as it is, in a process of its own: use only documents that you would run yourself. Exit status 1: a
    block fails, or an output differs without a known reason.
    """
    if compare is not None:
        if not compared(document, compare, offline=not online, limit=limit, as_json=as_json):
            ctx.exit(1)
        return
    if not told(document, offline=not online, python=python, limit=limit, as_json=as_json):
        ctx.exit(1)
