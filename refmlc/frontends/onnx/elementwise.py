"""Elementwise operators of ONNX. Both operands have one dtype, unless a line says otherwise: nothing is promoted."""

from collections.abc import Callable, Mapping

import numpy as np

from refmlc.diag import fail
from refmlc.diag.catalogue import BAD_INPUT, UNSUPPORTED_OP
from refmlc.frontends.aten import RULES as ATEN
from refmlc.frontends.aten.nans import of_two, own_nan
from refmlc.frontends.emitter import Emitter, Operand, Size
from refmlc.frontends.onnx.constant_values import SymbolicArray, is_symbolic, known
from refmlc.frontends.onnx.node import Node
from refmlc.frontends.rule import Rule
from refmlc.lang.dtypes import SCALARS
from refmlc.lang.ir import relax

OnnxRule = Callable[[Node], Operand]


def call(name: str) -> OnnxRule:
    """The operator `name` of Relax on all inputs."""
    return lambda node: node.e.call(name, *node.tensors())


def aten(name: str) -> OnnxRule:
    """The rule of PyTorch's operator `name` on all inputs."""
    return lambda node: ATEN[name](node.e, *node.tensors())


def is_half(dtype: str) -> bool:
    """Whether sums of a dtype are made in float32 and rounded once at the end."""
    return dtype in ("float16", "bfloat16")


def on_sizes(name: str, compute: Callable[[Size, Size], Size]) -> OnnxRule:
    """The operator `name` of Relax; symbolic extents are computed while the graph is imported."""

    def rule(node: Node) -> Operand:
        left, right = node.input(0), node.input(1)
        a, b = known(left), known(right)
        if a is None or b is None or not (is_symbolic(left) or is_symbolic(right)):
            return node.e.call(name, node.tensor(0), node.tensor(1))
        broadcast = np.broadcast(a, b)
        items = np.empty(broadcast.shape, object)
        for place, (item, other) in enumerate(broadcast):
            items.ravel()[place] = compute(item, other)
        return SymbolicArray(items)

    return rule


def many(name: str) -> OnnxRule:
    """An operator of two, from the first input to the last."""

    def rule(node: Node) -> Operand:
        first, *others = node.tensors()
        for other in others:
            first = node.e.call(name, first, other)
        return first

    return rule


def extreme_of_many(name: str) -> OnnxRule:
    """The greatest or least of all inputs; NaN where one of them is NaN."""

    def rule(node: Node) -> Operand:
        first, *others = node.tensors()
        for other in others:
            first = of_two(node.e, name, first, other)
        return first

    return rule


def keeping_nan(name: str) -> OnnxRule:
    """An operator of one tensor that drops NaN, which stays."""
    return lambda node: own_nan(node.e, node.tensor(0), node.e.call(name, node.tensor(0)))


def mean(node: Node) -> Operand:
    """The sum of all inputs, divided by their number."""
    total = many("add")(node)
    assert isinstance(total, relax.Expr)  # noqa: S101 - `many` gives an expression
    return node.e.call("divide", total, node.e.scalar(float(len(node)), node.e.dtype(total)))


def modulo(node: Node) -> Operand:
    """The remainder: with `fmod` the sign is the dividend's, else the divisor's, as in Python.

    Of floats, the exact remainder is moved by one divisor where the signs differ: `-1 mod inf` is `inf`.
    """
    e, x, y = node.e, node.tensor(0), node.tensor(1)
    dtype = e.dtype(x)
    if node.whole("fmod", 0):
        return e.call("mod", x, y)
    if SCALARS[dtype].is_integer:
        return e.call("floor_mod", x, y)
    rest, zero = e.call("mod", x, y), e.scalar(0.0, dtype)
    divisor_below = e.call("less", y, zero)
    differ = e.call("not_equal", e.call("less", rest, zero), divisor_below)
    shifted = e.call("where", differ, e.call("add", rest, y), rest)
    signed_zero = e.call("where", divisor_below, e.scalar(-0.0, dtype), zero)
    return e.call("where", e.call("equal", rest, zero), signed_zero, shifted)


