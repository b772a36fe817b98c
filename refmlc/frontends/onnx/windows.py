"""Convolutions and pooling of ONNX."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod

import numpy as np

from refmlc.diag import fail
from refmlc.diag.catalogue import BAD_INPUT, UNSUPPORTED_OP
from refmlc.frontends.aten.convolution import LAYOUT
from refmlc.frontends.aten.nans import windows
from refmlc.frontends.emitter import Operand, Size
from refmlc.frontends.onnx.elementwise import OnnxRule, wide
from refmlc.frontends.onnx.limits import check_size
from refmlc.frontends.onnx.node import Node
from refmlc.frontends.onnx.shape_rules import constant_of
from refmlc.lang.ir import relax

KERNEL = {1: "OIW", 2: "OIHW", 3: "OIDHW"}
TRANSPOSED = {1: "IOW", 2: "IOHW", 3: "IODHW"}


def _pads(
    node: Node, sizes: tuple[object, ...], kernel: tuple[int, ...], strides: tuple[int, ...], dilations: tuple[int, ...]
) -> tuple[int, ...]:
    """The elements added before and after each axis, all of the begins first."""
    mode, values = node.text("auto_pad", "NOTSET"), node.ints("pads")
    rank = len(kernel)
    if len(sizes) != rank or (values is not None and len(values) != 2 * rank):
        raise fail(
            BAD_INPUT, f"`{node.op}` of {len(sizes)} axes of space, a kernel of {rank}, {len(values or ())} pads"
        )
    if mode == "NOTSET":
        return values or (0,) * (2 * rank)
    if mode == "VALID":
        return (0,) * (2 * rank)
    if mode not in ("SAME_UPPER", "SAME_LOWER") or not all(isinstance(size, int) for size in sizes):
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
    values = node.ints("kernel_shape")
    if not all(isinstance(size, int) for size in sizes):
        raise fail(UNSUPPORTED_OP, f"`{node.op}` with a kernel of symbolic extents is not supported")
    kernel = tuple(size for size in sizes if isinstance(size, int))
    if values is not None and values != kernel:
        raise fail(BAD_INPUT, f"`kernel_shape` is {values}, the weight has {kernel}")
    return kernel


def _with_bias(node: Node, x: relax.Expr, rank: int) -> relax.Expr:
    bias = node.optional(2)
    return x if bias is None else node.e.call("add", x, node.e.reshape(bias, [1, -1, *(1,) * rank]))


def conv(node: Node) -> Operand:
    """A convolution, whose padding may differ at the two ends."""
    x, weight = node.tensor(0), node.tensor(1)
    return _with_bias(node, convolution(node, x, weight), node.e.rank(weight) - 2)


def convolution(node: Node, x: relax.Expr, weight: relax.Expr) -> relax.Expr:
    """A convolution of tensors by the attributes of a node."""
    kernel = _kernel(node, weight)
    rank = len(kernel)
    if rank not in KERNEL or node.e.rank(x) != rank + 2:
        raise fail(UNSUPPORTED_OP, f"`{node.op}` of {rank} axes is not supported")
    strides, dilations = _steps(node, "strides", rank), _steps(node, "dilations", rank)
    return node.e.call(
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


def _steps(node: Node, name: str, rank: int) -> tuple[int, ...]:
    """Strides or dilations, a positive number for each axis; 1 by default. Fails: RM111."""
    steps = node.ints(name) or (1,) * rank
    if len(steps) != rank or any(step < 1 for step in steps):
        raise fail(BAD_INPUT, f"`{name}` of `{node.op}` are {steps}: {rank} positive numbers are needed")
    return steps


def conv_transpose(node: Node) -> Operand:
    """The transpose of a convolution."""
    x, weight = node.tensor(0), node.tensor(1)
    kernel = _kernel(node, weight)
    rank = len(kernel)
    if rank not in KERNEL:
        raise fail(UNSUPPORTED_OP, f"`ConvTranspose` of {rank} axes is not supported")
    strides, dilations = _steps(node, "strides", rank), _steps(node, "dilations", rank)
    extra = node.ints("output_padding") or (0,) * rank
    target, sizes = node.ints("output_shape"), node.e.shape(x)[2:]
    mode = node.text("auto_pad", "NOTSET")
    pads = node.ints("pads") or (0,) * (2 * rank)
    if mode.startswith("SAME") and target is None:
        if not all(isinstance(size, int) for size in sizes):
            raise fail(UNSUPPORTED_OP, f"the padding `{mode}` of symbolic extents is not supported")
        target = tuple(int(str(size)) * stride for size, stride in zip(sizes, strides, strict=True))
    if target is not None:
        pads = _pads_for(node, target, mode, (sizes, kernel, strides, dilations, extra))
    result = node.e.call(
        f"nn.conv{rank}d_transpose",
        x,
        weight,
        strides=strides,
        padding=tuple(max(pad, 0) for pad in pads),
        output_padding=extra,
        dilation=dilations,
        groups=node.whole("group", 1),
        data_layout=LAYOUT[rank],
        kernel_layout=TRANSPOSED[rank],
    )
    return _with_bias(node, _widened(node, result, pads), rank)


def _widened(node: Node, x: relax.Expr, pads: tuple[int, ...]) -> relax.Expr:
    """Zeros at both ends of the axes of space, where the padding is negative."""
    e, half = node.e, len(pads) // 2
    for axis, ends in enumerate(zip(pads[:half], pads[half:], strict=True), 2):
        parts = [x]
        for place, pad in enumerate(ends):
            if pad < 0:
                sizes = list(e.shape(x))
                sizes[axis] = -pad
                zeros = e.call("full", e.sizes(sizes), e.scalar(0, e.dtype(x)), dtype=e.dtype(x))
                parts.insert(len(parts) * place, zeros)
        x = x if len(parts) == 1 else e.call("concat", relax.Tuple(tuple(parts)), axis=axis)
    return x


def _pads_for(
    node: Node,
    target: tuple[int, ...],
    mode: str,
    parts: tuple[tuple[object, ...], tuple[int, ...], tuple[int, ...], tuple[int, ...], tuple[int, ...]],
) -> tuple[int, ...]:
    """The padding that gives an output of the extents `wanted`."""
    begins, ends = [], []
    for extent, size, window, stride, dilation, extra in zip(target[-len(parts[1]) :], *parts, strict=True):
        if not isinstance(size, int):
            raise fail(UNSUPPORTED_OP, f"`output_shape` of `{node.op}` with symbolic extents is not supported")
        total = stride * (size - 1) + extra + (window - 1) * dilation + 1 - extent
        least = max(total, 0)  # what is missing goes to the end
        first = least - least // 2 if mode != "SAME_UPPER" else least // 2
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
        strides, dilations = _steps(node, "strides", rank), _steps(node, "dilations", rank)
        extra = {"count_include_pad": bool(node.whole("count_include_pad", 0))} if kind == "avg" else {}
        by_columns = bool(node.whole("storage_order", 0)) if kind == "max" else False
        pads = _pads(node, node.e.shape(x)[2:], kernel, strides, dilations)
        ceil_mode = bool(node.whole("ceil_mode", 0))

        def pooled(data: relax.Expr) -> relax.Expr:
            return node.e.call(
                f"nn.{kind}_pool{rank}d",
                data,
                pool_size=kernel,
                strides=strides,
                padding=pads,
                dilation=dilations,
                ceil_mode=ceil_mode,
                layout=LAYOUT[rank],
                **extra,
            )

        result = windows(node.e, x, pooled) if kind == "max" else pooled(x)
        if kind != "max" or not node.wants(1):
            return result
        windowing = PoolWindows(kernel, strides, dilations, pads[:rank])
        return result, _places(node, x, node.e.shape(result), windowing, by_columns=by_columns)

    return rule


@dataclass(frozen=True)
class PoolWindows:
    """Windows over the axes of space: their extents, the steps between them and within them, what is added before."""

    kernel: tuple[int, ...]
    strides: tuple[int, ...]
    dilations: tuple[int, ...]
    before: tuple[int, ...]

    def places(self, results: Sequence[int], extents: Sequence[int], *, by_columns: bool) -> tuple[np.ndarray, ...]:
        """For each result and place of its window: the element in row-major order, -1 outside; how it is counted."""
        rank, inside = len(extents), np.array(True)
        flat = counted = np.zeros((), np.int64)
        step = 1
        for axis in range(rank):
            first = np.arange(results[axis]) * self.strides[axis] - self.before[axis]
            inner = np.arange(self.kernel[axis]) * self.dilations[axis]
            around = [1] * (2 * rank)
            around[axis], around[rank + axis] = results[axis], self.kernel[axis]
            at = (first[:, None] + inner[None, :]).reshape(around)
            inside = inside & (at >= 0) & (at < extents[axis])
            flat = flat * extents[axis] + at
            counted = counted + at * step if by_columns else flat
            step *= extents[axis]
        shape = (prod(results), prod(self.kernel))
        return tuple(np.where(inside, item, -1).reshape(shape) for item in (flat, counted))


def _places(
    node: Node, x: relax.Expr, shape: tuple[Size, ...], windowing: PoolWindows, *, by_columns: bool
) -> relax.Expr:
    """Where the greatest element of each window is in the whole tensor, the first of equal ones. Fails: RM501."""
    e, sizes = node.e, node.e.shape(x)
    whole = [item for item in (*sizes, *shape[2:]) if isinstance(item, int)]
    if len(whole) != len(sizes) + len(shape) - 2:
        raise fail(UNSUPPORTED_OP, f"the places of `{node.op}` of symbolic extents are not supported")
    (n, c), extents, results = whole[:2], whole[2 : len(sizes)], whole[len(sizes) :]
    check_size(node.op, *results, *windowing.kernel)
    flat, counted = windowing.places(results, extents, by_columns=by_columns)
    images = e.reshape(x, [n, c, prod(extents)])
    # Elements outside of the image come last, as the first one inside: so they are never the first greatest.
    order = np.argsort(flat < 0, axis=1, kind="stable")
    flat, counted = np.take_along_axis(flat, order, 1), np.take_along_axis(counted, order, 1)
    if (flat[:, 0] < 0).any():
        raise fail(UNSUPPORTED_OP, f"the places of `{node.op}` with windows outside of the image are not supported")
    windows = e.call("take", images, constant_of(np.where(flat < 0, flat[:, :1], flat)), axis=2)
    best = e.call("argmax", windows, axis=3, keepdims=False)
    begins = constant_of(np.arange(len(flat)) * flat.shape[1])
    result = e.call("take", constant_of(counted.ravel()), e.call("add", best, begins), axis=0)
    offset = constant_of((np.arange(n * c) * prod(extents)).reshape(n, c, 1))
    return e.reshape(e.call("add", result, offset), [n, c, *results])


def lp_pool(node: Node) -> Operand:
    """The p-norm of each window: the root of the mean of powers, padding among them, times the number of elements."""
    e, x, order, kernel = node.e, node.tensor(0), node.whole("p", 2), node.ints("kernel_shape")
    if kernel is None or len(kernel) not in LAYOUT or order < 1:
        raise fail(UNSUPPORTED_OP, f"`{node.op}` of {len(kernel or ())} axes and the norm {order} is not supported")
    rank, dtype = len(kernel), e.dtype(x)
    strides, dilations = _steps(node, "strides", rank), _steps(node, "dilations", rank)
    extents, ceil_mode = e.shape(x)[2:], node.whole("ceil_mode", 0)
    pads = _pads(node, extents, kernel, strides, dilations)
    if ceil_mode:
        pads = _whole_windows(node, extents, pads, (kernel, strides, dilations))
    powers = e.call("power", e.call("abs", x), e.scalar(order, dtype))
    mean = e.call(
        f"nn.avg_pool{rank}d",
        powers,
        pool_size=kernel,
        strides=strides,
        padding=pads,
        dilation=dilations,
        count_include_pad=True,
        layout=LAYOUT[rank],
    )
    return e.call("power", e.call("multiply", mean, e.scalar(prod(kernel), dtype)), e.scalar(1 / order, dtype))


def _whole_windows(
    node: Node, extents: Sequence[Size], pads: tuple[int, ...], windowing: tuple[tuple[int, ...], ...]
) -> tuple[int, ...]:
    """The padding with which the windows that `ceil_mode` cuts are whole: zeros add nothing to a norm."""
    rank, ends = len(extents), []
    for begin, end, size, kernel, stride, dilation in zip(pads[:rank], pads[rank:], extents, *windowing, strict=True):
        if not isinstance(size, int):
            raise fail(UNSUPPORTED_OP, f"`{node.op}` with `ceil_mode` and a symbolic extent is not supported")
        window = (kernel - 1) * dilation + 1
        last = -(-(begin + size + end - window) // stride) * stride
        last -= stride if last >= begin + size else 0  # no window begins in the padding behind
        ends.append(max(last + window - begin - size, 0))
    return (*pads[:rank], *ends)


WINDOWS: Mapping[str, OnnxRule] = {
    "LpPool": wide(lp_pool),
    "Conv": wide(conv),
    "ConvTranspose": wide(conv_transpose),
    "MaxPool": pool("max"),
    "AveragePool": wide(pool("avg")),
}
