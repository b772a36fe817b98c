"""`refmlc show FILE`: read, check and print a module."""

from pathlib import Path
from typing import cast

import click

import refmlc
from refmlc.cli.console import out, print_json, show_notes
from refmlc.cli.options import PATH, file_argument, json_option
from refmlc.cli.sources import Source
from refmlc.diag import fail
from refmlc.diag.catalogue import BAD_USAGE
from refmlc.lang.drawing import graph_of, lines_of, svg_of
from refmlc.lang.ir import IRModule, relax
from refmlc.lang.script.display import display
from refmlc.lang.script.spellings import GENERATIONS, Generation

DIALECT = "Print in the syntax of this generation of TVM."


@click.command(epilog="Example: refmlc show model.py --dialect 2023 --svg graph.svg")
@file_argument
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
@click.option("--svg", type=PATH, help="Draw the graph of `main`, or of the first Relax function, to this file.")
@click.option("--no-check", is_flag=True, help="Print the module even if it is ill-formed.")
@json_option
def show(
    file: Path, dialect: str, svg: Path | None, *, graph: bool, show_meta: bool, no_check: bool, as_json: bool
) -> None:
    """Read the TVMScript in FILE, check it, and print it in the syntax of TVM 0.27 or an older one."""
    source, *others = Source(file).parts()
    show_notes(source.notes)
    module = refmlc.read_file(file) if others else source.read(check=not no_check)  # several: it says which
    if svg is not None or graph:
        show_graphs(module, svg, as_json=as_json)
        return
    text = refmlc.show(module, dialect=cast("Generation", dialect), show_meta=show_meta)
    if as_json:
        print_json({"file": str(file), "dialect": dialect, "functions": list(module.functions), "text": text})
    else:
        display(text, out)


def show_graphs(module: IRModule, svg: Path | None, *, as_json: bool) -> None:
    """Print the graphs of the Relax functions, or draw one. Fails: RM112 if the module has no Relax function."""
    graphs = {name: graph_of(func, name) for name, func in module.functions.items() if isinstance(func, relax.Function)}
    if not graphs:
        raise fail(BAD_USAGE, "the module has no Relax function: there is no graph to draw")
    if svg is not None:
        svg.write_text(svg_of(graphs.get("main") or next(iter(graphs.values()))), encoding="utf-8")
    if as_json:
        data = {
            name: {"boxes": [box.title for box in graph.boxes], "arrows": graph.arrows}
            for name, graph in graphs.items()
        }
        print_json({"graphs": data, "svg": None if svg is None else str(svg)})
    elif svg is not None:
        out.print(f"{svg}")
    else:
        for name, graph in graphs.items():
            out.print(f"{name}\n{lines_of(graph)}", soft_wrap=True)
