"""Graphs of ONNX as data: one to four operators, drawn from a table and from the schemas of ONNX itself.

| part       | from                                                                                            |
|------------|-------------------------------------------------------------------------------------------------|
| operators  | the table of `onnx_operators`, in a version of the operators that ONNX has                      |
| attributes | all that the schema of the operator allows in that version, each of them half of the time        |
| inputs     | small tensors with extents of 0, 1 and primes; constants of the graph, or arguments of the call |

ONNX's reference evaluator computes each node as soon as it is drawn: what it refuses is no graph, and is drawn again.
So is a node on which ONNX's text leaves the result open (`onnx_domains`), and one whose value has another dtype or
shape than ONNX infers: then ONNX contradicts itself.
"""

import random
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias, cast

import numpy as np
import onnx
from onnx.reference import ReferenceEvaluator

from refmlc.oracle.fuzz.subjects.imports.array_data import array_data, array_of
from refmlc.oracle.fuzz.subjects.imports.onnx_domains import NodeCall, NoResult, left_open
from refmlc.oracle.fuzz.subjects.imports.onnx_operators import ATTRIBUTES, OPERATORS, Attribute, NodeDraw

OPSETS = (9, 10, 11, 13, 15, 17, 18, 19, 21, 22)
IR_VERSION = 10
MOST_NODES = 4
ATTEMPTS = 64
LONGEST = 4096
"""How many elements a tensor has at most."""
Json: TypeAlias = Mapping[str, object]
Arrays: TypeAlias = Mapping[str, np.ndarray]


@dataclass(frozen=True)
class OnnxNode:
    """A node; an input that is not there is the empty name."""

    op: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    attributes: Mapping[str, Attribute] = field(default_factory=dict)

    def proto(self) -> Any:  # noqa: ANN401 - ONNX has no types
        """The node as ONNX has it."""
        return onnx.helper.make_node(self.op, self.inputs, self.outputs, **self.attributes)


@dataclass(frozen=True)
class OnnxGraph:
    """A graph with its constants, the arguments of a call, and the names of its results."""

    opset: int
    nodes: tuple[OnnxNode, ...]
    constants: Arrays
    arguments: Arrays
    outputs: tuple[str, ...]

    def model(self) -> Any:  # noqa: ANN401 - as above
        """The graph as a model of ONNX."""
        inputs = [
            onnx.helper.make_tensor_value_info(name, onnx.helper.np_dtype_to_tensor_dtype(array.dtype), array.shape)
            for name, array in self.arguments.items()
        ]
        constants = [onnx.numpy_helper.from_array(array, name) for name, array in self.constants.items()]
        outputs = [onnx.helper.make_value_info(name, onnx.TypeProto()) for name in self.outputs]
        graph = onnx.helper.make_graph([node.proto() for node in self.nodes], "graph", inputs, outputs, constants)
        opset = onnx.helper.make_opsetid("", self.opset)
        return onnx.shape_inference.infer_shapes(
            onnx.helper.make_model(graph, opset_imports=[opset], ir_version=IR_VERSION)
        )

    def to_json(self) -> dict[str, object]:
        """The graph as data."""
        return {
            "opset": self.opset,
            "nodes": [[node.op, list(node.inputs), list(node.outputs), dict(node.attributes)] for node in self.nodes],
            "constants": {name: array_data(array) for name, array in self.constants.items()},
            "arguments": {name: array_data(array) for name, array in self.arguments.items()},
            "outputs": list(self.outputs),
        }

    @staticmethod
    def from_json(data: Json) -> "OnnxGraph":
        """The graph from data."""
        nodes = [
            OnnxNode(op, tuple(inputs), tuple(outputs), attributes)
            for op, inputs, outputs, attributes in cast("list[Any]", data["nodes"])
        ]
        constants, arguments = (
            {name: array_of(each) for name, each in cast("dict[str, Any]", data[key]).items()}
            for key in ("constants", "arguments")
        )
        outputs = tuple(cast("list[str]", data["outputs"]))
        return OnnxGraph(cast("int", data["opset"]), tuple(nodes), constants, arguments, outputs)


def evaluated(graph: OnnxGraph) -> dict[str, np.ndarray]:
    """All values of a graph by name, as ONNX's evaluator has them.

    Raises whatever the evaluator raises, and `NoResult` where ONNX leaves a result open.
    """
    outputs = tuple(name for node in graph.nodes for name in node.outputs if name)
    whole = replace(graph, outputs=outputs)
    model = whole.model()
    onnx.checker.check_model(model, full_check=True)
    with np.errstate(all="ignore"):
        results = ReferenceEvaluator(model).run(list(outputs), dict(graph.arguments))
    values = {name: _tensor(value) for name, value in zip(outputs, results, strict=True)}
    inferred = {each.name: each.type.tensor_type for each in model.graph.output}
    for node in graph.nodes:
        why = left_open(_call(node, graph, {**graph.constants, **graph.arguments, **values}))
        why = why or next(
            filter(None, (_contradiction(inferred[name], values[name]) for name in node.outputs if name)), ""
        )
        if why:
            raise NoResult(f"{node.op}: {why}")
    return values


def _contradiction(inferred: Any, value: np.ndarray) -> str:  # noqa: ANN401 - as above
    """How a value has another type than ONNX's own inference of shapes says; empty: it has that one."""
    dtype = onnx.helper.np_dtype_to_tensor_dtype(value.dtype)
    if inferred.elem_type not in (dtype, onnx.TensorProto.UNDEFINED):
        return "the evaluator gives another dtype than ONNX infers"
    if not inferred.HasField("shape"):
        return ""
    extents = [each.dim_value if each.HasField("dim_value") else None for each in inferred.shape.dim]
    fits = len(extents) == value.ndim and all(map(_may_be, extents, value.shape))
    return "" if fits else "the evaluator gives another shape than ONNX infers"


