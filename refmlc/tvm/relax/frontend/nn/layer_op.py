"""The operators of `nn.op` that layers are made of: products, convolutions, norms, attention, resizing."""

from collections.abc import Sequence

import numpy as np

from refmlc.diag import fail
from refmlc.diag.catalogue import BAD_ARGUMENTS, UNSUPPORTED_OP
from refmlc.lang.dtypes import FLOAT32
from refmlc.lang.ir import relax, tir
from refmlc.tvm.relax.constructors import const
from refmlc.tvm.relax.frontend.nn.tensor import Tensor, call, single

Axes = int | Sequence[int] | None
Window = int | Sequence[int] | str | None


def matmul(a: Tensor, b: Tensor, out_dtype: str | None = None, name: str = "matmul") -> Tensor:
    """The product of matrices."""
    return single(call("matmul", a.expr, b.expr, out_dtype=out_dtype), name)


def _biased(conv: relax.Call, bias: Tensor | None, layout: str) -> relax.Call:
    """A convolution, and a bias for each channel."""
    if bias is None:
        return conv
    if layout not in ("NCW", "NCHW", "NHWC", "NCDHW", "NDHWC"):
        raise fail(UNSUPPORTED_OP, f"a bias with the layout `{layout}` is not supported, as in TVM")
    shape = [-1 if axis == "C" else 1 for axis in layout]
    return call("add", conv, call("reshape", bias.expr, shape))


def conv1d(
    x: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: Window = 1,
    padding: Window = 0,
    dilation: Window = 1,
    groups: int = 1,
    name: str = "conv1d",
) -> Tensor:
    """The convolution along one axis."""
    window = {"strides": stride, "padding": padding, "dilation": dilation, "groups": groups}
    return single(_biased(call("nn.conv1d", x.expr, weight.expr, **window), bias, "NCW"), name)


def conv2d(
    x: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: Window = 1,
    padding: Window = 0,
    dilation: Window = 1,
    groups: int = 1,
    data_layout: str = "NCHW",
    name: str = "conv2d",
) -> Tensor:
    """The convolution of images."""
    window = {"strides": stride, "padding": padding, "dilation": dilation, "groups": groups}
    conv = call("nn.conv2d", x.expr, weight.expr, data_layout=data_layout, **window)
    return single(_biased(conv, bias, data_layout), name)


def conv3d(
    x: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: Window = 1,
    padding: Window = 0,
    dilation: Window = 1,
    groups: int = 1,
    data_layout: str = "NCDHW",
    name: str = "conv3d",
) -> Tensor:
    """The convolution of volumes."""
    window = {"strides": stride, "padding": padding, "dilation": dilation, "groups": groups}
    conv = call("nn.conv3d", x.expr, weight.expr, data_layout=data_layout, **window)
    return single(_biased(conv, bias, data_layout), name)


def conv1d_transpose(
    x: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: Window = 1,
    padding: Window = 0,
    output_padding: Window = 0,
    dilation: Window = 1,
    groups: int = 1,
    name: str = "conv1d_transpose",
) -> Tensor:
    """The transposed convolution along one axis."""
    window = {"strides": stride, "padding": padding, "dilation": dilation, "groups": groups}
    conv = call("nn.conv1d_transpose", x.expr, weight.expr, output_padding=output_padding, **window)
    return single(_biased(conv, bias, "NCW"), name)


def layer_norm(
    x: Tensor,
    normalized_shape: int | Sequence[int],
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    eps: float = 1e-5,
    name: str = "layer_norm",
) -> Tensor:
    """The elements with mean 0 and variance 1 over the last axes, then scaled and moved."""
    extents = [normalized_shape] if isinstance(normalized_shape, int) else list(normalized_shape)
    gamma = const(np.ones(extents), x.dtype) if weight is None else weight.expr
    beta = const(np.zeros(extents), x.dtype) if bias is None else bias.expr
    return single(call("nn.layer_norm", x.expr, gamma, beta, axes=list(range(-len(extents), 0)), epsilon=eps), name)


def rms_norm(x: Tensor, weight: Tensor, axes: Axes, epsilon: float = 1e-5, name: str = "rms_norm") -> Tensor:
    """The elements over their root mean square, scaled."""
    return single(call("nn.rms_norm", x.expr, weight.expr, axes, epsilon), name)


def group_norm(
    x: Tensor,
    num_groups: int,
    weight: Tensor | None,
    bias: Tensor | None,
    eps: float = 1e-5,
    channel_axis: int = 1,
    axes: Sequence[int] | None = None,
    name: str = "group_norm",
) -> Tensor:
    """The elements with mean 0 and variance 1 in each group of channels, scaled and moved. Fails: RM105."""
    if weight is None or bias is None:
        raise fail(BAD_ARGUMENTS, "`group_norm` takes a weight and a bias, as in TVM")
    over = {"channel_axis": channel_axis, "axes": list(range(2, x.ndim)) if axes is None else axes, "epsilon": eps}
    return single(call("nn.group_norm", x.expr, weight.expr, bias.expr, num_groups, **over), name)


def scaled_dot_product_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attn_mask: Tensor | None = None,
    is_causal: bool | None = False,
    scale: float | None = None,
    name: str = "scaled_dot_product_attention",
) -> Tensor:
    """Attention. Fails: RM501 with a mask, which TVM does not take either."""
    if attn_mask is not None:
        raise fail(UNSUPPORTED_OP, "`scaled_dot_product_attention` with `attn_mask` is not supported, as in TVM")
    mask = "TopLeft" if is_causal else None
    return single(call("nn.attention", query.expr, key.expr, value.expr, causal_mask=mask, scale=scale), name)


def interpolate(
    x: Tensor,
    size: int | Sequence[int] | None = None,
    scale_factor: float | Sequence[float] | None = None,
    mode: str = "nearest",
    align_corners: bool | None = None,
    recompute_scale_factor: bool | None = None,
    antialias: bool | None = None,
    data_layout: str = "NCHW",
    name: str = "interpolate",
) -> Tensor:
    """Images of another size. Fails: RM501 with the last options, which TVM does not take either."""
    if recompute_scale_factor is not None or antialias is not None:
        raise fail(UNSUPPORTED_OP, "`interpolate` with `recompute_scale_factor` or `antialias` is not supported")
    if size is None:
        size = _scaled(x, scale_factor, data_layout)
    nearest = mode.startswith("nearest")
    method = "nearest_neighbor" if nearest else mode.removeprefix("bi")
    places = "asymmetric" if nearest else "align_corners" if align_corners else "half_pixel"
    how = {"layout": data_layout, "method": method, "coordinate_transformation_mode": places}
    return single(call("image.resize2d", x.expr, size, roi=[tir.FloatImm(FLOAT32, 0.0)] * 4, **how), name)


def _scaled(x: Tensor, factor: float | Sequence[float] | None, layout: str) -> list[int]:
    """The extents of the axes other than N and C, times the factors. Fails: RM105."""
    axes = [axis for axis, letter in enumerate(layout) if letter not in "NC"]
    factors = [factor] * len(axes) if isinstance(factor, int | float) else list(factor or ())
    extents = [x.shape[axis] for axis in axes]
    if len(factors) != len(axes) or not all(isinstance(extent, int) for extent in extents):
        raise fail(BAD_ARGUMENTS, "`interpolate` takes a size, or a factor for each axis of known extent")
    return [int(int(extent) * by) for extent, by in zip(extents, factors, strict=True)]
