"""ONNX models as modules: each node of the graph by its rule, else by the functions that ONNX itself defines it with.

| in the model             | becomes                                                            |
|--------------------------|--------------------------------------------------------------------|
| input                    | a parameter of `main`; named dimensions are symbolic ones          |
| initializer              | a constant, or a parameter after those (`keep_params_in_input`)    |
| node                     | calls of Relax's operators, by the rule of its operator            |
| node without a rule      | the nodes of the function body that ONNX or the model gives it     |
| output                   | the result; a tuple where there are several                        |

A model is hostile: its graph may hold cycles, invalid names, dimensions larger than the data.
Whatever cannot be taken is refused with a code; no attribute, input or output is ignored (`node`).
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache, partial

import numpy as np
import onnx

from refmlc.diag import RefmlcError, fail
from refmlc.diag.catalogue import BAD_FILE, UNSUPPORTED_OP
from refmlc.diag.entry import entry_point
from refmlc.frontends.emitter import Emitter, Operand
from refmlc.frontends.onnx.arrays import array_of, constant_named
from refmlc.frontends.onnx.constant_values import ComputedFromData, Foreseen, as_tensor
from refmlc.frontends.onnx.folding import foreseen
from refmlc.frontends.onnx.functions import Definitions
from refmlc.frontends.onnx.inputs import Extents, Inputs
from refmlc.frontends.onnx.node import Node, identifier
from refmlc.frontends.onnx.rules import BEFORE_7, OWN, rule_of
from refmlc.frontends.onnx.sequences import Nothing, TensorSequence
from refmlc.frontends.onnx.value_types import type_of
from refmlc.frontends.unknown_operator import placed, unknown
from refmlc.lang.builder import BlockBuilder
from refmlc.lang.dtypes import INT64
from refmlc.lang.ir import IRModule, relax, tir
from refmlc.lang.ir.types import TensorType
from refmlc.lang.ir.visit import walk

OLDEST = 13
"""The version of the operators that the rules are written for; older models are converted to it by ONNX."""
SCAN = 9
"""The first version in which `Scan` means what it means today."""
CHANNELS = 7
"""The first version in which `PRelu` broadcasts its slope from the last axis."""
RESHAPED = 5
"""The first version in which `Reshape` takes the shape as an input."""
MOST_UNWRITTEN = 32
"""How many nodes with known elements one after the other wait until the module needs them."""
MOST_STEPS = 2048
"""How often graphs within nodes are written out in one model."""
MOST_INNER_NODES = 1 << 16
"""How many nodes these have, counted at each step."""


@entry_point
def from_onnx(
    model: onnx.ModelProto,
    shape_dict: Mapping[str, Extents] | None = None,
    *,
    keep_params_in_input: bool = False,
    known: Mapping[str, np.ndarray] | None = None,
) -> IRModule:
    """The module whose `main` computes what the graph does.

    `shape_dict`: shapes of inputs by name, in place of those that the model says; of a sequence the shapes of its
    tensors, None of an optional without an element. `keep_params_in_input`: initializers become parameters of `main`
    (`params_of` has their values; the attribute `num_input` says where they begin). `known`: inputs whose values are
    fixed, such as the shape that a `Reshape` takes; they are no parameters then.
    Fails: RM501 for what is not supported, by name; RM109 for a model that contradicts itself.
    """
    model = _converted(model)
    names = [output for node in model.graph.node for output in node.output if output]
    if len(set(names)) != len(names):
        raise fail(BAD_FILE, "two nodes of the graph have an output of the same name")
    return Importer(model, dict(shape_dict or {}), dict(known or {})).module(keep=keep_params_in_input)


def params_of(model: onnx.ModelProto) -> dict[str, np.ndarray]:
    """The values of what `keep_params_in_input` makes parameters of `main`, by their names, in their order."""
    return {identifier(name): array for name, array in _arrays(_converted(model).graph).items() if _kept(array)}


def _converted(model: onnx.ModelProto) -> onnx.ModelProto:
    """The model with operators of version 13 at least, by ONNX's own converter. Fails: RM501."""
    version = max((item.version for item in model.opset_import if item.domain in OWN), default=0)
    if version >= OLDEST or not any(node.domain in OWN for node in model.graph.node):
        return model
    if version < SCAN and _has_scan(model.graph):
        raise fail(
            UNSUPPORTED_OP, f"`Scan` of version {version} is not supported: it has batches, and ONNX converts none"
        )
    try:
        converted = onnx.version_converter.convert_version(_with_flat_maxima(model, version), OLDEST)
    except (RuntimeError, ValueError) as refused:
        reason = " ".join(str(refused).split())
        message = f"the operators of ONNX in version {version} are not supported: version {OLDEST} or later is needed"
        raise fail(UNSUPPORTED_OP, message, None, f"ONNX's own converter says: {reason}") from None
    return _with_channels(converted) if version < CHANNELS else converted


