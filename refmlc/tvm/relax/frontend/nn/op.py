"""`relax.frontend.nn.op`: operators of tensors, each a variable of the function that is traced.

Names of variables are TVM's (`name`). What calls functions (`tensor_expr_op`, `extern` …) is in `function_calls`;
what samples, communicates or allocates is refused by name.
"""

from collections.abc import Mapping, Sequence

from refmlc.lang.ir import tir
from refmlc.tvm.missing_names import refusal
from refmlc.tvm.relax.constructors import const
from refmlc.tvm.relax.frontend.nn.function_calls import extern, tensor_expr_op, tensor_ir_inplace_op, tensor_ir_op
from refmlc.tvm.relax.frontend.nn.layer_op import (
    conv1d,
    conv1d_transpose,
    conv2d,
    conv3d,
    group_norm,
    interpolate,
    layer_norm,
    matmul,
    rms_norm,
    scaled_dot_product_attention,
)
from refmlc.tvm.relax.frontend.nn.tensor import (
    Size,
    Tensor,
    call,
    emitted,
    matmul_name,
    single,
)

Axes = int | Sequence[int] | None


# ---------------------------------------------------------------------------------------- element by element


def add(a: Tensor, b: Tensor, name: str = "add") -> Tensor:
    """The sum."""
    return single(call("add", a.expr, b.expr), name)


def subtract(a: Tensor, b: Tensor, name: str = "subtract") -> Tensor:
    """The difference."""
    return single(call("subtract", a.expr, b.expr), name)


def multiply(a: Tensor, b: Tensor, name: str = "mul") -> Tensor:
    """The product."""
    return single(call("multiply", a.expr, b.expr), name)


def divide(a: Tensor, b: Tensor, name: str = "divide") -> Tensor:
    """The quotient."""
    return single(call("divide", a.expr, b.expr), name)


def maximum(x1: Tensor, x2: Tensor, name: str = "maximum") -> Tensor:
    """The greater of two elements."""
    return single(call("maximum", x1.expr, x2.expr), name)


def minimum(x1: Tensor, x2: Tensor, name: str = "minimum") -> Tensor:
    """The smaller of two elements."""
    return single(call("minimum", x1.expr, x2.expr), name)


def less(a: Tensor, b: Tensor, name: str = "less") -> Tensor:
    """Whether `a < b`."""
    return single(call("less", a.expr, b.expr), name)


def less_equal(a: Tensor, b: Tensor, name: str = "less_equal") -> Tensor:
    """Whether `a <= b`."""
    return single(call("less_equal", a.expr, b.expr), name)


def greater(a: Tensor, b: Tensor, name: str = "greater") -> Tensor:
    """Whether `a > b`."""
    return single(call("greater", a.expr, b.expr), name)


def greater_equal(a: Tensor, b: Tensor, name: str = "greater_equal") -> Tensor:
    """Whether `a >= b`."""
    return single(call("greater_equal", a.expr, b.expr), name)


def equal(a: Tensor, b: Tensor, name: str = "equal") -> Tensor:
    """Whether two elements are equal."""
    return single(call("equal", a.expr, b.expr), name)


def not_equal(a: Tensor, b: Tensor, name: str = "not_equal") -> Tensor:
    """Whether two elements differ."""
    return single(call("not_equal", a.expr, b.expr), name)


def where(condition: Tensor, x1: Tensor, x2: Tensor, name: str = "where") -> Tensor:
    """The element of `x1` where the condition holds, else that of `x2`."""
    return single(call("where", astype(condition, "bool").expr, x1.expr, x2.expr), name)


def astype(x: Tensor, dtype: str, name: str = "astype") -> Tensor:
    """The elements in another dtype; `x` where it is the same."""
    return x if x.dtype == str(dtype) else single(call("astype", x.expr, dtype), name)


def relu(x: Tensor, name: str = "relu") -> Tensor:
    """The elements, not below 0."""
    return single(call("nn.relu", x.expr), name)


def relu6(x: Tensor, name: str = "relu6") -> Tensor:
    """The elements, not below 0 and not above 6."""
    return single(call("nn.relu6", x.expr), name)


def silu(x: Tensor, name: str = "silu") -> Tensor:
    """`x * sigmoid(x)`."""
    return single(call("nn.silu", x.expr), name)


def gelu(x: Tensor, approximate: str | None = None, name: str = "gelu") -> Tensor:
    """The Gaussian error linear unit; `approximate="tanh"`: by tanh."""
    return single(call("nn.gelu_tanh" if approximate == "tanh" else "nn.gelu", x.expr), name)


def prelu(x: Tensor, alpha: Tensor, name: str = "prelu") -> Tensor:
    """The elements, those below 0 times `alpha`."""
    return single(call("nn.prelu", x.expr, alpha.expr), name)


