"""The HTML of a node for notebooks: highlighted TVMScript, and a folded picture of each Relax function."""

from html import escape

from refmlc.lang.drawing.graph import graph_of
from refmlc.lang.drawing.svg import svg_of
from refmlc.lang.ir import IRModule, relax
from refmlc.lang.ir.node import Node
from refmlc.lang.script.display import highlighted


def page(node: Node, text: str) -> str:
    """The HTML of a node whose TVMScript is `text`."""
    pictures = "".join(_picture(name, function) for name, function in _functions(node))
    return highlighted(text) + pictures


def _functions(node: Node) -> list[tuple[str, relax.Function]]:
    match node:
        case IRModule(functions=functions):
            return [(name, function) for name, function in functions.items() if isinstance(function, relax.Function)]
        case relax.Function():
            return [("main", node)]
        case _:
            return []


def _picture(name: str, function: relax.Function) -> str:
    picture = svg_of(graph_of(function, name))
    return f"<details open><summary>graph of {escape(name)}</summary>{picture}</details>"
