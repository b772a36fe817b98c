"""Calls: functions of the module, functions from outside, and the intrinsics, each by its row and a few lines here."""

from collections.abc import Callable, Mapping

from refmlc.diag.catalogue import UNSUPPORTED_INTRINSIC
from refmlc.interp.tensorir import external, lowered, memory, plain
from refmlc.interp.tensorir.frame import Eval, Frame
from refmlc.interp.tensorir.scope import Scope
from refmlc.ir import tir
from refmlc.ops.intrinsics import intrinsic

Prepare = Callable[[Scope, tir.Call], Eval]

EXECUTED: Mapping[str, Prepare] = {**plain.EXECUTED, **memory.EXECUTED, **external.EXECUTED, **lowered.EXECUTED}


def call(scope: Scope, node: tir.Call) -> Eval:
    """The call as a closure; an intrinsic that is not executed fails when it is reached."""
    if isinstance(node.callee, tir.GlobalVar):
        return function(scope, node, node.callee)
    row = intrinsic(node.callee)
    if row is None:
        return scope.unsupported(UNSUPPORTED_INTRINSIC, f"the intrinsic `{node.callee}` is not known", node.span)
    if row.name not in EXECUTED:
        message = f"the intrinsic `T.{row.text or node.callee}` is not executed: {row.missing}"
        return scope.unsupported(UNSUPPORTED_INTRINSIC, message, node.span)
    return EXECUTED[row.name](scope, node)


def function(scope: Scope, node: tir.Call, callee: tir.GlobalVar) -> Eval:
    """A function of the module, called with the values of the arguments."""
    args = tuple(external.argument(scope, arg) for arg in node.args)
    machine, span = scope.machine, node.span

    def call_function(frame: Frame) -> object:
        return machine.call(callee.name, [arg(frame) for arg in args], span)

    return call_function
