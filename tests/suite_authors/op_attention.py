"""Attention, moments of channels and losses, dense: every mask and attribute, as their clauses say, in NumPy."""

import itertools

import numpy as np
from hand import ask, undefined
from op_images import several, uneven
from op_usual import type_of

MASKS = (None, "TopLeft", "BottomRight")


def seen(n, m, mask, window):
    """Which keys a query sees (LIB-041)."""
    i, j = np.arange(n)[:, None], np.arange(m)[None]
    if mask is None:
        return np.ones((n, m), bool)
    last = i + (abs(n - m) if mask == "BottomRight" else 0)
    return (j <= last) & ((j > last - window) if window else True)


def attended(q, k, v, bias=None, scale=None, mask=None, window=None):
    """LIB-041 in float64: (batch, n, heads, d) and so on."""
    q, k, v = (one.astype(np.float64).transpose(0, 2, 1, 3) for one in (q, k, v))
    scores = q @ k.swapaxes(2, 3)
    scores = scores / np.sqrt(q.shape[3]) if scale is None else scores * scale
    scores = scores if bias is None else scores + bias
    sees = np.broadcast_to(seen(q.shape[2], k.shape[2], mask, window), scores.shape)
    most = np.max(np.where(sees, scores, -np.inf), 3, keepdims=True, initial=-np.inf)
    powers = np.exp(np.where(sees, scores - np.where(np.isfinite(most), most, 0), -np.inf))
    total = powers.sum(3, keepdims=True)
    found = (powers / np.where(total == 0, 1, total)) @ v
    return np.ascontiguousarray(found.transpose(0, 2, 1, 3)).astype(np.float32)


def heads(n, m, batch=2, many=3, d=2, e=1):
    return [uneven(batch, length, many, size, scale=0.125) for length, size in ((n, d), (m, d), (m, e))]


def attention(book):
    book.witness = "numpy"
    for n, m in ((3, 5), (5, 2), (1, 3)):
        q, k, v = heads(n, m)
        rows = [(f"nn.attention(a, b, c, causal_mask={mask!r})", attended(q, k, v, mask=mask)) for mask in MASKS]
        rows.append(("nn.attention(a, b, c, scale=0.75)", attended(q, k, v, scale=0.75)))
        rows.append(("nn.attention(a, b, c)", attended(q, k, v)))
        several(book, f"op.nn-attention.{n}-queries-{m}-keys-dense", "LIB-041", rows, [q, k, v])
        windows = [
            (
                f"nn.attention(a, b, c, causal_mask={mask!r}, window_size={window})",
                attended(q, k, v, mask=mask, window=window),
            )
            for mask, window in itertools.product(MASKS[1:], (1, 2))
        ]
        several(book, f"op.nn-attention.{n}-queries-{m}-keys-windows", "LIB-041", windows, [q, k, v])
        if n < m:
            several(book, f"op.nn-attention.{n}-queries-{m}-keys-symbols", "LIB-041", rows, [q, k, v], symbols=True)
            name = f"op.nn-attention.{n}-queries-{m}-keys-symbols-windows"
            several(book, name, "LIB-041", windows, [q, k, v], symbols=True)
    q, k, v = heads(3, 4)
    for shape in ((2, 3, 3, 4), (1, 3, 1, 4), (2, 1, 3, 4), (1, 1, 1, 4)):
        bias = uneven(*shape, scale=0.25)
        rows = [
            ("nn.attention_bias(a, b, c, d)", attended(q, k, v, bias)),
            ("nn.attention(a, b, c, d)", attended(q, k, v, bias)),
            (
                "nn.attention_bias(a, b, c, d, scale=0.5, causal_mask='BottomRight')",
                attended(q, k, v, bias, 0.5, "BottomRight"),
            ),
        ]
        word = "-".join(map(str, shape))
        several(book, f"op.nn-attention-bias.{word}-dense", "LIB-041", rows, [q, k, v, bias])
    small = [-200 * np.abs(one) if place < 1 else np.abs(one) for place, one in enumerate(heads(3, 4))]
    rows = [(f"nn.attention(a, b, c, causal_mask={mask!r})", attended(*small, mask=mask)) for mask in MASKS]
    several(book, "op.nn-attention.very-small-scores", "LIB-041", rows, small)
    for word, (n, m) in (("keys", (2, 0)), ("queries", (0, 2))):
        q, k, v = heads(n, m)
        rows = [(f"nn.attention(a, b, c, causal_mask={mask!r})", np.zeros((2, n, 3, 1), np.float32)) for mask in MASKS]
        several(book, f"op.nn-attention.no-{word}", "LIB-041", rows, [q, k, v])
        several(book, f"op.nn-attention.no-{word}-symbols", "LIB-041", rows, [q, k, v], symbols=True)


