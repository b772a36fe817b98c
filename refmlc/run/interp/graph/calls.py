"""Calls: functions of the module, packed functions, closures, operators. RLX-113, RLX-131 … RLX-134."""

from refmlc.diag import fail
from refmlc.diag.catalogue import TYPE_MISMATCH, UNSUPPORTED_OP
from refmlc.diag.source import Span
from refmlc.lang.ir import relax, tir
from refmlc.lang.library import OPERATORS
from refmlc.lang.ops.graph import GRAPH_OPS
from refmlc.run.interp.graph.activation import Activation, Eval, Scope
from refmlc.run.interp.graph.library import prepare_library_call
from refmlc.run.interp.graph.named import call_named
from refmlc.run.interp.graph.operators import prepare_operator
from refmlc.run.memory.values import Closure, PackedFunc, kind_of


def prepare_call(scope: Scope, node: relax.Call) -> Eval:
    """A call, by the kind of its callee."""
    match node.op:
        case tir.GlobalVar(name):  # RLX-131
            return _call_global(scope, node, name)
        case relax.ExternFunc(symbol):  # RLX-132
            return call_named(scope, node, symbol, node.args)
        case relax.Op(name) if name in GRAPH_OPS:
            return prepare_operator(scope, node, name)
        case relax.Op(name) if name in OPERATORS:
            return prepare_library_call(scope, node, OPERATORS[name])
        case relax.Op(name):  # RLX-134
            return _unsupported(name, node.span)
        case callee:  # RLX-133
            return _call_value(scope, node, callee)


def global_function(scope: Scope, name: str, span: Span | None) -> Eval:
    """A function of the module as a value."""
    machine = scope.machine
    closure = Closure(name, lambda args: machine.call(name, args, span))
    return lambda _env: closure


def _call_global(scope: Scope, node: relax.Call, name: str) -> Eval:
    operands, call, span = scope.exprs(node.args), scope.machine.call, node.span
    return lambda env: call(name, operands(env), span)


def _call_value(scope: Scope, node: relax.Call, callee: relax.Expr) -> Eval:
    function, operands = scope.expr(callee), scope.exprs(node.args)

    def call(env: Activation) -> object:
        match function(env):
            case Closure() | PackedFunc() as found:
                return found(operands(env))
            case other:
                raise fail(TYPE_MISMATCH, f"{kind_of(other)} is called", node.span)

    return call


def _unsupported(name: str, span: Span | None) -> Eval:
    def unsupported(_env: Activation) -> object:
        raise fail(UNSUPPORTED_OP, f"operator `{name}` is not supported", span)

    return unsupported
