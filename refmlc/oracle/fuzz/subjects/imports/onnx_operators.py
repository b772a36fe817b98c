"""The operators of ONNX that graphs are drawn of: how their inputs look, and the values of attributes by name.

What attributes an operator has is said by ONNX's schemas. Here is only what a schema does not say: ranges, words, and
extents that fit each other. An attribute has a rule by operator and name, else by name, else by its type.
"""

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np

Attribute: TypeAlias = int | float | str | list[int] | list[float]
EXTENTS = (1, 1, 2, 2, 3, 3, 5, 7, 0)
FLOATS = ("float32", "float32", "float32", "float64", "float16")
INTS = ("int32", "int64", "int8", "uint8")
PADS = ("constant", "edge", "reflect", "wrap")  # the last one since version 19
REDUCTIONS = ("none", "add", "mul", "max", "min")  # the last two since version 18
EDGES = (np.nan, np.inf, -np.inf, -0.0, 0.0, 0.5, 1.5, 2.5, -0.5)
EDGED = 0.2


@dataclass
class NodeDraw:
    """One node that is drawn: the numbers, the version of the operators, and the inputs so far."""

    roll: random.Random
    opset: int
    arrays: list[np.ndarray | None] = field(default_factory=list)

    @property
    def first(self) -> np.ndarray:
        """The first input."""
        array = self.arrays[0] if self.arrays else None
        return np.zeros(()) if array is None else array

    @property
    def second(self) -> np.ndarray:
        """The second input."""
        array = self.arrays[1] if len(self.arrays) > 1 else None
        return np.zeros(()) if array is None else array

    @property
    def rank(self) -> int:
        """The rank of the first input."""
        return self.first.ndim

    @property
    def spatial(self) -> int:
        """How many axes follow the channels."""
        return max(self.rank - 2, 1)

    def shape(self, least: int, most: int) -> tuple[int, ...]:
        """Small extents."""
        return tuple(self.roll.choice(EXTENTS) for _ in range(self.roll.randint(least, most)))

    def array(self, shape: Sequence[int], dtype: str) -> np.ndarray:
        """A tensor, sometimes with values at the edges."""
        count = int(np.prod(shape, dtype=int))
        if dtype == "bool":
            return np.array([self.roll.random() < 0.5 for _ in range(count)], bool).reshape(shape)
        if dtype.startswith("float"):
            edged = self.roll.random() < EDGED
            values = [self.roll.choice(EDGES) if edged else self.roll.randint(-16, 16) / 4 for _ in range(count)]
            return np.array(values, dtype).reshape(shape)
        low, high = (0, 9) if dtype.startswith("u") else (-9, 9)
        return np.array([self.roll.randint(low, high) for _ in range(count)], dtype).reshape(shape)

    def broadcast(self, shape: Sequence[int]) -> tuple[int, ...]:
        """A shape that broadcasts with another one: fewer axes, some of extent 1."""
        kept = shape[self.roll.randint(0, len(shape)) if self.roll.random() < 0.3 else 0 :]
        return tuple(1 if self.roll.random() < 0.3 else size for size in kept)

    def axis(self) -> int:
        """An axis of the first input, from either end."""
        return self.roll.randint(-self.rank, max(self.rank - 1, 0))

    def axes(self) -> list[int]:
        """Some axes of the first input."""
        count = self.roll.randint(0, self.rank)
        return [
            axis - (self.rank if self.roll.random() < 0.3 else 0) for axis in self.roll.sample(range(self.rank), count)
        ]

    def index(self, shape: Sequence[int], extent: int) -> np.ndarray:
        """Indices of an axis, from either end."""
        count = int(np.prod(shape, dtype=int))
        low = -extent if self.roll.random() < 0.5 else 0
        values = [self.roll.randint(low, max(extent - 1, low)) for _ in range(count)]
        return np.array(values, self.roll.choice(("int64", "int64", "int32"))).reshape(shape)


