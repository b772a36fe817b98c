"""Normalisation of channels over all images and places, by their own moments, or by moments kept from before."""

from refmlc.diag import fail
from refmlc.diag.catalogue import BAD_ARGUMENTS, SHAPE_MISMATCH, TYPE_MISMATCH
from refmlc.lang import te
from refmlc.lang.library.definition import Operator, computed
from refmlc.lang.library.reduction import count_of, reduced
from refmlc.lang.library.shapes import axis_of, must_agree, require_float
from refmlc.lang.te import Tensor, Value


def _vectors(data: Tensor, channel: int, *vectors: Tensor) -> None:
    """Fails: RM201, RM202 where a vector does not have a number for each channel."""
    for vector in vectors:
        if vector.dtype != data.dtype:
            raise fail(
                TYPE_MISMATCH, f"`nn.batch_norm` of {data.dtype} takes vectors of this dtype, not {vector.dtype}"
            )
        if vector.ndim != 1:
            raise fail(
                SHAPE_MISMATCH, f"`nn.batch_norm` takes a vector as `{vector.name}`; it has {vector.ndim} dimensions"
            )
        must_agree(data.shape[channel], vector.shape[0], f"the channels of `nn.batch_norm`, and `{vector.name}`")


def _moments(data: Tensor, channel: int) -> tuple[Tensor, Tensor]:
    """The mean of each channel, and that of the squared distances to it."""
    others = [axis for axis in range(data.ndim) if axis != channel]
    count = count_of(data, others, data.dtype)

    def mean_of(x: Tensor, name: str) -> Tensor:
        total = reduced(x, others, te.sum, name=f"{name}_sum")
        return computed(total.shape, lambda c: total(c) / count, name)

    mean = mean_of(data, "mean")

    def square(*i: Value) -> Value:
        distance = data(*i) - mean(i[channel])
        return distance * distance

    return mean, mean_of(computed(data.shape, square, "squares"), "var")


def batch_norm(  # noqa: PLR0913 - the attributes are TVM's
    data: Tensor,
    gamma: Tensor,
    beta: Tensor,
    moving_mean: Tensor,
    moving_var: Tensor,
    *,
    axis: int,
    epsilon: float = 1e-5,
    center: bool = True,
    scale: bool = True,
    momentum: float = 0.1,
    training: bool = True,
) -> tuple[Tensor, Tensor, Tensor]:
    """The distance to the mean of the channel in standard deviations, scaled and moved for each channel.

    Shapes: the data; the means and the variances to be kept. In training the moments are those of the data, and what
    is kept moves to them by `momentum`; else they are what was kept. Order: `(x - mean) / sqrt(var + epsilon) * gamma
    + beta`, each step rounded; the sums are in row-major order. Fails: RM105, RM201, RM202.
    """
    require_float(data, "nn.batch_norm")
    channel = axis_of(axis, data.ndim)
    _vectors(data, channel, gamma, beta, moving_mean, moving_var)
    if not 0 <= momentum <= 1:
        raise fail(BAD_ARGUMENTS, f"`nn.batch_norm` takes a momentum from 0 to 1; this is {momentum}")
    dtype = data.dtype
    mean, var = _moments(data, channel) if training else (moving_mean, moving_var)
    least = te.const(float(epsilon), dtype)

    def element(*i: Value) -> Value:
        c = i[channel]
        value = (data(*i) - mean(c)) / te.sqrt(var(c) + least)
        value = value * gamma(c) if scale else value
        return value + beta(c) if center else value

    def kept(old: Tensor, new: Tensor) -> Tensor:
        stays, comes = te.const(1 - momentum, dtype), te.const(float(momentum), dtype)
        return computed(
            old.shape, lambda c: stays * old(c) + comes * new(c) if training else old(c), f"{old.name}_kept"
        )

    return computed(data.shape, element, "batch_norm"), kept(moving_mean, mean), kept(moving_var, var)


BATCH_NORM = (Operator("nn.batch_norm", batch_norm, "LIB-040", ("nn.batch_norm",)),)