def power(node: Node) -> Operand:
    """`base ** exponent` in the dtype of the base; of int64 by squares, other integers and mixed pairs by float64.

    Decision: a negative exponent of an integer gives 0, of 1 and -1 these; a power beyond 64 bits is undefined.
    """
    e, base, exponent = node.e, node.tensor(0), node.tensor(1)
    dtype, other = e.dtype(base), e.dtype(exponent)
    if dtype == other and not SCALARS[dtype].is_integer:
        return e.call("power", base, exponent)
    if dtype in ("int64", "uint64") and SCALARS[other].is_integer:
        return _by_squares(e, base, exponent)
    wide = e.call("power", e.astype(base, "float64"), e.astype(exponent, "float64"))
    return e.astype(wide, dtype)


def _by_squares(e: Emitter, base: relax.Expr, exponent: relax.Expr) -> relax.Expr:
    """A power of 64 bits, one bit of the exponent after the other. Of an exponent of 64 or more, its parity counts."""
    dtype = e.dtype(base)
    numbers = {number: e.scalar(number, dtype) for number in (0, 1, 2, 64, 65)}
    values = e.astype(exponent, dtype)
    odd = e.call("bitwise_and", values, numbers[1])
    bits = e.call("where", e.call("greater", values, numbers[65]), e.call("add", numbers[64], odd), values)
    bits = e.call("where", e.call("less", bits, numbers[0]), numbers[0], bits)
    square, result = base, numbers[1]
    for _ in range(7):
        last = e.call("equal", e.call("bitwise_and", bits, numbers[1]), numbers[0])
        result = e.call("multiply", result, e.call("where", last, numbers[1], square))
        bits = e.call("right_shift", bits, numbers[1])
        left = e.call("greater", bits, numbers[0])
        square = e.call("where", left, square, numbers[1])  # a square that nobody needs may overflow
        square = e.call("multiply", square, square)
    size = e.call("abs", base) if dtype == "int64" else base
    unit = e.call("where", e.call("equal", odd, numbers[0]), size, base)
    inverse = e.call("where", e.call("less", size, numbers[2]), unit, numbers[0])
    return e.call("where", e.call("less", values, numbers[0]), inverse, result)


def shift(node: Node) -> Operand:
    """Bits shifted to the left or right; beyond the width nothing is left, or copies of the sign."""
    e, x, count = node.e, node.tensor(0), node.tensor(1)
    dtype, direction = e.dtype(x), node.text("direction", "")
    if not SCALARS[dtype].is_integer or direction not in ("LEFT", "RIGHT"):
        raise fail(BAD_INPUT, f"`BitShift` of {dtype} in the direction `{direction}`")
    signed = not dtype.startswith("uint")
    inside = e.call("less", count, e.scalar(SCALARS[dtype].bits, dtype))
    rest: relax.Expr = e.scalar(0, dtype)
    if signed:
        inside = e.call("logical_and", inside, e.call("greater_equal", count, e.scalar(0, dtype)))
        if direction == "RIGHT":
            rest = e.call("where", e.call("less", x, e.scalar(0, dtype)), e.scalar(-1, dtype), rest)
    field = e.call("where", inside, count, e.scalar(0, dtype))
    shifted: relax.Expr
    if direction == "RIGHT":
        shifted = e.call("right_shift", x, field)
    else:
        plain = dtype if not signed else f"u{dtype}"
        shifted = e.astype(e.call("left_shift", e.astype(x, plain), e.astype(field, plain)), dtype)
    return e.call("where", inside, shifted, rest)


def clip(node: Node) -> Operand:
    """The element, brought between two tensors; NaN stays."""
    e, x = node.e, node.tensor(0)
    low, high = node.optional(1), node.optional(2)
    if low is not None:
        x = of_two(e, "maximum", x, low)
    return x if high is None else of_two(e, "minimum", x, high)


def prelu(node: Node) -> Operand:
    """`x` where it is not negative, else `slope * x`, the slope broadcast."""
    e, x, slope = node.e, node.tensor(0), node.tensor(1)
    negative = e.call("less", x, e.scalar(0, e.dtype(x)))
    return e.call("where", negative, e.call("multiply", slope, x), x)


