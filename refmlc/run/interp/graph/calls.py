"""Calls of functions: by name, and those that allocate their outputs. RLX-132, RLX-201 … RLX-204.

A name is looked up in this order: functions of the module, by name, then by `global_symbol`; `BY_NAME`, which lowered
programs call; the registry. Decision: the module is first, as in TVM, where what is linked into a module hides what is
registered. The registry has what TVM's runtime ships besides (`refmlc.run.memory.shipped`).

def call_tir(f, args, out):        res = empty(out.shape, out.dtype); f(*args, res); return res
"""

from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

from refmlc.diag import fail
from refmlc.diag.catalogue import (
    ARITY,
    INFO_LIES,
    OUT_OF_BOUNDS,
    PACKED_RESULT,
    SHAPE_MISMATCH,
    TYPE_MISMATCH,
    UNSUPPORTED_CONSTRUCT,
)
from refmlc.lang.ir import IRModule, relax, tir
from refmlc.lang.ir.types import DTensorType, TensorType, TupleType, Type
from refmlc.lang.library.distributed import MESHES
from refmlc.lang.ops.graph import BUILTINS
from refmlc.run.interp.graph import memory, shapes, values
from refmlc.run.interp.graph.activation import Activation, Eval, Scope
from refmlc.run.interp.graph.call_site import DestinationCall, Site
from refmlc.run.interp.graph.memory import fresh
from refmlc.run.interp.graph.type_match import eval_dim, mismatch
from refmlc.run.memory.tensor import Tensor
from refmlc.run.memory.values import PackedFunc

Plain: TypeAlias = Callable[..., object]
Callee: TypeAlias = Callable[[Sequence[object]], object]
DestinationCaller: TypeAlias = Callable[[Callee, Sequence[object], Sequence[object]], object]

BY_NAME: Mapping[str, Plain] = {
    "vm.builtin.alloc_shape_heap": shapes.alloc_shape_heap,
    "vm.builtin.match_shape": shapes.match_shape,
    "vm.builtin.match_prim_value": shapes.match_prim_value,
    "vm.builtin.make_shape": shapes.make_shape,
    "vm.builtin.make_prim_value": shapes.make_prim_value,
    "vm.builtin.check_tensor_info": shapes.check_tensor_info,
    "vm.builtin.check_shape_info": shapes.check_shape_info,
    "vm.builtin.check_prim_value_info": shapes.check_prim_value_info,
    "vm.builtin.check_tuple_info": shapes.check_tuple_info,
    "vm.builtin.check_func_info": shapes.check_func_info,
    "vm.builtin.check_string_info": shapes.check_string_info,
    "vm.builtin.alloc_storage": memory.vm_alloc_storage,
    "vm.builtin.alloc_tensor": memory.storage_tensor,
    "vm.builtin.reshape": shapes.reshape,
    "vm.builtin.shape_of": shapes.shape_of,
    "vm.builtin.tensor_to_shape": shapes.tensor_to_shape,
    "vm.builtin.copy": values.same,
    "vm.builtin.to_device": values.same,
    "vm.builtin.null_value": values.null,
    "vm.builtin.read_if_cond": values.read_if_cond,
    "vm.builtin.tuple_getitem": values.tuple_getitem,
    "vm.builtin.make_tuple": values.make_tuple,
    "vm.builtin.make_closure": values.make_closure,
    "vm.builtin.invoke_closure": values.invoke_closure,
    "vm.builtin.call_tir_dyn": values.call_tir_dyn,
    "vm.builtin.ensure_zero_offset": memory.ensure_zero_offset,
    "runtime.TVMTensorCreateView": memory.view,
    "relax.run.print": values.write,
    "relax.run.assert_op": values.check,
    "relax.run.shape_to_tensor": shapes.shape_to_tensor,
}


# ------------------------------------------------------------------------------------------- by name: RLX-132


def resolve(site: Site) -> Callee:
    """The function with the name `site.name`. Fails: RM402."""
    machine, name, span = site.machine, site.name, site.span
    linked = _linked(machine.module.functions, name)
    if linked is not None:
        return lambda args: machine.call(linked, args, span)
    if name in BY_NAME:
        plain, row = BY_NAME[name], BUILTINS[name]

        def builtin(args: Sequence[object]) -> object:
            site.check_arity(row, len(args))
            return plain(site, *args)

        return builtin
    registered = machine.registry.get_func(name, span)
    return lambda args: registered(args, span)


