"""A tile primitive with its operands evaluated, executed (TIP-001)."""

from collections.abc import Callable, Mapping, Sequence
from math import isqrt, prod

from refmlc.diag.catalogue import UNSUPPORTED_CONSTRUCT
from refmlc.lang.ir.tirx import TilePrimitiveCall
from refmlc.lang.ops.contract import ScalarOp
from refmlc.lang.ops.scalar import SCALAR_OPS
from refmlc.run.interp.tirx.primitives import composed, elementwise, matmul, reduction
from refmlc.run.interp.tirx.primitives.arithmetic import Arithmetic
from refmlc.run.interp.tirx.primitives.operands import TileOperands
from refmlc.run.interp.tirx.primitives.reduction import FOLDS
from refmlc.run.interp.tirx.primitives.settings import refused

RULES: Mapping[str, Callable[[TileOperands], None]] = {
    **elementwise.RULES,
    **reduction.RULES,
    **composed.RULES,
    **matmul.RULES,
}
"""The rule of each operator that is executed."""

ASYNCHRONOUS = frozenset(("copy_async", "gemm_async"))
"""Operators whose results may be read after a completion only, which threads know (TIP-015, TIP-052)."""


def work(call: TilePrimitiveCall, values: Sequence[object]) -> int:
    """The number of elements that a call reads and computes, for the budget; of a product that of its terms."""
    operands = operands_of_call(call, values)
    sizes = [prod(tile.shape) for tile in operands.tiles()]
    if call.op in ("gemm", "gemm_async"):
        terms = isqrt(sizes[0] * sizes[1] * sizes[2])  # m n * m k * k n
        return sum(sizes) + terms
    if call.config.get("thread_reduce") and call.op in FOLDS:
        return sum(sizes) + sizes[0] * _reduced(operands)
    return sum(sizes)


def operands_of_call(call: TilePrimitiveCall, values: Sequence[object]) -> TileOperands:
    """The operands of a call that is no computation."""
    return TileOperands(call, tuple(values), Arithmetic(SCALAR_OPS, frozenset(), call.span))


def _reduced(operands: TileOperands) -> int:
    """The number of terms of each element of a reduction."""
    shape = operands.tile("src").shape
    axes = {axis % len(shape) for axis in operands.axes("axes") if shape}
    return prod(shape[axis] for axis in axes)


def execute(
    call: TilePrimitiveCall,
    values: Sequence[object],
    rows: Mapping[str, ScalarOp] = SCALAR_OPS,
    allow: frozenset[str] = frozenset(),
) -> None:
    """Execute `call` on its operands in order: views, numbers, strings, tuples, functions, None (`operands`).

    `rows` and `allow` are the machine's. Fails: RM201, RM202, RM208, RM321, RM503, RM504, as views and scalar
    operators do.
    """
    operands = TileOperands(call, tuple(values), Arithmetic(rows, allow, call.span))
    if call.op in ASYNCHRONOUS:
        message = f"`{operands.name}` is not executed: the threads of a kernel issue it, and wait until it is complete"
        raise operands.refuse(UNSUPPORTED_CONSTRUCT, message)
    refusal = refused(call.op, call.config)
    if refusal:
        raise operands.unsupported(refusal)
    RULES[call.op](operands)
