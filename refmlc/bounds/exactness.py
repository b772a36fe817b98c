"""Whether a program only has operators whose results are exact, so that an implementation must give the same bits.

| part                                            | exact                                                       |
|-------------------------------------------------|-------------------------------------------------------------|
| an operator on integers, or with `Accuracy.EXACT` | yes                                                       |
| a float operator that is rounded, within ulps   | no                                                          |
| a cast between floats                           | when the target holds every value of the source             |
| a cast of an integer to a float                 | when the target holds every value of the source             |
| a float reduction in a block with reduce axes   | no: its order is free, which max and min tell by zeros and NaN |
"""

from refmlc.dtypes import DType
from refmlc.ir import IRModule, tir
from refmlc.ir.kinds import IterKind
from refmlc.ir.visit import walk
from refmlc.ops.contract import Accuracy
from refmlc.ops.scalar import SCALAR_OPS
from refmlc.ops.scalar.convert import contains


def only_exact(module: IRModule) -> bool:
    """Whether every TensorIR function of the module is made of exact operators."""
    return all(_is_exact(func) for func in module.functions.values() if isinstance(func, tir.PrimFunc))


def _is_exact(func: tir.PrimFunc) -> bool:
    for node in walk(func.body):
        match node:
            case tir.Apply() if node.dtype.is_float and SCALAR_OPS[node.op].contract.accuracy is not Accuracy.EXACT:
                return False
            case tir.Cast() if node.dtype.is_float and not _holds(node.dtype, node.value.dtype):
                return False
            case tir.Call() if node.dtype.is_float:
                return False
            case tir.SBlock() if any(axis.kind is IterKind.REDUCE for axis in node.iter_vars) and _stores_float(node):
                return False
    return True


def _stores_float(block: tir.SBlock) -> bool:
    return any(isinstance(node, tir.BufferStore) and node.buffer.dtype.is_float for node in walk(block.body))


def _holds(target: DType, source: DType) -> bool:
    if source.is_float:
        return target.element == source.element or contains(target, source)
    digits = 1 if source.kind == "bool" else source.bits - (source.kind == "int")
    return target.format.precision >= digits and target.format.maximum >= 2.0**digits
