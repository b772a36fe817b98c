"""The model that a case of `refmlc check` is on, as a report has it: nodes of ONNX, constants, arguments of the case.

| of the model                                              | in the report                                   |
|-----------------------------------------------------------|-------------------------------------------------|
| a node of ONNX's own operators                            | itself; its attributes are numbers and texts    |
| an initializer, a `Constant` with a tensor or numbers     | a constant                                      |
| a graph in a node, a function, an operator of others, a   | nothing: it is refused by name (RM112)          |
| tensor in an attribute, a sparse tensor                   |                                                 |

The case has the inputs, and the user names the model: a file of ONNX. Of a `.pt2` no report is written.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from refmlc.diag import fail
from refmlc.diag.catalogue import BAD_USAGE
from refmlc.lazy import load
from refmlc.oracle.check.model import IMPORTER, Model
from refmlc.oracle.evidence.case_file import CaseFile
from refmlc.oracle.evidence.recorded_model import call_of, tvm_of
from refmlc.oracle.fuzz.subjects.imports import importers
from refmlc.oracle.fuzz.subjects.imports.array_data import array_data
from refmlc.oracle.fuzz.subjects.imports.imported_model import ModelFindingFile
from refmlc.oracle.implementations.frameworks import inputs_of
from refmlc.run.memory.tensor import Tensor

ONNX = ".onnx"
OWN = ("", "ai.onnx")
CONSTANT = "Constant"
NUMBERS = {"value_int": "int64", "value_ints": "int64", "value_float": "float32", "value_floats": "float32"}
PLAIN = ("INT", "FLOAT", "STRING", "INTS", "FLOATS", "STRINGS")


def finding_of_case(case: CaseFile, model: Model) -> ModelFindingFile:
    """The finding of a case on the import of `model`. Fails: RM112 for a model that a report does not have."""
    if model.path.suffix != ONNX:
        raise fail(
            BAD_USAGE,
            f"a report on the import of a model needs one of ONNX, and `{model.path}` is another one",
            None,
            "`refmlc replay FILE --model MODEL` makes the finding again",
        )
    values = call_of(case, model)[0].arguments()[: inputs_of(model.module)]
    arrays = [np.array(value.numpy()) for value in values if isinstance(value, Tensor)]
    data = graph_data(model.imported.model, arrays, str(model.path))
    path = case.implementation if case.implementation.startswith(IMPORTER) else importers.OURS
    return ModelFindingFile(case.id, path, case.code, (), data, tvm_of(case))


def graph_data(model: Any, arguments: Sequence[np.ndarray], name: str) -> Mapping[str, object]:  # noqa: ANN401 - ONNX
    """The graph of the model `name` on `arguments`, as data. Fails: RM112 for what it cannot hold."""
    graph = model.graph
    for kind, there in (("functions", model.functions), ("sparse tensors", graph.sparse_initializer)):
        if there:
            raise fail(BAD_USAGE, f"`{name}` has {kind}, which a report does not have")
    constants = {each.name: load("onnx.numpy_helper:to_array")(each) for each in graph.initializer}
    nodes = []
    for node in graph.node:
        attributes = dict(_attributes(node, name))
        if node.op_type == CONSTANT:
            constants[node.output[0]] = _tensor_of(attributes, name)
        else:
            nodes.append([node.op_type, list(node.input), list(node.output), attributes])
    inputs = [each.name for each in graph.input if each.name not in constants]
    if len(inputs) != len(arguments):
        raise fail(BAD_USAGE, f"`{name}` has {len(inputs)} inputs, and the case {len(arguments)}")
    return {
        "opset": max((each.version for each in model.opset_import if each.domain in OWN), default=1),
        "nodes": nodes,
        "constants": {key: array_data(array) for key, array in constants.items()},
        "arguments": {key: array_data(array) for key, array in zip(inputs, arguments, strict=True)},
        "outputs": [each.name for each in graph.output],
    }


def _attributes(node: Any, name: str) -> Iterator[tuple[str, object]]:  # noqa: ANN401 - a node of ONNX, without types
    """The attributes of a node. Fails: RM112 for one of another kind, and for a node that is not ONNX's own."""
    if node.domain not in OWN:
        message = f"`{name}` has an operator of `{node.domain}`, which a report does not have: `{node.op_type}`"
        raise fail(BAD_USAGE, message)
    value_of = load("onnx.helper:get_attribute_value")
    for attribute in node.attribute:
        kind = load("onnx:AttributeProto").AttributeType.Name(attribute.type)
        value = value_of(attribute)
        try:
            if node.op_type == CONSTANT and kind == "TENSOR":
                yield attribute.name, load("onnx.numpy_helper:to_array")(value)
                continue
            if kind in PLAIN and not attribute.ref_attr_name:
                yield attribute.name, _plain(value)
                continue
        except UnicodeDecodeError:
            pass
        message = f"`{node.op_type}` of `{name}` has an attribute that a report does not have: `{attribute.name}`"
        raise fail(BAD_USAGE, message)


def _tensor_of(attributes: Mapping[str, object], name: str) -> np.ndarray:
    """The value of a `Constant`: a tensor, or numbers, which have the dtype that ONNX gives them. Fails: RM112."""
    for key, value in attributes.items() if len(attributes) == 1 else ():
        if key == "value" and isinstance(value, np.ndarray):
            return value
        if key in NUMBERS:
            return np.asarray(value, NUMBERS[key])
    raise fail(BAD_USAGE, f"a `Constant` of `{name}` has a value that a report does not have")


def _plain(value: object) -> object:
    """The value of an attribute as data: ONNX has bytes for a text, and containers of its own for lists.

    Fails: UnicodeDecodeError for bytes that are no text.
    """
    if isinstance(value, bytes):
        return value.decode()
    return value if isinstance(value, int | float) else [_plain(each) for each in value]  # type: ignore[attr-defined]