@dataclass(frozen=True)
class Role:
    """An input: how it is drawn (None: it is left out), and how often it is an argument.

    `chained`: an earlier value may take its place.
    """

    draw: Callable[[NodeDraw], np.ndarray | None]
    argument: float = 0.2
    chained: bool = False


def data(dtypes: Sequence[str] = FLOATS, least: int = 1, most: int = 4) -> Role:
    """A tensor, or an earlier value."""
    return Role(lambda draw: draw.array(draw.shape(least, most), draw.roll.choice(dtypes)), 1.0, chained=True)


def beside(role: Callable[[NodeDraw], np.ndarray | None], argument: float = 0.6) -> Role:
    """A tensor that fits those before it."""
    return Role(role, argument)


def maybe(role: Role, often: float = 0.5) -> Role:
    """An input that may be left out."""
    return Role(lambda draw: role.draw(draw) if draw.roll.random() < often else None, role.argument)


def _like(draw: NodeDraw) -> np.ndarray:
    return draw.array(draw.broadcast(draw.first.shape), str(draw.first.dtype))


def _channels(draw: NodeDraw) -> np.ndarray:
    return draw.array(draw.first.shape[1:2], str(draw.first.dtype))


def _positive(draw: NodeDraw) -> np.ndarray:
    return np.asarray(np.abs(_channels(draw)) + 1, draw.first.dtype)


def _numbers(
    values: Callable[[NodeDraw], Sequence[int] | int], dtype: str = "int64"
) -> Callable[[NodeDraw], np.ndarray]:
    return lambda draw: np.array(values(draw), dtype)


def _weight(draw: NodeDraw) -> np.ndarray:
    channels = draw.first.shape[1] if draw.rank > 1 else 1
    ins = draw.roll.choice((channels, channels, 1))
    shape = (draw.roll.choice((1, 2, channels)), ins, *(draw.roll.randint(1, 3) for _ in range(draw.spatial)))
    return draw.array(shape, str(draw.first.dtype))


def _weight_from(draw: NodeDraw) -> np.ndarray:
    channels = draw.first.shape[1] if draw.rank > 1 else 1
    shape = (channels, draw.roll.choice((1, 2)), *(draw.roll.randint(1, 3) for _ in range(draw.spatial)))
    return draw.array(shape, str(draw.first.dtype))


def _normalized(draw: NodeDraw) -> np.ndarray:
    count = draw.roll.randint(1, max(draw.rank, 1))
    return draw.array(draw.first.shape[-count:], str(draw.first.dtype))


def _scales(draw: NodeDraw) -> np.ndarray | None:
    if draw.roll.random() < 0.4:
        return None
    scales = [draw.roll.choice((0.5, 0.6, 0.75, 1.0, 1.5, 2.0, 2.3)) for _ in range(draw.rank)]
    return np.array(([1.0] * min(2, draw.rank) + scales[2:]) if draw.roll.random() < 0.8 else scales, "float32")


def _sizes(draw: NodeDraw) -> np.ndarray | None:
    if draw.arrays[2] is not None:
        return None
    sizes = [draw.roll.randint(1, 7) for _ in range(draw.rank)]
    return np.array(list(draw.first.shape[:2]) + sizes[2:], "int64")


def _index_like(draw: NodeDraw) -> np.ndarray:
    """Indices of any axis; half of the time no two of a line are equal, as updates without a reduction need it."""
    least = min(draw.first.shape, default=0)
    if draw.roll.random() < 0.5:
        return draw.index([draw.roll.randint(0, size) for size in draw.first.shape], least)
    shape = [draw.roll.randint(0, least) for _ in draw.first.shape]
    first = draw.roll.randrange(least) if least else 0
    places = (np.indices(shape).sum(0) + first) % max(least, 1)
    return np.asarray(places - least if draw.roll.random() < 0.5 else places, "int64")


def _updates(draw: NodeDraw) -> np.ndarray:
    return draw.array(draw.second.shape, str(draw.first.dtype))


def _updates_nd(draw: NodeDraw) -> np.ndarray:
    indices = draw.second
    shape = (*indices.shape[:-1], *draw.first.shape[indices.shape[-1] :])
    return draw.array(shape, str(draw.first.dtype))


