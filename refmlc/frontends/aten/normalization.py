"""Normalisation, at inference."""

from collections.abc import Mapping, Sequence

from refmlc.diag import fail
from refmlc.diag.catalogue import UNSUPPORTED_OP
from refmlc.frontends.arrays import dtype_name
from refmlc.frontends.aten.arithmetic import kind_of
from refmlc.frontends.aten.elementwise import negated
from refmlc.frontends.aten.sorting import with_axis, without_axis
from refmlc.frontends.emitter import Emitter, Operand, Size
from refmlc.frontends.rule import Rule, whole
from refmlc.lang.ir import relax

Tensor = relax.Expr


def _filled(e: Emitter, x: Tensor | None, number: int, shape: Sequence[Size], dtype: str) -> Tensor:
    """The tensor, or the same number everywhere where it is missing."""
    return e.call("full", e.sizes(shape), e.scalar(number, dtype), dtype=dtype) if x is None else x


def batch_norm(  # noqa: PLR0913, PLR0917 - PyTorch's arguments
    e: Emitter,
    x: Tensor,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    mean: Tensor | None = None,
    variance: Tensor | None = None,
    training: Operand = False,
    momentum: float = 0.1,
    eps: float = 1e-5,
) -> Tensor:
    """The distance to the known mean in known standard deviations, scaled and moved. Fails: RM501 in training."""
    if training or mean is None or variance is None:
        raise fail(UNSUPPORTED_OP, "batch normalisation in training is not supported: call `model.eval()`")
    if e.rank(x) < 2:
        raise fail(UNSUPPORTED_OP, "batch normalisation of a vector is not supported")
    channels, dtype = e.shape(x)[1:2], e.dtype(x)
    result = e.call(
        "nn.batch_norm",
        x,
        _filled(e, weight, 1, channels, dtype),
        _filled(e, bias, 0, channels, dtype),
        mean,
        variance,
        axis=1,
        epsilon=float(eps),
        momentum=min(max(float(momentum), 0.0), 1.0),  # means nothing at inference
        training=False,
    )
    return e.item(result, 0)


def batch_norm_inference(
    e: Emitter,
    x: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    mean: Tensor,
    variance: Tensor,
    momentum: float,
    eps: float,
) -> Operand:
    """`batch_norm` of core ATen, which gives a tuple."""
    return (batch_norm(e, x, weight, bias, mean, variance, False, momentum, eps),)


def layer_norm(
    e: Emitter,
    x: Tensor,
    shape: Sequence[Size],
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    eps: float = 1e-5,
) -> Tensor:
    """The distance to the mean of the last axes in standard deviations, scaled and moved."""
    dtype = e.dtype(x)
    return e.call(
        "nn.layer_norm",
        x,
        _filled(e, weight, 1, shape, dtype),
        _filled(e, bias, 0, shape, dtype),
        axes=tuple(range(-len(shape), 0)),
        epsilon=float(eps),
    )


def rms_norm(
    e: Emitter, x: Tensor, shape: Sequence[Size], weight: Tensor | None = None, eps: float | None = None
) -> Tensor:
    """The element divided by the root of the mean square of the last axes."""
    least = 1.1920928955078125e-07 if eps is None else float(eps)
    scale = _filled(e, weight, 1, shape, e.dtype(x))
    return e.call("nn.rms_norm", x, scale, axes=tuple(range(-len(shape), 0)), epsilon=least)


def group_norm(
    e: Emitter,
    x: Tensor,
    num_groups: int,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    eps: float = 1e-5,
) -> Tensor:
    """The distance to the mean of a group of channels in standard deviations, scaled and moved."""
    channels, dtype = e.shape(x)[1:2], e.dtype(x)
    return e.call(
        "nn.group_norm",
        x,
        _filled(e, weight, 1, channels, dtype),
        _filled(e, bias, 0, channels, dtype),
        num_groups=int(num_groups),
        channel_axis=1,
        axes=tuple(range(2, e.rank(x))),
        epsilon=float(eps),
    )


def native_group_norm(
    e: Emitter,
    x: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    _batch: Size,
    _channels: Size,
    _places: Size,
    group: int,
    eps: float,
) -> Operand:
    """`group_norm` of core ATen, which gives a tuple."""
    return (group_norm(e, x, group, weight, bias, eps),)


def instance_norm(  # noqa: PLR0913, PLR0917 - PyTorch's arguments
    e: Emitter,
    x: Tensor,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    mean: Tensor | None = None,
    variance: Tensor | None = None,
    use_input_stats: Operand = True,
    momentum: float = 0.1,
    eps: float = 1e-5,
) -> Tensor:
    """`group_norm` with one channel in each group; with known moments it is `batch_norm`."""
    if not use_input_stats:
        return batch_norm(e, x, weight, bias, mean, variance, False, momentum, eps)
    return group_norm(e, x, whole(e.shape(x)[1]), weight, bias, eps)


def batch_norm_of_itself(
    e: Emitter, x: Tensor, weight: Tensor | None, bias: Tensor | None, _training: Operand, _momentum: float, eps: float
) -> Operand:
    """Each channel by its own moments in this batch: what PyTorch takes `instance_norm` apart into."""
    others, dtype = tuple(axis for axis in range(e.rank(x)) if axis != 1), e.dtype(x)
    distance = e.call("subtract", x, e.call("mean", x, axis=others, keepdims=True))
    square = e.call("mean", e.call("multiply", distance, distance), axis=others, keepdims=True)
    result = e.call("multiply", distance, e.call("rsqrt", e.call("add", square, e.scalar(float(eps), dtype))))
    shape = [1, e.shape(x)[1], *(1,) * (e.rank(x) - 2)]
    result = result if weight is None else e.call("multiply", result, e.reshape(weight, shape))
    return (result if bias is None else e.call("add", result, e.reshape(bias, shape)),)


def softmax(name: str) -> Rule:
    """Exponentials along an axis divided by their sum, or the logarithm of that. Fails: RM501 for integers."""

    def rule(e: Emitter, x: Tensor, dim: int, dtype: Operand = None, *, to_float32: Operand = False) -> Tensor:
        if to_float32:
            x = e.astype(x, "float32")
        if dtype is not None:
            x = e.astype(x, dtype_name(dtype))
        if kind_of(e.dtype(x)) != kind_of("float32"):
            raise fail(UNSUPPORTED_OP, f"softmax of {e.dtype(x)} is not supported: PyTorch computes it of floats")
        line, added = with_axis(e, x)
        return without_axis(e, e.call(name, line, axis=int(dim)), added=added)

    return rule


NORMALIZATION: Mapping[str, Rule] = {
    "batch_norm": batch_norm,
    "_native_batch_norm_legit_no_training": batch_norm_inference,
    "_native_batch_norm_legit.no_stats": batch_norm_of_itself,
    "layer_norm": layer_norm,
    "native_layer_norm": lambda e, x, shape, weight, bias, eps: (layer_norm(e, x, shape, weight, bias, eps),),
    "rms_norm": rms_norm,
    "group_norm": group_norm,
    "native_group_norm": native_group_norm,
    "instance_norm": instance_norm,
    "softmax": softmax("nn.softmax"),
    "_softmax": softmax("nn.softmax"),
    "log_softmax": softmax("nn.log_softmax"),
    "_log_softmax": softmax("nn.log_softmax"),
    "softmin": lambda e, x, dim: softmax("nn.softmax")(e, negated(e, x), dim),
}
