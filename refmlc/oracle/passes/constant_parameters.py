"""Constants of a module as parameters: TVM 0.27 cannot print a tensor constant once its operators are lowered.

Only the functions that are called from outside get parameters; no pass of TVM's default pipeline looks into a constant.
Constants that stay in private functions make later stages unsupported.
"""

from dataclasses import replace

from refmlc.lang.dtypes import INT64
from refmlc.lang.ir import IRModule, relax, tir
from refmlc.lang.ir.node import Node
from refmlc.lang.ir.types import TensorType
from refmlc.lang.ir.visit import substitute, walk
from refmlc.run.memory.tensor import Tensor

Constants = dict[str, tuple[Tensor, ...]]


def lifted(module: IRModule) -> tuple[IRModule, Constants]:
    """`module` with tensor constants of public Relax functions as parameters at the end; their values by function."""
    functions = dict(module.functions)
    constants: Constants = {}
    for name, function in module.functions.items():
        if isinstance(function, relax.Function) and not function.private:
            functions[name], values = _lifted(function)
            if values:
                constants[name] = values
    if not constants:
        return module, constants
    return replace(module, functions=functions, source=None), constants


def _lifted(function: relax.Function) -> tuple[relax.Function, tuple[Tensor, ...]]:
    constants = [node for node in walk(function.body) if isinstance(node, relax.Constant) and node.data.ndim]
    taken = {node.name for node in walk(function) if isinstance(node, relax.Var)}
    table: dict[Node, Node] = {}
    for constant in constants:
        name = next(f"constant_{n}" for n in range(len(taken) + 1) if f"constant_{n}" not in taken)
        taken.add(name)
        shape = tuple(tir.IntImm(INT64, extent) for extent in constant.data.shape)
        kind = TensorType(shape, constant.dtype)
        table[constant] = relax.Var(name, kind, span=constant.span)
    params = (*function.params, *(var for var in table.values() if isinstance(var, relax.Var)))
    values = tuple(Tensor.from_numpy(constant.data, constant.dtype) for constant in constants)
    return replace(function, params=params, body=substitute(function.body, table)), values
