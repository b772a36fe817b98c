"""Operators as text: when the form with a name stands in place of the symbol; both are in the operator's row.

TVM folds constants while it reads `x + 0` or `1 + 2`; such expressions are shown in the form that is not folded,
`T.Add(x, 0)`. The rule is that of TVM's own printer; the
constants of an operator are `Notation.folds`.

| operator           | folded, therefore named                                   |
|--------------------|-----------------------------------------------------------|
| all binary         | both operands constant                                    |
| `+`                | either 0                                                  |
| `-`, `<<`, `>>`    | the right one 0                                           |
| `*`                | either 0 or 1                                             |
| `/ // %` and kin   | the left one 0; the right one 1 or 0                      |
| `and`, `or`, `not` | an operand constant                                       |
"""

from refmlc.lang.dtypes import DType
from refmlc.lang.ir import tir
from refmlc.lang.ops.scalar import SCALAR_OPS


def named(op: str, dtype: DType) -> str:
    """The function that the named form calls, in `dtype`."""
    row = SCALAR_OPS.get(op)
    if row is None:
        return f"T.{op}"
    on_floats = row.contract.notation.on_floats
    return f"T.{on_floats if on_floats and dtype.is_float else row.contract.text}"


def constant_of(node: tir.Expr) -> float | int | None:
    """The value of a constant."""
    return node.value if isinstance(node, (tir.IntImm, tir.FloatImm)) else None


def folds(op: str, args: tuple[tir.Expr, ...]) -> bool:
    """Whether TVM would simplify the operator while it reads it."""
    values = [constant_of(arg) for arg in args]
    if all(value is not None for value in values):
        return True
    if len(values) != 2:
        return False
    row = SCALAR_OPS.get(op)
    return row is not None and any(
        value in simple for value, simple in zip(values, row.contract.notation.folds, strict=True)
    )