def _coordinates(draw: NodeDraw) -> np.ndarray:
    depth = draw.roll.randint(1, max(draw.rank, 1))
    columns = [draw.index((2,), size) for size in draw.first.shape[:depth]]
    return np.stack([column.astype("int64") for column in columns], -1)


def _bound(draw: NodeDraw) -> np.ndarray:
    return np.array(draw.roll.choice((-1, 0, 1, 2)), draw.first.dtype)


def _matrix(draw: NodeDraw) -> np.ndarray:
    ins = draw.first.shape[-1] if draw.rank else 1
    return draw.array((ins, draw.roll.choice(EXTENTS)), str(draw.first.dtype))


def _ends(draw: NodeDraw) -> np.ndarray:
    choices = (1, 2, 5, -1, 2**63 - 1, -(2**63), 0)
    return np.array([draw.roll.choice(choices) for _ in range(draw.second.size)], "int64")


def _reduced_axes(draw: NodeDraw) -> np.ndarray | None:
    return np.array(draw.axes(), "int64") if draw.roll.random() < 0.7 else None


def _boxes(draw: NodeDraw) -> np.ndarray:
    corners = [[draw.roll.randint(0, 4) / 2 for _ in range(4)] for _ in range(2)]
    return np.array([[min(a, c), min(b, d), max(a, c) + 1, max(b, d) + 1] for a, b, c, d in corners], draw.first.dtype)


def _depth(draw: NodeDraw) -> np.ndarray:
    return np.array(draw.roll.randint(1, 5), "int64")


def _pads(draw: NodeDraw) -> list[int]:
    return [draw.roll.choice((0, 0, 1, 2)) for _ in range(2 * draw.rank)]


