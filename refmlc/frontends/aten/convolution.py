"""Convolutions and windows over the last axes, channels second."""

from collections.abc import Mapping, Sequence
from functools import wraps

from refmlc.diag import fail
from refmlc.diag.catalogue import UNSUPPORTED_OP
from refmlc.frontends.aten.nans import along, windows
from refmlc.frontends.emitter import Emitter, Operand
from refmlc.frontends.rule import Rule, whole
from refmlc.lang.ir import relax

LAYOUT = {1: "NCW", 2: "NCHW", 3: "NCDHW"}
KERNEL = {1: "OIW", 2: "OIHW", 3: "OIDHW"}
TURNED = {1: "IOW", 2: "IOHW", 3: "IODHW"}


def each(value: Operand, rank: int) -> tuple[int, ...]:
    """One number for each axis."""
    values = tuple(value) if isinstance(value, list | tuple) else (value,)
    return tuple(whole(item) for item in (values * rank if len(values) == 1 else values))


def around(padding: Operand, kernel: Sequence[int], dilation: Sequence[int]) -> tuple[int, ...]:
    """What is added before each axis, then what is added after each; by PyTorch's numbers or names."""
    if padding == "valid":
        return (0,) * (2 * len(kernel))
    if padding == "same":
        whole = [(size - 1) * step for size, step in zip(kernel, dilation, strict=True)]
        return (*(item // 2 for item in whole), *(item - item // 2 for item in whole))
    return each(padding, len(kernel)) * 2


def biased(e: Emitter, x: relax.Expr, bias: relax.Expr | None, rank: int) -> relax.Expr:
    """A number for each channel added."""
    if bias is None:
        return x
    return e.call("add", x, e.reshape(bias, [1, e.shape(bias)[0], *(1,) * rank]))


def batched(e: Emitter, x: relax.Expr, rank: int) -> tuple[relax.Expr, bool]:
    """The tensor with an axis for the batch, and whether it was added."""
    lacks = e.rank(x) == rank + 1
    return (e.call("expand_dims", x, axis=0) if lacks else x), lacks


def freed(e: Emitter, x: relax.Expr, *, added: bool) -> relax.Expr:
    """The tensor without the axis that was added."""
    return e.call("squeeze", x, axis=(0,)) if added else x


def convolution(rank: int) -> Rule:
    """`conv…d(x, weight, bias, stride, padding, dilation, groups)`."""

    def rule(
        e: Emitter,
        x: relax.Expr,
        weight: relax.Expr,
        bias: relax.Expr | None = None,
        stride: Operand = 1,
        padding: Operand = 0,
        dilation: Operand = 1,
        groups: int = 1,
    ) -> relax.Expr:
        data, added = batched(e, x, rank)
        steps = each(dilation, rank)
        kernel = [whole(extent) for extent in e.shape(weight)[2:]]
        result = e.call(
            f"nn.conv{rank}d",
            data,
            weight,
            strides=each(stride, rank),
            padding=around(padding, kernel, steps),
            dilation=steps,
            groups=int(groups),
            data_layout=LAYOUT[rank],
            kernel_layout=KERNEL[rank],
        )
        return freed(e, biased(e, result, bias, rank), added=added)

    return rule


def transposed(rank: int) -> Rule:
    """`conv_transpose…d(x, weight, bias, stride, padding, output_padding, groups, dilation)`."""

    def rule(  # noqa: PLR0913, PLR0917 - PyTorch's arguments
        e: Emitter,
        x: relax.Expr,
        weight: relax.Expr,
        bias: relax.Expr | None = None,
        stride: Operand = 1,
        padding: Operand = 0,
        output_padding: Operand = 0,
        groups: int = 1,
        dilation: Operand = 1,
    ) -> relax.Expr:
        data, added = batched(e, x, rank)
        steps, around, more = each(stride, rank), each(padding, rank), each(output_padding, rank)
        fits = all(extra < step for extra, step in zip(more, steps, strict=True))
        if not fits and any(extra > item for extra, item in zip(more, around, strict=True)):
            raise fail(UNSUPPORTED_OP, f"the output padding {list(more)} of a transposed convolution is not supported")
        ends = around if fits else tuple(item - extra for item, extra in zip(around, more, strict=True))
        result = e.call(
            f"nn.conv{rank}d_transpose",
            data,
            weight,
            strides=steps,
            padding=(*around, *ends),
            output_padding=more if fits else (0,) * rank,
            dilation=each(dilation, rank),
            groups=int(groups),
            data_layout=LAYOUT[rank],
            kernel_layout=TURNED[rank],
        )
        return freed(e, biased(e, result, bias, rank), added=added)

    return rule


def any_convolution(  # noqa: PLR0913, PLR0917 - PyTorch's arguments
    e: Emitter,
    x: relax.Expr,
    weight: relax.Expr,
    bias: relax.Expr | None,
    stride: Operand,
    padding: Operand,
    dilation: Operand,
    turned: bool,
    output_padding: Operand,
    groups: int,
) -> Operand:
    """`convolution` of core ATen: of any rank, transposed or not."""
    rank = e.rank(weight) - 2
    if turned:
        return transposed(rank)(e, x, weight, bias, stride, padding, output_padding, groups, dilation)
    return convolution(rank)(e, x, weight, bias, stride, padding, dilation, groups)


def max_pool(rank: int) -> Rule:
    """The greatest element of each window."""

    def rule(
        e: Emitter,
        x: relax.Expr,
        kernel_size: Operand,
        stride: Operand = None,
        padding: Operand = 0,
        dilation: Operand = 1,
        ceil_mode: Operand = False,
        return_indices: Operand = False,
    ) -> relax.Expr:
        if return_indices:
            raise fail(UNSUPPORTED_OP, "the indices of a max pooling are not supported")
        data, added = batched(e, x, rank)

        def pooled(data: relax.Expr) -> relax.Expr:
            return e.call(
                f"nn.max_pool{rank}d",
                data,
                pool_size=each(kernel_size, rank),
                strides=each(stride or kernel_size, rank),
                padding=each(padding, rank) * 2,
                dilation=each(dilation, rank),
                ceil_mode=bool(ceil_mode),
                layout=LAYOUT[rank],
            )

        result = windows(e, data, pooled)
        return freed(e, result, added=added)

    return rule


def first_of(rule: Rule) -> Rule:
    """The same, giving a tuple; nobody may ask for its other fields."""

    @wraps(rule)
    def alone(*args: Operand, **named: Operand) -> Operand:
        return (rule(*args, **named),)

    return alone


def avg_pool(rank: int) -> Rule:
    """The mean of each window."""

    def rule(
        e: Emitter,
        x: relax.Expr,
        kernel_size: Operand,
        stride: Operand = None,
        padding: Operand = 0,
        ceil_mode: Operand = False,
        count_include_pad: Operand = True,
        divisor_override: Operand = None,
    ) -> relax.Expr:
        if divisor_override is not None:
            raise fail(UNSUPPORTED_OP, "`divisor_override` of an average pooling is not supported")
        data, added = batched(e, x, rank)
        result = e.call(
            f"nn.avg_pool{rank}d",
            data,
            pool_size=each(kernel_size, rank),
            strides=each(stride or kernel_size, rank),
            padding=each(padding, rank) * 2,
            ceil_mode=bool(ceil_mode),
            count_include_pad=bool(count_include_pad),
            layout=LAYOUT[rank],
        )
        return freed(e, result, added=added)

    return rule


def adaptive_avg_pool(rank: int) -> Rule:
    """The means of as many windows as are wanted."""

    def rule(e: Emitter, x: relax.Expr, output_size: Operand) -> relax.Expr:
        data, added = batched(e, x, rank)
        values = output_size if isinstance(output_size, list | tuple) else (output_size,) * rank
        own = e.shape(data)[2:]
        sizes = tuple(whole(size if item is None else item) for item, size in zip(values, own, strict=True))
        result = e.call(f"nn.adaptive_avg_pool{rank}d", data, output_size=sizes, layout=LAYOUT[rank])
        return freed(e, result, added=added)

    return rule


def adaptive_max_pool(rank: int) -> Rule:
    """The greatest elements of as many windows as are wanted; a tuple: nothing may ask for their places."""

    def rule(e: Emitter, x: relax.Expr, output_size: Operand) -> Operand:
        result, first = x, e.rank(x) - rank
        for at, target in enumerate(each(output_size, rank)):
            axis = first + at
            extent = whole(e.shape(x)[axis])
            windows = [(place * extent // target, -(-(place + 1) * extent // target)) for place in range(target)]
            parts = [
                along(e, "max", e.call("strided_slice", result, [axis], [begin], [end], [1]), (axis,), keep=True)
                for begin, end in windows
            ]
            result = e.call("concat", parts, axis=axis)
        return (result,)

    return rule


def pad(e: Emitter, x: relax.Expr, widths: Sequence[int], mode: str = "constant", value: Operand = None) -> Operand:
    """Elements added around; PyTorch names the last axis first. Negative widths cut."""
    rank, modes = e.rank(x), {"constant": "constant", "reflect": "reflect", "replicate": "replicate"}
    if mode not in modes or any(width < 0 for width in widths):
        raise fail(UNSUPPORTED_OP, f'a padding of mode "{mode}" with the widths {list(widths)} is not supported')
    whole = [0] * (2 * rank)
    for place in range(len(widths) // 2):
        whole[2 * (rank - 1 - place)], whole[2 * (rank - 1 - place) + 1] = widths[2 * place], widths[2 * place + 1]
    return e.call("nn.pad", x, pad_width=tuple(whole), pad_mode=modes[mode], pad_value=float(str(value or 0)))


def pixel_shuffle(e: Emitter, x: relax.Expr, upscale_factor: int) -> Operand:
    """Channels as places of a finer grid."""
    return e.call("nn.pixel_shuffle", x, upscale_factor=int(upscale_factor))


RANKS = (1, 2, 3)

CONVOLUTION: Mapping[str, Rule] = {
    **{f"conv{rank}d": convolution(rank) for rank in RANKS},
    **{f"conv_transpose{rank}d": transposed(rank) for rank in RANKS},
    "conv2d.padding": convolution(2),
    "convolution": any_convolution,
    **{f"max_pool{rank}d": max_pool(rank) for rank in RANKS},
    **{f"max_pool{rank}d_with_indices": first_of(max_pool(rank)) for rank in RANKS},
    **{f"avg_pool{rank}d": avg_pool(rank) for rank in RANKS},
    **{f"adaptive_avg_pool{rank}d": adaptive_avg_pool(rank) for rank in RANKS},
    **{f"_adaptive_avg_pool{rank}d": adaptive_avg_pool(rank) for rank in RANKS},
    **{f"adaptive_max_pool{rank}d": adaptive_max_pool(rank) for rank in RANKS},
    "pad": pad,
    "constant_pad_nd": lambda e, x, widths, value=0: pad(e, x, widths, "constant", value),
    "pixel_shuffle": pixel_shuffle,
}
