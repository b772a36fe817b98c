"""Attention inside of sequences of different lengths, which stand one after the other along the second axis.

| tensor           | holds                                                          |
|------------------|----------------------------------------------------------------|
| `seqstart_q`     | where each sequence of queries begins, and where the last ends |
| `seqstart_k`     | the same of keys and values; `seqstart_q` where it is left out |
| `max_seqlen_q`   | a hint for memory, which has no part in the result             |
| `max_seqlen_k`   | the same                                                       |

What `attention` gives for the queries, keys and values of each sequence, with its masks; queries of no sequence, and
those that see no key, get 0. Order: as in `attention`, over the keys of the sequence.
"""

from collections.abc import Sequence

from refmlc.diag import fail
from refmlc.diag.catalogue import BAD_ARGUMENTS, TYPE_MISMATCH
from refmlc.lang import te
from refmlc.lang.ir import tir
from refmlc.lang.library.attention import alike, check_mask, masked, scores_of, seen
from refmlc.lang.library.definition import Operator, computed
from refmlc.lang.library.reduction import over
from refmlc.lang.library.shapes import known, must_agree, require_rank
from refmlc.lang.library.statements import at, loop, loops, steps, store, written
from refmlc.lang.te import Tensor, Value

NAME = "nn.attention_var_len"
ONE = te.const(1, "int64")


def _ordered(limits: Sequence[Tensor | None]) -> tuple[Tensor, Tensor]:
    """Where sequences of queries, and of keys, begin. Fails: RM105, RM201.

    Decision: TVM's printer writes starts, starts, hints; its reader takes start, hint, start, hint. Starts are vectors
    and hints have no dimensions, so that both are understood.
    """
    present = [limit for limit in limits if limit is not None]
    for limit in present:
        if limit.ndim > 1 or not limit.buffer.dtype.is_integer:
            raise fail(
                TYPE_MISMATCH, f"`{NAME}` takes integers, vectors or single ones; `{limit.name}` is {limit.dtype}"
            )
    starts = [limit for limit in present if limit is present[0] or (limit.ndim == 1 and known(limit.shape[0]) != 1)]
    require_rank(starts[0], 1, NAME)
    if len(starts) > 2 or len(present) - len(starts) > 2:
        raise fail(BAD_ARGUMENTS, f"`{NAME}` takes two vectors of starts and two greatest lengths")
    return starts[0], starts[-1]


def _places(length: Value, queries: Tensor, keys: Tensor, causal_mask: str | None) -> tuple[Tensor, ...]:
    """For each query the first key of its sequence, the one after the last, and the last one it sees by its mask."""

    def body(ins: list[tir.Buffer], outs: list[tir.Buffer]) -> tir.Stmt:
        def sequence(s: Value) -> tir.Stmt:
            (begin, end), (first, after) = ([te.cast(at(buffer, s + k), "int64") for k in (0, 1)] for buffer in ins)
            many, keyed = end - begin, after - first
            more = te.abs(many - keyed) if causal_mask == "BottomRight" else te.const(0, "int64")

            def query(i: Value) -> tir.Stmt:
                place = begin + i
                return steps(
                    store(outs[0], first, place), store(outs[1], after, place), store(outs[2], first + i + more, place)
                )

            return loop(te.maximum(many, 0), query, "i")

        clear = loops([length], lambda i: steps(*(store(buffer, 0, *i) for buffer in outs)))
        return steps(clear, loop(te.maximum(queries.shape[0] - 1, 0), sequence, "s"))

    return written([((length,), "int64")] * 3, [queries, keys], body, "sequences")


def attention_var_len(  # noqa: PLR0913 - the arguments are TVM's
    queries: Tensor,
    keys: Tensor,
    values: Tensor,
    seqstart_q: Tensor,
    max_seqlen_q: Tensor,
    seqstart_k: Tensor | None = None,
    max_seqlen_k: Tensor | None = None,
    *,
    scale: float | None = None,
    causal_mask: str | None = None,
    window_size: int | None = None,
) -> Tensor:
    """For each query of a sequence the mean of the sequence's values, weighed by the softmax of its products with keys.

    Shapes: queries (1, n, heads, d), keys (1, m, heads, d), values (1, m, heads, e), starts (s + 1,) give (1, n, heads,
    e). Fails: RM105, RM201, RM202; RM304 for starts outside.
    """
    alike(NAME, queries, (keys, values))
    check_mask(NAME, causal_mask, window_size)
    starts = _ordered((seqstart_q, max_seqlen_q, seqstart_k, max_seqlen_k))
    _, length, heads, size = queries.shape
    for tensor, names in ((queries, "queries"), (keys, "keys"), (values, "values")):
        must_agree(tensor.shape[0], ONE, f"the first axis of the {names} of `{NAME}`")
        must_agree(heads, tensor.shape[2], f"the heads of `{NAME}`")
    must_agree(size, keys.shape[3], f"the sizes of queries and keys of `{NAME}`")
    must_agree(keys.shape[1], values.shape[1], f"the keys and values of `{NAME}`")
    must_agree(starts[0].shape[0], starts[1].shape[0], f"the sequences of `{NAME}`")
    first, after, last = _places(length, *starts, causal_mask)

    def sees(i: Value, j: Value) -> Value:
        own = te.all(first(i) <= j, j < after(i))
        return own if causal_mask is None else te.all(own, seen(j, last(i), window_size))

    weights = masked(scores_of(queries, keys, None, scale), sees, always=False)
    (j,), there = over(values, (1,))

    def element(b: Value, i: Value, h: Value, e: Value) -> object:
        own = sees(i, j) if there is None else te.all(there, sees(i, j))
        return te.sum(weights(b, h, i, j) * values(b, j, h, e), axis=[j], where=own)

    return computed((ONE, length, heads, values.shape[3]), element, "attention")


ATTENTION_VAR_LEN = (Operator(NAME, attention_var_len, "LIB-042"),)
