"""Programs of PyTorch as data: one to three calls of functions of a table, with options; drawn without PyTorch.

| part    | from                                                                                                   |
|---------|--------------------------------------------------------------------------------------------------------|
| calls   | the table below: a function of `torch`, or of `torch.nn.functional` (`F.`); a call after the first takes |
|         | the result of the one before, which keeps its shape and dtype                                          |
| options | each of them half of the time: axes from either end, dtypes, modes; values are what JSON has           |
| inputs  | small tensors with extents of 0, 1 and primes: arguments of the call, or buffers of the module         |

PyTorch refuses some of what is drawn; that is no program, and another is drawn. So is a convolution without channels:
PyTorch gives a result without channels too, where its meaning has zeros.
"""

import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias, cast

import numpy as np

from refmlc.oracle.fuzz.subjects.imports.array_data import array_data, array_of
from refmlc.oracle.fuzz.subjects.imports.onnx_operators import NodeDraw

Json: TypeAlias = Mapping[str, object]
Option: TypeAlias = "Callable[[NodeDraw], object]"
MOST_CALLS = 3
HALF = 0.5
CONSTANT = 0.2
FLOATS = ("float32", "float32", "float32", "float64", "float16")
INTS = ("int32", "int64", "int8", "uint8")
INDEX, INDICES = "index", 9
"""Integers from 0, and how many there are."""
DTYPES = ("float32", "float64", "int32", "int64", "bool")


@dataclass(frozen=True)
class TorchCall:
    """A call of a function of the table with tensors by name, and options by name."""

    function: str
    inputs: tuple[str, ...]
    options: Json = field(default_factory=dict)


@dataclass(frozen=True)
class TorchProgram:
    """Calls, each of which gives `y0`, `y1`, … in turn; the buffers of the module, and its arguments."""

    calls: tuple[TorchCall, ...]
    constants: Mapping[str, np.ndarray]
    arguments: Mapping[str, np.ndarray]

    def to_json(self) -> dict[str, object]:
        """The program as data."""
        return {
            "calls": [[call.function, list(call.inputs), dict(call.options)] for call in self.calls],
            **{
                key: {name: array_data(array) for name, array in own.items()}
                for key, own in (("constants", self.constants), ("arguments", self.arguments))
            },
        }

    @staticmethod
    def from_json(data: Json) -> "TorchProgram":
        """The program from data. Raises ValueError for a function that the table does not have."""
        calls = [TorchCall(name, tuple(inputs), options) for name, inputs, options in cast("list[Any]", data["calls"])]
        for call in calls:
            if call.function not in FUNCTIONS:
                raise ValueError(f"the table of functions does not have `{call.function}`")
        constants, arguments = (
            {name: array_of(each) for name, each in cast("dict[str, Any]", data[key]).items()}
            for key in ("constants", "arguments")
        )
        return TorchProgram(tuple(calls), constants, arguments)


@dataclass(frozen=True)
class TorchFunction:
    """How a function is called: inputs after the first, options (`needed` ones always), dtypes and ranks of the first.

    `keeps`: the result has the shape and dtype of the first input. `takes`: the result that is compared; None: all.
    `named`: the names of the inputs after the first, where they are not given by place.
    """

    inputs: Sequence[Callable[[NodeDraw], np.ndarray]] = ()
    options: Mapping[str, Option] = field(default_factory=dict)
    needed: Mapping[str, Option] = field(default_factory=dict)
    dtypes: Sequence[str] = FLOATS
    ranks: tuple[int, int] = (0, 4)
    keeps: bool = False
    takes: int | None = None
    named: Sequence[str] = ()


def _like(draw: NodeDraw) -> np.ndarray:
    return draw.array(draw.broadcast(draw.first.shape), str(draw.first.dtype))


def _same(draw: NodeDraw) -> np.ndarray:
    return draw.array(draw.first.shape, str(draw.first.dtype))


def _mask(draw: NodeDraw) -> np.ndarray:
    return draw.array(draw.broadcast(draw.first.shape), "bool")


def _matrix(draw: NodeDraw) -> np.ndarray:
    return draw.array((draw.first.shape[-1], draw.roll.choice((0, 1, 2, 3))), str(draw.first.dtype))


