"""Parameters of Relax operators whose text leaves something to be known: one row each.

What TVM prints says it all: positional arguments are expressions, keywords are attributes. People write more freely
(`R.zeros((2, 3), "float32")`, `R.sum(x, 1)`), so a row gives the parameters in order, each with its kind:

| kind  | the argument is                                                        |
|-------|------------------------------------------------------------------------|
| `x`   | an expression                                                          |
| `xs`  | a tuple of expressions; a single one counts as it stands               |
| `s`   | a shape: a list of dimensions counts as `R.shape([…])`                 |
| `d`   | a dtype as an expression: a string counts as `R.dtype("…")`            |
| `i`   | an expression, 0 where it is left out                                  |
| `g`   | an expression, `R.str("global")` where it is left out                  |
| `a`   | an attribute; left out, it is not written down                         |

Decision: an operator without a row takes positional arguments as expressions, keywords with Relax expressions as
further arguments in their order, other keywords as attributes.
"""


def _row(text: str) -> tuple[tuple[str, str], ...]:
    return tuple((name, kind) for name, _, kind in (part.partition(":") for part in text.split()))


_REDUCTION = "x:x axis:a keepdims:a"
_ARG_REDUCTION = "x:x axis:a keepdims:a"

SIGNATURES: dict[str, tuple[tuple[str, str], ...]] = {
    name: _row(text)
    for name, text in {
        "builtin.alloc_tensor": "shape:s dtype:d runtime_device_index:i storage_scope:g",
        "memory.alloc_storage": "size:s virtual_device_index:i storage_scope:g dtype:d",
        "memory.alloc_tensor": "storage:x offset:i shape:s dtype:d runtime_device_index:i",
        "vm.alloc_storage": "shape:s runtime_device_index:i dtype:d storage_scope:g",
        "vm.alloc_tensor": "storage:x offset:i shape:s dtype:d runtime_device_index:i",
        "reshape": "x:x shape:s",
        "broadcast_to": "x:x shape:s",
        "collapse_sum_to": "data:x shape:s",
        "zeros": "shape:s dtype:a",
        "ones": "shape:s dtype:a",
        "full": "shape:s fill_value:x dtype:a",
        "zeros_like": "x:x dtype:a",
        "ones_like": "x:x dtype:a",
        "full_like": "x:x fill_value:x dtype:a",
        "image.resize2d": "data:x size:s roi:a layout:a method:a",
        "astype": "x:x dtype:a",
        "wrap_param": "data:x dtype:a",
        "permute_dims": "x:x axes:a",
        "expand_dims": "x:x axis:a",
        "squeeze": "x:x axis:a",
        "concat": "tensors:xs axis:a",
        "stack": "tensors:xs axis:a",
        "split": "x:x indices_or_sections:a axis:a",
        "flip": "data:x axis:a",
        "take": "x:x indices:x axis:a mode:a",
        "repeat": "data:x repeats:a axis:a",
        "tile": "data:x repeats:a",
        "matmul": "x1:x x2:x out_dtype:a",
        "einsum": "operands:xs subscripts:a",
        "cumsum": "data:x axis:a dtype:a exclusive:a",
        "cumprod": "data:x axis:a dtype:a exclusive:a",
        "one_hot": "indices:x on_value:x off_value:x depth:a axis:a",
        "argmax": _ARG_REDUCTION,
        "argmin": _ARG_REDUCTION,
        **dict.fromkeys(("sum", "mean", "max", "min", "prod", "std", "variance", "median"), _REDUCTION),
        "nn.softmax": "data:x axis:a",
        "nn.log_softmax": "data:x axis:a",
        "nn.leakyrelu": "data:x alpha:a",
        "nn.dropout": "data:x rate:a",
        "nn.pad": "data:x pad_width:a pad_value:a pad_mode:a",
        "nn.layer_norm": "data:x gamma:x beta:x axes:a epsilon:a center:a scale:a",
        "nn.conv2d": "data:x weight:x strides:a padding:a dilation:a groups:a data_layout:a kernel_layout:a",
        "nn.max_pool2d": "data:x pool_size:a strides:a padding:a dilation:a ceil_mode:a",
        "nn.avg_pool2d": "data:x pool_size:a strides:a padding:a dilation:a ceil_mode:a",
    }.items()
}
"""Parameters by the operator's name without `R.`."""

RENAMED: dict[str, str] = {
    "alloc_tensor": "builtin.alloc_tensor",
}
"""Operators that changed their name: `R.alloc_tensor` is `R.builtin.alloc_tensor`."""
