"""Operators of Relax on arrays of NumPy: what is counted, moved, sorted, summed. Floats are summed in float64."""

import numpy as np
from case_files import NoWitness
from rounding import stored
from scalars import NO, applied


def axes_of(axis):
    """An axis, several, or all, as NumPy has them."""
    return tuple(axis) if isinstance(axis, list) else axis


def is_float(x):
    """Whether the dtype is one of floats."""
    return "float" in str(x.dtype)


def wide(x):
    """The same numbers in float64; integers as they are."""
    return x.astype(np.float64) if is_float(x) else x


def reduced(of):
    """A reduction of floats in float64."""

    def value(x, axis=None, keepdims=False):
        more = {"initial": beginning(of, x)} if of in (np.max, np.min) else {}
        with np.errstate(all="ignore"):
            return np.asarray(of(wide(x), axis=axes_of(axis), keepdims=keepdims, **more)).astype(x.dtype)

    return value


def beginning(of, x):
    """What the greatest and the least of nothing is."""
    if is_float(x):
        return -np.inf if of is np.max else np.inf
    return np.iinfo(x.dtype).min if of is np.max else np.iinfo(x.dtype).max


def placed(of):
    """`argmax`, `argmin`: the first of several."""

    def value(x, axis=None, keepdims=False):
        if x.size == 0:
            raise NoWitness("no place at all")
        return np.asarray(of(wide(x), axis=axis, keepdims=keepdims), np.int64)

    return value


def running(of, first):
    """Sums or products so far, one by one in the dtype."""

    def value(x, axis=None, dtype=None, exclusive=False):
        if dtype not in (None, "void"):
            x = x.astype(stored(dtype))
        x = x.reshape(-1) if axis is None else x
        rows = np.moveaxis(x, axis or 0, 0)
        found, now = [], np.full(rows.shape[1:], first, x.dtype)
        for row in rows:
            with np.errstate(all="ignore"):
                after = of(now, row).astype(x.dtype)
            found.append(now if exclusive else after)
            now = after
        return np.moveaxis(np.array(found, x.dtype).reshape(rows.shape), 0, axis or 0)

    return value


def of_two(of):
    """Two tensors, or a tensor and a number."""

    def value(a, b):
        kind = (a if isinstance(a, np.ndarray) else b).dtype
        with np.errstate(all="ignore"):
            return np.asarray(of(np.asarray(a, kind), np.asarray(b, kind)))

    return value


def one_by_one(op, result=""):
    """A scalar operator on each element, by exact arithmetic."""

    def value(*operands):
        shapes = [one for one in operands if isinstance(one, np.ndarray)]
        name = str(shapes[0].dtype)
        number = float if is_float(shapes[0]) else int if name != "bool" else bool
        parts = np.broadcast_arrays(*(np.asarray(one, shapes[0].dtype) for one in operands))
        found = [
            applied(op, list(map(number, each)), name)[0] for each in zip(*(p.reshape(-1) for p in parts), strict=True)
        ]
        if NO in found:
            raise NoWitness("no value")
        kind = np.float64 if is_float(shapes[0]) and not result else object
        with np.errstate(all="ignore"):
            return np.array(found, kind).astype(stored(result or name)).reshape(parts[0].shape)

    return value


def order(x, axis=-1, descending=False, dtype="int32"):
    """`argsort`: equal elements in their order."""
    keys = wide(x)
    if np.isnan(keys.astype(np.float64)).any():
        raise NoWitness("NaN in an order")
    rank = np.argsort(-keys.astype(np.float64) if descending else keys, axis=axis, kind="stable")
    return rank.astype(stored(dtype))


def sort(x, axis=-1, descending=False):
    """Elements in order."""
    return np.take_along_axis(x, order(x, axis, descending, "int64"), axis)


def topk(x, k=1, axis=-1, ret_type="both", largest=True, dtype="int32"):
    """The first of an order."""
    rank = order(x, axis, largest, "int64")
    rank = rank if k < 1 else np.take(rank, range(min(k, x.shape[axis])), axis)
    both = [np.take_along_axis(x, rank, axis), rank.astype(stored(dtype))]
    return both if ret_type == "both" else both[ret_type == "indices"]


