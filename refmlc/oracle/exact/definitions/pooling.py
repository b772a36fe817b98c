"""The greatest element, or the mean, of windows of images, and their gradients."""

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction

import numpy as np

from refmlc.oracle.exact.definitions.arrays import Array, filled, form_of, numbers
from refmlc.oracle.exact.definitions.definition import (
    ONNX,
    PYTORCH,
    SAME,
    SUM,
    WIDE_SUM,
    ExactDefinition,
    NoDefinition,
)
from refmlc.oracle.exact.definitions.linear import Numbers, around, several, turned
from refmlc.oracle.exact.definitions.numbers import UNKNOWN, ExactNumber, greatest, is_nan, quotient, total
from refmlc.oracle.exact.definitions.reduction import mean_of

Spot = tuple[int, ...]


class PooledPlaces:
    """The windows of a pool: how many there are, which places each has."""

    def __init__(
        self,
        extents: Sequence[int],
        pool_size: Numbers,
        strides: Numbers,
        padding: Numbers,
        dilation: Numbers,
        *,
        ceil: bool,
    ) -> None:
        rank = len(extents)
        self.extents, self.sizes = tuple(extents), several(pool_size, rank)
        self.strides, self.dilation = several(strides, rank), several(dilation, rank)
        self.before, self.after = around(padding, rank)
        self.counts = tuple(self._count(d, ceil=ceil) for d in range(rank))

    def _count(self, d: int, *, ceil: bool) -> int:
        """With `ceil` one more where windows leave something over, if it begins in the data or before it."""
        room = self.extents[d] + self.before[d] + self.after[d] - (self.sizes[d] - 1) * self.dilation[d] - 1
        count = (room + (self.strides[d] - 1 if ceil else 0)) // self.strides[d] + 1
        if ceil and (count - 1) * self.strides[d] >= self.extents[d] + self.before[d]:
            count -= 1
        return count

    def spots(self, at: Sequence[int]) -> Iterator[Spot]:
        """The places of a window, those that are added too."""
        for inside in np.ndindex(*self.sizes):
            yield tuple(
                a * s + i * d - b
                for a, s, i, d, b in zip(at, self.strides, inside, self.dilation, self.before, strict=True)
            )

    def within(self, at: Sequence[int]) -> list[Spot]:
        """The places of a window in the data."""
        return [spot for spot in self.spots(at) if all(0 <= s < n for s, n in zip(spot, self.extents, strict=True))]

    def divisor(self, at: Sequence[int], *, added: bool) -> int:
        """How many places count: those of the data, or also those that are added."""
        if not added:
            return len(self.within(at))
        ends = [n + after for n, after in zip(self.extents, self.after, strict=True)]
        return sum(all(s < end for s, end in zip(spot, ends, strict=True)) for spot in self.spots(at))


def _pool(rank: int, *, most: bool) -> Callable[..., Array]:
    space = "DHW"[3 - rank :]
    include = not most and rank != 2

    def pool(  # noqa: PLR0913 - the attributes are TVM's
        x: Array,
        *,
        pool_size: Numbers = 1,
        strides: Numbers = 1,
        padding: Numbers = 0,
        dilation: Numbers = 1,
        ceil_mode: bool = False,
        count_include_pad: bool = include,
        layout: str = f"NC{space}",
        out_layout: str | None = None,
    ) -> Array:
        """The greatest element, or the mean, of each window."""
        items, form = turned(numbers(x, wide=not most), layout, f"NC{space}"), form_of(x, wide=not most)
        windows = PooledPlaces(items.shape[2:], pool_size, strides, padding, dilation, ceil=bool(ceil_mode))

        def element(at: tuple[int, ...]) -> ExactNumber:
            terms = [items[(*at[:2], *spot)] for spot in windows.within(at[2:])]
            if most:
                return greatest(terms)
            divisor = windows.divisor(at[2:], added=bool(count_include_pad))
            return quotient(total(terms, form), ExactNumber(Fraction(divisor), 0.0, form)) if divisor else UNKNOWN

        shape = (*items.shape[:2], *windows.counts)
        return turned(filled(shape, map(element, np.ndindex(*shape))), f"NC{space}", out_layout or layout)

    return pool


