"""The operators of ONNX, each in operators of Relax; most are the rules of `aten` with the arguments in other places.

A rule is `rule(emitter, inputs, attributes)`. Sizes that a graph computes (`Shape`, `Gather` of it, `Concat` of those)
are tuples of numbers here, not tensors: they say shapes. Version 13 of the operators and later is meant.
"""

import operator
from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

import numpy as np

from refmlc.diag import fail
from refmlc.diag.catalogue import UNSUPPORTED_OP
from refmlc.dtypes import INT64
from refmlc.frontends.arrays import constant
from refmlc.frontends.aten import RULES
from refmlc.frontends.aten.convolution import LAYOUT
from refmlc.frontends.aten.movement import flat
from refmlc.frontends.emitter import Emitter, Operand, Size, product
from refmlc.frontends.rule import Rule
from refmlc.ir import relax
from refmlc.te import Value

Attributes: TypeAlias = Mapping[str, Operand]
OnnxRule: TypeAlias = Callable[[Emitter, Sequence[Operand], Attributes], Operand]

DTYPES: Mapping[int, str] = {
    1: "float32",
    2: "uint8",
    3: "int8",
    5: "int16",
    6: "int32",
    7: "int64",
    9: "bool",
    10: "float16",
    11: "float64",
    12: "uint32",
    13: "uint64",
    16: "bfloat16",
}
"""ONNX's numbers of dtypes."""


def numbers(value: Operand) -> tuple[Size, ...]:
    """The numbers that an input says: a constant's, or sizes. Fails: RM501 where they are known only when it runs."""
    if isinstance(value, relax.Constant):
        return tuple(int(one) for one in value.data.ravel())
    if isinstance(value, int | Value):
        return (value,)
    if isinstance(value, tuple):
        return tuple(flat(value))
    raise fail(UNSUPPORTED_OP, "a shape or an axis that is computed from data is not supported")


def _number(value: Operand) -> float:
    if isinstance(value, relax.Constant):
        return float(value.data.ravel()[0])
    raise fail(UNSUPPORTED_OP, "a number that is computed from data is not supported here")


def _int(value: Operand) -> int:
    found = numbers(value)[0]
    if not isinstance(found, int):
        raise fail(UNSUPPORTED_OP, "a number that is known is due here")
    return found


def plain(name: str) -> OnnxRule:
    """The rule `name` of the inputs alone."""
    return lambda e, x, _a: RULES[name](e, *(_tensor(one) for one in x))


def _tensor(value: Operand) -> Operand:
    """Sizes as a tensor, where they are used as one."""
    if isinstance(value, tuple) and all(isinstance(one, int) for one in value):
        return constant(np.array(value, np.int64))
    return value


