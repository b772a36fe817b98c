"""Normalisation along axes.

| operator           | the element                                                            |
|--------------------|------------------------------------------------------------------------|
| `nn.softmax`       | `exp(x - max) / sum(exp(x - max))`                                     |
| `nn.log_softmax`   | `x - max - log(sum(exp(x - max)))`                                     |
| `nn.layer_norm`    | `(x - mean) * rsqrt(var + epsilon) * gamma + beta`, over the last axes |
| `nn.group_norm`    | the same over a group of channels and `axes`; var is `E[x²] - mean²`   |
| `nn.instance_norm` | the same for each channel                                              |
| `nn.rms_norm`      | `x * rsqrt(mean(x²) + epsilon) * weight`                               |
| `nn.batch_norm`    | `(x - mean) / sqrt(var + epsilon) * gamma + beta`; with what moved     |

Dtypes: softmax works in the dtype of the argument; the norms work in float32 for float16, and convert at the end.
Order: sums in row-major order over the axes; each operator of a formula is rounded, from left to right.
"""

from collections.abc import Sequence

from refmlc.diag import fail
from refmlc.diag.catalogue import BAD_ARGUMENTS, TYPE_MISMATCH
from refmlc.lang import te
from refmlc.lang.library.definition import Operator, computed
from refmlc.lang.library.reduction import MAX, count_of, kept_shape, over, place_of, reduced
from refmlc.lang.library.shapes import UNSURE, axes_of, axis_of, known, must_agree, require_float
from refmlc.lang.te import Tensor, Value


def _without(i: Sequence[Value], axes: Sequence[int]) -> list[Value]:
    return [index for place, index in enumerate(i) if place not in axes]


def softmax(data: Tensor, *, axis: int = -1) -> Tensor:
    """Exponentials along an axis, divided by their sum; the greatest element is subtracted first.

    Order: the exponentials are added from the first place on; every step is rounded in the dtype of the argument.
    Fails: RM105, RM201 elements that are no floats.
    """
    require_float(data, "nn.softmax")
    along = (axis_of(axis, data.ndim),)
    greatest = reduced(data, along, MAX, name="T_softmax_maxelem")
    powers = computed(data.shape, lambda *i: te.exp(data(*i) - greatest(*_without(i, along))), "T_softmax_exp")
    total = reduced(powers, along, te.sum, name="T_softmax_expsum")
    return computed(data.shape, lambda *i: powers(*i) / total(*_without(i, along)), "T_softmax_norm")


def log_softmax(data: Tensor, *, axis: int = -1) -> Tensor:
    """The logarithm of `softmax`, without its division.

    Order: that of `softmax`; `(x - max) - log(sum)`, from left to right. Fails: RM105, RM201.
    """
    require_float(data, "nn.log_softmax")
    along = (axis_of(axis, data.ndim),)
    greatest = reduced(data, along, MAX, name="T_softmax_maxelem")
    inner, there = over(data, along)
    shape = kept_shape(data.shape, along, keepdims=False)

    def power(*i: Value) -> object:
        term = te.exp(data(*place_of(data.ndim, along, inner, i, keepdims=False)) - greatest(*i))
        return te.sum(term, axis=inner, where=there)

    total = computed(shape, power, "T_softmax_expsum")

    def element(*i: Value) -> Value:
        rest = _without(i, along)
        return data(*i) - greatest(*rest) - te.log(total(*rest))

    return computed(data.shape, element, "compute")


def _wide(x: Tensor) -> Tensor:
    """The tensor in the dtype in which norms are computed."""
    if x.dtype != "float16":
        return x
    return computed(x.shape, lambda *i: te.cast(x(*i), "float32"), f"{x.name}_wide")


def _like(x: Tensor, dtype: str) -> Tensor:
    return x if x.dtype == dtype else computed(x.shape, lambda *i: te.cast(x(*i), dtype), "T_cast")