def parts_of(q, k, v, starts, keyed, **attrs):
    """LIB-042: what each part has by itself, one after the other; 0 elsewhere."""
    found = np.zeros((1, q.shape[1], q.shape[2], v.shape[3]), np.float32)
    for (a, b), (c, d) in zip(itertools.pairwise(starts), itertools.pairwise(keyed), strict=True):
        found[:, a:b] = attended(q[:, a:b], k[:, c:d], v[:, c:d], **attrs)
    return found


def var_len(book):
    book.witness = "numpy"
    q, k, v = heads(8, 9, batch=1, many=2)
    i32 = np.int32
    for word, starts, keyed in (
        ("all", [0, 3, 4, 8], [0, 2, 7, 9]),
        ("some", [1, 3, 3, 6], [0, 4, 6, 6]),
    ):
        lengths = [np.array(4, i32), np.array(5, i32)]
        rows = []
        for mask, window, scale in (
            *((mask, None, None) for mask in MASKS),
            ("TopLeft", 2, 0.5),
            ("BottomRight", 1, None),
        ):
            words = f", scale={scale}, causal_mask={mask!r}, window_size={window}"
            rows.append(
                (
                    f"nn.attention_var_len(a, b, c, d, e, f, g{words})",
                    parts_of(q, k, v, starts, keyed, scale=scale, mask=mask, window=window),
                )
            )
        inputs = [q, k, v, np.array(starts, i32), np.array(keyed, i32), *lengths]
        several(book, f"op.nn-attention-var-len.{word}-dense", "LIB-042", rows, inputs)
        if word == "all":
            several(book, f"op.nn-attention-var-len.{word}-symbols", "LIB-042", rows[1:4], inputs, symbols=True)
        turned = [q, k, v, inputs[3], lengths[0], inputs[4], lengths[1]]
        several(book, f"op.nn-attention-var-len.{word}-in-turns", "LIB-042", rows[2:4], turned)
    own, wide = [0, 3, 5, 8], np.array([0, 3, 5, 8], np.int64)
    same = k[:, :8], v[:, :8]
    rows = [
        (f"nn.attention_var_len(a, b, c, d, e, causal_mask={mask!r})", parts_of(q, *same, own, own, mask=mask))
        for mask in MASKS
    ]
    several(book, "op.nn-attention-var-len.one-vector", "LIB-042", rows, [q, *same, wide, np.array(3, np.int64)])


def steep(book):
    """Scores so far apart that the maximum is that of the keys that are seen, or nothing is left."""
    book.witness = "numpy"
    q, v = np.ones((1, 3, 1, 1), np.float32), uneven(1, 4, 1, 2)
    k = np.array([300, 100, 700, 500], np.float32).reshape(1, 4, 1, 1)
    rows = [(f"nn.attention(a, b, c, causal_mask={mask!r})", attended(q, k, v, mask=mask)) for mask in MASKS]
    several(book, "op.nn-attention.steep-scores", "LIB-041", rows, [q, k, v])
    several(book, "op.nn-attention.steep-scores-symbols", "LIB-041", rows, [q, k, v], symbols=True)


