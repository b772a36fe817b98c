"""Calls that allocate their outputs: allocate, call, return. RLX-201 … RLX-204.

def call_tir(f, args, out):        res = empty(out.shape, out.dtype); f(*args, res); return res
"""

from collections.abc import Callable, Sequence

from refmlc.diag.catalogue import ARITY, INFO_LIES, OUT_OF_BOUNDS, SHAPE_MISMATCH, TYPE_MISMATCH
from refmlc.lang.ir import relax, tir
from refmlc.lang.ir.types import TensorType, TupleType, Type
from refmlc.run.interp.graph.activation import Activation, Eval, Scope
from refmlc.run.interp.graph.destination import DestinationCall
from refmlc.run.interp.graph.dims import eval_dim
from refmlc.run.interp.graph.matching import mismatch
from refmlc.run.interp.graph.memory import fresh
from refmlc.run.interp.graph.named import resolve
from refmlc.run.interp.graph.operands import Site
from refmlc.run.memory.tensor import Tensor

Destination = Callable[[Sequence[object]], object]


def call_tir(scope: Scope, node: relax.Call) -> Eval:  # RLX-201, RLX-203, RLX-204
    """Call with the arguments, fresh outputs and the ints of the shape that may follow; the outputs."""
    site, callee = _callee(scope, node)
    operands, ints = _operands(scope, node)
    types, several = _output_types(site, node)
    run = _runner(scope, node)

    def call(env: Activation) -> object:
        args = site.tuple(operands(env))
        outputs = tuple([_allocate(site, ty, env) for ty in types])
        run(callee(), [*args, *outputs, *ints(env)], outputs)
        return outputs if several else outputs[0]

    return call


def call_tir_inplace(scope: Scope, node: relax.Call) -> Eval:  # RLX-202
    """The same, output i being argument `inplace_indices[i]` where that is not -1."""
    site, callee = _callee(scope, node)
    operands, ints = _operands(scope, node)
    types, several = _output_types(site, node)
    indices = _indices(site, node, len(types))
    run = _runner(scope, node)

    def call(env: Activation) -> object:
        args = site.tuple(operands(env))
        outputs: list[object] = []
        fresh: list[Tensor] = []
        for index, ty in zip(indices, types, strict=True):
            if index == -1:
                fresh.append(_allocate(site, ty, env))
                outputs.append(fresh[-1])
                continue
            if index >= len(args):
                raise site.failure(OUT_OF_BOUNDS, f"`{site.name}`: argument {index} of {len(args)} is an output")
            outputs.append(args[index])
            wrong = mismatch(f"argument {index}, an output of `{site.name}`,", args[index], ty, env, binds=False)
            if wrong is not None:
                raise site.failure(INFO_LIES, wrong)
        run(callee(), [*args, *fresh, *ints(env)], outputs)
        return tuple(outputs) if several else outputs[0]

    return call


Runner = Callable[[Destination, Sequence[object], Sequence[object]], object]


def _runner(scope: Scope, node: relax.Call) -> Runner:
    """Call the function with its arguments; hooks learn which of them are outputs."""
    hooks = scope.machine.hooks
    if not (hooks.watches("before_destination") or hooks.watches("after_destination")):
        return lambda function, args, _outputs: function(args)

    def watched(function: Destination, args: Sequence[object], outputs: Sequence[object]) -> object:
        destination = DestinationCall(node, function, args, outputs)
        hooks.before_destination(destination)
        result = function(args)
        hooks.after_destination(destination)
        return result

    return watched


def _callee(scope: Scope, node: relax.Call) -> tuple[Site, Callable[[], Destination]]:
    """The callee: a function of the module, or a name, looked up at each call."""
    machine, span = scope.machine, node.span
    match node.args[0]:
        case tir.GlobalVar(name):
            return Site(machine, name, span), lambda: lambda args: machine.call(name, args, span)
        case relax.ExternFunc(symbol):
            site = Site(machine, symbol, span)
            return site, lambda: resolve(site)
        case _:
            name = node.op.name if isinstance(node.op, relax.Op) else "call_tir"
            raise Site(machine, name, span).failure(TYPE_MISMATCH, f"`{name}` calls a function of the module, by name")


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
    if not isinstance(ty, TensorType):
        raise site.failure(TYPE_MISMATCH, f"an output of `{site.name}` is declared to be no tensor")
    if ty.shape is None:
        raise site.failure(SHAPE_MISMATCH, f"an output of `{site.name}` is declared without a shape")
    if ty.dtype is None:
        raise site.failure(TYPE_MISMATCH, f"an output of `{site.name}` is declared without a dtype")
    return fresh(site, tuple([int(eval_dim(extent, env.dims, site.span)) for extent in ty.shape]), ty.dtype)


def inplace_indices(node: relax.Call) -> tuple[int, ...]:
    """The arguments that the call declares as outputs (-1: a fresh output); other entries are left out."""
    return tuple(item for item in _listed(node) if isinstance(item, int) and item >= -1)


def _listed(node: relax.Call) -> tuple[object, ...]:
    attribute = node.attrs.get("inplace_indices", ())
    listed = attribute if isinstance(attribute, tuple | list) else (attribute,)
    return tuple(item.value if isinstance(item, tir.IntImm) else item for item in listed)


def _indices(site: Site, node: relax.Call, outputs: int) -> tuple[int, ...]:
    indices = _listed(node)
    plain = inplace_indices(node)
    if len(plain) != len(indices) or len(plain) != outputs:
        message = (
            f"`inplace_indices` of `{site.name}` are {indices}, one from -1 on for each of {outputs} outputs is due"
        )
        raise site.failure(ARITY, message)
    return plain
