"""Softmax and norms. Moments take two passes; norms of narrow floats are computed in float32, as PyTorch does."""

from collections.abc import Sequence
from math import inf

import numpy as np

from refmlc.oracle.exact.definitions.arrays import Array, along, axes_of, filled, form_of, mapped, numbers, reduced
from refmlc.oracle.exact.definitions.definition import FORMULA, ONNX, PYTORCH, ExactDefinition
from refmlc.oracle.exact.definitions.functions import function
from refmlc.oracle.exact.definitions.numbers import UNKNOWN, ExactNumber, Format, constant, greatest, total
from refmlc.oracle.exact.definitions.reduction import mean_of, moments

TWO_PASSES = "running error of the two-pass formula (Chan, Golub and LeVeque 1983), u of float32 for narrower floats"


def _powers(row: Sequence[ExactNumber]) -> tuple[list[ExactNumber], list[ExactNumber]]:
    """The distances to the greatest, and their exponentials."""
    top = greatest(row)
    away = [item - top for item in row]
    return away, [function("exp", item) for item in away]


def softmax_of(row: Sequence[ExactNumber], form: Format | None) -> list[ExactNumber]:
    """exp(x - max) / sum(exp(x - max))."""
    _away, powers = _powers(row)
    whole = total(powers, form)
    return [power / whole for power in powers]


def log_softmax_of(row: Sequence[ExactNumber], form: Format | None) -> list[ExactNumber]:
    """X - max - log(sum(exp(x - max)))."""
    away, powers = _powers(row)
    whole = function("log", total(powers, form))
    return [item - whole for item in away]


def softmax(x: Array, *, axis: int = -1) -> Array:
    """Softmax along an axis."""
    form = form_of(x)
    return along(lambda row: softmax_of(row, form), numbers(x), axis)


def log_softmax(x: Array, *, axis: int = -1) -> Array:
    """The logarithm of softmax along an axis."""
    form = form_of(x)
    return along(lambda row: log_softmax_of(row, form), numbers(x), axis)


def normalised(terms: Sequence[ExactNumber], form: Format | None, epsilon: float) -> list[ExactNumber]:
    """(x - mean) / sqrt(variance + epsilon)."""
    if not terms:
        return []
    mean, variance = moments(terms, form)
    if variance.error == inf:
        return [UNKNOWN for _ in terms]
    factor = function("rsqrt", variance + constant(float(epsilon), form), positive=True)
    return [(term - mean) * factor for term in terms]


def _over(x: Array, axes: Sequence[int], epsilon: float) -> Array:
    """The elements normalised over some axes."""
    form, kept = form_of(x, wide=True), [axis for axis in range(x.ndim) if axis not in axes]
    turned = numbers(x, wide=True).transpose([*kept, *axes])
    groups = turned.reshape(-1, int(np.prod([x.shape[axis] for axis in axes]))) if x.size else np.empty((0, 0), object)
    items = [item for group in groups for item in normalised(list(group), form, epsilon)]
    return filled(turned.shape, items).transpose(np.argsort([*kept, *axes]))


def _moved(x: Array, gamma: Array, beta: Array, shape: Sequence[int], *, center: bool, scale: bool) -> Array:
    """Each element scaled and moved by what is broadcast from `shape`."""
    factors = (numbers(vector, wide=True).reshape(tuple(shape)) for vector in (gamma, beta))

    def element(value: ExactNumber, factor: ExactNumber, offset: ExactNumber) -> ExactNumber:
        value = value * factor if scale else value
        return value + offset if center else value

    return mapped(element, x, *factors)


def layer_norm(
    x: Array,
    gamma: Array,
    beta: Array,
    *,
    axes: int | Sequence[int] = -1,
    epsilon: float = 1e-5,
    center: bool = True,
    scale: bool = True,
) -> Array:
    """(x - mean) / sqrt(variance + epsilon) * gamma + beta, over the last axes."""
    over = axes_of(axes, x.ndim)
    shape = [x.shape[axis] if axis in over else 1 for axis in range(x.ndim)]
    return _moved(_over(x, over, epsilon), gamma, beta, shape, center=center, scale=scale)