X, LOGICAL = data(), data(("bool",))
NUMBERS = data((*FLOATS, *INTS))
SECOND = beside(_like)
IMAGE = data(("float32",), 3, 4)
FLAT = data(("float32",), 4, 4)
AXES = beside(_reduced_axes, 0.0)
REDUCED = ("Sum", "Mean", "Max", "Min", "Prod", "L1", "L2", "LogSum", "LogSumExp", "SumSquare")
OPERATORS: Mapping[str, Sequence[Role]] = {
    **dict.fromkeys(
        (
            *(
                "Elu",
                "Selu",
                "Celu",
                "Mish",
                "Softplus",
                "Softsign",
                "Sigmoid",
                "HardSigmoid",
                "HardSwish",
                "LeakyRelu",
            ),
            *(
                "ThresholdedRelu",
                "Relu",
                "Gelu",
                "Shrink",
                "Erf",
                "Floor",
                "Ceil",
                "Round",
                "Reciprocal",
                "Sqrt",
                "Exp",
            ),
            *("Log", "Tanh", "Sin", "Cos", "Atan", "Asinh", "IsInf", "IsNaN", "Softmax", "LogSoftmax", "Hardmax"),
            *("LpNormalization", "Dropout"),
        ),
        (X,),
    ),
    **dict.fromkeys(("Sign", "Abs", "Neg", "Identity", "Flatten", "Transpose", "Shape", "Size", "Cast"), (NUMBERS,)),
    **dict.fromkeys(("ArgMax", "ArgMin", "NonZero", "Unique"), (NUMBERS,)),
    **dict.fromkeys(("Add", "Sub", "Mul", "Min", "Max", "Equal", "Less", "Greater", "Pow", "Mod"), (NUMBERS, SECOND)),
    **dict.fromkeys(("Div", "PRelu", "Sum", "Mean", "LessOrEqual", "GreaterOrEqual"), (X, SECOND)),
    **dict.fromkeys(("And", "Or", "Xor"), (LOGICAL, SECOND)),
    **{name: (data(("uint8", "uint32")), SECOND) for name in ("BitShift", "BitwiseAnd", "BitwiseXor")},
    **{f"Reduce{name}": (data(("float32", "float64", "int32")), AXES) for name in REDUCED},
    **dict.fromkeys(("MaxPool", "AveragePool", "LpPool", "GlobalAveragePool", "GlobalMaxPool"), (IMAGE,)),
    **dict.fromkeys(("MeanVarianceNormalization", "LRN", "DepthToSpace", "SpaceToDepth"), (FLAT,)),
    "Not": (LOGICAL,),
    "EyeLike": (data((*FLOATS, *INTS), 2, 2),),
    "Trilu": (data((*FLOATS, *INTS), 2, 3), maybe(beside(_numbers(lambda draw: draw.roll.randint(-3, 3)), 0.2))),
    "Clip": (NUMBERS, maybe(beside(_bound)), maybe(beside(_bound))),
    "Where": (
        data(("bool",)),
        beside(lambda draw: draw.array(draw.broadcast(draw.first.shape), "float32")),
        beside(lambda draw: draw.array(draw.broadcast(draw.first.shape), "float32")),
    ),
    "MatMul": (X, beside(_matrix)),
    "Gemm": (
        data(("float32", "float64"), 2, 2),
        beside(_matrix),
        maybe(beside(lambda draw: draw.array((1,), str(draw.first.dtype)))),
    ),
    "Gather": (NUMBERS, beside(lambda draw: draw.index(draw.shape(0, 2), min(draw.first.shape, default=0)))),
    "GatherElements": (NUMBERS, beside(_index_like)),
    "GatherND": (NUMBERS, beside(_coordinates)),
    "ScatterElements": (data(("float32", "int32")), beside(_index_like), beside(_updates)),
    "ScatterND": (data(("float32", "int32")), beside(_coordinates), beside(_updates_nd)),
    "Slice": (
        NUMBERS,
        beside(
            _numbers(lambda draw: [draw.roll.randint(-4, 3) for _ in range(draw.roll.randint(1, max(draw.rank, 1)))]),
            0.2,
        ),
        beside(_ends, 0.2),
        maybe(
            beside(
                lambda draw: np.array(draw.roll.sample(range(draw.rank), min(draw.rank, draw.second.size)), "int64"),
                0.1,
            )
        ),
        maybe(
            beside(
                lambda draw: np.array([draw.roll.choice((1, 1, 2, -1, -2)) for _ in range(draw.second.size)], "int64"),
                0.1,
            )
        ),
    ),
    "Pad": (NUMBERS, beside(_numbers(_pads), 0.0), maybe(beside(_bound, 0.0))),
    "Tile": (NUMBERS, beside(_numbers(lambda draw: [draw.roll.randint(0, 3) for _ in range(draw.rank)]), 0.3)),
    "Expand": (
        NUMBERS,
        beside(_numbers(lambda draw: [draw.roll.choice((1, size, size)) for size in draw.first.shape]), 0.4),
    ),
    "Reshape": (
        NUMBERS,
        beside(_numbers(lambda draw: draw.roll.choice(([-1], [0, -1], [1, -1, 1], [draw.first.size]))), 0.2),
    ),
    "Squeeze": (NUMBERS, AXES),
    "Unsqueeze": (NUMBERS, beside(_numbers(lambda draw: [draw.roll.randint(-draw.rank - 1, draw.rank)]), 0.1)),
    "Concat": (NUMBERS, beside(lambda draw: draw.array(draw.first.shape, str(draw.first.dtype)))),
    "Split": (
        NUMBERS,
        maybe(beside(_numbers(lambda draw: [1, max(draw.first.shape[0] - 1, 0)] if draw.rank else [1]), 0.0)),
    ),
    "OneHot": (
        Role(lambda draw: draw.index(draw.shape(1, 2), 4), 1.0),
        beside(_depth, 0.0),
        beside(lambda draw: draw.array((2,), draw.roll.choice((*FLOATS, *INTS))), 0.0),
    ),
    "Compress": (NUMBERS, beside(lambda draw: draw.array((draw.roll.choice(draw.first.shape or (1,)),), "bool"))),
    "CumSum": (data(("float32", "float64", "int32")), beside(_numbers(lambda draw: draw.axis()), 0.0)),
    "TopK": (data(("float32", "int64")), beside(_numbers(lambda draw: [draw.roll.randint(1, 3)]), 0.0)),
    "CastLike": (NUMBERS, beside(lambda draw: draw.array((1,), draw.roll.choice((*FLOATS, *INTS, "bool"))))),
    "Resize": (
        IMAGE,
        maybe(beside(lambda draw: np.array([0.0] * draw.rank + [1.0] * draw.rank, "float32"), 0.1), 0.3),
        beside(_scales, 0.0),
        beside(_sizes, 0.0),
    ),
    "Conv": (
        IMAGE,
        beside(_weight),
        maybe(beside(lambda draw: draw.array(draw.second.shape[:1], str(draw.first.dtype)))),
    ),
    "ConvTranspose": (IMAGE, beside(_weight_from)),
    "BatchNormalization": (data(("float32", "float64"), 2, 4), *(beside(_channels),) * 3, beside(_positive)),
    "InstanceNormalization": (IMAGE, beside(_channels), beside(_channels)),
    "LayerNormalization": (
        data(("float32", "float16"), 1, 3),
        beside(_normalized),
        maybe(beside(lambda draw: np.zeros_like(draw.second))),
    ),
    "GroupNormalization": (IMAGE, beside(_channels), beside(_channels)),
    "RMSNormalization": (data(("float32", "float16"), 1, 3), beside(_normalized)),
    "QuantizeLinear": (
        data(("float32",)),
        beside(lambda _draw: np.array(0.5, "float32")),
        maybe(beside(lambda draw: np.array(3, draw.roll.choice(("uint8", "int8", "uint16"))))),
    ),
    "DequantizeLinear": (
        data(("uint8", "int8")),
        beside(lambda _draw: np.array(0.5, "float32")),
        maybe(beside(lambda draw: np.array(3, draw.first.dtype))),
    ),
    "DynamicQuantizeLinear": (data(("float32",)),),
    "MatMulInteger": (
        data(("uint8", "int8"), 2, 2),
        beside(_matrix),
        maybe(beside(lambda draw: np.array(2, draw.first.dtype))),
    ),
    "GridSample": (
        FLAT,
        beside(lambda draw: draw.array((draw.first.shape[0] if draw.rank else 1, 2, 3, 2), "float32") / np.float32(2)),
    ),
    "RoiAlign": (FLAT, beside(_boxes), beside(_numbers(lambda _draw: [0, 0]))),
    "Einsum": (data(("float32",), 2, 2), beside(lambda draw: draw.array(draw.first.shape[::-1], "float32"))),
}
"""The inputs of each operator."""


