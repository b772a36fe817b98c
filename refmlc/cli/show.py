"""`refmlc show FILE`: read, check and print a module."""

from pathlib import Path
from typing import cast

import click

import refmlc
from refmlc.cli.console import json_option, out, print_json
from refmlc.lang.script.display import display
from refmlc.lang.script.spellings import GENERATIONS, Generation

DIALECT = "Print in the syntax of this generation of TVM."


@click.command(epilog="Example: refmlc show model.py --dialect 2023 --svg graph.svg")
@click.argument("file", type=click.Path(path_type=Path))
@click.option(
    "--dialect",
    type=click.Choice(GENERATIONS),
    default="0.27",
    envvar="REFMLC_DIALECT",
    show_default=True,
    help=DIALECT,
)
@click.option("--show-meta", is_flag=True, help="Print constants in full.")
@click.option("--graph", is_flag=True, help="Print the graph of each Relax function, one line per binding.")
@click.option(
    "--svg",
    type=click.Path(path_type=Path),
    help="Draw the graph of `main`, or of the first Relax function, to this file.",
)
@click.option("--no-check", is_flag=True, help="Print the module even if it is ill-formed.")
@json_option
def show(
    file: Path,
    dialect: str,
    svg: Path | None,
    *,
    graph: bool,
    show_meta: bool,
    no_check: bool,
    as_json: bool,
) -> None:
    """Read the TVMScript in FILE, check it, and print it in the syntax of TVM 0.27 or an older one."""
    module = refmlc.read_file(file, check=not no_check)
    if svg is not None or graph:
        from refmlc.cli.show_graph import told  # noqa: PLC0415 - only who draws needs it

        told(module, svg, as_json=as_json)
        return
    text = refmlc.show(module, dialect=cast("Generation", dialect), show_meta=show_meta)
    if as_json:
        print_json({"file": str(file), "dialect": dialect, "functions": list(module.functions), "text": text})
    else:
        display(text, out)
