"""The operators of the graph: the preparation of a call for each row of `refmlc.lang.ops.graph.GRAPH_OPS`."""

from collections.abc import Callable, Mapping
from typing import TypeAlias

from refmlc.diag.catalogue import TYPE_MISMATCH
from refmlc.lang.ir import relax
from refmlc.lang.ops.graph import GRAPH_OPS
from refmlc.run.interp.graph import memory, shapes, values
from refmlc.run.interp.graph.activation import KILLED, Activation, Eval, Scope
from refmlc.run.interp.graph.call_site import Site
from refmlc.run.interp.graph.calls import (
    Plain,
    call_named,
    call_tir,
    call_tir_inplace,
    inplace_indices,
    resolve,
    result_of,
)

Preparation: TypeAlias = Callable[[Scope, relax.Call, Site], Eval]


def prepare_operator(scope: Scope, node: relax.Call, name: str) -> Eval:
    """A call of operator `name`, which has a row. Fails: RM206."""
    site = Site(scope.machine, name, node.span)
    site.check_arity(GRAPH_OPS[name], len(node.args))
    return OPERATORS[name](scope, node, site)


def _on_values(function: Plain) -> Preparation:
    """The operator that calls `function` with the values of its arguments."""

    def prepare(scope: Scope, node: relax.Call, site: Site) -> Eval:
        operands = scope.exprs(node.args)
        return lambda env: function(site, *operands(env))

    return prepare


def _on_tuple(function: Plain) -> Preparation:  # RLX-211, RLX-212, RLX-213
    """The operator whose second argument is the tuple of further arguments."""

    def prepare(scope: Scope, node: relax.Call, site: Site) -> Eval:
        callee, arguments = (scope.expr(arg) for arg in node.args)
        return lambda env: function(site, callee(env), *site.tuple(arguments(env)))

    return prepare


def _reshape(scope: Scope, node: relax.Call, site: Site) -> Eval:  # RLX-241
    """An extent that the text says to be 0 is that of the same axis of the tensor."""
    tensor, target = (scope.expr(arg) for arg in node.args)
    kept_axes = relax.kept_axes(node)
    return lambda env: shapes.reshape(site, tensor(env), target(env), kept_axes)


def _call_packed(scope: Scope, node: relax.Call, site: Site) -> Eval:  # RLX-205, RLX-206
    """The first argument names the function, the others are its arguments."""
    callee, *args = node.args
    if not isinstance(callee, relax.ExternFunc):
        raise site.failure(TYPE_MISMATCH, f"`{site.name}` calls a packed function by name")
    outputs = () if site.name == "call_pure_packed" else inplace_indices(node)
    return call_named(scope, node, callee.symbol, tuple(args), outputs)


def _call_with_tuple(scope: Scope, node: relax.Call, operator: Site) -> Eval:  # RLX-207, RLX-208
    """The first argument names the function, the second is the tuple of its arguments."""
    match node.args:
        case (relax.ExternFunc(symbol) | relax.StringImm(symbol), arguments):
            operands, site = scope.expr(arguments), Site(scope.machine, symbol, node.span)
        case _:
            raise operator.failure(TYPE_MISMATCH, f"`{operator.name}` calls a function by name")

    def call(env: Activation) -> object:
        return result_of(site, resolve(site)(site.tuple(operands(env))), node.ty_args, env)

    return call


def _kill(scope: Scope, node: relax.Call, _site: Site) -> Eval:  # RLX-304
    """End a variable; the memory lives on while another value lies in it."""
    match node.args[0]:
        case relax.Var() as var:

            def kill(env: Activation) -> None:
                env.held(var, node.span)
                env.values[var] = KILLED

            return kill
        case other:
            return scope.expr(other)


OPERATORS: Mapping[str, Preparation] = {
    "call_tir": call_tir,
    "call_tir_inplace": call_tir_inplace,
    "call_tir_with_grad": call_tir,
    "call_dps_packed": call_tir,
    "call_pure_packed": _call_packed,
    "call_inplace_packed": _call_packed,
    "call_py_func": _call_with_tuple,
    "call_builtin_with_ctx": _call_with_tuple,
    "make_closure": _on_tuple(values.make_closure),
    "invoke_closure": _on_tuple(values.invoke_closure),
    "invoke_pure_closure": _on_tuple(values.invoke_closure),
    "vm.call_tir_dyn": _on_tuple(values.call_tir_dyn),
    "null_value": _on_values(values.null),
    "print": _on_values(values.write),
    "assert_op": _on_values(values.check),
    "to_vdevice": _on_values(values.same),
    "hint_on_device": _on_values(values.same),
    "builtin.stop_lift_params": _on_values(values.same),
    "shape_of": _on_values(shapes.shape_of),
    "tensor_to_shape": _on_values(shapes.tensor_to_shape),
    "shape_to_tensor": _on_values(shapes.shape_to_tensor),
    "inspect.tensor_stride_i": _on_values(shapes.stride_i),
    "inspect.tensor_byte_offset": _on_values(shapes.byte_offset),
    "inspect.tensor_elem_offset": _on_values(shapes.elem_offset),
    "inspect.tensor_dtype_code": _on_values(shapes.dtype_code),
    "inspect.tensor_dtype_bits": _on_values(shapes.dtype_bits),
    "inspect.tensor_dtype_lanes": _on_values(shapes.dtype_lanes),
    "inspect.tensor_ndim": _on_values(shapes.ndim),
    "inspect.tensor_shape_i": _on_values(shapes.shape_i),
    "reshape": _reshape,
    "builtin.alloc_tensor": _on_values(memory.alloc_tensor),
    "memory.alloc_storage": _on_values(memory.memory_alloc_storage),
    "vm.alloc_storage": _on_values(memory.vm_alloc_storage),
    "memory.alloc_tensor": _on_values(memory.storage_tensor),
    "vm.alloc_tensor": _on_values(memory.storage_tensor),
    "memory.kill_storage": _kill,
    "memory.kill_tensor": _kill,
    "vm.kill_object": _kill,
    "memory.view": _on_values(memory.view),
    "memory.ensure_zero_offset": _on_values(memory.ensure_zero_offset),
}
