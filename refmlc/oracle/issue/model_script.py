"""A program with TVM and ONNX alone that imports a model, and prints both results.

The model stands in it as `onnx.parser` reads it, where that reads the same model; else as bytes, in base64: ONNX prints
numbers with few digits, and no text of some of them.
"""

import base64
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from refmlc.diag.layout import plain
from refmlc.lazy import load
from refmlc.oracle.fuzz.subjects.imports.answer_difference import TOLERANCE

if TYPE_CHECKING:
    from refmlc.oracle.fuzz.subjects.imports.onnx_graphs import OnnxGraph

HEAD = """{imports}

{model}
inputs = {{
{inputs}
}}


def arrays(value):
    if hasattr(value, "numpy"):
        return [value.numpy()]
    if isinstance(value, (bool, int, float, tvm.runtime.ShapeTuple)):
        return [np.array(value if isinstance(value, (bool, int, float)) else list(value), "int64")]
    return [array for each in value for array in arrays(each)]


def same(a, b):
    if a.dtype != b.dtype or a.shape != b.shape:
        return False
    bound = {tolerance}.get(str(a.dtype), 0)
    return np.allclose(a, b, bound, bound / 10, equal_nan=True) if bound else np.array_equal(a, b)


# {note}
expected = {expected}
for each in expected:
    print(f"{framework}: {{each.dtype}}{{list(each.shape)}} {{each.tolist()}}")
executable = tvm.compile({imported}, tvm.target.Target("llvm"))
machine = relax.VirtualMachine(executable, tvm.cpu())
actual = arrays(machine["main"](*map(tvm.runtime.tensor, inputs.values())))
for each in actual:
    print(f"TVM {{tvm.__version__}}: {{each.dtype}}{{list(each.shape)}} {{each.tolist()}}")
raise SystemExit(0 if len(actual) == len(expected) and all(map(same, actual, expected)) else 1)
"""

IMPORTS = """import {packages}

import numpy as np
import onnx
import onnx.parser
import tvm
from numpy import inf, nan
from onnx.reference import ReferenceEvaluator
from tvm import relax
from tvm.relax.frontend.onnx import from_onnx"""


def model_text(graph: "OnnxGraph") -> str:
    """The model as ONNX prints it."""
    text: str = load("onnx.printer:to_text")(graph.model())
    return "\n".join(line.rstrip() for line in text.strip("\n").split("\n"))


def model_script(graph: "OnnxGraph", message: str) -> str:
    """The program. `message`: what is wrong, which it has as a comment."""
    text, model = model_text(graph), graph.model()
    if reads_alike(text, model):
        packages, expression = "ml_dtypes  # names of small floats", f"onnx.parser.parse_model({_quoted(text)})"
    else:
        data = base64.b64encode(model.SerializeToString()).decode()
        packages, expression = "base64", f'onnx.load_from_string(base64.b64decode("{data}"))'
    return HEAD.format(
        imports=IMPORTS.format(packages=packages),
        model=f"model = {expression}",
        inputs=input_lines(graph.arguments),
        tolerance=TOLERANCE,
        note=note(message),
        expected="[np.asarray(each) for each in ReferenceEvaluator(model).run(None, inputs)]",
        framework="ONNX {onnx.__version__}",
        imported="from_onnx(model)",
    )


def input_lines(arguments: Mapping[str, np.ndarray]) -> str:
    """The items of a table of arguments by name."""
    return "\n".join(f"    {name!r}: {array_text(array)}," for name, array in arguments.items())


def array_text(array: np.ndarray) -> str:
    """An expression of NumPy that is the array."""
    return f'np.array({array.ravel().tolist()}, "{array.dtype}").reshape({array.shape})'


def note(message: str) -> str:
    """What is wrong, as a comment of one line."""
    return plain(message.partition("\n")[0])


def _quoted(text: str) -> str:
    """A literal of Python: of several lines where no character of the text needs another spelling."""
    is_plain = "\\" not in text and "'''" not in text and all(line.isprintable() for line in text.split("\n"))
    return f"'''\n{text}\n'''" if is_plain else repr(text)


def reads_alike(text: str, model: Any) -> bool:  # noqa: ANN401 - ONNX has no types
    """Whether `onnx.parser` reads the model in a text: nodes, attributes, constants and inputs, bit by bit."""
    try:
        parsed = load("onnx.parser:parse_model")(text)
    except MemoryError:
        raise
    except Exception:  # noqa: BLE001 - ONNX raises anything
        return False
    return _parts(parsed) == _parts(model)


def _parts(model: Any) -> list[object]:  # noqa: ANN401 - as above
    graph, value = model.graph, load("onnx.helper:get_attribute_value")
    array = load("onnx.numpy_helper:to_array")
    nodes = [
        (
            node.domain,
            node.op_type,
            list(node.input),
            list(node.output),
            sorted((each.name, each.type, _bits(value(each), array)) for each in node.attribute),
        )
        for node in graph.node
    ]
    constants = {each.name: _bits(each, array) for each in graph.initializer}
    values = [[each.SerializeToString() for each in ends] for ends in (graph.input, graph.output)]
    opsets = [(each.domain, each.version) for each in model.opset_import]
    return [model.ir_version, opsets, nodes, constants, values]


def _bits(value: Any, array: Any) -> str:  # noqa: ANN401 - as above
    """A value of an attribute or a constant as text: no two have the same."""
    if hasattr(value, "raw_data"):
        values = array(value)
        return f"{values.dtype} {values.shape} {values.tobytes().hex()}"
    return repr(list(value) if not isinstance(value, (bytes, str, int, float)) else value)
