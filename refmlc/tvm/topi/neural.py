"""Functions of `topi.nn` and `topi.image` whose arguments are not those of an operator: TVM's signatures.

`data_layout` and the like are letters, as in the library; padding may be "VALID" and "SAME", as TVM takes it, "SAME"
being of known extents.
"""

from collections.abc import Callable, Mapping, Sequence

from refmlc.diag import fail
from refmlc.diag.catalogue import BAD_ARGUMENTS
from refmlc.lang.ir import tir
from refmlc.lang.library.definition import Result, computed
from refmlc.lang.te import Tensor, Value
from refmlc.tvm.topi.shape_functions import apply, refuse, single, turned, value, values

Sizes = int | Sequence[int]
Padding = int | str | Sequence[int]


def _each(sizes: Sizes, rank: int) -> tuple[int, ...]:
    return (sizes,) * rank if isinstance(sizes, int) else tuple(sizes)


def _padding(padding: Padding, kernel: Sequence[Value], dilation: Sizes) -> tuple[int, ...]:
    """Before each dimension, then after each. Fails: RM105 for "SAME" of a kernel whose extents are not known."""
    rank = len(kernel)
    if padding == "VALID":
        return (0,) * (2 * rank)
    if isinstance(padding, str):
        sizes = [extent.expr.value for extent in kernel if isinstance(extent.expr, tir.IntImm)]
        if padding != "SAME" or len(sizes) != rank:
            raise fail(BAD_ARGUMENTS, f'padding is "VALID", "SAME" of a known kernel, or numbers; this is {padding!r}')
        wide = [(size - 1) * step for size, step in zip(sizes, _each(dilation, rank), strict=True)]
        return (*((total + 1) // 2 for total in wide), *(total // 2 for total in wide))
    pairs = _each(padding, rank)
    return pairs * 2 if len(pairs) == rank else pairs


def _conv(
    data: Tensor,
    kernel: Tensor,
    strides: Sizes,
    padding: Padding,
    dilation: Sizes,
    groups: int,
    layouts: tuple[str, str],
    out_dtype: "str | None",
) -> Tensor:
    """A convolution over as many dimensions as the layout of the data says."""
    data_layout, kernel_layout = layouts
    rank = len(data_layout) - 2
    window = [kernel.shape[kernel_layout.index(letter)] for letter in kernel_layout if letter not in "OI"]
    attrs = {
        "strides": _each(strides, rank),
        "padding": _padding(padding, window, dilation),
        "dilation": _each(dilation, rank),
        "groups": groups,
        "data_layout": data_layout,
        "kernel_layout": kernel_layout,
        "out_dtype": out_dtype,
    }
    return single(apply(f"nn.conv{rank}d", data, kernel, **attrs))


_KERNELS = {"NCW": "OIW", "NWC": "WIO", "NCHW": "OIHW", "NHWC": "HWIO", "NCDHW": "OIDHW", "NDHWC": "DHWIO"}


def conv2d(
    input: Tensor,  # noqa: A002 - TVM's name
    filter: Tensor,  # noqa: A002 - TVM's name
    strides: Sizes,
    padding: Padding,
    dilation: Sizes,
    data_layout: str = "NCHW",
    kernel_layout: str = "",
    out_dtype: "str | None" = None,
) -> Tensor:
    """A convolution over two dimensions."""
    layouts = (data_layout, kernel_layout or _KERNELS.get(data_layout, "OIHW"))
    return _conv(input, filter, strides, padding, dilation, 1, layouts, out_dtype)


def conv1d(  # noqa: PLR0913, PLR0917 - TVM's parameters
    data: Tensor,
    kernel: Tensor,
    strides: Sizes = 1,
    padding: Padding = "VALID",
    dilation: Sizes = 1,
    groups: int = 1,
    data_layout: str = "NCW",
    kernel_layout: str = "",
    out_dtype: "str | None" = None,
) -> Tensor:
    """A convolution over one dimension."""
    layouts = (data_layout, kernel_layout or _KERNELS.get(data_layout, "OIW"))
    return _conv(data, kernel, strides, padding, dilation, groups, layouts, out_dtype)


def _fixed(layout: str, dtype: "str | None" = None) -> Callable[..., Tensor]:
    """A convolution of a layout, with TVM's `Input` and `Filter`."""

    def convolution(
        Input: Tensor,  # noqa: N803 - TVM's name
        Filter: Tensor,  # noqa: N803 - TVM's name
        stride: Sizes,
        padding: Padding,
        dilation: Sizes,
        out_dtype: "str | None" = dtype,
    ) -> Tensor:
        """A convolution."""
        return _conv(Input, Filter, stride, padding, dilation, 1, (layout, _KERNELS[layout]), out_dtype)

    return convolution


def _grouped(layout: str, dtype: "str | None" = None) -> Callable[..., Tensor]:
    """A convolution in groups of a layout."""

    def convolution(
        Input: Tensor,  # noqa: N803 - TVM's name
        Filter: Tensor,  # noqa: N803 - TVM's name
        stride: Sizes,
        padding: Padding,
        dilation: Sizes,
        groups: int,
        out_dtype: "str | None" = dtype,
    ) -> Tensor:
        """A convolution in groups."""
        return _conv(Input, Filter, stride, padding, dilation, groups, (layout, _KERNELS[layout]), out_dtype)

    return convolution


def depthwise_conv2d_nchw(
    Input: Tensor,  # noqa: N803 - TVM's name
    Filter: Tensor,  # noqa: N803 - TVM's name
    stride: Sizes,
    padding: Padding,
    dilation: Sizes,
    out_dtype: "str | None" = None,
) -> Tensor:
    """A convolution of each channel for itself: the weight is (channels, multiplier, h, w)."""
    channels, many, *window = Filter.shape
    if not isinstance(channels.expr, tir.IntImm):
        raise fail(BAD_ARGUMENTS, "`topi.nn.depthwise_conv2d_nchw` takes a known number of channels")
    flat = computed([channels * many, 1, *window], lambda o, _, *i: Filter(o // many, o % many, *i), "T_reshape")
    return _conv(Input, flat, stride, padding, dilation, channels.expr.value, ("NCHW", "OIHW"), out_dtype)


def _transposed(rank: int) -> Callable[..., Tensor]:
    """A transposed convolution, channels first."""
    space = {1: "W", 2: "HW", 3: "DHW"}[rank]

    def convolution(
        Input: Tensor,  # noqa: N803 - TVM's name
        Filter: Tensor,  # noqa: N803 - TVM's name
        strides: Sizes,
        padding: Padding,
        out_dtype: str,
        output_padding: Sizes,
    ) -> Tensor:
        """A transposed convolution."""
        attrs = {
            "strides": _each(strides, rank),
            "padding": _padding(padding, Filter.shape[2:], 1),
            "output_padding": _each(output_padding, rank),
            "data_layout": f"NC{space}",
            "kernel_layout": f"IO{space}",
            "out_dtype": out_dtype,
        }
        return single(apply(f"nn.conv{rank}d_transpose", Input, Filter, **attrs))

    return convolution


def _pool(rank: int) -> Callable[..., Tensor]:
    """Pooling over `rank` dimensions."""

    def pool(  # noqa: PLR0913, PLR0917 - TVM's parameters
        data: Tensor,
        kernel: Sizes,
        stride: Sizes,
        dilation: Sizes,
        padding: Sizes,
        pool_type: str,
        ceil_mode: bool = False,
        layout: str = f"NC{ {1: 'W', 2: 'HW', 3: 'DHW'}[rank] }",
        count_include_pad: bool = True,
    ) -> Tensor:
        """The greatest element, or the mean, of each window."""
        if pool_type not in ("max", "avg"):
            raise fail(BAD_ARGUMENTS, f'the pools are "max" and "avg"; this is {pool_type!r}')
        attrs = {
            "pool_size": _each(kernel, rank),
            "strides": _each(stride, rank),
            "padding": _each(padding, rank),
            "dilation": _each(dilation, rank),
            "ceil_mode": ceil_mode,
            "layout": layout,
            "count_include_pad": count_include_pad,
        }
        return single(apply(f"nn.{pool_type}_pool{rank}d", data, **attrs))

    return pool


def _adaptive(rank: int) -> Callable[..., Tensor]:
    """Pooling to a given shape."""

    def pool(
        data: Tensor,
        output_size: Sizes,
        pool_type: str,
        layout: str = f"NC{ {1: 'W', 2: 'HW', 3: 'DHW'}[rank] }",
    ) -> Tensor:
        """The mean of each part."""
        if pool_type != "avg":
            raise fail(BAD_ARGUMENTS, f'adaptive pools must be "avg" here; this is {pool_type!r}')
        return single(apply(f"nn.adaptive_avg_pool{rank}d", data, output_size=_each(output_size, rank), layout=layout))

    return pool


def global_pool(data: Tensor, pool_type: str, layout: str = "NCHW") -> Tensor:
    """The greatest element, or the mean, of each channel."""
    if pool_type == "avg":
        return single(apply("nn.adaptive_avg_pool2d", data, output_size=(1, 1), layout=layout))
    axes = tuple(layout.index(letter) for letter in "HW")
    if pool_type != "max":
        raise fail(BAD_ARGUMENTS, f'the pools are "max" and "avg"; this is {pool_type!r}')
    return single(apply("max", data, axis=axes, keepdims=True))


def _widths(before: object, after: object, rank: int) -> tuple[int, ...]:
    low = values(before)
    pairs = zip(low, low if after is None else values(after), strict=True)
    widths = [side.expr.value for pair in pairs for side in pair if isinstance(side.expr, tir.IntImm)]
    if len(widths) != 2 * rank:
        raise fail(BAD_ARGUMENTS, f"known numbers for each of {rank} dimensions are added")
    return tuple(widths)


def pad(
    data: Tensor,
    pad_before: object,
    pad_after: object = None,
    pad_value: float = 0.0,
    name: str = "PadInput",
    attrs: object = None,
) -> Tensor:
    """`pad_value` before and after each dimension."""
    del name, attrs
    number = pad_value.expr if isinstance(pad_value, Value) else pad_value
    constant = number.value if isinstance(number, tir.FloatImm | tir.IntImm) else number
    return single(apply("nn.pad", data, pad_width=_widths(pad_before, pad_after, data.ndim), pad_value=constant))


def _around(mode: str, title: str) -> Callable[..., Tensor]:
    """Padding with elements of the tensor."""

    def padded(data: Tensor, pad_before: object, pad_after: object = None, name: str = title) -> Tensor:
        """Elements of the tensor before and after each dimension."""
        del name
        return single(apply("nn.pad", data, pad_width=_widths(pad_before, pad_after, data.ndim), pad_mode=mode))

    return padded


def dense(
    data: Tensor,
    weight: Tensor,
    bias: "Tensor | None" = None,
    out_dtype: "str | None" = None,
    auto_scheduler_rewritten_layout: str = "",
    meta_schedule_original_shape: object = None,
) -> Tensor:
    """`data @ weight.T + bias`."""
    refuse("nn.dense", layout=auto_scheduler_rewritten_layout, shape=meta_schedule_original_shape)
    if out_dtype is None or out_dtype == data.dtype:
        out = single(apply("nn.dense", data, weight))
    else:
        out = single(apply("matmul", data, turned(weight), out_dtype=out_dtype))
    return out if bias is None else single(apply("add", out, bias))


def matmul(
    tensor_a: Tensor,
    tensor_b: Tensor,
    bias: "Tensor | None" = None,
    out_dtype: "str | None" = None,
    transpose_a: bool = False,
    transpose_b: bool = False,
    auto_scheduler_rewritten_layout: str = "",
    meta_schedule_original_shape: object = None,
) -> Tensor:
    """The product of matrices, each optionally transposed, plus `bias`."""
    refuse("nn.matmul", layout=auto_scheduler_rewritten_layout, shape=meta_schedule_original_shape)
    left, right = turned(tensor_a) if transpose_a else tensor_a, turned(tensor_b) if transpose_b else tensor_b
    out = single(apply("matmul", left, right, out_dtype=out_dtype))
    return out if bias is None else single(apply("add", out, bias))


def batch_matmul(
    tensor_a: Tensor,
    tensor_b: Tensor,
    oshape: object = None,
    out_dtype: "str | None" = None,
    transpose_a: bool = False,
    transpose_b: bool = True,
    auto_scheduler_rewritten_layout: str = "",
    meta_schedule_original_shape: object = None,
) -> Tensor:
    """Batched matrix products; the second operand is transposed by default."""
    refuse("nn.batch_matmul", oshape=oshape, layout=auto_scheduler_rewritten_layout, shape=meta_schedule_original_shape)
    return matmul(tensor_a, tensor_b, None, out_dtype, transpose_a, transpose_b)


def batch_norm(  # noqa: PLR0913, PLR0917 - TVM's parameters
    data: Tensor,
    gamma: Tensor,
    beta: Tensor,
    moving_mean: Tensor,
    moving_var: Tensor,
    axis: "int | None" = None,
    epsilon: "float | None" = None,
    center: "bool | None" = None,
    scale: "bool | None" = None,
    training: "bool | None" = None,
    momentum: "float | None" = None,
) -> Result:
    """The distance to the mean of each channel in standard deviations, scaled and moved; what is to be kept."""
    attrs = {"axis": 1 if axis is None else axis, "training": bool(training)}
    more = {"epsilon": epsilon, "center": center, "scale": scale, "momentum": momentum}
    attrs |= {key: attr for key, attr in more.items() if attr is not None}  # type: ignore[misc]
    return apply("nn.batch_norm", data, gamma, beta, moving_mean, moving_var, **attrs)


def _resized(rank: int) -> Callable[..., Tensor]:
    """Resizing of images; TVM's order of parameters."""

    def resize(  # noqa: PLR0913, PLR0917 - TVM's parameters
        data: Tensor,
        roi: object,
        size: object,
        layout: str = "NCHW" if rank == 2 else "NCDHW",
        method: str = "linear",
        coordinate_transformation_mode: str = "half_pixel",
        rounding_method: str = "",
        bicubic_alpha: float = -0.75,
        bicubic_exclude: int = 0,
        extrapolation_value: float = 0.0,
        out_dtype: "str | None" = None,
        output_shape: object = None,
    ) -> Tensor:
        """The image in another size."""
        refuse(f"image.resize{rank}d", output_shape=output_shape)
        attrs = {
            "roi": tuple(roi) if isinstance(roi, list | tuple) else roi,
            "layout": layout,
            "method": method,
            "coordinate_transformation_mode": coordinate_transformation_mode,
            "rounding_method": rounding_method,
            "cubic_alpha": bicubic_alpha,
            "cubic_exclude": bicubic_exclude,
            "extrapolation_value": extrapolation_value,
            "out_dtype": out_dtype,
        }
        return single(apply(f"image.resize{rank}d", data, tuple(value(extent) for extent in values(size)), **attrs))

    return resize


NEURAL: Mapping[str, Callable[..., Result]] = {
    "image.resize2d": _resized(2),
    "image.resize3d": _resized(3),
    "nn.adaptive_pool": _adaptive(2),
    "nn.adaptive_pool1d": _adaptive(1),
    "nn.adaptive_pool3d": _adaptive(3),
    "nn.batch_matmul": batch_matmul,
    "nn.batch_norm": batch_norm,
    "nn.circular_pad": _around("circular", "CircularPadInput"),
    "nn.conv1d": conv1d,
    "nn.conv2d": conv2d,
    "nn.conv2d_nchw": _fixed("NCHW"),
    "nn.conv2d_nhwc": _fixed("NHWC", "float32"),
    "nn.conv2d_transpose_nchw": _transposed(2),
    "nn.conv3d_ncdhw": _grouped("NCDHW"),
    "nn.conv3d_ndhwc": _grouped("NDHWC", "float32"),
    "nn.conv3d_transpose_ncdhw": _transposed(3),
    "nn.dense": dense,
    "nn.depthwise_conv2d_nchw": depthwise_conv2d_nchw,
    "nn.global_pool": global_pool,
    "nn.group_conv2d_nchw": _grouped("NCHW"),
    "nn.group_conv2d_nhwc": _grouped("NHWC"),
    "nn.matmul": matmul,
    "nn.pad": pad,
    "nn.pool1d": _pool(1),
    "nn.pool2d": _pool(2),
    "nn.pool3d": _pool(3),
    "nn.reflect_pad": _around("reflect", "ReflectPadInput"),
    "nn.replicate_pad": _around("replicate", "ReplicatePadInput"),
}