def _with_flat_maxima(model: onnx.ModelProto, version: int) -> onnx.ModelProto:
    """The model with each `Hardmax` on a matrix.

    Before version 13 it takes `axis` and all axes behind it for one, which ONNX's converter says of Softmax alone.
    """
    if version < RESHAPED or not any(node.op_type == "Hardmax" and node.domain in OWN for node in model.graph.node):
        return model
    copy, nodes = onnx.ModelProto(), list[onnx.NodeProto]()
    copy.CopyFrom(model)
    for node in copy.graph.node:
        if node.op_type != "Hardmax" or node.domain not in OWN:
            nodes.append(node)
            continue
        (x,), (y,) = node.input, node.output
        axis = next((item.i for item in node.attribute if item.name == "axis"), 1)
        shape, flat, most = (f"{y}:{part}" for part in ("shape", "flat", "most"))
        nodes += [
            onnx.helper.make_node("Shape", [x], [shape]),
            onnx.helper.make_node("Flatten", [x], [flat], axis=axis),
            onnx.helper.make_node("Hardmax", [flat], [most], axis=1),
            onnx.helper.make_node("Reshape", [most, shape], [y], node.name),
        ]
    del copy.graph.node[:]
    copy.graph.node.extend(nodes)
    return copy


def _with_channels(model: onnx.ModelProto) -> onnx.ModelProto:
    """The model with each `PRelu` as one of before version 7, which ONNX's converter takes for one of today."""
    for node in model.graph.node:
        if node.op_type == "PRelu" and node.domain in OWN:
            node.domain = BEFORE_7
    return model


def _has_scan(graph: onnx.GraphProto) -> bool:
    """Whether a node of the graph, or of a graph within one, is a `Scan`."""
    inner = [item.g for node in graph.node for item in node.attribute if item.type == item.GRAPH]
    return any(node.op_type == "Scan" for node in graph.node) or any(map(_has_scan, inner))