def take(x, indices, axis=None, mode="fast"):
    """Elements at places, by a loop over the definition."""
    where = np.asarray(indices)
    if not isinstance(indices, np.ndarray) or mode == "nan":
        raise NoWitness("other places")
    x, axis = (x.reshape(-1), 0) if axis is None else (x, axis)
    n = x.shape[axis]
    if mode == "fast" and ((where < -n) | (where >= n)).any():
        raise NoWitness("places outside")
    return np.take(
        x,
        np.where(where < 0, where + n, where) if mode == "fast" else where,
        axis,
        mode={"fast": "raise"}.get(mode, mode),
    )


def matmul(a, b, out_dtype=None):
    """Products of matrices."""
    kind = a.dtype if out_dtype in (None, "", "void") else stored(out_dtype)
    return (wide(a.astype(kind) if not is_float(a) else a) @ wide(b.astype(kind) if not is_float(b) else b)).astype(
        kind
    )


def einsum(operands, subscripts):
    """Sums that letters say."""
    kind = operands[0].dtype
    try:
        found = np.einsum(subscripts, *map(wide, operands))
    except ValueError as problem:
        raise NoWitness(f"einsum: {problem}") from problem
    return np.asarray(found).astype(kind)


def pad(x, pad_width, pad_value=0.0, pad_mode="constant"):
    """What is added around."""
    pairs = list(zip(pad_width[::2], pad_width[1::2], strict=True))
    if pad_mode == "constant":
        return np.pad(x, pairs, constant_values=x.dtype.type(pad_value))
    return np.pad(x, pairs, {"reflect": "reflect", "replicate": "edge", "circular": "wrap"}[pad_mode])


