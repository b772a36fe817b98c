"""The layers of `relax.frontend.nn`: weights and a `forward`, as in TVM."""

from collections.abc import Sequence

from refmlc.diag import fail
from refmlc.diag.catalogue import BAD_ARGUMENTS
from refmlc.lang.te import Value, floordiv
from refmlc.tvm.relax.frontend.nn import op
from refmlc.tvm.relax.frontend.nn.module import Module
from refmlc.tvm.relax.frontend.nn.tensor import Parameter, Size, Tensor


class ReLU(Module):
    """The elements, not below 0."""

    def forward(self, x: Tensor) -> Tensor:
        """Call it."""
        return op.relu(x)


class SiLU(Module):
    """`x * sigmoid(x)`."""

    def forward(self, x: Tensor) -> Tensor:
        """Call it."""
        return op.silu(x)


class GELU(Module):
    """The Gaussian error linear unit."""

    def forward(self, x: Tensor) -> Tensor:
        """Call it."""
        return op.gelu(x)


class Identity(Module):
    """The tensor itself."""

    def forward(self, x: Tensor) -> Tensor:
        """Call it."""
        return x


class Linear(Module):
    """`x @ weight.T + bias`."""

    def __init__(
        self,
        in_features: Size,
        out_features: Size,
        bias: bool = True,
        dtype: str | None = None,
        out_dtype: str | None = None,
    ) -> None:
        """The weights. Shapes: (out_features, in_features), (out_features,)."""
        super().__init__()
        self.in_features = in_features
        self.out_features = out_features
        self.out_dtype = out_dtype
        self.weight = Parameter((out_features, in_features), dtype)
        self.bias = Parameter((out_features,), out_dtype or dtype) if bias else None

    def forward(self, x: Tensor) -> Tensor:
        """Call it."""
        product = op.matmul(x, op.permute_dims(self.weight), out_dtype=self.out_dtype)
        return product if self.bias is None else product + self.bias

    def to(self, dtype: str | None = None) -> None:
        """Change the dtype of the weights; the bias keeps `out_dtype` where that is given."""
        self.weight.to(dtype=dtype)
        if self.bias is not None and self.out_dtype is None:
            self.bias.to(dtype=dtype)
        if dtype is not None and isinstance(getattr(self, "dtype", None), str):
            self.dtype = dtype


class _Convolution(Module):
    """What convolutions have in common."""

    def __init__(
        self,
        shape: Sequence[Size],
        out_channels: Size,
        window: tuple[int, int, int, int],
        bias: bool,
        dtype: str | None,
    ) -> None:
        super().__init__()
        self.out_channels = out_channels
        self.stride, self.padding, self.dilation, self.groups = window
        self.weight = Parameter(shape, dtype)
        self.bias = Parameter((out_channels,), dtype) if bias else None


def _over(channels: Size, groups: int) -> Size:
    """The channels of a group. Fails: RM105 where they have a name and there are several groups."""
    if isinstance(channels, int):
        return channels // groups
    if isinstance(channels, Value) or groups == 1:
        return floordiv(channels, groups) if isinstance(channels, Value) else channels
    raise fail(BAD_ARGUMENTS, f"the channels of {groups} groups are a number or an expression; this is {channels!r}")


