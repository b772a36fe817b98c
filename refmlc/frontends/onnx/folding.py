"""Nodes whose inputs are all known are computed while the model is imported, by ONNX's own reference evaluator.

Only what may say a shape, an axis or a limit is computed so: few elements, nothing random, no subgraphs.
"""

from collections.abc import Sequence

import numpy as np
import onnx
from onnx.reference import ReferenceEvaluator

from refmlc.frontends.arrays import constant
from refmlc.frontends.emitter import Operand
from refmlc.frontends.onnx.constant_values import SymbolicArray, is_symbolic
from refmlc.lang.ir import relax

MOST = 256
RANDOM = frozenset(
    {"Bernoulli", "Dropout", "Multinomial", "RandomNormal", "RandomNormalLike", "RandomUniform", "RandomUniformLike"}
)
GROWING = frozenset(
    (
        *("BlackmanWindow", "CenterCropPad", "Col2Im", "ConstantOfShape", "Expand", "HammingWindow", "HannWindow"),
        *("MelWeightMatrix", "OneHot", "Pad", "Range", "Resize", "Tile", "Upsample"),
    )
)
"""Operators whose result is as large as an element of an input says: a number in a hostile model."""
PLAIN = frozenset("biuf")


def folded(node: onnx.NodeProto, inputs: Sequence[Operand], opset: int) -> Operand:
    """The outputs of a node whose inputs are known; None where they are not, or not to be computed here."""
    if node.op_type in RANDOM or any(one.type in (one.GRAPH, one.GRAPHS) for one in node.attribute):
        return None
    if not inputs or any(is_symbolic(value) for value in inputs):
        return None
    arrays = [_array(value) for value in inputs]
    if any(array is None and value is not None for array, value in zip(arrays, inputs, strict=True)):
        return None
    if sum(array.size for array in arrays if array is not None) > MOST:
        return None
    if node.op_type in GROWING and any(_is_large(array) for array in arrays if array is not None):
        return None
    given = {name: array for name, array in zip(node.input, arrays, strict=True) if name and array is not None}
    graph = onnx.helper.make_graph(
        [node],
        "node",
        [onnx.helper.make_value_info(name, onnx.TypeProto()) for name in given],
        [onnx.helper.make_value_info(name, onnx.TypeProto()) for name in node.output if name],
    )
    model = onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", opset)])
    try:
        with np.errstate(all="ignore"):
            results = ReferenceEvaluator(model).run(None, given)
    except Exception:  # noqa: BLE001 - the evaluator raises whatever NumPy does: the rule, if any, speaks then
        return None
    if not all(isinstance(one, np.ndarray | np.generic) for one in results):
        return None
    arrays_out = iter([np.asarray(one) for one in results])
    outputs = [next(arrays_out) if name else None for name in node.output]
    if any(one is not None and (one.dtype.kind not in PLAIN or one.size > MOST) for one in outputs):
        return None
    constants = tuple(None if one is None else constant(one) for one in outputs)
    return constants[0] if len(constants) == 1 else constants


def _is_large(array: np.ndarray) -> bool:
    """Whether a result could have more than `MOST` elements by the numbers of an input."""
    sizes = np.maximum(np.abs(array.astype(np.float64)), 1.0)
    return not bool(np.prod(sizes) <= MOST)


def _array(value: Operand) -> np.ndarray | None:
    if isinstance(value, relax.Constant) and value.data.dtype.kind in PLAIN:
        return value.data
    if isinstance(value, SymbolicArray):
        return value.items.astype(np.int64)
    return None
