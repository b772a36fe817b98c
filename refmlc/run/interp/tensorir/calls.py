"""Calls: functions of the module, functions from outside, and the intrinsics, each by its row and a few lines here."""

from collections.abc import Callable, Mapping

from refmlc.diag.catalogue import BAD_POINTER, PACKED_RESULT, UNSUPPORTED_INTRINSIC
from refmlc.lang.dtypes import UINT64, DType
from refmlc.lang.dtypes.rounding import rounder
from refmlc.lang.ir import tir
from refmlc.lang.ops.intrinsics import intrinsic
from refmlc.run.interp.tensorir import across, external, lowered, memory, plain
from refmlc.run.interp.tensorir.frame import Eval, Frame
from refmlc.run.interp.tensorir.scope import Scope
from refmlc.run.memory.values import kind_of

Prepare = Callable[[Scope, tir.Call], Eval]

EXECUTED: Mapping[str, Prepare] = {
    **plain.EXECUTED,
    **memory.EXECUTED,
    **external.EXECUTED,
    **lowered.EXECUTED,
    **across.EXECUTED,
}
HINTS = ("type_annotation", "prefetch", "start_profile_intrinsic", "end_profile_intrinsic")
FROM_OUTSIDE = {
    **dict.fromkeys(external.EXECUTED, PACKED_RESULT),
    **dict.fromkeys(("call_packed_lowered", "call_cpacked_lowered"), PACKED_RESULT),
    "tvm_struct_get": BAD_POINTER,
}
"""The calls whose values nothing has checked yet, and the code of one that is not of the declared dtype."""


def call(scope: Scope, node: tir.Call) -> Eval:
    """The call as a closure, its value of the declared dtype. Fails: RM404, RM313 where it is not."""
    if node.callee in HINTS:
        return scope.unsupported(UNSUPPORTED_INTRINSIC, f"`T.{node.callee}` is used, and has no value", node.span)
    value = _declared(scope, node)
    return _told(scope, node, value) if scope.machine.hooks.watches("called") else value


def _told(scope: Scope, node: tir.Call, value: Eval) -> Eval:
    tell = scope.machine.hooks.called

    def told(frame: Frame) -> object:
        found = value(frame)
        tell(node, found, frame)
        return found

    return told


def _declared(scope: Scope, node: tir.Call) -> Eval:
    """The call as a closure; what comes from outside is checked against the declared dtype."""
    value = effect(scope, node)
    code = PACKED_RESULT if isinstance(node.callee, tir.GlobalVar) else FROM_OUTSIDE.get(node.callee)
    dtype = node.dtype
    if code is None or dtype.kind in ("handle", "void"):
        return value
    failure = scope.failing(code, node.span)
    name = node.callee.name if isinstance(node.callee, tir.GlobalVar) else node.callee

    def checked(frame: Frame) -> object:
        found = value(frame)
        own = as_declared(found, dtype)
        if own is None:
            raise failure(frame, f"`{name}` gives {kind_of(found)} where a value of {dtype} is declared")
        return own

    return checked


def as_declared(value: object, dtype: DType) -> object:
    """A value from outside as one of `dtype`: floats are rounded; None where it is none."""
    if dtype.is_vector:
        return value if isinstance(value, tuple) and len(value) == dtype.lanes else None
    if not isinstance(value, bool | int | float):
        return None
    if dtype.is_float:
        return rounder(dtype)(float(value)) if isinstance(value, float) or abs(value) <= UINT64.maximum else None
    if isinstance(value, float):
        return None
    if dtype.kind == "bool":
        return bool(value) if value in (0, 1) else None
    return int(value) if dtype.minimum <= value <= dtype.maximum else None


def effect(scope: Scope, node: tir.Call) -> Eval:
    """The call as a closure, whatever it gives; an intrinsic that is not executed fails when it is reached."""
    if isinstance(node.callee, tir.GlobalVar):
        return function(scope, node, node.callee)
    row = intrinsic(node.callee)
    if row is None:
        return scope.unsupported(UNSUPPORTED_INTRINSIC, f"the intrinsic `{node.callee}` is not known", node.span)
    if row.name not in EXECUTED:
        message = f"the intrinsic `T.{row.name}` is not executed: {row.missing}"
        return scope.unsupported(UNSUPPORTED_INTRINSIC, message, node.span)
    return EXECUTED[row.name](scope, node)


def function(scope: Scope, node: tir.Call, callee: tir.GlobalVar) -> Eval:
    """A function of the module, called with the values of the arguments."""
    args = tuple(external.argument(scope, arg) for arg in node.args)
    machine, span = scope.machine, node.span

    def call_function(frame: Frame) -> object:
        return machine.call(callee.name, [arg(frame) for arg in args], span)

    return call_function
