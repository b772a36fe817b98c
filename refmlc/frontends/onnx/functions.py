"""What ONNX or the model itself defines an operator with: a function body, which is a list of nodes."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import onnx

from refmlc.diag import fail
from refmlc.diag.catalogue import UNSUPPORTED_OP


@dataclass(frozen=True)
class Definition:
    """The nodes of a function; names of inputs and outputs are those of its own."""

    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    nodes: tuple[onnx.NodeProto, ...]
    opsets: Mapping[str, int]


class Definitions:
    """Function bodies by operator: the model's own functions first, then those of ONNX."""

    DEPTH = 16
    """How deep functions may call functions: a model's own might call themselves."""

    def __init__(self, model: onnx.ModelProto) -> None:
        """Look at the functions of `model`."""
        self.opsets: Mapping[str, int] = _opsets(model.opset_import)
        self._own = {(function.domain, function.name): function for function in model.functions}

    def of(self, node: onnx.NodeProto, opsets: Mapping[str, int], types: Sequence[onnx.TypeProto]) -> Definition | None:
        """The body of what `node` calls; None where there is none. Fails: RM501 for attributes of graphs."""
        own = self._own.get((node.domain, node.op_type))
        function = _of_onnx(node, opsets, types) if own is None else own
        if function is None:
            return None
        values = {item.name: item for item in node.attribute}
        schema = _schema(node, opsets) if own is None else None
        declared = {} if schema is None else schema.attributes
        defaults = {name: value.default_value for name, value in declared.items() if value.default_value.name}
        defaults |= {item.name: item for item in function.attribute_proto}
        unknown = values.keys() - set(function.attribute) - defaults.keys() - declared.keys()
        if unknown:
            raise fail(UNSUPPORTED_OP, f"attribute `{min(unknown)}` of `{node.op_type}` is not supported")
        nodes = tuple(_resolved(item, defaults | values) for item in function.node)
        inner = {**opsets, **_opsets(function.opset_import)}
        return Definition(tuple(function.input), tuple(function.output), nodes, inner)


def _opsets(imports: Sequence[onnx.OperatorSetIdProto]) -> dict[str, int]:
    return {"" if item.domain == "ai.onnx" else item.domain: item.version for item in imports}


def _schema(node: onnx.NodeProto, opsets: Mapping[str, int]) -> "onnx.defs.OpSchema | None":
    domain = "" if node.domain == "ai.onnx" else node.domain
    try:
        return onnx.defs.get_schema(node.op_type, opsets.get(domain, 1), domain)
    except onnx.defs.SchemaError:
        return None


def has_definition(domain: str, operator: str) -> bool:
    """Whether ONNX defines an operator, in its newest version, by others."""
    schema = onnx.defs.get_schema(operator, domain)
    return bool(schema.has_function or schema.has_context_dependent_function)


def _of_onnx(
    node: onnx.NodeProto, opsets: Mapping[str, int], types: Sequence[onnx.TypeProto]
) -> onnx.FunctionProto | None:
    """The body that ONNX gives an operator, of the newest version that the model's operators include."""
    schema = _schema(node, opsets)
    if schema is None:
        return None
    version = opsets.get("" if node.domain == "ai.onnx" else node.domain, 1)
    if schema.has_function:
        fitting = [item for item in schema.function_opset_versions if item <= version]
        if fitting:
            return _read(schema.get_function_with_opset_version(max(fitting)))
    if schema.has_context_dependent_function:
        fitting = [item for item in schema.context_dependent_function_opset_versions if item <= version]
        if fitting:
            inputs = [item.SerializeToString() for item in types]
            body = schema.get_context_dependent_function_with_opset_version(
                max(fitting), node.SerializeToString(), inputs
            )
            return _read(body) if body else None
    return None


def _read(serialized: bytes) -> onnx.FunctionProto:
    function = onnx.FunctionProto()
    function.ParseFromString(serialized)
    return function


def _resolved(node: onnx.NodeProto, attributes: Mapping[str, onnx.AttributeProto]) -> onnx.NodeProto:
    """A node of a body, its references to the function's attributes replaced; those that are not given are left out."""
    if not any(item.ref_attr_name for item in node.attribute):
        return node
    copy = onnx.NodeProto()
    copy.CopyFrom(node)
    del copy.attribute[:]
    for entry in node.attribute:
        if not entry.ref_attr_name:
            copy.attribute.append(entry)
        elif entry.ref_attr_name in attributes:
            value = onnx.AttributeProto()
            value.CopyFrom(attributes[entry.ref_attr_name])
            value.name = entry.name
            copy.attribute.append(value)
    return copy