def prelu_of_channels(node: Node) -> Operand:
    """The same before version 7: a slope for each channel, or one for all."""
    e, x, slope = node.e, node.tensor(0), node.tensor(1)
    sizes = e.shape(slope)
    if len(sizes) == 1 and sizes != (1,) and e.rank(x) > 1:
        slope = e.reshape(slope, [-1, *(1,) * (e.rank(x) - 2)])
    negative = e.call("less", x, e.scalar(0, e.dtype(x)))
    return e.call("where", negative, e.call("multiply", slope, x), x)


def is_infinite(node: Node) -> Operand:
    """True for infinite elements of the selected signs."""
    e, x = node.e, node.tensor(0)
    positive, negative = node.whole("detect_positive", 1), node.whole("detect_negative", 1)
    result = e.call("isinf", x)
    zero = e.scalar(0, e.dtype(x))
    if not positive:
        result = e.call("logical_and", result, e.call("less", x, zero))
    return result if negative else e.call("logical_and", result, e.call("greater", x, zero))


def gelu(node: Node) -> Operand:
    """`gelu`, by erf or by tanh."""
    mode = node.text("approximate", "none")
    if mode not in ("none", "tanh"):
        raise fail(UNSUPPORTED_OP, f"the approximation `{mode}` of `Gelu` is not supported")
    return ATEN["gelu"](node.e, node.tensor(0), mode)


def with_number(rule: Rule, **defaults: float) -> OnnxRule:
    """A rule of PyTorch that takes numbers, which are attributes in ONNX."""
    return lambda node: rule(node.e, node.tensor(0), *(node.real(name, value) for name, value in defaults.items()))


def wide(rule: OnnxRule) -> OnnxRule:
    """A formula of several roundings: of float16 and bfloat16 in float32, rounded once, as runtimes of ONNX do."""

    def in_float32(node: Node) -> Operand:
        dtype = node.e.dtype(node.tensor(0))
        if not is_half(dtype):
            return rule(node)
        result = rule(node.converted("float32"))
        assert isinstance(result, relax.Expr)  # noqa: S101 - a formula gives one tensor
        return node.e.astype(result, dtype)

    return in_float32


def celu(node: Node) -> Operand:
    """`max(0, x) + min(0, alpha * (exp(x / alpha) - 1))`."""
    e, x, alpha = node.e, node.tensor(0), node.real("alpha", 1.0)
    dtype = e.dtype(x)
    zero, factor = e.scalar(0, dtype), e.scalar(alpha, dtype)
    grown = e.call("subtract", e.call("exp", e.call("divide", x, factor)), e.scalar(1, dtype))
    low = e.call("minimum", zero, e.call("multiply", factor, grown))
    return e.call("add", e.call("maximum", zero, x), low)


def selu(node: Node) -> Operand:
    """`gamma * (alpha * exp(x) - alpha)` where x is not positive, else `gamma * x`."""
    e, x = node.e, node.tensor(0)
    dtype = e.dtype(x)
    alpha = e.scalar(node.real("alpha", 1.67326319217681884765625), dtype)
    gamma = e.scalar(node.real("gamma", 1.05070102214813232421875), dtype)
    low = e.call("subtract", e.call("multiply", alpha, e.call("exp", x)), alpha)
    positive = e.call("greater", x, e.scalar(0, dtype))
    return e.call("multiply", gamma, e.call("where", positive, x, low))


def thresholded_relu(node: Node) -> Operand:
    """`x` where it is above `alpha`, else 0."""
    e, x = node.e, node.tensor(0)
    dtype = e.dtype(x)
    above = e.call("greater", x, e.scalar(node.real("alpha", 1.0), dtype))
    return e.call("where", above, x, e.scalar(0, dtype))


def hard_sigmoid(node: Node) -> Operand:
    """`max(0, min(1, alpha * x + beta))`."""
    e, x = node.e, node.tensor(0)
    dtype = e.dtype(x)
    scaled = e.call("multiply", x, e.scalar(node.real("alpha", 0.2), dtype))
    line = e.call("add", scaled, e.scalar(node.real("beta", 0.5), dtype))
    return e.call("maximum", e.scalar(0, dtype), e.call("minimum", e.scalar(1, dtype), line))


