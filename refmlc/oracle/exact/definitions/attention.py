"""Attention: the mean of the values, weighed by the softmax of the products of a query with the keys."""

from collections.abc import Callable

import numpy as np

from refmlc.oracle.exact.definitions.arrays import Array, filled, form_of, numbers
from refmlc.oracle.exact.definitions.definition import FORMULA, ONNX, PYTORCH, ExactDefinition, NoDefinition
from refmlc.oracle.exact.definitions.functions import function
from refmlc.oracle.exact.definitions.normalization import softmax_of
from refmlc.oracle.exact.definitions.numbers import UNKNOWN, ExactNumber, constant, total

Sees = Callable[[int, int], bool]


def _attended(query: Array, key: Array, value: Array, bias: Array | None, scale: float | None, sees: Sees) -> Array:
    """(b, n, h, d), (b, m, h, d), (b, m, h, e) give (b, n, h, e); a query that sees no key has no definition."""
    form, size = form_of(query), query.shape[3]
    q, k, v = numbers(query), numbers(key), numbers(value)
    root = (
        constant(float(scale), form)
        if scale is not None
        else function("sqrt", ExactNumber(constant(size, form).rational, 0.0, form))
    )
    shape = (query.shape[0], query.shape[2], query.shape[1], key.shape[1])
    added = None if bias is None else np.broadcast_to(numbers(bias), shape)

    def score(b: int, h: int, i: int, j: int) -> ExactNumber:
        dot = total((x * y for x, y in zip(q[b, i, h], k[b, j, h], strict=True)), form)
        scaled = dot / root if scale is None else dot * root
        return scaled if added is None else scaled + added[b, h, i, j]

    def row(b: int, i: int, h: int) -> list[ExactNumber]:
        seen = [j for j in range(key.shape[1]) if sees(i, j)]
        if not seen:
            return [UNKNOWN] * value.shape[3]
        weights = softmax_of([score(b, h, i, j) for j in seen], form)
        return [
            total((w * v[b, j, h, e] for w, j in zip(weights, seen, strict=True)), form) for e in range(value.shape[3])
        ]

    outer = (query.shape[0], query.shape[1], query.shape[2])
    return filled((*outer, value.shape[3]), (item for at in np.ndindex(*outer) for item in row(*at)))


def _mask(length: int, keys: int, causal_mask: str | None, window_size: int | None) -> Sees:
    if causal_mask == "BottomRight" and keys < length:
        raise NoDefinition("a mask from the lower right of more queries than keys")
    offset = keys - length if causal_mask == "BottomRight" else 0

    def sees(i: int, j: int) -> bool:
        last = i + offset
        return causal_mask is None or (j <= last and (window_size is None or j > last - window_size))

    return sees


def attention(
    query: Array,
    key: Array,
    value: Array,
    bias: Array | None = None,
    *,
    scale: float | None = None,
    causal_mask: str | None = None,
    window_size: int | None = None,
) -> Array:
    """softmax(query key / sqrt(d) + bias) value."""
    sees = _mask(query.shape[1], key.shape[1], causal_mask, window_size)
    return _attended(query, key, value, bias, scale, sees)


def attention_var_len(
    query: Array,
    key: Array,
    value: Array,
    *limits: Array | None,
    scale: float | None = None,
    causal_mask: str | None = None,
    window_size: int | None = None,
) -> Array:
    """The same for each sequence; the starts are the vectors among `limits`."""
    starts = [limit for limit in limits if limit is not None and limit.ndim and limit.size > 1]
    if not starts:
        raise NoDefinition("sequences without starts")
    first, second = starts[0], starts[-1]
    result = filled(
        (*query.shape[:3], value.shape[3]),
        (UNKNOWN for _ in range(query.size // max(query.shape[3], 1) * value.shape[3])),
    )
    for at in range(len(first) - 1):
        own, other = slice(int(first[at]), int(first[at + 1])), slice(int(second[at]), int(second[at + 1]))
        parts = query[:, own], key[:, other], value[:, other]
        sees = _mask(parts[0].shape[1], parts[1].shape[1], causal_mask, window_size)
        result[:, own] = _attended(*parts, None, scale, sees)
    return result


SOURCE = f"{PYTORCH} torch.nn.functional.scaled_dot_product_attention, {ONNX} Attention"
ATTENTION = (
    ExactDefinition("nn.attention", attention, SOURCE, FORMULA),
    ExactDefinition("nn.attention_bias", attention, SOURCE, FORMULA),
    ExactDefinition("nn.attention_var_len", attention_var_len, SOURCE, FORMULA),
)
