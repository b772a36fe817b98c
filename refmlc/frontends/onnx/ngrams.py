"""`TfIdfVectorizer` of ONNX over integers: how often each n-gram of a pool occurs in each row.

The items of an n-gram stand next to each other, or with 1 to `max_skip_count` items between them; single items are
counted once. `IDF` gives the weight of an n-gram that occurs, `TFIDF` its count times the weight.
"""

from collections.abc import Mapping, Sequence
from itertools import pairwise

import numpy as np

from refmlc.diag import fail
from refmlc.diag.catalogue import BAD_INPUT, UNSUPPORTED_OP
from refmlc.frontends.arrays import constant
from refmlc.frontends.emitter import Operand
from refmlc.frontends.onnx.elementwise import OnnxRule
from refmlc.frontends.onnx.limits import check_size
from refmlc.frontends.onnx.node import Node
from refmlc.frontends.onnx.shape_rules import constant_of
from refmlc.lang.ir import relax

MODES = ("TF", "IDF", "TFIDF")


def _pool(node: Node) -> dict[int, np.ndarray]:
    """The n-grams by their length, a row each: first the number of its column, then its items. Fails: RM111."""
    items, starts, columns = (node.ints(name) or () for name in ("pool_int64s", "ngram_counts", "ngram_indexes"))
    bounds = [*starts, len(items)]
    if not starts or bounds[0] != 0 or bounds != sorted(bounds) or not columns or min(columns) < 0:
        raise fail(BAD_INPUT, f"the pool of `{node.op}` of {len(items)} items begins at {starts[:8]}")
    grams, number = {}, 0
    for size, (first, last) in enumerate(pairwise(bounds), 1):
        count, rest = divmod(last - first, size)
        if rest or number + count > len(columns):
            raise fail(BAD_INPUT, f"the pool of `{node.op}` has {last - first} items for n-grams of {size}")
        rows = np.array(items[first:last], np.int64).reshape(count, size)
        grams[size] = np.concatenate([np.array(columns[number : number + count], np.int64)[:, None], rows], 1)
        number += count
    if number != len(columns):
        raise fail(BAD_INPUT, f"`ngram_indexes` of `{node.op}` has {len(columns)} numbers for {number} n-grams")
    return grams


def vectorize(node: Node) -> Operand:
    """See the docstring of the module. Fails: RM501 for texts and symbolic extents, RM111."""
    e, x, mode = node.e, node.tensor(0), node.text("mode", "")
    shortest, longest = node.whole("min_gram_length", 1), node.whole("max_gram_length", 1)
    skips, weights, grams = node.whole("max_skip_count", 0), node.take("weights"), _pool(node)
    rank, width = e.rank(x), (e.shape(x) or (0,))[-1]
    if mode not in MODES or e.dtype(x) not in ("int32", "int64") or not isinstance(width, int):
        raise fail(UNSUPPORTED_OP, f"`{node.op}` in the mode `{mode}` of {e.dtype(x)} and extents {e.shape(x)}")
    if rank not in (1, 2) or not 1 <= shortest <= longest or skips < 0:
        raise fail(
            BAD_INPUT, f"`{node.op}` of {rank} dimensions in n-grams of {shortest} to {longest}, {skips} skipped"
        )
    columns = 1 + max(int(rows[:, 0].max(initial=0)) for rows in grams.values())
    check_size(node.op, columns, 1 + sum(len(rows) for rows in grams.values()))
    rows = e.astype(e.reshape(x, [1, width]) if rank == 1 else x, "int64")
    total = e.call("full", e.sizes([e.shape(rows)[0], columns]), e.scalar(0, "float32"), dtype="float32")
    for size, pool in grams.items():
        if shortest <= size <= longest and len(pool):
            for step in range(1, 1 + (skips + 1 if size > 1 else 1)):
                last = width - step * (size - 1)
                if last < 1:
                    break
                check_size(node.op, last, size, len(pool))
                total = e.call("add", total, _counted(node, rows, pool, columns, last, step))
    result = _weighed(node, total, mode, weights, grams)
    return e.call("squeeze", result, axis=0) if rank == 1 else result


def _counted(node: Node, x: relax.Expr, pool: np.ndarray, columns: int, last: int, step: int) -> relax.Expr:
    """How often each n-gram of one length occurs with one step between its items, in its column."""
    e, size = node.e, pool.shape[1] - 1
    places = np.arange(last)[:, None] + step * np.arange(size)[None, :]
    windows = e.reshape(e.call("take", x, constant_of(places), axis=1), [e.shape(x)[0], last, 1, size])
    same = e.call("equal", windows, constant_of(pool[:, 1:].reshape(1, 1, len(pool), size)))
    hits = e.call("min", e.astype(same, "uint8"), axis=(3,), keepdims=False)
    counts = e.call("sum", e.astype(hits, "float32"), axis=(1,), keepdims=False)
    where = np.zeros((len(pool), columns), np.float32)
    where[np.arange(len(pool)), pool[:, 0]] = 1
    return e.call("matmul", counts, constant(where))


def _weighed(node: Node, counts: relax.Expr, mode: str, weights: object, grams: Mapping[int, np.ndarray]) -> relax.Expr:
    """The counts, or weights of what occurs, or their product."""
    e = node.e
    if mode == "TF":
        return counts
    occurs = e.astype(e.call("greater", counts, e.scalar(0, "float32")), "float32") if mode == "IDF" else counts
    if weights is None:
        return occurs
    columns = np.concatenate([rows[:, 0] for rows in grams.values()])
    if not isinstance(weights, Sequence) or len(weights) != len(columns) or len(set(columns)) != len(columns):
        raise fail(BAD_INPUT, f"`weights` of `{node.op}` are one for each n-gram, each in a column of its own")
    if columns.tolist() != list(range(len(columns))):
        message = f"weights of `{node.op}` whose columns are in another order are not supported: readings differ"
        raise fail(UNSUPPORTED_OP, message)
    return e.call("multiply", occurs, constant(np.array(weights, np.float32)))


NGRAMS: Mapping[str, OnnxRule] = {"TfIdfVectorizer": vectorize}
