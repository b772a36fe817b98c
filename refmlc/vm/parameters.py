"""The parameters of the functions of a module, by name and type.

A buffer parameter of a prim_func has two names, the handle's and the buffer's. Its name is the buffer's; the handle's
is accepted too unless another parameter has it.
"""

from refmlc.lang.ir import relax, tir
from refmlc.lang.ir.statements import stored_buffers
from refmlc.lang.ir.types import PrimType, TensorType
from refmlc.lang.ir.visit import walk
from refmlc.vm.arguments import Parameter


def parameters_of(function: "tir.PrimFunc | relax.Function") -> list[Parameter]:
    """The parameters of a function, in order."""
    if isinstance(function, relax.Function):
        return [Parameter(var.name, var.ty, var.span, compact=True) for var in function.params]
    written = stored_buffers(function.body)
    return [_prim_parameter(var, function.buffer_map.get(var), written) for var in function.params]


def size_names(function: "tir.PrimFunc | relax.Function") -> list[str]:
    """The names of the symbolic dimensions of the parameters, in order."""
    types = [parameter.ty for parameter in parameters_of(function)]
    extents = [extent for ty in types if isinstance(ty, TensorType) and ty.shape is not None for extent in ty.shape]
    variables = [node for extent in extents for node in walk(extent) if isinstance(node, tir.Var)]
    return list(dict.fromkeys(var.name for var in variables))


def aliases(function: "tir.PrimFunc | relax.Function") -> dict[str, str]:
    """The name of the buffer by the name of its handle, unless a parameter has the latter."""
    if isinstance(function, relax.Function):
        return {}
    names = {parameter.name for parameter in parameters_of(function)}
    return {var.name: buffer.name for var, buffer in function.buffer_map.items() if var.name not in names}


def _prim_parameter(var: tir.Var, buffer: tir.Buffer | None, written: set[tir.Buffer]) -> Parameter:
    if buffer is None:
        return Parameter(var.name, PrimType(var.dtype), var.span)
    return Parameter(buffer.name, TensorType(buffer.shape, buffer.dtype), buffer.span, buffer in written)