def counted(name: str, on_sizes: Callable[[Size, Size], Operand]) -> OnnxRule:
    """The rule `name`; of sizes, and numbers that are known, it gives sizes."""

    def rule(e: Emitter, x: Sequence[Operand], a: Attributes) -> Operand:
        whole = [isinstance(one, relax.Constant) and one.dtype == INT64 for one in x]
        sizes = [isinstance(one, tuple | int | Value) for one in x]
        held = [one.data for one in x if isinstance(one, relax.Constant)]
        if all(whole) and not any((one < 0).any() for one in held):
            return constant(np.asarray(on_sizes(*held), np.int64))  # type: ignore[arg-type]
        if not any(sizes) or not all(map(operator.or_, whole, sizes)):
            return plain(name)(e, x, a)
        left, right = (numbers(one) for one in x)
        count = max(len(left), len(right))
        found = tuple(map(on_sizes, left * (count // len(left)), right * (count // len(right))))
        return found if any(isinstance(one, tuple) for one in x) else found[0]

    return rule


def many(rule: Rule) -> OnnxRule:
    """An operator of two, on any number of inputs."""

    def apply(e: Emitter, x: Sequence[Operand], _a: Attributes) -> Operand:
        found = x[0]
        for one in x[1:]:
            found = rule(e, found, one)
        return found

    return apply


def gemm(e: Emitter, x: Sequence[Operand], a: Attributes) -> Operand:
    """`alpha * a @ b + beta * c`, a and b turned over where it is said."""
    left, right = (RULES["t"](e, one) if a.get(key) else one for one, key in zip(x, ("transA", "transB"), strict=False))
    found = RULES["matmul"](e, left, right)
    found = found if a.get("alpha", 1.0) == 1.0 else RULES["mul"](e, found, a["alpha"])
    if len(x) == 2 or x[2] is None:
        return found
    return RULES["add"](e, found, x[2] if a.get("beta", 1.0) == 1.0 else RULES["mul"](e, x[2], a["beta"]))


def _pads(a: Attributes, rank: int) -> tuple[int, ...]:
    if a.get("auto_pad", "NOTSET") not in ("NOTSET", "VALID"):
        raise fail(UNSUPPORTED_OP, f"the padding {a['auto_pad']} is not supported: give `pads`")
    return tuple(a.get("pads", (0,) * (2 * rank)))  # type: ignore[arg-type]


def conv(e: Emitter, x: Sequence[Operand], a: Attributes) -> Operand:
    """A convolution, whose padding may differ at the two ends."""
    weight = x[1]
    rank = e.rank(weight) - 2
    names = {1: "OIW", 2: "OIHW", 3: "OIDHW"}
    ones = (1,) * rank
    found = e.call(
        f"nn.conv{rank}d",
        x[0],
        weight,
        strides=tuple(a.get("strides", ones)),  # type: ignore[arg-type]
        padding=_pads(a, rank),
        dilation=tuple(a.get("dilations", ones)),  # type: ignore[arg-type]
        groups=a.get("group", 1),  # type: ignore[arg-type]
        data_layout=LAYOUT[rank],
        kernel_layout=names[rank],
    )
    if len(x) == 2 or x[2] is None:
        return found
    bias = x[2]
    return RULES["add"](e, found, RULES["view"](e, bias, [1, -1, *ones]))


def pool(kind: str) -> OnnxRule:
    """A window over the last axes."""

    def rule(e: Emitter, x: Sequence[Operand], a: Attributes) -> Operand:
        rank = e.rank(x[0]) - 2
        ones = (1,) * rank
        extra = {"count_include_pad": bool(a.get("count_include_pad", 0))} if kind == "avg" else {}
        return e.call(
            f"nn.{kind}_pool{rank}d",
            x[0],
            pool_size=tuple(a["kernel_shape"]),  # type: ignore[arg-type]
            strides=tuple(a.get("strides", ones)),  # type: ignore[arg-type]
            padding=_pads(a, rank),
            dilation=tuple(a.get("dilations", ones)),  # type: ignore[arg-type]
            ceil_mode=bool(a.get("ceil_mode", 0)),
            layout=LAYOUT[rank],
            **extra,
        )

    return rule


def global_average(e: Emitter, x: Sequence[Operand], _a: Attributes) -> Operand:
    """The mean of every channel."""
    return e.call("mean", x[0], axis=tuple(range(2, e.rank(x[0]))), keepdims=True)


def batch_norm(e: Emitter, x: Sequence[Operand], a: Attributes) -> Operand:
    """Batch normalisation at inference."""
    return RULES["batch_norm"](e, *x[:5], a.get("training_mode", 0), 0.1, a.get("epsilon", 1e-5))


def layer_norm(e: Emitter, x: Sequence[Operand], a: Attributes) -> Operand:
    """The last axes, from `axis` on, normalised."""
    shape = e.shape(x[0])
    inner = shape[int(str(a.get("axis", -1))) :]
    return RULES["layer_norm"](e, x[0], inner, x[1], x[2] if len(x) > 2 else None, a.get("epsilon", 1e-5))


def reshape(e: Emitter, x: Sequence[Operand], _a: Attributes) -> Operand:
    """The elements in another shape; 0 keeps the extent at its place. Sizes and known numbers stay what they are."""
    if isinstance(x[0], tuple | int | Value):
        return tuple(numbers(x[0]))
    if isinstance(x[0], relax.Constant) and isinstance(x[1], relax.Constant):
        return constant(x[0].data.reshape([int(one) for one in x[1].data]), x[0].dtype)
    own = e.shape(x[0])
    wanted = [own[at] if isinstance(one, int) and one == 0 else one for at, one in enumerate(numbers(x[1]))]
    return RULES["view"](e, x[0], wanted)


def flatten(e: Emitter, x: Sequence[Operand], a: Attributes) -> Operand:
    """Two axes: what is before `axis`, and the rest."""
    shape, at = e.shape(x[0]), int(str(a.get("axis", 1)))
    return RULES["view"](e, x[0], [product(shape[:at]), product(shape[at:])])


def transpose(e: Emitter, x: Sequence[Operand], a: Attributes) -> Operand:
    """The axes in another order; turned around where none is said."""
    return RULES["permute"](e, x[0], list(a.get("perm", range(e.rank(x[0]))[::-1])))  # type: ignore[call-overload]


def axes(name: str) -> OnnxRule:
    """`squeeze` or `unsqueeze` of axes that are an input."""

    def rule(e: Emitter, x: Sequence[Operand], a: Attributes) -> Operand:
        if isinstance(x[0], tuple | int | Value):
            return x[0]  # sizes stay sizes
        given = numbers(x[1]) if len(x) > 1 else tuple(a.get("axes", ()))  # type: ignore[arg-type]
        if name == "squeeze":
            return RULES["squeeze"](e, x[0], *given)
        return e.call("expand_dims", x[0], axis=tuple(given))  # type: ignore[arg-type]

    return rule


def concat(e: Emitter, x: Sequence[Operand], a: Attributes) -> Operand:
    """Tensors, or sizes, one after the other."""
    if any(isinstance(one, tuple | int | Value) for one in x):
        return tuple(size for one in x for size in numbers(one))
    return RULES["cat"](e, list(x), a["axis"])


def gather(e: Emitter, x: Sequence[Operand], a: Attributes) -> Operand:
    """The places at indices along an axis; negative ones count from the end."""
    if isinstance(x[0], tuple):
        found = [x[0][int(str(one))] for one in numbers(x[1])]
        scalar = isinstance(x[1], relax.Constant) and x[1].data.ndim == 0
        return found[0] if scalar else tuple(found)
    axis, indices = int(str(a.get("axis", 0))), x[1]
    if isinstance(indices, relax.Constant) and (indices.data < 0).any():
        extent = e.shape(x[0])[axis]
        if isinstance(extent, int):
            indices = constant(np.where(indices.data < 0, indices.data + extent, indices.data).astype(np.int64))
    return e.call("take", x[0], indices, axis=axis)


def slice_(e: Emitter, x: Sequence[Operand], _a: Attributes) -> Operand:
    """A part along some axes."""
    starts, ends = numbers(x[1]), numbers(x[2])
    where = numbers(x[3]) if len(x) > 3 and x[3] is not None else tuple(range(len(starts)))
    steps = numbers(x[4]) if len(x) > 4 else (1,) * len(starts)
    if isinstance(x[0], tuple):
        return x[0][starts[0] : ends[0] : steps[0]]
    found = x[0]
    for axis, start, end, step in zip(where, starts, ends, steps, strict=True):
        found = RULES["slice"](e, found, axis, start, end, step)
    return found


def split(e: Emitter, x: Sequence[Operand], a: Attributes) -> Operand:
    """Parts along an axis: of the given sizes, or so many."""
    axis = a.get("axis", 0)
    if len(x) > 1:
        return RULES["split"](e, x[0], list(numbers(x[1])), axis)
    return RULES["chunk"](e, x[0], a.get("num_outputs", 2), axis)


def reduce(name: str) -> OnnxRule:
    """A reduction along axes; along all where none is said."""

    def rule(e: Emitter, x: Sequence[Operand], a: Attributes) -> Operand:
        given = numbers(x[1]) if len(x) > 1 and x[1] is not None else a.get("axes")
        found: tuple[int, ...] | None = None if given is None else tuple(given)  # type: ignore[arg-type]
        return e.call(name, x[0], axis=found, keepdims=bool(a.get("keepdims", 1)))

    return rule


def softmax(name: str) -> OnnxRule:
    """`softmax` along an axis."""
    return lambda e, x, a: RULES[name](e, x[0], a.get("axis", -1))


def cast(e: Emitter, x: Sequence[Operand], a: Attributes) -> Operand:
    """The elements in another dtype; sizes stay sizes."""
    found = x[0]
    return e.astype(found, DTYPES[int(str(a["to"]))]) if isinstance(found, relax.Expr) else found


def clip(e: Emitter, x: Sequence[Operand], _a: Attributes) -> Operand:
    """The element, brought between the two."""
    ends = [None if len(x) <= at or x[at] is None else _number(x[at]) for at in (1, 2)]
    return RULES["clamp"](e, x[0], *ends)


def filled(e: Emitter, x: Sequence[Operand], a: Attributes) -> Operand:
    """One number everywhere."""
    value = a.get("value")
    one = value if isinstance(value, relax.Constant) else constant(np.zeros(1, np.float32))
    return e.call("full", e.sizes(numbers(x[0])), constant(one.data.reshape(()), one.dtype), dtype=str(one.dtype))


def expand(e: Emitter, x: Sequence[Operand], _a: Attributes) -> Operand:
    """The tensor broadcast with a shape."""
    own, wanted = e.shape(x[0]), list(numbers(x[1]))
    wanted = [*(1,) * (len(own) - len(wanted)), *wanted]
    new = len(wanted) - len(own)
    full = [own[at - new] if one == 1 and at >= new else one for at, one in enumerate(wanted)]
    return e.call("broadcast_to", x[0], e.sizes(full))


def triangle(e: Emitter, x: Sequence[Operand], a: Attributes) -> Operand:
    """The upper or the lower triangle."""
    return RULES["triu" if a.get("upper", 1) else "tril"](e, x[0], _int(x[1]) if len(x) > 1 and x[1] is not None else 0)


def lstm(e: Emitter, x: Sequence[Operand], a: Attributes) -> Operand:
    """One layer, ONNX's order of the gates (input, output, forget, cell) brought to PyTorch's."""
    ways = 2 if a.get("direction", "forward") == "bidirectional" else 1
    if a.get("direction", "forward") == "reverse" or a.get("layout", 0) or len(x) > 7 or a.get("activations"):
        raise fail(UNSUPPORTED_OP, "an LSTM that is reversed, batch first, with peepholes or activations of its own")
    hidden, parameters = int(str(a["hidden_size"])), []
    for way in range(ways):
        weights = [_way(e, one, way) for one in x[1:3]]
        parameters += [_gates(e, one, hidden) for one in weights]
        if len(x) > 3 and x[3] is not None:
            both = RULES["split"](e, _way(e, x[3], way), 4 * hidden, 0)
            parameters += [_gates(e, RULES["getitem"](e, both, at), hidden) for at in range(2)]
    biases = len(parameters) == 4 * ways
    batch = e.shape(x[0])[1]
    zeros = RULES["zeros"](e, [ways, batch, hidden])
    start = [x[at] if len(x) > at and x[at] is not None else zeros for at in (5, 6)]
    out = RULES["lstm"](e, x[0], start, parameters, biases, 1, 0.0, False, ways == 2, False)
    y, *ends = (RULES["getitem"](e, out, at) for at in range(3))
    steps = e.shape(y)[0]
    apart = RULES["view"](e, y, [steps, batch, ways, hidden])
    return (RULES["permute"](e, apart, [0, 2, 1, 3]), *ends)


def _way(e: Emitter, x: Operand, way: int) -> Operand:
    return RULES["select"](e, x, 0, way)


def _gates(e: Emitter, x: Operand, hidden: int) -> Operand:
    parts = RULES["split"](e, x, hidden, 0)
    i, o, f, c = (RULES["getitem"](e, parts, at) for at in range(4))
    return RULES["cat"](e, [i, f, c, o], 0)


def gelu(e: Emitter, x: Sequence[Operand], a: Attributes) -> Operand:
    """`gelu`, by erf or by tanh."""
    return RULES["gelu"](e, x[0], a.get("approximate", "none"))


def range_(e: Emitter, x: Sequence[Operand], _a: Attributes) -> Operand:
    """The numbers from the first to before the second, by steps."""
    return e.call("arange", *(numbers(one)[0] for one in x), dtype="int64")


SAME_NAME = {
    **{one: one.lower() for one in ("Pow", "Exp", "Log", "Sqrt", "Neg", "Abs", "Floor")},
    **{one: one.lower() for one in ("Ceil", "Round", "Sign", "Erf", "Sin", "Cos", "Tan", "Tanh", "Sigmoid", "Relu")},
    "Reciprocal": "reciprocal",
    "MatMul": "matmul",
    "Where": "where",
    "Not": "logical_not",
    "Identity": "alias",
    "Equal": "eq",
    "Less": "lt",
    "LessOrEqual": "le",
    "Greater": "gt",
    "GreaterOrEqual": "ge",
    "And": "logical_and",
    "Or": "logical_or",
    "Xor": "logical_xor",
    "Softplus": "softplus",
    "PRelu": "prelu",
}

ONNX: Mapping[str, OnnxRule] = {
    **{theirs: plain(ours) for theirs, ours in SAME_NAME.items()},
    "Add": counted("add", operator.add),
    "Sub": counted("sub", operator.sub),
    "Mul": counted("mul", operator.mul),
    "Div": counted("div", operator.floordiv),
    "Mod": counted("remainder", operator.mod),
    "Identity": lambda _e, x, _a: x[0],
    "Dropout": lambda _e, x, _a: (x[0],),
    "Max": many(RULES["maximum"]),
    "Min": many(RULES["minimum"]),
    "Sum": many(RULES["add"]),
    "Gemm": gemm,
    "Conv": conv,
    "MaxPool": pool("max"),
    "AveragePool": pool("avg"),
    "GlobalAveragePool": global_average,
    "BatchNormalization": batch_norm,
    "LayerNormalization": layer_norm,
    "Softmax": softmax("softmax"),
    "LogSoftmax": softmax("log_softmax"),
    "LeakyRelu": lambda e, x, a: RULES["leaky_relu"](e, x[0], a.get("alpha", 0.01)),
    "Elu": lambda e, x, a: RULES["elu"](e, x[0], a.get("alpha", 1.0)),
    "Gelu": gelu,
    "HardSwish": plain("hardswish"),
    "Clip": clip,
    "Reshape": reshape,
    "Flatten": flatten,
    "Transpose": transpose,
    "Squeeze": axes("squeeze"),
    "Unsqueeze": axes("unsqueeze"),
    "Concat": concat,
    "Split": split,
    "Slice": slice_,
    "Gather": gather,
    "Expand": expand,
    "Tile": lambda e, x, _a: RULES["tile"](e, x[0], list(numbers(x[1]))),
    "Shape": lambda e, x, _a: e.shape(x[0]),
    "ConstantOfShape": filled,
    "Range": range_,
    "Trilu": triangle,
    "Cast": cast,
    "ReduceMean": reduce("mean"),
    "ReduceSum": reduce("sum"),
    "ReduceMax": reduce("max"),
    "ReduceMin": reduce("min"),
    "ReduceProd": reduce("prod"),
    "ArgMax": lambda e, x, a: RULES["argmax"](e, x[0], a.get("axis", 0), a.get("keepdims", 1)),
    "CumSum": lambda e, x, _a: RULES["cumsum"](e, x[0], _int(x[1])),
    "LSTM": lstm,
    "IsNaN": plain("isnan"),
}