def call_named(
    scope: Scope, node: relax.Call, name: str, args: tuple[relax.Expr, ...], outputs: tuple[int, ...] | None = None
) -> Eval:
    """`name` called with `args`, its result being of the type that the call says. Fails: RM402 … RM404.

    `outputs` are the arguments that the call promises to write alone (None: it promises nothing); hooks learn of it.
    """
    operands, site = scope.exprs(args), Site(scope.machine, name, node.span)
    trusted = name in BY_NAME and _linked(scope.machine.module.functions, name) is None
    if outputs is None or trusted:
        return lambda env: result_of(site, resolve(site)(operands(env)), node.ty_args, env)
    run = _destination_caller(scope, node)

    def call(env: Activation) -> object:
        function, arguments = resolve(site), operands(env)
        written = tuple([arguments[number] for number in outputs if 0 <= number < len(arguments)])
        return result_of(site, run(function, arguments, written), node.ty_args, env)

    return call


def _destination_caller(scope: Scope, node: relax.Call) -> DestinationCaller:
    """Call a function with its arguments; hooks learn which of them are outputs."""
    hooks = scope.machine.hooks
    if not (hooks.watches("before_destination") or hooks.watches("after_destination")):
        return lambda function, args, _outputs: function(args)

    def watched(function: Callee, args: Sequence[object], outputs: Sequence[object]) -> object:
        destination = DestinationCall(node, function, args, outputs)
        hooks.before_destination(destination)
        result = function(args)
        hooks.after_destination(destination)
        return result

    return watched


def result_of(site: Site, result: object, ty_args: tuple[Type, ...], env: Activation) -> object:
    """`result` of a function from outside, unless the call says it is something else. Fails: RM404.

    A call of type `R.Tuple()` says that the result does not matter; several types are those of a tuple's fields.
    """
    ty = ty_args[0] if len(ty_args) == 1 else TupleType(ty_args)
    if isinstance(ty, TupleType) and not ty.fields:
        return result
    wrong = mismatch(f"what `{site.name}` returned", result, ty, env, binds=False)
    if wrong is not None:
        raise site.failure(PACKED_RESULT, wrong)
    return result


def is_from_outside(module: IRModule, call: relax.Call) -> bool:
    """True if the callee of `call`, its first argument, is not in the module: hooks see none of its stores."""
    match call.args[0]:
        case relax.ExternFunc(symbol):
            return _linked(module.functions, symbol) is None
        case tir.GlobalVar(name):
            return isinstance(module.functions.get(name), relax.ExternFunc)
        case _:
            return False


def extern_value(scope: Scope, symbol: str, node: relax.ExternFunc) -> Eval:
    """A packed function as a value."""
    site = Site(scope.machine, symbol, node.span)
    return lambda _env: PackedFunc(symbol, lambda args, _span: resolve(site)(args))


def _linked(functions: Mapping[str, tir.PrimFunc | relax.Function | relax.ExternFunc], name: str) -> str | None:
    """The function of the module that is called `name`."""
    if name in functions:
        return name
    for key, function in functions.items():
        if not isinstance(function, relax.ExternFunc) and function.attrs.get("global_symbol") == name:
            return key
    return None


# --------------------------------------------------------------------------- with outputs: RLX-201 … RLX-204


def call_tir(scope: Scope, node: relax.Call, operator: Site) -> Eval:  # RLX-201, RLX-203, RLX-204
    """Call with the arguments, fresh outputs and the ints of the shape that may follow; the outputs."""
    site, callee = _callee(operator, node)
    operands, ints = _operands(scope, node)
    types, several = _output_types(site, node)
    run = _destination_caller(scope, node)

    def call(env: Activation) -> object:
        args = site.tuple(operands(env))
        outputs = tuple([_allocate(site, ty, env) for ty in types])
        run(callee(), [*args, *outputs, *ints(env)], outputs)
        return outputs if several else outputs[0]

    return call


