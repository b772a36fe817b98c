"""Elements chosen, limited, and combined of three tensors; quantisation.

| operator                  | the element                                                                        |
|---------------------------|------------------------------------------------------------------------------------|
| `where`                   | of one tensor or the other, by a condition                                         |
| `clip`                    | `max(min(x, greatest), least)`                                                     |
| `ewise_fma`               | `x1 * x2 + x3`, two roundings                                                      |
| `log_add_exp`             | `log(exp(a) + exp(b))`                                                             |
| `quantize`, `dequantize`  | a float as an integer of a scale and a zero point, and back                        |
"""

from refmlc.diag import fail
from refmlc.diag.catalogue import TYPE_MISMATCH
from refmlc.lang import te
from refmlc.lang.library.binary import combined
from refmlc.lang.library.definition import Operator, computed
from refmlc.lang.library.shapes import axis_of, broadcast_indices, broadcast_shape
from refmlc.lang.te import Tensor, Value


def where(condition: Tensor, x1: Tensor, x2: Tensor) -> Tensor:
    """The element of `x1` where the condition holds, else that of `x2`. Shapes are broadcast. Fails: RM201, RM202."""
    if condition.dtype != "bool" or x1.dtype != x2.dtype:
        dtypes = f"{condition.dtype}, {x1.dtype} and {x2.dtype}"
        raise fail(TYPE_MISMATCH, f"`where` takes a condition of bool and tensors of one dtype; these are {dtypes}")
    shape = broadcast_shape(condition.shape, x1.shape, x2.shape)

    def element(*i: Value) -> Value:
        first, second = x1(*broadcast_indices(x1.shape, i, shape)), x2(*broadcast_indices(x2.shape, i, shape))
        return te.select(condition(*broadcast_indices(condition.shape, i, shape)), first, second)

    return computed(shape, element, "T_where")


def clip(x: Tensor, min: Value, max: Value) -> Tensor:  # noqa: A002 - TVM's names
    """The element, not below `min` and not above `max`, which take its dtype; where they cross, `min`."""
    least, greatest = te.cast(min, x.dtype), te.cast(max, x.dtype)
    return computed(x.shape, lambda *i: te.maximum(te.minimum(x(*i), greatest), least), "compute")


def ewise_fma(x1: Tensor, x2: Tensor, x3: Tensor) -> Tensor:
    """The product of two tensors and the third added, each rounded. Shapes are broadcast. Fails: RM201, RM202."""
    product = combined(x1, x2, lambda a, b: a * b, "multiply")
    return combined(product, x3, lambda a, b: a + b, "add")


def log_add_exp(x1: Tensor, x2: Tensor) -> Tensor:
    """`log(exp(x1) + exp(x2))`, each operator rounded: it overflows where exp does. Fails: RM201, RM202."""
    return combined(x1, x2, lambda a, b: te.log(te.exp(a) + te.exp(b)), "log_add_exp")


def _per_axis(data: Tensor, parameter: Tensor, axis: int, i: tuple[Value, ...]) -> Value:
    """The element of a tensor that has one for each place along `axis`, or one for all."""
    return parameter() if not parameter.ndim else parameter(i[axis_of(axis, data.ndim)])


def quantize(data: Tensor, scale: Tensor, zero_point: Tensor, *, out_dtype: str = "int8", axis: int = -1) -> Tensor:
    """`round(data / scale) + zero_point` within the range of `out_dtype`; the scale may differ along `axis`.

    Order: quotient, rounding (ties to even) and sum in the dtype of `data`; then limited, then converted.
    """
    dtype = str(out_dtype)
    least, greatest = (te.cast(limit(dtype), data.dtype) for limit in (te.min_value, te.max_value))

    def element(*i: Value) -> Value:
        steps = te.round(data(*i) / _per_axis(data, scale, axis, i))
        shifted = steps + te.cast(_per_axis(data, zero_point, axis, i), data.dtype)
        return te.cast(te.maximum(te.minimum(shifted, greatest), least), dtype)

    return computed(data.shape, element, "quantized")


def dequantize(
    data: Tensor, scale: Tensor, zero_point: Tensor, *, out_dtype: str = "float32", axis: int = -1
) -> Tensor:
    """`(data - zero_point) * scale`: the difference in int32, the product in the dtype of the scale.

    Fails: RM201 where `out_dtype` is not that of the scale.
    """
    if scale.dtype != str(out_dtype):
        raise fail(TYPE_MISMATCH, f"`dequantize` gives the dtype of the scale, {scale.dtype}; out_dtype is {out_dtype}")

    def element(*i: Value) -> Value:
        point = te.cast(_per_axis(data, zero_point, axis, i), "int32")
        return te.cast(te.cast(data(*i), "int32") - point, scale.dtype) * _per_axis(data, scale, axis, i)

    return computed(data.shape, element, "dequantized")


CHOICE = (
    Operator("where", where, "LIB-401", ("where",)),
    Operator("clip", clip, "LIB-402", ("clip",)),
    Operator("ewise_fma", ewise_fma, "LIB-403"),
    Operator("log_add_exp", log_add_exp, "LIB-404", ("logaddexp",)),
    Operator("quantize", quantize, "LIB-405"),
    Operator("dequantize", dequantize, "LIB-405"),
)
