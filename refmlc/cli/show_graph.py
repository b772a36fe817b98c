"""The graphs of a module's Relax functions, for `refmlc show --graph` and `--svg`."""

from pathlib import Path

from refmlc.cli.console import out, print_json
from refmlc.diag import fail
from refmlc.diag.catalogue import BAD_USAGE
from refmlc.lang.drawing import graph_of, lines_of, svg_of
from refmlc.lang.ir import IRModule, relax


def told(module: IRModule, svg: Path | None, *, as_json: bool) -> None:
    """Print the graphs, or write one. Fails: RM112 where the module has no function of Relax."""
    graphs = {name: graph_of(one, name) for name, one in module.functions.items() if isinstance(one, relax.Function)}
    if not graphs:
        raise fail(BAD_USAGE, "the module has no function of Relax: there is no graph to draw")
    if svg is not None:
        svg.write_text(svg_of(graphs.get("main") or next(iter(graphs.values()))), encoding="utf-8")
    if as_json:
        found = {
            name: {"boxes": [one.title for one in graph.boxes], "arrows": graph.arrows}
            for name, graph in graphs.items()
        }
        print_json({"graphs": found, "svg": None if svg is None else str(svg)})
    elif svg is not None:
        out.print(f"{svg}")
    else:
        for name, graph in graphs.items():
            out.print(f"{name}\n{lines_of(graph)}", soft_wrap=True)
