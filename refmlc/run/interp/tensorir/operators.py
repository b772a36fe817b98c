"""Scalar operators (TIR-105): the operands from left to right, then the value function of the operator's row.

The row decides everything: which operands it accepts, the value, and when there is none. Where a row finds its
operands undefined it raises `UndefinedValue`; here the failure gets its place, or, where `Machine.allow` has the code,
the value that wraps. Operands of several lanes are taken lane by lane.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from refmlc.diag.catalogue import UNSUPPORTED_DTYPE, UNSUPPORTED_OP, Code
from refmlc.lang.dtypes.bits import decoder, encoder
from refmlc.lang.ir import tir
from refmlc.lang.ops.contract import ScalarOp, UndefinedValue
from refmlc.run.interp.tensorir.frame import Eval, Frame, LanesEval, NumberEval
from refmlc.run.interp.tensorir.scope import Scope

Rows: TypeAlias = Mapping[str, ScalarOp]


@dataclass(frozen=True, slots=True)
class Operator:
    """The row of an operator on the operands of one node. `undefined` gives the value that wraps, or fails."""

    value: Callable[..., float]
    undefined: Callable[[Frame, UndefinedValue], float]


def apply(scope: Scope, node: tir.Apply, rows: Rows | None = None) -> Eval:
    """`node` as a closure. `rows` are the operators (None: the machine's)."""
    refusal = _refusal(scope, node, rows)
    if refusal is not None:
        return scope.unsupported(*refusal, node.span)
    if _regroups(node):
        return _regrouped(scope, node)
    operator = _operator(scope, node, rows)
    if any(arg.dtype.is_vector for arg in node.args):
        return _by_lanes(operator, tuple(scope.lanes(arg) for arg in node.args))
    return _scalar(operator, tuple(scope.number(arg) for arg in node.args))


def accepted(scope: Scope, node: tir.Apply) -> Operator | None:
    """The operator of `node`, on the machine's rows; None where it is refused."""
    return _operator(scope, node, None) if _refusal(scope, node, None) is None and not _regroups(node) else None


def _regroups(node: tir.Apply) -> bool:
    """Whether the result has other lanes than the operand."""
    return node.op == "reinterpret" and node.args[0].dtype.lanes != node.dtype.lanes


def _regrouped(scope: Scope, node: tir.Apply) -> Eval:
    """A reinterpretation as other lanes: the first of each has the lowest bits (NUM-705)."""
    (arg,) = node.args
    source, target = arg.dtype, node.dtype
    encode, decode = encoder(source.scalar), decoder(target.scalar)
    operands = scope.lanes(arg) if source.is_vector else _one_lane(scope.number(arg))
    mask = (1 << target.bits) - 1

    def lanes(frame: Frame) -> tuple[float, ...]:
        whole = 0
        for place, value in enumerate(operands(frame)):
            whole |= encode(value) << source.bits * place
        return tuple([decode(whole >> target.bits * place & mask) for place in range(target.lanes)])

    return lanes if target.is_vector else lambda frame: lanes(frame)[0]


def _one_lane(value: NumberEval) -> LanesEval:
    return lambda frame: (value(frame),)


def _scalar(operator: Operator, args: tuple[NumberEval, ...]) -> NumberEval:
    def scalar(frame: Frame) -> float:
        operands = [arg(frame) for arg in args]
        try:
            return operator.value(*operands)
        except UndefinedValue as undefined:
            return operator.undefined(frame, undefined)

    return scalar


def _by_lanes(operator: Operator, args: tuple[LanesEval, ...]) -> LanesEval:
    def by_lanes(frame: Frame) -> tuple[float, ...]:
        results = []
        for operands in zip(*[arg(frame) for arg in args], strict=True):
            try:
                results.append(operator.value(*operands))
            except UndefinedValue as undefined:
                results.append(operator.undefined(frame, undefined))
        return tuple(results)

    return by_lanes


def _row(scope: Scope, node: tir.Apply, rows: Rows | None) -> ScalarOp | None:
    return (scope.machine.scalar_ops if rows is None else rows).get(node.op)


def _refusal(scope: Scope, node: tir.Apply, rows: Rows | None) -> tuple[Code, str] | None:
    """The code and the message of an operator without meaning on these operands."""
    row, dtypes = _row(scope, node, rows), [arg.dtype for arg in node.args]
    if row is None:
        return UNSUPPORTED_OP, f"operator `{node.op}` is not supported"
    if not row.contract.accepts_operands([dtype.scalar for dtype in dtypes]):
        return UNSUPPORTED_DTYPE, f"operator `{node.op}` is not supported on {', '.join(map(str, dtypes))}"
    if _regroups(node) and not all(dtype.is_integer or dtype.is_float for dtype in (dtypes[0], node.dtype)):
        return UNSUPPORTED_OP, f"a reinterpretation of {dtypes[0]} as {node.dtype}, other lanes, is not supported"
    return None


def _operator(scope: Scope, node: tir.Apply, rows: Rows | None) -> Operator:
    row = _row(scope, node, rows)
    assert row is not None  # noqa: S101 - a row without meaning is refused
    value = row.value(tuple(arg.dtype.scalar for arg in node.args), node.dtype.scalar)
    failures, allow = scope.failing_by_code(node.span), scope.machine.allow

    def undefined(frame: Frame, problem: UndefinedValue) -> float:
        if problem.wrapped is not None and problem.code.id in allow:
            return problem.wrapped
        raise failures(frame, problem.code, problem.detail) from None

    return Operator(value, undefined)
