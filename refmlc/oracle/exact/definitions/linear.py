"""Products of matrices, sums of products by letters, convolutions: sums of exact products."""

import math
from collections.abc import Callable, Iterator, Sequence
from itertools import product as places

import numpy as np

from refmlc.oracle.exact.definitions.arrays import Array, filled, mapped, numbers
from refmlc.oracle.exact.definitions.creation import dtype_named
from refmlc.oracle.exact.definitions.definition import NUMPY, ONNX, PYTORCH, ROUNDED, SUM, ExactDefinition, NoDefinition
from refmlc.oracle.exact.definitions.numbers import UNKNOWN, ExactNumber, Format, format_of, special, total

Numbers = int | Sequence[int]


def _converted(x: Array, dtype: np.dtype) -> Array:
    """The elements as numbers of `dtype`; their conversion is rounded when they are used."""
    form, items = format_of(dtype), numbers(x)
    if form is None and format_of(x.dtype) is not None:
        raise NoDefinition("a product of floats in integers")
    again = (ExactNumber(item.value, 0.0, form, fresh=dtype != x.dtype) for item in items.reshape(-1))
    return filled(x.shape, again)


def matmul(a: Array, b: Array, *, out_dtype: str | None = None) -> Array:
    """The product of the last two axes, the others being broadcast; of vectors as NumPy has it."""
    dtype = dtype_named(out_dtype, a.dtype)
    form = format_of(dtype)
    first, second = _converted(a, dtype), _converted(b, dtype)
    left = first if a.ndim > 1 else first[None, :]
    right = second if b.ndim > 1 else second[:, None]
    batch = np.broadcast_shapes(left.shape[:-2], right.shape[:-2])
    left = np.broadcast_to(left, (*batch, *left.shape[-2:]))
    right = np.broadcast_to(right, (*batch, *right.shape[-2:]))
    shape = (*batch, left.shape[-2], right.shape[-1])

    def element(at: tuple[int, ...]) -> ExactNumber:
        row, column = left[at[:-2]][at[-2]], right[at[:-2]][:, at[-1]]
        return total((x * y for x, y in zip(row, column, strict=True)), form)

    result = filled(shape, map(element, np.ndindex(*shape)))
    result = result if a.ndim > 1 else result[..., 0, :]
    return result if b.ndim > 1 else result[..., 0]


def outer(a: Array, b: Array) -> Array:
    """The products of all pairs."""
    return mapped(lambda x, y: x * y, numbers(a)[:, None], numbers(b)[None, :])


def dense(x: Array, weight: Array) -> Array:
    """X times the transposed weight."""
    return matmul(x, weight.T)


def einsum(operands: Sequence[Array], *, subscripts: str) -> Array:
    """The sum over the letters that the result has not; an ellipsis stands for the axes that are broadcast."""
    text = subscripts.replace(" ", "")
    sources, _, target = text.partition("->")
    if "." in text or (not target and "->" not in text):
        raise NoDefinition("an einsum with an ellipsis, or without a result")
    form = format_of(operands[0].dtype)
    letters, arrays = sources.split(","), [numbers(operand) for operand in operands]
    sizes: dict[str, int] = {}
    for names, array in zip(letters, arrays, strict=True):
        for name, extent in zip(names, array.shape, strict=True):
            sizes[name] = extent if extent != 1 else sizes.get(name, 1)
    summed = [name for name in sizes if name not in target]

    def terms(at: dict[str, int]) -> Iterator[ExactNumber]:
        for inner in places(*(range(sizes[name]) for name in summed)):
            place = {**at, **dict(zip(summed, inner, strict=True))}
            factors = [
                array[tuple(place[name] if extent != 1 else 0 for name, extent in zip(names, array.shape, strict=True))]
                for names, array in zip(letters, arrays, strict=True)
            ]
            yield math.prod(factors[1:], start=factors[0])

    shape = tuple(sizes[name] for name in target)
    return filled(shape, (total(terms(dict(zip(target, at, strict=True))), form) for at in np.ndindex(*shape)))


def several(value: Numbers, count: int) -> tuple[int, ...]:
    """A number for each dimension."""
    items = (value,) if isinstance(value, int) else tuple(value)
    return items * count if len(items) == 1 else items