def softplus(x: Tensor, beta: float = 1.0, threshold: float = 20.0, name: str = "softplus") -> Tensor:
    """A smooth `relu`."""
    return single(call("nn.softplus", x.expr, beta=beta, threshold=threshold), name)


def sigmoid(x: Tensor, name: str = "sigmoid") -> Tensor:
    """The logistic function."""
    return single(call("sigmoid", x.expr), name)


def tanh(x: Tensor, name: str = "tanh") -> Tensor:
    """The hyperbolic tangent."""
    return single(call("tanh", x.expr), name)


def exp(x: Tensor, name: str = "exp") -> Tensor:
    """The exponential."""
    return single(call("exp", x.expr), name)


def log(x: Tensor, name: str = "log") -> Tensor:
    """The natural logarithm."""
    return single(call("log", x.expr), name)


def floor(x: Tensor, name: str = "floor") -> Tensor:
    """The greatest integer that is not greater."""
    return single(call("floor", x.expr), name)


def negative(x: Tensor, name: str = "neg") -> Tensor:
    """The elements with the other sign."""
    return single(call("negative", x.expr), name)


def square(x: Tensor, name: str = "square") -> Tensor:
    """The squares."""
    return single(call("square", x.expr), name)


def sqrt(x: Tensor, name: str = "sqrt") -> Tensor:
    """The square roots."""
    return single(call("sqrt", x.expr), name)


# ------------------------------------------------------------------------------------------ along axes


def sum(x: Tensor, axis: Axes = None, keepdims: bool = False, name: str = "sum") -> Tensor:  # noqa: A001 - TVM's name
    """The sum along axes."""
    return single(call("sum", x.expr, axis, keepdims), name)


def max(x: Tensor, axis: Axes = None, keepdims: bool = False, name: str = "max") -> Tensor:  # noqa: A001 - TVM's name
    """The greatest element along axes."""
    return single(call("max", x.expr, axis, keepdims), name)


def min(x: Tensor, axis: Axes = None, keepdims: bool = False, name: str = "min") -> Tensor:  # noqa: A001 - TVM's name
    """The smallest element along axes."""
    return single(call("min", x.expr, axis, keepdims), name)


def softmax(x: Tensor, axis: int = -1, name: str = "softmax") -> Tensor:
    """The exponentials over their sum."""
    return single(call("nn.softmax", x.expr, axis), name)


def cumsum(
    data: Tensor, axis: int | None = None, dtype: str | None = None, exclusive: bool | None = None, name: str = "cumsum"
) -> Tensor:
    """The sums of the elements so far."""
    return single(call("cumsum", data.expr, axis, dtype, bool(exclusive)), name)


def sort(x: Tensor, axis: int = -1, descending: bool = False, name: str = "sort") -> Tensor:
    """The elements in order."""
    return single(call("sort", x.expr, axis, descending), name)


def argsort(
    data: Tensor, axis: int = -1, descending: bool = False, dtype: str = "int32", name: str = "argsort"
) -> Tensor:
    """The places of the elements in order."""
    return single(call("argsort", data.expr, axis, descending, dtype), name)


def topk(
    data: Tensor,
    k: int = 1,
    axis: int = -1,
    ret_type: str = "both",
    largest: bool = True,
    dtype: str = "int32",
    name: str = "topk",
) -> Tensor | tuple[Tensor, ...]:
    """The `k` greatest elements and their places."""
    return emitted(call("topk", data.expr, k, axis, ret_type, largest, dtype), name)


# ----------------------------------------------------------------------------------------------- movement


def unsqueeze(x: Tensor, dim: int, name: str = "unsqueeze") -> Tensor:
    """With a dimension of extent 1 more."""
    return single(call("expand_dims", x.expr, dim), name)


def squeeze(x: Tensor, axis: int = -1, name: str = "squeeze") -> Tensor:
    """Without a dimension of extent 1."""
    return single(call("squeeze", x.expr, axis), name)


def concat(x: Sequence[Tensor], dim: int, name: str = "concat") -> Tensor:
    """Tensors one after the other."""
    return single(call("concat", [item.expr for item in x], dim), name)


def chunk(x: Tensor, chunks: int, dim: int = 0, name: str = "chunk") -> Tensor | tuple[Tensor, ...]:
    """Equal parts along an axis."""
    return emitted(call("split", x.expr, chunks, dim), name)


def split(
    ary: Tensor, indices_or_sections: int | Sequence[int], axis: int = 0, name: str = "split"
) -> Tensor | tuple[Tensor, ...]:
    """Parts along an axis: as many as the number says, or cut at these places."""
    return emitted(call("split", ary.expr, indices_or_sections, axis), name)


def broadcast_to(x: Tensor, shape: Sequence[Size], name: str = "broadcast_to") -> Tensor:
    """The elements repeated to a shape."""
    return single(call("broadcast_to", x.expr, shape), name)


