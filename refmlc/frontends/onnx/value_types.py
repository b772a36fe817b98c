"""The types of values in ONNX's words, which the function bodies of some operators depend on."""

import onnx

from refmlc.frontends.emitter import Emitter, Operand
from refmlc.frontends.onnx.arrays import NUMBERS
from refmlc.frontends.onnx.constant_values import Foreseen, SymbolicArray
from refmlc.frontends.onnx.sequences import Nothing, TensorSequence
from refmlc.lang.dtypes.storage import dtype_of
from refmlc.lang.ir import tir

FLOAT = 1


def type_of(e: Emitter, value: Operand) -> onnx.TypeProto:
    """The type of a value; an empty one where it is left out."""
    helper = onnx.helper
    match value:
        case None | Nothing():
            return onnx.TypeProto()
        case TensorSequence(items):
            element = type_of(e, items[0]) if items else helper.make_tensor_type_proto(FLOAT, None)
            return helper.make_sequence_type_proto(element)
        case SymbolicArray(items, dtype):
            return helper.make_tensor_type_proto(NUMBERS[str(dtype)], items.shape)
        case Foreseen(array):
            return helper.make_tensor_type_proto(NUMBERS[str(dtype_of(array.dtype))], array.shape)
    ty = e.tensor_type(value)
    shape = [extent.value if isinstance(extent, tir.IntImm) else None for extent in ty.shape or ()]
    return helper.make_tensor_type_proto(NUMBERS[str(ty.dtype)], shape)