def layer_norm(
    data: Tensor,
    gamma: Tensor,
    beta: Tensor,
    *,
    axes: int | Sequence[int] = -1,
    epsilon: float = 1e-5,
    center: bool = True,
    scale: bool = True,
) -> Tensor:
    """The distance to the mean over `axes` in standard deviations, scaled by `gamma` and moved by `beta`.

    Order: the mean, then the mean of squared distances to it, divided once. Fails: RM201, RM202.
    """
    require_float(data, "nn.layer_norm")
    x, over_axes = _wide(data), axes_of(axes, data.ndim)
    _must_fit("nn.layer_norm", data, over_axes, gamma, beta)
    count = count_of(x, over_axes, x.dtype)
    total = reduced(x, over_axes, te.sum, name=f"{data.name}_sum")
    mean = computed(total.shape, lambda *i: total(*i) / count, f"{data.name}_mean")
    inner, there = over(x, over_axes)

    def square(*i: Value) -> object:
        distance = x(*place_of(x.ndim, over_axes, inner, i, keepdims=False)) - mean(*i)
        return te.sum(distance * distance, axis=inner, where=there)

    squares = computed(total.shape, square, f"{data.name}_var_sum")
    least, weight, bias = te.const(float(epsilon), x.dtype), _wide(gamma), _wide(beta)

    def element(*i: Value) -> Value:
        rest, own = _without(i, over_axes), [i[axis] for axis in over_axes]
        value = (x(*i) - mean(*rest)) * te.rsqrt(squares(*rest) / count + least)
        value = value * weight(*own) if scale else value
        return value + bias(*own) if center else value

    return _like(computed(x.shape, element, "T_layer_norm"), data.dtype)


def rms_norm(data: Tensor, weight: Tensor, *, axes: int | Sequence[int] = -1, epsilon: float = 1e-5) -> Tensor:
    """The element divided by the root of the mean square over `axes`, times a weight. Works in float32.

    Order: squares are added in row-major order over `axes`. Fails: RM105, RM201, RM202.
    """
    require_float(data, "nn.rms_norm")
    wide = "float32" if data.buffer.dtype.bits < 32 else data.dtype
    x, scale, over_axes = _like(data, wide), _like(weight, wide), axes_of(axes, data.ndim)
    _must_fit("nn.rms_norm", data, over_axes, weight)
    squares = computed(x.shape, lambda *i: x(*i) * x(*i), "T_multiply")
    total = reduced(squares, over_axes, te.sum, name="T_multiply_red")
    count, least = count_of(x, over_axes, wide), te.const(float(epsilon), wide)
    factor = computed(total.shape, lambda *i: te.rsqrt(total(*i) / count + least), "rsqrt")

    def element(*i: Value) -> Value:
        return factor(*_without(i, over_axes)) * x(*i) * scale(*(i[axis] for axis in over_axes))

    return _like(computed(x.shape, element, "T_rms_norm"), data.dtype)


def _moments(x: Tensor, axes: Sequence[int]) -> tuple[Tensor, Tensor]:
    """The sums of the elements and of their squares over `axes`, in one pass."""
    inner, there = over(x, axes)
    both = te.comm_reducer(
        lambda a, b: (a[0] + b[0], a[1] + b[1]), lambda t0, t1: (te.const(0, t0), te.const(0, t1)), "moments"
    )

    def terms(*i: Value) -> object:
        value = x(*place_of(x.ndim, axes, inner, i, keepdims=False))
        return both((value, value * value), axis=inner, where=there)

    results = te.compute(kept_shape(x.shape, axes, keepdims=False), terms, name=f"{x.name}_red_temp")
    if not isinstance(results, tuple):
        raise fail(BAD_ARGUMENTS, "a normalisation needs at least one axis")
    return results[0], results[1]


def _must_fit(name: str, data: Tensor, axes: Sequence[int], *vectors: Tensor) -> None:
    """Fails: RM201, RM202 where what scales and moves has not the dtype of the data, the extents of its axes."""
    for vector in vectors:
        if vector.dtype != data.dtype:
            raise fail(
                TYPE_MISMATCH, f"`{name}` of {data.dtype} takes `{vector.name}` of this dtype, not {vector.dtype}"
            )
        for have, axis in zip(vector.shape, axes, strict=False):
            must_agree(have, data.shape[axis], f"dimension {axis} of `{name}`, and `{vector.name}`")


def _require_apart(channel: int, axes: Sequence[int], name: str) -> None:
    """Fails: RM105 where the axis of the channels is one of those that a norm goes over."""
    if channel in axes:
        raise fail(BAD_ARGUMENTS, f"the channel axis {channel} of `{name}` must not be one of the normalised axes")


