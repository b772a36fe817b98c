"""Elements of images at places that a grid says, and grids that an affine map makes.

| `padding_mode` | what stands outside of the image is                                       |
|----------------|---------------------------------------------------------------------------|
| `zeros`        | 0                                                                         |
| `border`       | the element at the edge                                                   |
| `reflection`   | the element as far inside of the edge as it lies outside, again and again |

A grid goes from -1 to 1: over the first and the last element (`align_corners`), or over their outer edges. A place that
is NaN lies outside, before the image.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from refmlc.diag import fail
from refmlc.diag.catalogue import BAD_ARGUMENTS, SHAPE_MISMATCH, TYPE_MISMATCH, UNSUPPORTED_OP
from refmlc.lang import te
from refmlc.lang.library.definition import Operator, Shape, computed
from refmlc.lang.library.layout import SPATIAL
from refmlc.lang.library.shapes import known, must_agree, require_float
from refmlc.lang.te import Tensor, Value

METHODS = ("bilinear", "nearest", "bicubic")
MODES = ("zeros", "border", "reflection")
FAR = float(1 << 30)
FAR_OF_FLOAT16 = 65504.0  # what it holds at most
CORNERS = {
    2: ((0, 0), (0, 1), (1, 0), (1, 1)),
    3: ((0, 0, 0), (0, 0, 1), (1, 1, 0), (1, 1, 1), (0, 1, 0), (1, 0, 1), (1, 0, 0), (0, 1, 1)),
}
"""The elements around a place, in the order in which they are added."""


@dataclass(frozen=True)
class Sample:
    """An image, a grid, and how places of the grid are read."""

    data: Tensor
    grid: Tensor
    mode: str
    align: bool

    @property
    def rank(self) -> int:
        """How many dimensions space has."""
        return self.data.ndim - 2

    def number(self, value: Value | float) -> Value:
        """A number in the dtype of the grid."""
        dtype = self.grid.dtype
        return te.cast(value, dtype) if isinstance(value, Value) else te.const(float(value), dtype)

    def extent(self, axis: int) -> Value:
        """An extent of space."""
        return self.data.shape[axis + 2]

    def place(self, image: Value, axis: int, at: Sequence[Value]) -> Value:
        """Where the grid points to along an axis, counted in elements."""
        n, coordinate = self.extent(axis), self.grid(image, te.const(self.rank - 1 - axis, "int64"), *at)
        if self.align:
            return (coordinate + 1) * self.number(n - 1) / 2
        return self.number(-0.5) + (coordinate + 1) * self.number(n) / 2

    def clipped(self, at: Value, axis: int) -> Value:
        """The nearest place in the image."""
        return te.minimum(te.maximum(at, self.number(0)), self.number(self.extent(axis) - 1))

    def reflected(self, at: Value, axis: int) -> Value:
        """The place in the image that mirrors at its edges lead to."""
        n = self.extent(axis)
        size, corner = (te.maximum(n - 1, 1), self.number(0)) if self.align else (n, self.number(-0.5))
        away = te.minimum(te.abs(corner - at), self.far())
        times = te.cast(away, "int64") // size
        rest = away - self.number(times) * self.number(size)
        turned = te.if_then_else(times % 2 == 0, rest + corner, self.number(size) - rest + corner)
        inside = te.all(at >= corner, at <= self.number(size) + corner)
        return te.if_then_else(inside, at, turned)

    def settled(self, at: Value, axis: int) -> Value:
        """The place that is read, near enough to the image for an integer to hold it."""
        if self.mode == "reflection":
            return self.clipped(self.reflected(at, axis), axis)
        return self.clipped(at, axis) if self.mode == "border" else self.near(at, axis)

    def near(self, at: Value, axis: int) -> Value:
        """The place, where it is not far outside; else one that is outside too."""
        return te.minimum(te.maximum(at, self.number(-4)), self.number(self.extent(axis) + 4))

    def far(self) -> Value:
        """How far away a place is at most, so that an integer holds it."""
        return self.number(FAR_OF_FLOAT16 if self.grid.dtype == "float16" else FAR)

    def held(self, at: Value, axis: int) -> Value:
        """The place whose elements around it are settled one by one: mirrors ask how far outside it lies."""
        if self.mode == "reflection":
            return te.minimum(te.maximum(at, te.const(0, self.grid.dtype) - self.far()), self.far())
        return self.near(at, axis)

    def element(self, image: Value, channel: Value, spots: Sequence[Value]) -> Value:
        """The element of a place, 0 outside of the image."""
        inside = []
        for axis, spot in enumerate(spots):
            inside += [spot >= 0, spot < self.extent(axis)]
        return te.if_then_else(te.all(*inside), self.data(image, channel, *spots), te.const(0, self.data.dtype))


def _integer(at: Value) -> Value:
    return te.cast(te.floor(at), "int64")


def _bilinear(s: Sample, places: Sequence[Tensor]) -> Callable[..., Value]:
    def element(n: Value, c: Value, *i: Value) -> Value:
        at = [place(n, *i) for place in places]
        first = [_integer(coordinate) for coordinate in at]
        part = [coordinate - s.number(low) for coordinate, low in zip(at, first, strict=True)]
        total: Value | None = None
        for corner in CORNERS[s.rank]:
            term = s.element(n, c, [low + step for low, step in zip(first, corner, strict=True)])
            factors = [t if step else s.number(1) - t for t, step in zip(part, corner, strict=True)]
            for factor in factors if s.rank == 2 else reversed(factors):
                term = term * factor
            total = term if total is None else total + term
        return s.number(0) if total is None else total

    return element


def _cubic_weight(s: Sample, t: Value, step: int) -> Value:
    """How much element `step` of 4 counts, t behind the second one."""
    a = -0.75
    x = [t + 1, t, s.number(1) - t, s.number(2) - t][step]
    if step in (1, 2):
        return (s.number(a + 2) * x - s.number(a + 3)) * x * x + 1
    return ((s.number(a) * x - s.number(5 * a)) * x + s.number(8 * a)) * x - s.number(4 * a)


def _bicubic(s: Sample, places: Sequence[Tensor]) -> Callable[..., Value]:
    def spots(axis: int, step: int) -> Tensor:
        def spot(*i: Value) -> Value:
            index = _integer(places[axis](*i)) - 1 + step
            return index if s.mode == "zeros" else te.cast(s.settled(s.number(index), axis), "int64")

        return computed(places[axis].shape, spot, f"spot_{axis}{step}")

    def weights(axis: int, step: int) -> Tensor:
        at = places[axis]
        part = computed(at.shape, lambda *i: at(*i) - te.floor(at(*i)), f"part_{axis}")
        return computed(at.shape, lambda *i: _cubic_weight(s, part(*i), step), f"weight_{axis}{step}")

    (down, right), (ys, xs) = (
        [[make(axis, step) for step in range(4)] for axis in (0, 1)] for make in (weights, spots)
    )

    def element(n: Value, c: Value, *i: Value) -> Value:
        def row(y: Value) -> Value:
            terms = zip(xs, right, strict=True)
            return _summed([s.element(n, c, [y, x(n, *i)]) * weight(n, *i) for x, weight in terms])

        return _summed([row(y(n, *i)) * weight(n, *i) for y, weight in zip(ys, down, strict=True)])

    return element


def _summed(terms: Sequence[Value]) -> Value:
    total, *others = terms
    for other in others:
        total = total + other
    return total


def _nearest(s: Sample, places: Sequence[Tensor]) -> Callable[..., Value]:
    def element(n: Value, c: Value, *i: Value) -> Value:
        return s.element(n, c, [te.cast(te.nearbyint(place(n, *i)), "int64") for place in places])

    return element


def _check_grid(data: Tensor, grid: Tensor, method: str, layout: str, mode: str) -> None:
    """Fails: RM105, RM201, RM202, RM501 where the grid is not one for the image."""
    name = "image.grid_sample"
    require_float(data, name)
    if layout not in ("NCHW", "NCDHW"):
        raise fail(UNSUPPORTED_OP, f'`{name}` is defined on the layouts NCHW and NCDHW; this is "{layout}"')
    if data.ndim != len(layout) or grid.ndim != data.ndim:
        dimensions = f"these have {data.ndim} and {grid.ndim}"
        raise fail(BAD_ARGUMENTS, f"`{name}` takes an image and a grid of {len(layout)} dimensions; {dimensions}")
    if grid.dtype != data.dtype:
        raise fail(TYPE_MISMATCH, f"`{name}` takes a grid of {data.dtype}, not {grid.dtype}")
    if method not in METHODS or mode not in MODES or (method == "bicubic" and data.ndim != 4):
        raise fail(BAD_ARGUMENTS, f'`{name}` has no method "{method}" with the padding_mode "{mode}"')
    must_agree(data.shape[0], grid.shape[0], f"the images of `{name}`, and of its grid")
    must_agree(te.const(data.ndim - 2, "int64"), grid.shape[1], f"the dimensions of space of `{name}`, and of its grid")
    if any(known(extent) == 0 for extent in data.shape[2:]):
        raise fail(SHAPE_MISMATCH, f"`{name}` takes elements of an image; this has none")


def grid_sample(
    data: Tensor,
    grid: Tensor,
    *,
    method: str = "bilinear",
    layout: str = "NCHW",
    padding_mode: str = "zeros",
    align_corners: bool = False,
) -> Tensor:
    """The image at the places of a grid.

    Shapes: data (n, c, …) and grid (n, d, …), whose first coordinate is that of the last dimension of space, give
    (n, c, …) with the space of the grid. Order: as `CORNERS`. Fails: RM105, RM201, RM202, RM501.
    """
    _check_grid(data, grid, method, layout, padding_mode)
    s = Sample(data, grid, padding_mode, bool(align_corners))

    def place_of(axis: int) -> Tensor:
        def place(n: Value, *i: Value) -> Value:
            at = s.place(n, axis, i)
            return s.held(at, axis) if method == "bicubic" else s.settled(at, axis)

        return computed([grid.shape[0], *grid.shape[2:]], place, f"place_{SPATIAL[s.rank][axis].lower()}")

    places = [place_of(axis) for axis in range(s.rank)]
    sampled = {"bilinear": _bilinear, "nearest": _nearest, "bicubic": _bicubic}[method](s, places)
    return computed([*data.shape[:2], *grid.shape[2:]], sampled, "grid_sample")


def affine_grid(data: Tensor, size: Shape, *, align_corners: bool = True) -> Tensor:
    """The grid that affine maps make of one over the whole image.

    Shapes: data (n, d, d + 1) and a size of d numbers give (n, d, …). Order: the last column, then the others from the
    last but one to the first, each times the coordinate of its dimension. Fails: RM105, RM202.
    """
    name, rank, dtype = "image.affine_grid", len(size), data.dtype
    require_float(data, name)
    if rank not in (2, 3) or data.ndim != 3:
        raise fail(BAD_ARGUMENTS, f"`{name}` takes maps of 3 dimensions, and a size of 2 or 3 numbers")
    for axis, want in ((1, rank), (2, rank + 1)):
        must_agree(data.shape[axis], te.const(want, "int64"), f"dimension {axis} of the maps of `{name}`")
    extents = [known(extent) for extent in size]
    least = 2 if align_corners else 1
    whole = [extent for extent in extents if extent is not None and extent >= least]
    if len(whole) != rank:
        raise fail(BAD_ARGUMENTS, f"`{name}` takes a size of known numbers of at least {least}")
    starts = [-1.0 if align_corners else -1.0 + 1.0 / extent for extent in whole]
    steps = [(2.0 - 1e-7) / (extent - 1) if align_corners else 2.0 / extent for extent in whole]

    def element(n: Value, axis: Value, *i: Value) -> Value:
        value = data(n, axis, te.const(rank, "int64"))
        for place, at in enumerate(i):
            coordinate = te.const(starts[place], dtype) + te.cast(at, dtype) * te.const(steps[place], dtype)
            value = value + data(n, axis, te.const(rank - 1 - place, "int64")) * coordinate
        return value

    return computed([data.shape[0], te.const(rank, "int64"), *size], element, "affine_grid")


SAMPLING = (
    Operator("image.grid_sample", grid_sample, "LIB-061", ("image.grid_sample",)),
    Operator("image.affine_grid", affine_grid, "LIB-062", ("image.affine_grid",)),
)
