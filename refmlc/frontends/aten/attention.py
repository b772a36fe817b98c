"""Attention, embeddings, elements looked up."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from refmlc.diag import fail
from refmlc.diag.catalogue import UNSUPPORTED_OP
from refmlc.frontends.arrays import constant
from refmlc.frontends.aten.nans import along, any_of
from refmlc.frontends.emitter import Emitter, Operand, Size
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
        key, value = (_repeated(e, item, e.shape(query)[-3]) for item in (key, value))
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


def from_front(e: Emitter, places: Tensor, extent: Size) -> Tensor:
    """Places that may count from the end of an axis, counted from its beginning."""
    if isinstance(places, relax.Constant):
        if not (places.data < 0).any():
            return places
        if isinstance(extent, int):
            return constant(np.where(places.data < 0, places.data + extent, places.data), places.dtype)
    wide = e.astype(places, "int64")
    shifted = e.call("add", wide, e.scalar(extent, "int64"))
    return e.call("where", e.call("less", wide, e.scalar(0, "int64")), shifted, wide)


@dataclass(frozen=True)
class Indexed:
    """A tensor indexed by several: `places` for the axes `axes`, in order; `outer` is what they are broadcast to."""

    shape: tuple[Size, ...]
    axes: tuple[int, ...]
    places: tuple[Tensor, ...]
    outer: tuple[Size, ...]

    @classmethod
    def of(cls, e: Emitter, x: Tensor, indices: Sequence[Tensor | None], *, checked: bool = False) -> "Indexed":
        """`checked`: no index counts from the end. Fails: RM501 for a mask."""
        shape = e.shape(x)
        values = [(axis, index) for axis, index in enumerate(indices) if index is not None]
        if any(e.dtype(item) == "bool" for _, item in values):
            raise fail(UNSUPPORTED_OP, "an index by a mask is not supported: its shape depends on data")
        places = tuple(item if checked else from_front(e, item, shape[axis]) for axis, item in values)
        return cls(shape, tuple(axis for axis, _ in values), places, _broadcast([e.shape(place) for place in places]))

    @property
    def rest(self) -> tuple[int, ...]:
        """The axes that are not indexed."""
        return tuple(axis for axis in range(len(self.shape)) if axis not in self.axes)

    @property
    def front(self) -> int:
        """How many axes of the result come before those of the indices: none where the indexed axes are apart."""
        together = self.axes == tuple(range(self.axes[0], self.axes[0] + len(self.axes)))
        return self.axes[0] if together else 0

    def result(self, e: Emitter) -> tuple[Size, ...]:
        """The shape of what is at the indices."""
        del e
        others = [self.shape[axis] for axis in self.rest]
        return (*others[: self.front], *self.outer, *others[self.front :])

    def moved(self, e: Emitter, x: Tensor) -> Tensor:
        """The tensor with the indexed axes first."""
        return _permuted(e, x, (*self.axes, *self.rest))

    def back(self, e: Emitter, x: Tensor) -> Tensor:
        """The opposite of `moved`."""
        order = (*self.axes, *self.rest)
        return _permuted(e, x, tuple(order.index(axis) for axis in range(len(order))))

    def in_place(self, e: Emitter, x: Tensor) -> Tensor:
        """A result whose first axes are those of the indices, with these axes where PyTorch puts them."""
        count, front = len(self.outer), self.front
        first = range(count, count + front)
        return _permuted(e, x, (*first, *range(count), *range(count + front, e.rank(x))))

    def values_first(self, e: Emitter, x: Tensor) -> Tensor:
        """The opposite of `in_place`."""
        count, front = len(self.outer), self.front
        return _permuted(e, x, (*range(front, front + count), *range(front), *range(front + count, e.rank(x))))

    def every(self, e: Emitter) -> list[Tensor]:
        """Indices for all axes: for those that are not indexed their own places."""
        others = len(self.rest)
        result = [e.reshape(place, [*e.shape(place), *(1,) * others]) for place in self.places]
        for at, axis in enumerate(self.rest):
            extent = self.shape[axis]
            if not isinstance(extent, int):
                raise fail(UNSUPPORTED_OP, "values are put at places of known extents alone")
            result.append(constant(np.arange(extent, dtype=np.int64).reshape([-1, *(1,) * (others - at - 1)])))
        return result


def _permuted(e: Emitter, x: Tensor, order: tuple[int, ...]) -> Tensor:
    return x if order == tuple(range(len(order))) else e.call("permute_dims", x, axes=order)


def _broadcast(shapes: Sequence[tuple[Size, ...]]) -> tuple[Size, ...]:
    """The shape that shapes are broadcast to."""
    rank = max(len(shape) for shape in shapes)
    whole_ones = [(*(1,) * (rank - len(shape)), *shape) for shape in shapes]
    return tuple(
        next((size for size in sizes if not (isinstance(size, int) and size == 1)), 1)
        for sizes in zip(*whole_ones, strict=True)
    )


def index(e: Emitter, x: Tensor, indices: Sequence[Tensor | None]) -> Tensor:
    """The elements at the indices in tensors, one for each of some axes; below 0 they count from the end."""
    return _at(e, x, Indexed.of(e, x, indices))


def unsafe_index(e: Emitter, x: Tensor, indices: Sequence[Tensor | None]) -> Tensor:
    """The elements at indices that are known not to count from the end."""
    return _at(e, x, Indexed.of(e, x, indices, checked=True))


def _at(e: Emitter, x: Tensor, places: Indexed) -> Tensor:
    if len(places.axes) == 1:
        return e.call("take", x, places.places[0], axis=places.axes[0])
    return places.in_place(e, e.call("index_tensor", places.moved(e, x), list(places.places)))


def embedding_bag(  # noqa: PLR0913, PLR0917 - PyTorch's arguments
    e: Emitter,
    weight: Tensor,
    indices: Tensor,
    offsets: Tensor,
    scale_grad_by_freq: Operand = False,
    mode: int = 0,
    sparse: Operand = False,
    per_sample_weights: Tensor | None = None,
    include_last_offset: Operand = False,
    padding_idx: int = -1,
) -> Operand:
    """The sum, the mean or the greatest of the rows in each bag: what is from one offset on before the next.

    Decision: each bag looks at every row, since where it begins may depend on data. A bag without rows is 0.
    """
    del scale_grad_by_freq, sparse  # of gradients alone
    rows, dtype = e.call("take", weight, indices, axis=0), e.dtype(weight)
    if per_sample_weights is not None:
        rows = e.call("multiply", rows, e.call("expand_dims", per_sample_weights, axis=1))
    remaining = _bags(e, indices, offsets, ends=bool(include_last_offset))
    if padding_idx >= 0:
        remaining = e.call(
            "logical_and", remaining, e.call("not_equal", indices, e.scalar(padding_idx, e.dtype(indices)))
        )
    count = e.call("sum", e.astype(remaining, dtype), axis=(1,), keepdims=True)
    wide, each = e.call("expand_dims", remaining, axis=2), e.call("expand_dims", rows, axis=0)
    if mode == 2:
        lowest = e.call("where", wide, each, e.scalar(-math.inf, dtype))
        greatest = along(e, "max", lowest, (1,), keep=False)
        none = e.call("equal", count, e.scalar(0, dtype))
        return (e.call("where", none, e.scalar(0, dtype), greatest),)
    total = e.call("sum", e.call("where", wide, each, e.scalar(0, dtype)), axis=(1,))
    if mode == 0:
        return (total,)
    return (e.call("divide", total, e.call("maximum", count, e.scalar(1, dtype))),)


def _bags(e: Emitter, indices: Tensor, offsets: Tensor, *, ends: bool) -> Tensor:
    """For each bag and each row whether it is in there."""
    total, dtype = e.shape(indices)[0], e.dtype(offsets)
    places = e.call("arange", 0, total, 1, dtype=dtype)
    starts = e.call("expand_dims", offsets, axis=1)
    begun = e.call("greater_equal", places, starts)
    count = whole(e.shape(offsets)[0])
    later = e.call("strided_slice", begun, [0], [1], [count], [1])
    if ends:
        begun = e.call("strided_slice", begun, [0], [0], [count - 1], [1])
    else:
        never = e.call("full", e.sizes([1, total]), e.scalar(False, "bool"), dtype="bool")
        later = e.call("concat", [later, never], axis=0) if count > 1 else never
    return e.call("logical_and", begun, e.call("logical_not", later))


def gather(e: Emitter, x: Tensor, dim: int, indices: Tensor) -> Tensor:
    """At each place the element whose index along the axis is there."""
    if 0 in e.shape(indices):
        return e.call("full", e.sizes(e.shape(indices)), e.scalar(0, e.dtype(x)), dtype=e.dtype(x))
    if e.rank(x) == e.rank(indices):
        return e.call("gather_elements", x, indices, axis=int(dim)) if e.rank(x) else x
    flat = e.call("gather_elements", e.reshape(x, [-1]), e.reshape(indices, [-1]), axis=0)  # one has no axis
    return e.reshape(flat, e.shape(indices))


def index_select(e: Emitter, x: Tensor, dim: int, indices: Tensor) -> Tensor:
    """The places at the indices along an axis."""
    places = e.reshape(indices, [1]) if e.rank(indices) == 0 else indices
    if e.rank(x) == 0:
        return e.reshape(e.call("take", e.reshape(x, [1]), places, axis=0), [])
    return e.call("take", x, places, axis=int(dim))


def one_hot(e: Emitter, x: Tensor, num_classes: int = -1) -> Tensor:
    """A new last axis: 1 at the place of the index, else 0."""
    if num_classes < 0:
        raise fail(UNSUPPORTED_OP, "`one_hot` without a number of classes is not supported: its shape depends on data")
    return e.call("one_hot", x, 1, 0, depth=int(num_classes), axis=-1)


LOOKUP: Mapping[str, Rule] = {
    "scaled_dot_product_attention": attention,
    "embedding": embedding,
    "index": index,
    "_unsafe_index": unsafe_index,
    "_embedding_bag": embedding_bag,
    "_embedding_bag_forward_only": embedding_bag,
    "gather": gather,
    "one_hot": one_hot,
    "index_select": index_select,
}