def shrink(node: Node) -> Operand:
    """`x + bias` below `-lambd`, `x - bias` above `lambd`, else 0."""
    e, x = node.e, node.tensor(0)
    dtype = e.dtype(x)
    edge, bias = node.real("lambd", 0.5), e.scalar(node.real("bias", 0.0), dtype)
    below, above = e.call("less", x, e.scalar(-edge, dtype)), e.call("greater", x, e.scalar(edge, dtype))
    high = e.call("where", above, e.call("subtract", x, bias), e.scalar(0, dtype))
    return e.call("where", below, e.call("add", x, bias), high)


def softsign(node: Node) -> Operand:
    """`x / (1 + |x|)`."""
    e, x = node.e, node.tensor(0)
    return e.call("divide", x, e.call("add", e.scalar(1, e.dtype(x)), e.call("abs", x)))


def reciprocal(node: Node) -> Operand:
    """`1 / x`."""
    e, x = node.e, node.tensor(0)
    return e.call("divide", e.scalar(1, e.dtype(x)), x)


def dropout(node: Node) -> Operand:
    """The input, at inference; the mask of training mode is all true then."""
    e, x = node.e, node.tensor(0)
    node.input(1)  # the ratio counts in training only
    node.take("seed")
    if node.number(2) and node.number(1) != 0:
        raise fail(UNSUPPORTED_OP, "`Dropout` in training mode is not supported: it is random")
    mask = e.call("full", e.sizes(e.shape(x)), e.scalar(True, "bool"), dtype="bool") if node.wants(1) else None
    return x, mask


ELEMENTWISE: Mapping[str, OnnxRule] = {
    **{
        name: call(name.lower())
        for name in (
            *("Exp", "Log", "Sqrt", "Abs", "Floor", "Ceil", "Erf", "Sin", "Cos", "Tan", "Sinh", "Cosh", "Tanh"),
            *(
                "Asin",
                "Acos",
                "Atan",
                "Asinh",
                "Acosh",
                "Atanh",
                "Sigmoid",
                "Where",
                "Equal",
                "Less",
                "Greater",
                "IsNaN",
            ),
        )
    },
    "Neg": call("negative"),
    "Sign": keeping_nan("sign"),
    "Relu": keeping_nan("nn.relu"),
    "Round": aten("round"),
    "Softplus": wide(aten("softplus")),
    "HardSwish": wide(aten("hardswish")),
    "Not": call("logical_not"),
    "And": call("logical_and"),
    "Or": call("logical_or"),
    "Xor": call("logical_xor"),
    "BitwiseAnd": call("bitwise_and"),
    "BitwiseOr": call("bitwise_or"),
    "BitwiseXor": call("bitwise_xor"),
    "BitwiseNot": call("bitwise_not"),
    "LessOrEqual": call("less_equal"),
    "GreaterOrEqual": call("greater_equal"),
    "Add": on_sizes("add", lambda a, b: a + b),
    "Sub": on_sizes("subtract", lambda a, b: a - b),
    "Mul": on_sizes("multiply", lambda a, b: a * b),
    "Div": on_sizes("divide", lambda a, b: a // b),
    "Mod": modulo,
    "Pow": power,
    "BitShift": shift,
    "Max": extreme_of_many("maximum"),
    "Min": extreme_of_many("minimum"),
    "Sum": many("add"),
    "Mean": mean,
    "Clip": clip,
    "PRelu": prelu,
    "IsInf": is_infinite,
    "Gelu": wide(gelu),
    "LeakyRelu": with_number(ATEN["leaky_relu"], alpha=0.01),
    "Elu": wide(with_number(ATEN["elu"], alpha=1.0)),
    "Celu": wide(celu),
    "Selu": wide(selu),
    "ThresholdedRelu": thresholded_relu,
    "HardSigmoid": wide(hard_sigmoid),
    "Shrink": wide(shrink),
    "Softsign": wide(softsign),
    "Reciprocal": reciprocal,
    "Identity": lambda node: node.input(0),
    "Dropout": dropout,
}