def group_norm(  # noqa: PLR0913 - the attributes are TVM's
    x: Array,
    gamma: Array,
    beta: Array,
    *,
    num_groups: int,
    channel_axis: int,
    axes: int | Sequence[int],
    epsilon: float = 1e-5,
    center: bool = True,
    scale: bool = True,
) -> Array:
    """The same over the channels of each group and `axes`."""
    channel = channel_axis % x.ndim
    split = (*x.shape[:channel], num_groups, x.shape[channel] // num_groups, *x.shape[channel + 1 :])
    over = sorted([channel + 1, *(axis + (axis > channel) for axis in axes_of(axes, x.ndim))])
    shape = [x.shape[axis] if axis == channel else 1 for axis in range(x.ndim)]
    parts = _over(x.reshape(split), over, epsilon).reshape(x.shape)
    return _moved(parts, gamma, beta, shape, center=center, scale=scale)


def instance_norm(
    x: Array,
    gamma: Array,
    beta: Array,
    *,
    channel_axis: int,
    axes: int | Sequence[int],
    epsilon: float = 1e-5,
    center: bool = True,
    scale: bool = True,
) -> Array:
    """The same for each channel."""
    channel = channel_axis % x.ndim
    shape = [x.shape[axis] if axis == channel else 1 for axis in range(x.ndim)]
    return _moved(_over(x, axes_of(axes, x.ndim), epsilon), gamma, beta, shape, center=center, scale=scale)


def rms_norm(x: Array, weight: Array, *, axes: int | Sequence[int] = -1, epsilon: float = 1e-5) -> Array:
    """X / sqrt(mean(x²) + epsilon) * weight."""
    form, over, items = form_of(x, wide=True), axes_of(axes, x.ndim), numbers(x, wide=True)

    def factor(terms: list[ExactNumber]) -> ExactNumber:
        mean = mean_of([term * term for term in terms], form)
        return UNKNOWN if mean.error == inf else function("rsqrt", mean + constant(float(epsilon), form), positive=True)

    shape = [x.shape[axis] if axis in over else 1 for axis in range(x.ndim)]
    factors = reduced(factor, items, over, keepdims=True)
    return mapped(lambda a, f, w: a * f * w, items, factors, numbers(weight, wide=True).reshape(shape))


def batch_norm(  # noqa: PLR0913 - the attributes are TVM's
    x: Array,
    gamma: Array,
    beta: Array,
    moving_mean: Array,
    moving_var: Array,
    *,
    axis: int,
    epsilon: float = 1e-5,
    center: bool = True,
    scale: bool = True,
    momentum: float = 0.1,
    training: bool = True,
) -> tuple[Array, Array, Array]:
    """(x - mean) / sqrt(variance + epsilon) * gamma + beta for each channel; the moments that are kept."""
    channel, form = axis % x.ndim, form_of(x, wide=True)
    others = [place for place in range(x.ndim) if place != channel]
    shape = [-1 if place == channel else 1 for place in range(x.ndim)]
    if training:
        own = reduced(lambda terms: moments(terms, form), numbers(x, wide=True), others)
        mean, variance = (filled(own.shape, (pair[which] for pair in own)) for which in (0, 1))
        stays, comes = constant(1 - momentum, form), constant(float(momentum), form)

        def kept(old: Array, new: Array) -> Array:
            return mapped(lambda a, b: stays * a + comes * b, numbers(old, wide=True), new)

        keeps = kept(moving_mean, mean), kept(moving_var, variance)
    else:
        mean, variance = numbers(moving_mean, wide=True), numbers(moving_var, wide=True)
        keeps = moving_mean, moving_var
    least = constant(float(epsilon), form)
    roots = mapped(lambda v: UNKNOWN if v.error == inf else function("sqrt", v + least, positive=training), variance)
    away = mapped(lambda a, m, r: (a - m) / r, numbers(x, wide=True), mean.reshape(shape), roots.reshape(shape))
    return _moved(away, gamma, beta, shape, center=center, scale=scale), *keeps


NORMALIZATION = (
    ExactDefinition("nn.softmax", softmax, f"{ONNX} Softmax", FORMULA),
    ExactDefinition("nn.log_softmax", log_softmax, f"{ONNX} LogSoftmax", FORMULA),
    ExactDefinition("nn.layer_norm", layer_norm, f"{PYTORCH} torch.nn.LayerNorm", TWO_PASSES),
    ExactDefinition("nn.group_norm", group_norm, f"{PYTORCH} torch.nn.GroupNorm", TWO_PASSES),
    ExactDefinition("nn.instance_norm", instance_norm, f"{PYTORCH} torch.nn.InstanceNorm2d", TWO_PASSES),
    ExactDefinition("nn.rms_norm", rms_norm, f"{PYTORCH} torch.nn.RMSNorm", FORMULA),
    ExactDefinition(
        "nn.batch_norm",
        batch_norm,
        f"{ONNX} BatchNormalization (population variance); {PYTORCH} torch.nn.BatchNorm2d (momentum)",
        TWO_PASSES,
    ),
)
