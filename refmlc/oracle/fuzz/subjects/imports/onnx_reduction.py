"""A graph of one node made smaller: fewer outputs, attributes and inputs, shorter axes, plainer numbers."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from refmlc.oracle.fuzz.subjects.imports.onnx_graphs import OnnxGraph, OnnxNode


def alone_of(graph: "OnnxGraph", node: "OnnxNode", values: dict[str, np.ndarray]) -> "OnnxGraph":
    """A graph of one node: constants stay constants, all other inputs are arguments."""
    names = [name for name in dict.fromkeys(node.inputs) if name]
    constants = {name: graph.constants[name] for name in names if name in graph.constants}
    arguments = {name: values[name] for name in names if name not in constants}
    return replace(graph, nodes=(node,), constants=constants, arguments=arguments, outputs=node.outputs)


def smaller(graph: "OnnxGraph", keeps: Callable[["OnnxGraph"], bool]) -> "OnnxGraph":
    """The node with fewer outputs, attributes and inputs, and inputs that are constants, as far as `keeps` lets."""
    again = True
    while again:
        again = False
        for candidate in _simpler(graph):
            if keeps(candidate):
                graph, again = candidate, True
                break
    return graph


def _simpler(graph: "OnnxGraph") -> "Iterator[OnnxGraph]":
    node = graph.nodes[0]
    for output in node.outputs if len(node.outputs) > 1 else ():
        if graph.outputs != (output,):
            yield replace(graph, outputs=(output,))
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


def plainest(graph: "OnnxGraph", keeps: Callable[["OnnxGraph"], bool]) -> "OnnxGraph":
    """The graph with shorter axes and plainer numbers, as far as `keeps` lets."""
    again = True
    while again:
        again = False
        for candidate in less(graph):
            if keeps(candidate):
                graph, again = candidate, True
                break
    return graph


def less(graph: "OnnxGraph") -> "Iterator[OnnxGraph]":
    """The graph with an axis of extent n shorter in all its tensors, and with plainer numbers."""
    arrays = {**graph.constants, **graph.arguments}
    for extent in sorted({size for array in arrays.values() for size in array.shape if size > 1}, reverse=True):
        yield _mapped(graph, lambda array, extent=extent: _cut(array, extent))  # type: ignore[misc]
        for name, array in arrays.items():
            if extent in array.shape:
                yield _mapped(graph, lambda each, extent=extent: _cut(each, extent), name)  # type: ignore[misc]
    for name, array in arrays.items():
        if array.dtype.kind == "f" and array.size and not np.array_equal(array, np.trunc(array), equal_nan=False):
            yield _mapped(graph, np.trunc, name)


def _cut(array: np.ndarray, extent: int) -> np.ndarray:
    at = tuple(slice(0, size - 1) if size == extent else slice(None) for size in array.shape)
    return array[at]


def _mapped(graph: "OnnxGraph", change: Callable[[np.ndarray], np.ndarray], only: str = "") -> "OnnxGraph":
    constants, arguments = (
        {name: change(array) if only in ("", name) else array for name, array in arrays.items()}
        for arrays in (graph.constants, graph.arguments)
    )
    return replace(graph, constants=constants, arguments=arguments)