class Conv1D(_Convolution):
    """The convolution along one axis."""

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: int,
        stride: int = 1,
        padding: int = 0,
        dilation: int = 1,
        groups: int = 1,
        bias: bool = True,
        dtype: str | None = None,
    ) -> None:
        """The weights. Shapes: (out_channels, in_channels / groups, kernel_size), (out_channels,)."""
        window = (stride, padding, dilation, groups)
        super().__init__((out_channels, in_channels // groups, kernel_size), out_channels, window, bias, dtype)
        self.in_channels = in_channels
        self.kernel_size = kernel_size

    def forward(self, x: Tensor) -> Tensor:
        """Call it."""
        return op.conv1d(x, self.weight, self.bias, self.stride, self.padding, self.dilation, self.groups)


class Conv2D(_Convolution):
    """The convolution of images."""

    def __init__(
        self,
        in_channels: Size,
        out_channels: Size,
        kernel_size: int | Sequence[int],
        stride: int = 1,
        padding: int = 0,
        dilation: int = 1,
        groups: int = 1,
        bias: bool = True,
        dtype: str | None = None,
        data_layout: str = "NCHW",
    ) -> None:
        """The weights. Shapes: (out_channels, in_channels / groups, *kernel_size), (out_channels,)."""
        kernel = [kernel_size] * 2 if isinstance(kernel_size, int) else list(kernel_size)
        shape = (out_channels, _over(in_channels, groups), *kernel)
        super().__init__(shape, out_channels, (stride, padding, dilation, groups), bias, dtype)
        self.in_channels = in_channels
        self.kernel_size = kernel
        self.data_layout = data_layout

    def forward(self, x: Tensor) -> Tensor:
        """Call it."""
        window = (self.stride, self.padding, self.dilation, self.groups)
        return op.conv2d(x, self.weight, self.bias, *window, self.data_layout)


class Conv3D(_Convolution):
    """The convolution of volumes. Decision: the weight has all input channels whatever the groups, as TVM's has."""

    def __init__(
        self,
        in_channels: Size,
        out_channels: Size,
        kernel_size: int | Sequence[int],
        stride: int = 1,
        padding: int = 0,
        dilation: int = 1,
        groups: int = 1,
        bias: bool = True,
        dtype: str | None = None,
        data_layout: str = "NCDHW",
    ) -> None:
        """The weights. Shapes: (out_channels, in_channels, *kernel_size), (out_channels,)."""
        kernel = [kernel_size] * 3 if isinstance(kernel_size, int) else list(kernel_size)
        window = (stride, padding, dilation, groups)
        super().__init__((out_channels, in_channels, *kernel), out_channels, window, bias, dtype)
        self.in_channels = in_channels
        self.kernel_size = kernel
        self.data_layout = data_layout

    def forward(self, x: Tensor) -> Tensor:
        """Call it."""
        window = (self.stride, self.padding, self.dilation, self.groups)
        return op.conv3d(x, self.weight, self.bias, *window, self.data_layout)


class ConvTranspose1D(_Convolution):
    """The transposed convolution along one axis."""

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: int,
        stride: int = 1,
        padding: int = 0,
        output_padding: int = 0,
        dilation: int = 1,
        groups: int = 1,
        bias: bool = True,
        dtype: str | None = None,
    ) -> None:
        """The weights. Shapes: (in_channels, out_channels / groups, kernel_size), (out_channels,)."""
        window = (stride, padding, dilation, groups)
        super().__init__((in_channels, out_channels // groups, kernel_size), out_channels, window, bias, dtype)
        self.in_channels = in_channels
        self.kernel_size = kernel_size
        self.output_padding = output_padding

    def forward(self, x: Tensor) -> Tensor:
        """Call it."""
        window = (self.stride, self.padding, self.output_padding, self.dilation, self.groups)
        return op.conv1d_transpose(x, self.weight, self.bias, *window)


class LayerNorm(Module):
    """The elements with mean 0 and variance 1 over the last axis, then scaled and moved."""

    def __init__(
        self,
        normalized_shape: int,
        eps: float = 1e-5,
        elementwise_affine: bool = True,
        dtype: str | None = None,
    ) -> None:
        """The weights. Shapes: (normalized_shape,) each."""
        super().__init__()
        self.normalized_shape = normalized_shape
        self.eps = eps
        self.elementwise_affine = elementwise_affine
        self.weight = Parameter((normalized_shape,), dtype) if elementwise_affine else None
        self.bias = Parameter((normalized_shape,), dtype) if elementwise_affine else None

    def forward(self, x: Tensor) -> Tensor:
        """Call it."""
        return op.layer_norm(x, self.normalized_shape, self.weight, self.bias, self.eps)


class RMSNorm(Module):
    """The elements over their root mean square, scaled."""

    def __init__(
        self,
        hidden_size: int,
        axes: int | Sequence[int],
        epsilon: float = 1e-5,
        bias: bool = True,
        dtype: str | None = None,
    ) -> None:
        """The weights. Shapes: (hidden_size,) each."""
        super().__init__()
        self.epsilon = epsilon
        self.axes = axes
        self.weight = Parameter((hidden_size,), dtype)
        self.bias = Parameter((hidden_size,), dtype) if bias else None

    def forward(self, x: Tensor) -> Tensor:
        """Call it."""
        out = op.rms_norm(x, self.weight, self.axes, self.epsilon)
        return out if self.bias is None else op.add(out, self.bias)


class GroupNorm(Module):
    """The elements with mean 0 and variance 1 in each group of channels, scaled and moved."""

    def __init__(
        self, num_groups: int, num_channels: int, eps: float = 1e-5, affine: bool = True, dtype: str | None = None
    ) -> None:
        """The weights. Shapes: (num_channels,) each."""
        super().__init__()
        self.num_groups = num_groups
        self.num_channels = num_channels
        self.eps = eps
        self.weight = Parameter((num_channels,), dtype) if affine else None
        self.bias = Parameter((num_channels,), dtype) if affine else None

    def forward(self, x: Tensor, channel_axis: int = 1, axes: Sequence[int] | None = None) -> Tensor:
        """Call it."""
        return op.group_norm(x, self.num_groups, self.weight, self.bias, self.eps, channel_axis, axes)


class Embedding(Module):
    """The rows of a table."""

    def __init__(self, num: Size, dim: Size, dtype: str | None = None) -> None:
        """The weight. Shapes: (num, dim)."""
        super().__init__()
        self.num = num
        self.dim = dim
        self.weight = Parameter((num, dim), dtype)

    def forward(self, x: Tensor) -> Tensor:
        """Call it."""
        if x.ndim == 1:
            return op.take(self.weight, x, axis=0)
        rows = op.take(self.weight, op.reshape(x, [-1]), axis=0)
        return op.reshape(rows, [*x.shape, self.weight.shape[1]])
