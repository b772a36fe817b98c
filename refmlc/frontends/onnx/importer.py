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

import numpy as np
import onnx

from refmlc.diag import RefmlcError, fail
from refmlc.diag.catalogue import BAD_FILE, BAD_INPUT, UNSUPPORTED_OP
from refmlc.diag.entry import entry_point
from refmlc.frontends.emitter import Emitter, Operand
from refmlc.frontends.onnx.arrays import NUMBERS, array_of, constant_named, dtype_named
from refmlc.frontends.onnx.constant_values import SymbolicArray, as_tensor
from refmlc.frontends.onnx.folding import folded
from refmlc.frontends.onnx.functions import Definitions
from refmlc.frontends.onnx.node import Node
from refmlc.frontends.onnx.rules import RULES
from refmlc.frontends.unknown_operator import placed, unknown
from refmlc.lang.builder import BlockBuilder
from refmlc.lang.dtypes import INT64
from refmlc.lang.ir import IRModule, relax, tir
from refmlc.lang.ir.types import TensorType

OLDEST = 13
"""The version of the operators that the rules are written for; older models are converted to it by ONNX."""
DOMAINS = ("", "ai.onnx")
SCAN = 9
"""The first version in which `Scan` means what it means today."""
MOST_STEPS = 2048
"""How often graphs within nodes are written out in one model."""
MOST_INNER_NODES = 1 << 16
"""How many nodes these have, counted at each step."""


@entry_point
def from_onnx(
    model: onnx.ModelProto,
    shape_dict: Mapping[str, Sequence[int]] | None = None,
    *,
    keep_params_in_input: bool = False,
    known: Mapping[str, np.ndarray] | None = None,
) -> IRModule:
    """The module whose `main` computes what the graph does.

    `shape_dict`: shapes of inputs by name, in place of those that the model says. `keep_params_in_input`: initializers
    become parameters of `main` (`params_of` has their values; the attribute `num_input` says where they begin).
    `known`: inputs whose values are fixed, such as the shape that a `Reshape` takes; they are no parameters then.
    Fails: RM501 for what is not supported, by name; RM109 for a model that contradicts itself.
    """
    model = _converted(model)
    names = [output for node in model.graph.node for output in node.output if output]
    if len(set(names)) != len(names):
        raise fail(BAD_FILE, "two nodes of the graph have an output of the same name")
    return Importer(model, dict(shape_dict or {}), dict(known or {}), keep=keep_params_in_input).module()


def params_of(model: onnx.ModelProto) -> dict[str, np.ndarray]:
    """The values of what `keep_params_in_input` makes parameters of `main`, by their names, in their order."""
    return {_identifier(name): array for name, array in _arrays(_converted(model).graph).items() if _kept(array)}


def _converted(model: onnx.ModelProto) -> onnx.ModelProto:
    """The model with operators of version 13 at least, by ONNX's own converter. Fails: RM501."""
    version = max((one.version for one in model.opset_import if one.domain in DOMAINS), default=0)
    if version >= OLDEST or not model.graph.node:
        return model
    if version < SCAN and _has_scan(model.graph):
        raise fail(
            UNSUPPORTED_OP, f"`Scan` of version {version} is not supported: it has batches, and ONNX converts none"
        )
    try:
        return onnx.version_converter.convert_version(model, OLDEST)
    except (RuntimeError, ValueError) as refused:
        reason = " ".join(str(refused).split())
        message = f"the operators of ONNX in version {version} are not supported: version {OLDEST} or later is needed"
        raise fail(UNSUPPORTED_OP, message, None, f"ONNX's own converter says: {reason}") from None


def _has_scan(graph: onnx.GraphProto) -> bool:
    """Whether a node of the graph, or of a graph within one, is a `Scan`."""
    inner = [one.g for node in graph.node for one in node.attribute if one.type == one.GRAPH]
    return any(node.op_type == "Scan" for node in graph.node) or any(map(_has_scan, inner))


