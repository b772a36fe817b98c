"""Elementwise operators of ONNX. Both operands have one dtype, unless a line says otherwise: nothing is promoted."""

from collections.abc import Callable, Mapping

import numpy as np

from refmlc.diag import fail
from refmlc.diag.catalogue import UNSUPPORTED_OP
from refmlc.frontends.aten import RULES as ATEN
from refmlc.frontends.emitter import Emitter, Operand, Size
from refmlc.frontends.onnx.arrays import DTYPES
from refmlc.frontends.onnx.constant_values import SymbolicArray, is_symbolic, known
from refmlc.frontends.onnx.node import Node
from refmlc.frontends.rule import Rule
from refmlc.lang.dtypes import SCALARS
from refmlc.lang.ir import relax

OnnxRule = Callable[[Node], Operand]
EXACT_POWERS = 32
UNSATURATED = frozenset({"float8_e4m3fn", "float8_e4m3fnuz", "float8_e5m2", "float8_e5m2fnuz"})


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
        for place, (one, other) in enumerate(broadcast):
            items.ravel()[place] = compute(one, other)
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
    moved = e.call("where", differ, e.call("add", rest, y), rest)
    signed_zero = e.call("where", divisor_below, e.scalar(-0.0, dtype), zero)
    return e.call("where", e.call("equal", rest, zero), signed_zero, moved)


def power(node: Node) -> Operand:
    """`base ** exponent` in the dtype of the base; integers and mixed pairs by float64, which holds 32 bits exactly."""
    e, base, exponent = node.e, node.tensor(0), node.tensor(1)
    dtype, other = e.dtype(base), e.dtype(exponent)
    if dtype == other and not SCALARS[dtype].is_integer:
        return e.call("power", base, exponent)
    if SCALARS[dtype].is_integer and SCALARS[dtype].bits > EXACT_POWERS:
        raise fail(UNSUPPORTED_OP, f"`Pow` of {dtype} is not supported: float64 does not hold its powers")
    wide = e.call("power", e.astype(base, "float64"), e.astype(exponent, "float64"))
    return e.astype(wide, dtype)


def shift(node: Node) -> Operand:
    """Bits shifted to the left or right; beyond the width nothing is left."""
    e, x, count = node.e, node.tensor(0), node.tensor(1)
    dtype = e.dtype(x)
    if not dtype.startswith("uint"):
        raise fail(UNSUPPORTED_OP, f"`BitShift` of {dtype} is not supported: signed integers")
    direction = node.text("direction", "")
    if direction not in ("LEFT", "RIGHT"):
        raise fail(UNSUPPORTED_OP, f"the direction `{direction}` of `BitShift` is not supported")
    width = e.scalar(SCALARS[dtype].bits, dtype)
    inside = e.call("less", count, width)
    shifted = e.call(
        "left_shift" if direction == "LEFT" else "right_shift",
        x,
        e.call("where", inside, count, e.scalar(0, dtype)),
    )
    return e.call("where", inside, shifted, e.scalar(0, dtype))


def clip(node: Node) -> Operand:
    """The element, brought between two tensors; NaN stays."""
    e, x = node.e, node.tensor(0)
    low, high = node.optional(1), node.optional(2)
    if low is not None:
        x = e.call("maximum", x, low)
    return x if high is None else e.call("minimum", x, high)


def cast(node: Node) -> Operand:
    """The elements in the dtype of `to`; sizes stay sizes."""
    to = node.whole("to", 0)
    if to not in DTYPES:
        raise fail(UNSUPPORTED_OP, f"the dtype number {to} of `Cast` is not supported")
    return _converted(node, DTYPES[to])


def cast_like(node: Node) -> Operand:
    """The elements in the dtype of the second input."""
    return _converted(node, node.e.dtype(node.tensor(1)))


def _converted(node: Node, dtype: str) -> Operand:
    value, saturate, mode = node.input(0), node.whole("saturate", 1), node.text("round_mode", "up")
    if isinstance(value, SymbolicArray) and dtype in ("int64", "int32"):
        return SymbolicArray(value.items, SCALARS[dtype])
    e, x = node.e, node.tensor(0)
    own = e.dtype(x)
    if "e8m0" in dtype and mode != "nearest":
        raise fail(UNSUPPORTED_OP, f"the rounding mode `{mode}` of `Cast` is not supported")
    if dtype.startswith(("int", "uint")) and SCALARS[dtype].bits < 8 and own.startswith(("float", "bfloat")):
        raise fail(UNSUPPORTED_OP, f"`Cast` of {own} to {dtype} is not supported: ONNX leaves its rounding open")
    if saturate and dtype in UNSATURATED and own.startswith(("float", "bfloat")):
        x = _saturated(e, x, dtype)
    return e.astype(x, dtype)


def _saturated(e: Emitter, x: relax.Expr, dtype: str) -> relax.Expr:
    """The elements brought into the range of `dtype`: beyond it, the greatest finite number."""
    greatest = SCALARS[dtype].format.maximum
    own = e.dtype(x)
    below = e.call("less", x, e.scalar(-greatest, own))
    above = e.call("greater", x, e.scalar(greatest, own))
    x = e.call("where", below, e.scalar(-greatest, own), x)
    return e.call("where", above, e.scalar(greatest, own), x)


def prelu(node: Node) -> Operand:
    """`x` where it is not negative, else `slope * x`, the slope broadcast."""
    e, x, slope = node.e, node.tensor(0), node.tensor(1)
    negative = e.call("less", x, e.scalar(0, e.dtype(x)))
    return e.call("where", negative, e.call("multiply", slope, x), x)


def is_infinite(node: Node) -> Operand:
    """True for infinite elements of the selected signs."""
    e, x = node.e, node.tensor(0)
    positive, negative = node.whole("detect_positive", 1), node.whole("detect_negative", 1)
    found = e.call("isinf", x)
    zero = e.scalar(0, e.dtype(x))
    if not positive:
        found = e.call("logical_and", found, e.call("less", x, zero))
    return found if negative else e.call("logical_and", found, e.call("greater", x, zero))


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
            *("Exp", "Log", "Sqrt", "Abs", "Floor", "Ceil", "Sign", "Erf", "Sin", "Cos", "Tan", "Sinh", "Cosh", "Tanh"),
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
    "Relu": call("nn.relu"),
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
    "Max": many("maximum"),
    "Min": many("minimum"),
    "Sum": many("add"),
    "Mean": mean,
    "Clip": clip,
    "Cast": cast,
    "CastLike": cast_like,
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
