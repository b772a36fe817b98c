"""Images in another size: each place of the result stands at a place of the image, between its elements.

| `coordinate_transformation_mode` | place i of m stands, in an extent of n, at                               |
|----------------------------------|--------------------------------------------------------------------------|
| `half_pixel`                     | `(i + 0.5) * (n / m) - 0.5`                                              |
| `align_corners`                  | `(n - 1) / (m - 1) * i`; 0 where m is 1                                  |
| `asymmetric`                     | `n / m * i`                                                              |
| `pytorch_half_pixel`             | as `half_pixel`; 0 where m is 1                                          |
| `tf_half_pixel_for_nn`           | `(i + 0.5) * (n / m)`                                                    |
| `tf_crop_and_resize`             | between the corners of `roi`; elements outside are `extrapolation_value` |

| `method`           | the element is                                                     |
|--------------------|--------------------------------------------------------------------|
| `nearest_neighbor` | the nearest one, as `rounding_method` says                         |
| `linear`           | the mean of the 2 beside it, weighed, in each dimension            |
| `cubic`            | the sum of the 4 around it, weighed by a spline, in each dimension |

Order: the last dimension of space first. Places and weights are float32, and so are the elements that are weighed;
what lies outside of the image is the element at its edge.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from refmlc.diag import fail
from refmlc.diag.catalogue import BAD_ARGUMENTS, SHAPE_MISMATCH
from refmlc.lang import te
from refmlc.lang.library.definition import Operator, Shape, computed
from refmlc.lang.library.layout import SPATIAL, layout_of
from refmlc.lang.library.shapes import known
from refmlc.lang.te import Tensor, Value

METHODS = ("nearest_neighbor", "linear", "cubic")
ROUNDINGS = ("", "round", "round_prefer_floor", "round_prefer_ceil", "floor", "ceil")
EPSILON = 1e-5


def _float(value: Value | float) -> Value:
    return te.cast(value, "float32") if isinstance(value, Value) else te.const(float(value), "float32")


@dataclass(frozen=True)
class Resize:
    """The attributes of a call."""

    method: str
    mode: str
    rounding: str
    alpha: float
    exclude: bool
    outside: float

    def place(self, i: Value, n: Value, m: Value, start: float, end: float) -> Value:
        """Where place i of m stands in an extent of n. Fails: RM105 for a mode that is none."""
        scale = _float(n) / _float(m)
        half = (_float(i) + 0.5) * scale
        match self.mode:
            case "half_pixel":
                return half - 0.5
            case "align_corners":
                return _float(n - 1) / _float(te.maximum(m - 1, 1)) * _float(i)
            case "asymmetric":
                return scale * _float(i)
            case "pytorch_half_pixel":
                return te.if_then_else(m > 1, half - 0.5, _float(0))
            case "tf_half_pixel_for_nn":
                return half
            case "tf_crop_and_resize":
                last = _float(n - 1)
                along = _float(i) * _float(end - start) * last / _float(te.maximum(m - 1, 1))
                return te.if_then_else(m > 1, _float(start) * last + along, _float(0.5 * (start + end)) * last)
        raise fail(BAD_ARGUMENTS, f'there is no coordinate_transformation_mode "{self.mode}"')

    def nearest(self, at: Value) -> Value:
        """The nearest place. Fails: RM105 for a rounding that is none."""
        rounding = self.rounding or ("round" if self.mode == "align_corners" else "floor")
        match rounding:
            case "round":
                rounded = te.round(at)
            case "round_prefer_floor":
                rounded = te.ceil(at - 0.5)
            case "round_prefer_ceil":
                rounded = te.floor(at + 0.5)
            case "floor":
                rounded = te.floor(at + _float(EPSILON))
            case "ceil":
                rounded = te.ceil(at - _float(EPSILON))
            case _:
                raise fail(BAD_ARGUMENTS, f'there is no rounding_method "{rounding}"')
        return te.cast(rounded, "int64")

    def weights(self, at: Value, n: Value) -> list[Value]:
        """How much the elements around a place count."""
        first = te.floor(at)
        t = at - first
        if self.method == "linear":
            return [_float(1) - t, t]
        a, t2, t3 = self.alpha, t * t, t * t * t
        cubic = [
            _float(a) * (t3 - 2 * t2 + t),
            _float(a + 2) * t3 - _float(3 + a) * t2 + 1,
            _float(-(a + 2)) * t3 + _float(3 + 2 * a) * t2 - _float(a) * t,
            _float(-a) * t3 + _float(a) * t2,
        ]
        if not self.exclude:
            return cubic
        spots = [te.cast(first, "int64") - 1 + step for step in range(4)]
        inside = [
            te.if_then_else(te.any(spot < 0, spot >= n), _float(0), weight)
            for spot, weight in zip(spots, cubic, strict=True)
        ]
        total = inside[0] + inside[1] + inside[2] + inside[3]
        return [weight / total for weight in inside]


@dataclass(frozen=True)
class Line:
    """One dimension: where each place of the result stands, and how much each element around it counts."""

    extent: Value
    spots: Tensor
    first: Tensor
    weights: tuple[Tensor, ...]

    def element(self, i: Value, step: int) -> Value:
        """The place in the image of element `step` around place i; the nearest one in the image."""
        return te.maximum(te.minimum(self.first(i) + step, self.extent - 1), 0)

    def is_outside(self, i: Value) -> Value:
        """Whether a place stands outside of the image."""
        return te.any(self.spots(i) < 0, self.spots(i) > _float(self.extent - 1))


def _line(resize: Resize, letter: str, n: Value, m: Value, corners: tuple[float, float]) -> Line:
    if known(n) == 0 and known(m) != 0:
        raise fail(SHAPE_MISMATCH, "an image without elements cannot be resized")
    spots = computed((m,), lambda i: resize.place(i, n, m, *corners), f"place_{letter}")
    if resize.method == "nearest_neighbor":
        return Line(n, spots, computed((m,), lambda i: resize.nearest(spots(i)), f"first_{letter}"), ())
    before = 1 if resize.method == "cubic" else 0
    first = computed((m,), lambda i: te.cast(te.floor(spots(i)), "int64") - before, f"first_{letter}")
    count = 4 if resize.method == "cubic" else 2
    parts = tuple(
        computed((m,), lambda i, step=step: resize.weights(spots(i), n)[step], f"weight_{letter}{step}")
        for step in range(count)
    )
    return Line(n, spots, first, parts)


def _weighed(lines: Sequence[Line], i: Sequence[Value], load: Callable[..., Value]) -> Value:
    """The sum over the elements around a place, the inner dimensions first."""
    if not lines:
        return load()
    line, *inner = lines
    if not line.weights:
        spot = line.element(i[0], 0)
        return _weighed(inner, i[1:], lambda *rest: load(spot, *rest))
    total: Value | None = None
    for step, weight in enumerate(line.weights):
        spot = line.element(i[0], step)
        term = _weighed(inner, i[1:], lambda *rest, spot=spot: load(spot, *rest)) * weight(i[0])
        total = term if total is None else total + term
    return load() if total is None else total


def _resize(rank: int, rounding: str) -> Callable[..., Tensor]:
    """`image.resize<rank>d`."""
    name, space = f"image.resize{rank}d", SPATIAL[rank]

    def resize(  # noqa: PLR0913 - the attributes are TVM's
        data: Tensor,
        size: Shape,
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
    ) -> Tensor:
        """The image in another size.

        Shapes: `size` in space, 1 number for all dimensions; `roi` has the corners in 0 … 1, all first ones, then all
        last ones. Dtypes: the nearest element stays as it is, others are computed in float32; then they are converted.
        Fails: RM105, RM202 an image without elements, RM501 blocked layouts.
        """
        if method not in METHODS:
            raise fail(BAD_ARGUMENTS, f'`{name}` has the methods {", ".join(METHODS)}; this is "{method}"')
        source, wide = layout_of(layout, f"NC{space}", f"`{name}`: layout"), method == "nearest_neighbor"
        images, channels, *extents = source.extents(data, f"the data of `{name}`")
        target_extents = [te.cast(item, "int64") for item in (size * rank if len(size) == 1 else size)]
        corners = [float(roi or 0.0)] * (2 * rank) if roi is None or isinstance(roi, int | float) else list(roi)
        if len(target_extents) != rank or len(corners) != 2 * rank:
            raise fail(BAD_ARGUMENTS, f"`{name}` takes a size of {rank} numbers, and a roi of {2 * rank}")
        settings = Resize(
            method,
            coordinate_transformation_mode,
            rounding_method,
            cubic_alpha,
            bool(cubic_exclude),
            extrapolation_value,
        )
        pairs = list(zip(corners[:rank], corners[rank:], strict=True))
        lines = [_line(settings, *item) for item in zip(space.lower(), extents, target_extents, pairs, strict=True)]
        dtype = data.dtype if out_dtype in (None, "", "void") else str(out_dtype)
        between = data.dtype if wide else "float32"

        def element(*i: Value) -> Value:
            image, channel, *at = source.split(i)
            value = _weighed(lines, at, lambda *spot: te.cast(data(*source.joined(image, channel, *spot)), between))
            if settings.mode == "tf_crop_and_resize":
                out = te.any(*(line.is_outside(coordinate) for line, coordinate in zip(lines, at, strict=True)))
                value = te.if_then_else(out, te.cast(_float(settings.outside), between), value)
            return te.cast(value, dtype)

        return computed(source.joined(images, channels, *target_extents), element, "resize")

    return resize


RESIZING = (
    Operator("image.resize2d", _resize(2, "round"), "LIB-060", ("image.resize2d",)),
    Operator("image.resize3d", _resize(3, ""), "LIB-060", ("image.resize3d",)),
)
