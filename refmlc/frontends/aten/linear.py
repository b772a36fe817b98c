"""Products of matrices."""

from collections.abc import Mapping, Sequence

from refmlc.frontends.arrays import constant
from refmlc.frontends.aten.arithmetic import brought
from refmlc.frontends.emitter import Emitter, Operand
from refmlc.frontends.rule import Rule
from refmlc.lang.ir import relax


def matmul(e: Emitter, a: relax.Expr, b: relax.Expr) -> relax.Expr:
    """The product of matrices, those before it being broadcast."""
    return e.call("matmul", a, b)


def turned(e: Emitter, weight: relax.Expr) -> relax.Expr:
    """A matrix turned over, a vector as it is. A constant is turned here: no run has to do it again."""
    if isinstance(weight, relax.Constant):
        return constant(weight.data.T, weight.dtype)
    return e.call("permute_dims", weight) if e.rank(weight) > 1 else weight


def linear(e: Emitter, x: relax.Expr, weight: relax.Expr, bias: relax.Expr | None = None) -> relax.Expr:
    """`x @ weight.T + bias`."""
    result = e.call("matmul", x, turned(e, weight))
    return result if bias is None else e.call("add", result, bias)


def addmm(
    e: Emitter, x: relax.Expr, a: relax.Expr, b: relax.Expr, *, beta: Operand = 1, alpha: Operand = 1
) -> relax.Expr:
    """`beta * x + alpha * (a @ b)`."""
    result, dtype = e.call("matmul", a, b), e.dtype(a)
    if alpha != 1:
        result = e.call("multiply", result, brought(e, alpha, dtype))
    if beta == 0:
        return result
    return e.call("add", result, x if beta == 1 else e.call("multiply", x, brought(e, beta, dtype)))


def einsum(e: Emitter, equation: str, tensors: Sequence[relax.Expr]) -> relax.Expr:
    """The sum of products that the equation says."""
    return e.call("einsum", list(tensors), subscripts=equation)


def trilinear(  # noqa: PLR0913, PLR0917 - PyTorch's arguments
    e: Emitter,
    i1: relax.Expr,
    i2: relax.Expr,
    i3: relax.Expr,
    expand1: Sequence[int],
    expand2: Sequence[int],
    expand3: Sequence[int],
    sumdim: Sequence[int],
    unroll_dim: int = 1,
) -> relax.Expr:
    """The product of three tensors with axes of one place added to each, summed along axes."""
    del unroll_dim  # an order of evaluation
    wide = []
    for item, axes in ((i1, expand1), (i2, expand2), (i3, expand3)):
        result = item
        for axis in sorted(axes):
            result = e.call("expand_dims", result, axis=int(axis))
        wide.append(result)
    product = e.call("multiply", e.call("multiply", wide[0], wide[1]), wide[2])
    return e.call("sum", product, axis=tuple(int(axis) for axis in sumdim)) if sumdim else product


def outer(e: Emitter, a: relax.Expr, b: relax.Expr) -> relax.Expr:
    """Every product of two vectors' elements."""
    return e.call("outer", a, b)


LINEAR: Mapping[str, Rule] = {
    "matmul": matmul,
    "mm": matmul,
    "bmm": matmul,
    "mv": matmul,
    "dot": matmul,
    "linear": linear,
    "addmm": addmm,
    "baddbmm": addmm,
    "einsum": einsum,
    "outer": outer,
    "_trilinear": trilinear,
}