def call_tir_inplace(scope: Scope, node: relax.Call, operator: Site) -> Eval:  # RLX-202
    """The same, except that output i is argument `inplace_indices[i]` if that is not -1."""
    site, callee = _callee(operator, node)
    operands, ints = _operands(scope, node)
    types, several = _output_types(site, node)
    indices = _checked_indices(site, node, len(types))
    run = _destination_caller(scope, node)

    def call(env: Activation) -> object:
        args = site.tuple(operands(env))
        outputs: list[object] = []
        allocated: list[Tensor] = []
        for index, ty in zip(indices, types, strict=True):
            if index == -1:
                allocated.append(_allocate(site, ty, env))
                outputs.append(allocated[-1])
                continue
            if index >= len(args):
                raise site.failure(OUT_OF_BOUNDS, f"`{site.name}`: argument {index} of {len(args)} is an output")
            outputs.append(args[index])
            wrong = mismatch(f"argument {index}, an output of `{site.name}`,", args[index], ty, env, binds=False)
            if wrong is not None:
                raise site.failure(INFO_LIES, wrong)
        run(callee(), [*args, *allocated, *ints(env)], outputs)
        return tuple(outputs) if several else outputs[0]

    return call


def _callee(operator: Site, node: relax.Call) -> tuple[Site, Callable[[], Callee]]:
    """The callee of a call by `operator`: a function of the module, or a name, looked up at each call."""
    machine, span = operator.machine, node.span
    match node.args[0]:
        case tir.GlobalVar(name):
            return Site(machine, name, span), lambda: lambda args: machine.call(name, args, span)
        case relax.ExternFunc(symbol):
            site = Site(machine, symbol, span)
            return site, lambda: resolve(site)
        case _:
            raise operator.failure(TYPE_MISMATCH, f"`{operator.name}` calls a function of the module, by name")


def _operands(scope: Scope, node: relax.Call) -> tuple[Eval, Callable[[Activation], tuple[int, ...]]]:
    """The tuple of arguments, and the ints that follow the outputs."""
    if len(node.args) < 3:
        return scope.expr(node.args[1]), lambda _env: ()
    shape, site = scope.expr(node.args[2]), Site(scope.machine, "tir_vars", node.span)
    return scope.expr(node.args[1]), lambda env: tuple(site.shape(shape(env)))


def _output_types(site: Site, node: relax.Call) -> tuple[tuple[Type, ...], bool]:
    """The types of the outputs, and whether they are returned as a tuple."""
    match node.ty_args:
        case (TupleType(fields),):
            return fields, True
        case (single,):
            return (single,), False
        case _:
            raise site.failure(ARITY, f"a call of `{site.name}` has {len(node.ty_args)} output types, not one")


def _allocate(site: Site, ty: Type, env: Activation) -> Tensor:
    if isinstance(ty, DTensorType):
        raise fail(UNSUPPORTED_CONSTRUCT, f"an output of `{site.name}` is a distributed tensor: {MESHES}", ty.span)
    if not isinstance(ty, TensorType):
        raise site.failure(TYPE_MISMATCH, f"an output of `{site.name}` is not declared a tensor")
    if ty.shape is None:
        raise site.failure(SHAPE_MISMATCH, f"an output of `{site.name}` is declared without a shape")
    if ty.dtype is None:
        raise site.failure(TYPE_MISMATCH, f"an output of `{site.name}` is declared without a dtype")
    return fresh(site, tuple([int(eval_dim(extent, env.dims, site.span)) for extent in ty.shape]), ty.dtype)


def inplace_indices(node: relax.Call) -> tuple[int, ...]:
    """The arguments that the call declares as outputs (-1: a fresh output); other entries are left out."""
    return tuple(entry for entry in _inplace_entries(node) if isinstance(entry, int) and entry >= -1)


def _inplace_entries(node: relax.Call) -> tuple[object, ...]:
    attribute = node.attrs.get("inplace_indices", ())
    entries = attribute if isinstance(attribute, tuple | list) else (attribute,)
    return tuple(entry.value if isinstance(entry, tir.IntImm) else entry for entry in entries)


def _checked_indices(site: Site, node: relax.Call, outputs: int) -> tuple[int, ...]:
    """Fails: RM206 unless there is an index, from -1 on, for each of `outputs`."""
    entries, indices = _inplace_entries(node), inplace_indices(node)
    if len(indices) != len(entries) or len(indices) != outputs:
        message = (
            f"`inplace_indices` of `{site.name}` are {entries}, not an index from -1 on for each of {outputs} outputs"
        )
        raise site.failure(ARITY, message)
    return indices
