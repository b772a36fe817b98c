"""Images in another size, and at the places of a grid: elements beside a place, weighed.

A place is an exact number with the error of its formula. The weighed sum is continuous in the place, so the error of
the place counts with the slopes of both cells where it may lie on either side. The nearest element is not continuous:
where rounding may go either way, either element is right.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from refmlc.oracle.exact.definitions.arrays import Array, filled, form_of, numbers
from refmlc.oracle.exact.definitions.creation import dtype_named
from refmlc.oracle.exact.definitions.definition import FORMULA, ONNX, PYTORCH, ExactDefinition, NoDefinition
from refmlc.oracle.exact.definitions.linear import turned
from refmlc.oracle.exact.definitions.numbers import (
    UNKNOWN,
    ExactNumber,
    Format,
    constant,
    format_of,
    special,
    total,
    truncated,
)

HALF = Fraction(1, 2)
ONE = Fraction(1)
FLOAT32 = np.dtype("float32")
Look = Callable[[int], ExactNumber]
STEEP = 3  # the slope of a cubic kernel, times the range of its elements, at most


def either(a: ExactNumber, b: ExactNumber) -> ExactNumber:
    """A number that may be one or the other."""
    if special(a.value) or special(b.value) or math.inf in (a.error, b.error):
        return a if a.value == b.value else UNKNOWN
    middle = (a.rational + b.rational) / 2
    error = abs(a.rational - middle) + Fraction(max(a.error, b.error))
    return ExactNumber(middle, float(error) * (1 + 2.0**-50) if error else 0.0, a.format, fresh=a.fresh or b.fresh)


def ends_of(place: ExactNumber) -> tuple[Fraction, Fraction]:
    """The least and the greatest number that a computed one may be."""
    error = Fraction(place.used())
    return place.rational - error, place.rational + error


def _known(place: ExactNumber) -> None:
    if special(place.value) or place.used() == math.inf:
        raise NoDefinition("a place that is not finite")


def nearest(look: Look, place: ExactNumber, rounding: Callable[[Fraction], int]) -> ExactNumber:
    """The element at the rounded place, or either of two."""
    _known(place)
    low, high = (rounding(end) for end in ends_of(place))
    if high - low > 1:
        return UNKNOWN
    return look(low) if low == high else either(look(low), look(high))


def _slope(elements: Sequence[ExactNumber]) -> float:
    """The greatest difference between elements; infinite where one is special."""
    if any(special(element.value) or element.error == math.inf for element in elements):
        return math.inf
    values = [element.rational for element in elements]
    return float(max(values) - min(values)) * (1 + 2.0**-50)


def _moved(value: ExactNumber, place: ExactNumber, elements: Sequence[ExactNumber], steep: float) -> ExactNumber:
    """The value where the place may lie in the cell beside too."""
    low, high = ends_of(place)
    if math.floor(low) == math.floor(high):
        return value
    slope = _slope(elements)
    if slope == math.inf or special(value.value):
        return UNKNOWN
    return ExactNumber(value.value, value.error + place.used() * slope * steep, value.format, fresh=value.fresh)


def linear(look: Look, place: ExactNumber, form: Format | None) -> ExactNumber:
    """The two elements beside a place, weighed by their distance."""
    _known(place)
    first = math.floor(place.rational)
    t = _part(place, first, form)
    near = [look(first + step) for step in (-1, 0, 1, 2)]
    value = near[1] * (ExactNumber(ONE, 0.0, form) - t) + near[2] * t
    return _moved(value, place, near, 2.0)


def _part(place: ExactNumber, first: int, form: Format | None) -> ExactNumber:
    return ExactNumber(place.rational - first, place.used(), form)


def _kernel(t: ExactNumber, a: Fraction) -> list[ExactNumber]:
    """The weights of the four elements around a place (Keys 1981)."""
    t2, t3 = t * t, t * t * t
    return [
        (t3 - t2 * 2 + t) * a,
        t3 * (a + 2) - t2 * (a + 3) + ONE,
        -(t3 * (a + 2)) + t2 * (2 * a + 3) - t * a,
        -(t3 * a) + t2 * a,
    ]


def cubic(
    look: Look, place: ExactNumber, form: Format | None, a: Fraction, inside: Callable[[int], bool] | None = None
) -> ExactNumber:
    """The four elements around a place, weighed by a spline; with `inside` those outside have no weight."""
    _known(place)
    first = math.floor(place.rational)
    weights = _kernel(_part(place, first, form), a)
    spots = [first - 1 + step for step in range(4)]
    if inside is not None:
        weights = [w if inside(s) else ExactNumber(Fraction(0), 0.0, form) for w, s in zip(weights, spots, strict=True)]
        whole = total(weights, form)
        weights = [weight / whole for weight in weights]
    value = total([look(s) * w for s, w in zip(spots, weights, strict=True)], form)
    near = [look(first + step) for step in (-2, -1, 0, 1, 2, 3)]
    return _moved(value, place, near, STEEP * 2.0)


@dataclass(frozen=True)
class Resizing:
    """The attributes of a resize."""

    method: str
    mode: str
    rounding: str
    alpha: Fraction
    exclude: bool
    outside: float

    def place(self, i: int, n: int, m: int, corners: tuple[float, float], form: Format | None) -> ExactNumber:
        """Where place i of m stands in an extent of n (ONNX Resize)."""
        scale = ExactNumber(Fraction(n), 0.0, form) / Fraction(m)
        half = scale * (i + HALF)
        match self.mode:
            case "half_pixel":
                return half - HALF
            case "pytorch_half_pixel":
                return half - HALF if m > 1 else ExactNumber(Fraction(0), 0.0, form)
            case "align_corners":
                return ExactNumber(Fraction(n - 1), 0.0, form) / Fraction(max(m - 1, 1)) * i
            case "asymmetric":
                return scale * i
            case "tf_half_pixel_for_nn":
                return half
            case "tf_crop_and_resize":
                start, end = (constant(float(corner), form) for corner in corners)
                if m < 2:
                    return (start + end) * HALF * (n - 1)
                return start * (n - 1) + (end - start) * (n - 1) / Fraction(m - 1) * i
        raise NoDefinition(f"the mode {self.mode}")

    def rounded(self, place: Fraction) -> int:
        """The nearest place."""
        match self.rounding or ("round" if self.mode == "align_corners" else "floor"):
            case "floor":
                return math.floor(place)
            case "ceil":
                return math.ceil(place)
            case "round_prefer_ceil":
                return math.floor(place + HALF)
            case "round_prefer_floor":
                return math.ceil(place - HALF)
            case "round":
                return round(place)
        raise NoDefinition(f"the rounding {self.rounding}")

    def element(self, look: Look, place: ExactNumber, n: int, form: Format | None) -> ExactNumber:
        """The element of one dimension at a place."""

        def clamped(spot: int) -> ExactNumber:
            return look(max(0, min(n - 1, spot)))

        if self.method == "nearest_neighbor":
            return nearest(clamped, place, self.rounded)
        if self.method == "linear":
            return linear(clamped, place, form)
        return cubic(clamped, place, form, self.alpha, (lambda spot: 0 <= spot < n) if self.exclude else None)

    def is_outside(self, place: ExactNumber, n: int) -> bool | None:
        """Whether a place is outside of the image; None: it may be either."""
        low, high = ends_of(place)
        sides = {end < 0 or end > n - 1 for end in (low, high)}
        return sides.pop() if len(sides) == 1 else None


def _resized(rank: int, rounding: str) -> Callable[..., Array]:
    space = "DHW"[3 - rank :]

    def resize(  # noqa: PLR0913 - the attributes are TVM's
        data: Array,
        size: Sequence[int],
        *,
        roi: Sequence[float] | float | None = None,
        layout: str = f"NC{space}",
        method: str = "linear",
        coordinate_transformation_mode: str = "half_pixel",
        rounding_method: str = rounding,
        cubic_alpha: float = -0.75,
        cubic_exclude: int = 0,
        extrapolation_value: float = 0.0,
        out_dtype: str | None = None,
    ) -> Array:
        """The image in another size."""
        alpha, outside = Fraction(cubic_alpha), float(extrapolation_value)
        settings = Resizing(
            method, coordinate_transformation_mode, rounding_method, alpha, bool(cubic_exclude), outside
        )
        dtype = dtype_named(out_dtype, data.dtype)
        if dtype == np.dtype(bool) and method != "nearest_neighbor":
            raise NoDefinition("weighed bools")
        form = form_of(data, wide=True) or format_of(FLOAT32)
        grid = form if method != "nearest_neighbor" else format_of(FLOAT32)
        target = tuple(size) * rank if len(size) == 1 else tuple(size)
        corners = [float(roi or 0.0)] * (2 * rank) if roi is None or isinstance(roi, int | float) else list(roi)
        items = turned(_computed(data, None if method == "nearest_neighbor" else form), layout, f"NC{space}")
        lines = [
            [settings.place(i, n, m, (corners[d], corners[d + rank]), grid) for i in range(m)]
            for d, (n, m) in enumerate(zip(items.shape[2:], target, strict=True))
        ]

        def element(at: tuple[int, ...]) -> ExactNumber:
            places = [line[i] for line, i in zip(lines, at[2:], strict=True)]
            if settings.mode == "tf_crop_and_resize":
                sides = [settings.is_outside(place, n) for place, n in zip(places, items.shape[2:], strict=True)]
                if True in sides or None in sides:
                    return constant(settings.outside, form) if True in sides else UNKNOWN
            return _along(items[at[0], at[1]], places, lambda look, place, n: settings.element(look, place, n, form))

        shape = (*items.shape[:2], *target)
        result = turned(filled(shape, map(element, np.ndindex(*shape))), f"NC{space}", layout)
        return result if format_of(dtype) is not None else _as_integers(result, dtype)

    return resize


def _computed(data: Array, form: Format | None) -> Array:
    """The elements in the format in which they are weighed."""
    items = numbers(data, wide=True)
    if form is None:
        return items
    again = (ExactNumber(item.value, 0.0, form, fresh=form_of(data) is None) for item in items.reshape(-1))
    return filled(items.shape, again)


def _as_integers(result: Array, dtype: np.dtype) -> Array:
    """Numbers without their fractions; either integer where the fraction is not sure."""
    low, high = (int(end) for end in (np.iinfo(dtype).min, np.iinfo(dtype).max)) if dtype.kind in "iu" else (0, 1)

    def integer(number: ExactNumber) -> ExactNumber:
        if special(number.value) or number.error == math.inf:
            return UNKNOWN
        if number.format is None:
            return number
        ends = [truncated(ExactNumber(end)) for end in ends_of(number)]
        if not all(low <= end.rational <= high for end in ends):
            return UNKNOWN
        return either(*ends)

    return filled(result.shape, map(integer, result.reshape(-1)))


def _along(
    image: Array, places: Sequence[ExactNumber], element: Callable[[Look, ExactNumber, int], ExactNumber]
) -> ExactNumber:
    """The element at a place of several dimensions, the last ones first."""
    place, *rest = places
    if not rest:
        return element(lambda spot: image[spot], place, image.shape[0])
    return element(lambda spot: _along(image[spot], rest, element), place, image.shape[0])


# ------------------------------------------------------------------------------------------------ grids


def _reflected(place: ExactNumber, low: Fraction, high: Fraction) -> ExactNumber:
    """The place that mirrors at both ends lead to."""
    span = high - low
    if not span:
        return ExactNumber(low, 0.0, place.format)
    away = abs(place.rational - low) % (2 * span)
    return ExactNumber(low + min(away, 2 * span - away), place.used(), place.format, fresh=True)


def _clipped(place: ExactNumber, n: int) -> ExactNumber:
    value = max(Fraction(0), min(Fraction(n - 1), place.rational))
    return ExactNumber(value, place.used(), place.format)


def grid_sample(
    data: Array,
    grid: Array,
    *,
    method: str = "bilinear",
    layout: str = "NCHW",
    padding_mode: str = "zeros",
    align_corners: bool = False,
) -> Array:
    """The image at the places of a grid (n, d, …), whose first coordinate is that of the last dimension of space."""
    del layout
    form, items, spots = form_of(data), numbers(data), numbers(grid)
    extents = data.shape[2:]

    def place(image: int, axis: int, at: tuple[int, ...]) -> ExactNumber:
        coordinate, n = spots[(image, len(extents) - 1 - axis, *at)], extents[axis]
        _known(coordinate)
        moved = (coordinate + ONE) * (n - 1 if align_corners else n) * HALF
        moved = moved if align_corners else moved - HALF
        return moved if method == "bicubic" else settled(moved, n)

    def settled(spot: ExactNumber, n: int) -> ExactNumber:
        if padding_mode == "reflection":
            ends = (Fraction(0), Fraction(n - 1)) if align_corners else (-HALF, n - HALF)
            spot = _reflected(spot, *ends)
        return spot if padding_mode == "zeros" else _clipped(spot, n)

    def element(look: Look, spot: ExactNumber, n: int) -> ExactNumber:
        def held(at: int) -> ExactNumber:
            if method == "bicubic" and padding_mode != "zeros":
                at = math.floor(settled(ExactNumber(Fraction(at)), n).rational + HALF)
            return look(at) if 0 <= at < n else ExactNumber(Fraction(0), 0.0, form)

        if method == "nearest":
            return nearest(held, spot, round)
        return linear(held, spot, form) if method == "bilinear" else cubic(held, spot, form, Fraction(-3, 4))

    def sampled(at: tuple[int, ...]) -> ExactNumber:
        places = [place(at[0], axis, at[2:]) for axis in range(len(extents))]
        return _along(items[at[0], at[1]], places, element)

    shape = (*data.shape[:2], *grid.shape[2:])
    return filled(shape, map(sampled, np.ndindex(*shape)))


def affine_grid(data: Array, size: Sequence[int], *, align_corners: bool = True) -> Array:
    """Theta (n, d, d + 1) times the places of an image from -1 to 1, the last dimension first."""
    form, theta, rank = form_of(data), numbers(data), len(size)

    def coordinate(place: int, n: int) -> ExactNumber:
        exact = Fraction(2 * place, n - 1) - 1 if align_corners else Fraction(2 * place + 1, n) - 1
        step = constant(Fraction(2, n - 1) if align_corners else Fraction(2, n), form)
        start = constant(Fraction(-1) if align_corners else Fraction(1, n) - 1, form)
        return ExactNumber(exact, (start + step * place).error, form, fresh=True)

    def element(at: tuple[int, ...]) -> ExactNumber:
        image, axis, *spot = at
        row = theta[image, axis]
        terms = [row[rank - 1 - d] * coordinate(spot[d], size[d]) for d in range(rank)]
        return total([row[rank], *terms], form)

    shape = (data.shape[0], rank, *size)
    return filled(shape, map(element, np.ndindex(*shape)))


RESIZE = f"{ONNX} Resize, {PYTORCH} torch.nn.functional.interpolate"
IMAGES = (
    ExactDefinition("image.resize2d", _resized(2, "round"), RESIZE, FORMULA),
    ExactDefinition("image.resize3d", _resized(3, ""), RESIZE, FORMULA),
    ExactDefinition(
        "image.grid_sample", grid_sample, f"{PYTORCH} torch.nn.functional.grid_sample, {ONNX} GridSample", FORMULA
    ),
    ExactDefinition(
        "image.affine_grid", affine_grid, f"{PYTORCH} torch.nn.functional.affine_grid, {ONNX} AffineGrid", FORMULA
    ),
)
