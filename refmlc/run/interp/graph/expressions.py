"""Relax, kind by kind, in the order of `refmlc.lang.ir.relax`: expressions, functions, bindings, blocks.

RLX-101 … RLX-134. A local function sees the variables and symbolic dimensions around it as they are when it becomes a
value.
"""

from collections.abc import Callable, Sequence
from typing import TypeAlias, assert_never

import numpy as np

from refmlc.diag import fail
from refmlc.diag.catalogue import (
    ARITY,
    BAD_INPUT,
    CAST_FAILED,
    INFO_LIES,
    MISSING_METADATA,
    TYPE_MISMATCH,
    UNSUPPORTED_OP,
    Code,
)
from refmlc.diag.errors import RefmlcError
from refmlc.diag.source import Span
from refmlc.lang.ir import relax, tir
from refmlc.lang.ir.visit import walk
from refmlc.lang.library import OPERATORS
from refmlc.lang.ops.graph import GRAPH_OPS
from refmlc.run.interp.graph.activation import Activation, Eval, Run, Scope, used
from refmlc.run.interp.graph.call_site import condition
from refmlc.run.interp.graph.calls import call_named, extern_value
from refmlc.run.interp.graph.library import prepare_library_call
from refmlc.run.interp.graph.operators import prepare_operator
from refmlc.run.interp.graph.type_match import Match, eval_dim, mismatch
from refmlc.run.interp.substitutes import BlockRun
from refmlc.run.memory.tensor import Tensor
from refmlc.run.memory.values import Closure, PackedFunc, Shape, kind_of

Body: TypeAlias = Callable[[Activation, Sequence[object]], object]


CONSTANT = "a constant"
"""The origin of the storage of a constant tensor."""


def prepare_expr(scope: Scope, node: relax.Expr) -> Eval:
    """`node` as a closure."""
    match node:
        case relax.Var():  # RLX-101
            return lambda env: env.value(node, node.span)
        case tir.GlobalVar(name):  # RLX-102
            return _global_function(scope, name, node.span)
        case relax.Constant(data, dtype):  # RLX-103
            tensor = Tensor.from_numpy(data, dtype, origin=CONSTANT)
            return lambda _env: tensor
        case relax.MetadataRef():  # RLX-104
            reference = f'`metadata["{node.key}"][{node.index}]`'
            return _failing(MISSING_METADATA, f"{reference} has no value: the text holds no metadata", node.span)
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
        case relax.TupleGetItem(_, index):  # RLX-110
            field = _field(scope, node)
            return lambda env: used(field(env), f"field {index}", node.span)
        case relax.ExternFunc(symbol):  # RLX-111
            return extern_value(scope, symbol, node)
        case relax.Op(name):  # RLX-112
            return _failing(TYPE_MISMATCH, f"operator `{name}` is not a value: it can only be called", node.span)
        case relax.Call():  # RLX-113
            return _call(scope, node)
        case relax.If():  # RLX-114
            return _if(scope, node)
        case relax.SeqExpr():  # RLX-115
            return _sequence(scope, node)
        case relax.Function():  # RLX-116
            return _local_function(scope, node, f"{scope.function}.<local>")
        case _:
            assert_never(node)


def _global_function(scope: Scope, name: str, span: Span | None) -> Eval:
    machine = scope.machine
    closure = Closure(name, lambda args: machine.call(name, args, span))
    return lambda _env: closure


def _failing(code: Code, message: str, span: Span | None) -> Eval:
    """A closure that fails when it is reached: code that is never executed need not be supported."""

    def stop(_env: Activation) -> object:
        raise fail(code, message, span)

    return stop


def _shape(node: relax.ShapeExpr) -> Eval:
    def shape(env: Activation) -> Shape:
        return Shape([int(eval_dim(value, env.dims, node.span)) for value in node.values])

    return shape


def _bound(scope: Scope, node: relax.Expr) -> Eval:
    """`node` as the value of a variable: a tensor is used by that, one in a tuple is not."""
    value = _held(scope, node)
    match node:
        case relax.Var(name):
            what = f"`{name}`"
        case relax.TupleGetItem(_, index):
            what = f"field {index}"
        case _:
            return value

    def bound(env: Activation) -> object:
        held = value(env)
        return used(held, what, node.span) if isinstance(held, Tensor) else held

    return bound


def _held(scope: Scope, node: relax.Expr) -> Eval:
    """`node` for a tuple to hold, which uses no tensor by that: memory that went to another is no fault."""
    match node:
        case relax.Var():
            return lambda env: env.held(node, node.span)
        case relax.Tuple(fields):
            parts = tuple(_held(scope, field) for field in fields)
            return lambda env: tuple([part(env) for part in parts])
        case relax.TupleGetItem():
            return _field(scope, node)
        case _:
            return scope.expr(node)


def _field(scope: Scope, node: relax.TupleGetItem) -> Eval:
    """A field, of which nothing is used yet."""
    whole, index = _held(scope, node.tuple_value), node.index

    def field(env: Activation) -> object:
        value = whole(env)
        if isinstance(value, Shape) or not isinstance(value, tuple) or not 0 <= index < len(value):
            raise fail(TYPE_MISMATCH, f"field {index} is taken of {kind_of(value)}", node.span)
        return value[index]

    return field


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


# -------------------------------------------------------------------------------------------------------------- calls


