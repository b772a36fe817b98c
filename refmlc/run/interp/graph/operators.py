"""The operators of the graph: the preparation of a call for each row of `refmlc.lang.ops.graph.GRAPH_OPS`."""

from collections.abc import Callable, Mapping

from refmlc.diag import fail
from refmlc.diag.catalogue import TYPE_MISMATCH
from refmlc.lang.ir import relax
from refmlc.lang.ops.graph import GRAPH_OPS
from refmlc.run.interp.graph import memory, shapes, values
from refmlc.run.interp.graph.activation import KILLED, Activation, Eval, Scope
from refmlc.run.interp.graph.named import Plain, call_named, check_arity, resolve, result_of
from refmlc.run.interp.graph.operands import Site
from refmlc.run.interp.graph.outputs import call_tir, call_tir_inplace, inplace_indices

Operator = Callable[[Scope, relax.Call, str], Eval]


def prepare_operator(scope: Scope, node: relax.Call, name: str) -> Eval:
    """A call of operator `name`, which has a row. Fails: RM206."""
    check_arity(Site(scope.machine, name, node.span), GRAPH_OPS[name], len(node.args))
    return OPERATORS[name](scope, node, name)


def plain(function: Plain) -> Operator:
    """The operator that calls `function` with the values of its arguments."""

    def prepare(scope: Scope, node: relax.Call, name: str) -> Eval:
        operands, site = scope.exprs(node.args), Site(scope.machine, name, node.span)
        return lambda env: function(site, *operands(env))

    return prepare


def _reshape(scope: Scope, node: relax.Call, name: str) -> Eval:  # RLX-241
    """An extent that the text says to be 0 is that of the same axis of the tensor."""
    tensor, target = (scope.expr(arg) for arg in node.args)
    site, kept = Site(scope.machine, name, node.span), relax.kept_axes(node)
    return lambda env: shapes.reshape(site, tensor(env), target(env), kept)


def _call_tir(scope: Scope, node: relax.Call, _name: str) -> Eval:
    return call_tir(scope, node)


def _call_tir_inplace(scope: Scope, node: relax.Call, _name: str) -> Eval:
    return call_tir_inplace(scope, node)


def _call_packed(scope: Scope, node: relax.Call, name: str) -> Eval:  # RLX-205, RLX-206
    """The first argument names the function, the others are its arguments."""
    callee, *args = node.args
    if not isinstance(callee, relax.ExternFunc):
        raise fail(TYPE_MISMATCH, f"`{name}` calls a packed function by name", node.span)
    outputs = () if name == "call_pure_packed" else inplace_indices(node)
    return call_named(scope, node, callee.symbol, tuple(args), outputs)


def _call_with_tuple(scope: Scope, node: relax.Call, name: str) -> Eval:  # RLX-207, RLX-208
    """The first argument names the function, the second is the tuple of its arguments."""
    match node.args:
        case (relax.ExternFunc(symbol) | relax.StringImm(symbol), arguments):
            operands, site = scope.expr(arguments), Site(scope.machine, symbol, node.span)
        case _:
            raise fail(TYPE_MISMATCH, f"`{name}` calls a function by name", node.span)

    def call(env: Activation) -> object:
        return result_of(site, resolve(site)(site.tuple(operands(env))), node.ty_args, env)

    return call


def _on_tuple(function: Plain) -> Operator:  # RLX-211, RLX-212, RLX-213
    """The operator whose second argument is the tuple of further arguments."""

    def prepare(scope: Scope, node: relax.Call, name: str) -> Eval:
        callee, arguments = (scope.expr(arg) for arg in node.args)
        site = Site(scope.machine, name, node.span)
        return lambda env: function(site, callee(env), *site.tuple(arguments(env)))

    return prepare


def _kill(scope: Scope, node: relax.Call, _name: str) -> Eval:  # RLX-304
    """End a variable; the memory lives on while another value lies in it."""
    match node.args[0]:
        case relax.Var() as var:

            def kill(env: Activation) -> None:
                env.value(var, node.span)
                env.values[var] = KILLED

            return kill
        case other:
            return scope.expr(other)


OPERATORS: Mapping[str, Operator] = {
    "call_tir": _call_tir,
    "call_tir_inplace": _call_tir_inplace,
    "call_tir_with_grad": _call_tir,
    "call_dps_packed": _call_tir,
    "call_pure_packed": _call_packed,
    "call_inplace_packed": _call_packed,
    "call_py_func": _call_with_tuple,
    "call_builtin_with_ctx": _call_with_tuple,
    "make_closure": _on_tuple(values.make_closure),
    "invoke_closure": _on_tuple(values.invoke_closure),
    "invoke_pure_closure": _on_tuple(values.invoke_closure),
    "vm.call_tir_dyn": _on_tuple(values.call_tir_dyn),
    "null_value": plain(values.null),
    "print": plain(values.write),
    "assert_op": plain(values.check),
    "to_vdevice": plain(values.same),
    "hint_on_device": plain(values.same),
    "builtin.stop_lift_params": plain(values.same),
    "shape_of": plain(shapes.shape_of),
    "tensor_to_shape": plain(shapes.tensor_to_shape),
    "shape_to_tensor": plain(shapes.shape_to_tensor),
    "inspect.tensor_stride_i": plain(shapes.stride_i),
    "inspect.tensor_byte_offset": plain(shapes.byte_offset),
    "inspect.tensor_elem_offset": plain(shapes.elem_offset),
    "inspect.tensor_dtype_code": plain(shapes.dtype_code),
    "inspect.tensor_dtype_bits": plain(shapes.dtype_bits),
    "inspect.tensor_dtype_lanes": plain(shapes.dtype_lanes),
    "inspect.tensor_ndim": plain(shapes.ndim),
    "inspect.tensor_shape_i": plain(shapes.shape_i),
    "reshape": _reshape,
    "builtin.alloc_tensor": plain(memory.alloc_tensor),
    "memory.alloc_storage": plain(memory.memory_alloc_storage),
    "vm.alloc_storage": plain(memory.vm_alloc_storage),
    "memory.alloc_tensor": plain(memory.storage_tensor),
    "vm.alloc_tensor": plain(memory.storage_tensor),
    "memory.kill_storage": _kill,
    "memory.kill_tensor": _kill,
    "vm.kill_object": _kill,
    "memory.view": plain(memory.view),
    "memory.ensure_zero_offset": plain(memory.ensure_zero_offset),
}
