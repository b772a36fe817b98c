"""Two operators in one (TIP-041, TIP-042).

| operator        | meaning                                                                                       |
|-----------------|-----------------------------------------------------------------------------------------------|
| `binary_chain`  | (operand0 op0 data) op1 operand1; with `reverse1`, operand1 op1 (operand0 op0 data)            |
| `binary_reduce` | binary_output = input1 op input2; reduce_output = the reduction of binary_output over the axes |
| `unary_reduce`  | unary_output = f(input * scale + bias); reduce_output = the reduction of unary_output          |
"""

from collections.abc import Callable, Mapping

from refmlc.lang.ops.contract import Scalar
from refmlc.run.interp.tirx.primitives.arithmetic import Typed
from refmlc.run.interp.tirx.primitives.elementwise import BINARY, SCALED, apply_scaled, binary_function, each
from refmlc.run.interp.tirx.primitives.operands import TileOperands
from refmlc.run.interp.tirx.primitives.reduction import Tiles, apply_reduction

ORDERED = frozenset(("sub", "fdiv"))
"""Operators whose value depends on the order of the operands, NaN and zeros aside."""


def binary_chain(operands: TileOperands) -> None:  # TIP-041
    """Fails: RM504 an operator that is none of two tiles; `op0` of `ORDERED`."""
    first, second = _binary(operands, "op0"), _binary(operands, "op1")
    if first in ORDERED:
        # Decision: TVM's documentation says operand0 op0 data, its lowering for Trainium data op0 operand0.
        raise operands.unsupported(f"`op0={first!r}`: which operand is the first is not defined")
    output = operands.tile("output")
    sources = operands.sources(output.shape, "data", "operand0", "operand1")
    data, operand0, operand1 = sources
    arithmetic = operands.arithmetic
    inner = binary_function(arithmetic, first, operand0.dtype, data.dtype)
    if operands.flag("reverse1"):
        outer = binary_function(arithmetic, second, operand1.dtype, inner.dtype)
    else:
        outer = binary_function(arithmetic, second, inner.dtype, operand1.dtype)
    reverse = operands.flag("reverse1")

    def value(x: Scalar, y: Scalar, z: Scalar) -> Scalar:
        between = inner.value(y, x)
        return outer.value(z, between) if reverse else outer.value(between, z)

    each(operands, output, sources, Typed(outer.dtype, value))


def binary_reduce(operands: TileOperands) -> None:  # TIP-042
    """What is reduced are the elements of `binary_output`, as they are stored."""
    op = _binary(operands, "binary_op")
    output = operands.tile("binary_output")
    sources = operands.sources(output.shape, "binary_input1", "binary_input2")
    a, b = sources
    each(operands, output, sources, binary_function(operands.arithmetic, op, a.dtype, b.dtype))
    _reduce(operands, "binary_output")


def unary_reduce(operands: TileOperands) -> None:  # TIP-042
    """What is reduced are the elements of `unary_output`, as they are stored."""
    op = operands.operator("unary_op")
    if op not in SCALED:
        raise operands.unsupported(f"`unary_op={op!r}`")
    apply_scaled(operands, op, operands.tile("unary_output"), "unary_input")
    _reduce(operands, "unary_output")


def _reduce(operands: TileOperands, source: str) -> None:
    tiles = Tiles(operands, "reduce_output", source, "reduce_axes")
    apply_reduction(operands, operands.operator("reduce_op"), tiles)


def _binary(operands: TileOperands, name: str) -> str:
    op = operands.operator(name)
    if op not in BINARY:
        raise operands.unsupported(f"`{name}={op!r}`")
    return op


RULES: Mapping[str, Callable[[TileOperands], None]] = {
    "binary_chain": binary_chain,
    "binary_reduce": binary_reduce,
    "unary_reduce": unary_reduce,
}
"""The rule of each operator of this file."""
