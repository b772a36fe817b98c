"""Expressions (TIR-101 … TIR-117): the meaning of each kind, in the order of `refmlc.lang.ir.tir`."""

from typing import assert_never, cast

from refmlc.diag.catalogue import UNSUPPORTED_DTYPE
from refmlc.lang.ir import tir
from refmlc.lang.ops.contract import UndefinedValue
from refmlc.lang.ops.scalar.convert import converter
from refmlc.run.interp import fast
from refmlc.run.interp.tensorir import calls, elements, operators, vectors
from refmlc.run.interp.tensorir.frame import Eval, Frame
from refmlc.run.interp.tensorir.scope import Scope
from refmlc.run.memory.pointer import Pointer


def prepare_expr(scope: Scope, node: tir.Expr) -> Eval:
    """`node` as a closure from frames to its value: the fast one of its kind, if there is one, else its meaning."""
    if node in scope.exchanged and not isinstance(node, tir.Call):
        slot = scope.exchanged[node]
        return lambda frame: frame[slot]
    return fast.expression(scope, node) or _meaning(scope, node)


def _meaning(scope: Scope, node: tir.Expr) -> Eval:
    """Operands are evaluated from left to right."""
    match node:
        case tir.Var():  # TIR-101
            return _slot(scope, node)
        case tir.IntImm():  # TIR-102
            return _constant(bool(node.value) if node.dtype.kind == "bool" else node.value)
        case tir.FloatImm() | tir.StringImm():  # TIR-103 TIR-104
            return _constant(node.value)
        case tir.Apply():  # TIR-105
            return operators.apply(scope, node)
        case tir.Cast():  # TIR-106
            return _cast(scope, node)
        case tir.And():  # TIR-107
            return vectors.both(scope, node) if node.dtype.is_vector else _and(scope, node)
        case tir.Or():  # TIR-108
            return vectors.either(scope, node) if node.dtype.is_vector else _or(scope, node)
        case tir.Select():  # TIR-109
            return vectors.select(scope, node) if node.condition.dtype.is_vector else _select(scope, node)
        case tir.IfThenElseExpr():  # TIR-110
            return _if_then_else(scope, node)
        case tir.Let():  # TIR-111
            return _let(scope, node)
        case tir.BufferLoad():  # TIR-112
            return vectors.load(scope, node) if vectors.has_lanes(node) else elements.load(scope, node)
        case tir.BufferData():  # TIR-113
            return _data(scope, node)
        case tir.Ramp():  # TIR-114
            return vectors.ramp(scope, node)
        case tir.Broadcast():  # TIR-115
            return vectors.broadcast(scope, node)
        case tir.Shuffle():  # TIR-116
            return vectors.shuffle(scope, node)
        case tir.Call():  # TIR-117
            return calls.call(scope, node)
        case _:
            assert_never(node)


def _constant(value: object) -> Eval:
    def constant(_frame: Frame) -> object:
        return value

    return constant


def _slot(scope: Scope, node: tir.Var) -> Eval:
    slot = scope.layout.slot(node, node.span)

    def variable(frame: Frame) -> object:
        return frame[slot]

    return variable


def _cast(scope: Scope, node: tir.Cast) -> Eval:
    source, target = node.value.dtype.scalar, node.dtype.scalar
    if source.kind in ("handle", "void") or target.kind in ("handle", "void"):
        if source == target:
            return scope.expr(node.value)
        return scope.unsupported(UNSUPPORTED_DTYPE, f"{source} is not converted to {target}", node.span)
    within = source.is_integer and target.is_integer
    if source == target or (within and source.minimum >= target.minimum and source.maximum <= target.maximum):
        return scope.expr(node.value)
    convert = converter(source, target)
    failure = scope.failing_by_code(node.span)
    if node.value.dtype.is_vector:
        lanes = scope.lanes(node.value)

        def cast_lanes(frame: Frame) -> object:
            try:
                return tuple([convert(lane) for lane in lanes(frame)])
            except UndefinedValue as undefined:
                raise failure(frame, undefined.code, undefined.detail) from None

        return cast_lanes
    value = scope.number(node.value)

    def cast_value(frame: Frame) -> object:
        try:
            return convert(value(frame))
        except UndefinedValue as undefined:
            raise failure(frame, undefined.code, undefined.detail) from None

    return cast_value


def _and(scope: Scope, node: tir.And) -> Eval:
    a, b = scope.expr(node.a), scope.expr(node.b)

    def conjunction(frame: Frame) -> object:
        return a(frame) and b(frame)

    return conjunction


def _or(scope: Scope, node: tir.Or) -> Eval:
    a, b = scope.expr(node.a), scope.expr(node.b)

    def disjunction(frame: Frame) -> object:
        return a(frame) or b(frame)

    return disjunction


def _select(scope: Scope, node: tir.Select) -> Eval:
    condition, true_value, false_value = map(scope.expr, (node.condition, node.true_value, node.false_value))

    def select(frame: Frame) -> object:
        chosen, yes, no = condition(frame), true_value(frame), false_value(frame)
        return yes if chosen else no

    return select


def _if_then_else(scope: Scope, node: tir.IfThenElseExpr) -> Eval:
    condition = scope.expr(node.condition)
    with scope.assuming(node.condition, holds=True):
        true_value = scope.expr(node.true_value)
    with scope.assuming(node.condition, holds=False):
        false_value = scope.expr(node.false_value)

    def if_then_else(frame: Frame) -> object:
        return true_value(frame) if condition(frame) else false_value(frame)

    return if_then_else


def _let(scope: Scope, node: tir.Let) -> Eval:
    value = scope.expr(node.value)
    slot = scope.layout.declare(node.var)
    body = scope.expr(node.body)

    def let(frame: Frame) -> object:
        frame[slot] = value(frame)
        return body(frame)

    return let


def _data(scope: Scope, node: tir.BufferData) -> Eval:
    view = scope.buffer(node.buffer, node.span).view

    def data(frame: Frame) -> Pointer:
        seen = frame[view]
        return Pointer(seen.data.storage, seen.data.byte_offset, seen)

    return cast("Eval", data)