def around(padding: Numbers, count: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """What is added before and after: 1 number, one for each dimension, or all before, then all after."""
    items = several(padding, count)
    items = items * 2 if len(items) == count else items
    return items[:count], items[count:]


def turned(x: Array, layout: str, order: str) -> Array:
    """The axes of a layout in another order. Blocked layouts have no definition."""
    if sorted(layout) != sorted(order):
        raise NoDefinition("a blocked layout")
    return x.transpose([layout.index(letter) for letter in order])


def _convolved(data: Array, weight: Array, form: Format | None, settings: "_Settings") -> Array:
    """Data (n, c, …) and weight (o, i, …) give (n, o, …): the sum over channels of the group and the window."""
    rank = data.ndim - 2
    before, after = settings.before, settings.after
    kernel, per, groups = weight.shape[2:], weight.shape[1], settings.groups
    extents = [
        (n + before[d] + after[d] - (kernel[d] - 1) * settings.dilation[d] - 1) // settings.strides[d] + 1
        for d, n in enumerate(data.shape[2:])
    ]
    shape = (data.shape[0], weight.shape[0], *extents)
    outs = weight.shape[0] // groups

    def terms(at: tuple[int, ...]) -> Iterator[ExactNumber]:
        image, out, *where = at
        for c in range(per):
            for inside in np.ndindex(*kernel):
                spot = [
                    where[d] * settings.strides[d] + inside[d] * settings.dilation[d] - before[d] for d in range(rank)
                ]
                factor = weight[(out, c, *inside)]
                if all(0 <= s < n for s, n in zip(spot, data.shape[2:], strict=True)):
                    yield data[(image, out // outs * per + c, *spot)] * factor
                elif special(factor.value):  # a zero is added, or nothing: both are in use
                    yield UNKNOWN

    return filled(shape, (total(terms(at), form) for at in np.ndindex(*shape)))


class _Settings:
    """The attributes of a convolution, a number for each dimension."""

    def __init__(self, rank: int, strides: Numbers, padding: Numbers, dilation: Numbers, groups: int) -> None:
        self.strides, self.dilation = several(strides, rank), several(dilation, rank)
        self.before, self.after = around(padding, rank)
        self.groups = groups


def _convolution(rank: int) -> Callable[..., Array]:
    space = "DHW"[3 - rank :]

    def convolution(  # noqa: PLR0913 - the attributes are TVM's
        data: Array,
        weight: Array,
        *,
        strides: Numbers = 1,
        padding: Numbers = 0,
        dilation: Numbers = 1,
        groups: int = 1,
        data_layout: str = f"NC{space}",
        kernel_layout: str = f"OI{space}",
        out_layout: str | None = None,
        out_dtype: str | None = None,
    ) -> Array:
        """The sum of products of windows and kernels."""
        dtype = dtype_named(out_dtype, data.dtype)
        settings = _Settings(rank, strides, padding, dilation, groups)
        image = turned(_converted(data, dtype), data_layout, f"NC{space}")
        kernel = turned(_converted(weight, dtype), kernel_layout, f"OI{space}")
        result = _convolved(image, kernel, format_of(dtype), settings)
        return turned(result, f"NC{space}", out_layout or data_layout)

    return convolution


def _transposed(rank: int) -> Callable[..., Array]:
    space = "DHW"[3 - rank :]

    def convolution(  # noqa: PLR0913 - the attributes are TVM's
        data: Array,
        weight: Array,
        *,
        strides: Numbers = 1,
        padding: Numbers = 0,
        output_padding: Numbers = 0,
        dilation: Numbers = 1,
        groups: int = 1,
        data_layout: str = f"NC{space}",
        kernel_layout: str = f"IO{space}",
        out_layout: str | None = None,
        out_dtype: str | None = None,
    ) -> Array:
        """Each element times the kernel, added at its window: the gradient of a convolution by its data."""
        dtype = dtype_named(out_dtype, data.dtype)
        settings = _Settings(rank, strides, padding, dilation, groups)
        image = turned(_converted(data, dtype), data_layout, f"NC{space}")
        kernel = turned(_converted(weight, dtype), kernel_layout, f"IO{space}")
        result = _spread(image, kernel, format_of(dtype), settings, several(output_padding, rank))
        return turned(result, f"NC{space}", out_layout or data_layout)

    return convolution


def _spread(data: Array, weight: Array, form: Format | None, settings: _Settings, extra: Sequence[int]) -> Array:
    rank, kernel, groups = data.ndim - 2, weight.shape[2:], settings.groups
    extents = [
        (n - 1) * settings.strides[d] - settings.before[d] - settings.after[d] + (kernel[d] - 1) * settings.dilation[d]
        + extra[d] + 1
        for d, n in enumerate(data.shape[2:])
    ]  # fmt: skip
    outs, per = weight.shape[1], data.shape[1] // groups
    shape = (data.shape[0], outs * groups, *extents)
    terms: dict[tuple[int, ...], list[ExactNumber]] = {at: [] for at in np.ndindex(*shape)}
    for image, channel, *spot in np.ndindex(*data.shape):
        for out, *inside in np.ndindex(outs, *kernel):
            where = [
                spot[d] * settings.strides[d] + inside[d] * settings.dilation[d] - settings.before[d]
                for d in range(rank)
            ]
            at = (image, channel // per * outs + out, *where)
            if at in terms:
                terms[at].append(data[(image, channel, *spot)] * weight[(channel, out, *inside)])
    return filled(shape, (total(terms[at], form) for at in np.ndindex(*shape)))


LINEAR = (
    ExactDefinition("matmul", matmul, f"{NUMPY} numpy.matmul; integers wrap", SUM),
    ExactDefinition("outer", outer, f"{NUMPY} numpy.outer", ROUNDED),
    ExactDefinition("nn.dense", dense, f"{PYTORCH} torch.nn.functional.linear", SUM),
    ExactDefinition("einsum", einsum, f"{NUMPY} numpy.einsum", SUM),
    *(
        ExactDefinition(f"nn.conv{rank}d", _convolution(rank), f"{PYTORCH} torch.nn.Conv{rank}d, {ONNX} Conv", SUM)
        for rank in (1, 2, 3)
    ),
    *(
        ExactDefinition(
            f"nn.conv{rank}d_transpose",
            _transposed(rank),
            f"{PYTORCH} torch.nn.ConvTranspose{rank}d, {ONNX} ConvTranspose",
            SUM,
        )
        for rank in (1, 2, 3)
    ),
)