def split(x, indices_or_sections, axis=0):
    """Parts."""
    if isinstance(indices_or_sections, int):
        size = -(-x.shape[axis] // indices_or_sections)
        indices_or_sections = [size * at for at in range(1, indices_or_sections)]
    return np.split(x, indices_or_sections, axis)


def transposed(x, axes=None):
    """Axes in another order."""
    return np.transpose(x, axes)


def expand(x, axis):
    """Axes of one place."""
    return np.expand_dims(x, axes_of(axis))


def squeeze(x, axis=None):
    """Axes of one place less."""
    return np.squeeze(x, axes_of(axis))


def layer_norm(x, gamma, beta, axes, epsilon=1e-5, center=True, scale=True):
    """Normalisation in float64 over axes."""
    return _scaled(_normal(wide(x), axes, epsilon), x, axes, gamma if scale else None, beta if center else None)


def _normal(x, axes, epsilon):
    axes = axes_of(axes)
    mean = x.mean(axes, keepdims=True)
    return (x - mean) / np.sqrt(((x - mean) ** 2).mean(axes, keepdims=True) + epsilon)


def _scaled(found, x, axes, gamma, beta):
    axes = sorted(axis % x.ndim for axis in axes)
    shape = [n if axis in axes else 1 for axis, n in enumerate(x.shape)]
    found = found if gamma is None else found * wide(gamma).reshape(shape)
    return (found if beta is None else found + wide(beta).reshape(shape)).astype(x.dtype)


def instance_norm(x, gamma, beta, channel_axis, axes, epsilon=1e-5, center=True, scale=True):
    """Normalisation of each channel of each image."""
    found = _normal(wide(x), axes, epsilon)
    return _scaled(found, x, [channel_axis], gamma if scale else None, beta if center else None)


def group_norm(x, gamma, beta, num_groups, channel_axis, axes, epsilon=1e-5, center=True, scale=True):
    """Normalisation of groups of channels."""
    channel = channel_axis % x.ndim
    parts = [*x.shape[:channel], num_groups, x.shape[channel] // num_groups, *x.shape[channel + 1 :]]
    over = [channel + 1, *(axis % x.ndim + (axis % x.ndim > channel) for axis in axes)]
    found = _normal(wide(x).reshape(parts), over, epsilon).reshape(x.shape)
    return _scaled(found, x, [channel], gamma if scale else None, beta if center else None)


def rms_norm(x, weight, axes=(-1,), epsilon=1e-5):
    """Normalisation by the mean of squares."""
    found = wide(x) / np.sqrt((wide(x) ** 2).mean(axes_of(list(axes)), keepdims=True) + epsilon)
    return _scaled(found, x, axes, weight, None)


def softmax(x, axis=-1):
    """Shares of powers."""
    powers = np.exp(wide(x) - wide(x).max(axis, keepdims=True))
    return (powers / powers.sum(axis, keepdims=True)).astype(x.dtype)


def log_softmax(x, axis=-1):
    """Their logarithms."""
    low = wide(x) - wide(x).max(axis, keepdims=True)
    return (low - np.log(np.exp(low).sum(axis, keepdims=True))).astype(x.dtype)


CHANGES = {
    "update": lambda _, new: new,
    "add": lambda old, new: old + new,
    "mul": lambda old, new: old * new,
    "max": max,
    "min": min,
}


def scatter_elements(x, indices, updates, axis=0, reduction="update"):
    """Elements written one by one, or what they and the old ones give."""
    if reduction == "mean":
        raise NoWitness("the mean of what is written")
    found = x.copy()
    for at in np.ndindex(*indices.shape):
        spot = list(at)
        spot[axis] = indices[at] % x.shape[axis]
        found[(*spot,)] = CHANGES[reduction](found[(*spot,)], updates[at])
    return found


def scatter_nd(x, indices, updates, reduction="update"):
    """Parts written one by one; the last axis of the places says where."""
    found = x.copy()
    for at in np.ndindex(*indices.shape[:-1]):
        spot = tuple(int(one) for one in indices[at])
        for rest in np.ndindex(*x.shape[len(spot) :]):
            found[(*spot, *rest)] = CHANGES[reduction](found[(*spot, *rest)], updates[(*at, *rest)])
    return found


def gather_elements(x, indices, axis=0):
    """Elements at places along an axis."""
    found = np.empty(indices.shape, x.dtype)
    for at in np.ndindex(*indices.shape):
        spot = list(at)
        spot[axis] = indices[at] % x.shape[axis]
        found[at] = x[(*spot,)]
    return found


def bucketize(x, boundaries, out_int32=False, right=False):
    """Between which boundaries elements lie."""
    if np.isnan(x.astype(np.float64)).any():
        raise NoWitness("NaN between boundaries")
    found = np.searchsorted(wide(boundaries), wide(x), side="right" if right else "left")
    return found.astype(np.int32 if out_int32 else np.int64)


def collapsed(x, shape):
    """Sums over what was broadcast."""
    first = x.ndim - len(shape)
    found = wide(x).sum(tuple(range(first)))
    over = tuple(axis for axis, n in enumerate(shape) if n == 1 and found.shape[axis] != 1)
    return np.asarray(found.sum(over, keepdims=True) if over else found).astype(x.dtype)


def reverse_sequence(x, lengths, seq_axis=1, batch_axis=0):
    """The first elements of each row the other way round."""
    found = x.copy()
    rows, back = np.moveaxis(x, (batch_axis, seq_axis), (0, 1)), np.moveaxis(found, (batch_axis, seq_axis), (0, 1))
    for row, length in enumerate(lengths):
        count = max(int(length), 0)
        back[row, :count] = rows[row, :count][::-1]
    return found


def slice_scatter(x, part, start, end, step=1, axis=0):
    """A part written over."""
    if min(start, end) < 0 or step < 1:
        raise NoWitness("places from the end")
    found = x.copy()
    np.moveaxis(found, axis, 0)[start:end:step] = np.moveaxis(part, axis, 0)
    return found


def strided(x, axes, begin, end, strides=None, assume_inbound=False):
    """What begins, ends and steps leave, as Python's slices have it."""
    if assume_inbound:
        raise NoWitness("what is said to be inside")
    for axis, first, last, step in zip(axes, begin, end, strides or [1] * len(axes), strict=True):
        x = np.take(x, range(*slice(first, last, step).indices(x.shape[axis])), axis)
    return x


def dynamic_strided(x, begin, end, strides):
    """The same, of all axes."""
    return strided(x, list(range(x.ndim)), *(list(map(int, one)) for one in (begin, end, strides)))


def unique(x, is_sorted=True, return_index=False, return_inverse=False, return_counts=False, axis=None, **more):
    """The slices once, where each is first, which one each is, how often it is there."""
    x, axis = (x.reshape(-1), 0) if axis is None else (x, axis)
    rows = np.moveaxis(x, axis, 0)
    keys = [tuple((bool(v != v), 0 if v != v else v) for v in row.reshape(-1).tolist()) for row in rows]  # noqa: PLR0124 - NaN
    groups = sorted(set(keys)) if more.get("sorted", is_sorted) else sorted(set(keys), key=keys.index)
    first = [keys.index(group) for group in groups]
    which, times = [groups.index(key) for key in keys], [keys.count(group) for group in groups]
    wanted = zip((return_index, return_inverse, return_counts), (first, which, times), strict=True)
    found = [np.moveaxis(rows[first], 0, axis), *(np.array(each, np.int64) for is_wanted, each in wanted if is_wanted)]
    return found if len(found) > 1 else found[0]


def median(x, axis=None, keepdims=False):
    """The one in the middle, of two the first, and its place."""
    if not isinstance(axis, list) or len(axis) != 1:
        raise NoWitness("the middle of several axes")
    rank = np.take(order(x, axis[0], dtype="int64"), [(x.shape[axis[0]] - 1) // 2], axis[0])
    found = [np.take_along_axis(x, rank, axis[0]), rank]
    return found if keepdims else [np.squeeze(one, axis[0]) for one in found]


def gather_nd(x, places, batch_dims=0):
    """Parts at places that the last axis says."""
    outer, count = places.shape[:-1], places.shape[-1]
    found = np.empty([*outer, *x.shape[batch_dims + count :]], x.dtype)
    for at in np.ndindex(*outer):
        found[at] = x[(*at[:batch_dims], *places[at])]
    return found


def nll_loss(x, targets, weights=None, reduction="mean", ignore_index=-100):
    """LIB-044 in float64."""
    losses, counted, _ = _losses(x, targets, weights, ignore_index)
    if reduction == "none":
        return losses.astype(x.dtype)
    with np.errstate(invalid="ignore"):
        return np.asarray(losses.sum() / counted.sum() if reduction == "mean" else losses.sum(), x.dtype)


def nll_loss_backward(gradient, x, targets, weights=None, reduction="mean", ignore_index=-100):
    """Its gradient: of each element the weight of its class, by what the losses are divided by."""
    _, counted, places = _losses(x, targets, weights, ignore_index)
    found = np.zeros(x.shape)
    for at, place in places.items():
        share = wide(gradient)[at] if reduction == "none" else float(gradient)
        found[place] = -counted[at] * share / (counted.sum() if reduction == "mean" else 1)
    return found.astype(x.dtype)


def _losses(x, targets, weights, ignored):
    """Each loss, its weight, and the place of its element."""
    weights = np.ones(x.shape[min(1, x.ndim - 1)]) if weights is None else wide(weights)
    losses, counted, places = np.zeros(targets.shape), np.zeros(targets.shape), {}
    for at in np.ndindex(*targets.shape):
        target = targets[at]
        if target != ignored:
            places[at] = (*at[:1], target, *at[1:])
            losses[at], counted[at] = -wide(x)[places[at]] * weights[target], weights[target]
    return losses, counted, places


def seen(n, m, mask, window):
    """Which keys a query sees (LIB-041)."""
    i, j = np.arange(n)[:, None], np.arange(m)[None]
    if mask is None:
        return np.ones((n, m), bool)
    last = i + (abs(n - m) if mask == "BottomRight" else 0)
    return (j <= last) & ((j > last - window) if window else True)


def attention(q, k, v, bias=None, scale=None, causal_mask=None, window_size=None):
    """LIB-041 in float64: (batch, n, heads, d) and so on."""
    kind = q.dtype
    q, k, v = (one.astype(np.float64).transpose(0, 2, 1, 3) for one in (q, k, v))
    scores = q @ k.swapaxes(2, 3)
    scores = scores / np.sqrt(q.shape[3]) if scale is None else scores * scale
    scores = scores if bias is None else scores + wide(bias)
    sees = np.broadcast_to(seen(q.shape[2], k.shape[2], causal_mask, window_size), scores.shape)
    most = np.max(np.where(sees, scores, -np.inf), 3, keepdims=True, initial=-np.inf)
    powers = np.exp(np.where(sees, scores - np.where(np.isfinite(most), most, 0), -np.inf))
    total = powers.sum(3, keepdims=True)
    return ((powers / np.where(total == 0, 1, total)) @ v).transpose(0, 2, 1, 3).astype(kind)


def one_hot(indices, on, off, depth, axis=-1):
    """A row for each index."""
    found = np.moveaxis(indices[..., None] == np.arange(depth), -1, axis)
    return np.where(found, on, off)


def spread(of):
    """Deviation and the like: of float64."""

    def value(x, axis=None, keepdims=False):
        return np.asarray(of(wide(x), axis=axes_of(axis), keepdims=keepdims)).astype(x.dtype)

    return value


def tile(x, repeats):
    """The whole, again and again."""
    return np.tile(x, repeats)


def reshape(x, shape):
    """Other extents: 0 stands for the one that was there."""
    if x.size == 0:
        raise NoWitness("no elements")
    return np.reshape(x, [n or x.shape[axis] for axis, n in enumerate(shape)])


def nonzero(x):
    """The places of what is not 0, a row for each axis."""
    if x.ndim == 0:
        raise NoWitness("no axes")
    return np.array(np.nonzero(x), np.int64)


def clip(x, low, high):
    """Elements between two numbers."""
    return np.maximum(np.minimum(x, x.dtype.type(high)), x.dtype.type(low))


ELEMENTWISE = (
    *("exp", "log", "sin", "cos", "tan", "sinh", "cosh", "tanh", "asin", "acos", "atan", "asinh", "acosh", "atanh"),
    *("sqrt", "rsqrt", "sigmoid", "erf", "ceil", "floor", "round", "trunc", "abs", "add", "atan2", "bitwise_not"),
)
RENAMED = {
    "subtract": "sub",
    "multiply": "mul",
    "divide": "div",
    "left_shift": "shift_left",
    "power": "pow",
    "right_shift": "shift_right",
    "floor_mod": "floormod",
    "floor_divide": "floordiv",
}
ROWS = {
    **{name: reduced(getattr(np, name)) for name in ("max", "min", "sum", "prod", "mean")},
    "variance": spread(np.var),
    "std": spread(np.std),
    "argmax": placed(np.argmax),
    "argmin": placed(np.argmin),
    "cumsum": running(np.add, 0),
    "cumprod": running(np.multiply, 1),
    **{name: one_by_one(name) for name in ELEMENTWISE},
    **{name: one_by_one(op) for name, op in RENAMED.items()},
    **{name: one_by_one(name, "bool") for name in ("isnan", "isinf", "isfinite")},
    "maximum": of_two(lambda a, b: np.where(a > b, a, b)),
    "minimum": of_two(lambda a, b: np.where(a < b, a, b)),
    "equal": of_two(np.equal),
    "not_equal": of_two(np.not_equal),
    "less": of_two(np.less),
    "less_equal": of_two(np.less_equal),
    "greater": of_two(np.greater),
    "greater_equal": of_two(np.greater_equal),
    "bitwise_and": of_two(np.bitwise_and),
    "bitwise_or": of_two(np.bitwise_or),
    "bitwise_xor": of_two(np.bitwise_xor),
    "argsort": order,
    "sort": sort,
    "topk": topk,
    "take": take,
    "matmul": matmul,
    "einsum": einsum,
    "nn.pad": pad,
    "split": split,
    "permute_dims": transposed,
    "expand_dims": expand,
    "squeeze": squeeze,
    "concat": lambda parts, axis=0: np.concatenate(parts, axis),
    "stack": lambda parts, axis=0: np.stack(parts, axis),
    "flip": np.flip,
    "tile": tile,
    "repeat": lambda x, repeats, axis=None: np.repeat(x, repeats, axis),
    "where": np.where,
    "broadcast_to": np.broadcast_to,
    "reshape": reshape,
    "flatten": lambda x: x.reshape(-1),
    "nn.batch_flatten": lambda x: x.reshape(x.shape[0], -1),
    "nonzero": nonzero,
    "meshgrid": lambda parts, indexing="ij": list(np.meshgrid(*parts, indexing=indexing)),
    "tril": lambda x, k=0: np.tril(x, k),
    "triu": lambda x, k=0: np.triu(x, k),
    "outer": np.outer,
    "negative": lambda x: -x,
    "clip": clip,
    "nn.relu": lambda x: np.where(x > 0, x, x.dtype.type(0)),
    "strided_slice": strided,
    "dynamic_strided_slice": dynamic_strided,
    "unique": unique,
    "median": median,
    "gather_nd": gather_nd,
    "nn.nll_loss": nll_loss,
    "grad.nll_loss_backward": nll_loss_backward,
    "nn.attention": attention,
    "nn.attention_bias": attention,
    "nn.layer_norm": layer_norm,
    "nn.instance_norm": instance_norm,
    "nn.group_norm": group_norm,
    "nn.rms_norm": rms_norm,
    "nn.softmax": softmax,
    "nn.log_softmax": log_softmax,
    "scatter_elements": scatter_elements,
    "scatter_nd": scatter_nd,
    "gather_elements": gather_elements,
    "bucketize": bucketize,
    "collapse_sum_to": collapsed,
    "collapse_sum_like": lambda x, like: collapsed(x, list(like.shape)),
    "reverse_sequence": reverse_sequence,
    "slice_scatter": slice_scatter,
    "one_hot": one_hot,
}
