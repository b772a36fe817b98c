"""Operators that Relax had in 2022 and has no more, for the programs of that time.

| operator   | is today                          |
|------------|-----------------------------------|
| `nn.dense` | `matmul(x, permute_dims(weight))` |
"""

from refmlc.diag import fail
from refmlc.diag.catalogue import TYPE_MISMATCH
from refmlc.lang import te
from refmlc.lang.library.definition import Operator, computed
from refmlc.lang.library.reduction import over_extents
from refmlc.lang.library.shapes import must_agree, require_rank
from refmlc.lang.te import Tensor, Value


def dense(data: Tensor, weight: Tensor) -> Tensor:
    """The product of a matrix and a transposed matrix: the sum over k of `data[i, k] * weight[j, k]`.

    Shapes: (n, k) and (m, k) give (n, m). Order: terms are added from 0 in the order of k, in the dtype of both.
    Fails: RM105 tensors that are no matrices, RM201 dtypes that differ, RM202.
    """
    for tensor in (data, weight):
        require_rank(tensor, 2, "dense")
    if data.dtype != weight.dtype:
        raise fail(TYPE_MISMATCH, f"`dense` takes tensors of one dtype; these are {data.dtype} and {weight.dtype}")
    must_agree(data.shape[1], weight.shape[1], "the inner dimensions of `dense`")
    (k,), there = over_extents([data.shape[1]], ["k"])

    def term(i: Value, j: Value) -> object:
        return te.sum(data(i, k) * weight(j, k), axis=[k], where=there)

    return computed((data.shape[0], weight.shape[0]), term, "T_matmul_NT")


FORMER = (Operator("nn.dense", dense, "LIB-891", ("nn.dense",)),)