class Importer:
    """One model, being translated."""

    def __init__(
        self,
        model: onnx.ModelProto,
        shapes: dict[str, Sequence[int]],
        fixed: dict[str, np.ndarray],
        *,
        keep: bool,
    ) -> None:
        self._model = model
        self._shapes = shapes
        self._fixed = fixed
        self._keep = keep
        self._builder = BlockBuilder()
        self._symbols: dict[str, tir.Var] = {}
        self._definitions = Definitions(model)
        self._steps = self._inner_nodes = 0

    def module(self) -> IRModule:
        """The module. Fails: as `from_onnx`."""
        graph = self._model.graph
        values: dict[str, Operand] = {"": None}
        arrays = _arrays(graph) | self._fixed
        inputs = [one for one in graph.input if one.name not in arrays]
        params = [self._input(one) for one in inputs]
        values |= {one.name: var for one, var in zip(inputs, params, strict=True)}
        for name, array in arrays.items():
            if self._keep and _kept(array) and name not in self._fixed:
                shape = tuple(tir.IntImm(INT64, size) for size in array.shape)
                params.append(relax.Var(_identifier(name), TensorType(shape, constant_named(array, name).dtype)))
                values[name] = params[-1]
            else:
                values[name] = constant_named(array, name)
        attrs: dict[str, tir.Attr] = {"num_input": len(inputs)} if self._keep else {}
        with self._builder.function("main", params, attrs):
            with self._builder.dataflow():
                self._nodes(graph.node, values, self._definitions.opsets)
                emitter = Emitter(self._builder)
                results = [as_tensor(emitter, _value(values, one.name)) for one in graph.output]
                if not results:
                    raise fail(BAD_FILE, "the graph has no output")
                output = self._builder.emit_output(results[0] if len(results) == 1 else relax.Tuple(tuple(results)))
            self._builder.emit_func_output(output)
        return self._builder.get()

    def _input(self, given: onnx.ValueInfoProto) -> relax.Var:
        """An input of the model as a parameter. Fails: RM501, RM109 for a negative extent."""
        if given.type.WhichOneof("value") != "tensor_type":
            raise fail(
                UNSUPPORTED_OP, f"the input `{given.name}` is not a tensor: sequences and optionals are unsupported"
            )
        tensor = given.type.tensor_type
        if not tensor.HasField("shape") and given.name not in self._shapes:
            raise fail(UNSUPPORTED_OP, f"the rank of the input `{given.name}` is not known")
        dims = list(tensor.shape.dim)
        wanted = self._shapes.get(given.name)
        if wanted is not None and tensor.HasField("shape") and len(wanted) != len(dims):
            raise fail(BAD_INPUT, f"the input `{given.name}` has {len(dims)} dimensions, {len(wanted)} are given")
        extents: list[tir.Expr] = []
        for place in range(len(dims) if wanted is None else len(wanted)):
            dim = dims[place] if place < len(dims) else None
            extent = wanted[place] if wanted is not None else _extent(dim)
            if extent is None:
                name = (dim.dim_param if dim is not None else "") or f"{given.name}_{place}"
                extents.append(self._symbols.setdefault(name, tir.Var(_identifier(name), INT64)))
            elif extent < 0:
                raise fail(BAD_FILE, f"dimension {place} of the input `{given.name}` is {extent}")
            else:
                extents.append(tir.IntImm(INT64, int(extent)))
        dtype = dtype_named(tensor.elem_type, f"the input `{given.name}`")
        return relax.Var(_identifier(given.name), TensorType(tuple(extents), dtype))

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
        what, inputs = f"the operator `{proto.op_type}` of ONNX", [values[name] for name in proto.input]
        own = proto.domain in DOMAINS
        opset = opsets.get("" if own else proto.domain, 0)
        rule = RULES.get(proto.op_type) if own else None
        try:
            result = folded(proto, inputs, opset) if own else None
            if result is None and rule is not None:
                node = Node(
                    Emitter(self._builder),
                    proto.op_type,
                    inputs,
                    _attributes(proto),
                    proto.output,
                    opset,
                    lambda graph, given: self._graph(graph, given, values, opsets, depth + 1),
                )
                result = rule(node)
                node.check_all_taken()
            if result is None:
                self._by_definition(proto, inputs, values, opsets, depth)
                return
        except RefmlcError as refused:
            raise placed(refused, what, _name(proto), None) from None
        _bind(proto, result, values)

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
        values |= {one.name: value for one, value in zip(graph.input, inputs, strict=True)}
        self._nodes(graph.node, values, opsets, depth)
        return [_value(values, one.name) for one in graph.output]

    def _by_definition(
        self,
        proto: onnx.NodeProto,
        inputs: Sequence[Operand],
        values: dict[str, Operand],
        opsets: Mapping[str, int],
        depth: int,
    ) -> None:
        """Translate the body of the function that a node calls. Fails: RM501 where there is none."""
        emitter = Emitter(self._builder)
        types = [_type_proto(emitter, value) for value in inputs]
        found = self._definitions.of(proto, opsets, types) if depth < Definitions.DEPTH else None
        if found is None:
            raise unknown(f"the operator `{proto.op_type}` of ONNX", _name(proto), None)
        inner: dict[str, Operand] = {"": None} | dict.fromkeys(found.inputs)
        inner |= dict(zip(found.inputs, inputs, strict=False))
        self._nodes(found.nodes, inner, found.opsets, depth + 1)
        for name, output in zip(found.outputs, proto.output, strict=False):
            if output:
                values[output] = _value(inner, name)


