"""`Resize` of ONNX: an axis at a time, by weights that are known when the model is imported.

| mode    | a result is                                                                           |
|---------|---------------------------------------------------------------------------------------|
| nearest | the element at the rounded coordinate                                                 |
| linear  | 2 elements, weighted by their distance; with `antialias` and a scale below 1 more     |
| cubic   | 4 elements, weighted by the cubic of Keys with `cubic_coeff_a`; with `antialias` more |

Order: the axes in their order; the elements of one axis from the left, each weight rounded to the dtype once.

Decision: `pytorch_half_pixel` puts an axis of one result at coordinate -0.5, as ONNX's reference evaluator does; its
text says 0, which is the same element in each mode where nothing outside counts.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import floor, isfinite

import numpy as np

from refmlc.diag import fail
from refmlc.diag.catalogue import BAD_INPUT, UNSUPPORTED_OP
from refmlc.frontends.arrays import constant
from refmlc.frontends.emitter import Emitter, Operand
from refmlc.frontends.onnx.constant_values import elements, late
from refmlc.frontends.onnx.elementwise import OnnxRule, is_half
from refmlc.frontends.onnx.node import Node
from refmlc.frontends.onnx.shape_rules import axis_of
from refmlc.lang.ir import relax

LARGEST = 1 << 24
"""The greatest extent, and the most weights of an axis: numbers in a hostile model."""
MOST_TAPS = 1 << 12
"""How many elements one result is made of, at most."""
ROUNDING: Mapping[str, Callable[[np.ndarray], np.ndarray]] = {
    "round_prefer_floor": lambda x: np.ceil(x - 0.5),
    "round_prefer_ceil": lambda x: np.floor(x + 0.5),
    "floor": np.floor,
    "ceil": np.ceil,
}


@dataclass(frozen=True)
class Axis:
    """An axis that is resized: its extent before and after, the scale, the part of it that counts."""

    number: int
    extent: int
    result: int
    scale: float
    begin: float = 0.0
    end: float = 1.0


@dataclass(frozen=True)
class Filter:
    """How elements are weighted, by the attributes of the node."""

    mode: str
    coordinates: str
    rounding: str
    cubic: float
    exclude_outside: bool
    antialias: bool

    def places(self, axis: Axis) -> np.ndarray:
        """The coordinate in the input of each result. Fails: RM501."""
        y, length = np.arange(axis.result, dtype=np.float64), axis.scale * axis.extent
        match self.coordinates:
            case "half_pixel":
                return (y + 0.5) / axis.scale - 0.5
            case "half_pixel_symmetric":
                offset = axis.extent / 2 * (1 - axis.result / length)
                return offset + (y + 0.5) / axis.scale - 0.5
            case "pytorch_half_pixel":
                return np.full_like(y, -0.5) if length == 1 else (y + 0.5) / axis.scale - 0.5
            case "align_corners":
                return np.zeros_like(y) if length == 1 else y * (axis.extent - 1) / (length - 1)
            case "asymmetric":
                return y / axis.scale
            case "tf_crop_and_resize":
                last, share = axis.extent - 1, axis.end - axis.begin
                step = np.full_like(y, share * last / 2) if length == 1 else y * share * last / (length - 1)
                return step + axis.begin * last
            case _:
                raise fail(UNSUPPORTED_OP, f"`Resize` with the coordinates `{self.coordinates}` is not supported")

    def taps(self, axis: Axis) -> tuple[np.ndarray, np.ndarray]:
        """Which elements count for each result, a column each, and how much. Fails: RM501."""
        places = self.places(axis)
        if self.mode == "nearest":
            if self.rounding not in ROUNDING:
                raise fail(UNSUPPORTED_OP, f"`Resize` with the rounding `{self.rounding}` is not supported")
            selected = ROUNDING[self.rounding](places).astype(np.int64)[:, None]
            return np.clip(selected, 0, axis.extent - 1), np.ones(selected.shape)
        narrow = min(axis.scale, 1.0) if self.antialias else 1.0
        reach = 1 if self.mode == "linear" else 2
        first = floor(-reach / narrow) + 1
        left = np.ceil(places) - 1
        count = 2 - 2 * first
        if count > MOST_TAPS or count * axis.result > LARGEST:
            message = f"`Resize` of {axis.extent} elements to {axis.result} with `antialias` is too large"
            raise fail(UNSUPPORTED_OP, message)
        steps = np.arange(first, 2 - first)
        weights = self._kernel(np.abs(steps[None, :] - (places - left)[:, None]) * narrow)
        selected = left.astype(np.int64)[:, None] + steps[None, :]
        if self.exclude_outside:
            weights = np.where((selected < 0) | (selected >= axis.extent), 0.0, weights)
        if self.exclude_outside or self.antialias:
            weights = weights / weights.sum(axis=1, keepdims=True)
        return np.clip(selected, 0, axis.extent - 1), weights

    def _kernel(self, distance: np.ndarray) -> np.ndarray:
        """The weight at a distance."""
        if self.mode == "linear":
            linear: np.ndarray = np.maximum(1 - distance, 0.0)
            return linear
        a, x = self.cubic, distance
        near = ((a + 2) * x - (a + 3)) * x * x + 1
        far = ((a * x - 5 * a) * x + 8 * a) * x - 4 * a
        return np.where(x <= 1, near, np.where(x < 2, far, 0.0))


def resize(node: Node) -> Operand:
    """The tensor with other extents. Fails: RM501 for symbolic extents and modes that are not known."""
    e, x = node.e, node.tensor(0)
    mode = node.text("mode", "nearest")
    if mode not in ("nearest", "linear", "cubic"):
        raise fail(UNSUPPORTED_OP, f"`Resize` in the mode `{mode}` is not supported")
    filtering = Filter(
        mode,
        node.text("coordinate_transformation_mode", "half_pixel"),
        node.text("nearest_mode", "round_prefer_floor"),
        node.real("cubic_coeff_a", -0.75),
        bool(node.whole("exclude_outside", 0)),
        bool(node.whole("antialias", 0)),
    )
    outside = node.real("extrapolation_value", 0.0)
    axes = _axes(node, x, crops=filtering.coordinates == "tf_crop_and_resize")
    dtype = e.dtype(x)
    if mode != "nearest" and not dtype.startswith(("float", "bfloat")):
        raise fail(
            UNSUPPORTED_OP, f"`Resize` of {dtype} in the mode `{mode}` is not supported: ONNX leaves its rounding open"
        )
    result: relax.Expr = e.astype(x, "float32") if mode != "nearest" and is_half(dtype) else x
    for axis in axes:
        if axis.extent != axis.result or axis.scale != 1.0 or filtering.coordinates == "tf_crop_and_resize":
            result = _resampled(e, result, axis, filtering)
    result = e.astype(result, dtype)
    if filtering.coordinates == "tf_crop_and_resize":
        return _with_border(e, result, axes, filtering, outside)
    return result


def _resampled(e: Emitter, x: relax.Expr, axis: Axis, filtering: Filter) -> relax.Expr:
    """One axis: the elements that count, weighted and added from the left."""
    selected, weights = filtering.taps(axis)
    if filtering.mode == "nearest":
        return e.call("take", x, constant(selected[:, 0]), axis=axis.number)
    around = [axis.result if place == axis.number else 1 for place in range(e.rank(x))]
    total: relax.Expr | None = None
    for column in range(selected.shape[1]):
        if not weights[:, column].any():
            continue
        used = e.call("take", x, constant(selected[:, column]), axis=axis.number)
        weight = e.astype(constant(weights[:, column].reshape(around)), e.dtype(x))
        part = e.call("multiply", used, weight)
        total = part if total is None else e.call("add", total, part)
    return x if total is None else total


def _with_border(e: Emitter, x: relax.Expr, axes: list[Axis], filtering: Filter, outside: float) -> relax.Expr:
    """The results whose coordinates are outside of the input, replaced."""
    for axis in axes:
        places = filtering.places(axis)
        beyond = (places < 0) | (places > axis.extent - 1)
        if beyond.any():
            around = [axis.result if place == axis.number else 1 for place in range(e.rank(x))]
            x = e.call("where", constant(beyond.reshape(around)), e.scalar(outside, e.dtype(x)), x)
    return x


def _axes(node: Node, x: relax.Expr, *, crops: bool) -> list[Axis]:
    """The axes that the node names, all by default. Fails: RM501, RM111."""
    shape = node.e.shape(x)
    named = node.ints("axes")
    numbers = list(range(len(shape))) if named is None else [axis_of(item, len(shape), "Resize") for item in named]
    if len(set(numbers)) != len(numbers):
        raise fail(BAD_INPUT, f"`axes` of `Resize` are {named}: an axis occurs twice")
    extents = [shape[number] for number in numbers]
    sizes, scales, roi = node.input(3), _floats(node, 2), _floats(node, 1)
    whole = [item for item in extents if isinstance(item, int) and 0 < item <= LARGEST]
    if len(whole) != len(extents):
        raise fail(UNSUPPORTED_OP, f"`Resize` of extents that are symbolic, empty or above {LARGEST} is not supported")
    policy = node.text("keep_aspect_ratio_policy", "stretch")
    if scales and sizes is not None:
        raise fail(BAD_INPUT, "`Resize` has both scales and sizes")
    if len(scales) not in (0, len(numbers)) or any(scale <= 0 for scale in scales):
        raise fail(BAD_INPUT, f"`Resize` of {len(numbers)} axes by {scales}")
    if scales:
        results = [floor(extent * scale) for extent, scale in zip(whole, scales, strict=True)]
    elif sizes is not None:
        results, scales = _fitted(list(node.integers(3)), whole, policy)
    else:
        raise fail(BAD_INPUT, "`Resize` has neither scales nor sizes")
    if 0 in results:
        raise fail(UNSUPPORTED_OP, f"`Resize` of {len(numbers)} axes to {results}, to nothing, is not supported")
    if not all(1 <= result <= LARGEST for result in results):
        raise fail(BAD_INPUT, f"`Resize` of {len(numbers)} axes to {results} by {scales}")
    if crops and len(roi) != 2 * len(numbers):
        raise fail(BAD_INPUT, f"`roi` has {len(roi)} numbers, {2 * len(numbers)} are needed")
    spans = [(roi[at], roi[at + len(numbers)]) for at in range(len(numbers))] if crops else [(0.0, 1.0)] * len(numbers)
    rows = zip(numbers, whole, results, scales, spans, strict=True)
    return [Axis(number, extent, result, scale, *span) for number, extent, result, scale, span in rows]


def _fitted(sizes: list[int], extents: list[int], policy: str) -> tuple[list[int], list[float]]:
    """The extents and scales for the sizes that are named. Fails: RM501, RM111."""
    if len(sizes) != len(extents):
        raise fail(BAD_INPUT, f"`sizes` has {len(sizes)} numbers, {len(extents)} are needed")
    scales = [size / extent for size, extent in zip(sizes, extents, strict=True)]
    if policy == "stretch" or not scales:
        return sizes, scales
    if policy not in ("not_larger", "not_smaller"):
        raise fail(UNSUPPORTED_OP, f"`Resize` with the policy `{policy}` is not supported")
    scale = min(scales) if policy == "not_larger" else max(scales)
    return [floor(scale * extent + 0.5) for extent in extents], [scale] * len(extents)


def _floats(node: Node, place: int) -> list[float]:
    """The numbers of an input that is known; none where it is left out or empty. Fails: RM501."""
    value = node.input(place)
    if value is None:
        return []
    array = elements(value)
    if array is None:
        raise late(value, f"input {place} of `{node.op}` is computed from data: it must be constant")
    numbers = [float(item) for item in array.ravel()]
    if not all(map(isfinite, numbers)):
        raise fail(BAD_INPUT, f"input {place} of `{node.op}` holds {numbers}: finite numbers are needed")
    return numbers


RESAMPLING: Mapping[str, OnnxRule] = {"Resize": resize}