def _call(scope: Scope, node: relax.Call) -> Eval:
    match node.op:
        case tir.GlobalVar(name):  # RLX-131
            return _call_global(scope, node, name)
        case relax.ExternFunc(symbol):  # RLX-132
            return call_named(scope, node, symbol, node.args)
        case relax.Op(name) if name in GRAPH_OPS:
            return prepare_operator(scope, node, name)
        case relax.Op(name) if name in OPERATORS:  # RLX-135
            return prepare_library_call(scope, node, OPERATORS[name])
        case relax.Op(name):  # RLX-134
            return _failing(UNSUPPORTED_OP, f"operator `{name}` is not supported", node.span)
        case callee:  # RLX-133
            return _call_value(scope, node, callee)


def _call_global(scope: Scope, node: relax.Call, name: str) -> Eval:
    operands, call, span = scope.exprs(node.args), scope.machine.call, node.span
    return lambda env: call(name, operands(env), span)


def _call_value(scope: Scope, node: relax.Call, callee: relax.Expr) -> Eval:
    function, operands = scope.expr(callee), scope.exprs(node.args)

    def call(env: Activation) -> object:
        value = function(env)
        if not isinstance(value, Closure | PackedFunc):
            raise fail(TYPE_MISMATCH, f"{kind_of(value)} is called", node.span)
        return value(operands(env))

    return call


# ---------------------------------------------------------------------------------------------------------- functions


def _local_function(scope: Scope, func: relax.Function, name: str, var: relax.Var | None = None) -> Eval:
    """The closure of a local function; `var` is the variable it is bound to, which it may call."""
    machine = scope.machine
    body = function_body(Scope(machine, name, scope.prepare), func)
    variables = tuple(node for node in walk(func) if isinstance(node, relax.Var))

    def closure(env: Activation) -> Closure:
        values, dims = {used: env.values[used] for used in variables if used in env.values}, dict(env.dims)

        def call(args: Sequence[object]) -> object:
            return machine.invoke(name, lambda args: body(Activation(name, dict(values), dict(dims)), args), args)

        result = Closure(name, call, tuple(values.values()))
        if var is not None:
            values[var] = result
        return result

    return closure


def function_body(scope: Scope, func: relax.Function) -> Body:
    """A function as a callable on its activation and arguments.

    Fails, when called from outside: RM111 (arguments that do not fit); from the module: RM206, RM317.
    """
    body, machine, span = scope.expr(func.body), scope.machine, func.span

    def call(env: Activation, args: Sequence[object]) -> object:
        machine.budget.charge_steps(1, span)
        _bind_parameters(func, env, args, outermost=machine.depth <= 1)
        result = body(env)
        wrong = mismatch(f"the result of `{env.function}`", result, func.result_ty, env, binds=False)
        if wrong is not None:
            raise fail(INFO_LIES, wrong, func.body.span or span)
        return result

    return call


def _bind_parameters(func: relax.Function, env: Activation, args: Sequence[object], *, outermost: bool) -> None:
    """Bind the parameters. RLX-021: symbolic dimensions are bound over all parameters before any is compared."""
    if len(args) != len(func.params):
        code = BAD_INPUT if outermost else ARITY
        raise fail(code, f"`{env.function}` takes {len(func.params)} arguments, {len(args)} are given", func.span)
    match = Match(env, binds=True)
    for param, arg in zip(func.params, args, strict=True):
        value = Tensor.from_numpy(arg) if isinstance(arg, np.ndarray) else arg
        env.values[param] = value
        match.add(f"`{param.name}` of `{env.function}`", value, param.ty)
    wrong = match.close()
    if wrong is not None:
        raise fail(BAD_INPUT if outermost else INFO_LIES, wrong, func.span)


# ------------------------------------------------------------------------------------------------ blocks and bindings


def _block(scope: Scope, block: relax.Block) -> list[Run]:
    bindings = [_binding(scope, binding) for binding in block.bindings]
    substitutes = scope.machine.substitutes
    run = None if substitutes is None else substitutes.block(scope.function, block)
    runs = bindings if run is None else [_with_substitute(run, bindings)]
    match block:
        case relax.BindingBlock():  # RLX-123
            return runs
        case relax.DataflowBlock():  # RLX-124
            return [*runs, _forget([binding.var for binding in block.bindings if binding.var.dataflow])]
        case _:
            assert_never(block)


def _with_substitute(run: BlockRun, bindings: list[Run]) -> Run:
    """The bindings in order: `run` executes some of them, the interpreter the others."""

    def with_substitute(env: Activation) -> None:
        position = 0
        while position < len(bindings):
            count = run(env, position)
            if count == 0:
                bindings[position](env)
                count = 1
            position += count

    return with_substitute


def _forget(hidden: list[relax.Var]) -> Run:
    """The end of a dataflow block: its own variables are out of scope."""

    def forget(env: Activation) -> None:
        for var in hidden:
            env.values.pop(var, None)

    return forget


def _binding(scope: Scope, binding: relax.Binding) -> Run:
    match binding:
        case relax.VarBinding(var, relax.Function() as local):  # RLX-121
            value, code, ty = _local_function(scope, local, var.name, var), INFO_LIES, var.ty
        case relax.VarBinding(var, node):  # RLX-121
            value, code, ty = _bound(scope, node), INFO_LIES, var.ty
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