class Importer:
    """One model, being translated."""

    def __init__(
        self,
        model: onnx.ModelProto,
        shapes: Mapping[str, Extents],
        fixed: dict[str, np.ndarray],
    ) -> None:
        self._model = model
        self._fixed = fixed
        self._builder = BlockBuilder()
        self._inputs = Inputs(shapes)
        self._definitions = Definitions(model)
        self._steps = self._inner_nodes = 0

    def module(self, *, keep: bool) -> IRModule:
        """The module; `keep` makes initializers parameters. Fails: as `from_onnx`."""
        graph = self._model.graph
        arrays = _arrays(graph) | self._fixed
        inputs = [item for item in graph.input if item.name not in arrays]
        params = self._inputs.params(inputs)
        values: dict[str, Operand] = {"": None}
        attrs: dict[str, tir.Attr] = {"num_input": len(params)} if keep else {}
        for name, array in arrays.items():
            if keep and _kept(array) and name not in self._fixed:
                shape = tuple(tir.IntImm(INT64, size) for size in array.shape)
                params.append(relax.Var(identifier(name), TensorType(shape, constant_named(array, name).dtype)))
                values[name] = params[-1]
            else:
                values[name] = constant_named(array, name)
        with self._builder.function("main", params, attrs):
            with self._builder.dataflow():
                values |= self._inputs.values(self._builder, inputs)
                self._nodes(graph.node, values, self._definitions.opsets)
                results = [self._output(_value(values, item.name), item.name) for item in graph.output]
                if not results:
                    raise fail(BAD_FILE, "the graph has no output")
                output = self._builder.emit_output(results[0] if len(results) == 1 else relax.Tuple(tuple(results)))
            self._builder.emit_func_output(output)
        return self._builder.get()

    def _output(self, value: Operand, name: str) -> relax.Expr:
        """A value as a result: a sequence as a tuple. Fails: RM501 for an optional without an element."""
        match value:
            case TensorSequence(items):
                return relax.Tuple(tuple(self._output(item, name) for item in items))
            case Nothing():
                raise fail(UNSUPPORTED_OP, f"the output `{name}` is an optional without an element: not supported")
            case _:
                return as_tensor(Emitter(self._builder), value)

    def _nodes(
        self, nodes: Sequence[onnx.NodeProto], values: dict[str, Operand], opsets: Mapping[str, int], depth: int = 0
    ) -> None:
        """Translate nodes in their order. Fails: RM109 for a value that no node before gives."""
        for node in nodes:
            missing = [name for name in node.input if name not in values]
            if missing:
                message = f"the node `{_name(node)}` takes `{missing[0]}`, which no earlier node gives"
                raise fail(BAD_FILE, message, None, "the nodes of a graph must be in topological order")
            self._node(node, values, opsets, depth)

    def _node(self, proto: onnx.NodeProto, values: dict[str, Operand], opsets: Mapping[str, int], depth: int) -> None:
        """Translate one node; its outputs are values from then on."""
        inputs = [values[name] for name in proto.input]
        own = proto.domain in OWN
        try:
            arrays = foreseen(proto, inputs, opsets.get("", 0)) if own else None
            if arrays is None:
                results = self._results(proto, inputs, values, opsets, depth)
            else:
                results = self._foreseen(proto, inputs, opsets, depth, arrays)
        except RefmlcError as refused:
            raise self._placed(refused, proto) from None
        _bind(proto, results, values)

    def _placed(self, refused: RefmlcError, proto: onnx.NodeProto) -> RefmlcError:
        """A refusal with its node, and the inputs of the model that it depends on."""
        result = placed(refused, f"the operator `{proto.op_type}` of ONNX", _name(proto), None)
        if isinstance(refused, ComputedFromData):
            inputs = refused.inputs or self._sources(refused.value)
            return ComputedFromData(result.diagnostic, refused.value, inputs)
        return result

    def _sources(self, value: Operand) -> frozenset[str]:
        """The inputs of the model that a value is computed from."""
        stack, visited = [value], set()
        while stack:
            top = stack.pop()
            parts = walk(top) if isinstance(top, relax.Expr) else ()
            for var in [part for part in parts if isinstance(part, relax.Var) and part not in visited]:
                visited.add(var)
                stack.append(self._builder.lookup_binding(var))
        return frozenset(self._inputs.names[var] for var in visited if var in self._inputs.names)

    def _results(
        self,
        proto: onnx.NodeProto,
        inputs: Sequence[Operand],
        values: Mapping[str, Operand],
        opsets: Mapping[str, int],
        depth: int,
    ) -> tuple[Operand, ...]:
        """The outputs of a node: by the rule of its operator, else by its definition. Fails: RM501."""
        rule = rule_of(proto.domain, proto.op_type)
        if rule is None:
            return self._by_definition(proto, inputs, opsets, depth)
        node = Node(
            Emitter(self._builder),
            proto.op_type,
            inputs,
            _attributes(proto),
            proto.output,
            opsets.get("" if proto.domain in OWN else proto.domain, 0),
            lambda graph, given: self._graph(graph, given, values, opsets, depth + 1),
        )
        result = rule(node)
        if result is None:
            return self._by_definition(proto, inputs, opsets, depth)
        node.check_all_taken()
        return result if isinstance(result, tuple) else (result,)

    def _foreseen(
        self,
        proto: onnx.NodeProto,
        inputs: Sequence[Operand],
        opsets: Mapping[str, int],
        depth: int,
        arrays: Sequence[np.ndarray | None],
    ) -> tuple[Operand, ...]:
        """The outputs of a node whose elements are known: it is translated where the module needs one of them."""
        results = cache(partial(self._results, proto, inputs, {}, opsets, depth))

        def output(place: int) -> relax.Expr:
            try:
                _check_outputs(proto, results())
                return as_tensor(Emitter(self._builder), results()[place])
            except RefmlcError as refused:
                raise self._placed(refused, proto) from None

        outputs = [
            None if array is None else Foreseen(array, cache(partial(output, place)))
            for place, array in enumerate(arrays)
        ]
        level = 1 + max((item.depth for item in inputs if isinstance(item, Foreseen)), default=0)
        return tuple(None if item is None else self._bounded(item, level) for item in outputs)

    def _bounded(self, value: Foreseen, level: int) -> Foreseen:
        """The value at a depth of `level` such values; it is written now where the next would make it too deep."""
        if level < MOST_UNWRITTEN:
            return replace(value, depth=level)
        value.write()
        return replace(value, depth=0)

    def _graph(
        self,
        graph: onnx.GraphProto,
        inputs: Sequence[Operand],
        around: Mapping[str, Operand],
        opsets: Mapping[str, int],
        depth: int,
    ) -> list[Operand]:
        """Translate a graph within a node once; it sees the values around it. Fails: RM501, RM109."""
        self._steps += 1
        self._inner_nodes += len(graph.node)
        if depth > Definitions.DEPTH or self._steps > MOST_STEPS or self._inner_nodes > MOST_INNER_NODES:
            limits = f"{MOST_STEPS} steps or {MOST_INNER_NODES} nodes"
            raise fail(UNSUPPORTED_OP, f"more than {limits} of graphs within nodes are not supported")
        if len(inputs) != len(graph.input):
            raise fail(BAD_FILE, f"the graph `{graph.name}` takes {len(graph.input)} inputs, {len(inputs)} are given")
        values = {**around, **{name: constant_named(array, name) for name, array in _arrays(graph).items()}}
        values |= {item.name: value for item, value in zip(graph.input, inputs, strict=True)}
        self._nodes(graph.node, values, opsets, depth)
        return [_value(values, item.name) for item in graph.output]

    def _by_definition(
        self, proto: onnx.NodeProto, inputs: Sequence[Operand], opsets: Mapping[str, int], depth: int
    ) -> tuple[Operand, ...]:
        """Translate the body of the function that a node calls. Fails: RM501 where there is none."""
        emitter = Emitter(self._builder)
        types = [type_of(emitter, value) for value in inputs]
        result = self._definitions.of(proto, opsets, types) if depth < Definitions.DEPTH else None
        if result is None:
            raise unknown(f"the operator `{proto.op_type}` of ONNX", _name(proto), None)
        inner: dict[str, Operand] = {"": None} | dict.fromkeys(result.inputs)
        inner |= dict(zip(result.inputs, inputs, strict=False))
        self._nodes(result.nodes, inner, result.opsets, depth + 1)
        outputs = zip(result.outputs, proto.output, strict=False)
        return tuple(_value(inner, name) if output else None for name, output in outputs)


