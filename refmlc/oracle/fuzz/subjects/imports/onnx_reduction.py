"""A graph of one node made smaller: fewer outputs, attributes and inputs."""

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from refmlc.lazy import load

if TYPE_CHECKING:
    from refmlc.oracle.fuzz.subjects.imports.onnx_graphs import OnnxGraph, OnnxNode

GRAPHS = "refmlc.oracle.fuzz.subjects.imports.onnx_graphs"


def alone_of(graph: "OnnxGraph", node: "OnnxNode", values: dict[str, np.ndarray]) -> "OnnxGraph":
    """A graph of one node: constants stay constants, all other inputs are arguments."""
    names = [name for name in dict.fromkeys(node.inputs) if name]
    constants = {name: graph.constants[name] for name in names if name in graph.constants}
    arguments = {name: values[name] for name in names if name not in constants}
    return replace(graph, nodes=(node,), constants=constants, arguments=arguments, outputs=node.outputs)


def _fewer_outputs(graph: "OnnxGraph") -> "Iterator[OnnxGraph]":
    """The node without its last output, where it may lack it; else one result: the last that it may lack, or another.

    What is wrong as long as the node has an output at all is wrong for that one.
    """
    (node,) = graph.nodes
    optional = [name for place, name in enumerate(node.outputs) if _is_optional(graph, place)]
    *_, last = node.outputs
    if last in optional and graph.outputs != (last,):
        fewer = replace(node, outputs=node.outputs[:-1])
        yield replace(graph, nodes=(fewer,), outputs=tuple(name for name in graph.outputs if name != last))
    ranked = [*reversed(optional), *(name for name in graph.outputs if name not in optional)]
    for output in ranked if len(graph.outputs) > 1 else ():
        if output in graph.outputs:
            yield replace(graph, outputs=(output,))


def _is_optional(graph: "OnnxGraph", place: int) -> bool:
    """Whether ONNX lets the node have no output at a place."""
    schema = load(f"{GRAPHS}:schema_of")(graph.nodes[0].op, graph.opset)
    formal = schema.outputs[min(place, len(schema.outputs) - 1)]
    return place > 0 and str(formal.option.name) == "Optional"


def simpler(graph: "OnnxGraph") -> "Iterator[OnnxGraph]":
    """The node with an output, attribute or input less, or with a constant for an argument."""
    yield from _fewer_outputs(graph)
    node = graph.nodes[0]
    for name in node.attributes:
        rest = {key: value for key, value in node.attributes.items() if key != name}
        yield replace(graph, nodes=(replace(node, attributes=rest),))
    for place in range(len(node.inputs) - 1, 0, -1):
        if node.inputs[place]:
            inputs = (*node.inputs[:place], "", *node.inputs[place + 1 :])
            while not inputs[-1]:
                inputs = inputs[:-1]
            kept = {name for name in inputs if name}
            yield replace(
                graph,
                nodes=(replace(node, inputs=inputs),),
                constants={name: array for name, array in graph.constants.items() if name in kept},
                arguments={name: array for name, array in graph.arguments.items() if name in kept},
            )
    for name in node.inputs[1:]:
        if name in graph.arguments:
            others = {key: array for key, array in graph.arguments.items() if key != name}
            yield replace(graph, constants={**graph.constants, name: graph.arguments[name]}, arguments=others)