def _adaptive(rank: int) -> Callable[..., Array]:
    space = "DHW"[3 - rank :]

    def pool(
        x: Array, *, output_size: Numbers | None = None, layout: str = f"NC{space}", out_layout: str | None = None
    ) -> Array:
        """The means over floor(i n / m) … ceil((i + 1) n / m)."""
        items, form = turned(numbers(x, wide=True), layout, f"NC{space}"), form_of(x, wide=True)
        extents = items.shape[2:]
        parts = extents if output_size is None else several(output_size, rank)

        def element(at: tuple[int, ...]) -> ExactNumber:
            ends = [slice(i * n // m, -(-(i + 1) * n // m)) for i, n, m in zip(at[2:], extents, parts, strict=True)]
            return mean_of(list(items[at[0], at[1]][tuple(ends)].reshape(-1)), form)

        shape = (*items.shape[:2], *parts)
        return turned(filled(shape, map(element, np.ndindex(*shape))), f"NC{space}", out_layout or layout)

    return pool


def _backward(*, most: bool) -> Callable[..., Array]:
    def backward(  # noqa: PLR0913 - the attributes are TVM's
        gradient: Array,
        x: Array,
        *,
        pool_size: Numbers = 1,
        strides: Numbers = 1,
        padding: Numbers = 0,
        dilation: Numbers = 1,
        ceil_mode: bool = False,
        count_include_pad: bool = False,
        layout: str = "NCHW",
        out_layout: str | None = None,
    ) -> Array:
        """The gradient of each window at its greatest element, the first of equal ones, or shared by its places."""
        items, form = turned(numbers(x), layout, "NCHW"), form_of(x)
        slopes = turned(numbers(gradient), out_layout or layout, "NCHW")
        if most and any(is_nan(item) for item in items.reshape(-1)):
            raise NoDefinition("the place of the greatest element where one is NaN")
        windows = PooledPlaces(items.shape[2:], pool_size, strides, padding, dilation, ceil=bool(ceil_mode))
        terms: dict[tuple[int, ...], list[ExactNumber]] = {at: [] for at in np.ndindex(*items.shape)}
        for at in np.ndindex(*items.shape[:2], *windows.counts):
            spots = windows.within(at[2:])
            if most and spots:
                best = max(spots, key=lambda spot: items[(*at[:2], *spot)].value)
                terms[(*at[:2], *best)].append(slopes.item(*at))
                continue
            divisor = windows.divisor(at[2:], added=bool(count_include_pad))
            for spot in spots:
                share = quotient(slopes.item(*at), ExactNumber(Fraction(divisor), 0.0, form))
                terms[(*at[:2], *spot)].append(share)
        result = filled(items.shape, (total(terms[at], form) for at in np.ndindex(*items.shape)))
        return turned(result, "NCHW", layout)

    return backward


POOLING = (
    *(
        ExactDefinition(
            f"nn.max_pool{rank}d", _pool(rank, most=True), f"{PYTORCH} torch.nn.MaxPool{rank}d: NaN is kept", SAME
        )
        for rank in (1, 2, 3)
    ),
    *(
        ExactDefinition(
            f"nn.avg_pool{rank}d",
            _pool(rank, most=False),
            f"{PYTORCH} torch.nn.AvgPool{rank}d, {ONNX} AveragePool",
            WIDE_SUM,
        )
        for rank in (1, 2, 3)
    ),
    *(
        ExactDefinition(
            f"nn.adaptive_avg_pool{rank}d", _adaptive(rank), f"{PYTORCH} torch.nn.AdaptiveAvgPool{rank}d", WIDE_SUM
        )
        for rank in (1, 2, 3)
    ),
    ExactDefinition("grad.max_pool2d_backward", _backward(most=True), f"{PYTORCH} gradient of torch.nn.MaxPool2d", SUM),
    ExactDefinition(
        "grad.avg_pool2d_backward", _backward(most=False), f"{PYTORCH} gradient of torch.nn.AvgPool2d", SUM
    ),
)
