"""Graphs within nodes of ONNX: `If`, `Loop`, `Scan`, written out step by step while the model is imported.

| operator | is taken where                                                                        |
|----------|---------------------------------------------------------------------------------------|
| `If`     | its condition is known: the graph of that branch                                      |
| `Loop`   | its count or its condition is known before each step                                  |
| `Scan`   | the extent that it goes along is known                                                |

A step is the nodes of the graph once more. The importer bounds the steps of a whole model.
"""

from collections.abc import Mapping, Sequence

import numpy as np

from refmlc.diag import RefmlcError, fail
from refmlc.diag.catalogue import BAD_FILE, BAD_INPUT, UNSUPPORTED_OP
from refmlc.frontends.arrays import constant
from refmlc.frontends.emitter import Emitter, Operand
from refmlc.frontends.onnx.constant_values import as_tensor, elements, known, late
from refmlc.frontends.onnx.elementwise import OnnxRule
from refmlc.frontends.onnx.node import Node
from refmlc.frontends.onnx.shape_rules import axis_of
from refmlc.lang.ir import relax


def branch(node: Node) -> Operand:
    """The results of the branch that a known condition chooses. Fails: RM501."""
    condition = _truth(node.input(0))
    graphs = {True: node.graph("then_branch"), False: node.graph("else_branch")}
    if condition is None:
        raise _late(node, "condition", node.input(0))
    return tuple(node.run(graphs[condition], ()))


def loop(node: Node) -> Operand:
    """The states after the last step, then what each step gave, along a new first axis. Fails: RM501."""
    body, e = node.graph("body"), node.e
    count, going = node.input(0), node.input(1)
    most = None if count is None else known(count)
    if count is not None and most is None:
        raise _late(node, "count", count)
    limit = None if most is None else int(most.ravel()[0])
    states = [node.input(place) for place in range(2, len(node))]
    rows: list[list[Operand]] = []
    while limit is None or len(rows) < limit:
        proceeds = True if going is None else _truth(going)
        if proceeds is None:
            raise _late(node, "condition", going)
        if not proceeds:
            break
        if limit is None and going is None:
            raise fail(UNSUPPORTED_OP, f"`{node.op}` without a count and without a condition does not end")
        shown_text = constant(np.array(True)) if going is None else going
        going_on, *results = node.run(body, (constant(np.array(len(rows), np.int64)), shown_text, *states))
        going = None if going is None else going_on
        if len(results) < len(states):
            raise fail(
                BAD_FILE, f"the graph of `{node.op}` gives {len(results)} results, {len(states)} states are needed"
            )
        states = results[: len(states)]
        rows.append(results[len(states) :])
    return (*states, *_stacked(e, node, rows, len(body.output) - 1 - len(states)))


def scan(node: Node) -> Operand:
    """The states after the last place of the inputs, then what each place gave, stacked. Fails: RM501, RM111."""
    body, e, inputs = node.graph("body"), node.e, node.whole("num_scan_inputs", 0)
    if not 1 <= inputs <= len(node):
        raise fail(BAD_INPUT, f"`num_scan_inputs` is {inputs}, the node has {len(node)} inputs")
    first = len(node) - inputs
    states: list[Operand] = [node.input(place) for place in range(first)]
    scanned = [node.tensor(place) for place in range(first, len(node))]
    outputs = len(body.output) - first
    axes, ways = node.ints("scan_input_axes") or (0,) * inputs, node.ints("scan_input_directions") or (0,) * inputs
    out_axes = node.ints("scan_output_axes") or (0,) * outputs
    out_ways = node.ints("scan_output_directions") or (0,) * outputs
    if (len(axes), len(ways), len(out_axes), len(out_ways)) != (inputs, inputs, outputs, outputs):
        raise fail(BAD_INPUT, f"the axes or directions of `{node.op}` do not match its {inputs} inputs")
    places = [axis_of(axis, e.rank(x), node.op) for axis, x in zip(axes, scanned, strict=True)]
    extents = {e.shape(x)[place] for x, place in zip(scanned, places, strict=True)}
    extent = extents.pop()
    if extents or not isinstance(extent, int):
        raise fail(UNSUPPORTED_OP, f"`{node.op}` along extents that are symbolic or differ is not supported")
    rows: list[list[Operand]] = []
    for step in range(extent):
        here = [
            _place(e, x, place, extent - 1 - step if way else step)
            for x, place, way in zip(scanned, places, ways, strict=True)
        ]
        results = node.run(body, (*states, *here))
        states, rows = results[:first], [*rows, results[first:]]
    return (*states, *_stacked(e, node, rows, outputs, out_axes, out_ways))


def _stacked(
    e: Emitter,
    node: Node,
    rows: Sequence[Sequence[Operand]],
    outputs: int,
    axes: Sequence[int] = (),
    ways: Sequence[int] = (),
) -> list[relax.Expr]:
    """What the steps gave, each output along a new axis. Fails: RM501 without a step: no shape is known then."""
    if outputs and not rows:
        raise fail(UNSUPPORTED_OP, f"`{node.op}` without a step is not supported: its outputs have no shape")
    if any(len(row) != outputs for row in rows):
        raise fail(BAD_FILE, f"the graph of `{node.op}` gives another number of results than the node has outputs")
    whole: list[relax.Expr] = []
    for at in range(outputs):
        parts = [as_tensor(e, row[at]) for row in rows]
        backwards = bool(ways) and bool(ways[at])
        whole.append(e.call("stack", parts[::-1] if backwards else parts, axis=axes[at] if axes else 0))
    return whole


def _place(e: Emitter, x: relax.Expr, axis: int, place: int) -> relax.Expr:
    return e.call("squeeze", e.call("strided_slice", x, [axis], [place], [place + 1], [1]), axis=axis)


def _truth(value: Operand) -> bool | None:
    """A condition that is known; None where it is computed from data."""
    array = elements(value)
    return bool(array.ravel()[0]) if array is not None and array.size == 1 else None


def _late(node: Node, what: str, value: Operand) -> RefmlcError:
    return late(value, f"`{node.op}` whose {what} is computed from data is not supported")


CONTROL: Mapping[str, OnnxRule] = {"If": branch, "Loop": loop, "Scan": scan}
