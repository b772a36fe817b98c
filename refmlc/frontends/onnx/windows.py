"""Convolutions and pooling of ONNX."""

from collections.abc import Mapping
from math import prod

from refmlc.diag import fail
from refmlc.diag.catalogue import BAD_INPUT, UNSUPPORTED_OP
from refmlc.frontends.aten.convolution import LAYOUT
from refmlc.frontends.emitter import Operand
from refmlc.frontends.onnx.elementwise import OnnxRule, wide
from refmlc.frontends.onnx.node import Node
from refmlc.lang.ir import relax

KERNEL = {1: "OIW", 2: "OIHW", 3: "OIDHW"}
TRANSPOSED = {1: "IOW", 2: "IOHW", 3: "IODHW"}


def _pads(
    node: Node, sizes: tuple[object, ...], kernel: tuple[int, ...], strides: tuple[int, ...], dilations: tuple[int, ...]
) -> tuple[int, ...]:
    """The elements added before and after each axis, all of the begins first."""
    mode, given = node.text("auto_pad", "NOTSET"), node.ints("pads")
    rank = len(kernel)
    if mode == "NOTSET":
        return given or (0,) * (2 * rank)
    if mode == "VALID":
        return (0,) * (2 * rank)
    if mode not in ("SAME_UPPER", "SAME_LOWER") or not all(isinstance(one, int) for one in sizes):
        raise fail(UNSUPPORTED_OP, f"the padding `{mode}` of `{node.op}` is not supported here: give `pads`")
    begins, ends = [], []
    for extent, window, stride, dilation in zip(sizes, kernel, strides, dilations, strict=True):
        assert isinstance(extent, int)  # noqa: S101 - as above
        reach = (window - 1) * dilation + 1
        total = max(0, (-(-extent // stride) - 1) * stride + reach - extent)
        first = total // 2 if mode == "SAME_UPPER" else total - total // 2
        begins.append(first)
        ends.append(total - first)
    return (*begins, *ends)


def _kernel(node: Node, weight: relax.Expr) -> tuple[int, ...]:
    sizes = node.e.shape(weight)[2:]
    given = node.ints("kernel_shape")
    if not all(isinstance(one, int) for one in sizes):
        raise fail(UNSUPPORTED_OP, f"`{node.op}` with a kernel of symbolic extents is not supported")
    kernel = tuple(one for one in sizes if isinstance(one, int))
    if given is not None and given != kernel:
        raise fail(BAD_INPUT, f"`kernel_shape` is {given}, the weight has {kernel}")
    return kernel


def _with_bias(node: Node, x: relax.Expr, rank: int) -> relax.Expr:
    bias = node.optional(2)
    return x if bias is None else node.e.call("add", x, node.e.reshape(bias, [1, -1, *(1,) * rank]))


def conv(node: Node) -> Operand:
    """A convolution, whose padding may differ at the two ends."""
    x, weight = node.tensor(0), node.tensor(1)
    kernel = _kernel(node, weight)
    rank = len(kernel)
    if rank not in KERNEL:
        raise fail(UNSUPPORTED_OP, f"`Conv` of {rank} axes is not supported")
    strides, dilations = (node.ints(name) or (1,) * rank for name in ("strides", "dilations"))
    found = node.e.call(
        f"nn.conv{rank}d",
        x,
        weight,
        strides=strides,
        padding=_pads(node, node.e.shape(x)[2:], kernel, strides, dilations),
        dilation=dilations,
        groups=node.whole("group", 1),
        data_layout=LAYOUT[rank],
        kernel_layout=KERNEL[rank],
    )
    return _with_bias(node, found, rank)


def conv_transpose(node: Node) -> Operand:
    """The transpose of a convolution."""
    x, weight = node.tensor(0), node.tensor(1)
    kernel = _kernel(node, weight)
    rank = len(kernel)
    if rank not in KERNEL:
        raise fail(UNSUPPORTED_OP, f"`ConvTranspose` of {rank} axes is not supported")
    strides, dilations = (node.ints(name) or (1,) * rank for name in ("strides", "dilations"))
    extra = node.ints("output_padding") or (0,) * rank
    wanted, sizes = node.ints("output_shape"), node.e.shape(x)[2:]
    mode = node.text("auto_pad", "NOTSET")
    pads = node.ints("pads") or (0,) * (2 * rank)
    if mode.startswith("SAME") and wanted is None:
        if not all(isinstance(one, int) for one in sizes):
            raise fail(UNSUPPORTED_OP, f"the padding `{mode}` of symbolic extents is not supported")
        wanted = tuple(int(str(one)) * stride for one, stride in zip(sizes, strides, strict=True))
    if wanted is not None:
        pads = _pads_for(node, wanted, mode, (sizes, kernel, strides, dilations, extra))
    if min(pads, default=0) < 0:
        raise fail(UNSUPPORTED_OP, "`ConvTranspose` with negative padding is not supported")
    found = node.e.call(
        f"nn.conv{rank}d_transpose",
        x,
        weight,
        strides=strides,
        padding=pads,
        output_padding=extra,
        dilation=dilations,
        groups=node.whole("group", 1),
        data_layout=LAYOUT[rank],
        kernel_layout=TRANSPOSED[rank],
    )
    return _with_bias(node, found, rank)


def _pads_for(
    node: Node,
    wanted: tuple[int, ...],
    mode: str,
    parts: tuple[tuple[object, ...], tuple[int, ...], tuple[int, ...], tuple[int, ...], tuple[int, ...]],
) -> tuple[int, ...]:
    """The padding that gives an output of the extents `wanted`."""
    begins, ends = [], []
    for extent, size, window, stride, dilation, extra in zip(wanted[-len(parts[1]) :], *parts, strict=True):
        if not isinstance(size, int):
            raise fail(UNSUPPORTED_OP, f"`output_shape` of `{node.op}` with symbolic extents is not supported")
        total = stride * (size - 1) + extra + (window - 1) * dilation + 1 - extent
        first = total - total // 2 if mode != "SAME_UPPER" else total // 2
        begins.append(first)
        ends.append(total - first)
    return (*begins, *ends)


def pool(kind: str) -> OnnxRule:
    """A window over the axes behind the channels."""

    def rule(node: Node) -> Operand:
        x, kernel = node.tensor(0), node.ints("kernel_shape")
        if kernel is None or len(kernel) not in LAYOUT:
            raise fail(UNSUPPORTED_OP, f"`{node.op}` of {len(kernel or ())} axes is not supported")
        rank = len(kernel)
        strides, dilations = (node.ints(name) or (1,) * rank for name in ("strides", "dilations"))
        extra = {"count_include_pad": bool(node.whole("count_include_pad", 0))} if kind == "avg" else {}
        node.whole("storage_order", 0)  # says how the second output counts, which is refused
        return node.e.call(
            f"nn.{kind}_pool{rank}d",
            x,
            pool_size=kernel,
            strides=strides,
            padding=_pads(node, node.e.shape(x)[2:], kernel, strides, dilations),
            dilation=dilations,
            ceil_mode=bool(node.whole("ceil_mode", 0)),
            layout=LAYOUT[rank],
            **extra,
        )

    return rule


def lp_pool(node: Node) -> Operand:
    """The p-norm of each window: the root of the mean of powers, padding among them, times the number of elements."""
    e, x, order, kernel = node.e, node.tensor(0), node.whole("p", 2), node.ints("kernel_shape")
    if kernel is None or len(kernel) not in LAYOUT or order < 1:
        raise fail(UNSUPPORTED_OP, f"`{node.op}` of {len(kernel or ())} axes and the norm {order} is not supported")
    if node.whole("ceil_mode", 0):
        raise fail(UNSUPPORTED_OP, f"`{node.op}` with `ceil_mode` is not supported")
    rank, dtype = len(kernel), e.dtype(x)
    strides, dilations = (node.ints(name) or (1,) * rank for name in ("strides", "dilations"))
    powers = e.call("power", e.call("abs", x), e.scalar(order, dtype))
    mean = e.call(
        f"nn.avg_pool{rank}d",
        powers,
        pool_size=kernel,
        strides=strides,
        padding=_pads(node, e.shape(x)[2:], kernel, strides, dilations),
        dilation=dilations,
        count_include_pad=True,
        layout=LAYOUT[rank],
    )
    return e.call("power", e.call("multiply", mean, e.scalar(prod(kernel), dtype)), e.scalar(1 / order, dtype))


WINDOWS: Mapping[str, OnnxRule] = {
    "LpPool": wide(lp_pool),
    "Conv": wide(conv),
    "ConvTranspose": wide(conv_transpose),
    "MaxPool": pool("max"),
    "AveragePool": wide(pool("avg")),
}
