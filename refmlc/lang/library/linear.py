"""Products of matrices and vectors.

| operator | the element                                                                           |
|----------|---------------------------------------------------------------------------------------|
| `matmul` | the sum over k of `a[…, i, k] * b[…, k, j]`; a vector counts as a row, or as a column |
| `outer`  | `a[i] * b[j]`                                                                         |

Order: terms are added from 0 in the order of k; factors are converted to the dtype of the result first.
"""

from refmlc.diag import fail
from refmlc.diag.catalogue import BAD_ARGUMENTS, TYPE_MISMATCH
from refmlc.lang import te
from refmlc.lang.library.definition import Operator, computed
from refmlc.lang.library.reduction import over
from refmlc.lang.library.shapes import broadcast_indices, broadcast_shape, must_agree, require_rank
from refmlc.lang.te import Tensor, Value


def matmul(x1: Tensor, x2: Tensor, *, out_dtype: str | None = None) -> Tensor:
    """The product of matrices, or of stacks of them, whose stacking dimensions are broadcast.

    Shapes: (…, n, k) and (…, k, m) give (…, n, m); a vector as the first is a row, as the second a column, and its
    dimension is left out of the result. Order: terms are added in the order of k, in the dtype of the result. Fails:
    RM105 tensors without dimensions, RM201 dtypes that differ, RM202.
    """
    if not x1.ndim or not x2.ndim:
        raise fail(BAD_ARGUMENTS, "`matmul` takes tensors of at least one dimension")
    if x1.dtype != x2.dtype:
        raise fail(TYPE_MISMATCH, f"`matmul` takes tensors of one dtype; these are {x1.dtype} and {x2.dtype}")
    dtype = x1.dtype if out_dtype in (None, "", "void") else str(out_dtype)
    row, column = x1.ndim == 1, x2.ndim == 1
    must_agree(x1.shape[-1], x2.shape[-1 if column else -2], "the inner dimensions of `matmul`")
    batch = broadcast_shape(x1.shape[:-2], x2.shape[:-2])
    shape = (*batch, *(() if row else (x1.shape[-2],)), *(() if column else (x2.shape[-1],)))
    (k,), there = over(x1, (x1.ndim - 1,))

    def term(*i: Value) -> object:
        outer, rest = i[: len(batch)], list(i[len(batch) :])
        left = [k] if row else [rest.pop(0), k]
        right = [k] if column else [k, rest.pop(0)]
        a = x1(*broadcast_indices(x1.shape[: x1.ndim - len(left)], outer, batch), *left)
        b = x2(*broadcast_indices(x2.shape[: x2.ndim - len(right)], outer, batch), *right)
        return te.sum(te.cast(a, dtype) * te.cast(b, dtype), axis=[k], where=there)

    return computed(shape, term, "matmul")


def outer(x1: Tensor, x2: Tensor) -> Tensor:
    """The products of all pairs of elements of two vectors. Fails: RM105, RM201."""
    require_rank(x1, 1, "outer")
    require_rank(x2, 1, "outer")
    if x1.dtype != x2.dtype:
        raise fail(TYPE_MISMATCH, f"`outer` takes tensors of one dtype; these are {x1.dtype} and {x2.dtype}")
    return computed((x1.shape[0], x2.shape[0]), lambda i, j: x1(i) * x2(j), "outer")


LINEAR = (
    Operator("matmul", matmul, "LIB-801", ("matmul",)),
    Operator("outer", outer, "LIB-802"),
)