def _may_be(inferred: int | None, extent: int) -> bool:
    return inferred in (None, extent)


def _call(node: OnnxNode, graph: OnnxGraph, values: Arrays) -> NodeCall:
    """A node with its values, and what ONNX says of it."""
    schema = onnx.defs.get_schema(node.op, graph.opset, "")
    attributes: dict[str, object] = {}
    for name, said in schema.attributes.items():
        default = said.default_value
        if default is not None and default.type != onnx.AttributeProto.UNDEFINED:
            attributes[name] = onnx.helper.get_attribute_value(default)
    return NodeCall(
        node.op,
        schema.since_version,
        attributes | dict(node.attributes),
        {name: said.description for name, said in schema.attributes.items()},
        " ".join((schema.doc or "").split()),
        [values.get(name) for name in node.inputs],
        [values.get(name) for name in node.outputs],
    )


def _tensor(value: object) -> np.ndarray:
    """A result as an array. Raises TypeError for a sequence, and what is too large."""
    if not isinstance(value, np.ndarray | np.generic) or np.asarray(value).size > LONGEST:
        raise TypeError("a result is no small tensor")
    return np.asarray(value, order="C")  # whatever computed it, it may become an argument


def schema_of(op: str, opset: int) -> Any | None:  # noqa: ANN401 - as above
    """What ONNX says of an operator in a version; None: it does not have it, or not any more."""
    if not onnx.defs.has(op, opset, ""):
        return None
    schema = onnx.defs.get_schema(op, opset, "")
    return None if schema.deprecated else schema


def drawn_graph(seed: int, *, exclude: Iterable[str] = ()) -> OnnxGraph:
    """The graph that a seed gives, without the excluded operators. Raises ValueError where no operator is left."""
    roll = random.Random(seed)  # noqa: S311 - programs, not secrets
    names = sorted(set(OPERATORS) - set(exclude)) or [""]
    graph, values = OnnxGraph(OPSETS[-1], (), {}, {}, ()), dict[str, np.ndarray]()
    wanted = roll.choice((1, 1, 1, 2, 2, 3, MOST_NODES))
    for attempt in range(ATTEMPTS):
        if len(graph.nodes) == wanted or (graph.nodes and attempt > ATTEMPTS // 2):
            break
        if not graph.nodes:
            graph = replace(graph, opset=roll.choice(OPSETS))
        op = roll.choice(names)
        schema = schema_of(op, graph.opset)
        if schema is None:
            continue
        try:
            larger = _with_node(graph, values, op, schema, roll)
            values = evaluated(larger)
        except Exception:  # noqa: BLE001, S112 - whatever NumPy or the evaluator raises: it is no graph
            continue
        graph = larger
    if not graph.nodes:
        raise ValueError("no graph of the operators that are left was drawn")
    used = {name for node in graph.nodes for name in node.inputs}
    ends = tuple(name for node in graph.nodes for name in node.outputs if name and name not in used)
    return replace(graph, outputs=ends)


def _with_node(
    graph: OnnxGraph,
    values: Arrays,
    op: str,
    schema: Any,  # noqa: ANN401 - as above
    roll: random.Random,
) -> OnnxGraph:
    """The graph with one more node, which takes an earlier value where there is one."""
    number = len(graph.nodes)
    draw = NodeDraw(roll, graph.opset)
    before = [name for name, value in values.items() if value.size]
    taken = roll.choice(before) if before else ""
    inputs, constants, arguments = list[str](), dict(graph.constants), dict(graph.arguments)
    for place, role in enumerate(OPERATORS[op]):
        if place >= schema.max_input:
            break
        if place == 0 and taken and role.chained:
            draw.arrays.append(values[taken])
            inputs.append(taken)
            continue
        array = role.draw(draw)
        draw.arrays.append(array)
        if array is None:
            inputs.append("")
            continue
        name = f"x{number}_{place}"
        inputs.append(name)
        is_argument = (place == 0 and not taken) or roll.random() < role.argument
        (arguments if is_argument else constants)[name] = array
    while inputs and not inputs[-1]:
        inputs.pop()
    most = min(schema.max_output, 4)
    count = most if most > 1 and roll.random() < HALF else schema.min_output
    outputs = tuple(f"y{number}_{place}" for place in range(max(count, 1)))
    node = OnnxNode(op, tuple(inputs), outputs, _attributes(op, schema, draw))
    return OnnxGraph(graph.opset, (*graph.nodes, node), constants, arguments, (outputs[0],))


HALF = 0.5


def _attributes(op: str, schema: Any, draw: NodeDraw) -> dict[str, Attribute]:  # noqa: ANN401 - as above
    """Attributes that the schema allows: the required ones, and half of the others; not `pads` beside `auto_pad`."""
    attributes: dict[str, Attribute] = {}
    for name in sorted(schema.attributes):
        said = schema.attributes[name]
        if not said.required and draw.roll.random() < HALF:
            continue
        rule = ATTRIBUTES.get(f"{op} {name}", ATTRIBUTES.get(name))
        value = rule(draw) if rule is not None else _by_type(str(said.type), draw)
        if value is not None:
            attributes[name] = value
    if attributes.get("auto_pad", "NOTSET") != "NOTSET":
        attributes.pop("pads", None)
    return attributes


def _by_type(kind: str, draw: NodeDraw) -> Attribute | None:
    """A value of a type that the table of attributes does not have; None: it is left out."""
    match kind.rpartition(".")[2]:
        case "INT":
            return draw.roll.choice((0, 1, 2))
        case "FLOAT":
            return draw.roll.choice((0.0, 0.5, 1.0, -1.0, 2.0))
        case _:
            return None