def group_norm(  # noqa: PLR0913 - the attributes are TVM's
    data: Tensor,
    gamma: Tensor,
    beta: Tensor,
    *,
    num_groups: int,
    channel_axis: int,
    axes: int | Sequence[int],
    epsilon: float = 1e-5,
    center: bool = True,
    scale: bool = True,
) -> Tensor:
    """The distance to the mean of its group of channels, in standard deviations, scaled and moved for each channel.

    Order: the sums of elements and squares over the channels of the group, then `axes`; the variance is the mean
    square without the squared mean. Fails: RM105 where the channels are no multiple of the groups, or their axis one of
    `axes`; RM201, RM202.
    """
    require_float(data, "nn.group_norm")
    channel, others = axis_of(channel_axis, data.ndim), axes_of(axes, data.ndim)
    _require_apart(channel, others, "nn.group_norm")
    _must_fit("nn.group_norm", data, [channel], gamma, beta)
    channels = known(data.shape[channel])
    if num_groups < 1 or (channels is not None and channels % num_groups):
        raise fail(BAD_ARGUMENTS, f"`nn.group_norm` takes a number of channels that {num_groups} divides")
    per = data.shape[channel] // num_groups * UNSURE  # the run decides whether the groups divide the channels
    size = per if channels is None else te.const(channels // num_groups, "int64")
    wide = _wide(data)
    split = (*wide.shape[:channel], te.const(num_groups, "int64"), size, *wide.shape[channel + 1 :])

    def whole(i: Sequence[Value]) -> list[Value]:
        return [*i[:channel], i[channel] * size + i[channel + 1], *i[channel + 2 :]]

    x = computed(split, lambda *i: wide(*whole(i)), f"{data.name}_groups")
    over_axes = [channel + 1, *(axis if axis < channel else axis + 1 for axis in others)]
    over_axes.sort()
    sums, squares = _moments(x, over_axes)
    count, least = count_of(x, over_axes, x.dtype), te.const(float(epsilon), x.dtype)
    weight, bias = _wide(gamma), _wide(beta)

    def element(*i: Value) -> Value:
        at = [*i[:channel], i[channel] // size, i[channel] % size, *i[channel + 1 :]]
        rest = _without(at, over_axes)
        mean = sums(*rest) / count
        value = (x(*at) - mean) * te.rsqrt(squares(*rest) / count - mean * mean + least)
        value = value * weight(i[channel]) if scale else value
        return value + bias(i[channel]) if center else value

    return _like(computed(data.shape, element, "T_group_norm"), data.dtype)


def instance_norm(
    data: Tensor,
    gamma: Tensor,
    beta: Tensor,
    *,
    channel_axis: int,
    axes: int | Sequence[int],
    epsilon: float = 1e-5,
    center: bool = True,
    scale: bool = True,
) -> Tensor:
    """`group_norm` with one channel in each group."""
    require_float(data, "nn.instance_norm")
    channel, over_axes = axis_of(channel_axis, data.ndim), axes_of(axes, data.ndim)
    _require_apart(channel, over_axes, "nn.instance_norm")
    _must_fit("nn.instance_norm", data, [channel], gamma, beta)
    x, weight, bias = _wide(data), _wide(gamma), _wide(beta)
    sums, squares = _moments(x, over_axes)
    count, least = count_of(x, over_axes, x.dtype), te.const(float(epsilon), x.dtype)

    def element(*i: Value) -> Value:
        rest = _without(i, over_axes)
        mean = sums(*rest) / count
        value = (x(*i) - mean) * te.rsqrt(squares(*rest) / count - mean * mean + least)
        value = value * weight(i[channel]) if scale else value
        return value + bias(i[channel]) if center else value

    return _like(computed(x.shape, element, "T_instance_norm"), data.dtype)


NORMALIZATION = (
    Operator("nn.softmax", softmax, "LIB-701", ("nn.softmax",)),
    Operator("nn.log_softmax", log_softmax, "LIB-701", ("nn.log_softmax",)),
    Operator("nn.layer_norm", layer_norm, "LIB-702"),
    Operator("nn.rms_norm", rms_norm, "LIB-703"),
    Operator("nn.group_norm", group_norm, "LIB-704"),
    Operator("nn.instance_norm", instance_norm, "LIB-704"),
)
