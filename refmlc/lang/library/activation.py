"""Activations of neural networks, element by element. The dtype is a float but for `nn.relu`; it is kept.

| operator                 | the element x becomes                                                        |
|--------------------------|------------------------------------------------------------------------------|
| `nn.relu`                | `max(x, 0)`                                                                  |
| `nn.leakyrelu`           | x above 0, else `x * alpha`                                                  |
| `nn.prelu`               | the same, `alpha` being a tensor along an axis                               |
| `nn.gelu`                | `x * (0.5 + erf(x * sqrt(0.5)) * 0.5)`                                       |
| `nn.gelu_tanh`           | `0.5 * x * (1 + tanh(sqrt(2 / pi) * x * (1 + 0.044715 * x * x)))`            |
| `nn.silu`                | `x * sigmoid(x)`                                                             |
| `nn.selu`                | `scale * (max(x, 0) + min(0, alpha * (exp(x) - 1)))`                         |
| `nn.softplus`            | `log(1 + exp(x * beta)) / beta`; x above the threshold                       |
| `nn.dropout`             | x, and a mask of ones: nothing is dropped when a model is run                |

Each operator of a formula is rounded to the dtype, from left to right.
"""

from refmlc.diag import fail
from refmlc.diag.catalogue import TYPE_MISMATCH
from refmlc.lang import te
from refmlc.lang.library.definition import Operator, computed
from refmlc.lang.library.elementwise import mapped
from refmlc.lang.library.shapes import axis_of, must_agree, require_float
from refmlc.lang.te import Tensor, Value

SQRT_HALF = 0.5**0.5
SQRT_2_OVER_PI = 0.79788456080286541
SELU_ALPHA, SELU_SCALE = 1.6732632423543772, 1.0507009873554805


def relu(data: Tensor) -> Tensor:
    """The element, or 0 where it is negative; NaN as `max` has it."""
    return mapped(data, lambda x: te.maximum(x, te.const(0, x.dtype)), "compute")


def leakyrelu(data: Tensor, *, alpha: float = 0.01) -> Tensor:
    """The element, times `alpha` unless it is positive."""
    require_float(data, "nn.leakyrelu")
    slope = te.const(float(alpha), data.dtype)
    return mapped(data, lambda x: te.select(x > te.const(0, x.dtype), x, x * slope), "compute")


def prelu(data: Tensor, alpha: Tensor, *, axis: int = 1) -> Tensor:
    """The element, times the slope of its place along `axis` unless it is positive. Fails: RM201, RM202."""
    require_float(data, "nn.prelu")
    if data.dtype != alpha.dtype or alpha.ndim != 1:
        raise fail(TYPE_MISMATCH, f"`nn.prelu` takes a vector of {data.dtype} as `alpha`")
    along = axis_of(axis, data.ndim)
    must_agree(alpha.shape[0], data.shape[along], f"the extent of `alpha` and dimension {along} of the argument")

    def element(*i: Value) -> Value:
        x = data(*i)
        return te.select(x > te.const(0, x.dtype), x, x * alpha(i[along]))

    return computed(data.shape, element, "compute")


def gelu(data: Tensor) -> Tensor:
    """`x * (0.5 + erf(x * sqrt(0.5)) * 0.5)`; the erf of float16 is that of float32, rounded."""
    require_float(data, "nn.gelu")
    half = te.const(0.5, data.dtype)

    def element(x: Value) -> Value:
        scaled = x * te.const(SQRT_HALF, x.dtype)
        wide = te.cast(scaled, "float32") if x.dtype == "float16" else scaled
        return x * (half + te.cast(te.erf(wide), x.dtype) * half)

    return mapped(data, element, "gelu")


def gelu_tanh(data: Tensor) -> Tensor:
    """`gelu` by the hyperbolic tangent: `0.5 * x * (1 + tanh(sqrt(2 / pi) * x * (1 + 0.044715 * x * x)))`."""
    require_float(data, "nn.gelu_tanh")

    def element(x: Value) -> Value:
        inner = te.const(1, x.dtype) + te.const(0.044715, x.dtype) * x * x
        tangent = te.tanh(te.const(SQRT_2_OVER_PI, x.dtype) * x * inner)
        return te.const(0.5, x.dtype) * x * (te.const(1, x.dtype) + tangent)

    return mapped(data, element, "gelu_tanh")


def silu(data: Tensor) -> Tensor:
    """`x * sigmoid(x)`."""
    require_float(data, "nn.silu")
    return mapped(data, lambda x: x * te.sigmoid(x), "silu")


def selu(data: Tensor) -> Tensor:
    """`scale * (max(x, 0) + min(0, alpha * (exp(x) - 1)))` with the constants of the paper."""
    require_float(data, "nn.selu")

    def element(x: Value) -> Value:
        zero, one = te.const(0, x.dtype), te.const(1, x.dtype)
        below = te.minimum(zero, te.const(SELU_ALPHA, x.dtype) * (te.exp(x) - one))
        return te.const(SELU_SCALE, x.dtype) * (te.maximum(x, zero) + below)

    return mapped(data, element, "selu")


def softplus(data: Tensor, *, beta: float = 1.0, threshold: float = 20.0) -> Tensor:
    """`log(1 + exp(x * beta)) / beta`, and x itself where `x * beta` is above the threshold."""
    require_float(data, "nn.softplus")

    def element(x: Value) -> Value:
        factor, one = te.const(float(beta), x.dtype), te.const(1, x.dtype)
        scaled = x if float(beta) == 1 else x * factor
        smooth = te.log(one + te.exp(scaled))
        return te.select(
            scaled > te.const(float(threshold), x.dtype), x, smooth if float(beta) == 1 else smooth / factor
        )

    return mapped(data, element, "compute")


def dropout(data: Tensor, *, rate: float = 0.5) -> tuple[Tensor, Tensor]:
    """The elements themselves, and a mask of ones: at inference nothing is dropped, whatever the rate."""
    del rate
    ones = te.const(1, data.dtype)
    return mapped(data, lambda x: x, "compute"), computed(data.shape, lambda *_i: ones, "T_full_like")


ACTIVATION = (
    Operator("nn.relu", relu, "LIB-501", ("nn.relu",)),
    Operator("nn.leakyrelu", leakyrelu, "LIB-502", ("nn.leaky_relu",)),
    Operator("nn.prelu", prelu, "LIB-502", ("nn.prelu",)),
    Operator("nn.gelu", gelu, "LIB-503"),
    Operator("nn.gelu_tanh", gelu_tanh, "LIB-503"),
    Operator("nn.silu", silu, "LIB-504"),
    Operator("nn.selu", selu, "LIB-505"),
    Operator("nn.softplus", softplus, "LIB-506"),
    Operator("nn.dropout", dropout, "LIB-507"),
)