def _weight(draw: NodeDraw) -> np.ndarray:
    spatial = [draw.roll.randint(1, 3) for _ in range(draw.rank - 2)]
    return draw.array((draw.roll.choice((1, 2, 3)), max(draw.first.shape[1], 1), *spatial), str(draw.first.dtype))


def _weight_from(draw: NodeDraw) -> np.ndarray:
    spatial = [draw.roll.randint(1, 3) for _ in range(draw.rank - 2)]
    return draw.array((max(draw.first.shape[1], 1), draw.roll.choice((1, 2, 3)), *spatial), str(draw.first.dtype))


def _linear(draw: NodeDraw) -> np.ndarray:
    return draw.array((draw.roll.choice((1, 2, 3)), draw.first.shape[-1]), str(draw.first.dtype))


def _indices(draw: NodeDraw) -> np.ndarray:
    least = min(draw.first.shape, default=1)
    count = draw.roll.choice((0, 1, 3))
    return np.array([draw.roll.randrange(max(least, 1)) for _ in range(count)], "int64")


def _index_like(draw: NodeDraw) -> np.ndarray:
    least = min(draw.first.shape, default=1)
    shape = [draw.roll.randint(0, size) for size in draw.first.shape]
    count = int(np.prod(shape, dtype=int))
    return np.array([draw.roll.randrange(max(least, 1)) for _ in range(count)], "int64").reshape(shape)


def _table(draw: NodeDraw) -> np.ndarray:
    return draw.array((INDICES, draw.roll.choice((1, 2, 3))), "float32")


def one_of(*values: object) -> Option:
    """One of some values."""
    return lambda draw: draw.roll.choice(values)


def axis(draw: NodeDraw) -> int:
    """An axis of the first input, from either end."""
    return draw.axis()


def axes(draw: NodeDraw) -> list[int]:
    """Some axes, from either end."""
    return draw.axes()


def _permutation(draw: NodeDraw) -> list[int]:
    order = draw.roll.sample(range(draw.rank), draw.rank)
    return [at - (draw.rank if draw.roll.random() < HALF else 0) for at in order]


def _padding(draw: NodeDraw) -> list[int]:
    return [draw.roll.choice((0, 1, 1, 2, -1)) for _ in range(2 * draw.roll.randint(1, max(draw.rank, 1)))]


def _inner_padding(draw: NodeDraw) -> list[int]:
    return [draw.roll.choice((0, 1, 1, 2)) for _ in range(2 * max(draw.rank - 2, 1))]


def _each(low: int, high: int) -> Option:
    return lambda draw: [draw.roll.randint(low, high) for _ in range(max(draw.rank - 2, 1))]


def _normalized(draw: NodeDraw) -> list[int]:
    return list(draw.first.shape[-draw.roll.randint(1, draw.rank) :])


def _repeats(draw: NodeDraw) -> list[int]:
    return [draw.roll.choice((0, 1, 1, 2, 3)) for _ in range(draw.rank + draw.roll.choice((0, 0, 1)))]


def _reshaped(draw: NodeDraw) -> list[int]:
    size = draw.first.size
    return draw.roll.choice(([-1], [1, -1], [size, 1], [-1, 1, 1], [size]))