def _bind(proto: onnx.NodeProto, result: Operand, values: dict[str, Operand]) -> None:
    """Give the outputs of a node their values. Fails: RM501 for an output that the rule does not compute."""
    results = result if isinstance(result, tuple) else (result,)
    for place, name in enumerate(proto.output):
        if name and (place >= len(results) or results[place] is None):
            raise fail(
                UNSUPPORTED_OP,
                f"output {place} of `{proto.op_type}` is not supported",
                None,
                f"it is the node `{_name(proto)}` of the graph",
            )
        if name:
            values[name] = results[place]


def _value(values: Mapping[str, Operand], name: str) -> Operand:
    if name not in values or values[name] is None:
        raise fail(BAD_FILE, f"the graph gives `{name}`, which no node computes")
    return values[name]


def _name(node: onnx.NodeProto) -> str:
    return node.name or next(iter(node.output), "") or node.op_type


def _extent(dim: "onnx.TensorShapeProto.Dimension | None") -> int | None:
    """The extent that a model says; None: a symbolic one."""
    return dim.dim_value if dim is not None and dim.WhichOneof("value") == "dim_value" else None


def _kept(array: np.ndarray) -> bool:
    """Whether an array may be a parameter: shapes and axes, which are integers, have to be known."""
    return array.dtype != np.int64


def _arrays(graph: onnx.GraphProto) -> dict[str, np.ndarray]:
    """The initializers, by their names in the model. Fails: RM109, RM501."""
    if graph.sparse_initializer:
        raise fail(UNSUPPORTED_OP, "sparse initializers of ONNX are not supported")
    return {one.name: array_of(one) for one in graph.initializer}


def _identifier(name: str) -> str:
    spelled = "".join(one if one.isascii() and one.isalnum() else "_" for one in name)
    return spelled if spelled.isidentifier() else f"_{spelled}"


def _attributes(node: onnx.NodeProto) -> dict[str, object]:
    return {one.name: _attribute(one) for one in node.attribute}


def _attribute(given: onnx.AttributeProto) -> object:
    """The value of an attribute. Fails: RM501 where a graph within a node refers to an attribute of a function."""
    if given.ref_attr_name:
        message = f"the attribute `{given.name}`, which is `{given.ref_attr_name}` of a function around the graph,"
        raise fail(UNSUPPORTED_OP, f"{message} is not supported")
    return _attribute_value(given)


def _attribute_value(given: onnx.AttributeProto) -> object:
    """A number, a text, a tuple of them, a constant; graphs as they are."""
    value = onnx.helper.get_attribute_value(given)
    match value:
        case bytes():
            return value.decode("utf-8", "replace")
        case onnx.TensorProto():
            return constant_named(array_of(value), "a constant")
        case int() | float() | onnx.GraphProto() | onnx.SparseTensorProto() | onnx.TypeProto():
            return value
        case _:
            return tuple(one.decode("utf-8", "replace") if isinstance(one, bytes) else one for one in value)


def _type_proto(emitter: Emitter, value: Operand) -> onnx.TypeProto:
    """The type of a value in ONNX's words; an empty one where it is left out."""
    if value is None:
        return onnx.TypeProto()
    ty = emitter.tensor_type(as_tensor(emitter, value) if isinstance(value, SymbolicArray) else value)
    shape = [one.value if isinstance(one, tir.IntImm) else None for one in ty.shape or ()]
    return onnx.helper.make_tensor_type_proto(_number_of(ty), shape)


def _number_of(ty: TensorType) -> int:
    return NUMBERS[str(ty.dtype)]
