"""Functions of elements, made of the rows of scalar operators (TIP-003).

Elements meet as in expressions: operands are brought to one dtype (`refmlc.lang.ops.promote`), and each operator
rounds on its own. `Arithmetic` holds the machine's rows, so that its mode of transcendental functions is kept.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from refmlc.diag import Span, fail
from refmlc.diag.catalogue import TYPE_MISMATCH, UNSUPPORTED_DTYPE
from refmlc.lang.dtypes import DType
from refmlc.lang.ops.contract import Scalar, ScalarOp, UndefinedValue
from refmlc.lang.ops.promote import promoted
from refmlc.lang.ops.scalar import converter
from refmlc.lang.ops.scalar.fused import fused

Function: TypeAlias = Callable[..., Scalar]


@dataclass(frozen=True, slots=True)
class Typed:
    """A function of elements and the dtype of its result."""

    dtype: DType
    value: Function


@dataclass(frozen=True, slots=True)
class Arithmetic:
    """The rows of the scalar operators, and the codes whose value wraps instead. Fails: RM201, RM503, at `span`."""

    rows: Mapping[str, ScalarOp]
    allow: frozenset[str]
    span: Span | None

    def converted(self, source: DType, target: DType) -> Function:
        """An element of `source` as `target`."""
        return self._tolerant(converter(source, target))

    def unary(self, op: str, operand: DType) -> Typed:
        """The operator on an element."""
        return self._row(op, (operand,))

    def binary(self, op: str, a: DType, b: DType) -> Typed:
        """The operator on two elements, brought to one dtype."""
        common = self.common(a, b)
        row = self._row(op, (common, common))
        if a == b == common:
            return row
        left, right, value = self.converted(a, common), self.converted(b, common), row.value
        return Typed(row.dtype, lambda x, y: value(left(x), right(y)))

    def fused(self, a: DType, b: DType, c: DType) -> Typed:
        """X * y + z: of floats rounded once, of integers as `mul` and `add`."""
        common = self.common(self.common(a, b), c)
        value = fused(common) if common.is_float else self._in_steps(common)
        left, middle, right = (self.converted(dtype, common) for dtype in (a, b, c))
        return Typed(common, lambda x, y, z: value(left(x), middle(y), right(z)))

    def _in_steps(self, dtype: DType) -> Function:
        product, total = self.binary("mul", dtype, dtype).value, self.binary("add", dtype, dtype).value
        return lambda x, y, z: total(product(x, y), z)

    def common(self, a: DType, b: DType) -> DType:
        """The dtype that operands of both are brought to."""
        found = promoted(a, b)
        if found is None or found.is_vector:
            raise fail(TYPE_MISMATCH, f"elements of {a} and {b} have no common dtype", self.span)
        return found

    def _row(self, op: str, operands: tuple[DType, ...]) -> Typed:
        row = self.rows[op]
        if not row.contract.accepts_operands(operands) or (op == "div" and not operands[0].is_float):
            spelled = ", ".join(map(str, operands))
            raise fail(UNSUPPORTED_DTYPE, f"operator `{op}` is not supported on elements of {spelled}", self.span)
        dtype = row.contract.result_dtype(operands)
        return Typed(dtype, self._tolerant(row.value(operands, dtype)))

    def _tolerant(self, value: Function) -> Function:
        """`value`, wrapping where the user allows it."""
        allow = self.allow
        if not allow:
            return value

        def wrapping(*operands: Scalar) -> Scalar:
            try:
                return value(*operands)
            except UndefinedValue as problem:
                if problem.wrapped is not None and problem.code.id in allow:
                    return problem.wrapped
                raise

        return wrapping
