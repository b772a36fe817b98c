"""Binding parameters: some parameters of a function become constants of the module."""

from collections.abc import Mapping

import numpy as np

from refmlc.diag import Span, fail
from refmlc.diag.catalogue import BAD_INPUT, BAD_USAGE
from refmlc.diag.entry import entry_point
from refmlc.lang.dtypes import INT64
from refmlc.lang.dtypes.storage import storage_dtype
from refmlc.lang.ir import IRModule, relax, tir
from refmlc.lang.ir.node import Node
from refmlc.lang.ir.types import TensorType
from refmlc.lang.ir.visit import rewrite, substitute
from refmlc.lang.ops.evaluate import known
from refmlc.run.dims import Dims, bind_dims
from refmlc.run.memory.tensor import Tensor
from refmlc.vm.arguments import Parameter, accept


@entry_point
def bind_params(module: IRModule, func_name: str, params: Mapping[str, object]) -> IRModule:
    """`module` with parameters of the Relax function `func_name` replaced by constants.

    `params` gives arrays (NumPy, `Tensor`, DLPack) by the names of parameters; they are copied. Symbolic dimensions
    that become known are replaced by their numbers, as TVM's BindParams does; other functions stay as they are.

    Fails: RM112 (no such Relax function), RM111 (no such parameter, a shape or dtype that does not fit, a symbolic
    dimension with two values).
    """
    function = module.functions.get(func_name)
    if not isinstance(function, relax.Function):
        raise fail(BAD_USAGE, f"the module has no Relax function `{func_name}`")
    names = {var.name: var for var in function.params}
    for name in params:
        if name not in names:
            message = f"`{func_name}` has no parameter `{name}`"
            raise fail(BAD_INPUT, message, function.span, f"its parameters: {', '.join(names)}")
    bound = [var for var in function.params if var.name in params]
    for var in bound:
        if not isinstance(var.ty, TensorType):
            raise fail(
                BAD_INPUT, f"`{var.name}` of `{func_name}` is not a tensor: it cannot become a constant", var.span
            )
    parameters = [Parameter(var.name, var.ty, var.span) for var in bound]
    values = accept(func_name, parameters, [params[var.name] for var in bound])
    dims: Dims = {}
    table: dict[Node, Node] = {}
    for var, value in zip(bound, values, strict=True):
        if isinstance(value, Tensor) and isinstance(var.ty, TensorType):
            bind_dims(var.ty.shape, value.shape, dims)
            table[var] = constant_of(value, var.span)
    for dim, size in dims.items():
        table[dim] = tir.IntImm(dim.dtype, size, span=dim.span)
    function = relax.Function(
        tuple(var for var in function.params if var.name not in params),
        function.body,
        function.ret_ty,
        function.pure,
        function.private,
        function.attrs,
        span=function.span,
    )
    result = rewrite(substitute(function, table), _folded)
    functions = {**module.functions, func_name: result}
    return IRModule(functions, module.attrs, module.global_infos, module.name, module.source, span=module.span)


def constant_of(value: Tensor, span: Span | None) -> relax.Constant:
    """A constant with a copy of the elements of `value`."""
    data = np.array(value.array, dtype=storage_dtype(value.dtype), order="C")
    data.flags.writeable = False
    return relax.Constant(data, value.dtype, span=span)


def _folded(node: Node) -> Node:
    """An expression of dimensions that are now numbers, as its value."""
    if isinstance(node, tir.Apply) and node.dtype == INT64 and all(isinstance(arg, tir.IntImm) for arg in node.args):
        value = known(node)
        return node if value is None else tir.IntImm(INT64, value, span=node.span)
    return node
