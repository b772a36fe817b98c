"""`relax.op` beyond the library: operators of the graph itself, and functions that make several calls.

| functions                                                                   | give                                 |
|-----------------------------------------------------------------------------|--------------------------------------|
| `reshape`, `shape_of`, `tensor_to_shape`, `shape_to_tensor`, `null_value` … | one call of an operator of the graph |
| `invoke_closure`, `call_builtin_with_ctx`, `call_tir_inplace` …             | calls of functions                   |
| `print`, `assert_op`                                                        | the same; they have an effect        |
| `arange`, `eye`, `one_hot` …                                                | a call, after what TVM deduces       |
| `linear`, `masked_fill`, `nn.relu6`                                         | calls in calls                       |

Parameters are TVM's. A name of `MISSING` is refused with its reason.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from refmlc.diag import fail
from refmlc.diag.catalogue import BAD_ARGUMENTS, BAD_USAGE
from refmlc.lang.dtypes import DType, dtype as dtype_named
from refmlc.lang.ir import relax, tir
from refmlc.lang.ir.attrs import Device
from refmlc.lang.ir.types import TensorType
from refmlc.lang.library.shapes import same
from refmlc.lang.te import Value
from refmlc.tvm.devices import Device as DeviceOfRun, checked_device
from refmlc.tvm.nodes import extents
from refmlc.tvm.relax.call_constructors import (
    call_builtin_with_ctx,
    call_dps_packed,
    call_inplace_packed,
    call_pure_packed,
    call_tir,
    call_tir_inplace,
    invoke_closure,
    invoke_pure_closure,
    make_closure,
)
from refmlc.tvm.relax.constructors import prim_value, shape_expr

Shape = Sequence[object] | relax.Expr
Number = int | float | relax.Expr | Value


def _graph(name: str, *args: relax.Expr) -> relax.Call:
    return relax.Call(relax.Op(name), args)


def _number(value: object) -> relax.Expr:
    return value if isinstance(value, relax.Expr) else prim_value(value)


def _dtype(dtype: "str | DType | None") -> str | None:
    return None if dtype is None else str(dtype_named(str(dtype)))


def reshape(x: relax.Expr, shape: Shape) -> relax.Call:
    """The elements in another shape. If that of `x` is known, 0 keeps an extent and one -1 is the remaining extent."""
    if isinstance(shape, relax.Expr) and not isinstance(shape, relax.ShapeExpr):
        return _graph("reshape", x, shape)
    sizes = list(shape.values if isinstance(shape, relax.ShapeExpr) else extents(shape))
    open_places = [i for i, size in enumerate(sizes) if isinstance(size, tir.IntImm) and size.value == -1]
    ty = getattr(x, "ty", None)
    if isinstance(ty, TensorType) and ty.shape is not None:
        for i, size in enumerate(sizes):
            if isinstance(size, tir.IntImm) and size.value == 0 and i < len(ty.shape):
                sizes[i] = ty.shape[i]
    if len(open_places) == 1 and isinstance(ty, TensorType) and ty.shape is not None:
        sizes[open_places[0]] = _rest(ty.shape, [size for i, size in enumerate(sizes) if i != open_places[0]])
    return _graph("reshape", x, relax.ShapeExpr(tuple(sizes)))


def _rest(whole: Sequence[tir.Expr], others: Sequence[tir.Expr]) -> tir.Expr:
    """The product of `whole` over that of `others`; equal factors fall out."""
    over, under = [Value(size) for size in whole], []
    for size in others:
        place = next((i for i, other in enumerate(over) if same(other, Value(size))), None)
        if place is None:
            under.append(Value(size))
        else:
            over.pop(place)
    return (_product(over) // _product(under)).expr


def _product(values: Sequence[Value]) -> Value:
    product = Value(shape_expr((1,)).values[0])
    for factor in values:
        product = product * factor
    return product


def shape_of(expr: relax.Expr) -> relax.Call:
    """The shape of a tensor."""
    return _graph("shape_of", expr)


def tensor_to_shape(expr: relax.Expr) -> relax.Call:
    """The shape whose extents are the elements of a vector of int64."""
    return _graph("tensor_to_shape", expr)


def shape_to_tensor(expr: relax.Expr) -> relax.Call:
    """The extents of a shape as a vector of int64."""
    return _graph("shape_to_tensor", expr)


def null_value() -> relax.Call:
    """Nothing, as a value."""
    return _graph("null_value")


def stop_lift_params(x: relax.Expr) -> relax.Call:
    """The same value; a mark for `LiftTransformParams`."""
    return _graph("builtin.stop_lift_params", x)


def to_vdevice(data: relax.Expr, dst_vdevice: str) -> relax.Call:
    """The tensor on a device by the name that it has in the module's list: there is one device here.

    Fails: RM112 for a device itself: what it is called depends on the list.
    """
    if not isinstance(dst_vdevice, str):
        raise fail(BAD_USAGE, "a device is named as in the module's list and in texts: `cuda:0`")
    return replace(_graph("to_vdevice", data), attrs={"dst_vdevice": dst_vdevice})


def hint_on_device(data: relax.Expr, dst_vdevice: DeviceOfRun, memory_scope: str = "global") -> relax.Call:
    """The tensor, with a hint that means nothing here. Fails: RM112 where `dst_vdevice` is no `tvm.cpu()`."""
    checked_device(dst_vdevice)
    device = Device(dst_vdevice.device_type, dst_vdevice.index)
    return replace(_graph("hint_on_device", data), attrs={"dst_vdevice": device, "memory_scope": memory_scope})


def print(*values: relax.Expr, format: "str | relax.Expr" = "") -> relax.Call:  # noqa: A001, A002 - TVM's names
    """Write the values."""
    text = relax.StringImm(format) if isinstance(format, str) else format
    return _graph("print", text, *values)


def assert_op(
    condition: "relax.Expr | bool",
    format_args: "relax.Expr | Sequence[relax.Expr] | None" = None,
    format: "str | relax.Expr" = "",  # noqa: A002 - TVM's name
) -> relax.Call:
    """Stop unless the condition holds."""
    values = () if format_args is None else (format_args,) if isinstance(format_args, relax.Expr) else format_args
    text = relax.StringImm(format) if isinstance(format, str) else format
    return _graph("assert_op", _number(condition), text, *values)


def _is_integer(value: object) -> bool:
    match value:
        case relax.PrimValue(value=inner) | Value(expr=inner):
            return inner.dtype.is_integer
        case _:
            return isinstance(value, int)


def arange(start: Number, end: "Number | None" = None, step: Number = 1, dtype: "str | None" = None) -> relax.Call:
    """`start`, `start + step` … below `end`; `arange(n)` begins with 0. Whole numbers give int64, others float32."""
    first, last = (0, start) if end is None else (start, end)
    kind = _dtype(dtype) or ("int64" if all(map(_is_integer, (first, last, step))) else "float32")
    return relax.Call(relax.Op("arange"), (_number(first), _number(last), _number(step)), {"dtype": kind})


def eye(n: Number, m: "Number | None" = None, k: Number = 0, dtype: str = "float32") -> relax.Call:
    """Ones on the diagonal `k`, zeros else; as many columns as rows where `m` is not given."""
    args = (_number(n), _number(n if m is None else m), _number(k))
    return relax.Call(relax.Op("eye"), args, {"dtype": _dtype(dtype)})


def linear(
    data: relax.Expr, weight: relax.Expr, bias: "relax.Expr | None" = None, out_dtype: "str | None" = None
) -> relax.Call:
    """`data @ weight.T + bias`."""
    turned = relax.Call(relax.Op("permute_dims"), (weight,), {"axes": None})
    out = relax.Call(relax.Op("matmul"), (data, turned), {"out_dtype": out_dtype or ""})
    return out if bias is None else relax.Call(relax.Op("add"), (out, bias))


def masked_fill(x: relax.Expr, mask: relax.Expr, value: relax.Expr) -> relax.Call:
    """`value` where the mask is true, else the elements of `x`."""
    ty = getattr(value, "ty", None)
    dtype = ty.dtype if isinstance(ty, TensorType) else getattr(value, "dtype", None)
    if dtype is None:
        raise fail(BAD_ARGUMENTS, "`masked_fill` takes a value whose dtype is known: a constant, or a variable")
    filled = relax.Call(relax.Op("full_like"), (x, value), {"dtype": str(dtype)})
    return relax.Call(relax.Op("where"), (mask, filled, x))


def relu6(data: relax.Expr) -> relax.Call:
    """The elements, not below 0 and not above 6."""
    return relax.Call(relax.Op("clip"), (data, prim_value(0), prim_value(6)))


FUNCTIONS: Mapping[str, Callable[..., relax.Call]] = {
    "arange": arange,
    "assert_op": assert_op,
    "builtin.stop_lift_params": stop_lift_params,
    "call_builtin_with_ctx": call_builtin_with_ctx,
    "call_dps_packed": call_dps_packed,
    "call_inplace_packed": call_inplace_packed,
    "call_pure_packed": call_pure_packed,
    "call_tir": call_tir,
    "call_tir_inplace": call_tir_inplace,
    "eye": eye,
    "hint_on_device": hint_on_device,
    "invoke_closure": invoke_closure,
    "invoke_pure_closure": invoke_pure_closure,
    "linear": linear,
    "make_closure": make_closure,
    "masked_fill": masked_fill,
    "nn.relu6": relu6,
    "null_value": null_value,
    "print": print,
    "reshape": reshape,
    "shape_of": shape_of,
    "shape_to_tensor": shape_to_tensor,
    "tensor_to_shape": tensor_to_shape,
    "to_vdevice": to_vdevice,
}

_LOWERED = "it occurs only in lowered modules, which refmlc reads from text"
MISSING: Mapping[str, str] = {
    **dict.fromkeys(
        (
            "builtin.alloc_tensor",
            "memory.alloc_storage",
            "memory.alloc_tensor",
            "memory.ensure_zero_offset",
            "memory.kill_storage",
            "memory.kill_tensor",
            "memory.view",
        ),
        _LOWERED,
    ),
    "call_py_func": "call Python functions by `call_dps_packed` or `call_pure_packed`",
    "call_tir_with_grad": "refmlc does not derive gradients",
    "register_gradient": "refmlc does not derive gradients",
}
