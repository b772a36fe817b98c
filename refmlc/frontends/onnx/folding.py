"""Nodes whose inputs are all known are computed while the model is imported too, by ONNX's own reference evaluator.

Only what may say a shape, an axis or a limit is computed so: few elements, of few operators. Where the module needs
the tensor, it computes it itself, by the rule of the operator.
"""

from collections.abc import Sequence

import numpy as np
import onnx
from onnx.reference import ReferenceEvaluator

from refmlc.frontends.emitter import Operand
from refmlc.frontends.onnx.constant_values import elements
from refmlc.lang.dtypes import SCALARS

MOST = 256
FOLLOWED = frozenset(
    (
        *("Abs", "Add", "And", "ArgMax", "ArgMin", "Cast", "CastLike", "Ceil", "Clip", "Concat", "ConstantOfShape"),
        *(
            "CumSum",
            "Div",
            "Equal",
            "Exp",
            "Expand",
            "Flatten",
            "Floor",
            "Gather",
            "GatherElements",
            "GatherND",
            "Greater",
        ),
        *(
            "GreaterOrEqual",
            "Identity",
            "IsInf",
            "IsNaN",
            "Less",
            "LessOrEqual",
            "Log",
            "Max",
            "Mean",
            "Min",
            "Mod",
            "Mul",
        ),
        *("Neg", "NonZero", "Not", "Or", "Pow", "Range", "Reciprocal", "ReduceMax", "ReduceMean", "ReduceMin"),
        *(
            "ReduceProd",
            "ReduceSum",
            "Relu",
            "Reshape",
            "Round",
            "ScatterElements",
            "ScatterND",
            "Shape",
            "Sign",
            "Size",
            "Slice",
        ),
        *("Split", "Sqrt", "Squeeze", "Sub", "Sum", "Tile", "TopK", "Transpose", "Unsqueeze", "Where", "Xor"),
    )
)
"""The operators that numbers are followed through. None has an attribute that says how large a result is."""
GROWING = frozenset({"ConstantOfShape", "Expand", "Range", "Tile"})
"""Operators whose result is as large as an element of an input says: a number in a hostile model."""
PLAIN = frozenset("biuf")


def foreseen(node: onnx.NodeProto, inputs: Sequence[Operand], opset: int) -> list[np.ndarray | None] | None:
    """The outputs of a node whose inputs are known; None where they are not, or not to be computed here."""
    if node.op_type not in FOLLOWED:
        return None
    arrays = [elements(value) for value in inputs]
    if not inputs or any(array is None and value is not None for array, value in zip(arrays, inputs, strict=True)):
        return None
    field = [array for array in arrays if array is not None]
    if any(not _is_plain(array) for array in field) or sum(array.size for array in field) > MOST:
        return None
    if node.op_type in GROWING and any(map(_is_large, field)):
        return None
    values = {name: array for name, array in zip(node.input, arrays, strict=True) if name and array is not None}
    graph = onnx.helper.make_graph(
        [node],
        "node",
        [onnx.helper.make_value_info(name, onnx.TypeProto()) for name in values],
        [onnx.helper.make_value_info(name, onnx.TypeProto()) for name in node.output if name],
    )
    model = onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", opset)])
    try:
        onnx.checker.check_node(node, _context(opset))
        with np.errstate(all="ignore"):
            results = ReferenceEvaluator(model).run(None, values)
    except Exception:  # noqa: BLE001 - the evaluator raises whatever NumPy does: the rule, if any, speaks then
        return None
    if not all(isinstance(result, np.ndarray | np.generic) for result in results):
        return None
    outputs = iter([np.asarray(result) for result in results])
    every = [next(outputs) if name else None for name in node.output]
    if any(item is not None and (not _is_plain(item) or item.size > MOST) for item in every):
        return None
    return every


def _context(opset: int) -> "onnx.checker.C.CheckerContext":
    context = onnx.checker.C.CheckerContext()
    context.ir_version = onnx.IR_VERSION
    context.opset_imports = {"": opset}
    return context


def _is_plain(array: np.ndarray) -> bool:
    """Whether the elements are numbers, those of small dtypes among them."""
    return array.dtype.kind in PLAIN or array.dtype.name in SCALARS


def _is_large(array: np.ndarray) -> bool:
    """Whether a result could have more than `MOST` elements by the numbers of an input."""
    sizes = np.maximum(np.abs(array.astype(np.float64)), 1.0)
    return not bool(np.prod(sizes) <= MOST)