def one_sequence(book):
    """Vectors of two starts are starts, and hints may be vectors of one."""
    q, k, v = heads(3, 5, batch=1, many=2)
    starts, keyed, hint = np.array([0, 3], np.int32), np.array([0, 4], np.int32), np.array([5], np.int32)
    rows = [
        (
            f"nn.attention_var_len(a, b, c, d, e, f, g, causal_mask={mask!r})",
            parts_of(q, k, v, starts, keyed, mask=mask),
        )
        for mask in MASKS
    ]
    several(book, "op.nn-attention-var-len.one-sequence", "LIB-042", rows, [q, k, v, starts, keyed, hint, hint])
    several(
        book, "op.nn-attention-var-len.one-sequence-in-turns", "LIB-042", rows, [q, k, v, starts, hint, keyed, hint]
    )


VAR_LEN = """
@R.function
def main({}):
    y = «R.»nn.attention_var_len(a, b, c, d, e, f, g)
    return y
"""


def var_len_outside(book):
    q, k, v = heads(4, 5, batch=1, many=1)
    longest = [np.array(3, np.int32)] * 2
    for word, starts, keyed in (("queries", [0, 2, 5], [0, 2, 5]), ("before", [-1, 2, 4], [0, 2, 5])):
        inputs = [q, k, v, np.array(starts, np.int32), np.array(keyed, np.int32), *longest]
        params = ", ".join(f"{name}: {type_of(x)}" for name, x in zip("abcdefg", inputs, strict=True))
        ask(
            book,
            f"undefined.nn-attention-var-len.{word}-outside",
            "LIB-042",
            VAR_LEN.format(params),
            (inputs, undefined("RM304")),
        )


# ------------------------------------------------------------------------------------------------------- moments


def normed(x, vectors, axis, epsilon=1e-5, center=True, scale=True, momentum=0.1, training=True):
    """LIB-040 in float64."""
    x = np.moveaxis(x.astype(np.float64), axis, -1)
    gamma, beta, mean, var = (one.astype(np.float64) for one in vectors)
    keeps = mean, var
    if training:
        flat = x.reshape(-1, x.shape[-1])
        mean, var = flat.mean(0), flat.var(0)
        stays, comes = np.float32(1 - momentum), np.float32(momentum)
        moments = (one.astype(np.float32) for one in (mean, var))
        keeps = [stays * old + comes * new for old, new in zip(vectors[2:], moments, strict=True)]
    found = (x - mean) / np.sqrt(var + epsilon)
    found = found * gamma if scale else found
    found = found + beta if center else found
    return [
        np.ascontiguousarray(np.moveaxis(found, -1, axis)).astype(np.float32),
        *(one.astype(np.float32) for one in keeps),
    ]


def norms(book):
    book.witness = "numpy"
    x = uneven(2, 3, 4, scale=0.5)
    for axis, extent in ((0, 2), (1, 3), (2, 4), (-1, 4), (-2, 3)):
        vectors = [uneven(extent + 5, scale=0.25)[place : place + extent] for place in (0, 2, 4)]
        vectors.append(np.abs(uneven(extent + 7, scale=0.5)[7:]) + 0.25)
        rows = []
        for attrs in (
            {},
            {"training": False},
            {"epsilon": 0.5, "center": False, "momentum": 0.25},
            {"scale": False, "momentum": 1.0},
            {"training": False, "center": False, "epsilon": 0.125},
            {"training": False, "scale": False, "momentum": 0.0},
        ):
            words = "".join(f", {name}={value}" for name, value in attrs.items())
            rows.append((f"nn.batch_norm(a, b, c, d, e, axis={axis}{words})", normed(x, vectors, axis, **attrs)))
        word = f"axis-{axis}".replace("--", "-less-")
        several(book, f"op.nn-batch-norm.{word}-dense", "LIB-040", rows, [x, *vectors])


# -------------------------------------------------------------------------------------------------------- losses


