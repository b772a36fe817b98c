"""Intrinsics without memory: halves of vectors, hints that mean nothing, assumptions, undefined values.

Each function prepares one intrinsic; `EXECUTED` gives it its name.
"""

import math
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import cast

from refmlc.diag.catalogue import ASSUMPTION, UNINITIALISED, UNSUPPORTED_DTYPE
from refmlc.lang.dtypes.rounding import round_fraction
from refmlc.lang.ir import tir
from refmlc.run.interp.tensorir.frame import Eval, Frame
from refmlc.run.interp.tensorir.loops import Returning
from refmlc.run.interp.tensorir.scope import Scope


def operands(node: tir.Call) -> tuple[tir.Expr, ...]:
    """The arguments, which this intrinsic takes as expressions only."""
    return cast("tuple[tir.Expr, ...]", node.args)


def _nothing(_scope: Scope, _node: tir.Call) -> Eval:  # TIR-301
    return lambda _frame: None


def _first(scope: Scope, node: tir.Call) -> Eval:  # TIR-302
    return scope.expr(operands(node)[0])


def _vscale(_scope: Scope, _node: tir.Call) -> Eval:  # TIR-303
    return lambda _frame: 1


def _low(scope: Scope, node: tir.Call) -> Eval:  # TIR-304
    vector = scope.lanes(operands(node)[0])
    return lambda frame: (lanes := vector(frame))[: len(lanes) // 2]


def _high(scope: Scope, node: tir.Call) -> Eval:  # TIR-304
    vector = scope.lanes(operands(node)[0])
    return lambda frame: (lanes := vector(frame))[len(lanes) // 2 :]


def _combine(scope: Scope, node: tir.Call) -> Eval:  # TIR-304
    first, second = (scope.lanes(part) for part in operands(node))
    return lambda frame: first(frame) + second(frame)


def _active_lanes(scope: Scope, node: tir.Call) -> Eval:  # TIR-305
    first, limit = (scope.number(part) for part in operands(node))
    lanes = node.dtype.lanes

    def mask(frame: Frame) -> tuple[bool, ...]:
        start, end = first(frame), limit(frame)
        return tuple([start + lane < end for lane in range(lanes)])

    return mask


def _assume(scope: Scope, node: tir.Call) -> Eval:  # TIR-306
    condition = scope.expr(operands(node)[0])
    failure = scope.failing(ASSUMPTION, node.span)

    def assume(frame: Frame) -> object:
        if not condition(frame):
            raise failure(frame, "the condition of `T.assume` is false")
        return True

    return assume


def _undef(scope: Scope, node: tir.Call) -> Eval:  # TIR-307
    failure = scope.failing(UNINITIALISED, node.span)

    def undef(frame: Frame) -> object:
        raise failure(frame, "the value of `T.undef()` is used")

    return undef


def _ret(scope: Scope, node: tir.Call) -> Eval:  # TIR-308
    args = operands(node)
    value = scope.expr(args[0]) if args else (lambda _frame: None)

    def leave(frame: Frame) -> object:
        raise Returning(value(frame))

    return leave


def _fma(scope: Scope, node: tir.Call) -> Eval:  # TIR-309
    a, b, c = (scope.number(part) for part in operands(node))
    dtype = node.dtype
    if not dtype.is_float or dtype.is_vector:
        return scope.unsupported(UNSUPPORTED_DTYPE, f"`T.fma` is not supported on {dtype}", node.span)

    def fma(frame: Frame) -> float:
        x, y, z = a(frame), b(frame), c(frame)
        if not (math.isfinite(x) and math.isfinite(y) and math.isfinite(z)):
            return x * y + z
        exact = Fraction(x) * Fraction(y) + Fraction(z)
        return round_fraction(exact, dtype) if exact else x * y + z

    return fma


EXECUTED: Mapping[str, Callable[[Scope, tir.Call], Eval]] = {
    "type_annotation": _nothing,
    "prefetch": _nothing,
    "start_profile_intrinsic": _nothing,
    "end_profile_intrinsic": _nothing,
    "tvm_thread_invariant": _first,
    "ignore_loop_partition": _first,
    "vscale": _vscale,
    "vectorlow": _low,
    "vectorhigh": _high,
    "vectorcombine": _combine,
    "get_active_lane_mask": _active_lanes,
    "assume": _assume,
    "undef": _undef,
    "ret": _ret,
    "fma": _fma,
}
