"""One operand: functions of each element, activations, conversions."""

import math
from collections.abc import Mapping

from refmlc.diag import fail
from refmlc.diag.catalogue import UNSUPPORTED_OP
from refmlc.frontends.arrays import dtype_name
from refmlc.frontends.aten.arithmetic import brought, converted, floating, kind_of
from refmlc.frontends.aten.nans import own_nan
from refmlc.frontends.emitter import Emitter, Operand
from refmlc.frontends.rule import Rule
from refmlc.lang.dtypes import SCALARS
from refmlc.lang.ir import relax

FLOATS = kind_of("float32")


def mapped(name: str) -> Rule:
    """`R.name` of each element."""
    return lambda e, x: e.call(name, x)


def real(name: str) -> Rule:
    """`R.name` of each element, integers being taken as float32."""

    def rule(e: Emitter, x: relax.Expr) -> relax.Expr:
        return e.call(name, x if kind_of(e.dtype(x)) == FLOATS else e.astype(x, "float32"))

    return rule


def rounded(e: Emitter, x: relax.Expr, *, decimals: int = 0) -> relax.Expr:
    """The nearest multiple of `10**-decimals`, as PyTorch computes it: of the element times, or by, a power of ten."""
    if kind_of(e.dtype(x)) != FLOATS and decimals >= 0:
        return x
    if decimals == 0:
        return e.call("round", x)
    scale = e.scalar(10.0 ** abs(decimals), e.dtype(x))
    there, back = ("multiply", "divide") if decimals > 0 else ("divide", "multiply")
    return e.call(back, e.call("round", e.call(there, x, scale)), scale)


def negated(e: Emitter, x: relax.Expr) -> relax.Expr:
    """The element with the other sign; of unsigned integers it wraps."""
    unsigned = e.dtype(x).startswith("uint")
    return e.call("subtract", e.scalar(0, e.dtype(x)), x) if unsigned else e.call("negative", x)


def same(_e: Emitter, x: Operand) -> Operand:
    """The operand itself: copies, dropout at inference, layouts in memory."""
    return x


def nothing(_e: Emitter, *_args: Operand, **_named: Operand) -> Operand:
    """No value: PyTorch checks there what its export has assumed, and the types here say it."""
    return None


def relu(e: Emitter, x: relax.Expr) -> relax.Expr:
    """The element, or 0 where it is negative."""
    return own_nan(e, x, e.call("nn.relu", x))


def leaky_relu(e: Emitter, x: relax.Expr, negative_slope: float = 0.01) -> relax.Expr:
    """The element, times the slope where it is negative."""
    return e.call("nn.leakyrelu", x, alpha=float(negative_slope))


def prelu(e: Emitter, x: relax.Expr, weight: relax.Expr) -> relax.Expr:
    """The element, times the weight of its channel, or the only one, where it is negative."""
    axis = 1 if e.rank(x) > 1 else 0
    if e.shape(weight) in ((), (1,)):
        scaled = e.call("multiply", x, e.reshape(weight, []))
        return e.call("where", e.call("greater", x, e.scalar(0, e.dtype(x))), x, scaled)
    return e.call("nn.prelu", x, weight, axis=axis)


def gelu(e: Emitter, x: relax.Expr, approximate: str = "none") -> relax.Expr:
    """The element times the chance of a smaller one in the normal distribution; by erf, or by tanh."""
    return e.call("nn.gelu_tanh" if approximate == "tanh" else "nn.gelu", x)


def silu(e: Emitter, x: relax.Expr) -> relax.Expr:
    """The element times its sigmoid."""
    return e.call("nn.silu", x)


def hardtanh(e: Emitter, x: relax.Expr, min_val: Operand = -1.0, max_val: Operand = 1.0) -> relax.Expr:
    """The element, brought between the two."""
    dtype = e.dtype(x)
    return own_nan(e, x, e.call("minimum", e.call("maximum", x, e.scalar(min_val, dtype)), e.scalar(max_val, dtype)))


