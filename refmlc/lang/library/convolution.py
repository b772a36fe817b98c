"""Convolutions over 1, 2 or 3 dimensions of space, and transposed ones.

| operator                | the element of channel o at the place y                                                |
|-------------------------|----------------------------------------------------------------------------------------|
| `nn.conv<n>d`           | the sum over channels c, places r of `data[c, y*s + r*d - p] * weight[o, c, r]`        |
| `nn.conv<n>d_transpose` | the sum over c, r and x, where `x*s + r*d - p == y`, of `data[c, x] * weight[c, o, r]` |

Layouts: as their letters say (`layout`). Groups: channel o sees the channels of its own group, which the weight counts
from the first of them. Order: factors are converted to the dtype of the result, products are added from 0 in it.
"""

from collections.abc import Callable

from refmlc.diag import fail
from refmlc.diag.catalogue import BAD_ARGUMENTS, SHAPE_MISMATCH, TYPE_MISMATCH
from refmlc.lang import te
from refmlc.lang.library.definition import Operator, computed
from refmlc.lang.library.layout import SPATIAL, Layout, PerAxis, Windows, layout_of, numbers, windows
from refmlc.lang.library.padding import padded
from refmlc.lang.library.reduction import over_extents
from refmlc.lang.library.shapes import known, must_agree
from refmlc.lang.te import Tensor, Value


def _dtype(data: Tensor, weight: Tensor, out_dtype: object, name: str) -> str:
    """The dtype of the result. Fails: RM201 where it is not said, and does not follow."""
    if out_dtype not in (None, "", "void"):
        return str(out_dtype)
    if data.dtype != weight.dtype:
        dtypes = f"these are {data.dtype} and {weight.dtype}"
        raise fail(TYPE_MISMATCH, f"`{name}` takes tensors of one dtype, or an out_dtype; {dtypes}")
    return data.dtype


def _groups(groups: int, extent: Value, what: str) -> int:
    """The groups. Fails: RM105, RM202 where they do not divide a known number of channels."""
    (count,) = numbers(groups, 1, "groups", 1)
    have = known(extent)
    if have is not None and have % count:
        raise fail(SHAPE_MISMATCH, f"{count} groups do not divide the {have} channels of the {what}")
    return count


def _convolution(rank: int) -> Callable[..., Tensor]:
    """`nn.conv<rank>d`."""
    name, space = f"nn.conv{rank}d", SPATIAL[rank]

    def convolution(  # noqa: PLR0913 - the attributes are TVM's
        data: Tensor,
        weight: Tensor,
        *,
        strides: PerAxis = (1,) * rank,
        padding: PerAxis = (0,) * rank,
        dilation: PerAxis = (1,) * rank,
        groups: int = 1,
        data_layout: str = f"NC{space}",
        kernel_layout: str = f"OI{space}",
        out_layout: str | None = None,
        out_dtype: str | None = None,
    ) -> Tensor:
        """The sum of the elements in a window, in all channels of the group, times the weights of the channel.

        Shapes: space has `(n + before + after - (k - 1) * dilation - 1) // stride + 1` windows. Outside of the data
        there are zeros. Order: channels and places of the window in the order that they have in `data_layout`. Fails:
        RM105, RM201 dtypes that differ without an out_dtype, RM202, RM501 blocked layouts.
        """
        source = layout_of(data_layout, f"NC{space}", f"`{name}`: data_layout")
        target = layout_of(out_layout or data_layout, f"NC{space}", f"`{name}`: out_layout")
        kernel = layout_of(kernel_layout, f"OI{space}", f"`{name}`: kernel_layout")
        window, dtype = windows(rank, strides, padding, dilation), _dtype(data, weight, out_dtype, name)
        images, channels, *extents = source.extents(data, f"the data of `{name}`")
        filters, depth, *sizes = kernel.extents(weight, f"the weight of `{name}`")
        count = _groups(groups, filters, "result")
        must_agree(channels, depth * count, f"the channels of the data of `{name}`, and of the weight in all groups")
        shape = target.joined(images, filters, *window.counts(extents, sizes, name))
        x = padded(
            data,
            source.joined(0, 0, *window.before),
            source.joined(0, 0, *window.after),
            te.const(0, data.dtype),
            "pad",
        )
        order = Layout(source.text.replace("N", ""), f"C{space}")
        inner, there = over_extents(order.joined(depth, *sizes), [f"r{letter.lower()}" for letter in order.text])
        c, *places = order.split(inner)

        def element(*i: Value) -> object:
            image, o, *at = target.split(i)
            own = c if count == 1 else o // (filters // count) * depth + c
            left = te.cast(x(*source.joined(image, own, *window.spots(at, places))), dtype)
            right = te.cast(weight(*kernel.joined(o, c, *places)), dtype)
            return te.sum(left * right, axis=inner, where=there)

        return computed(shape, element, f"conv{rank}d_{source.text.lower()}")

    return convolution