def reshape(x: Tensor, shape: Sequence[Size], name: str = "reshape") -> Tensor:
    """The elements in another shape."""
    return single(call("reshape", x.expr, shape), name)


def repeat(x: Tensor, repeats: int, axis: int | None = None, name: str = "repeat") -> Tensor:
    """Each element several times."""
    return single(call("repeat", x.expr, repeats, axis), name)


def permute_dims(x: Tensor, axes: Sequence[int] | None = None, name: str | None = None) -> Tensor:
    """The axes in another order, reversed by default."""
    return single(call("permute_dims", x.expr, axes=axes), name or matmul_name(x))


def permute(x: Tensor, axes: Sequence[int] | None, name: str = "permute") -> Tensor:
    """The axes in another order."""
    return single(call("permute_dims", x.expr, axes=axes), name)


def take(x: Tensor, indices: Tensor, axis: int | None = None, name: str = "take") -> Tensor:
    """The slices at places along an axis."""
    return single(call("take", x.expr, indices.expr, axis), name)


def pad(x: Tensor, pad: Sequence[int], mode: str = "constant", value: float = 0.0, name: str = "pad") -> Tensor:
    """With a border."""
    return single(call("nn.pad", x.expr, pad_width=pad, pad_mode=mode, pad_value=value), name)


def triu(x: Tensor, diagonal: int = 0, name: str = "triu") -> Tensor:
    """The elements above a diagonal, zeros below."""
    return single(call("triu", x.expr, diagonal), name)


# ------------------------------------------------------------------------------------------------ creation


def full(shape: Sequence[Size], fill_value: object, dtype: str = "float32", name: str = "full") -> Tensor:
    """One value everywhere."""
    match fill_value:
        case Tensor():
            value = fill_value.expr
        case tir.IntImm() | tir.FloatImm():
            value = const(fill_value.value, dtype)
        case _:
            value = const(fill_value, dtype)
    return single(call("full", shape, value, dtype), name)


def zeros(shape: Sequence[Size], dtype: str = "float32", name: str = "zeros") -> Tensor:
    """Zeros."""
    return single(call("zeros", shape, dtype), name)


def ones(shape: Sequence[Size], dtype: str = "float32", name: str = "ones") -> Tensor:
    """Ones."""
    return single(call("ones", shape, dtype), name)


def arange(
    start: int, end: int | None = None, step: int = 1, dtype: str | None = "float32", name: str = "arange"
) -> Tensor:
    """`start`, `start + step` … below `end`."""
    return single(call("arange", start, end, step, dtype), name)


NONE_OF_OURS: Mapping[str, str] = {
    "empty": "it allocates without writing: use `zeros`",
    "print_": "refmlc exports no debug mode: print what `export_tvm` gives, or run it under `refmlc debug`",
    "debug_func": "refmlc exports no debug mode",
    "get_timestep_embedding": "it is written with `exp`, `sin`, `cos` of `relax.op`",
    "multinomial_from_uniform": "random choice is not covered here: `relax.op` has the operator",
    "sample_top_p_top_k_from_sorted_prob": "it calls kernels of TVM's own",
    "renormalize_top_p_top_k_prob": "it calls kernels of TVM's own",
    **dict.fromkeys(
        ("ccl_allreduce", "ccl_allgather", "ccl_broadcast_from_worker0"), "refmlc runs on one device: nothing is sent"
    ),
}

__all__ = [
    "add",
    "arange",
    "argsort",
    "astype",
    "broadcast_to",
    "chunk",
    "concat",
    "conv1d",
    "conv1d_transpose",
    "conv2d",
    "conv3d",
    "cumsum",
    "divide",
    "equal",
    "exp",
    "extern",
    "floor",
    "full",
    "gelu",
    "greater",
    "greater_equal",
    "group_norm",
    "interpolate",
    "layer_norm",
    "less",
    "less_equal",
    "log",
    "matmul",
    "max",
    "maximum",
    "min",
    "minimum",
    "multiply",
    "negative",
    "not_equal",
    "ones",
    "pad",
    "permute",
    "permute_dims",
    "prelu",
    "relu",
    "relu6",
    "repeat",
    "reshape",
    "rms_norm",
    "scaled_dot_product_attention",
    "sigmoid",
    "silu",
    "softmax",
    "softplus",
    "sort",
    "split",
    "sqrt",
    "square",
    "squeeze",
    "subtract",
    "sum",
    "take",
    "tanh",
    "tensor_expr_op",
    "tensor_ir_inplace_op",
    "tensor_ir_op",
    "topk",
    "triu",
    "unsqueeze",
    "where",
    "zeros",
]

__getattr__ = refusal(__name__, __all__, reasons=NONE_OF_OURS)