def _flag(draw: NodeDraw) -> int:
    return draw.roll.choice((0, 1))


def _real(*values: float) -> Callable[[NodeDraw], Attribute]:
    return lambda draw: draw.roll.choice(values)


def _word(*words: str) -> Callable[[NodeDraw], Attribute]:
    return lambda draw: draw.roll.choice(words)


def _each(low: int, high: int, times: int = 1) -> Callable[[NodeDraw], Attribute]:
    return lambda draw: [draw.roll.randint(low, high) for _ in range(draw.spatial * times)]


FLAGS = (
    *(
        "keepdims",
        "noop_with_empty_axes",
        "select_last_index",
        "largest",
        "sorted",
        "exclusive",
        "reverse",
        "ceil_mode",
    ),
    *("count_include_pad", "transA", "transB", "allowzero", "fmod", "upper", "detect_negative", "detect_positive"),
    *("training_mode", "align_corners", "antialias", "exclude_outside", "storage_order", "saturate"),
)
TYPES = (1, 2, 3, 5, 6, 7, 9, 10, 11)
"""ONNX's numbers of dtypes."""
ATTRIBUTES: Mapping[str, Callable[[NodeDraw], Attribute | None]] = {
    **dict.fromkeys(FLAGS, _flag),
    "axis": lambda draw: draw.axis(),
    "axes": lambda draw: draw.axes() or None,
    "Resize axes": lambda draw: draw.roll.sample(range(draw.rank), draw.rank),
    "Squeeze axes": lambda draw: [at for at, size in enumerate(draw.first.shape) if size == 1] or None,
    "Unsqueeze axes": lambda draw: [draw.roll.randint(0, draw.rank)],
    "perm": lambda draw: draw.roll.sample(range(draw.rank), draw.rank),
    "kernel_shape": _each(1, 3),
    "Conv kernel_shape": lambda _draw: None,
    "ConvTranspose kernel_shape": lambda _draw: None,
    "strides": _each(1, 3),
    "dilations": _each(1, 2),
    "pads": _each(0, 2, 2),
    "Pad pads": _pads,
    "output_padding": _each(0, 1),
    "output_shape": lambda draw: [size * 2 for size in draw.first.shape[2:]],
    "auto_pad": _word("NOTSET", "SAME_UPPER", "SAME_LOWER", "VALID"),
    "group": lambda draw: draw.roll.choice((1, draw.first.shape[1] if draw.rank > 1 else 1)),
    "num_groups": lambda draw: draw.roll.choice((1, draw.first.shape[1] if draw.rank > 1 else 1)),
    "p": lambda draw: draw.roll.choice((1, 2, 3)),
    "size": lambda draw: draw.roll.choice((1, 2, 3, 4)),
    "k": lambda draw: draw.roll.randint(-2, 2),
    "TopK k": lambda draw: draw.roll.randint(1, 3),
    "blocksize": lambda _draw: 2,
    "block_size": lambda _draw: None,
    "batch_dims": lambda draw: draw.roll.choice((0, 1)),
    "to": lambda draw: draw.roll.choice(TYPES),
    "dtype": lambda draw: draw.roll.choice(TYPES),
    "output_dtype": lambda _draw: None,
    "precision": lambda _draw: None,
    "round_mode": lambda _draw: None,
    "stash_type": lambda _draw: 1,
    "seed": lambda _draw: None,
    "consumed_inputs": lambda _draw: None,
    "num_outputs": lambda _draw: None,
    "epsilon": _real(1e-5, 0.25),
    "momentum": _real(0.25, 0.9),
    "alpha": _real(0.0, 0.5, 1.0, -1.0, 2.0),
    "Celu alpha": _real(0.5, 1.0, 2.0),
    "lambd": _real(0.0, 0.5, -1.0, 2.0),
    "cubic_coeff_a": _real(-0.5, -0.75),
    "spatial_scale": _real(0.5, 1.0),
    "sampling_ratio": lambda draw: draw.roll.choice((1, 2)),
    "output_height": lambda draw: draw.roll.choice((1, 2)),
    "output_width": lambda draw: draw.roll.choice((1, 3)),
    "mode": lambda _draw: None,
    "Resize mode": _word("nearest", "linear", "cubic"),
    "Pad mode": lambda draw: draw.roll.choice(PADS[: 4 if draw.opset >= 19 else 3]),
    "GridSample mode": _word("nearest", "linear", "bilinear", "cubic"),
    "DepthToSpace mode": _word("DCR", "CRD"),
    "RoiAlign mode": _word("avg"),
    "padding_mode": _word("zeros", "border", "reflection"),
    "approximate": _word("none", "tanh"),
    "direction": _word("LEFT", "RIGHT"),
    "reduction": lambda draw: draw.roll.choice(REDUCTIONS[: 5 if draw.opset >= 18 else 3]),
    "equation": _word("ij,jk->ik", "ij,jk", "ij,ji->", "ij,jk->ki", "...j,jk->...k", "ij,jk->ijk"),
    "nearest_mode": _word("round_prefer_floor", "round_prefer_ceil", "floor", "ceil"),
    "coordinate_transformation_mode": _word(
        "half_pixel", "pytorch_half_pixel", "align_corners", "asymmetric", "half_pixel_symmetric", "tf_crop_and_resize"
    ),
    "RoiAlign coordinate_transformation_mode": _word("half_pixel", "output_half_pixel"),
    "keep_aspect_ratio_policy": _word("stretch"),
}
"""The values of attributes, by operator and name or by name; None: the attribute is left out."""
