"""Whether a program only has operators whose results are exact, so that an implementation must give the same bits.

| part                                              | exact                                                          |
|---------------------------------------------------|----------------------------------------------------------------|
| an operator on integers, or with `Accuracy.EXACT` | yes                                                            |
| a float operator that is rounded, within ulps     | no                                                             |
| a cast                                            | yes: it rounds once, to its dtype (NUM-704)                    |
| an instruction of PTX                             | yes, where it is no approximation (PTX-019)                    |
| a float reduction in a block with reduce axes     | no: its order is free, which max and min tell by zeros and NaN |
"""

from refmlc.lang.ir import IRModule, tir
from refmlc.lang.ir.kinds import IterKind
from refmlc.lang.ir.visit import walk
from refmlc.lang.ops.contract import Accuracy
from refmlc.lang.ops.scalar import SCALAR_OPS
from refmlc.observe.bounds.instructions import is_approximation
from refmlc.run.interp.ptx.stores import VALUE
from refmlc.run.interp.tirx.kernels import as_loops


def only_exact(module: IRModule) -> bool:
    """Whether every TensorIR function of the module is made of exact operators."""
    return all(_is_exact(func) for func in module.functions.values() if isinstance(func, tir.PrimFunc))


def _is_exact(func: tir.PrimFunc) -> bool:
    for node in walk(as_loops(func).body):
        match node:
            case tir.Apply() if node.dtype.is_float and SCALAR_OPS[node.op].contract.accuracy is not Accuracy.EXACT:
                return False
            case tir.Call(callee=callee) if callee == VALUE:
                if is_approximation(node):
                    return False
            case tir.Call() if node.dtype.is_float:
                return False
            case tir.SBlock() if any(axis.kind is IterKind.REDUCE for axis in node.iter_vars) and _stores_float(node):
                return False
    return True


def _stores_float(block: tir.SBlock) -> bool:
    return any(isinstance(node, tir.BufferStore) and node.buffer.dtype.is_float for node in walk(block.body))