def hardsigmoid(e: Emitter, x: relax.Expr) -> relax.Expr:
    """`clamp(x + 3, 0, 6) / 6`."""
    dtype = e.dtype(x)
    return e.call("divide", hardtanh(e, e.call("add", x, e.scalar(3, dtype)), 0.0, 6.0), e.scalar(6, dtype))


def hardswish(e: Emitter, x: relax.Expr) -> relax.Expr:
    """`x * clamp(x + 3, 0, 6) / 6`."""
    dtype = e.dtype(x)
    gate = hardtanh(e, e.call("add", x, e.scalar(3, dtype)), 0.0, 6.0)
    return e.call("divide", e.call("multiply", x, gate), e.scalar(6, dtype))


def elu(
    e: Emitter, x: relax.Expr, alpha: Operand = 1.0, scale: Operand = 1.0, input_scale: Operand = 1.0
) -> relax.Expr:
    """The element times `scale`, or `scale * alpha * (exp(x * input_scale) - 1)` where it is negative."""
    dtype = e.dtype(x)
    power = e.call("exp", e.call("multiply", x, e.scalar(input_scale, dtype)))
    below = e.call("multiply", e.call("subtract", power, e.scalar(1, dtype)), e.scalar(alpha, dtype))
    result = e.call("where", e.call("greater", x, e.scalar(0, dtype)), x, below)
    return e.call("multiply", result, e.scalar(scale, dtype))


def softplus(e: Emitter, x: relax.Expr, beta: float = 1, threshold: float = 20) -> relax.Expr:
    """`log(1 + exp(beta * x)) / beta`; the element itself above the threshold."""
    return e.call("nn.softplus", x, beta=float(beta), threshold=float(threshold))


def expm1(e: Emitter, x: relax.Expr) -> relax.Expr:
    """`exp(x) - 1`, near 0 too: `(u - 1) * x / log(u)` with `u = exp(x)`, the rounding of `u` falls out."""
    x = floating(e, x)
    one = e.scalar(1, e.dtype(x))
    power = e.call("exp", x)
    less, logarithm = e.call("subtract", power, one), e.call("log", power)
    near = e.call("less", e.call("abs", x), one)
    steady = e.call("logical_and", near, e.call("not_equal", power, one))
    scaled = e.call("multiply", less, e.call("divide", x, e.call("where", steady, logarithm, one)))
    return e.call("where", e.call("equal", power, one), x, e.call("where", steady, scaled, less))


def log1p(e: Emitter, x: relax.Expr) -> relax.Expr:
    """`log(1 + x)`, near 0 too: `log(u) * x / (u - 1)` with `u = 1 + x`, the rounding of `u` falls out."""
    x = floating(e, x)
    one = e.scalar(1, e.dtype(x))
    more = e.call("add", x, one)
    near = e.call("logical_and", e.call("less", e.call("abs", x), one), e.call("not_equal", more, one))
    share = e.call("divide", x, e.call("where", near, e.call("subtract", more, one), one))
    scaled = e.call("multiply", e.call("log", more), share)
    return e.call("where", e.call("equal", more, one), x, e.call("where", near, scaled, e.call("log", more)))


def tested(name: str, *, of_integers: bool) -> Rule:
    """`R.name` of floats, a test of each; of integers the answer is the same for all."""

    def rule(e: Emitter, x: relax.Expr) -> relax.Expr:
        if kind_of(e.dtype(x)) == FLOATS:
            return e.call(name, x)
        return e.call("full", e.sizes(e.shape(x)), e.scalar(of_integers, "bool"), dtype="bool")

    return rule


def on_floats(name: str) -> Rule:
    """`R.name` of floats; integers stay what they are."""
    return lambda e, x: e.call(name, x) if kind_of(e.dtype(x)) == FLOATS else x


def log_to(base: float) -> Rule:
    """The logarithm to another base: a quotient of natural ones."""

    def rule(e: Emitter, x: relax.Expr) -> relax.Expr:
        floats = brought(e, x, e.dtype(x) if kind_of(e.dtype(x)) == FLOATS else "float32")
        return e.call("divide", e.call("log", floats), e.scalar(math.log(base), e.dtype(floats)))

    return rule


