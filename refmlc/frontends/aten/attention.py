"""Attention, embeddings, elements looked up."""

import math
from collections.abc import Mapping, Sequence

from refmlc.diag import fail
from refmlc.diag.catalogue import UNSUPPORTED_OP
from refmlc.frontends.aten.nans import any_of
from refmlc.frontends.emitter import Emitter, Operand
from refmlc.frontends.rule import Rule, whole
from refmlc.lang.ir import relax

Tensor = relax.Expr


def attention(  # noqa: PLR0913 - PyTorch's arguments
    e: Emitter,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attn_mask: Tensor | None = None,
    dropout_p: float = 0.0,
    is_causal: Operand = False,
    *,
    scale: Operand = None,
    enable_gqa: Operand = False,
) -> Tensor:
    """`softmax(query @ key.T * scale + mask) @ value`, written out, for tensors of any rank.

    A mask of bool hides where it is false; the causal one hides what comes after. Fails: RM501 with dropout.
    """
    if dropout_p:
        raise fail(UNSUPPORTED_OP, "attention with dropout is random: call `model.eval()` before the export")
    dtype, shape = e.dtype(query), e.shape(query)
    factor = 1 / math.sqrt(whole(shape[-1])) if scale is None else float(str(scale))
    if enable_gqa:
        key, value = (_repeated(e, one, e.shape(query)[-3]) for one in (key, value))
    order = [*range(e.rank(key) - 2), e.rank(key) - 1, e.rank(key) - 2]
    scores = e.call("matmul", query, e.call("permute_dims", key, axes=tuple(order)))
    scores = e.call("multiply", scores, e.scalar(factor, dtype))
    hidden = e.scalar(-math.inf, dtype)
    if is_causal:
        ones = e.call("full", e.sizes([shape[-2], e.shape(key)[-2]]), e.scalar(1, "int32"), dtype="int32")
        scores = e.call("where", e.astype(e.call("tril", ones, 0), "bool"), scores, hidden)
    if attn_mask is not None:
        truth = e.dtype(attn_mask) == "bool"
        scores = e.call("where", attn_mask, scores, hidden) if truth else e.call("add", scores, attn_mask)
    weights: Tensor = e.call("nn.softmax", scores, axis=-1)
    if attn_mask is not None:
        weights = _nothing_where_all_hidden(e, scores, weights)
    return e.call("matmul", weights, value)


def _nothing_where_all_hidden(e: Emitter, scores: Tensor, weights: Tensor) -> Tensor:
    """A row that the mask hides wholly has the weights 0, as PyTorch has it (`_safe_softmax`)."""
    dtype = e.dtype(scores)
    visible = e.call("not_equal", scores, e.scalar(-math.inf, dtype))
    return e.call("where", any_of(e, visible, (-1,), keep=True), weights, e.scalar(0, dtype))


def _repeated(e: Emitter, x: Tensor, heads: Operand) -> Tensor:
    """The heads repeated to as many as the query has."""
    times = whole(heads) // whole(e.shape(x)[-3])
    return x if times == 1 else e.call("repeat", x, repeats=times, axis=e.rank(x) - 3)


def embedding(e: Emitter, weight: Tensor, indices: Tensor) -> Tensor:
    """The rows at the indices."""
    return e.call("take", weight, indices, axis=0)


def index(e: Emitter, x: Tensor, indices: Sequence[Tensor | None]) -> Tensor:
    """The elements at indices; one tensor of them along one axis, or one for each of the first axes."""
    given = [(axis, one) for axis, one in enumerate(indices) if one is not None]
    if len(given) == 1:
        return e.call("take", x, given[0][1], axis=given[0][0])
    if [axis for axis, _ in given] != list(range(len(given))):
        raise fail(UNSUPPORTED_OP, "an index by several tensors takes them for the first axes")
    return e.call("index_tensor", x, [one for _, one in given])


def gather(e: Emitter, x: Tensor, dim: int, indices: Tensor) -> Tensor:
    """At each place the element whose index along the axis is there."""
    return e.call("gather_elements", x, indices, axis=int(dim))


def index_select(e: Emitter, x: Tensor, dim: int, indices: Tensor) -> Tensor:
    """The places at the indices along an axis."""
    return e.call("take", x, indices, axis=int(dim))


LOOKUP: Mapping[str, Rule] = {
    "scaled_dot_product_attention": attention,
    "embedding": embedding,
    "index": index,
    "gather": gather,
    "index_select": index_select,
}
