"""Functions called by name. RLX-132.

A name is looked for in this order: functions of the module, by name, then by `global_symbol`; the table below, which
lowered programs call; the registry. Decision: the module goes first, as in TVM, where what is linked into a module
hides what is registered. The registry has what TVM's runtime ships besides (`refmlc.run.memory.shipped`).
"""

from collections.abc import Callable, Mapping, Sequence

from refmlc.diag.catalogue import ARITY, PACKED_RESULT
from refmlc.lang.ir import IRModule, relax, tir
from refmlc.lang.ir.types import TupleType, Type
from refmlc.lang.ops.graph import BUILTINS, GraphOp
from refmlc.run.interp.graph import heap, memory, shapes, values
from refmlc.run.interp.graph.activation import Activation, Eval, Scope
from refmlc.run.interp.graph.destination import DestinationCall
from refmlc.run.interp.graph.matching import mismatch
from refmlc.run.interp.graph.operands import Site
from refmlc.run.memory.values import PackedFunc

Plain = Callable[..., object]
Call = Callable[[Sequence[object]], object]

BY_NAME: Mapping[str, Plain] = {
    "vm.builtin.alloc_shape_heap": heap.alloc_shape_heap,
    "vm.builtin.match_shape": heap.match_shape,
    "vm.builtin.match_prim_value": heap.match_prim_value,
    "vm.builtin.make_shape": heap.make_shape,
    "vm.builtin.make_prim_value": heap.make_prim_value,
    "vm.builtin.check_tensor_info": heap.check_tensor_info,
    "vm.builtin.check_shape_info": heap.check_shape_info,
    "vm.builtin.check_prim_value_info": heap.check_prim_value_info,
    "vm.builtin.check_tuple_info": heap.check_tuple_info,
    "vm.builtin.check_func_info": heap.check_func_info,
    "vm.builtin.check_string_info": heap.check_string_info,
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


def resolve(site: Site) -> Call:
    """The function with the name `site.name`. Fails: RM402."""
    machine, name, span = site.machine, site.name, site.span
    linked = _linked(machine.module.functions, name)
    if linked is not None:
        return lambda args: machine.call(linked, args, span)
    if name in BY_NAME:
        plain, row = BY_NAME[name], BUILTINS[name]

        def builtin(args: Sequence[object]) -> object:
            check_arity(site, row, len(args))
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
    operands, site, hooks = scope.exprs(args), Site(scope.machine, name, node.span), scope.machine.hooks
    watched = hooks.watches("before_destination") or hooks.watches("after_destination")
    trusted = name in BY_NAME and _linked(scope.machine.module.functions, name) is None
    if not watched or outputs is None or trusted:
        return lambda env: result_of(site, resolve(site)(operands(env)), node.ty_args, env)

    def call(env: Activation) -> object:
        given, function = operands(env), resolve(site)
        written = tuple([given[number] for number in outputs if 0 <= number < len(given)])
        destination = DestinationCall(node, function, given, written)
        hooks.before_destination(destination)
        result = function(given)
        hooks.after_destination(destination)
        return result_of(site, result, node.ty_args, env)

    return call


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
    """Whether the callee of `call`, its first argument, is no function of the module: hooks see none of its stores."""
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


def check_arity(site: Site, row: GraphOp, count: int) -> None:
    """Fails: RM206."""
    if not row.least <= count <= row.most:
        takes = f"{row.least}" if row.least == row.most else f"{row.least} to {row.most}"
        raise site.failure(ARITY, f"`{site.name}` takes {takes} arguments, {count} are given")


def _linked(functions: Mapping[str, tir.PrimFunc | relax.Function | relax.ExternFunc], name: str) -> str | None:
    """The function of the module that is called `name`."""
    if name in functions:
        return name
    for key, function in functions.items():
        if not isinstance(function, relax.ExternFunc) and function.attrs.get("global_symbol") == name:
            return key
    return None
