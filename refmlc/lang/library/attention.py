"""Attention of queries to keys, for several heads.

For a query: the products with all keys, scaled, with `bias` added; their `softmax` weighs the values.

| `causal_mask`   | query i sees key j where                      | the last key, `last`         |
|-----------------|-----------------------------------------------|------------------------------|
| None            | always                                        |                              |
| `"TopLeft"`     | `j <= last`                                   | `i`                          |
| `"BottomRight"` | `j <= last`                                   | `i + abs(queries - keys)`    |

With a `window_size` the first key that is seen is `last - window_size + 1`.

Order: products over the dimension of the head, sums over the keys, in their order, in the dtype of the queries.
"""

from collections.abc import Callable

from refmlc.diag import fail
from refmlc.diag.catalogue import BAD_ARGUMENTS, TYPE_MISMATCH
from refmlc.lang import te
from refmlc.lang.library.definition import Operator, computed
from refmlc.lang.library.normalization import softmax
from refmlc.lang.library.reduction import MAX, over, over_extents
from refmlc.lang.library.shapes import broadcast_indices, broadcast_shape, known, must_agree, require_float
from refmlc.lang.te import Tensor, Value

MASKS = (None, "TopLeft", "BottomRight")


def alike(name: str, query: Tensor, others: tuple[Tensor, ...]) -> None:
    """Fails: RM105, RM201 where tensors have not 4 dimensions, or another dtype."""
    require_float(query, name)
    for tensor in (query, *others):
        if tensor.ndim != 4:
            raise fail(BAD_ARGUMENTS, f"`{name}` takes tensors of 4 dimensions; `{tensor.name}` has {tensor.ndim}")
        if tensor.dtype != query.dtype:
            raise fail(TYPE_MISMATCH, f"`{name}` takes tensors of one dtype; `{tensor.name}` is {tensor.dtype}")


def scores_of(query: Tensor, key: Tensor, bias: Tensor | None, scale: float | None) -> Tensor:
    """How much query i goes with key j, by image and head."""
    batch, length, heads, size = query.shape
    dtype = query.dtype
    (k,), there = over(query, (3,))
    products = computed(
        (batch, heads, length, key.shape[1]),
        lambda b, h, i, j: te.sum(query(b, i, h, k) * key(b, j, h, k), axis=[k], where=there),
        "products",
    )
    have = known(size)
    root = te.sqrt(te.cast(size, dtype) if have is None else te.const(have, dtype))

    def element(*i: Value) -> Value:
        value = products(*i) / root if scale is None else products(*i) * te.const(float(scale), dtype)
        return value if bias is None else value + bias(*broadcast_indices(bias.shape, i, products.shape))

    return computed(products.shape, element, "scores")


def masked(scores: Tensor, sees: Callable[[Value, Value], Value], *, always: bool) -> Tensor:
    """`softmax` along the keys, of those that are seen; where a query need not see one (not `always`), 0 then."""
    batch, heads, length, keys = scores.shape
    (j,), there = over_extents([keys], ["j"])
    zero = te.const(0, scores.dtype)

    def greatest(b: Value, h: Value, i: Value) -> object:
        counts = sees(i, j) if there is None else te.all(there, sees(i, j))
        return MAX(scores(b, h, i, j), axis=[j], where=counts)

    most = computed((batch, heads, length), greatest, "scores_max")

    def power(b: Value, h: Value, i: Value, at: Value) -> Value:
        return te.if_then_else(sees(i, at), te.exp(scores(b, h, i, at) - most(b, h, i)), zero)

    powers = computed(scores.shape, power, "powers")
    total = computed(most.shape, lambda b, h, i: te.sum(powers(b, h, i, j), axis=[j], where=there), "powers_sum")

    def weight(b: Value, h: Value, i: Value, at: Value) -> Value:
        part = powers(b, h, i, at) / total(b, h, i)
        return part if always else te.if_then_else(total(b, h, i) == zero, zero, part)

    return computed(scores.shape, weight, "weights")


def _offset(length: Value, keys: Value, mask: str) -> Value:
    if mask == "TopLeft":
        return te.const(0, "int64")
    have, want = known(length), known(keys)
    return te.abs(length - keys) if have is None or want is None else te.const(abs(have - want), "int64")


def seen(key: Value, last: Value, window_size: int | None) -> Value:
    """Whether a key is one of those up to `last`, and of no more than `window_size` of them."""
    return key <= last if window_size is None else te.all(key <= last, key > last - window_size)


def check_mask(name: str, causal_mask: str | None, window_size: int | None) -> None:
    """Fails: RM105 where there is no such mask, or no such window."""
    if causal_mask not in MASKS:
        raise fail(BAD_ARGUMENTS, f'`{name}` has the masks "TopLeft" and "BottomRight"; this is {causal_mask!r}')
    if window_size is not None and (causal_mask is None or window_size < 1):
        requirement = "needs a causal_mask" if causal_mask is None else f"is at least 1; this is {window_size}"
        raise fail(BAD_ARGUMENTS, f"the window_size of `{name}` {requirement}")


def attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    bias: Tensor | None = None,
    *,
    scale: float | None = None,
    causal_mask: str | None = None,
    window_size: int | None = None,
) -> Tensor:
    """For each query the mean of the values, weighed by the softmax of its products with the keys.

    Shapes: queries (batch, n, heads, d), keys (batch, m, heads, d), values (batch, m, heads, e) give (batch, n, heads,
    e); the bias is broadcast to (batch, heads, n, m). Without `scale` the products are divided by the root of d. Order:
    products over d, then the weights over the keys, in their order, in the dtype of the queries. Fails: RM105, RM201,
    RM202.
    """
    name = "nn.attention" if bias is None else "nn.attention_bias"
    alike(name, query, (key, value) if bias is None else (key, value, bias))
    check_mask(name, causal_mask, window_size)
    batch, length, heads, size = query.shape
    for tensor in (key, value):
        must_agree(batch, tensor.shape[0], f"the images of `{name}`")
        must_agree(heads, tensor.shape[2], f"the heads of `{name}`")
    must_agree(size, key.shape[3], f"the sizes of queries and keys of `{name}`")
    must_agree(key.shape[1], value.shape[1], f"the keys and values of `{name}`")
    if bias is not None:
        whole = (batch, heads, length, key.shape[1])
        for have, want in zip(broadcast_shape(bias.shape, whole), whole, strict=True):
            must_agree(have, want, f"the bias of `{name}`")
    scores = scores_of(query, key, bias, scale)
    if causal_mask is None:
        weights = softmax(scores)
    else:
        offset = _offset(length, key.shape[1], causal_mask)
        weights = masked(scores, lambda i, j: seen(j, i + offset, window_size), always=window_size is None)
    (j,), there = over(value, (1,))
    return computed(
        (batch, length, heads, value.shape[3]),
        lambda b, i, h, e: te.sum(weights(b, h, i, j) * value(b, j, h, e), axis=[j], where=there),
        "attention",
    )


ATTENTION = (
    Operator("nn.attention", attention, "LIB-041"),
    Operator("nn.attention_bias", attention, "LIB-041"),
)
