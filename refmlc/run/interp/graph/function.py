"""Functions: parameters are matched against arguments, the body is evaluated, the result is matched. RLX-116.

A local function sees the variables and symbolic dimensions around it as they are when it becomes a value.
"""

from collections.abc import Callable, Sequence

import numpy as np

from refmlc.diag import fail
from refmlc.diag.catalogue import ARITY, BAD_INPUT, INFO_LIES
from refmlc.lang.ir import relax
from refmlc.lang.ir.visit import walk
from refmlc.run.interp.graph.activation import Activation, Eval, Scope
from refmlc.run.interp.graph.matching import Match, mismatch
from refmlc.run.memory.tensor import Tensor
from refmlc.run.memory.values import Closure

Body = Callable[[Activation, Sequence[object]], object]


def local_function(scope: Scope, func: relax.Function, name: str, var: relax.Var | None = None) -> Eval:
    """The closure of a local function; `var` is the variable it is bound to, which it may call."""
    machine = scope.machine
    body = function_body(Scope(machine, name, scope.prepare), func)
    used = tuple(node for node in walk(func) if isinstance(node, relax.Var))

    def closure(env: Activation) -> Closure:
        values, dims = {seen: env.values[seen] for seen in used if seen in env.values}, dict(env.dims)

        def call(args: Sequence[object]) -> object:
            return machine.invoke(name, lambda given: body(Activation(name, dict(values), dict(dims)), given), args)

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
        _take(func, env, args, outermost=machine.depth <= 1)
        result = body(env)
        wrong = mismatch(f"the result of `{env.function}`", result, func.result_ty, env, binds=False)
        if wrong is not None:
            raise fail(INFO_LIES, wrong, func.body.span or span)
        return result

    return call


def _take(func: relax.Function, env: Activation, args: Sequence[object], *, outermost: bool) -> None:
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