KEEPDIM = {"keepdim": one_of(True, False)}
REDUCED = {"dim": axis, **KEEPDIM}
SCALARS = one_of(0, 1, -1, 2, 0.5, -2.5)
DTYPE = {"dtype": one_of(*DTYPES)}
FLOAT_DTYPE = {"dtype": one_of("float32", "float64")}
NUMBERS = (*FLOATS, *INTS)
WHOLE = (*NUMBERS, "bool")
POOL = {"stride": _each(1, 3), "padding": one_of(0, 1), "ceil_mode": one_of(True, False)}
UNARY = (
    *("abs", "neg", "sign", "floor", "ceil", "round", "trunc", "frac", "exp", "expm1", "log1p", "sin", "tan", "atan"),
    *("tanh", "erf", "erfc", "sqrt", "rsqrt", "reciprocal", "square", "sigmoid", "logit", "nan_to_num", "asinh"),
    *("F.relu", "F.relu6", "F.silu", "F.mish", "F.hardswish", "F.hardsigmoid", "F.softsign", "F.tanhshrink"),
    *("F.logsigmoid", "F.selu"),
)
FUNCTIONS: Mapping[str, TorchFunction] = {
    **dict.fromkeys(UNARY, TorchFunction(keeps=True)),
    "F.gelu": TorchFunction(options={"approximate": one_of("none", "tanh")}, keeps=True),
    "F.elu": TorchFunction(options={"alpha": one_of(0.5, 1.0, 2.0)}, keeps=True),
    "F.celu": TorchFunction(options={"alpha": one_of(0.5, 1.0, 2.0)}, keeps=True),
    "F.leaky_relu": TorchFunction(options={"negative_slope": one_of(0.0, 0.5, -1.0)}, keeps=True),
    "F.hardtanh": TorchFunction(options={"min_val": one_of(-2.0, -0.5), "max_val": one_of(0.5, 6.0)}, keeps=True),
    "F.hardshrink": TorchFunction(options={"lambd": one_of(0.0, 0.25, 1.0)}, keeps=True),
    "F.softshrink": TorchFunction(options={"lambd": one_of(0.0, 0.25, 1.0)}, keeps=True),
    "F.softplus": TorchFunction(options={"beta": one_of(0.5, 2.0), "threshold": one_of(1.0, 20.0)}, keeps=True),
    "F.threshold": TorchFunction(needed={"threshold": one_of(0.0, 0.5, -1.0), "value": one_of(0.0, 3.0)}, keeps=True),
    "F.prelu": TorchFunction((lambda draw: draw.array((1,), str(draw.first.dtype)),), ranks=(1, 4), keeps=True),
    "F.glu": TorchFunction(options={"dim": axis}, ranks=(1, 4)),
    "F.softmax": TorchFunction(options=FLOAT_DTYPE, needed={"dim": axis}),
    "F.softmin": TorchFunction(needed={"dim": axis}, keeps=True),
    "F.log_softmax": TorchFunction(options=FLOAT_DTYPE, needed={"dim": axis}),
    "round": TorchFunction(options={"decimals": one_of(0, 1, 2, -1)}, keeps=True),
    "nan_to_num": TorchFunction(
        options={"nan": one_of(0.5), "posinf": one_of(7.0), "neginf": one_of(-7.0)}, keeps=True
    ),
    "clamp": TorchFunction(options={"min": SCALARS, "max": SCALARS}, dtypes=NUMBERS),
    **dict.fromkeys(("add", "sub"), TorchFunction((_like,), {"alpha": one_of(0, 2, -1)}, dtypes=NUMBERS)),
    **dict.fromkeys(
        ("mul", "maximum", "minimum", "remainder", "floor_divide", "fmod"), TorchFunction((_like,), dtypes=NUMBERS)
    ),
    "div": TorchFunction((_like,), {"rounding_mode": one_of("floor", "trunc")}, dtypes=NUMBERS),
    "pow": TorchFunction((_like,), dtypes=FLOATS),
    **dict.fromkeys(("atan2", "hypot", "fmax", "fmin", "copysign", "xlogy", "logaddexp"), TorchFunction((_like,))),
    **dict.fromkeys(("eq", "ne", "lt", "le", "gt", "ge"), TorchFunction((_like,), dtypes=NUMBERS)),
    **dict.fromkeys(("logical_and", "logical_or", "logical_xor"), TorchFunction((_like,), dtypes=WHOLE)),
    **dict.fromkeys(("bitwise_and", "bitwise_or", "bitwise_xor"), TorchFunction((_like,), dtypes=(*INTS, "bool"))),
    **dict.fromkeys(("isnan", "isinf", "isfinite", "logical_not", "signbit"), TorchFunction(dtypes=NUMBERS)),
    "lerp": TorchFunction((_same,), needed={"weight": one_of(0.0, 0.5, 1.0, 2.0)}, keeps=True),
    "addcmul": TorchFunction((_like, _like), {"value": one_of(0.5, 2)}, keeps=True),
    "where": TorchFunction((_like, _like), dtypes=("bool",)),
    "masked_fill": TorchFunction((_mask,), needed={"value": one_of(0, 1, -2)}, dtypes=NUMBERS, keeps=True),
    **dict.fromkeys(("sum", "prod"), TorchFunction(options={**REDUCED, **DTYPE}, dtypes=WHOLE)),
    "mean": TorchFunction(options={**REDUCED, "dtype": one_of("float32", "float64")}, dtypes=WHOLE),
    "nansum": TorchFunction(options={**REDUCED, **DTYPE}, dtypes=NUMBERS),
    "logsumexp": TorchFunction(options=KEEPDIM, needed={"dim": axes}),
    **dict.fromkeys(("amax", "amin"), TorchFunction(options={"dim": axes, **KEEPDIM}, dtypes=WHOLE)),
    **dict.fromkeys(("argmax", "argmin"), TorchFunction(options=REDUCED, dtypes=NUMBERS)),
    **dict.fromkeys(("any", "all"), TorchFunction(options=REDUCED, dtypes=WHOLE)),
    **dict.fromkeys(("max", "min"), TorchFunction(options=KEEPDIM, needed={"dim": axis}, dtypes=NUMBERS, takes=0)),
    **dict.fromkeys(("var", "std"), TorchFunction(options={**REDUCED, "correction": one_of(0, 1, 2)})),
    "norm": TorchFunction(options={**REDUCED, "p": one_of(1, 2, 0, 3)}),
    "count_nonzero": TorchFunction(options={"dim": axis}, dtypes=WHOLE),
    **dict.fromkeys(("cumsum", "cumprod"), TorchFunction(options=DTYPE, needed={"dim": axis}, dtypes=WHOLE)),
    **dict.fromkeys(("cummax", "cummin"), TorchFunction(needed={"dim": axis}, dtypes=NUMBERS, takes=0)),
    "logcumsumexp": TorchFunction(needed={"dim": axis}, keeps=True),
    "sort": TorchFunction(options={"dim": axis, "descending": one_of(True, False)}, dtypes=NUMBERS, takes=0),
    "topk": TorchFunction(
        options={"dim": axis, "largest": one_of(True, False)}, needed={"k": one_of(0, 1, 2)}, dtypes=NUMBERS, takes=0
    ),
    "flip": TorchFunction(needed={"dims": axes}, dtypes=WHOLE, keeps=True),
    "roll": TorchFunction(options={"dims": axis}, needed={"shifts": one_of(0, 1, -1, 4, -7)}, dtypes=WHOLE, keeps=True),
    "tril": TorchFunction(options={"diagonal": one_of(-1, 1, 3, -4)}, dtypes=NUMBERS, ranks=(2, 4), keeps=True),
    "triu": TorchFunction(options={"diagonal": one_of(-1, 1, 3, -4)}, dtypes=NUMBERS, ranks=(2, 4), keeps=True),
    "diagonal": TorchFunction(
        options={"offset": one_of(0, 1, -1, 2)}, needed={"dim1": axis, "dim2": axis}, dtypes=NUMBERS, ranks=(2, 4)
    ),
    "permute": TorchFunction(needed={"dims": _permutation}, dtypes=WHOLE),
    "transpose": TorchFunction(needed={"dim0": axis, "dim1": axis}, dtypes=WHOLE),
    "movedim": TorchFunction(needed={"source": axis, "destination": axis}, dtypes=WHOLE, ranks=(1, 4)),
    "reshape": TorchFunction(needed={"shape": _reshaped}, dtypes=WHOLE),
    "flatten": TorchFunction(options={"start_dim": axis, "end_dim": axis}, dtypes=WHOLE),
    "squeeze": TorchFunction(options={"dim": axis}, dtypes=WHOLE),
    "unsqueeze": TorchFunction(needed={"dim": axis}, dtypes=WHOLE),
    "tile": TorchFunction(needed={"dims": _repeats}, dtypes=NUMBERS),
    "repeat_interleave": TorchFunction(options={"dim": axis}, needed={"repeats": one_of(0, 1, 2, 3)}, dtypes=NUMBERS),
    "split": TorchFunction(
        options={"dim": axis}, needed={"split_size_or_sections": one_of(1, 2, 3)}, dtypes=NUMBERS, ranks=(1, 4)
    ),
    "chunk": TorchFunction(options={"dim": axis}, needed={"chunks": one_of(1, 2, 3)}, dtypes=NUMBERS, ranks=(1, 4)),
    "narrow": TorchFunction(
        needed={"dim": axis, "start": one_of(0, 1, -1), "length": one_of(0, 1, 2)}, dtypes=NUMBERS, ranks=(1, 4)
    ),
    "select": TorchFunction(needed={"dim": axis, INDEX: one_of(0, 1, -1, -2)}, dtypes=NUMBERS, ranks=(1, 4)),
    "unbind": TorchFunction(options={"dim": axis}, dtypes=NUMBERS, ranks=(1, 4)),
    "index_select": TorchFunction((_indices,), named=("index",), needed={"dim": axis}, dtypes=NUMBERS, ranks=(1, 4)),
    "gather": TorchFunction((_index_like,), named=("index",), needed={"dim": axis}, dtypes=NUMBERS, ranks=(1, 3)),
    "take_along_dim": TorchFunction((_index_like,), needed={"dim": axis}, dtypes=NUMBERS, ranks=(1, 3)),
    "diff": TorchFunction(options={"n": one_of(0, 1, 2), "dim": axis}, dtypes=NUMBERS, ranks=(1, 4)),
    "full_like": TorchFunction(needed={"fill_value": one_of(0, 1, -2, 2.5)}, options=DTYPE, dtypes=NUMBERS),
    "bucketize": TorchFunction(
        (lambda _draw: np.array([-1, 0, 2], "float32"),), {"right": one_of(True, False)}, dtypes=("float32",)
    ),
    "matmul": TorchFunction((_matrix,), ranks=(1, 4)),
    "F.linear": TorchFunction((_linear,), ranks=(1, 4)),
    "F.embedding": TorchFunction((_table,), dtypes=(INDEX,), ranks=(0, 3)),
    "F.one_hot": TorchFunction(needed={"num_classes": one_of(INDICES, 11)}, dtypes=(INDEX,), ranks=(0, 3)),
    "F.pad": TorchFunction(options={"value": one_of(0, 1, -2)}, needed={"pad": _padding}, dtypes=NUMBERS, ranks=(1, 4)),
    "F.pad mode": TorchFunction(
        needed={"pad": _inner_padding, "mode": one_of("reflect", "replicate", "circular")},
        dtypes=("float32", "float64"),
        ranks=(3, 5),
    ),
    "F.layer_norm": TorchFunction(
        options={"eps": one_of(0.25, 1e-3)}, needed={"normalized_shape": _normalized}, ranks=(1, 4)
    ),
    "F.rms_norm": TorchFunction(
        options={"eps": one_of(0.25, 1e-3)}, needed={"normalized_shape": _normalized}, ranks=(1, 4)
    ),
    "F.group_norm": TorchFunction(
        options={"eps": one_of(0.25, 1e-3)}, needed={"num_groups": one_of(1, 3)}, ranks=(2, 4)
    ),
    "F.normalize": TorchFunction(options={"p": one_of(1, 2, 3), "dim": axis, "eps": one_of(0.5)}, ranks=(1, 4)),
    "F.pixel_shuffle": TorchFunction(needed={"upscale_factor": one_of(1)}, dtypes=NUMBERS, ranks=(3, 4)),
    "F.pixel_unshuffle": TorchFunction(needed={"downscale_factor": one_of(1, 2, 3)}, dtypes=NUMBERS, ranks=(3, 4)),
    **{
        f"F.{kind}_pool{spatial}d": TorchFunction(
            options={
                **POOL,
                **({"dilation": one_of(1, 2)} if kind == "max" else {"count_include_pad": one_of(True, False)}),
            },
            needed={"kernel_size": _each(1, 3)},
            dtypes=("float32",),
            ranks=(spatial + 2, spatial + 2),
        )
        for kind in ("max", "avg")
        for spatial in (1, 2, 3)
    },
    **{
        f"F.adaptive_{kind}_pool{spatial}d": TorchFunction(
            needed={"output_size": _each(1, 3)}, dtypes=("float32",), ranks=(spatial + 2, spatial + 2)
        )
        for kind in ("max", "avg")
        for spatial in (1, 2)
    },
    **{
        f"F.conv{spatial}d": TorchFunction(
            (_weight,),
            {"stride": _each(1, 2), "padding": one_of(0, 1, 2, "same", "valid"), "dilation": _each(1, 2)},
            dtypes=("float32",),
            ranks=(spatial + 2, spatial + 2),
        )
        for spatial in (1, 2)
    },
    **{
        f"F.conv_transpose{spatial}d": TorchFunction(
            (_weight_from,),
            {"stride": _each(1, 2), "padding": one_of(0, 1), "output_padding": one_of(0, 1), "dilation": _each(1, 2)},
            dtypes=("float32",),
            ranks=(spatial + 2, spatial + 2),
        )
        for spatial in (1, 2)
    },
    "F.interpolate": TorchFunction(
        needed={"size": _each(1, 5), "mode": one_of("nearest", "nearest-exact", "area")},
        dtypes=("float32",),
        ranks=(3, 5),
    ),
    **{
        f"F.interpolate {mode}": TorchFunction(
            options={"align_corners": one_of(True, False)},
            needed={"size": _each(1, 5), "mode": one_of(mode)},
            dtypes=("float32",),
            ranks=(rank, rank),
        )
        for mode, rank in (("linear", 3), ("bilinear", 4), ("bicubic", 4), ("trilinear", 5))
    },
}
"""The functions that programs are drawn of, by their names in `torch`, or after `F.` in `torch.nn.functional`.

A word after the name tells rows of one function apart.
"""