def nll(x, targets, weight, reduction, ignored):
    """LIB-044 in float64."""
    x, weight = (
        x.astype(np.float64),
        np.ones(x.shape[min(1, x.ndim - 1)]) if weight is None else weight.astype(np.float64),
    )
    losses, counted = np.zeros(targets.shape), np.zeros(targets.shape)
    for at in itertools.product(*map(range, targets.shape)):
        t = targets[at]
        if t != ignored:
            losses[at] = -x[(*at[:1], t, *at[1:])] * weight[t]
            counted[at] = weight[t]
    if reduction == "none":
        return losses.astype(np.float32)
    with np.errstate(invalid="ignore"):
        return np.array(losses.sum() / counted.sum() if reduction == "mean" else losses.sum(), np.float32)


def losses(book):
    book.witness = "numpy"
    weight = np.array([0.5, 2, 0.25], np.float32)
    for word, x, targets in (
        ("rows", uneven(4, 3, scale=0.25), np.array([2, 0, 1, 0], np.int32)),
        ("places", uneven(2, 3, 4, scale=0.25), np.array([[2, 0, -100, 1], [1, 1, 0, 2]], np.int64)),
        ("planes", uneven(2, 3, 2, 1, scale=0.25), np.array([[[2], [0]], [[1], [-100]]], np.int32)),
        ("one", uneven(3, scale=0.25), np.array(2, np.int64)),
    ):
        plain = [("nn.nll_loss(a, b)", nll(x, targets, None, "mean", -100))]
        heavy = [("nn.nll_loss(a, b, c)", nll(x, targets, weight, "mean", -100))]
        for reduction, ignored in itertools.product(("mean", "sum", "none"), (-100, 0, 5)):
            if ignored != -100 and (targets == -100).any():
                continue
            words = f', reduction="{reduction}", ignore_index={ignored}'
            plain.append((f"nn.nll_loss(a, b{words})", nll(x, targets, None, reduction, ignored)))
            heavy.append((f"nn.nll_loss(a, b, c{words})", nll(x, targets, weight, reduction, ignored)))
        for kind, rows, inputs in (("plain", plain, [x, targets]), ("weighed", heavy, [x, targets, weight])):
            several(book, f"op.nn-nll-loss.{word}-{kind}-dense", "LIB-044", rows, inputs)
            if word in ("places", "one"):
                several(book, f"op.nn-nll-loss.{word}-{kind}-symbols", "LIB-044", rows, inputs, symbols=True)
    cross(book)


def cross(book):
    pairs = (
        (uneven(3), uneven(3) + 2),
        (uneven(3, 2), uneven(3, 2) - 1),
        (uneven(2, 3, 2), uneven(2, 3, 2) + 1),
        (uneven(2)[1].reshape(()), uneven(4)[3].reshape(())),
    )
    for x, y in pairs:
        total = -(x.astype(np.float64) * y).sum() / (len(x) if x.ndim > 1 else 1)
        rows = [("nn.cross_entropy_with_logits(a, b)", np.array(total, np.float32))]
        several(book, f"op.nn-cross-entropy-with-logits.{x.ndim}-dimensions-dense", "LIB-043", rows, [x, y])
        if x.ndim in (1, 2):
            several(
                book,
                f"op.nn-cross-entropy-with-logits.{x.ndim}-dimensions-symbols",
                "LIB-043",
                rows,
                [x, y],
                symbols=True,
            )


NLL = """
@R.function
def main({}):
    y = «R.»nn.nll_loss({})
    return y
"""


def targets_outside(book):
    x, weight = uneven(2, 3), np.array([1, 2, 3], np.float32)
    for word, first in (("behind", 3), ("before", -1), ("default", -100)):
        for inputs in ([x, np.array([first, 1], np.int32)], [x, np.array([first, 1], np.int32), weight]):
            params = ", ".join(f"{name}: {type_of(one)}" for name, one in zip("abc", inputs, strict=False))
            words = ", ".join("abc"[: len(inputs)]) + (", ignore_index=1" if word == "default" else "")
            name = f"undefined.nn-nll-loss.target-{word}-{'weighed' if len(inputs) > 2 else 'plain'}"
            ask(book, name, "LIB-044", NLL.format(params, words), (inputs, undefined("RM304")))