def _check_outputs(proto: onnx.NodeProto, results: Sequence[Operand]) -> None:
    """Fails: RM501 for an output that a rule does not compute."""
    for place, name in enumerate(proto.output):
        if name and (place >= len(results) or results[place] is None):
            raise fail(
                UNSUPPORTED_OP,
                f"output {place} of `{proto.op_type}` is not supported",
                None,
                f"it is the node `{_name(proto)}` of the graph",
            )


def _bind(proto: onnx.NodeProto, results: Sequence[Operand], values: dict[str, Operand]) -> None:
    """Give the outputs of a node their values. Fails: RM501 for an output that the rule does not compute."""
    _check_outputs(proto, results)
    values |= {name: result for name, result in zip(proto.output, results, strict=False) if name}


def _value(values: Mapping[str, Operand], name: str) -> Operand:
    if name not in values or values[name] is None:
        raise fail(BAD_FILE, f"the graph gives `{name}`, which no node computes")
    return values[name]


def _name(node: onnx.NodeProto) -> str:
    return node.name or next(iter(node.output), "") or node.op_type


def _kept(array: np.ndarray) -> bool:
    """Whether an array may be a parameter: shapes and axes, which are integers, have to be known."""
    return array.dtype != np.int64


def _arrays(graph: onnx.GraphProto) -> dict[str, np.ndarray]:
    """The initializers, by their names in the model. Fails: RM109, RM501."""
    if graph.sparse_initializer:
        raise fail(UNSUPPORTED_OP, "sparse initializers of ONNX are not supported")
    return {item.name: array_of(item) for item in graph.initializer}


def _attributes(node: onnx.NodeProto) -> dict[str, object]:
    return {item.name: _attribute(item) for item in node.attribute}


def _attribute(values: onnx.AttributeProto) -> object:
    """The value of an attribute. Fails: RM501 where a graph within a node refers to an attribute of a function."""
    if values.ref_attr_name:
        message = f"the attribute `{values.name}`, which is `{values.ref_attr_name}` of a function around the graph,"
        raise fail(UNSUPPORTED_OP, f"{message} is not supported")
    return _attribute_value(values)


def _attribute_value(values: onnx.AttributeProto) -> object:
    """A number, a text, a tuple of them, a constant; graphs as they are."""
    value = onnx.helper.get_attribute_value(values)
    match value:
        case bytes():
            return value.decode("utf-8", "replace")
        case onnx.TensorProto():
            return constant_named(array_of(value), "a constant")
        case int() | float() | onnx.GraphProto() | onnx.SparseTensorProto() | onnx.TypeProto():
            return value
        case _:
            return tuple(item.decode("utf-8", "replace") if isinstance(item, bytes) else item for item in value)