def _spread(window: Windows, name: str, extents: list[Value], sizes: list[Value], more: tuple[int, ...]) -> list[Value]:
    """The extents of a transposed convolution. Fails: RM105, RM202 where nothing is, or remains."""
    extents_out = []
    for place, (extent, size) in enumerate(zip(extents, sizes, strict=True)):
        if more[place] >= window.stride[place]:
            least = f"output_padding {more[place]} and strides {window.stride[place]}"
            raise fail(BAD_ARGUMENTS, f"`{name}` takes an output_padding below the stride; there are {least}")
        whole = (extent - 1) * window.stride[place] + (size - 1) * window.dilation[place] + 1
        result_extent = whole - window.before[place] - window.after[place] + more[place]
        have = known(result_extent)
        if known(extent) == 0 or (have is not None and have < 0):
            raise fail(SHAPE_MISMATCH, f"`{name}` of an extent of {known(extent)} has an empty result: {have}")
        extents_out.append(result_extent)
    return extents_out


def _transposed(rank: int) -> Callable[..., Tensor]:
    """`nn.conv<rank>d_transpose`."""
    name, space = f"nn.conv{rank}d_transpose", SPATIAL[rank]

    def transposed(  # noqa: PLR0913 - the attributes are TVM's
        data: Tensor,
        weight: Tensor,
        *,
        strides: PerAxis = (1,) * rank,
        padding: PerAxis = (0,) * rank,
        output_padding: PerAxis = (0,) * rank,
        dilation: PerAxis = (1,) * rank,
        groups: int = 1,
        data_layout: str = f"NC{space}",
        kernel_layout: str = f"IO{space}",
        out_layout: str | None = None,
        out_dtype: str | None = None,
    ) -> Tensor:
        """Each element of the data, times the weights, added to the window that it stands for.

        Shapes: space has `(n - 1) * stride + (k - 1) * dilation + 1 - before - after + output_padding` places. Order:
        input channels, then places of the kernel from the last to the first. Fails: RM105, RM201, RM202, RM501.
        """
        source = layout_of(data_layout, f"NC{space}", f"`{name}`: data_layout")
        target = layout_of(out_layout or data_layout, f"NC{space}", f"`{name}`: out_layout")
        kernel = layout_of(kernel_layout, f"IO{space}", f"`{name}`: kernel_layout")
        window, dtype = windows(rank, strides, padding, dilation), _dtype(data, weight, out_dtype, name)
        images, channels, *extents = source.extents(data, f"the data of `{name}`")
        depth, filters, *sizes = kernel.extents(weight, f"the weight of `{name}`")
        must_agree(channels, depth, f"the channels of the data of `{name}`, and of the weight")
        count = _groups(groups, channels, "data")
        per = channels // count
        more = numbers(output_padding, rank, "output_padding", 0)
        shape = target.joined(images, filters * count, *_spread(window, name, extents, sizes, more))
        inner, there = over_extents([per, *sizes], [f"r{letter.lower()}" for letter in f"C{space}"])
        c, *places = inner

        def element(*i: Value) -> object:
            image, o, *at = target.split(i)
            own = c if count == 1 else o // filters * per + c
            meets, spot, turned = [] if there is None else [there], [], []
            for place, y in enumerate(at):
                turned.append(sizes[place] - 1 - places[place])
                scaled = y + window.before[place] - turned[-1] * window.dilation[place]
                spot.append(scaled // window.stride[place])
                meets += [scaled % window.stride[place] == 0] if window.stride[place] > 1 else []
                meets += [spot[-1] >= 0, spot[-1] < extents[place]]
            left = te.cast(data(*source.joined(image, own, *spot)), dtype)
            right = te.cast(weight(*kernel.joined(own, o if count == 1 else o % filters, *turned)), dtype)
            return te.sum(left * right, axis=inner, where=te.all(*meets))

        return computed(shape, element, f"conv{rank}d_transpose_{source.text.lower()}")

    return transposed


CONVOLUTION = (
    *(Operator(f"nn.conv{rank}d", _convolution(rank), "LIB-010") for rank in (1, 2, 3)),
    *(Operator(f"nn.conv{rank}d_transpose", _transposed(rank), "LIB-011") for rank in (1, 2, 3)),
)
