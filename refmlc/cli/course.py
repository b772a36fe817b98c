"""`refmlc course DOCUMENT`: a chapter executed block by block, its outputs compared with those it prints."""

from pathlib import Path

import click

from refmlc.cli.console import json_option
from refmlc.cli.course_table import compared, told


@click.command()
@click.argument("document", type=click.Path(path_type=Path, exists=True, dir_okay=False))
@click.option("--online", is_flag=True, help="Run `!` lines in a shell and download; else the shipped data are used.")
@click.option("--python", metavar="PYTHON", help="What executes it; real TVM is used where this has it.")
@click.option("--compare", metavar="PYTHON", help="Execute it here and with the real TVM of that Python; compare them.")
@click.option("--limit", default=600.0, show_default=True, help="Seconds for the whole document.")
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

    The code is executed as it stands, in a process of its own: take documents that you would run yourself. Exit status
    1: a block failed, or an output differs for no known reason.
    """
    if compare is not None:
        if not compared(document, compare, offline=not online, limit=limit, as_json=as_json):
            ctx.exit(1)
        return
    if not told(document, offline=not online, python=python, limit=limit, as_json=as_json):
        ctx.exit(1)