def reciprocal(e: Emitter, x: relax.Expr) -> relax.Expr:
    """`1 / x`."""
    x = floating(e, x)
    return e.call("divide", brought(e, 1.0, e.dtype(x)), x)


def bitwise_not(e: Emitter, x: relax.Expr) -> relax.Expr:
    """The bits turned over; for bool what is not."""
    return e.call("logical_not" if e.dtype(x) == "bool" else "bitwise_not", x)


def convert(e: Emitter, x: relax.Expr, *values: Operand, dtype: Operand = None) -> relax.Expr:
    """The elements in another dtype; devices and layouts in memory mean nothing here."""
    target = dtype if dtype is not None else next((item for item in values if _is_dtype(item)), None)
    if target is None and values and isinstance(values[0], relax.Expr):
        return converted(e, x, e.dtype(values[0]))
    return x if target is None else converted(e, x, dtype_name(target))


def _is_dtype(value: Operand) -> bool:
    """Whether it is a dtype of PyTorch, or the name of one that a graph asked a tensor for."""
    return str(value).startswith("torch.") or (isinstance(value, str) and value in SCALARS)


def to(name: str) -> Rule:
    """The elements in `name`."""
    return lambda e, x: converted(e, x, name)


def dropout(_e: Emitter, x: relax.Expr, p: Operand = 0.5, train: Operand = False) -> Operand:
    """The operand itself: a model is imported for inference. Fails: RM501 for one in training."""
    if train and p:
        raise fail(UNSUPPORTED_OP, "dropout in training is random: call `model.eval()` before the export")
    return x


SAME = (
    *("clone", "contiguous", "detach", "detach_", "lift_fresh_copy", "alias", "lift_fresh", "pin_memory"),
    *("requires_grad_", "cpu", "cuda"),
)
CHECKS = (
    *("_assert_tensor_metadata", "_assert_async", "_assert_scalar", "sym_constrain_range_for_size"),
    "sym_constrain_range",
)
REAL = (
    *("exp", "log", "sqrt", "rsqrt", "sin", "cos", "tan", "sinh", "cosh", "tanh", "asin", "acos"),
    *("atan", "asinh", "acosh", "atanh", "sigmoid", "erf"),
)

ELEMENTWISE: Mapping[str, Rule] = {
    **dict.fromkeys(SAME, same),
    **dict.fromkeys(CHECKS, nothing),
    **{name: real(name) for name in REAL},
    **{name: on_floats(name) for name in ("floor", "ceil", "trunc")},
    **{name: mapped(name) for name in ("sign", "abs")},
    "isnan": tested("isnan", of_integers=False),
    "isinf": tested("isinf", of_integers=False),
    "isfinite": tested("isfinite", of_integers=True),
    "round": rounded,
    "neg": negated,
    "square": mapped("square"),
    "logical_not": lambda e, x: e.call("logical_not", brought(e, x, "bool")),
    "bitwise_not": bitwise_not,
    "invert": bitwise_not,
    "reciprocal": reciprocal,
    "expm1": expm1,
    "log1p": log1p,
    "log2": log_to(2.0),
    "log10": log_to(10.0),
    "relu": relu,
    "relu_": relu,
    "relu6": lambda e, x: hardtanh(e, x, 0.0, 6.0),
    "leaky_relu": leaky_relu,
    "gelu": gelu,
    "silu": silu,
    "hardtanh": hardtanh,
    "hardsigmoid": hardsigmoid,
    "hardswish": hardswish,
    "elu": elu,
    "softplus": softplus,
    "prelu": prelu,
    "dropout": dropout,
    "native_dropout": lambda e, x, p, train: (dropout(e, x, p, train),),
    "feature_dropout": dropout,
    "prims.convert_element_type": convert,
    "to": convert,
    "_to_copy": convert,
    "type_as": lambda e, x, other: converted(e, x, e.dtype(other)),
    "float": to("float32"),
    "half": to("float16"),
    "double": to("float64"),
    "long": to("int64"),
    "int": to("int32"),
    "bool": to("bool"),
}
