"""Relax, kind by kind, in the order of `refmlc.lang.ir.relax`: expressions, bindings, blocks. RLX-101 … RLX-124."""

from typing import assert_never

from refmlc.diag import fail
from refmlc.diag.catalogue import CAST_FAILED, INFO_LIES, MISSING_METADATA, TYPE_MISMATCH
from refmlc.diag.errors import RefmlcError
from refmlc.diag.source import Span
from refmlc.lang.ir import relax, tir
from refmlc.run.interp.graph import calls, function, named
from refmlc.run.interp.graph.activation import Activation, Eval, Run, Scope
from refmlc.run.interp.graph.dims import eval_dim
from refmlc.run.interp.graph.matching import mismatch
from refmlc.run.interp.graph.operands import condition
from refmlc.run.interp.substitutes import BlockRun
from refmlc.run.memory.tensor import Tensor
from refmlc.run.memory.values import Shape, kind_of


def prepare_expr(scope: Scope, node: relax.Expr) -> Eval:
    """`node` as a closure."""
    match node:
        case relax.Var():  # RLX-101
            return lambda env: env.value(node, node.span)
        case tir.GlobalVar(name):  # RLX-102
            return calls.global_function(scope, name, node.span)
        case relax.Constant(data, dtype):  # RLX-103
            tensor = Tensor.from_numpy(data, dtype, origin="a constant")
            return lambda _env: tensor
        case relax.MetadataRef():  # RLX-104
            return _metadata(node)
        case relax.PrimValue(value):  # RLX-105
            return lambda env: eval_dim(value, env.dims, node.span)
        case relax.StringImm(text):  # RLX-106
            return lambda _env: text
        case relax.DataTypeImm(dtype):  # RLX-107
            return lambda _env: dtype
        case relax.ShapeExpr():  # RLX-108
            return _shape(node)
        case relax.Tuple(fields):  # RLX-109
            return scope.exprs(fields)
        case relax.TupleGetItem():  # RLX-110
            return _field(scope, node)
        case relax.ExternFunc(symbol):  # RLX-111
            return named.extern_value(scope, symbol, node)
        case relax.Op(name):  # RLX-112
            return _bare_operator(name, node.span)
        case relax.Call():  # RLX-113
            return calls.prepare_call(scope, node)
        case relax.If():  # RLX-114
            return _if(scope, node)
        case relax.SeqExpr():  # RLX-115
            return _sequence(scope, node)
        case relax.Function():  # RLX-116
            return function.local_function(scope, node, f"{scope.function}.<local>")
        case _:
            assert_never(node)


def _metadata(node: relax.MetadataRef) -> Eval:
    def metadata(_env: Activation) -> object:
        message = f'`metadata["{node.key}"][{node.index}]` has no value: the text holds no metadata'
        raise fail(MISSING_METADATA, message, node.span)

    return metadata


def _shape(node: relax.ShapeExpr) -> Eval:
    def shape(env: Activation) -> Shape:
        return Shape([int(eval_dim(value, env.dims, node.span)) for value in node.values])

    return shape


def _field(scope: Scope, node: relax.TupleGetItem) -> Eval:
    whole, index = scope.expr(node.tuple_value), node.index

    def field(env: Activation) -> object:
        value = whole(env)
        if isinstance(value, Shape) or not isinstance(value, tuple) or not 0 <= index < len(value):
            raise fail(TYPE_MISMATCH, f"field {index} is taken of {kind_of(value)}", node.span)
        return value[index]

    return field


def _bare_operator(name: str, span: Span | None) -> Eval:
    def operator(_env: Activation) -> object:
        raise fail(TYPE_MISMATCH, f"operator `{name}` is no value: it can only be called", span)

    return operator


def _if(scope: Scope, node: relax.If) -> Eval:
    test, span = scope.expr(node.condition), node.span
    yes, no = _sequence(scope, node.true_branch), _sequence(scope, node.false_branch)

    def choose(env: Activation) -> object:
        return yes(env) if condition(test(env), span) else no(env)

    return choose


def _sequence(scope: Scope, node: relax.SeqExpr) -> Eval:
    runs = [run for block in node.blocks for run in _block(scope, block)]
    body = scope.expr(node.body)

    def sequence(env: Activation) -> object:
        for run in runs:
            run(env)
        return body(env)

    return sequence


def _block(scope: Scope, block: relax.Block) -> list[Run]:
    bindings = [_binding(scope, binding) for binding in block.bindings]
    match block:
        case relax.BindingBlock():  # RLX-123
            return bindings
        case relax.DataflowBlock():  # RLX-124
            hidden = [binding.var for binding in block.bindings if binding.var.dataflow]
            substitutes = scope.machine.substitutes
            run = None if substitutes is None else substitutes.block(scope.function, block)
            return [*bindings, _leave(hidden)] if run is None else [_in_turns(run, bindings), _leave(hidden)]
        case _:
            assert_never(block)


def _in_turns(run: BlockRun, bindings: list[Run]) -> Run:
    """The bindings in order: `run` executes some of them, the interpreter the others."""

    def in_turns(env: Activation) -> None:
        done = 0
        while done < len(bindings):
            count = run(env, done)
            if count == 0:
                bindings[done](env)
                count = 1
            done += count

    return in_turns


def _leave(hidden: list[relax.Var]) -> Run:
    def leave(env: Activation) -> None:
        for var in hidden:
            env.values.pop(var, None)

    return leave


def _binding(scope: Scope, binding: relax.Binding) -> Run:
    match binding:
        case relax.VarBinding(var, relax.Function() as local):  # RLX-121
            value, code, ty = function.local_function(scope, local, var.name, var), INFO_LIES, var.ty
        case relax.VarBinding(var, node):  # RLX-121
            value, code, ty = scope.expr(node), INFO_LIES, var.ty
        case relax.MatchCast(var, node, ty):  # RLX-122
            value, code = scope.expr(node), CAST_FAILED
        case _:
            assert_never(binding)
    binds, span = code is CAST_FAILED, binding.span or var.span
    hooks, budget = scope.machine.hooks, scope.machine.budget
    before, after = hooks.watches("before_binding"), hooks.watches("binding")

    def bind(env: Activation) -> None:
        budget.charge_steps(1, span)
        budget.look(span)  # the binding before may have taken long: a packed function charges nothing
        if before:
            hooks.before_binding(binding)
        try:
            result = value(env)
            if ty is not None:
                wrong = mismatch(f"`{var.name}`", result, ty, env, binds=binds)
                if wrong is not None:
                    raise fail(code, wrong, span)
        except RefmlcError as failure:
            env.note(failure, var, span)
            raise
        env.values[var] = result
        if after:
            hooks.binding(binding, result)

    return hooks.around_binding(binding, bind) if hooks.watches("around_binding") else bind