def drawn_program(seed: int, *, exclude: Iterable[str] = ()) -> TorchProgram:
    """The program that a seed gives, without the excluded functions. Raises ValueError where none is left."""
    roll = random.Random(seed)  # noqa: S311 - programs, not secrets
    excluded = set(exclude)
    rows = [row for row in FUNCTIONS if row not in excluded and function_of(row) not in excluded]
    if not rows:
        raise ValueError("no function is left to draw a program of")
    last = roll.choice(rows)
    array = _first(FUNCTIONS[last], roll)
    middles = [row for row in rows if FUNCTIONS[row].keeps and _fits(FUNCTIONS[row], array)]
    before = [roll.choice(middles) for _ in range(roll.choice((0, 0, 0, 1, MOST_CALLS - 1)) if middles else 0)]
    calls, constants, arguments = list[TorchCall](), dict[str, np.ndarray](), {"x": array}
    for number, row in enumerate((*before, last)):
        draw = NodeDraw(roll, 0, [array])
        names = [f"y{number - 1}" if number else "x"]
        for place, role in enumerate(FUNCTIONS[row].inputs, 1):
            beside = role(draw)
            draw.arrays.append(beside)
            names.append(f"x{number}_{place}")
            (constants if roll.random() < CONSTANT else arguments)[names[-1]] = beside
        calls.append(TorchCall(row, tuple(names), _options(FUNCTIONS[row], draw)))
    return TorchProgram(tuple(calls), constants, arguments)


def function_of(row: str) -> str:
    """The name of the function of a row."""
    return row.partition(" ")[0]


def _first(function: TorchFunction, roll: random.Random) -> np.ndarray:
    draw = NodeDraw(roll, 0)
    dtype, shape = roll.choice(function.dtypes), draw.shape(*function.ranks)
    if dtype == INDEX:
        return np.asarray(np.abs(draw.array(shape, "int64")) % INDICES)
    return draw.array(shape, dtype)


def _fits(function: TorchFunction, array: np.ndarray) -> bool:
    """Whether a function takes such a tensor first."""
    low, high = function.ranks
    return str(array.dtype) in function.dtypes and low <= array.ndim <= high


def _options(function: TorchFunction, draw: NodeDraw) -> dict[str, object]:
    """The options that are needed, and half of the others."""
    chosen = {name: rule for name, rule in function.options.items() if draw.roll.random() < HALF}
    return {name: rule(draw) for name, rule in {**function.needed, **chosen}.items()}
